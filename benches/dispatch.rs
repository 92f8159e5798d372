//! What a dispatch costs the host, measured against the simulated machine (gfx1151).
//!
//! - `enqueue`: CPU time of the calling thread for one `Stream::dispatch` of a kernel with four arguments,
//!   over bursts that fit the queue; waiting for the device is not in it.
//! - `round trip`: wall time from dispatch to the end of the wait for one wave; mostly the simulated
//!   machine's time to notice the doorbell and run.
//! - `load`: wall time to parse and place a code object.
//!
//! Figures are the median of several rounds. Nothing here says how fast hardware is.

use selvedge::{Argument, Device, Geometry};
use std::time::{Duration, Instant};

const CODE: &[u8] = include_bytes!("../kernels/objects/gfx1151/v5/wave32/vector_add.hsaco");
const BURST: u64 = 512;
const ROUNDS: usize = 41;

/// CPU time of the calling thread.
#[expect(unsafe_code, reason = "clock_gettime writes the struct it is given")]
fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

#[expect(unsafe_code, reason = "runs the repository's own kernel")]
fn main() -> Result<(), selvedge::Error> {
    let device = Device::select(&"sim:gfx1151".parse()?)?;
    println!("device: {device}");
    // SAFETY: the repository's own kernel.
    let executable = unsafe { device.load(CODE, "vector_add")? };
    let kernel = executable.kernel("vector_add")?;
    let buffers = [0; 3].map(|_| device.allocate_from(&[0f32; 32]));
    let [a, b, c] = buffers;
    let (a, b, c) = (a?, b?, c?);
    let arguments: [Argument<'_>; 4] = [(&a).into(), (&b).into(), (&c).into(), 32u32.into()];
    let geometry = Geometry::linear(32, 32)?;
    let stream = device.stream()?;
    let timeout = Duration::from_secs(30);

    let mut enqueue = Vec::new();
    for _ in 0..ROUNDS {
        let start = thread_time();
        for _ in 0..BURST {
            // SAFETY: the buffers have the 32 elements the kernel uses.
            unsafe { stream.dispatch(&kernel, &geometry, &arguments)? };
        }
        enqueue.push((thread_time() - start).as_nanos() as f64 / BURST as f64);
        stream.synchronize(timeout)?;
    }
    println!("enqueue: {:.0} ns of CPU time a dispatch (goal: at most 150)", median(enqueue));

    let mut round_trip = Vec::new();
    for _ in 0..500 {
        let start = Instant::now();
        // SAFETY: as above.
        unsafe { stream.dispatch(&kernel, &geometry, &arguments)? }.wait(timeout)?;
        round_trip.push(start.elapsed().as_nanos() as f64 / 1e3);
    }
    println!("round trip: {:.1} us", median(round_trip));

    let mut load = Vec::new();
    for _ in 0..100 {
        let start = Instant::now();
        // SAFETY: the repository's own kernel.
        drop(unsafe { device.load(CODE, "vector_add")? });
        load.push(start.elapsed().as_nanos() as f64 / 1e3);
    }
    println!("load: {:.1} us for a code object of {} bytes", median(load), CODE.len());
    Ok(())
}
