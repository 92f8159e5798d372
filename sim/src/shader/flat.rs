//! FLAT, GLOBAL and SCRATCH.
#![expect(
    unsafe_code,
    reason = "calls the copy compiled for host extensions once these were found"
)]

use super::Launch;
use super::code::{Handler, Op};
use super::place::{Place, Scratch};
use super::runs::{RUN, RUNS, all_rise};
use super::scalar::mismatch;
use super::staged;
use super::transfer::{self, Registers, Transfer};
use super::vector::for_host;
use super::wave::{Env, LANES, Step, Stop, Wave};
use crate::memory::Access;
use amdgpu_isa::{Fields, Opcode, Src};

for_host!(global, global_body);

/// The addresses of a pass of FLAT or GLOBAL: of 64 bits in VGPRs, or an SGPR pair plus an offset of 32 bits in a VGPR,
/// or plus the lane's number times four.
#[inline(always)]
fn addresses(wave: &Wave, op: &Op, half: usize) -> Option<[u64; LANES]> {
    let Fields::Flat { addr, saddr, offset, .. } = op.instruction.fields else { return None };
    let register = usize::from(addr);
    let mut addresses = [0u64; LANES];
    if saddr == Src::NULL {
        let (low, high) = (wave.row(register, half), wave.row(register + 1, half));
        for lane in 0..LANES {
            let address = u64::from(low[lane]) | u64::from(high[lane]) << 32;
            addresses[lane] = address.wrapping_add_signed(offset.into());
        }
        return Some(addresses);
    }
    let base = wave.sgpr64(saddr.0 as u8).wrapping_add_signed(offset.into());
    if matches!(
        op.instruction.opcode,
        Opcode::GLOBAL_LOAD_ADDTID_B32 | Opcode::GLOBAL_STORE_ADDTID_B32
    ) {
        for (lane, address) in addresses.iter_mut().enumerate() {
            *address = base.wrapping_add(4 * (LANES * half + lane) as u64);
        }
    } else {
        for (address, low) in addresses.iter_mut().zip(wave.row(register, half)) {
            *address = base.wrapping_add(u64::from(*low));
        }
    }
    Some(addresses)
}

/// The places of a pass of SCRATCH: offsets into each lane's own memory.
fn scratch_places(wave: &Wave, op: &Op, half: usize) -> Option<[Scratch; LANES]> {
    let Fields::Flat { addr, saddr, offset, sve, .. } = op.instruction.fields else { return None };
    let base = if saddr == Src::NULL { 0 } else { wave.sgpr(saddr.0 as u8) };
    let base = base.wrapping_add(offset as u32);
    Some(std::array::from_fn(|lane| {
        let own = if sve { wave.row(addr.into(), half)[lane] } else { 0 };
        Scratch::new(wave, LANES * half + lane, base.wrapping_add(own))
    }))
}

/// The places of a pass of FLAT, GLOBAL or SCRATCH; `None` for other instructions.
pub(super) fn places(wave: &Wave, op: &Op, launch: &Launch, half: usize) -> Option<[Place; LANES]> {
    let name = op.instruction.opcode.name();
    if name.starts_with("SCRATCH") {
        return Some(scratch_places(wave, op, half)?.map(Place::Scratch));
    }
    let addresses = addresses(wave, op, half)?;
    Some(match name.starts_with("FLAT") {
        true => std::array::from_fn(|lane| {
            Place::of_flat(wave, launch, LANES * half + lane, addresses[lane])
        }),
        false => addresses.map(Place::Memory),
    })
}

/// GLOBAL.
#[inline(always)]
fn global_body(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    let Fields::Flat { vdst, data, glc, acc, .. } = op.instruction.fields else {
        return mismatch(op);
    };
    let staged = staged::of(&op.instruction);
    let transfer = staged.or(transfer::of(op.instruction.opcode)).ok_or_else(|| unmodelled(op))?;
    let registers = Registers::named(wave, vdst, data, acc, glc);
    for half in 0..wave.halves {
        let mask = wave.exec_half(half);
        if mask == 0 {
            continue;
        }
        let Some(addresses) = addresses(wave, op, half) else { return mismatch(op) };
        if staged.is_some() {
            let places = addresses.map(Place::Memory);
            staged::execute(wave, op, env, transfer, half, mask, &places)?;
        } else if !transfer::in_one_mapping(wave, env, transfer, registers, half, mask, &addresses)
        {
            let places = addresses.map(Place::Memory);
            transfer::execute(wave, op, env, registers, half, mask, &places)?;
        }
    }
    Ok(())
}

