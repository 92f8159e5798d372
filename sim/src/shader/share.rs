//! DS: the LDS, and the lane permutations that use its crossbar.
#![expect(
    unsafe_code,
    reason = "calls the copy compiled for host extensions once these were found"
)]

use super::atomic::Function;
use super::code::{Handler, Op};
use super::gws;
use super::lds::Addresses;
use super::place::Place;
use super::scalar::mismatch;
use super::transpose;
use super::vector::for_host;
use super::wave::{Env, LANES, M0, Row, Step, Stop, Wave};
use amdgpu_isa::{Fields, Opcode};

/// The fields of DS.
#[derive(Clone, Copy)]
struct Ds {
    vdst: usize,
    addr: usize,
    data0: usize,
    data1: usize,
    offset0: u32,
    offset1: u32,
}

impl Ds {
    /// The 16-bit offset of operations with one address.
    fn offset(&self) -> u32 {
        self.offset0 | self.offset1 << 8
    }
}

impl Ds {
    /// Those of an instruction.
    #[inline(always)]
    fn of(wave: &Wave, op: &Op) -> Result<Ds, Stop> {
        let Fields::Ds { vdst, addr, data0, data1, offset0, offset1, gds, acc } =
            op.instruction.fields
        else {
            return Err(mismatch(op).expect_err("a mismatch is always an error"));
        };
        if gds {
            return Err(Stop::not_modelled("global data share is not modelled"));
        }
        Ok(Ds {
            vdst: wave.data_register(vdst, acc),
            addr: addr.into(),
            data0: wave.data_register(data0, acc),
            data1: wave.data_register(data1, acc),
            offset0: offset0.into(),
            offset1: offset1.into(),
        })
    }
}

/// What executes an operation of DS: the commonest have executors of their own.
pub(super) fn handler(opcode: Opcode) -> Handler {
    if matches!(
        opcode,
        Opcode::DS_GWS_INIT
            | Opcode::DS_GWS_SEMA_V
            | Opcode::DS_GWS_SEMA_BR
            | Opcode::DS_GWS_SEMA_P
            | Opcode::DS_GWS_SEMA_RELEASE_ALL
            | Opcode::DS_GWS_BARRIER
    ) {
        return gws::run;
    }
    macro_rules! alone {
        ($($opcode:ident => $function:ident($($argument:expr),*),)*) => {
            match opcode {
                $(Opcode::$opcode => {
                    #[inline(always)]
                    fn body(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
                        let ds = Ds::of(wave, op)?;
                        $function(wave, env, &ds, $($argument),*)
                    }
                    for_host!(alone, body);
                    alone
                })*
                _ => run,
            }
        };
    }
    alone! {
        DS_LOAD_B32 => load(1),
        DS_LOAD_B64 => load(2),
        DS_LOAD_B96 => load(3),
        DS_LOAD_B128 => load(4),
        DS_STORE_B32 => store(1),
        DS_STORE_B64 => store(2),
        DS_STORE_B96 => store(3),
        DS_STORE_B128 => store(4),
        DS_LOAD_2ADDR_B32 => load_two(1, 4),
    }
}

for_host!(run, body);

