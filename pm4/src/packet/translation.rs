//! Packets about address translation.

use crate::generation::{Generation, generations};

packet! {
    /// INVALIDATE_TLBS: forgets translations; for the kernel driver.
    pub struct InvalidateTlbs: "INVALIDATE_TLBS" = 0x98, 2 dwords in generations::ALL;
    source "PAL, PM4_MEC_INVALIDATE_TLBS; nvd.h, soc15d.h, PACKET3_INVALIDATE_TLBS";
    /// What to forget: 0 everything, 1 translations of the process `pasid`.
    invalidate_sel: u8 = 1[2:0];
    /// The multimedia hub: 0 leave, 1 by its own flush type, 2 by that of the graphics hub.
    mmhub_invalidate_sel: u8 = 1[4:3];
    /// The process.
    pasid: u16 = 1[20:5];
    /// How thoroughly in the multimedia hub: 0 legacy, 1 with page directories, 2 with everything in flight.
    mmhub_flush_type: u8 = 1[27:25];
    /// How thoroughly in the graphics hub, likewise.
    gfx_flush_type: u8 = 1[31:29];
}

packet! {
    /// PRIME_UTCL2: fetches translations before they are needed.
    pub struct PrimeUtcl2: "PRIME_UTCL2" = 0x5d, 5 dwords in generations::ALL;
    source "PAL, PM4_MEC_PRIME_UTCL2";
    /// The access asked for: 0 read, 1 write, 2 execute.
    cache_perm: u8 = 1[2:0];
    /// Waits until the translations are there.
    prime_mode: bool = 1[3:3];
    /// Address in the first page; hardware wants it at the start of one.
    addr: u64 = 2[31:0] as addr_lo | 3[31:0] << 32 as addr_hi;
    /// How many pages of 4 KiB.
    requested_pages: u16 = 4[13:0];
}
