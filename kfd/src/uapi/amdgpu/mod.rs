//! The part of amdgpu's DRM UAPI (`<drm/amdgpu_drm.h>`, Linux 7.3) that a KFD client needs: buffer
//! objects and their addresses, contexts, command submission, and queries. libdrm is not needed.
//!
//! An `in`/`out` union of the kernel is two structs here, `XIn` and `XOut`, and a type `X` of the
//! union's size that holds either.

mod gem;
mod info;
mod submit;

pub use gem::*;
pub use info::*;
pub use submit::*;

use selvedge_sys::drm;
use selvedge_sys::uapi::{Direction, request};

macro_rules! requests {
    ($($name:ident $direction:ident $number:literal $argument:ident;)*) => {
        /// Request words. The numbers are driver commands, from [`drm::COMMAND_BASE`].
        pub mod drm_request {
            use super::*;
            $(
                #[doc = concat!("`DRM_IOCTL_AMDGPU_", stringify!($name), "`: [`", stringify!($argument), "`].")]
                pub const $name: u32 = request(
                    Direction::$direction,
                    drm::BASE,
                    drm::COMMAND_BASE + $number,
                    size_of::<$argument>(),
                );
            )*

            /// Name without `DRM_IOCTL_AMDGPU_`, and request word, of all.
            pub const ALL: &[(&str, u32)] = &[$((stringify!($name), $name),)*];
        }
    };
}

requests! {
    GEM_CREATE    ReadWrite 0x00 GemCreate;
    GEM_MMAP      ReadWrite 0x01 GemMmap;
    CTX           ReadWrite 0x02 Ctx;
    BO_LIST       ReadWrite 0x03 BoList;
    CS            ReadWrite 0x04 Cs;
    INFO          Write     0x05 Info;
    GEM_METADATA  ReadWrite 0x06 GemMetadata;
    GEM_WAIT_IDLE ReadWrite 0x07 GemWaitIdle;
    GEM_VA        Write     0x08 GemVa;
    WAIT_CS       ReadWrite 0x09 WaitCs;
    GEM_OP        ReadWrite 0x10 GemOp;
    GEM_USERPTR   ReadWrite 0x11 GemUserptr;
}

/// GEM_VA as Linux 6.12 has it, whose argument ends after `map_size`: 40 bytes. Newer kernels accept
/// it too and take the missing part for zeros.
pub const GEM_VA_40: u32 = request(Direction::Write, drm::BASE, drm::COMMAND_BASE + 0x08, 40);

/// GEM_OP before its argument had a count of entries: 16 bytes.
pub const GEM_OP_16: u32 = request(Direction::ReadWrite, drm::BASE, drm::COMMAND_BASE + 0x10, 16);

/// The layouts of the structs described here.
pub const LAYOUTS: &[&[selvedge_sys::uapi::Layout]] =
    &[gem::LAYOUTS, info::LAYOUTS, submit::LAYOUTS];
