//! Which bytes an instruction is about to access.

use super::Launch;
use super::buffer;
use super::code::Op;
use super::finding::{AccessKind, Space};
use super::flat;
use super::place::Place;
use super::smem;
use super::staged;
use super::transfer::{self, Transfer};
use super::wave::{LANES, M0, Wave};
use amdgpu_isa::{Fields, Flags, Opcode};

/// One access of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) lane: u8,
    pub(super) space: Space,
    /// Virtual address, or offset in LDS or scratch.
    pub(super) address: u64,
    pub(super) bytes: u8,
}

/// The accesses of one instruction.
#[derive(Debug, Default)]
pub(super) struct Accesses {
    /// `None` when it accesses no memory.
    pub(super) kind: Option<AccessKind>,
    /// Whether the whole wave makes them at once (SMEM).
    pub(super) scalar: bool,
    /// Whether it asks caches for other waves' data: what compilers use for atomic loads and stores.
    pub(super) coherent: bool,
    pub(super) list: Vec<Access>,
    /// What it moves between memory and LDS passing no VGPR: in `list` is where in memory, here where in LDS. A load
    /// stores here, a store loads.
    pub(super) staged: Vec<Access>,
}

impl Accesses {
    fn push(&mut self, lane: usize, space: Space, address: u64, bytes: u64) {
        self.list.push(Access { lane: lane as u8, space, address, bytes: bytes as u8 });
    }

    /// All accesses, with what they do.
    pub(super) fn parts(&self) -> impl Iterator<Item = (AccessKind, &[Access])> {
        let in_lds = match self.kind {
            Some(AccessKind::Load) => AccessKind::Store,
            _ => AccessKind::Load,
        };
        let parts =
            [self.kind.map(|kind| (kind, &self.list[..])), Some((in_lds, &self.staged[..]))];
        parts.into_iter().flatten().filter(|(_, list)| !list.is_empty())
    }

    fn push_place(&mut self, lane: usize, place: Place, bytes: u64) {
        match place {
            Place::Memory(address) => self.push(lane, Space::Global, address, bytes),
            Place::Lds(address) => self.push(lane, Space::Lds, address.into(), bytes),
            Place::Scratch(scratch) => {
                self.push(lane, Space::Scratch, scratch.offset().into(), bytes);
            }
            Place::Nowhere => {}
        }
    }
}

/// Collects what an instruction is about to access. Instructions that will be refused may give anything.
pub(super) fn collect(wave: &Wave, op: &Op, launch: &Launch, accesses: &mut Accesses) {
    accesses.list.clear();
    accesses.staged.clear();
    let flags = op.instruction.opcode.info().flags;
    accesses.kind = if flags.contains(Flags::ATOMIC) {
        Some(AccessKind::Atomic)
    } else if flags.contains(Flags::STORE) {
        Some(AccessKind::Store)
    } else if flags.contains(Flags::LOAD) {
        Some(AccessKind::Load)
    } else {
        None
    };
    (accesses.scalar, accesses.coherent) = (false, false);
    if accesses.kind.is_none() {
        return;
    }
    match op.instruction.fields {
        Fields::Flat { glc, dlc, scope, .. } => {
            accesses.coherent = glc || dlc || scope != 0;
            flat(wave, op, launch, accesses);
        }
        Fields::Mubuf { glc, dlc, scope, .. } => {
            accesses.coherent = glc || dlc || scope != 0;
            for half in 0..wave.halves {
                let Ok(places) = buffer::places(wave, op, half) else { return };
                let Ok(bytes) = buffer::extent(wave, op) else { return };
                for (lane, place) in active(wave, half, places) {
                    accesses.push_place(lane, place, bytes);
                }
            }
        }
        Fields::Ds { gds: false, .. } => lds(wave, op, accesses),
        Fields::Smem { glc, dlc, .. } => {
            accesses.scalar = true;
            accesses.coherent = glc || dlc;
            for (address, bytes) in smem::extent(wave, op) {
                accesses.push(0, Space::Global, address, bytes);
            }
        }
        _ => accesses.kind = None,
    }
    if let Some(transfer) = staged::of(&op.instruction)
        && let Ok((first, step)) = staged::in_lds(wave, op, transfer)
    {
        let lanes = (0..wave.lanes()).filter(|lane| wave.exec() >> lane & 1 != 0);
        accesses.staged.extend(lanes.map(|lane| Access {
            lane: lane as u8,
            space: Space::Lds,
            address: first.wrapping_add(step * lane as u32).into(),
            bytes: staged::bytes_in_lds(transfer) as u8,
        }));
    }
}