/// DS.
#[inline(always)]
fn body(wave: &mut Wave, op: &Op, env: &mut Env<'_>) -> Step {
    use Opcode::*;
    let ds = Ds::of(wave, op)?;
    let opcode = op.instruction.opcode;
    match opcode {
        DS_NOP => Ok(()),
        DS_LOAD_2ADDR_STRIDE64_B32 => load_two(wave, env, &ds, 1, 256),
        DS_LOAD_2ADDR_B64 => load_two(wave, env, &ds, 2, 8),
        DS_LOAD_2ADDR_STRIDE64_B64 => load_two(wave, env, &ds, 2, 512),
        DS_STORE_2ADDR_B32 => store_two(wave, env, &ds, 1, 4),
        DS_STORE_2ADDR_STRIDE64_B32 => store_two(wave, env, &ds, 1, 256),
        DS_STORE_2ADDR_B64 => store_two(wave, env, &ds, 2, 8),
        DS_STORE_2ADDR_STRIDE64_B64 => store_two(wave, env, &ds, 2, 512),
        DS_LOAD_U8 => load_small(wave, env, &ds, |lds, at, _| lds.load8(at).into()),
        DS_LOAD_I8 => load_small(wave, env, &ds, |lds, at, _| lds.load8(at) as i8 as u32),
        DS_LOAD_U16 => load_small(wave, env, &ds, |lds, at, _| lds.load16(at).into()),
        DS_LOAD_I16 => load_small(wave, env, &ds, |lds, at, _| lds.load16(at) as i16 as u32),
        DS_LOAD_U8_D16 => {
            load_small(wave, env, &ds, |lds, at, old| old & 0xffff_0000 | u32::from(lds.load8(at)))
        }
        DS_LOAD_I8_D16 => load_small(wave, env, &ds, |lds, at, old| {
            old & 0xffff_0000 | u32::from(lds.load8(at) as i8 as u16)
        }),
        DS_LOAD_U16_D16 => {
            load_small(wave, env, &ds, |lds, at, old| old & 0xffff_0000 | u32::from(lds.load16(at)))
        }
        DS_LOAD_U8_D16_HI => {
            load_small(wave, env, &ds, |lds, at, old| old & 0xffff | u32::from(lds.load8(at)) << 16)
        }
        DS_LOAD_I8_D16_HI => load_small(wave, env, &ds, |lds, at, old| {
            old & 0xffff | u32::from(lds.load8(at) as i8 as u16) << 16
        }),
        DS_LOAD_U16_D16_HI => load_small(wave, env, &ds, |lds, at, old| {
            old & 0xffff | u32::from(lds.load16(at)) << 16
        }),
        DS_STORE_B8 => store_small(wave, env, &ds, |lds, at, v| lds.store8(at, v as u8)),
        DS_STORE_B16 => store_small(wave, env, &ds, |lds, at, v| lds.store16(at, v as u16)),
        DS_STORE_B8_D16_HI => {
            store_small(wave, env, &ds, |lds, at, v| lds.store8(at, (v >> 16) as u8))
        }
        DS_STORE_B16_D16_HI => {
            store_small(wave, env, &ds, |lds, at, v| lds.store16(at, (v >> 16) as u16))
        }
        DS_LOAD_B64_TR_B4 => transpose::load(wave, env, ds.vdst, ds.addr, ds.offset(), 4),
        DS_LOAD_B96_TR_B6 => transpose::load(wave, env, ds.vdst, ds.addr, ds.offset(), 6),
        DS_LOAD_B64_TR_B8 => transpose::load(wave, env, ds.vdst, ds.addr, ds.offset(), 8),
        DS_LOAD_B64_TR_B16 => transpose::load(wave, env, ds.vdst, ds.addr, ds.offset(), 16),
        DS_LOAD_ADDTID_B32 | DS_STORE_ADDTID_B32 => by_thread(wave, env, &ds, opcode),
        DS_PERMUTE_B32 => permute(wave, &ds, Permute::Push),
        DS_BPERMUTE_B32 => permute(wave, &ds, Permute::Pull),
        DS_BPERMUTE_FI_B32 => permute(wave, &ds, Permute::PullInactive),
        DS_SWIZZLE_B32 => swizzle(wave, &ds),
        DS_APPEND | DS_CONSUME => count(wave, env, &ds, opcode == DS_APPEND),
        DS_STOREXCHG_2ADDR_RTN_B32 => exchange_two(wave, env, &ds, 1, 4),
        DS_STOREXCHG_2ADDR_STRIDE64_RTN_B32 => exchange_two(wave, env, &ds, 1, 256),
        DS_STOREXCHG_2ADDR_RTN_B64 => exchange_two(wave, env, &ds, 2, 8),
        DS_STOREXCHG_2ADDR_STRIDE64_RTN_B64 => exchange_two(wave, env, &ds, 2, 512),
        DS_CONDXCHG32_RTN_B64 => exchange_by_sign(wave, env, &ds),
        _ => match atomic(opcode) {
            Some((function, wide, returns)) => update(wave, env, &ds, function, wide, returns),
            None => Err(Stop::not_modelled(format!("{} is not modelled", opcode.name()))),
        },
    }
}

fn addresses(wave: &Wave, ds: &Ds, half: usize, offset: u32) -> Row {
    wave.row(ds.addr, half).map(|address| address.wrapping_add(offset))
}

fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}

/// Loads a dword for each lane of `mask`.
#[inline(always)]
fn load_row(
    wave: &mut Wave,
    env: &Env<'_>,
    register: usize,
    half: usize,
    mask: u32,
    addresses: &Addresses<'_>,
    offset: u32,
) {
    if mask == u32::MAX {
        env.lds.load_row(addresses, offset, wave.row_mut(register, half));
    } else {
        let mut row = [0; LANES];
        env.lds.load_row(addresses, offset, &mut row);
        wave.write(register, half, mask, &row);
    }
}

