//! Where a kernel's arguments go in its kernarg segment.
//!
//! The offsets are those of the code object's metadata (LLVM AMDGPUUsage, "Code Object V3 Metadata" and
//! later, `.args`), never assumed. Hidden arguments that this runtime has nothing for (printf and hostcall
//! buffers, device heap, default queue, completion action, multigrid) are zero, which is what
//! kernels that do not use them expect.

use super::{Argument, Geometry};
use crate::Error;
use crate::code::{self, ArgumentKind};

/// Largest kernarg segment that is accepted: ROCr's arena and LLVM agree on 4 KiB kernels, and no
/// library seen has more.
const MAX_KERNARG_BYTES: u32 = 4096;

/// Alignment of every kernarg segment: a cache line, as [`crate::queue::Arena`] gives it out.
const KERNARG_ALIGNMENT: u32 = 64;

/// What an explicit argument has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Bytes.
    Value,
    /// A 64-bit device address.
    Pointer,
    /// A 32-bit LDS offset; the alignment of what is there.
    Local { align: u32 },
}

#[derive(Clone, Debug)]
struct Explicit {
    name: Option<Box<str>>,
    offset: u32,
    size: u32,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
struct Hidden {
    offset: u32,
    size: u32,
    value: HiddenValue,
}

/// What the runtime fills in; the number is the dimension.
#[derive(Clone, Copy, Debug)]
enum HiddenValue {
    BlockCount(usize),
    GroupSize(usize),
    Remainder(usize),
    GridDimensions,
    DynamicLdsBytes,
    PrivateBase,
    SharedBase,
    QueuePointer,
}

impl HiddenValue {
    fn of(kind: &ArgumentKind) -> Option<HiddenValue> {
        Some(match kind {
            ArgumentKind::HiddenBlockCountX => HiddenValue::BlockCount(0),
            ArgumentKind::HiddenBlockCountY => HiddenValue::BlockCount(1),
            ArgumentKind::HiddenBlockCountZ => HiddenValue::BlockCount(2),
            ArgumentKind::HiddenGroupSizeX => HiddenValue::GroupSize(0),
            ArgumentKind::HiddenGroupSizeY => HiddenValue::GroupSize(1),
            ArgumentKind::HiddenGroupSizeZ => HiddenValue::GroupSize(2),
            ArgumentKind::HiddenRemainderX => HiddenValue::Remainder(0),
            ArgumentKind::HiddenRemainderY => HiddenValue::Remainder(1),
            ArgumentKind::HiddenRemainderZ => HiddenValue::Remainder(2),
            ArgumentKind::HiddenGridDims => HiddenValue::GridDimensions,
            ArgumentKind::HiddenDynamicLdsSize => HiddenValue::DynamicLdsBytes,
            ArgumentKind::HiddenPrivateBase => HiddenValue::PrivateBase,
            ArgumentKind::HiddenSharedBase => HiddenValue::SharedBase,
            ArgumentKind::HiddenQueuePtr => HiddenValue::QueuePointer,
            _ => return None,
        })
    }
}

/// What hidden arguments need to know beside the geometry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HiddenContext {
    /// Address of the queue's `amd_queue_t`.
    pub(crate) queue: u64,
    /// Base of the scratch aperture.
    pub(crate) private_aperture: u64,
    /// Base of the LDS aperture.
    pub(crate) shared_aperture: u64,
}

/// A kernel's kernarg segment.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    size: u32,
    /// `None` when the object has no metadata for the kernel: then the caller passes the whole segment.
    explicit: Option<Vec<Explicit>>,
    hidden: Vec<Hidden>,
    static_lds: u32,
}

