//! The suite's kernels, in the GPU's memory.

use crate::memory::{Buffer, Kind};
use crate::report::{Outcome, Result};
use crate::subject::Subject;
use aql::descriptor::{self, Rsrc2, UserSgprs};
use aql::{Generation, KernelDescriptor};

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
static IMAGES: &[Image] = images!["gfx906" "gfx90a" "gfx942" "gfx1030" "gfx1100" "gfx1101" "gfx1103" "gfx1151" "gfx1200" "gfx1201"];

/// A kernel.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    /// Address of its descriptor.
    pub(crate) object: u64,
    /// The descriptor.
    pub(crate) descriptor: KernelDescriptor,
    /// Bytes of its arguments.
    pub(crate) arguments: u32,
    /// Bytes of LDS of a workgroup.
    pub(crate) lds: u32,
    /// Bytes of private memory of a work-item.
    pub(crate) private: u32,
}

impl Kernel {
    /// Address of its first instruction.
    pub(crate) fn entry(&self, generation: Generation) -> u64 {
        self.descriptor.entry(self.object, generation)
    }

    /// COMPUTE_PGM_RSRC2 with the size of LDS, which the packet processor adds for AQL queues.
    pub(crate) fn rsrc2(&self) -> Result<u32> {
        let granules = Rsrc2::granulated_lds(self.lds)
            .ok_or_else(|| Outcome::fail(format!("{} bytes of LDS", self.lds)))?;
        Ok(self.descriptor.rsrc2().with_granulated_lds_size(granules).into_bits())
    }

    /// What its user SGPRs hold: of the suite's kernels without private memory, the address of the arguments counts.
    pub(crate) fn user_data(&self, generation: Generation, arguments: u64) -> Result<Vec<u32>> {
        let sgprs = UserSgprs::new(&self.descriptor, generation)
            .map_err(|error| Outcome::fail(error.to_string()))?;
        let mut words = vec![0; usize::from(sgprs.count)];
        if let Some(first) = sgprs.kernarg_segment_ptr.map(usize::from) {
            words[first] = arguments as u32;
            words[first + 1] = (arguments >> 32) as u32;
        }
        Ok(words)
    }
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
        let bytes = self.image.bytes[offset as usize..].first_chunk::<{ descriptor::BYTES }>();
        Kernel {
            object: self.memory.address() + u64::from(offset),
            descriptor: KernelDescriptor::decode(bytes.expect("the image has its descriptors")),
            arguments,
            lds,
            private,
        }
    }
}