/// `global_load_tr_b64`, `global_load_tr_b128`: each lane loads eight bytes or halves in a row and gets those of one
/// column from eight lanes.
///
/// No document says from which, but measurements on gfx1201 in wave32 (tessera's "RDNA3/RDNA4 WMMA fragment layout", 8,
/// of halves; madllama's `bench/global_load_tr_contract.md`, function `trperm`, of bytes): lane 8 g + c has elements c of
/// the group's eight lanes of halves, and of bytes those of lanes 16 (g / 2) + 4 (g mod 2) + 0 to 3 and + 8 to 11.
fn transpose(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    let Fields::Flat { vdst, addr, saddr, offset, .. } = op.instruction.fields else {
        return mismatch(op);
    };
    let name = op.instruction.opcode.name();
    if wave.halves != 1 {
        let text = format!("{name} in wave64, whose layout nothing tells, is not modelled");
        return Err(Stop::not_modelled(text));
    }
    if wave.exec_half(0) != u32::MAX {
        return Err(Stop::not_modelled(format!("{name} with inactive lanes is not modelled")));
    }
    let bytes = if op.instruction.opcode == Opcode::GLOBAL_LOAD_TR_B64 { 1 } else { 2 };
    let register = usize::from(addr);
    let mut loaded = [[0u16; 8]; LANES];
    for (lane, elements) in loaded.iter_mut().enumerate() {
        let low = u64::from(wave.lane(register, lane));
        let base = if saddr == Src::NULL {
            low | u64::from(wave.lane(register + 1, lane)) << 32
        } else {
            wave.sgpr64(saddr.0 as u8).wrapping_add(low)
        };
        let place = Place::Memory(base.wrapping_add_signed(offset.into()));
        for (dword, elements) in elements.chunks_mut(4 / bytes).enumerate() {
            let value = place.load32(env, 4 * dword as u32)?;
            for (index, element) in elements.iter_mut().enumerate() {
                *element = (value >> (8 * bytes * index)) as u16 & (u16::MAX >> (16 - 8 * bytes));
            }
        }
    }
    for lane in 0..LANES {
        let (group, column) = (lane / 8, lane % 8);
        for element in 0..8 {
            let from = match bytes {
                1 => 16 * (group / 2) + 4 * (group % 2) + 8 * (element / 4) + element % 4,
                _ => 8 * group + element,
            };
            let (register, shift) = (element * bytes / 4, 8 * (element * bytes % 4));
            let register = usize::from(vdst) + register;
            let old =
                wave.lane(register, lane) & !(u32::from(u16::MAX >> (16 - 8 * bytes)) << shift);
            wave.set_lane(register, lane, old | u32::from(loaded[from][column]) << shift);
        }
    }
    Ok(())
}

/// The addresses of the first lane of each run when the others' are each `step` above the one before.
#[inline(always)]
fn firsts_of_rising(
    wave: &Wave,
    register: usize,
    saddr: Src,
    offset: i32,
    half: usize,
    step: u32,
) -> Option<[u64; RUNS]> {
    let low = wave.row(register, half);
    if !all_rise(low, step) {
        return None;
    }
    let mut firsts = [0; RUNS];
    for (run, first) in firsts.iter_mut().enumerate() {
        let at = RUN * run;
        // None of a run's offsets wraps around: it ends below 4 GiB.
        low[at].checked_add(step * RUN as u32)?;
        *first = u64::from(low[at]);
    }
    let base = if saddr != Src::NULL {
        wave.sgpr64(saddr.0 as u8)
    } else {
        let high = wave.row(register + 1, half);
        if !all_rise(high, 0) {
            return None;
        }
        for (run, first) in firsts.iter_mut().enumerate() {
            *first |= u64::from(high[RUN * run]) << 32;
        }
        0
    };
    Some(firsts.map(|first| base.wrapping_add(first).wrapping_add_signed(offset.into())))
}

/// Dword loads and stores of GLOBAL whose lanes are all active and come in runs of neighbours; others go to `global`.
#[inline(always)]
fn global_dwords<const DWORDS: usize>(
    wave: &mut Wave,
    op: &Op,
    env: &mut Env<'_>,
    access: Access,
) -> Step {
    let Fields::Flat { vdst, addr, data, saddr, offset, glc, acc, .. } = op.instruction.fields
    else {
        return mismatch(op);
    };
    let step = 4 * DWORDS as u32;
    let mut firsts = [[0; RUNS]; 2];
    for half in 0..wave.halves {
        if wave.exec_half(half) != u32::MAX {
            return global(wave, op, env);
        }
        match firsts_of_rising(wave, addr.into(), saddr, offset, half, step) {
            Some(found) => firsts[half] = found,
            None => return global(wave, op, env),
        }
    }
    let registers = Registers::named(wave, vdst, data, acc, glc);
    match transfer::rising::<DWORDS>(wave, env, access, registers, &firsts) {
        true => Ok(()),
        false => global(wave, op, env),
    }
}

