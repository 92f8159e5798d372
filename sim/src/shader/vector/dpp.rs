//! Data-parallel primitives: lane movement on the first source.

use super::super::wave::{LANES, Row, Wave};
use amdgpu_isa::Dpp;

/// The lane that `lane` reads of so many, `None` when there is none.
fn origin(ctrl: u16, lane: usize, lanes: usize) -> Option<usize> {
    let (row, at) = (lane & !15, lane & 15);
    let amount = usize::from(ctrl & 15);
    let from = match ctrl {
        0..=0xff => lane & !3 | usize::from(ctrl) >> (2 * (lane & 3)) & 3,
        0x101..=0x10f => return (at + amount < 16).then_some(lane + amount), // row_shl
        0x111..=0x11f => return at.checked_sub(amount).map(|at| row | at),   // row_shr
        0x121..=0x12f => row | at.wrapping_sub(amount) & 15,                 // row_ror
        0x130 => return (lane + 1 < lanes).then_some(lane + 1),              // wave_shl
        0x134 => (lane + 1) % lanes,                                         // wave_rol
        0x138 => return lane.checked_sub(1),                                 // wave_shr
        0x13c => (lane + lanes - 1) % lanes,                                 // wave_ror
        0x140 => row | (15 - at),                                            // row_mirror
        0x141 => lane & !7 | (7 - (lane & 7)),                               // row_half_mirror
        0x142 => return row.checked_sub(1),                                  // row_bcast:15
        0x143 => return (lane & !31).checked_sub(1),                         // row_bcast:31
        0x150..=0x15f => row | amount,      // row_share, row_newbcast
        0x160..=0x16f => row | at ^ amount, // row_xmask
        _ => return None,
    };
    Some(from)
}

/// Whether a lane may read one of an earlier pass: by gfx9's rotations and shifts of the whole wave upwards, and
/// broadcasts to the next rows.
pub(super) fn reaches_back(movement: &Dpp) -> bool {
    matches!(movement, Dpp::Dpp16 { ctrl: 0x134 | 0x138 | 0x13c | 0x142 | 0x143, .. })
}

/// Lanes of a pass that DPP lets be written: those of the row and bank masks whose source is valid, or reads
/// as zero by `bound_ctrl` (RDNA3 ISA document, "DPP16").
pub(super) fn written(movement: &Dpp, half: usize, exec: u64, lanes: usize) -> u32 {
    let Dpp::Dpp16 { ctrl, row_mask, bank_mask, bound_ctrl, fi } = *movement else {
        return u32::MAX;
    };
    (0..LANES).fold(0, |mask, lane| {
        let row = 2 * half + lane / 16;
        let bank = lane % 16 / 4;
        let selected = row_mask >> row & 1 != 0 && bank_mask >> bank & 1 != 0;
        let from = origin(ctrl, LANES * half + lane, lanes);
        let valid = from.is_some_and(|from| fi || exec >> from & 1 != 0);
        mask | u32::from(selected && (valid || bound_ctrl)) << lane
    })
}

/// The moved register of a pass; invalid lanes read 0.
pub(super) fn moved(wave: &Wave, register: usize, movement: &Dpp, half: usize, out: &mut Row) {
    let (exec, lanes) = (wave.exec(), wave.lanes());
    for (at, value) in out.iter_mut().enumerate() {
        let lane = LANES * half + at;
        let (from, fi) = match movement {
            Dpp::Dpp16 { ctrl, fi, .. } => (origin(*ctrl, lane, lanes), *fi),
            Dpp::Dpp8 { sel, fi } => (Some(lane & !7 | usize::from(sel[lane & 7] & 7)), *fi),
        };
        *value = match from {
            Some(from) if fi || exec >> from & 1 != 0 => wave.lane(register, from),
            _ => 0,
        };
    }
}