#[inline(always)]
fn load(wave: &mut Wave, env: &mut Env<'_>, ds: &Ds, dwords: usize) -> Step {
    for half in 0..wave.halves {
        let mask = wave.exec_half(half);
        let base = *wave.row(ds.addr, half);
        let addresses = Addresses::new(&base);
        for dword in 0..dwords {
            let offset = ds.offset().wrapping_add(4 * dword as u32);
            load_row(wave, env, ds.vdst + dword, half, mask, &addresses, offset);
        }
    }
    Ok(())
}

#[inline(always)]
fn store(wave: &mut Wave, env: &mut Env<'_>, ds: &Ds, dwords: usize) -> Step {
    for half in 0..wave.halves {
        let mask = wave.exec_half(half);
        if dwords == 1 && mask == u32::MAX {
            let addresses = Addresses::new(wave.row(ds.addr, half));
            env.lds.store_row(&addresses, ds.offset(), wave.row(ds.data0, half));
            continue;
        }
        let at = addresses(wave, ds, half, ds.offset());
        for lane in lanes(mask) {
            for dword in 0..dwords {
                let value = wave.row(ds.data0 + dword, half)[lane];
                env.lds.store32(at[lane].wrapping_add(4 * dword as u32), value);
            }
        }
    }
    Ok(())
}

#[inline(always)]
fn load_two(wave: &mut Wave, env: &mut Env<'_>, ds: &Ds, dwords: usize, unit: u32) -> Step {
    for half in 0..wave.halves {
        let mask = wave.exec_half(half);
        let base = *wave.row(ds.addr, half);
        let addresses = Addresses::new(&base);
        for (index, offset) in [ds.offset0, ds.offset1].into_iter().enumerate() {
            for dword in 0..dwords {
                let offset = offset * unit + 4 * dword as u32;
                let register = ds.vdst + index * dwords + dword;
                load_row(wave, env, register, half, mask, &addresses, offset);
            }
        }
    }
    Ok(())
}

#[inline(always)]
fn store_two(wave: &mut Wave, env: &mut Env<'_>, ds: &Ds, dwords: usize, unit: u32) -> Step {
    for half in 0..wave.halves {
        let mask = wave.exec_half(half);
        let base = *wave.row(ds.addr, half);
        for lane in lanes(mask) {
            for (data, offset) in [(ds.data0, ds.offset0), (ds.data1, ds.offset1)] {
                for dword in 0..dwords {
                    let at = base[lane].wrapping_add(offset * unit + 4 * dword as u32);
                    env.lds.store32(at, wave.row(data + dword, half)[lane]);
                }
            }
        }
    }
    Ok(())
}

fn load_small(
    wave: &mut Wave,
    env: &mut Env<'_>,
    ds: &Ds,
    f: impl Fn(&super::lds::Lds, u32, u32) -> u32,
) -> Step {
    for half in 0..wave.halves {
        let mask = wave.exec_half(half);
        let at = addresses(wave, ds, half, ds.offset());
        let mut row = *wave.row(ds.vdst, half);
        for lane in lanes(mask) {
            row[lane] = f(env.lds, at[lane], row[lane]);
        }
        wave.write(ds.vdst, half, mask, &row);
    }
    Ok(())
}

fn store_small(
    wave: &mut Wave,
    env: &mut Env<'_>,
    ds: &Ds,
    f: impl Fn(&mut super::lds::Lds, u32, u32),
) -> Step {
    for half in 0..wave.halves {
        let mask = wave.exec_half(half);
        let at = addresses(wave, ds, half, ds.offset());
        for lane in lanes(mask) {
            f(env.lds, at[lane], wave.row(ds.data0, half)[lane]);
        }
    }
    Ok(())
}

/// `ds_load_addtid_b32`, `ds_store_addtid_b32`: M0 + offset + 4 × lane.
fn by_thread(wave: &mut Wave, env: &mut Env<'_>, ds: &Ds, opcode: Opcode) -> Step {
    let base = (wave.sgpr(M0) & 0xffff).wrapping_add(ds.offset());
    for half in 0..wave.halves {
        for lane in lanes(wave.exec_half(half)) {
            let at = base.wrapping_add(4 * (32 * half + lane) as u32);
            if opcode == Opcode::DS_LOAD_ADDTID_B32 {
                wave.row_mut(ds.vdst, half)[lane] = env.lds.load32(at);
            } else {
                env.lds.store32(at, wave.row(ds.data0, half)[lane]);
            }
        }
    }
    Ok(())
}

