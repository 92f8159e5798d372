//! What the programs do.

use crate::object;
use selvedge::{Argument, Buffer, Device, Executable, Geometry, Placement, Stream, Submission};
use std::collections::BTreeMap;
use std::time::Duration;

/// For what has to end: longer than any of it takes on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// What this process has of the operating system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holdings {
    /// Descriptors, by what they lead to.
    pub(crate) files: BTreeMap<String, usize>,
    pub(crate) threads: usize,
    pub(crate) mappings: usize,
}

impl Holdings {
    /// Those of now.
    pub(crate) fn now() -> Holdings {
        let count = |folder| std::fs::read_dir(folder).unwrap().count();
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir("/proc/self/fd").unwrap() {
            // That of the directory itself is closed by now.
            if let Ok(target) = std::fs::read_link(entry.unwrap().path()) {
                *files.entry(target.to_string_lossy().into_owned()).or_default() += 1;
            }
        }
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        // The allocator's are as it likes.
        let own = maps.lines().filter(|line| line.contains("/memfd:") || line.contains("/dev/"));
        Holdings { files, threads: count("/proc/self/task"), mappings: own.count() }
    }
}

/// What the processes on the machine have of the GPU's memory.
pub(crate) fn vram_used() -> u64 {
    let path = "/sys/class/drm/renderD128/device/mem_info_vram_used";
    std::fs::read_to_string(path).unwrap().trim().parse().unwrap()
}

/// Launches a kernel of `grid` work-items.
pub(crate) fn launch(
    stream: &Stream,
    executable: &Executable,
    kernel: &str,
    grid: u64,
    arguments: &[Argument<'_>],
) -> Submission {
    let kernel = executable.kernel(kernel).unwrap();
    let geometry = Geometry::linear(grid, 64).unwrap();
    // SAFETY: the repository's own kernels, with buffers as large as they write.
    unsafe { stream.dispatch(&kernel, &geometry, arguments) }.unwrap()
}

/// The committed code object of `name`, loaded.
pub(crate) fn load(device: &Device, name: &str) -> Executable {
    // SAFETY: the repository's own kernels.
    unsafe { device.load(&object(name), name) }.unwrap()
}

/// Two vectors in the GPU's memory, and room for their sum.
pub(crate) struct Addition {
    buffers: [Buffer; 3],
    salt: u32,
}

/// Elements of each.
const COUNT: u32 = 128;

impl Addition {
    pub(crate) fn new(device: &Device, salt: u32) -> Addition {
        let buffer = |values: Vec<u32>| {
            let buffer = device.allocate(u64::from(COUNT) * 4, Placement::Device).unwrap();
            buffer.upload(&values).unwrap();
            buffer
        };
        let a = buffer((0..COUNT).map(|i| i.wrapping_mul(salt)).collect());
        let b = buffer((0..COUNT).map(|i| salt ^ i).collect());
        Addition { buffers: [a, b, buffer(vec![u32::MAX; COUNT as usize])], salt }
    }

    pub(crate) fn start(&self, stream: &Stream, code: &Executable) -> Submission {
        let [a, b, c] = &self.buffers;
        launch(stream, code, "vadd", COUNT.into(), &[a.into(), b.into(), c.into(), COUNT.into()])
    }

    pub(crate) fn check(&self) {
        let sums = self.buffers[2].read::<u32>().unwrap();
        let expected = |i: u32| i.wrapping_mul(self.salt).wrapping_add(self.salt ^ i);
        assert!(sums.iter().zip(0..).all(|(&sum, i)| sum == expected(i)), "wrong sums");
    }
}

/// Adds on a stream of its own, and looks at every sum.
pub(crate) fn add(device: &Device, salt: u32) {
    let (code, stream) = (load(device, "k01_vadd"), device.stream().unwrap());
    let addition = Addition::new(device, salt);
    addition.start(&stream, &code).wait(LONG).unwrap();
    addition.check();
}
