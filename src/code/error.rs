//! Why a code object, bundle or target was refused.

use super::target::TargetId;

/// An error of the code-object loader.
///
/// Every variant names the file (or the entry inside it) as the caller named it; offsets are in
/// bytes from the start of that file or entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodeError {
    /// The bytes are none of the containers that can hold device code.
    #[error(
        "{file}: not device code: needed an ELF file, an offload bundle (`__CLANG_OFFLOAD_BUNDLE__`) or a \
         compressed one (`CCOB`), got {got}"
    )]
    NotDeviceCode {
        /// File name given by the caller.
        file: String,
        /// What the first bytes look like.
        got: String,
    },
    /// A structure reaches past the end of the file.
    #[error(
        "{file}: {what} at offset {offset:#x} needs {needed} bytes, but only {available} are there: the file is \
         truncated or its header is wrong"
    )]
    Truncated {
        /// File name given by the caller.
        file: String,
        /// Structure that was being read.
        what: String,
        /// Its byte offset.
        offset: u64,
        /// Bytes it needs.
        needed: u64,
        /// Bytes left from `offset` to the end.
        available: u64,
    },
    /// A field has a value that no valid file has, or that is not supported.
    #[error("{file}: {field} at offset {offset:#x}: needed {needed}, got {got}")]
    Field {
        /// File name given by the caller.
        file: String,
        /// Field by its standard name.
        field: String,
        /// Its byte offset.
        offset: u64,
        /// What would have been accepted.
        needed: String,
        /// What is there.
        got: String,
    },
    /// Something is larger than the loader is willing to handle.
    #[error("{file}: {what} at offset {offset:#x} is {got} bytes; the limit is {limit} ({remedy})")]
    TooLarge {
        /// File name given by the caller.
        file: String,
        /// What is too large.
        what: String,
        /// Its byte offset.
        offset: u64,
        /// Its size in bytes.
        got: u64,
        /// The limit in bytes.
        limit: u64,
        /// What the user can do.
        remedy: &'static str,
    },
    /// An unlinked object that cannot be loaded as it is.
    #[error(
        "{file}: relocatable object: link it first (`ld.lld -shared {file} -o out.hsaco`): {reason}"
    )]
    Relocatable {
        /// File name given by the caller.
        file: String,
        /// What stands in the way, with its place.
        reason: String,
    },
    /// A relocation that the loader does not know or cannot apply.
    #[error("{file}: relocation {name} (type {kind}) at {place:#x}: {reason}")]
    Relocation {
        /// File name given by the caller.
        file: String,
        /// `r_type`.
        kind: u32,
        /// Its name in LLVM's AMDGPU documentation, or `unknown`.
        name: &'static str,
        /// `r_offset`: ELF address of the field to be changed.
        place: u64,
        /// What is wrong.
        reason: String,
    },
    /// A relocation needs the address of a symbol that nobody defined.
    #[error(
        "{file}: symbol `{symbol}` is undefined (needed at {place:#x}); define it when loading, or link the object \
         that has it"
    )]
    UndefinedSymbol {
        /// File name given by the caller.
        file: String,
        /// Symbol name.
        symbol: String,
        /// ELF address of the field that needs it.
        place: u64,
    },
    /// The image cannot be placed at this address.
    #[error("{file}: load address {base:#x} is not usable: needed {needed}")]
    LoadAddress {
        /// File name given by the caller.
        file: String,
        /// Address asked for.
        base: u64,
        /// Rule that it breaks.
        needed: String,
    },
    /// There is not enough host memory for the loaded image.
    #[error("{file}: its image takes {needed} bytes of host memory, which are not available")]
    OutOfMemory {
        /// File name given by the caller.
        file: String,
        /// Bytes needed.
        needed: u64,
    },
    /// The metadata note is damaged.
    #[error("{file}: metadata note at offset {offset:#x}: {reason}")]
    Metadata {
        /// File name given by the caller.
        file: String,
        /// Byte offset of the note's contents.
        offset: u64,
        /// What is wrong, with the path of the key.
        reason: String,
    },
    /// A kernel's descriptor, code or arguments contradict each other.
    #[error("{file}: kernel `{kernel}`: {reason}")]
    Kernel {
        /// File name given by the caller.
        file: String,
        /// Kernel name.
        kernel: String,
        /// What is wrong.
        reason: String,
    },
    /// There is no kernel of that name.
    #[error("{file}: no kernel `{kernel}`; {available}")]
    UnknownKernel {
        /// File name given by the caller.
        file: String,
        /// Name asked for.
        kernel: String,
        /// Kernels in the file, in words.
        available: String,
    },
    /// The file has no code for this device.
    #[error("{0}")]
    WrongTarget(Box<WrongTarget>),
    /// A compressed bundle cannot be unpacked.
    #[error("{file}: {bundle} at offset {offset:#x}: {reason}")]
    Compressed {
        /// File name given by the caller.
        file: String,
        /// The bundle in words: version, method and sizes.
        bundle: String,
        /// Byte offset of its header.
        offset: u64,
        /// What is wrong.
        reason: String,
    },
    /// A compressed bundle unpacks to something else than what was packed.
    #[error(
        "{file}: {bundle} at offset {offset:#x}: hash mismatch: header says {expected:016x}, the unpacked bytes have \
         {actual:016x}: the file is damaged"
    )]
    Hash {
        /// File name given by the caller.
        file: String,
        /// The bundle in words: version, method and sizes.
        bundle: String,
        /// Byte offset of its header.
        offset: u64,
        /// Hash in the header.
        expected: u64,
        /// Low eight bytes of the MD5 of the unpacked bytes.
        actual: u64,
    },
}

/// The file has device code, but none that fits the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongTarget {
    /// File name given by the caller.
    pub file: String,
    /// Target of the device.
    pub device: TargetId,
    /// Each target in the file with the reason why it does not fit.
    pub candidates: Vec<(String, String)>,
    /// What would help, if anything is known to.
    pub advice: Option<String>,
}

impl WrongTarget {
    /// The error for `device` and the targets of a file: text, target where it is one, reason.
    pub(super) fn new(
        file: &str,
        device: &TargetId,
        targets: impl IntoIterator<Item = (String, Option<TargetId>, String)>,
    ) -> Self {
        let mut candidates = Vec::new();
        let mut advice = None;
        for (text, target, reason) in targets {
            let generic = target.and_then(|t| t.processor.generic());
            if let Some(generic) =
                generic.filter(|_| target.is_some_and(|t| t.processor != device.processor))
                && device.processor.generic() == Some(generic)
            {
                advice = Some(format!("only {generic} would fit both"));
            }
            candidates.push((text, reason));
        }
        Self { file: file.to_owned(), device: *device, candidates, advice }
    }
}

impl std::fmt::Display for WrongTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.candidates.as_slice() {
            [] => write!(f, "{}: no device code in it (device {})", self.file, self.device)?,
            [(object, reason)] => {
                write!(f, "{}: object {object}, device {}: {reason}", self.file, self.device)?;
            }
            many => {
                write!(f, "{}: device {}; the file has", self.file, self.device)?;
                for (i, (object, reason)) in many.iter().enumerate() {
                    write!(f, "{} {object} ({reason})", if i == 0 { "" } else { "," })?;
                }
            }
        }
        match &self.advice {
            Some(advice) => write!(f, "; {advice}"),
            None => Ok(()),
        }
    }
}