impl Layout {
    pub(crate) fn of(kernel: &code::Kernel) -> Result<Layout, Error> {
        let size = kernel.kernarg_size();
        let refuse = |reason: String| Error::Kernel { kernel: kernel.name().to_owned(), reason };
        if size > MAX_KERNARG_BYTES {
            return Err(refuse(format!(
                "its arguments need {size} bytes; at most {MAX_KERNARG_BYTES} are supported"
            )));
        }
        if kernel.kernarg_align() > KERNARG_ALIGNMENT {
            return Err(refuse(format!(
                "its arguments need an alignment of {} bytes; {KERNARG_ALIGNMENT} is supported",
                kernel.kernarg_align()
            )));
        }
        let mut explicit = Vec::new();
        let mut hidden = Vec::new();
        for argument in kernel.arguments() {
            let code::Argument { offset, size: bytes, ref kind, .. } = *argument;
            if argument.end() > u64::from(size) {
                return Err(refuse(format!(
                    "argument at offset {offset} of {bytes} bytes ends beyond the segment's {size}"
                )));
            }
            if kind.is_hidden() {
                hidden.extend(HiddenValue::of(kind).map(|value| Hidden {
                    offset,
                    size: bytes,
                    value,
                }));
                continue;
            }
            let needed = match kind {
                ArgumentKind::DynamicSharedPointer => 4,
                ArgumentKind::ByValue => bytes,
                _ => 8,
            };
            if bytes < needed {
                return Err(refuse(format!(
                    "a {kind} argument of {bytes} bytes instead of {needed}"
                )));
            }
            let kind = match kind {
                ArgumentKind::ByValue => Kind::Value,
                ArgumentKind::DynamicSharedPointer => {
                    Kind::Local { align: argument.pointee_align.unwrap_or(16).max(1) }
                }
                ArgumentKind::GlobalBuffer => Kind::Pointer,
                other => {
                    return Err(refuse(format!("arguments of kind {other} are not supported")));
                }
            };
            let name = argument.name.as_deref().map(Box::from);
            explicit.push(Explicit { name, offset, size: bytes, kind });
        }
        Ok(Layout {
            size,
            explicit: kernel.metadata().map(|_| explicit),
            hidden,
            static_lds: kernel.group_size(),
        })
    }

    /// Bytes of the segment.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// How many arguments a caller passes, when the metadata says.
    pub(crate) fn arguments(&self) -> Option<usize> {
        self.explicit.as_ref().map(Vec::len)
    }

