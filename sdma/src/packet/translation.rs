//! Page tables and address translation: for the rings of the kernel driver.

use super::{CachePolicy, L2Policy, Mtype};
use crate::version::{Version, versions::*};

packet! {
    /// Writes 64-bit values that grow by a step: page table entries (Linux calls it PTEPDE).
    /// PAL's header of 7.0 lacks it; Linux writes it there.
    pub struct WriteIncr: "WRITE_INCR" = 12, 0, 10 dwords in ALL;
    source "Linux vega10, navi10, v6_0_0; PAL gfx10: SDMA_PKT_WRITE_INCR";
    /// Cache policy.
    cache_policy: CachePolicy = 0[26:24] in SDMA5_2_TO_6;
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28] in SDMA5_2_TO_6;
    /// First of the values, a multiple of 8.
    dst_addr: u64 = 1[31:0] as dst_addr_31_0 | 2[31:0] << 32 as dst_addr_63_32;
    /// Bits set in every value: the entries' flags, as Linux has it.
    mask: u64 = 3[31:0] as mask_dw0 | 4[31:0] << 32 as mask_dw1;
    /// The first value.
    init: u64 = 5[31:0] as init_dw0 | 6[31:0] << 32 as init_dw1;
    /// What each further value is greater by.
    incr: u64 = 7[31:0] as incr_dw0 | 8[31:0] << 32 as incr_dw1;
    /// Number of 64-bit values.
    count: u32 (minus 1) = 9[18:0];
}

packet! {
    /// Copies page table entries and sets bits in them. For the kernel driver only.
    pub struct PtepdeCopy: "PTEPDE_COPY" = 12, 1, 8 dwords in TO_SDMA6;
    source "Linux vega10, navi10, v6_0_0: SDMA_PKT_PTEPDE_COPY";
    /// Reads and writes encrypted memory (trusted memory zone).
    tmz: bool = 0[18:18] in SDMA5_TO_6;
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28] in SDMA6;
    /// Not published beyond its name.
    ptepde_op: bool = 0[31:31];
    /// First byte of the source.
    src_addr: u64 = 1[31:0] as src_addr_31_0 | 2[31:0] << 32 as src_addr_63_32;
    /// First byte of the destination.
    dst_addr: u64 = 3[31:0] as dst_addr_31_0 | 4[31:0] << 32 as dst_addr_63_32;
    /// Mask of the entries' bits. Whether of those that change is not published.
    mask: u64 = 5[31:0] as mask_dw0 | 6[31:0] << 32 as mask_dw1;
    /// Number of entries as stored; AMD does not say whether that is less one.
    count: u32 = 7[18:0];
    /// Cache policy of the destination.
    dst_cache_policy: CachePolicy = 7[24:22] in SDMA6;
    /// Cache policy of the source.
    src_cache_policy: CachePolicy = 7[31:29] in SDMA6;
}

/// Declares a form of PTEPDE_RMW: its head, the fields that all forms have, then its own.
macro_rules! ptepde_rmw {
    ({ $($head:tt)* } $($own:tt)*) => {
        packet! {
            $($head)*
            /// Memory type of the access.
            mtype: Mtype = 0[18:16] in SDMA5_TO_6;
            /// Not published beyond its name; drivers leave it clear.
            gcc: bool = 0[19:19];
            /// The memory is system memory: AMD's tests set it for that. ROCr and Linux leave it
            /// clear, as the page says so.
            sys: bool = 0[20:20];
            /// Snoops the CPU's caches.
            snp: bool = 0[22:22];
            /// The address is a guest physical one; clear for virtual addresses.
            gpa: bool = 0[23:23];
            /// L2 policy.
            l2_policy: L2Policy = 0[25:24] in SDMA5_TO_6;
            /// The first entry, a multiple of 8.
            addr: u64 = 1[31:0] as addr_31_0 | 2[31:0] << 32 as addr_63_32;
            /// Mask of the entry's bits. Whether of those that change or of those that stay is
            /// not published.
            mask: u64 = 3[31:0] as mask_31_0 | 4[31:0] << 32 as mask_63_32;
            /// The bits under the mask.
            value: u64 = 5[31:0] as value_31_0 | 6[31:0] << 32 as value_63_32;
            $($own)*
        }
    };
}

ptepde_rmw! {
    {
        /// Changes bits of a page table entry. For the kernel driver only.
        pub struct PtepdeRmw: "PTEPDE_RMW" = 12, 2, 7 dwords in SDMA4.or(SDMA5);
        source "Linux vega10, navi10: SDMA_PKT_PTEPDE_RMW";
    }
}

ptepde_rmw! {
    {
        /// Changes bits of page table entries. For the kernel driver only.
        pub struct PtepdeRmwMany: "PTEPDE_RMW.many" = 12, 2, 8 dwords in SDMA6;
        source "Linux v6_0_0: SDMA_PKT_PTEPDE_RMW";
    }
    /// Does not allocate in the last-level cache (MALL).
    llc_policy: bool = 0[26:26];
    /// Cache policy valid: the packet's cache policy fields count only with it.
    cpv: bool = 0[28:28];
    /// Number of entries, as stored.
    num_of_pte: u32 = 7[31:0];
}

