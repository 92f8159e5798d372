//! The launch descriptor of a dispatch's record.

pm4::names! {
    /// What a [`DataPrefetch`]'s lines are kept like in the L2 cache.
    pub struct Temporal(u8) {
        /// As usual.
        REGULAR = 0,
        /// They are not likely to be used again.
        NON_TEMPORAL = 1,
        /// They are very likely to be used again.
        HIGH_TEMPORAL = 2,
        /// This is their last use.
        LAST_USE = 3,
    }
}

pm4::names! {
    /// How far a [`DataPrefetch`] reaches; 0 and 1 are reserved.
    pub struct PrefetchScope(u8) {
        /// The device.
        DEVICE = 2,
        /// The system.
        SYSTEM = 3,
    }
}

pm4::names! {
    /// Whether a [`DataPrefetch`] is used, and what its address is; 3 is reserved.
    pub struct PrefetchMode(u8) {
        /// Not used.
        DISABLED = 0,
        /// A virtual address.
        ABSOLUTE_VA = 1,
        /// The offset of a pointer in the arguments.
        KERNARG_OFS = 2,
    }
}

pm4::layout! {
    /// What a dispatch asks for beyond its packet. The first 5 of 13 dwords; two [`DataPrefetch`] follow. Zeros
    /// everywhere ask for nothing.
    pub struct LaunchDescriptor: "LAUNCH_DESCRIPTOR", 5 dwords everywhere;
    source "amd_launch_descriptor.h, amd_launch_descriptor_data_t";
    fixed 0 = 0;
    /// 0: no descriptor; 1: this one, that of gfx1250.
    version: u8 = 0[7:0];
    /// Priority; 0 for the queue's. The header gives other values no meaning yet.
    priority: u8 = 0[15:8];
    /// Hint for the power management's firmware; 0 for none.
    pm_hint: u8 = 0[23:16];
    /// The first compute unit used in each shader engine.
    cu_start: u8 = 1[3:0];
    /// How many are used from there; 0 for all of the engine.
    cu_count: u8 = 1[7:4];
    /// Which shader engines are used, by bit. When this and the two before are 0, all compute units are.
    se_en: u8 = 1[9:8];
    /// How many workgroups (clusters in a dispatch of clusters) may be on the device at once; 0 for no limit.
    dispatch_granularity_limiter: u16 = 2[15:0];
    /// How many workgroups go to one XCC before the next gets its turn; 0 for the queue's number.
    tg_chunk_size: u16 = 3[31:16];
}

pm4::layout! {
    /// A region of memory that is brought into the L2 cache before the kernel starts: bursts at equal distances.
    pub struct DataPrefetch: "DATA_PREFETCH", 4 dwords everywhere;
    source "amd_launch_descriptor.h, amd_data_prefetch_t";
    fixed 0 = 0;
    /// Set: the XCCs share the work; else each fetches everything.
    cooperative: bool = 0[0:0];
    /// What the lines are kept like.
    temporal: Temporal = 0[2:1];
    /// How far it reaches.
    scope: PrefetchScope = 0[4:3];
    /// Bytes of a burst, a multiple of 256 from 256 to 512 KiB.
    burst_size: u32 (minus 256) = 0[15:5] << 8;
    /// Number of bursts, from 1 to 65536.
    num_burst: u32 (minus 1) = 0[31:16];
    /// Bursts that an XCC fetches in a row when they share the work: log2 of their number.
    chunk_size: u8 = 1[3:0];
    /// Access that the address is translated for: 0 to read, 1 to write, 2 to execute.
    translation_permissions: u8 = 1[5:4];
    /// By [`mode`](Self::mode): the address of the region, a multiple of 256 below 2⁵⁷; or, shifted left by 8, the
    /// offset in the arguments of a pointer to it, a multiple of 8 below 4096.
    address: u64 = 1[31:8] << 8 as addr_lo | 2[24:0] << 32 as addr_hi;
    /// Bytes from one burst to the next, a multiple of 256.
    stride: u64 = 3[23:0] << 8;
    /// Whether the region is used.
    mode: PrefetchMode = 3[31:30];
}

impl DataPrefetch {
    /// One burst of 256 bytes, disabled: all dwords zero.
    pub const ONE_BURST: DataPrefetch =
        DataPrefetch { burst_size: 256, num_burst: 1, ..DataPrefetch::ZERO };
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn bytes_become_units() {
        let region = DataPrefetch {
            burst_size: 512 << 10,
            num_burst: 65536,
            address: 0x0123_4567_89ab_cd00,
            stride: 0x1000,
            mode: PrefetchMode::ABSOLUTE_VA,
            ..DataPrefetch::ZERO
        };
        assert_eq!(region.encode(), [0xffff_ffe0, 0x89ab_cd00, 0x0123_4567, 0x4000_0010]);
        assert_eq!(DataPrefetch::decode(&region.encode()), Ok(region));
        assert_eq!(region.check(), Ok(()));
        assert_eq!(DataPrefetch::ONE_BURST.encode(), [0; 4]);
        assert!(region.to_string().ends_with(" stride=0x1000 mode=ABSOLUTE_VA"));
    }

    #[test]
    fn what_does_not_fit_is_told() {
        for wrong in [
            DataPrefetch { burst_size: 0, ..DataPrefetch::ONE_BURST },
            DataPrefetch { burst_size: 300, ..DataPrefetch::ONE_BURST },
            DataPrefetch { num_burst: 65537, ..DataPrefetch::ONE_BURST },
            DataPrefetch { address: 1 << 57, ..DataPrefetch::ONE_BURST },
        ] {
            assert!(wrong.check().is_err(), "{wrong}");
        }
    }
}