/// `ds_permute_b32` (push) and `ds_bpermute_b32` (pull), within each 32 lanes or the whole wave. Lanes
/// that are off give 0.
fn permute(wave: &mut Wave, ds: &Ds, kind: Permute) -> Step {
    let exec = wave.exec();
    // Lanes that reach each other.
    let reach = if wave.traits.permutes_whole_wave { wave.lanes() } else { LANES };
    let mut rows = [[0; LANES]; 2];
    for half in 0..wave.halves {
        let selectors = addresses(wave, ds, half, ds.offset());
        for lane in 0..LANES {
            let this = half * LANES + lane;
            let other = this / reach * reach + selectors[lane] as usize / 4 % reach;
            let active = |lane: usize| exec >> lane & 1 != 0;
            match kind {
                Permute::Push if active(this) => {
                    rows[other / LANES][other % LANES] = wave.lane(ds.data0, this);
                }
                Permute::Pull if active(other) => {
                    rows[half][lane] = wave.lane(ds.data0, other);
                }
                Permute::PullInactive => rows[half][lane] = wave.lane(ds.data0, other),
                Permute::Push | Permute::Pull => {}
            }
        }
    }
    for half in 0..wave.halves {
        wave.write(ds.vdst, half, wave.exec_half(half), &rows[half]);
    }
    Ok(())
}

/// Which way values move in the permutations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Permute {
    /// To the lane named.
    Push,
    /// From the lane named, when it is active.
    Pull,
    /// From the lane named.
    PullInactive,
}

/// The lane that `lane` reads in `ds_swizzle_b32` (RDNA3 ISA document, DS_SWIZZLE_B32).
fn swizzled(offset: u32, lane: u32) -> u32 {
    match offset {
        0xe000.. => {
            // Butterflies of a fast Fourier transform.
            let mask = offset & 0x1f;
            let reversed = lane.reverse_bits() >> 27;
            reversed >> mask.count_ones() | lane & mask
        }
        0xc000.. => {
            // Rotation of the lanes outside a mask.
            let (mask, amount) = (offset & 0x1f, offset >> 5 & 0x1f);
            let amount = if offset & 0x400 != 0 { 32 - amount } else { amount };
            lane & mask | lane.wrapping_add(amount) & !mask & 0x1f
        }
        0x8000.. => lane & !3 | offset >> (2 * (lane & 3)) & 3,
        _ => {
            let (and, or, xor) = (offset & 0x1f, offset >> 5 & 0x1f, offset >> 10 & 0x1f);
            (lane & and | or) ^ xor
        }
    }
}

fn swizzle(wave: &mut Wave, ds: &Ds) -> Step {
    for half in 0..wave.halves {
        let mask = wave.exec_half(half);
        let data = *wave.row(ds.addr, half);
        let mut row = [0; LANES];
        for (lane, value) in row.iter_mut().enumerate() {
            let from = (swizzled(ds.offset(), lane as u32) & 31) as usize;
            *value = if mask >> from & 1 != 0 { data[from] } else { 0 };
        }
        wave.write(ds.vdst, half, mask, &row);
    }
    Ok(())
}

/// `ds_append`, `ds_consume`: the number of active lanes added to or taken from a counter.
fn count(wave: &mut Wave, env: &mut Env<'_>, ds: &Ds, append: bool) -> Step {
    if !wave.traits.counts_at_offset && wave.sgpr(M0) != 0 {
        let (name, m0) = (if append { "DS_APPEND" } else { "DS_CONSUME" }, wave.sgpr(M0));
        return Err(Stop::not_modelled(format!(
            "{name} with {m0:#x} in M0, of which documents and compilers disagree what it adds to the address, is not \
             modelled"
        )));
    }
    let at = ds.offset();
    let old = env.lds.load32(at);
    let active = wave.exec().count_ones();
    let new = if append { old.wrapping_add(active) } else { old.wrapping_sub(active) };
    env.lds.store32(at, new);
    for half in 0..wave.halves {
        let mask = wave.exec_half(half);
        wave.write(ds.vdst, half, mask, &[old; LANES]);
    }
    Ok(())
}