    /// Checks the arguments against the declaration and returns the LDS a workgroup needs, static and
    /// dynamic, in bytes. Touches no device memory.
    pub(crate) fn check(
        &self,
        kernel: &str,
        geometry: &Geometry,
        arguments: &[Argument<'_>],
    ) -> Result<u32, Error> {
        let too_much = || Error::Arguments {
            kernel: kernel.to_owned(),
            reason: "more than 4 GiB of local memory".to_owned(),
        };
        let lds = self.check_arguments(kernel, arguments)?;
        lds.checked_add(geometry.dynamic_lds()).ok_or_else(too_much)
    }

    fn check_arguments(&self, kernel: &str, arguments: &[Argument<'_>]) -> Result<u32, Error> {
        let Some(explicit) = &self.explicit else {
            return match arguments {
                [Argument::Bytes(bytes)] if bytes.len() == self.size as usize => {
                    Ok(self.static_lds)
                }
                [] if self.size == 0 => Ok(self.static_lds),
                _ => Err(Error::Arguments {
                    kernel: kernel.to_owned(),
                    reason: format!(
                        "the code object has no metadata for it: pass its whole kernarg segment as one \
                         argument of {} bytes",
                        self.size
                    ),
                }),
            };
        };
        if explicit.len() != arguments.len() {
            return Err(Error::Arguments {
                kernel: kernel.to_owned(),
                reason: format!(
                    "it takes {} arguments, {} were given",
                    explicit.len(),
                    arguments.len()
                ),
            });
        }
        let mut lds = self.static_lds;
        for (index, (declared, given)) in explicit.iter().zip(arguments).enumerate() {
            let fits = match (declared.kind, given) {
                (Kind::Pointer, Argument::Buffer(_) | Argument::Null | Argument::Address(_)) => {
                    true
                }
                (Kind::Value, Argument::Bytes(bytes)) => bytes.len() == declared.size as usize,
                (Kind::Value, Argument::Value(bytes, size)) => {
                    usize::from(*size) <= bytes.len() && u32::from(*size) == declared.size
                }
                // Structures passed by value may hold addresses.
                (Kind::Value, Argument::Address(_)) => declared.size == 8,
                (Kind::Local { align }, Argument::Local(bytes)) => {
                    lds = place(lds, align)
                        .and_then(|at| at.checked_add(*bytes))
                        .ok_or_else(|| declared.refuse(kernel, index, given))?;
                    true
                }
                _ => false,
            };
            if !fits {
                return Err(declared.refuse(kernel, index, given));
            }
        }
        Ok(lds)
    }

    /// Fills the segment, all zero before, through `write`, which takes an offset and bytes. `arguments` passed
    /// [`Layout::check`].
    pub(crate) fn pack(
        &self,
        mut write: impl FnMut(usize, &[u8]),
        arguments: &[Argument<'_>],
        geometry: &Geometry,
        context: &HiddenContext,
    ) {
        let Some(explicit) = &self.explicit else {
            if let [Argument::Bytes(bytes)] = arguments {
                write(0, bytes);
            }
            return;
        };
        let mut lds = self.static_lds;
        for (declared, given) in explicit.iter().zip(arguments) {
            let at = declared.offset as usize;
            match (declared.kind, given) {
                (_, Argument::Buffer(view)) => write(at, &view.address().to_le_bytes()),
                (_, Argument::Address(address)) => write(at, &address.to_le_bytes()),
                (_, Argument::Bytes(bytes)) => write(at, bytes),
                (_, Argument::Value(bytes, size)) => write(at, &bytes[..usize::from(*size)]),
                (Kind::Local { align }, Argument::Local(bytes)) => {
                    // `check` saw that neither addition overflows.
                    lds = place(lds, align).unwrap_or(lds);
                    write(at, &lds.to_le_bytes());
                    lds = lds.saturating_add(*bytes);
                }
                _ => {}
            }
        }
        let dynamic_lds = lds - self.static_lds + geometry.dynamic_lds();
        for hidden in &self.hidden {
            let value = match hidden.value {
                HiddenValue::BlockCount(axis) => u64::from(geometry.full_workgroups()[axis]),
                HiddenValue::GroupSize(axis) => u64::from(geometry.workgroup()[axis]),
                HiddenValue::Remainder(axis) => u64::from(geometry.remainders()[axis]),
                HiddenValue::GridDimensions => u64::from(geometry.dimensions()),
                HiddenValue::DynamicLdsBytes => u64::from(dynamic_lds),
                HiddenValue::PrivateBase => context.private_aperture >> 32,
                HiddenValue::SharedBase => context.shared_aperture >> 32,
                HiddenValue::QueuePointer => context.queue,
            };
            let (at, bytes) = (hidden.offset as usize, value.to_le_bytes());
            // Sizes that the compiler knows become stores instead of calls.
            match hidden.size {
                2 => write(at, &bytes[..2]),
                4 => write(at, &bytes[..4]),
                8.. => write(at, &bytes),
                size => write(at, &bytes[..size as usize]),
            }
        }
    }
}

/// The first multiple of `align` at or after `offset`.
fn place(offset: u32, align: u32) -> Option<u32> {
    offset.checked_next_multiple_of(align)
}

impl Explicit {
    #[cold]
    fn refuse(&self, kernel: &str, index: usize, given: &Argument<'_>) -> Error {
        let name = self.name.as_deref().map(|name| format!(" `{name}`")).unwrap_or_default();
        let needed = match self.kind {
            Kind::Value => format!("a value of {} bytes", self.size),
            Kind::Pointer => "a buffer or an address".to_owned(),
            Kind::Local { .. } => "a size of local memory below 4 GiB".to_owned(),
        };
        let got = match given {
            Argument::Buffer(_) => "a buffer".to_owned(),
            Argument::Null => "a null pointer".to_owned(),
            Argument::Bytes(bytes) => format!("{} bytes", bytes.len()),
            Argument::Value(_, size) => format!("a value of {size} bytes"),
            Argument::Local(bytes) => format!("{bytes} bytes of local memory"),
            Argument::Address(_) => "an address".to_owned(),
        };
        Error::Arguments {
            kernel: kernel.to_owned(),
            reason: format!("argument {index}{name} is {needed}, got {got}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kind of hidden argument, by hand, at the offsets of code object v5 (LLVM AMDGPUUsage, "Code Object V5
    /// Kernel Argument Metadata Map"), behind a value and two local arguments.
    #[test]
    fn every_argument_is_in_its_place() {
        let explicit = |offset, size, kind| Explicit { name: None, offset, size, kind };
        let hidden = |offset, size, value| Hidden { offset, size, value };
        let layout = Layout {
            size: 280,
            explicit: Some(vec![
                explicit(0, 4, Kind::Value),
                explicit(4, 4, Kind::Local { align: 16 }),
                explicit(8, 4, Kind::Local { align: 256 }),
                explicit(16, 8, Kind::Pointer),
            ]),
            hidden: vec![
                hidden(24, 4, HiddenValue::BlockCount(0)),
                hidden(28, 4, HiddenValue::BlockCount(1)),
                hidden(32, 4, HiddenValue::BlockCount(2)),
                hidden(36, 2, HiddenValue::GroupSize(0)),
                hidden(38, 2, HiddenValue::GroupSize(1)),
                hidden(40, 2, HiddenValue::GroupSize(2)),
                hidden(42, 2, HiddenValue::Remainder(0)),
                hidden(44, 2, HiddenValue::Remainder(1)),
                hidden(46, 2, HiddenValue::Remainder(2)),
                hidden(88, 2, HiddenValue::GridDimensions),
                hidden(144, 4, HiddenValue::DynamicLdsBytes),
                hidden(216, 4, HiddenValue::PrivateBase),
                hidden(220, 4, HiddenValue::SharedBase),
                hidden(224, 8, HiddenValue::QueuePointer),
            ],
            static_lds: 68,
        };
        let arguments = [
            0xa1a2_a3a4u32.into(),
            Argument::Local(100),
            Argument::Local(50),
            Argument::Address(0x1122_3344_5566_7788),
        ];
        let geometry = Geometry::new(&[100, 7], &[16, 4]).unwrap().with_dynamic_lds(1000);
        // 68 is moved to 80; 180 to 256; then 50 and the geometry's 1000.
        assert_eq!(layout.check("k", &geometry, &arguments).unwrap(), 256 + 50 + 1000);

        let context = HiddenContext {
            queue: 0x7fff_1234_5678,
            private_aperture: 2 << 48,
            shared_aperture: 1 << 48,
        };
        let mut bytes = [0u8; 280];
        let write = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
        layout.pack(write, &arguments, &geometry, &context);

        let mut expected = [0u8; 280];
        let mut put = |at: usize, part: &[u8]| expected[at..at + part.len()].copy_from_slice(part);
        put(0, &[0xa4, 0xa3, 0xa2, 0xa1]);
        put(4, &[80, 0, 0, 0]);
        put(8, &[0, 1, 0, 0]);
        put(16, &[0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]);
        put(24, &[6, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
        put(36, &[16, 0, 4, 0, 1, 0, 4, 0, 3, 0, 0, 0]);
        put(88, &[2, 0]);
        put(144, &(256u32 + 50 + 1000 - 68).to_le_bytes());
        put(218, &[2, 0, 0, 0, 1, 0]);
        put(224, &[0x78, 0x56, 0x34, 0x12, 0xff, 0x7f, 0, 0]);
        assert_eq!(bytes, expected);
    }
}
