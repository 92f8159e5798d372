//! OpenCL's built-in functions, as libclc implements them, run on the simulated machine and stay within
//! the errors that OpenCL allows of the correctly rounded results in `tests/data/maths`.

use selvedge::{Device, Geometry};
use serde::Deserialize;
use std::path::Path;
use std::time::Duration;

#[derive(Deserialize)]
struct Values {
    functions: Vec<Function>,
}

#[derive(Deserialize)]
struct Function {
    kernel: String,
    /// Of one value: 4 for float, 8 for double.
    bytes: usize,
    /// The allowed error in units in the last place.
    bound: u64,
    x: String,
    y: String,
    expected: String,
}

fn unhex(text: &str) -> Vec<u8> {
    let digit = |c: u8| (c as char).to_digit(16).expect("a hex digit") as u8;
    text.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

impl Function {
    fn values(&self, bytes: &[u8]) -> Vec<u64> {
        let value = |chunk: &[u8]| {
            let mut whole = [0; 8];
            whole[..self.bytes].copy_from_slice(chunk);
            u64::from_le_bytes(whole)
        };
        bytes.chunks(self.bytes).map(value).collect()
    }

    /// A value's place among all values of its type, negative ones below zero; nothing for a NaN.
    fn place(&self, bits: u64) -> Option<i64> {
        let sign = 1 << (8 * self.bytes - 1);
        let infinity: u64 = if self.bytes == 4 { 0x7f80_0000 } else { 0x7ff0_0000_0000_0000 };
        let magnitude = (bits & (sign - 1)) as i64;
        ((bits & (sign - 1)) <= infinity).then_some(if bits & sign == 0 {
            magnitude
        } else {
            -magnitude
        })
    }

    /// How far `got` is from `expected` in representable values, which is what a ULP is but at powers
    /// of two. The sign of a zero counts as one.
    fn distance(&self, got: u64, expected: u64) -> u64 {
        match (self.place(got), self.place(expected)) {
            (None, None) => 0,
            (Some(0), Some(0)) => u64::from(got != expected),
            (Some(got), Some(expected)) => got.abs_diff(expected),
            _ => u64::MAX,
        }
    }
}

fn run(target: &str, wave: u32) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("tests/data/maths/values.json")).unwrap();
    let values: Values = serde_json::from_str(&text).unwrap();
    let object = root.join(format!("kernels/maths/objects/{target}/wave{wave}/maths.hsaco"));
    let object = std::fs::read(object).unwrap();
    let device = Device::select(&format!("sim:{target}").parse().unwrap()).expect("a device");
    // SAFETY: the kernels are this repository's own.
    #[expect(unsafe_code, reason = "runs the repository's own kernels")]
    let executable = unsafe { device.load(&object, "maths") }.unwrap();
    let stream = device.stream().unwrap();
    let mut failures = Vec::new();
    for function in &values.functions {
        let (x, y) = (unhex(&function.x), unhex(&function.y));
        let expected = function.values(&unhex(&function.expected));
        let count = expected.len();
        let (in_x, in_y) = (device.allocate_from(&x).unwrap(), device.allocate_from(&y).unwrap());
        let out = device.allocate_from(&vec![0x55u8; x.len()]).unwrap();
        let kernel = executable.kernel(&function.kernel).unwrap();
        let geometry = Geometry::linear(count as u64, 64).unwrap();
        let arguments = [(&in_x).into(), (&in_y).into(), (&out).into()];
        // SAFETY: the three buffers have one value for each work-item.
        #[expect(unsafe_code, reason = "runs the repository's own kernels")]
        let submission = unsafe { stream.dispatch(&kernel, &geometry, &arguments) }.unwrap();
        submission.wait(Duration::from_secs(120)).unwrap();
        let got = function.values(&out.read::<u8>().unwrap());
        let (x, y) = (function.values(&x), function.values(&y));
        let mut worst = 0;
        for i in 0..count {
            let distance = function.distance(got[i], expected[i]);
            worst = worst.max(distance);
            if distance > function.bound {
                failures.push(format!(
                    "{}({:#x}, {:#x}): got {:#x}, correctly rounded {:#x}",
                    function.kernel, x[i], y[i], got[i], expected[i]
                ));
            }
        }
        println!(
            "{target} wave{wave} {}: {count} values, largest error {worst} of {} ULP",
            function.kernel, function.bound
        );
    }
    assert!(failures.is_empty(), "{} values:\n{}", failures.len(), failures.join("\n"));
}

/// Every target and wave size that `kernels/maths/maths.py` built for.
#[test]
fn built_in_functions() {
    let objects = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/maths/objects");
    let mut runs = 0;
    for entry in std::fs::read_dir(objects).unwrap() {
        let path = entry.unwrap().path();
        for wave in [32, 64] {
            if path.join(format!("wave{wave}")).exists() {
                run(&path.file_name().unwrap().to_string_lossy(), wave);
                runs += 1;
            }
        }
    }
    assert!(runs >= 4);
}
