//! A vendor-specific packet that starts a kernel in clusters of workgroups.

use crate::header::FenceScope;

packet! {
    /// Starts a kernel over a grid of clusters of workgroups: what [`KernelDispatch`](crate::KernelDispatch) does,
    /// and a signal to wait for and hints. For gfx12.5, where a cluster's workgroups run on one shader engine.
    pub struct ExtKernelDispatch: "EXT_KERNEL_DISPATCH" = 0x0003_0000 in 0x00ff_00ff;
    source "hsa_ext_amd.h 1.21, hsa_amd_ext_kernel_dispatch_packet_t";
    /// Number of dimensions of the grid: 1, 2 or 3.
    dimensions: u8 = 0[25:24];
    /// Work-items of a workgroup in x, at least 1.
    workgroup_size_x: u16 = 1[15:0];
    /// Work-items of a workgroup in y; 1 when there is no such dimension.
    workgroup_size_y: u16 = 1[31:16];
    /// Work-items of a workgroup in z; 1 when there is no such dimension.
    workgroup_size_z: u16 = 2[15:0];
    /// **Clusters** of the grid in x, at least 1.
    cluster_count_x: u32 = 3[31:0];
    /// Clusters of the grid in y; 1 when there is no such dimension.
    cluster_count_y: u16 = 4[15:0];
    /// Clusters of the grid in z; 1 when there is no such dimension.
    cluster_count_z: u16 = 4[31:16];
    /// Workgroups of a cluster in x, at least 1.
    cluster_size_x: u8 = 5[7:0];
    /// Workgroups of a cluster in y; 1 when there is no such dimension.
    cluster_size_y: u8 = 5[15:8];
    /// Workgroups of a cluster in z; 1 when there is no such dimension.
    cluster_size_z: u8 = 5[23:16];
    /// Hint: how much of a compute unit's storage is to be LDS, from 1 (none) to 127 (all); 0 leaves it to the
    /// device.
    group_mem_carveout: u8 = 5[30:24];
    /// Hint: start workgroups from the last to the first. Workgroups then have no promise that earlier ones make
    /// progress.
    reverse_dispatch_order: bool = 5[31:31];
    /// Scratch of one work-item, bytes.
    private_segment_size: u32 = 6[31:0];
    /// LDS of one workgroup, static and dynamic, bytes.
    group_segment_size: u32 = 7[31:0];
    /// Device address of the kernel descriptor ([`descriptor`](crate::descriptor)), a multiple of 64.
    kernel_object: u64 = 8[31:0] as kernel_object_lo | 9[31:0] << 32 as kernel_object_hi;
    /// Device address of the arguments; 0 when there are none.
    kernarg_address: u64 = 10[31:0] as kernarg_address_lo | 11[31:0] << 32 as kernarg_address_hi;
    /// Address of a signal that must be zero before the acquire fence is made and the kernel starts; 0 for none.
    dep_signal: u64 = 12[31:0] as dep_signal_lo | 13[31:0] << 32 as dep_signal_hi;
}

impl ExtKernelDispatch {
    /// A dispatch of `cluster_count` clusters of one workgroup each, with three dimensions, fenced as
    /// [`ExtKernelDispatch::SYSTEM`] and everything else zero.
    pub const fn new(
        kernel_object: u64,
        kernarg_address: u64,
        cluster_count: (u32, u16, u16),
        workgroup_size: [u16; 3],
    ) -> ExtKernelDispatch {
        let [workgroup_size_x, workgroup_size_y, workgroup_size_z] = workgroup_size;
        ExtKernelDispatch {
            dimensions: 3,
            workgroup_size_x,
            workgroup_size_y,
            workgroup_size_z,
            cluster_count_x: cluster_count.0,
            cluster_count_y: cluster_count.1,
            cluster_count_z: cluster_count.2,
            cluster_size_x: 1,
            cluster_size_y: 1,
            cluster_size_z: 1,
            kernel_object,
            kernarg_address,
            ..ExtKernelDispatch::SYSTEM
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
        let packet = ExtKernelDispatch {
            cluster_size_x: 4,
            reverse_dispatch_order: true,
            ..ExtKernelDispatch::new(0x1000, 0x2000, (8, 1, 1), [64, 1, 1])
        };
        assert!(packet.to_string().starts_with(
            "EXT_KERNEL_DISPATCH barrier acquire=SYSTEM release=SYSTEM dimensions=3 \
             workgroup_size_x=0x40 workgroup_size_y=1 workgroup_size_z=1 cluster_count_x=8"
        ));
        assert!(packet.to_string().contains(" reverse_dispatch_order "));
        assert_eq!(packet.encode()[0], 0x0303_1500);
    }

    proptest! {
        #[test]
        fn round_trip(mut words: [u32; 16]) {
            words[0] = words[0] & 0xff00_ff00 | 3 << 16;
            prop_assert_eq!(ExtKernelDispatch::decode(&words).unwrap().encode(), words);
        }
    }
}