fn qword(wave: &Wave, register: usize, half: usize, lane: usize) -> u64 {
    u64::from(wave.row(register, half)[lane]) | u64::from(wave.row(register + 1, half)[lane]) << 32
}

fn set_qword(wave: &mut Wave, register: usize, half: usize, lane: usize, value: u64) {
    wave.row_mut(register, half)[lane] = value as u32;
    wave.row_mut(register + 1, half)[lane] = (value >> 32) as u32;
}

fn exchange_two(wave: &mut Wave, env: &mut Env<'_>, ds: &Ds, dwords: usize, unit: u32) -> Step {
    for half in 0..wave.halves {
        for lane in lanes(wave.exec_half(half)) {
            let base = wave.row(ds.addr, half)[lane];
            let at = [ds.offset0, ds.offset1].map(|offset| base.wrapping_add(offset * unit));
            if dwords == 1 {
                let new = [ds.data0, ds.data1].map(|data| wave.row(data, half)[lane]);
                let old = at.map(|at| env.lds.load32(at));
                for index in 0..2 {
                    env.lds.store32(at[index], new[index]);
                    wave.row_mut(ds.vdst + index, half)[lane] = old[index];
                }
            } else {
                let new = [ds.data0, ds.data1].map(|data| qword(wave, data, half, lane));
                let old = at.map(|at| env.lds.load64(at));
                for index in 0..2 {
                    env.lds.store64(at[index], new[index]);
                    set_qword(wave, ds.vdst + 2 * index, half, lane, old[index]);
                }
            }
        }
    }
    Ok(())
}

/// `ds_condxchg32_rtn_b64`: each dword stored, without its sign bit, where that bit is set.
fn exchange_by_sign(wave: &mut Wave, env: &mut Env<'_>, ds: &Ds) -> Step {
    for half in 0..wave.halves {
        for lane in lanes(wave.exec_half(half)) {
            let base = wave.row(ds.addr, half)[lane].wrapping_add(ds.offset()) & 0xfff8;
            let new = qword(wave, ds.data0, half, lane);
            let old = env.lds.load64(base);
            for (at, dword) in [(base, new as u32), (base + 4, (new >> 32) as u32)] {
                if dword >> 31 != 0 {
                    env.lds.store32(at, dword & 0x7fff_ffff);
                }
            }
            set_qword(wave, ds.vdst, half, lane, old);
        }
    }
    Ok(())
}

/// The function of a DS atomic, whether it is 64 bits wide, and whether it returns the old value.
fn atomic(opcode: Opcode) -> Option<(Function, bool, bool)> {
    let name = opcode.name().strip_prefix("DS_")?;
    let (operation, kind) = name.rsplit_once('_')?;
    let (operation, returns) = match operation.strip_suffix("_RTN") {
        Some(operation) => (operation, true),
        None => (operation, false),
    };
    let function = Function::named(operation, kind)?;
    Some((function, kind.ends_with("64"), returns))
}

fn update(
    wave: &mut Wave,
    env: &mut Env<'_>,
    ds: &Ds,
    function: Function,
    wide: bool,
    returns: bool,
) -> Step {
    let function = function.of_generation(wave.traits);
    let (data0, data1) = if function.is_compare() && wave.traits.comparand_first {
        (ds.data1, ds.data0)
    } else {
        (ds.data0, ds.data1)
    };
    for half in 0..wave.halves {
        let at = addresses(wave, ds, half, ds.offset());
        for lane in lanes(wave.exec_half(half)) {
            Place::Lds(at[lane]).check_alignment(env, if wide { 8 } else { 4 })?;
            if wide {
                let a = qword(wave, data0, half, lane);
                let b = if has_two(function) { qword(wave, data1, half, lane) } else { 0 };
                let old = env.lds.load64(at[lane]);
                env.lds.store64(at[lane], function.apply64(old, a, b));
                if returns {
                    set_qword(wave, ds.vdst, half, lane, old);
                }
            } else {
                let a = wave.row(data0, half)[lane];
                let b = if has_two(function) { wave.row(data1, half)[lane] } else { 0 };
                let old = env.lds.load32(at[lane]);
                env.lds.store32(at[lane], function.apply32(old, a, b));
                if returns {
                    wave.row_mut(ds.vdst, half)[lane] = old;
                }
            }
        }
    }
    Ok(())
}

fn has_two(function: Function) -> bool {
    function.is_compare() || matches!(function, Function::MaskOr | Function::Wrap)
}
