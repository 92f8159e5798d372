//! Kernel dispatch packet: starts a kernel over a grid of work-items.

use crate::header::FenceScope;

packet! {
    /// Starts a kernel over a grid of work-items.
    pub struct KernelDispatch: "KERNEL_DISPATCH" = 2 in 0xff;
    source "hsa.h, hsa_kernel_dispatch_packet_t";
    /// Number of dimensions of the grid: 1, 2 or 3.
    dimensions: u8 = 0[17:16];
    /// Work-items of a workgroup in x, at least 1.
    workgroup_size_x: u16 = 1[15:0];
    /// Work-items of a workgroup in y; 1 when there is no such dimension.
    workgroup_size_y: u16 = 1[31:16];
    /// Work-items of a workgroup in z; 1 when there is no such dimension.
    workgroup_size_z: u16 = 2[15:0];
    /// **Work-items**, not workgroups, of the grid in x, at least 1. The last workgroup may be partial.
    grid_size_x: u32 = 3[31:0];
    /// Work-items of the grid in y; 1 when there is no such dimension.
    grid_size_y: u32 = 4[31:0];
    /// Work-items of the grid in z; 1 when there is no such dimension.
    grid_size_z: u32 = 5[31:0];
    /// Scratch of one work-item, bytes.
    private_segment_size: u32 = 6[31:0];
    /// LDS of one workgroup, static and dynamic, bytes.
    group_segment_size: u32 = 7[31:0];
    /// Device address of the kernel descriptor ([`descriptor`](crate::descriptor)), a multiple of 64.
    kernel_object: u64 = 8[31:0] as kernel_object_lo | 9[31:0] << 32 as kernel_object_hi;
    /// Device address of the arguments, a multiple of 16; 0 when there are none.
    kernarg_address: u64 = 10[31:0] as kernarg_address_lo | 11[31:0] << 32 as kernarg_address_hi;
}

impl KernelDispatch {
    /// A dispatch of `grid_size` work-items in workgroups of `workgroup_size`, with three dimensions, fenced as
    /// [`KernelDispatch::SYSTEM`] and everything else zero.
    #[inline]
    pub const fn new(
        kernel_object: u64,
        kernarg_address: u64,
        grid_size: [u32; 3],
        workgroup_size: [u16; 3],
    ) -> KernelDispatch {
        let [workgroup_size_x, workgroup_size_y, workgroup_size_z] = workgroup_size;
        let [grid_size_x, grid_size_y, grid_size_z] = grid_size;
        KernelDispatch {
            dimensions: 3,
            workgroup_size_x,
            workgroup_size_y,
            workgroup_size_z,
            grid_size_x,
            grid_size_y,
            grid_size_z,
            kernel_object,
            kernarg_address,
            ..KernelDispatch::SYSTEM
        }
    }

    /// Work-items of the grid in x, y and z.
    pub const fn grid_size(&self) -> [u32; 3] {
        [self.grid_size_x, self.grid_size_y, self.grid_size_z]
    }

    /// Work-items of a workgroup in x, y and z.
    pub const fn workgroup_size(&self) -> [u16; 3] {
        [self.workgroup_size_x, self.workgroup_size_y, self.workgroup_size_z]
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
            "KERNEL_DISPATCH barrier acquire=SYSTEM release=SYSTEM dimensions=3 \
             workgroup_size_x=0x40 workgroup_size_y=1 workgroup_size_z=1 \
             grid_size_x=0x400 grid_size_y=2 grid_size_z=1 \
             private_segment_size=0 group_segment_size=0x200 \
             kernel_object=0x1000 kernarg_address=0x2000 completion_signal=0x3000"
        );
        assert!(!packet.reserved_bits());
        packet.reserved[2] = 5 << 16;
        assert!(packet.reserved_bits());
        assert!(packet.to_string().ends_with(" reserved[2]=0x50000"));
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
