//! What packets do to L2, when it keeps copies.

use super::hqd::Hqd;
use std::ops::Range;

/// Bytes of a line of L2, the unit of ranges (PAL, gfx9CmdUtil.cpp, `BuildAcquireMemGfxPws`).
const L2_LINE: u64 = 128;

impl Hqd {
    /// Does to L2, when it keeps copies, what a packet says: writes it back, then invalidates it.
    pub(crate) fn act_on_cache(&self, write_back: bool, invalidate: bool) {
        if let Some(cache) = self.space.cache() {
            if write_back {
                cache.write_back();
            }
            if invalidate {
                cache.invalidate();
            }
        }
    }

    /// The same to what L2 keeps of a range.
    pub(crate) fn act_on_cache_in(&self, range: &Range<u64>, write_back: bool, invalidate: bool) {
        if let Some(cache) = self.space.cache() {
            if write_back {
                cache.write_back_range(&self.space, range);
            }
            if invalidate {
                cache.invalidate_range(&self.space, range);
            }
        }
    }

    /// Does to L2 what a cache-control packet from gfx10 on says: GL2_RANGE selects all (0), the range (2), or its first
    /// and last line (3; nvd.h, `PACKET3_ACQUIRE_MEM_GCR_CNTL_GL2_RANGE`). False for volatile lines, which are not
    /// modelled.
    pub(crate) fn act_on_cache_by(
        &self,
        select: u8,
        range: Range<u64>,
        write_back: bool,
        invalidate: bool,
    ) -> bool {
        match select {
            _ if !write_back && !invalidate => {}
            0 => self.act_on_cache(write_back, invalidate),
            2 => self.act_on_cache_in(&range, write_back, invalidate),
            3 => {
                let last = range.end.saturating_sub(1) / L2_LINE * L2_LINE;
                for line in [range.start, last] {
                    let line = line..line.saturating_add(L2_LINE);
                    self.act_on_cache_in(&line, write_back, invalidate);
                }
            }
            _ => return false,
        }
        true
    }

    /// The HDP is flushed.
    pub(crate) fn flush_host_writes(&self) {
        if let Some(cache) = self.space.cache() {
            cache.host_writes_flushed();
        }
    }
}
