//! Adds two vectors of 1,048,576 numbers on a GPU and checks every element.
//!
//! ```text
//! cargo run --example vector_add                       # the simulated machine, gfx1151
//! cargo run --example vector_add -- --device gfx1100   # the simulated machine, gfx1100
//! cargo run --example vector_add -- --device 0         # the first hardware GPU
//! ```
//! `--device` takes what `SELVEDGE_DEVICE` takes; a bare architecture name means a simulated machine here.
#![expect(unsafe_code, reason = "device code reaches whatever its arguments reach")]

use selvedge::{Device, Geometry, Selector};
use std::error::Error;
use std::time::{Duration, Instant};

const ELEMENTS: u32 = 1 << 20;

/// The kernel, built from `kernels/vector_add.cl` for each target.
const CODE: [(&str, &[u8]); 2] = [
    ("gfx1151", include_bytes!("../kernels/objects/gfx1151/v5/wave32/vector_add.hsaco")),
    ("gfx1100", include_bytes!("../kernels/objects/gfx1100/v5/wave32/vector_add.hsaco")),
];

fn selector() -> Result<Selector, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => return Ok("sim:gfx1151".parse()?),
        (Some("--device"), Some(name)) => name,
        _ => return Err("usage: vector_add [--device DEVICE | gfxNNNN]".into()),
    };
    Ok(match name.parse()? {
        Selector::Target(gfx) => Selector::Simulated(gfx),
        other => other,
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::select(&selector()?)?;
    println!("device: {device}");

    let target = device.target().to_string();
    let (_, code) = CODE
        .iter()
        .find(|(name, _)| *name == target)
        .ok_or_else(|| format!("this example has no code for {target}"))?;
    // SAFETY: the code is this repository's own; it writes `c[0..n]` and nothing else.
    let executable = unsafe { device.load(code, "vector_add.hsaco")? };
    let kernel = executable.kernel("vector_add")?;

    let a: Vec<f32> = (0..ELEMENTS).map(|i| i as f32 * 0.25 - 1000.0).collect();
    let b: Vec<f32> = (0..ELEMENTS).map(|i| 1.0 / (i + 1) as f32).collect();
    let (da, db) = (device.allocate_from(&a)?, device.allocate_from(&b)?);
    let dc = device.allocate_from(&vec![f32::NAN; ELEMENTS as usize])?;

    let stream = device.stream()?;
    let geometry = Geometry::linear(ELEMENTS.into(), 256)?;
    let start = Instant::now();
    // SAFETY: the buffers have ELEMENTS elements each and nothing else uses them.
    let submission = unsafe {
        stream.dispatch(
            &kernel,
            &geometry,
            &[(&da).into(), (&db).into(), (&dc).into(), ELEMENTS.into()],
        )?
    };
    submission.wait(Duration::from_secs(60))?;
    let elapsed = start.elapsed();

    let c: Vec<f32> = dc.read()?;
    let errors = a.iter().zip(&b).zip(&c).map(|((a, b), c)| (a + b - c).abs());
    let largest =
        errors.fold(0.0, |largest: f32, error| if error <= largest { largest } else { error });
    println!("checked {} elements, largest error {largest}", c.len());
    let on_device = submission.times()?.map(|times| times.duration());
    println!(
        "time: {elapsed:?} from launch to result, {:?} by the device's clock",
        on_device.unwrap_or_default()
    );
    if largest != 0.0 {
        return Err("the results are wrong".into());
    }
    Ok(())
}
