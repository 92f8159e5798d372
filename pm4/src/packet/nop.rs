//! NOP: does nothing.

use super::check_dwords;
use crate::generation::{Generation, generations};
use crate::layout::FieldError;

packet! {
    /// NOP that carries dwords which the command processor skips: padding, or data that other packets point at.
    pub struct Nop: "NOP" = 0x10, 1 dwords + payload checked longest in generations::ALL;
    source "PAL, PM4_MEC_NOP; nvd.h, soc15d.h, PACKET3_NOP";
}

packet! {
    /// NOP of one dword, for gaps: a count of 0x3fff says that nothing follows
    /// ([`Header::NOP`](crate::Header::NOP)).
    pub struct NopHeader: "NOP.header" = 0x10, 1 dwords in generations::ALL;
    source "Mesa, sid.h, PKT3_NOP_PAD; Linux, gfx_v9_0.c, gfx_v10_0.c, gfx_v11_0.c, gfx_v12_0.c, nop of the ring functions";
}

impl Nop {
    /// A NOP that skips `payload` dwords, 1 to 16383.
    pub const fn skipping(payload: u32) -> Nop {
        Nop { dwords: payload.wrapping_add(1), ..Nop::ZERO }
    }

    /// One dword more and the count is that of [`NopHeader`]: the payload would be executed.
    fn longest(&self) -> Result<(), FieldError> {
        check_dwords(Nop::LAYOUT.name, self.dwords, 2, 0x4000)
    }
}