/// What executes an operation of GLOBAL.
pub(super) fn global_handler(opcode: Opcode) -> Handler {
    macro_rules! alone {
        ($dwords:literal, $access:expr) => {{
            #[inline(always)]
            fn body(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
                global_dwords::<$dwords>(wave, op, env, $access)
            }
            for_host!(alone, body);
            alone
        }};
    }
    match opcode {
        Opcode::GLOBAL_LOAD_B32 => alone!(1, Access::Read),
        Opcode::GLOBAL_LOAD_B64 => alone!(2, Access::Read),
        Opcode::GLOBAL_LOAD_B96 => alone!(3, Access::Read),
        Opcode::GLOBAL_LOAD_B128 => alone!(4, Access::Read),
        Opcode::GLOBAL_STORE_B32 => alone!(1, Access::Write),
        Opcode::GLOBAL_STORE_B64 => alone!(2, Access::Write),
        Opcode::GLOBAL_STORE_B96 => alone!(3, Access::Write),
        Opcode::GLOBAL_STORE_B128 => alone!(4, Access::Write),
        Opcode::GLOBAL_LOAD_TR_B64 | Opcode::GLOBAL_LOAD_TR_B128 => transpose,
        Opcode::GLOBAL_INV | Opcode::GLOBAL_WB | Opcode::GLOBAL_WBINV => cache_operation,
        _ => global,
    }
}

/// GLOBAL_INV, GLOBAL_WB, GLOBAL_WBINV: the scopes below the system's have caches that keep nothing here.
fn cache_operation(_: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    /// SCOPE_SYS.
    const SYSTEM: u8 = 3;
    let Fields::Flat { scope, .. } = op.instruction.fields else { return mismatch(op) };
    let opcode = op.instruction.opcode;
    if scope == SYSTEM {
        env.act_on_cache(opcode != Opcode::GLOBAL_INV, opcode != Opcode::GLOBAL_WB);
    }
    Ok(())
}

/// SCRATCH: an offset into the lane's own memory.
pub(super) fn scratch(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    let Fields::Flat { vdst, data, glc, acc, .. } = op.instruction.fields else {
        return mismatch(op);
    };
    if !env.launch.uses_scratch() {
        return Err(Stop::not_modelled(
            "scratch access, but the dispatch has none (COMPUTE_PGM_RSRC2.SCRATCH_EN, COMPUTE_TMPRING_SIZE)",
        ));
    }
    let registers = Registers::named(wave, vdst, data, acc, glc);
    for half in 0..wave.halves {
        let mask = wave.exec_half(half);
        let Some(lanes) = scratch_places(wave, op, half) else { return mismatch(op) };
        if let Some(transfer) = staged::of(&op.instruction) {
            staged::execute(wave, op, env, transfer, half, mask, &lanes.map(Place::Scratch))?;
        } else if !scratch_dwords(wave, op, env, registers, half, mask, &lanes) {
            let places = lanes.map(Place::Scratch);
            transfer::execute(wave, op, env, registers, half, mask, &places)?;
        }
    }
    Ok(())
}

/// Loads or stores of aligned dwords whose lanes lie in one mapping; false when it is something else, which may
/// have been done in part and is done again then.
fn scratch_dwords(
    wave: &mut Wave,
    op: &Op,
    env: &mut Env<'_>,
    registers: Registers,
    half: usize,
    mask: u32,
    lanes: &[Scratch; LANES],
) -> bool {
    let (dwords, transfer) = match transfer::of(op.instruction.opcode) {
        Some(Transfer::Load(dwords)) => (dwords, Transfer::Load(1)),
        Some(Transfer::Store(dwords)) => (dwords, Transfer::Store(1)),
        _ => return false,
    };
    if !lanes.iter().all(Scratch::is_dword) {
        return false;
    }
    (0..dwords).all(|dword| {
        let addresses = std::array::from_fn(|lane| lanes[lane].address(4 * dword));
        let registers = Registers {
            destination: registers.destination + dword as usize,
            data: registers.data + dword as usize,
            ..registers
        };
        transfer::in_one_mapping(wave, env, transfer, registers, half, mask, &addresses)
    })
}

/// FLAT: the address decides between memory, LDS and scratch.
pub(super) fn flat(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    let Fields::Flat { vdst, data, glc, acc, .. } = op.instruction.fields else {
        return mismatch(op);
    };
    let staged = staged::of(&op.instruction);
    let transfer = transfer::of(op.instruction.opcode).ok_or_else(|| unmodelled(op))?;
    let registers = Registers::named(wave, vdst, data, acc, glc);
    for half in 0..wave.halves {
        let mask = wave.exec_half(half);
        let Some(addresses) = addresses(wave, op, half) else { return mismatch(op) };
        let places: [Place; LANES] = std::array::from_fn(|lane| {
            Place::of_flat(wave, env.launch, 32 * half + lane, addresses[lane])
        });
        if let Some(transfer) = staged {
            staged::execute(wave, op, env, transfer, half, mask, &places)?;
            continue;
        }
        let in_memory = (0..LANES)
            .all(|lane| mask >> lane & 1 == 0 || matches!(places[lane], Place::Memory(_)));
        if !(in_memory
            && transfer::in_one_mapping(wave, env, transfer, registers, half, mask, &addresses))
        {
            transfer::execute(wave, op, env, registers, half, mask, &places)?;
        }
    }
    Ok(())
}

#[cold]
fn unmodelled(op: &Op) -> Stop {
    Stop::not_modelled(format!("{} is not modelled", op.instruction.opcode.name()))
}
