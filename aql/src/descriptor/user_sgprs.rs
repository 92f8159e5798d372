//! Which user SGPRs a kernel asked for (AMDGPUUsage, "SGPR Register Set Up Order" and "Preloaded
//! Kernel Arguments").

use super::KernelDescriptor;
use crate::Generation;
use core::fmt;

/// User SGPRs that the packet processor can set.
pub const MAX_USER_SGPRS: u8 = 16;

/// Where preloaded arguments go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PreloadSgprs {
    /// First SGPR.
    pub first: u8,
    /// Dwords to load: as many as the descriptor asks for and SGPRs remain.
    pub length: u8,
    /// Where they start in the kernarg segment, in dwords.
    pub offset: u16,
}

/// The first SGPR of each value that the packet processor hands to a kernel; `None` when the kernel
/// did not ask for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct UserSgprs {
    /// Scratch buffer descriptor, 4 SGPRs.
    pub private_segment_buffer: Option<u8>,
    /// Address of the dispatch packet, 2 SGPRs.
    pub dispatch_ptr: Option<u8>,
    /// Address of the `amd_queue_t`, 2 SGPRs.
    pub queue_ptr: Option<u8>,
    /// The packet's kernarg address, 2 SGPRs.
    pub kernarg_segment_ptr: Option<u8>,
    /// The packet's index, 2 SGPRs.
    pub dispatch_id: Option<u8>,
    /// Address of the queue's scratch (gfx9 and gfx10), 2 SGPRs.
    pub flat_scratch_init: Option<u8>,
    /// The packet's private segment size, a multiple of 4 bytes, 1 SGPR.
    pub private_segment_size: Option<u8>,
    /// Arguments loaded by the packet processor, after all others.
    pub preload: Option<PreloadSgprs>,
    /// Number of user SGPRs in use.
    pub count: u8,
}

/// A kernel asks for more user SGPRs than it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserSgprError {
    /// User SGPRs that its properties enable.
    pub needed: u8,
    /// What it says (COMPUTE_PGM_RSRC2.USER_SGPR_COUNT), at most [`MAX_USER_SGPRS`].
    pub available: u8,
}

impl fmt::Display for UserSgprError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the kernel's properties need {} user SGPRs, and USER_SGPR_COUNT allows {}",
            self.needed, self.available
        )
    }
}

impl core::error::Error for UserSgprError {}

impl UserSgprs {
    /// The layout that a descriptor asks for. On generations with architected flat scratch, the
    /// private segment buffer and flat scratch init do not exist.
    ///
    /// # Errors
    /// When the descriptor enables more than its USER_SGPR_COUNT or more than there are.
    pub fn new(
        descriptor: &KernelDescriptor,
        generation: Generation,
    ) -> Result<UserSgprs, UserSgprError> {
        let properties = descriptor.properties();
        let rsrc2 = descriptor.rsrc2();
        let available = rsrc2.user_sgpr_count().min(MAX_USER_SGPRS);
        let mut next = 0;
        let mut take = |enabled: bool, size: u8| {
            let first = next;
            next += if enabled { size } else { 0 };
            enabled.then_some(first)
        };
        let own_scratch = !generation.has_architected_flat_scratch();
        let mut layout = UserSgprs {
            private_segment_buffer: take(
                own_scratch && properties.enable_sgpr_private_segment_buffer(),
                4,
            ),
            dispatch_ptr: take(properties.enable_sgpr_dispatch_ptr(), 2),
            queue_ptr: take(properties.enable_sgpr_queue_ptr(), 2),
            kernarg_segment_ptr: take(properties.enable_sgpr_kernarg_segment_ptr(), 2),
            dispatch_id: take(properties.enable_sgpr_dispatch_id(), 2),
            flat_scratch_init: take(own_scratch && properties.enable_sgpr_flat_scratch_init(), 2),
            private_segment_size: take(properties.enable_sgpr_private_segment_size(), 1),
            preload: None,
            count: 0,
        };
        if next > available {
            return Err(UserSgprError { needed: next, available });
        }
        let preload = descriptor.preload();
        if generation.has_kernarg_preload() && preload.length() != 0 {
            let length = preload.length().min(available - next);
            layout.preload = Some(PreloadSgprs { first: next, length, offset: preload.offset() });
            next += length;
        }
        layout.count = next;
        Ok(layout)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::super::{KernargPreload, Properties, Rsrc2};
    use super::*;
    use std::string::ToString;

    fn descriptor(properties: Properties, user_sgprs: u8) -> KernelDescriptor {
        KernelDescriptor {
            kernel_code_properties: properties.into_bits(),
            compute_pgm_rsrc2: Rsrc2::new().with_user_sgpr_count(user_sgprs).into_bits(),
            ..KernelDescriptor::default()
        }
    }

    #[test]
    fn order() {
        let all = descriptor(Properties::from_bits(0x7f), 15);
        let layout = UserSgprs::new(&all, Generation::Gfx103).unwrap();
        assert_eq!(
            layout,
            UserSgprs {
                private_segment_buffer: Some(0),
                dispatch_ptr: Some(4),
                queue_ptr: Some(6),
                kernarg_segment_ptr: Some(8),
                dispatch_id: Some(10),
                flat_scratch_init: Some(12),
                private_segment_size: Some(14),
                preload: None,
                count: 15,
            }
        );
        let layout = UserSgprs::new(&all, Generation::Gfx11).unwrap();
        assert_eq!(layout.dispatch_ptr, Some(0));
        assert_eq!(layout.private_segment_size, Some(8));
        assert_eq!(layout.count, 9);
    }

    #[test]
    fn too_many() {
        let error = UserSgprs::new(&descriptor(Properties::from_bits(0x7f), 8), Generation::Gfx906)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "the kernel's properties need 15 user SGPRs, and USER_SGPR_COUNT allows 8"
        );
    }

    #[test]
    fn preload_fills_what_remains() {
        let properties = Properties::new().with_enable_sgpr_kernarg_segment_ptr(true);
        let mut wanted = descriptor(properties, 16);
        wanted.kernarg_preload = KernargPreload::new().with_length(20).with_offset(3).into_bits();
        let layout = UserSgprs::new(&wanted, Generation::Gfx90a).unwrap();
        assert_eq!(layout.preload, Some(PreloadSgprs { first: 2, length: 14, offset: 3 }));
        assert_eq!(layout.count, 16);
        assert_eq!(UserSgprs::new(&wanted, Generation::Gfx11).unwrap().preload, None);
    }
}