packet! {
    /// Copies page table entries between ranges that overlap. For the kernel driver only.
    pub struct PtepdeCopyBackwards: "PTEPDE_COPY_BACKWARDS" = 12, 3, 7 dwords in TO_SDMA6;
    source "Linux vega10, navi10, v6_0_0: SDMA_PKT_PTEPDE_COPY_BACKWARDS";
    /// Size of an entry, as stored. The values are not published.
    pte_size: u8 = 0[29:28];
    /// Direction of the copy. Which value is which is not published.
    direction: bool = 0[30:30];
    /// Not published beyond its name.
    ptepde_op: bool = 0[31:31];
    /// First byte of the source.
    src_addr: u64 = 1[31:0] as src_addr_31_0 | 2[31:0] << 32 as src_addr_63_32;
    /// First byte of the destination.
    dst_addr: u64 = 3[31:0] as dst_addr_31_0 | 4[31:0] << 32 as dst_addr_63_32;
    /// Mask of the first transfer. Of what is not published.
    mask_first_xfer: u8 = 5[7:0];
    /// Mask of the last transfer. Of what is not published.
    mask_last_xfer: u8 = 5[15:8];
    /// Number of entries as stored; AMD does not say whether that is less one.
    count: u32 = 6[16:0];
}

packet! {
    /// Invalidates address translations. For the kernel driver only.
    pub struct GpuvmInv: "GPUVM_INV" = 16, 0, 4 dwords in SDMA5_ON;
    source "Linux navi10, v6_0_0; PAL gfx10, gfx12: SDMA_PKT_GPUVM_INV";
    /// VMIDs to invalidate, one bit each.
    per_vmid_inv_req: u16 = 1[15:0];
    /// Kind of flush (that of VM_INVALIDATE_ENG_REQ).
    flush_type: u8 = 1[18:16];
    /// Invalidates page table entries in L2.
    l2_ptes: bool = 1[19:19];
    /// Invalidates level 0 directory entries in L2.
    l2_pde0: bool = 1[20:20];
    /// Invalidates level 1 directory entries in L2.
    l2_pde1: bool = 1[21:21];
    /// Invalidates level 2 directory entries in L2.
    l2_pde2: bool = 1[22:22];
    /// Invalidates page table entries in L1.
    l1_ptes: bool = 1[23:23];
    /// Clears the record of the last fault.
    clr_protection_fault_status_addr: bool = 1[24:24];
    /// Logs the request.
    log_request: bool = 1[25:25];
    /// Only entries of 4 KiB pages.
    four_kilobytes: bool = 1[26:26];
    /// Not published beyond its name.
    s: bool = 2[0:0];
    /// Address of the page.
    page_va: u64 =
        2[31:1] << 12 as page_va_42_12 | 3[5:0] << 43 as page_va_47_43 in SDMA5_TO_6,
        2[31:1] << 12 as page_va_42_12 | 3[4:0] << 43 as page_va_47_43 in SDMA7;
}

packet! {
    /// Invalidates address translations and waits for the acknowledgement. For the kernel driver
    /// only.
    pub struct VmInvalidation: "VM_INVALIDATION" = 8, 4, 4 dwords in SDMA6_ON;
    source "Linux v6_0_0; PAL gfx10, gfx12: SDMA_PKT_VM_INVALIDATION";
    /// Invalidation engine of the graphics hub.
    gfx_eng_id: u8 = 0[20:16];
    /// Invalidation engine of the multimedia hub; 0x1f for none (Linux).
    mm_eng_id: u8 = 0[28:24];
    /// The request, as VM_INVALIDATE_ENG_REQ has it.
    invalidatereq: u32 = 1[31:0];
    /// Address range, lower part, as VM_INVALIDATE_ENG_ADDR_RANGE_LO32 has it.
    addressrangelo: u32 = 2[31:0];
    /// VMIDs whose acknowledgement is waited for, one bit each.
    invalidateack: u16 = 3[15:0];
    /// Address range, upper part.
    addressrangehi: u8 = 3[20:16];
}

packet! {
    /// VM_INVALIDATION of SDMA 5, where hubs are named by a bit each. For the kernel driver only.
    pub struct Invalidation: "INVALIDATION" = 8, 4, 4 dwords in SDMA5;
    source "PAL gfx10: SDMA_PKT_INVALIDATION";
    /// The request, as VM_INVALIDATE_ENG_REQ has it.
    invalidatereq: u32 = 1[31:0];
    /// Address range, lower part, as VM_INVALIDATE_ENG_ADDR_RANGE_LO32 has it.
    addressrangelo: u32 = 2[31:0];
    /// VMIDs whose acknowledgement is waited for, one bit each.
    invalidateack: u16 = 3[15:0];
    /// Address range, upper part.
    addressrangehi: u8 = 3[20:16];
    /// Acts on the graphics hub.
    invalidategfxhub: bool = 3[21:21];
    /// Acts on the multimedia hub.
    invalidatemmhub: bool = 3[22:22];
}
