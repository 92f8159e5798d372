//! What is known of the engine after these: that of gfx125x, which AMD's newest code calls OSS 7.
//!
//! It is no [`Version`](crate::Version): no kernel header describes it, and only its packets' lengths are settled.
//! Packets that look alike differ:
//!
//! - Bits 30 and 31 of COPY are `wait` and `signal`: blocks of 7 and 5 dwords that are there only when their bit is
//!   set. A decoder that took each such copy for 19 dwords ran past the packets behind it.
//! - COPY_LINEAR has `npd` in bit 28, and cache scopes and temporal hints where byte swaps were.
//! - FENCE and POLL of 64 bits are new. Left at another scope than the system's they fault or miss what the CPU
//!   wrote.
//! - GCR has a sixth dword.
//! - Multicast has at most 1024 destinations, stored less one.
//!
//! Sources: `abce_decode.h` and `sdma_packets.h` of ROCm's rocm-systems (2026), `sdma_pkt_struct_mi4.h` of ROCm's
//! rocm-xio, and their pull requests 9488 and 92.

/// The length in dwords of the packet that `words` start with; `None` when it is not known or `words` are too few
/// to tell. It may be more than there are.
///
/// ```
/// use sdma::oss7;
///
/// assert_eq!(oss7::dwords(&[0x0000_0001]), Some(7), "COPY_LINEAR");
/// assert_eq!(oss7::dwords(&[0x8000_0001]), Some(12), "with a signal");
/// assert_eq!(oss7::dwords(&[0xc000_0001]), Some(19), "with wait and signal");
/// ```
pub fn dwords(words: &[u32]) -> Option<usize> {
    let header = *words.first()?;
    let bit = |bit: u32| header >> bit & 1 != 0;
    let blocks = if bit(30) { 7 } else { 0 } + if bit(31) { 5 } else { 0 };
    Some(match (header & 0xff, header >> 8 & 0xff) {
        (0, 0) => 1 + (header >> 16 & 0x3fff) as usize,
        // COPY_LINEAR; broadcast, only without wait and signal; SUBWIN; SWAP.
        (1, 0) if blocks == 0 && bit(27) => 9,
        (1, 0) | (1, 9) => 7 + blocks,
        (1, 4) => 13,
        // COPY_LINEAR_PHY with one pair of addresses.
        (1, 8) => match words.get(1)? >> 24 {
            0 => 8,
            _ => return None,
        },
        // COPY_LINEAR_MULTICAST: the number of destinations, less one, is behind the wait block.
        (1, 10) => {
            let destinations = *words.get(if bit(30) { 9 } else { 2 })? & 0x3ff;
            5 + 2 * (destinations as usize + 1) + blocks
        }
        (2, 0) => 5 + (words.get(3)? & 0xf_ffff) as usize,
        (5, 0) => 4,
        (5, 2) => 5,
        (6, 0) => 2,
        (8, 0) => 6,
        (8, 5) => 8,
        (10, 0) => 8,
        (11, 0) => 5,
        (13, 2) => 3,
        (17, 1) => 6,
        _ => return None,
    })
}
