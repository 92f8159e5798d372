//! Data-parallel primitives: lane movement on the first source.

use super::super::wave::{LANES, Row};
use amdgpu_isa::Dpp;

/// The lane that `lane` reads, `None` when it lies outside the row.
fn origin(ctrl: u16, lane: usize) -> Option<usize> {
    let (row, at) = (lane & !15, lane & 15);
    let amount = usize::from(ctrl & 15);
    let from = match ctrl {
        0..=0xff => lane & !3 | usize::from(ctrl) >> (2 * (lane & 3)) & 3,
        0x101..=0x10f => return (at + amount < 16).then_some(lane + amount), // row_shl
        0x111..=0x11f => return at.checked_sub(amount).map(|at| row | at),   // row_shr
        0x121..=0x12f => row | at.wrapping_sub(amount) & 15,                 // row_ror
        0x140 => row | (15 - at),                                            // row_mirror
        0x141 => lane & !7 | (7 - (lane & 7)),                               // row_half_mirror
        0x150..=0x15f => row | amount,                                       // row_share
        0x160..=0x16f => row | at ^ amount,                                  // row_xmask
        _ => return None,
    };
    Some(from)
}

/// Lanes of a pass that DPP lets be written: those of the row and bank masks whose source is valid, or reads
/// as zero by `bound_ctrl` (RDNA3 ISA document, "DPP16").
pub(super) fn written(movement: &Dpp, half: usize, exec: u32) -> u32 {
    let Dpp::Dpp16 { ctrl, row_mask, bank_mask, bound_ctrl, fi } = *movement else {
        return u32::MAX;
    };
    (0..LANES).fold(0, |mask, lane| {
        let row = 2 * half + lane / 16;
        let bank = lane % 16 / 4;
        let selected = row_mask >> row & 1 != 0 && bank_mask >> bank & 1 != 0;
        let valid = origin(ctrl, lane).is_some_and(|from| fi || exec >> from & 1 != 0);
        mask | u32::from(selected && (valid || bound_ctrl)) << lane
    })
}

/// The moved source; invalid lanes read 0.
pub(super) fn moved(row: &Row, movement: &Dpp, exec: u32, out: &mut Row) {
    for lane in 0..LANES {
        let (from, fi) = match movement {
            Dpp::Dpp16 { ctrl, fi, .. } => (origin(*ctrl, lane), *fi),
            Dpp::Dpp8 { sel, fi } => (Some(lane & !7 | usize::from(sel[lane & 7] & 7)), *fi),
        };
        out[lane] = match from {
            Some(from) if fi || exec >> from & 1 != 0 => row[from],
            _ => 0,
        };
    }
}