/// The active lanes of a pass, numbered within the wave, with what each has.
fn active<T: Copy>(wave: &Wave, half: usize, each: [T; LANES]) -> impl Iterator<Item = (usize, T)> {
    let mask = wave.exec_half(half);
    let lanes = (0..LANES).filter(move |lane| mask >> lane & 1 != 0);
    lanes.map(move |lane| (LANES * half + lane, each[lane]))
}

fn flat(wave: &Wave, op: &Op, launch: &Launch, accesses: &mut Accesses) {
    let transfer = staged::of(&op.instruction).or_else(|| transfer::of(op.instruction.opcode));
    // Blocks have holes.
    if matches!(transfer, None | Some(Transfer::LoadBlock | Transfer::StoreBlock)) {
        accesses.kind = None;
        return;
    }
    let bytes = buffer::size(&op.instruction);
    for half in 0..wave.halves {
        let Some(places) = flat::places(wave, op, launch, half) else { return };
        for (lane, place) in active(wave, half, places) {
            accesses.push_place(lane, place, bytes);
        }
    }
}

fn lds(wave: &Wave, op: &Op, accesses: &mut Accesses) {
    let Fields::Ds { addr, offset0, offset1, .. } = op.instruction.fields else { return };
    let opcode = op.instruction.opcode;
    let name = opcode.name();
    let (first, second) = (u32::from(offset0), u32::from(offset1));
    let offset = first | second << 8;
    let info = opcode.info();
    let mut push = |lane: usize, address: u32, bytes: u64| {
        accesses.push(lane, Space::Lds, address.into(), bytes);
    };
    if matches!(opcode, Opcode::DS_APPEND | Opcode::DS_CONSUME) {
        // What executes has 0 in M0, or takes no notice of it.
        return push(wave.exec().trailing_zeros() as usize % wave.lanes(), offset, 4);
    }
    let has = |token: &str| name.split('_').any(|part| part == token);
    let dwords = info.dst.dwords(true).max(info.src[0].dwords(true)).into();
    let bytes = match () {
        () if has("TR") => 4 * u64::min(dwords, 4),
        () if has("U8") || has("I8") || has("B8") => 1,
        () if has("U16") || has("I16") || has("B16") => 2,
        () if has("2ADDR") => {
            if name.ends_with("64") {
                8
            } else {
                4
            }
        }
        () => 4 * u64::min(dwords, 4),
    };
    // The two offsets of operations with two addresses are in units.
    let offsets = match (has("2ADDR"), has("STRIDE64")) {
        (false, _) => [Some(offset), None],
        (true, stride) => {
            let unit = bytes as u32 * if stride { 64 } else { 1 };
            [Some(first * unit), Some(second * unit)]
        }
    };
    for half in 0..wave.halves {
        let bases: [u32; LANES] = match opcode {
            Opcode::DS_LOAD_ADDTID_B32 | Opcode::DS_STORE_ADDTID_B32 => {
                let base = wave.sgpr(M0) & 0xffff;
                std::array::from_fn(|lane| base.wrapping_add(4 * (LANES * half + lane) as u32))
            }
            _ => *wave.row(addr.into(), half),
        };
        for (lane, base) in active(wave, half, bases) {
            for offset in offsets.into_iter().flatten() {
                let at = base.wrapping_add(offset);
                push(
                    lane,
                    if opcode == Opcode::DS_CONDXCHG32_RTN_B64 { at & 0xfff8 } else { at },
                    bytes,
                );
            }
        }
    }
}
