//! What is known of packets and not modelled.

use ::sdma::Version;
use ::sdma::versions::SDMA5_2_ON;
use pm4::layout::Layout;

/// Dwords, by packet, with bits that AMD's headers of 6.1 leave out and ROCr writes there: scopes of caches, and `npd`
/// (amd_gpu_agent.cpp, `CreateBlitSdma`: `BlitSdmaV6` from gfx11.5 on; amd_blit_sdma.cpp, `BuildCopyCommand`,
/// `BuildFillCommand`, `BuildPollCommand`; sdma_registers.h). Like cache policies they change nothing here; other
/// packets have their scope where 6.x has a policy.
const SCOPES: [(&str, usize, u32); 3] =
    [("COPY_LINEAR", 0, 1 << 28), ("CONSTANT_FILL", 0, 1 << 29), ("POLL_REGMEM", 5, 3 << 28)];

/// Fields that have to be clear: of memory that is encrypted, compressed or addressed physically, of byte swaps, of
/// privilege and other GPUs' registers, and those whose meaning is not published.
const CLEAR: [&str; 29] = [
    "encrypt",
    "tmz",
    "gpa",
    "sw",
    "dst_sw",
    "src_sw",
    "dst1_sw",
    "dst2_sw",
    "data_format",
    "number_type",
    "read_compression_mode",
    "write_compression_mode",
    "max_comp_block_size",
    "max_uncomp_block_size",
    "gcc",
    "mailbox",
    "vmid",
    "privileged",
    "virtual_die_id",
    "domain",
    "bridge",
    "range_is_pa",
    "gl2_us",
    "gl2_discard",
    "gcr_control_19",
    "broadcast",
    "ptepde_op",
    "memlog_clr",
    "ea",
];

/// What of a packet nothing here knows: bits that no field covers, fields that are not modelled.
pub(super) fn unknown(layout: &Layout, version: Version, words: &[u32]) -> Option<String> {
    let set = version.set();
    let field = layout.fields.iter().find(|field| {
        CLEAR.contains(&field.name) && field.read(words, set).is_some_and(|value| value != 0)
    });
    if let Some(field) = field {
        return Some(format!("field {}", field.name));
    }
    let reserved = |(index, word): (usize, &u32)| {
        let scopes = SCOPES.iter().filter(|&&(name, dword, _)| {
            version == Version::V6_1 && name == layout.name && dword == index
        });
        let known = scopes.fold(layout.known_bits(index, set), |known, &(_, _, bits)| known | bits);
        Some((index, word & !known)).filter(|&(_, bits)| bits != 0)
    };
    let (index, bits) = words.iter().take(layout.dwords).enumerate().find_map(reserved)?;
    Some(format!("bits {bits:#x} of dword {index}"))
}

/// Packets that engines take and no layout is of, by their header: a copy that swaps two ranges (ROCr,
/// sdma_registers.h, `SDMA_PKT_COPY_LINEAR_SWAP`: "SDMA5.2+", and with an alignment for gfx94 and gfx95).
pub(super) fn without_layout(version: Version, header: u32) -> Option<&'static str> {
    const COPY_SWAP: u32 = 0x0901;
    let swaps = version == Version::V4_4_2 || version.is_in(SDMA5_2_ON);
    (swaps && header & 0xffff == COPY_SWAP).then_some("COPY_SWAP")
}
