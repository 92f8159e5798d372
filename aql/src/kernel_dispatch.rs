//! Kernel dispatch packet (`hsa_kernel_dispatch_packet_t`, hsa.h).
//!
//! | dwords | field |
//! |---|---|
//! | 0 | header 15:0, setup 31:16 (dimensions 17:16) |
//! | 1–2 | workgroup_size_x, y, z (16 bits each), reserved0 |
//! | 3–5 | grid_size_x, y, z |
//! | 6 | private_segment_size |
//! | 7 | group_segment_size |
//! | 8–9 | kernel_object |
//! | 10–11 | kernarg_address |
//! | 12–13 | reserved2 |
//! | 14–15 | completion_signal |

use crate::error::DecodeError;
use crate::header::{Header, PacketType};
use crate::words::{halves, high, low, pair, quad};
use bitfield_struct::bitfield;
use core::fmt;

/// `hsa_kernel_dispatch_packet_setup_t`: bits 31:16 of dword 0.
#[bitfield(u16, debug = true)]
#[derive(PartialEq, Eq, Hash)]
pub struct Setup {
    /// `HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS`: 1, 2 or 3.
    #[bits(2)]
    pub dimensions: u8,
    /// Must be zero.
    #[bits(14)]
    pub reserved: u16,
}

/// Starts a kernel over a grid of work-items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelDispatch {
    /// Type, barrier bit, fences.
    pub header: Header,
    /// Number of dimensions.
    pub setup: Setup,
    /// Workgroup size in work-items; 1 in unused dimensions.
    pub workgroup_size: [u16; 3],
    /// Must be zero.
    pub reserved0: u16,
    /// Grid size in **work-items**, not workgroups; 1 in unused dimensions.
    pub grid_size: [u32; 3],
    /// Scratch of one work-item, bytes.
    pub private_segment_size: u32,
    /// LDS of one workgroup, static and dynamic, bytes.
    pub group_segment_size: u32,
    /// Device address of the kernel descriptor ([`crate::descriptor`]), a multiple of 64.
    pub kernel_object: u64,
    /// Device address of the arguments, a multiple of 16; 0 when there are none.
    pub kernarg_address: u64,
    /// Must be zero (reserved2).
    pub reserved2: u64,
    /// Address of the signal decremented on completion; 0 for none.
    pub completion_signal: u64,
}

impl KernelDispatch {
    /// A dispatch of `grid_size` work-items in workgroups of `workgroup_size`, with three
    /// dimensions, a system-scope header ([`Header::system`]) and everything else zero.
    #[inline]
    pub const fn new(
        kernel_object: u64,
        kernarg_address: u64,
        grid_size: [u32; 3],
        workgroup_size: [u16; 3],
    ) -> KernelDispatch {
        KernelDispatch {
            header: Header::system(PacketType::KernelDispatch),
            setup: Setup::new().with_dimensions(3),
            workgroup_size,
            reserved0: 0,
            grid_size,
            private_segment_size: 0,
            group_segment_size: 0,
            kernel_object,
            kernarg_address,
            reserved2: 0,
            completion_signal: 0,
        }
    }

    /// The packet's dwords.
    #[inline]
    pub const fn encode(&self) -> [u32; 16] {
        [
            pair(self.header.into_bits(), self.setup.into_bits()),
            pair(self.workgroup_size[0], self.workgroup_size[1]),
            pair(self.workgroup_size[2], self.reserved0),
            self.grid_size[0],
            self.grid_size[1],
            self.grid_size[2],
            self.private_segment_size,
            self.group_segment_size,
            low(self.kernel_object),
            high(self.kernel_object),
            low(self.kernarg_address),
            high(self.kernarg_address),
            low(self.reserved2),
            high(self.reserved2),
            low(self.completion_signal),
            high(self.completion_signal),
        ]
    }

    /// Reads a packet.
    ///
    /// # Errors
    /// When the header's type is another.
    pub const fn decode(words: &[u32; 16]) -> Result<KernelDispatch, DecodeError> {
        let (header, setup) = halves(words[0]);
        let header = Header::from_bits(header);
        if !matches!(header.packet_type(), PacketType::KernelDispatch) {
            return Err(DecodeError::PacketType {
                needed: "kernel-dispatch",
                got: header.packet_type(),
            });
        }
        let (x, y) = halves(words[1]);
        let (z, reserved0) = halves(words[2]);
        Ok(KernelDispatch {
            header,
            setup: Setup::from_bits(setup),
            workgroup_size: [x, y, z],
            reserved0,
            grid_size: [words[3], words[4], words[5]],
            private_segment_size: words[6],
            group_segment_size: words[7],
            kernel_object: quad(words, 8),
            kernarg_address: quad(words, 10),
            reserved2: quad(words, 12),
            completion_signal: quad(words, 14),
        })
    }

    /// Whether a bit is set that must be zero.
    pub const fn reserved_bits(&self) -> bool {
        self.header.reserved() != 0
            || self.setup.reserved() != 0
            || self.reserved0 != 0
            || self.reserved2 != 0
    }
}

impl fmt::Display for KernelDispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([gx, gy, gz], [wx, wy, wz]) = (self.grid_size, self.workgroup_size);
        write!(f, "{} dimensions={}", self.header, self.setup.dimensions())?;
        write!(f, " grid={gx}x{gy}x{gz} workgroup={wx}x{wy}x{wz}")?;
        write!(f, " private={}B group={}B", self.private_segment_size, self.group_segment_size)?;
        write!(f, " kernel={:#x} kernarg={:#x}", self.kernel_object, self.kernarg_address)?;
        write!(f, " completion={:#x}", self.completion_signal)?;
        let reserved = [u64::from(self.setup.reserved()), self.reserved0.into(), self.reserved2];
        match reserved {
            [0, 0, 0] => Ok(()),
            [setup, r0, r2] => write!(f, " reserved={setup:#x}/{r0:#x}/{r2:#x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    #[test]
    fn reads_well() {
        let mut packet = KernelDispatch::new(0x1000, 0x2000, [1024, 2, 1], [64, 1, 1]);
        packet.completion_signal = 0x3000;
        packet.group_segment_size = 512;
        assert_eq!(
            packet.to_string(),
            "kernel-dispatch barrier acquire=system release=system dimensions=3 grid=1024x2x1 \
             workgroup=64x1x1 private=0B group=512B kernel=0x1000 kernarg=0x2000 completion=0x3000"
        );
        packet.reserved0 = 5;
        assert!(packet.reserved_bits());
        assert!(packet.to_string().ends_with(" reserved=0x0/0x5/0x0"));
    }

    proptest! {
        #[test]
        fn round_trip(mut words: [u32; 16]) {
            words[0] = words[0] & !0xff | 2;
            prop_assert_eq!(KernelDispatch::decode(&words).unwrap().encode(), words);
        }

        #[test]
        fn other_types_are_refused(words: [u32; 16]) {
            prop_assert_eq!(KernelDispatch::decode(&words).is_ok(), words[0] & 0xff == 2);
        }
    }
}
