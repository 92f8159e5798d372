//! A code object in device memory.

use super::{Argument, Geometry, Layout};
use crate::code::{Archive, CodeObject};
use crate::device::DeviceInner;
use crate::memory::{Buffer, Placement};
use crate::{Device, Error};
use aql::scratch::{max_wave_bytes, wave_bytes};
use std::fmt;
use std::sync::Arc;

/// Readable bytes kept past the end of a code object: the instruction prefetcher reads up to 256 bytes
/// ahead (LLVM pads kernels with `s_code_end` for the same reason; AMDGPUUsage, "Instruction prefetch").
const PREFETCH_PADDING: u64 = 256;

/// A code object loaded on a device. Clones share it; kernels keep it.
#[derive(Clone)]
pub struct Executable {
    inner: Arc<Inner>,
}

struct Inner {
    object: CodeObject,
    image: Buffer,
}

impl Executable {
    pub(crate) fn load(device: &Device, bytes: &[u8], name: &str) -> Result<Executable, Error> {
        let archive = Archive::open(bytes, name)?;
        let object = archive.select(device.target())?.parse()?;
        let image = object.image();
        let length = image.size() + PREFETCH_PADDING;
        let buffer = device.allocate_code(length, image.align())?;
        buffer.write_image(image)?;
        device.inner().note_code_loaded();
        Ok(Executable { inner: Arc::new(Inner { object, image: buffer }) })
    }

    /// The code object.
    pub fn object(&self) -> &CodeObject {
        &self.inner.object
    }

    /// Device address of its image.
    pub fn address(&self) -> u64 {
        self.inner.image.address()
    }

    /// Device address and size in bytes of a global variable.
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        let variable = self.inner.object.variables().find(|v| v.name == name)?;
        Some((self.address() + variable.offset, variable.size))
    }

    /// A kernel by name.
    ///
    /// # Errors
    /// [`Error::Code`] with the kernels there are, or [`Error::Kernel`] when this runtime or the device cannot launch it.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        let kernel = self.inner.object.kernel(name)?;
        let layout = Layout::of(kernel)?;
        let metadata = kernel.metadata();
        Ok(Kernel {
            inner: Arc::new(KernelInner {
                name: kernel.name().to_owned(),
                executable: self.clone(),
                kernel_object: self.address() + kernel.descriptor_offset(),
                layout,
                private_bytes: kernel.private_size(),
                wavefront_size: kernel.descriptor().wavefront_size(self.device().generation()),
                dynamic_stack: kernel.uses_dynamic_stack(),
                max_workgroup: metadata
                    .map(|m| m.max_flat_workgroup_size)
                    .filter(|&size| size != 0)
                    .unwrap_or(super::MAX_WORKGROUP),
                uniform_workgroups: metadata.is_some_and(|m| m.uniform_work_group_size),
                required_workgroup: metadata.and_then(|m| m.reqd_workgroup_size),
            }),
        })
    }

    pub(crate) fn device(&self) -> &Arc<DeviceInner> {
        self.inner.image.device()
    }
}

impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executable")
            .field("name", &self.inner.object.name())
            .field("address", &self.address())
            .finish_non_exhaustive()
    }
}

/// A kernel ready to be launched. Clones share it; it keeps its executable.
#[derive(Clone)]
pub struct Kernel {
    inner: Arc<KernelInner>,
}

pub(crate) struct KernelInner {
    name: String,
    executable: Executable,
    kernel_object: u64,
    layout: Layout,
    private_bytes: u32,
    wavefront_size: u32,
    dynamic_stack: bool,
    max_workgroup: u32,
    required_workgroup: Option<[u32; 3]>,
    /// The compiler assumed that no workgroup is partial.
    uniform_workgroups: bool,
}

impl Kernel {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The executable it is part of.
    pub fn executable(&self) -> &Executable {
        &self.inner.executable
    }

    /// Device address of its descriptor (`kernel_object` of a dispatch packet).
    pub fn address(&self) -> u64 {
        self.inner.kernel_object
    }

