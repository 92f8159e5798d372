//! How long a packet is.

use super::{CopyPageTransfer, CopyPhysicalLinear, CopyPhysicalLinearMeta, WriteTiledBc};
use crate::version::Version;
use pm4::layout::Layout;

/// The length of a packet in dwords, from its layout and its first dwords; `None` when AMD does not say how long
/// it is, or the dwords are fewer than the layout's.
///
/// Most packets are as long as their layout. Behind NOP, WRITE_UNTILED and WRITE_TILED come as many dwords as
/// their `count`. Unknown are WRITE_TILED_BC, whose count has no published unit, COPY_PAGE_TRANSFER, whose
/// addresses may be several, and COPY_PHYSICAL_LINEAR with further address pairs.
pub fn dwords(layout: &'static Layout, version: Version, words: &[u32]) -> Option<usize> {
    let words = words.get(..layout.dwords)?;
    let field = |name| layout.fields.get(layout.index(name)?)?.read(words, version.set());
    if layout.payload {
        return layout.dwords.checked_add(usize::try_from(field("count")?).ok()?);
    }
    let is = |other: &Layout| layout.name == other.name;
    if is(WriteTiledBc::LAYOUT) || is(CopyPageTransfer::LAYOUT) {
        return None;
    }
    if is(CopyPhysicalLinear::LAYOUT) || is(CopyPhysicalLinearMeta::LAYOUT) {
        // Versions that lack the field have one pair.
        return (field("addr_pair_num").unwrap_or(0) == 0).then_some(layout.dwords);
    }
    Some(layout.dwords)
}
