//! Dispatches of kernels with what memory holds afterwards, as `tests/data/kernels/README.md` describes
//! them, and running them on a device.

use selvedge::{Argument, Buffer, Device, Geometry};
use serde::Deserialize;
use std::path::Path;
use std::time::Duration;

#[derive(Deserialize)]
pub(crate) struct Suite {
    pub(crate) object: String,
    pub(crate) cases: Vec<Case>,
}

#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) kernel: String,
    dimensions: usize,
    grid: [u64; 3],
    block: [u64; 3],
    pub(crate) wave: Option<u32>,
    args: Vec<Arg>,
}

impl Suite {
    /// Reads a file of them.
    pub(crate) fn read(path: &Path) -> Suite {
        let text = std::fs::read_to_string(path).expect("a readable file");
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Arg {
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    F32Bits(u32),
    F64Bits(u64),
    Local(u32),
    Buffer { bytes: usize, fill: Fill, out: Option<Out> },
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
enum Fill {
    Zero,
    Hex { hex: String },
    Integers { width: usize, seed: u64, low: u64, span: u64 },
    Floats { width: usize, seed: u64, exponent: i32 },
}

#[derive(Deserialize)]
struct Out {
    ranges: Option<Vec<(usize, usize)>>,
    hex: Option<String>,
    prefix: Option<String>,
    fnv1a64: Option<String>,
}

fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        text.chars().map(|c| c.to_digit(16).expect("a hex digit") as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Fill {
    fn bytes(&self, length: usize) -> Vec<u8> {
        match *self {
            Fill::Zero => vec![0; length],
            Fill::Hex { ref hex } => unhex(hex),
            Fill::Integers { width, mut seed, low, span } => (0..length / width)
                .flat_map(|_| {
                    let next = splitmix64(&mut seed);
                    let value = low.wrapping_add(if span == 0 { next } else { next % span });
                    value.to_le_bytes()[..width].to_vec()
                })
                .collect(),
            Fill::Floats { width, mut seed, exponent } => {
                let precision = match width {
                    2 => 11,
                    4 => 24,
                    8 => 53,
                    other => panic!("floats of {other} bytes"),
                };
                (0..length / width)
                    .flat_map(|_| {
                        let next = splitmix64(&mut seed) >> (64 - precision);
                        let integer = next as i64 - (1i64 << (precision - 1));
                        // Exact: at most 53 bits, scaled by a power of two.
                        let value = integer as f64 * 2f64.powi(exponent + 1 - precision);
                        match width {
                            2 => half::f16::from_f64(value).to_le_bytes().to_vec(),
                            4 => (value as f32).to_le_bytes().to_vec(),
                            _ => value.to_le_bytes().to_vec(),
                        }
                    })
                    .collect()
            }
        }
    }
}

impl Out {
    /// What differs, in words.
    fn difference(&self, memory: &[u8]) -> Option<String> {
        let compared: Vec<u8> = match &self.ranges {
            None => memory.to_vec(),
            Some(ranges) => {
                ranges.iter().flat_map(|&(at, length)| memory[at..at + length].to_vec()).collect()
            }
        };
        if let Some(expected) = &self.hex {
            let got = hex(&compared);
            return (got != *expected).then(|| first_difference(&got, expected));
        }
        let prefix = self.prefix.as_deref().unwrap_or_default();
        let got = hex(&compared[..prefix.len() / 2]);
        if got != prefix {
            return Some(first_difference(&got, prefix));
        }
        let hash = compared.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        let expected = self.fnv1a64.as_deref().expect("either `hex` or `fnv1a64`");
        (format!("{hash:016x}") != expected).then(|| "the hash beyond the prefix".to_owned())
    }
}

fn first_difference(got: &str, expected: &str) -> String {
    let at = got.bytes().zip(expected.bytes()).take_while(|(a, b)| a == b).count() / 8 * 8;
    let part = |text: &str| text.get(at..(at + 8).min(text.len())).unwrap_or("").to_owned();
    format!("byte {}: got {}, expected {}", at / 2, part(got), part(expected))
}

impl Case {
    /// Runs the case; an error in words when it does not hold.
    pub(crate) fn run(&self, device: &Device, object: &Path) -> Result<(), String> {
        let name = object.display().to_string();
        let bytes = std::fs::read(object).map_err(|e| e.to_string())?;
        let text = |error: selvedge::Error| error.to_string();
        // SAFETY: the kernels are this repository's own.
        #[expect(unsafe_code, reason = "runs the repository's own kernels")]
        let executable = unsafe { device.load(&bytes, &name) }.map_err(text)?;
        let renamed = format!("renamed_{}_", self.kernel);
        let kernels = executable.object().kernels();
        let kernel = kernels
            .iter()
            .map(|kernel| kernel.name())
            .find(|name| *name == self.kernel || name.starts_with(&renamed))
            .ok_or("no such kernel")?;
        let kernel = executable.kernel(kernel).map_err(text)?;

        let mut buffers: Vec<(Buffer, Vec<u8>, Option<&Out>)> = Vec::new();
        for arg in &self.args {
            if let Arg::Buffer { bytes, fill, out } = arg {
                let before = fill.bytes(*bytes);
                assert_eq!(before.len(), *bytes, "fill of {}", self.kernel);
                let buffer = device.allocate_from(&before).map_err(text)?;
                buffers.push((buffer, before, out.as_ref()));
            }
        }
        let mut next = buffers.iter();
        let arguments: Vec<Argument<'_>> = self
            .args
            .iter()
            .map(|arg| match arg {
                Arg::U8(value) => (*value).into(),
                Arg::U16(value) => (*value).into(),
                Arg::U32(value) | Arg::F32Bits(value) => (*value).into(),
                Arg::U64(value) | Arg::F64Bits(value) => (*value).into(),
                Arg::Local(bytes) => Argument::Local(*bytes),
                Arg::Buffer { .. } => (&next.next().expect("one per buffer argument").0).into(),
            })
            .collect();
        let axes = self.dimensions;
        let geometry = Geometry::new(&self.grid[..axes], &self.block[..axes]).map_err(text)?;
        let stream = device.stream().map_err(text)?;
        // SAFETY: the case's buffers are what the kernel uses.
        #[expect(unsafe_code, reason = "runs the repository's own kernels")]
        let submission =
            unsafe { stream.dispatch(&kernel, &geometry, &arguments) }.map_err(text)?;
        submission.wait(Duration::from_secs(120)).map_err(text)?;

        for (index, (buffer, before, out)) in buffers.iter().enumerate() {
            let after: Vec<u8> = buffer.read().map_err(text)?;
            let difference = match out {
                Some(out) => out.difference(&after),
                None => (after != *before).then(|| "it changed".to_owned()),
            };
            if let Some(difference) = difference {
                return Err(format!("buffer {index}: {difference}"));
            }
        }
        Ok(())
    }
}
