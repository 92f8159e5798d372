//! Device code: AMD code objects and the containers they come in.
//!
//! Parsing only; no device is touched and nothing here is unsafe. Every input is treated as
//! hostile: all offsets and sizes are checked, nothing is allocated on a header's word, nesting is
//! limited, and work stays proportional to the input.
//!
//! - [`Archive`]: any file with device code (code object, offload bundles, host program); lists
//!   what is in it and selects what fits a device.
//! - [`CodeObject`]: one code object: target, [`Image`] with relocations, [`Kernel`]s with their
//!   arguments, symbols.
//! - [`TargetId`]: what code was compiled for, and whether it runs on a device.
//!
//! ```no_run
//! use selvedge::code::{Archive, TargetId};
//!
//! let bytes = std::fs::read("kernels.co")?;
//! let device: TargetId = "gfx1151".parse()?;
//! let object = Archive::open(&bytes, "kernels.co")?.select(&device)?.parse()?;
//! let kernel = object.kernel("vector_add")?;
//! let base = 0x7f00_0000_0000; // a multiple of object.image().align()
//! let memory = object.image().load(base)?;
//! let kernel_object = base + kernel.descriptor_offset();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod archive;
mod bundle;
mod compressed;
mod elf;
mod error;
mod image;
mod kernel;
mod metadata;
mod object;
mod relocatable;
mod target;

pub use archive::{Archive, Container, Contents, Entry, Limits, Member};
pub use compressed::{CompressedBundle, Method};
pub use error::{CodeError, WrongTarget};
pub use image::{
    Image, MAX_IMAGE_BYTES, Relocation, RelocationKind, RelocationTarget, Segment, Undefined,
};
pub use kernel::Kernel;
pub use metadata::{Argument, ArgumentKind, KernelMetadata, Metadata};
pub use object::{CodeObject, Symbol, SymbolKind};
pub use target::{AbiVersion, Feature, Mismatch, ParseTargetError, Processor, TargetId};
