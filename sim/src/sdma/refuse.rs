//! What is known of packets and not modelled.

use ::sdma::Version;
use pm4::layout::Layout;

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
    let reserved = |&(index, word): &(usize, &u32)| word & !layout.known_bits(index, set) != 0;
    let (index, word) = words.iter().take(layout.dwords).enumerate().find(reserved)?;
    Some(format!("bits {:#x} of dword {index}", word & !layout.known_bits(index, set)))
}
