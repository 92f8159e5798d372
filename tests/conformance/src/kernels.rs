//! The suite's kernels, in the GPU's memory.

use crate::memory::{Buffer, Kind};
use crate::report::{Outcome, Result};
use crate::subject::Subject;

/// A target's code, and where its kernels are.
struct Image {
    target: &'static str,
    bytes: &'static [u8],
    kernels: &'static str,
}

macro_rules! images {
    ($($target:literal)*) => {
        &[$(Image {
            target: $target,
            bytes: include_bytes!(concat!("../kernels/images/", $target, ".image")),
            kernels: include_str!(concat!("../kernels/images/", $target, ".kernels")),
        }),*]
    };
}

/// Made by `kernels/build.py`.
static IMAGES: &[Image] =
    images!["gfx906" "gfx90a" "gfx942" "gfx1030" "gfx1100" "gfx1151" "gfx1200" "gfx1201"];

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// Address of its descriptor.
    pub(crate) object: u64,
    /// Bytes of its arguments.
    pub(crate) arguments: u32,
    /// Bytes of LDS of a workgroup.
    pub(crate) lds: u32,
    /// Bytes of private memory of a work-item.
    pub(crate) private: u32,
}

/// Code, loaded.
#[derive(Debug)]
pub(crate) struct Code {
    memory: Buffer,
    image: &'static Image,
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.target)
    }
}

impl Code {
    /// Loads the image of the subject's target.
    pub(crate) fn load(subject: &Subject) -> Result<Code> {
        let target = subject.target();
        let Some(image) = IMAGES.iter().find(|image| image.target == target) else {
            return Err(Outcome::NotApplicable(format!("the suite has no kernels for {target}")));
        };
        // Instructions are fetched ahead of what runs.
        const AHEAD: u64 = 4096;
        let memory = subject.memory(Kind::Code, image.bytes.len() as u64 + AHEAD)?;
        memory.write(0, image.bytes)?;
        Ok(Code { memory, image })
    }

    /// A kernel by name.
    pub(crate) fn kernel(&self, name: &str) -> Kernel {
        let found = self.image.kernels.lines().find_map(|line| {
            let mut fields = line.strip_prefix(name)?.strip_prefix(' ')?.split(' ').map(str::parse);
            let mut next = || fields.next()?.ok();
            Some([next()?, next()?, next()?, next()?])
        });
        let [offset, arguments, lds, private]: [u32; 4] =
            found.unwrap_or_else(|| panic!("the suite has a kernel {name}"));
        Kernel { object: self.memory.address() + u64::from(offset), arguments, lds, private }
    }
}