    /// How many arguments it takes; `None` when the code object has no metadata for it, and its
    /// kernarg segment is passed whole.
    pub fn arguments(&self) -> Option<usize> {
        self.inner.layout.arguments()
    }

    /// Bytes of its kernarg segment.
    pub fn kernarg_bytes(&self) -> u32 {
        self.inner.layout.size()
    }

    /// Bytes of scratch a work-item needs, as compiled.
    pub fn private_bytes(&self) -> u32 {
        self.inner.private_bytes
    }

    /// Whether it needs more scratch than the compiler could tell (recursion, calls through pointers).
    pub fn uses_dynamic_stack(&self) -> bool {
        self.inner.dynamic_stack
    }

    /// Scratch of one wave when a work-item needs `private_bytes`.
    pub(crate) fn wave_scratch(&self, private_bytes: u32) -> Result<u32, Error> {
        let generation = self.device().generation();
        let lanes = self.inner.wavefront_size;
        wave_bytes(generation, private_bytes, lanes).ok_or_else(|| Error::Resource {
            kernel: self.name().to_owned(),
            resource: "scratch in one wave",
            needed: u64::from(private_bytes) * u64::from(lanes),
            limit: max_wave_bytes(generation).into(),
            device: self.device().name().to_owned(),
        })
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.inner.layout
    }

    pub(crate) fn device(&self) -> &Arc<DeviceInner> {
        self.inner.executable.device()
    }

    pub(crate) fn inner(&self) -> &Arc<KernelInner> {
        &self.inner
    }

    /// Checks a launch against the kernel's declaration and returns the LDS of a workgroup in bytes.
    pub(crate) fn check(
        &self,
        geometry: &Geometry,
        arguments: &[Argument<'_>],
    ) -> Result<u32, Error> {
        let refuse = |reason: String| Error::Kernel { kernel: self.name().to_owned(), reason };
        if let Some(required) = self.inner.required_workgroup {
            let given = geometry.workgroup().map(u32::from);
            if given != required {
                return Err(refuse(format!(
                    "it was compiled for workgroups of exactly {required:?}, not {given:?}"
                )));
            }
        }
        if self.inner.uniform_workgroups && geometry.remainders() != [0; 3] {
            return Err(refuse(format!(
                "it was compiled for whole workgroups only; {:?} is no multiple of {:?}",
                geometry.grid(),
                geometry.workgroup()
            )));
        }
        if geometry.workgroup_items() > self.inner.max_workgroup {
            return Err(refuse(format!(
                "it was compiled for workgroups of at most {}, not {}",
                self.inner.max_workgroup,
                geometry.workgroup_items()
            )));
        }
        let lds = self.inner.layout.check(self.name(), geometry, arguments)?;
        let limit = self.device().lds_bytes();
        if lds > limit {
            return Err(Error::Resource {
                kernel: self.name().to_owned(),
                resource: "LDS",
                needed: lds.into(),
                limit: limit.into(),
                device: self.device().name().to_owned(),
            });
        }
        Ok(lds)
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("name", &self.inner.name)
            .field("address", &self.inner.kernel_object)
            .finish_non_exhaustive()
    }
}

impl Device {
    /// Places a code object in device memory: a raw ELF, or the best match from an offload bundle, compressed
    /// or not, or from a host program that contains one. `name` is used in errors.
    ///
    /// # Safety
    /// The code is native code of the device. The caller vouches for it: run with the arguments it
    /// will be given, it accesses only memory it may.
    ///
    /// # Errors
    /// [`Error::Code`] for malformed input and wrong targets, else what allocation returns.
    #[expect(unsafe_code, reason = "device code is trusted by its loader")]
    pub unsafe fn load(&self, bytes: &[u8], name: &str) -> Result<Executable, Error> {
        Executable::load(self, bytes, name)
    }

    /// Memory for code: device memory where the host can write it, else system memory, over PCI.
    fn allocate_code(&self, length: u64, alignment: u64) -> Result<Buffer, Error> {
        let visible = self.inner().device_memory_is_visible();
        let placement = if visible { Placement::Device } else { Placement::Host };
        Buffer::new_code(self, length, alignment, placement)
    }
}
