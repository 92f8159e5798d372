//! Packets that belong together, and why: what a queue of copies is made of.
//!
//! Each function writes its packets or none. AMD's runtime writes a copy as [`poll`] for what it depends on,
//! [`invalidate`], [`copy`], [`write_back`], then [`fence`] or [`decrement`], [`interrupt`], and
//! [`pad_submission`] (ROCr, `BlitSdma::SubmitCommand`); [`copy_fence`] is the part in the middle.

use crate::packet::{
    Atomic, AtomicOp, ConstantFill, CopyLinear, Fence, GcrUser, Indirect, Mtype, Nop, PollFunction,
    PollRegmem, TimestampGetGlobal, Trap,
};
use crate::split::{self, Pattern, RangeError};
use crate::version::{Version, versions::SDMA5_ON};
use core::fmt;
use pm4::layout::{FieldError, Layout, Sink, WriteError, Writer};

/// Why packets were not written. None of them was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SequenceError {
    /// A range is none.
    Range(RangeError),
    /// There is no room, or a value does not fit.
    Write(WriteError),
    /// The version's engines cannot do it.
    Absent {
        /// What they cannot do.
        what: &'static str,
        /// The version.
        version: Version,
    },
}

impl fmt::Display for SequenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SequenceError::Range(error) => error.fmt(f),
            SequenceError::Write(error) => error.fmt(f),
            SequenceError::Absent { what, version } => write!(f, "{version} has no {what}"),
        }
    }
}

impl core::error::Error for SequenceError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            SequenceError::Range(error) => Some(error),
            SequenceError::Write(error) => Some(error),
            SequenceError::Absent { .. } => None,
        }
    }
}

impl From<RangeError> for SequenceError {
    fn from(error: RangeError) -> SequenceError {
        SequenceError::Range(error)
    }
}

impl From<WriteError> for SequenceError {
    fn from(error: WriteError) -> SequenceError {
        SequenceError::Write(error)
    }
}

/// Dwords of packets of one kind.
const fn dwords_of(layout: &Layout, packets: usize) -> usize {
    layout.dwords * packets
}

/// Refuses what there is no room for before any of it is written.
fn room<S: Sink>(
    writer: &Writer<S, Version>,
    packet: &'static str,
    needed: usize,
) -> Result<(), SequenceError> {
    match writer.left() {
        left if left < needed => Err(WriteError::Full { packet, needed, left }.into()),
        _ => Ok(()),
    }
}

/// Copies bytes: [`split::copy`]. Nothing says when it is done but a [`fence`] behind it.
///
/// # Errors
/// When a range wraps around or there is no room.
pub fn copy<S: Sink>(
    writer: &mut Writer<S, Version>,
    src: u64,
    dst: u64,
    bytes: u64,
) -> Result<(), SequenceError> {
    let copies = split::copy(src, dst, bytes, writer.variant())?;
    let needed = usize::try_from(copies.dwords()).unwrap_or(usize::MAX);
    room(writer, CopyLinear::LAYOUT.name, needed)?;
    for copy in copies {
        writer.push(&copy)?;
    }
    Ok(())
}

/// Fills memory: [`split::fill`]. Nothing says when it is done but a [`fence`] behind it.
///
/// # Errors
/// When the range wraps around or there is no room.
pub fn fill<S: Sink>(
    writer: &mut Writer<S, Version>,
    dst: u64,
    bytes: u64,
    pattern: Pattern,
) -> Result<(), SequenceError> {
    let fills = split::fill(dst, bytes, pattern, writer.variant())?;
    let needed = usize::try_from(fills.dwords()).unwrap_or(usize::MAX);
    room(writer, ConstantFill::LAYOUT.name, needed)?;
    for fill in fills {
        writer.push(&fill)?;
    }
    Ok(())
}

/// A FENCE as AMD's drivers write it: uncached from 5.0 on, so that who polls the value sees it.
const fn fence_packet(version: Version, addr: u64, data: u32) -> Fence {
    let mtype = if version.is_in(SDMA5_ON) { Mtype::UC } else { Mtype(0) };
    Fence { addr, data, mtype, ..Fence::ZERO }
}

/// Writes `value` to `addr`, a multiple of 4, when all before it is done. 4 dwords.
///
/// # Errors
/// When `addr` is not a multiple of 4 or there is no room.
pub fn fence<S: Sink>(
    writer: &mut Writer<S, Version>,
    addr: u64,
    value: u32,
) -> Result<(), SequenceError> {
    aligned(Fence::LAYOUT, "addr", addr, 4)?;
    Ok(writer.push(&fence_packet(writer.variant(), addr, value))?)
}

/// Refuses an address that is not a multiple of `unit`. Layouts alone do not: before 7.0 the low bits of addresses
/// have room in most packets, and nobody says what they do.
fn aligned(
    layout: &Layout,
    field: &'static str,
    addr: u64,
    unit: u64,
) -> Result<(), SequenceError> {
    match addr & (unit - 1) {
        0 => Ok(()),
        _ => Err(WriteError::Field(FieldError::Unfit {
            packet: layout.name,
            field,
            value: addr,
            bits: u64::MAX - (unit - 1),
            bias: 0,
        })
        .into()),
    }
}

/// Writes the 64 bits of `value` to `addr`, a multiple of 8, when all before it is done: the lower half first, as
/// Linux does. 8 dwords.
///
/// The two writes are not one. Between them memory has the old upper half: less than `value` if the upper half
/// rises, more if it falls, `value` itself if it stays. So who compares all 64 bits, be it "at least" with values
/// that rise or "at most" with values that fall, does not go on early; the value may step back for a moment, which
/// only "equal" and "not equal" can tell. Who waits for the lower half alone, as [`poll`] does, and then reads both
/// needs [`fence_64_upper_first`].
///
/// # Errors
/// When `addr` is not a multiple of 8 or there is no room.
pub fn fence_64<S: Sink>(
    writer: &mut Writer<S, Version>,
    addr: u64,
    value: u64,
) -> Result<(), SequenceError> {
    fence_halves(writer, [(addr, value as u32), (addr | 4, (value >> 32) as u32)])
}

/// [`fence_64`] with the upper half first: for who waits for the lower half alone and then reads both. 8 dwords.
///
/// Not for who compares all 64 bits: between the writes memory has the new upper half and the old lower one. From
/// 0xffff_ffff to 0x1_0000_0000 that is 0x1_ffff_ffff, and "at least 0x1_8000_0000" goes on early; from
/// 0x1_0000_0000 to 0xffff_ffff it is 0, which looks like a signal that was counted down.
///
/// ROCr has this order for signals where the bus has no atomics, and leaves the upper half out when it is 0
/// (`BlitSdma::SubmitCommand`): there a signal that falls below 2^32 keeps its upper half, here it does not.
///
/// # Errors
/// When `addr` is not a multiple of 8 or there is no room.
pub fn fence_64_upper_first<S: Sink>(
    writer: &mut Writer<S, Version>,
    addr: u64,
    value: u64,
) -> Result<(), SequenceError> {
    fence_halves(writer, [(addr | 4, (value >> 32) as u32), (addr, value as u32)])
}

/// Writes the two halves of 64 bits in this order.
fn fence_halves<S: Sink>(
    writer: &mut Writer<S, Version>,
    halves: [(u64, u32); 2],
) -> Result<(), SequenceError> {
    let [(first, _), (second, _)] = halves;
    aligned(Fence::LAYOUT, "addr", first.min(second), 8)?;
    room(writer, Fence::LAYOUT.name, dwords_of(Fence::LAYOUT, 2))?;
    for (addr, half) in halves {
        fence(writer, addr, half)?;
    }
    Ok(())
}

/// Subtracts one from the 64 bits at `addr`, a multiple of 8, when all before it is done: how ROCr counts signals
/// down where the bus has atomics; else it writes the new value with FENCEs. One write, so that no value in between can
/// be seen. 8 dwords.
///
/// # Errors
/// When `addr` is not a multiple of 8 or there is no room.
pub fn decrement<S: Sink>(writer: &mut Writer<S, Version>, addr: u64) -> Result<(), SequenceError> {
    aligned(Atomic::LAYOUT, "addr", addr, 8)?;
    let atomic =
        Atomic { atomic_op: AtomicOp::ADD_RTN_64, addr, src_data: u64::MAX, ..Atomic::ZERO };
    Ok(writer.push(&atomic)?)
}

/// Wakes who waits for event `event`: writes its number to `mailbox`, where the kernel driver looks which event it
/// was, and raises the interrupt. 6 dwords.
///
/// # Errors
/// When a value does not fit or there is no room.
pub fn interrupt<S: Sink>(
    writer: &mut Writer<S, Version>,
    mailbox: u64,
    event: u32,
) -> Result<(), SequenceError> {
    let trap = Trap { int_context: event, ..Trap::ZERO };
    trap.check(writer.variant()).map_err(WriteError::from)?;
    room(writer, Trap::LAYOUT.name, dwords_of(Fence::LAYOUT, 1) + dwords_of(Trap::LAYOUT, 1))?;
    fence(writer, mailbox, event)?;
    Ok(writer.push(&trap)?)
}

/// Waits until the dword at `addr`, a multiple of 4, compares with `value` under `mask`, without end. 6 dwords, on
/// 4.0 twice that: [`Limits::polls`](crate::limits::Limits::polls) says why.
///
/// # Errors
/// When `addr` is not a multiple of 4 or there is no room.
pub fn poll<S: Sink>(
    writer: &mut Writer<S, Version>,
    addr: u64,
    func: PollFunction,
    value: u32,
    mask: u32,
) -> Result<(), SequenceError> {
    aligned(PollRegmem::LAYOUT, "addr", addr, 4)?;
    let polls = writer.variant().limits().polls;
    room(writer, PollRegmem::LAYOUT.name, dwords_of(PollRegmem::LAYOUT, polls as usize))?;
    let poll = PollRegmem {
        mem_poll: true,
        func,
        addr,
        value,
        mask,
        interval: 4,
        retry_count: 0xfff,
        ..PollRegmem::ZERO
    };
    for _ in 0..polls {
        writer.push(&poll)?;
    }
    Ok(())
}

/// Lets nothing behind it start before all before it is done: writes `value` to `addr`, a multiple of 4, and waits
/// for it there. Copies of one queue may overlap, so a copy that reads what one before it writes needs this
/// between them. `value` has to differ from what is at `addr`. 10 dwords, 16 on 4.0.
///
/// # Errors
/// When `addr` is not a multiple of 4 or there is no room.
pub fn drain<S: Sink>(
    writer: &mut Writer<S, Version>,
    addr: u64,
    value: u32,
) -> Result<(), SequenceError> {
    let polls = writer.variant().limits().polls as usize;
    room(
        writer,
        PollRegmem::LAYOUT.name,
        dwords_of(Fence::LAYOUT, 1) + dwords_of(PollRegmem::LAYOUT, polls),
    )?;
    fence(writer, addr, value)?;
    poll(writer, addr, PollFunction::EQUAL_TO_THE_REFERENCE_VALUE, value, u32::MAX)
}

/// Flushes the host data path, so that what the CPU wrote to local memory over the bus is there. The form is
/// ROCr's, for user queues, which know no register addresses: POLL_REGMEM with all zero but the upper bit of the
/// address. 6 dwords. ROCr leaves it out where the host is connected by xGMI (`BlitSdma::Initialize`): the caller has
/// to know that, a version does not tell.
///
/// # Errors
/// On 5.0, where it makes trouble; when there is no room.
pub fn hdp_flush<S: Sink>(writer: &mut Writer<S, Version>) -> Result<(), SequenceError> {
    let version = writer.variant();
    if !version.limits().hdp_flush {
        return Err(SequenceError::Absent { what: "HDP flush", version });
    }
    Ok(writer.push(&PollRegmem { addr: 1 << 63, ..PollRegmem::ZERO })?)
}

/// Writes back and invalidates the caches of the graphics core, so that copies behind it read what kernels wrote
/// and not what a cache held before. 5 dwords; none on 4, which has no such packet: there the caches are
/// the business of the packets around a kernel.
///
/// On 6.1 public ROCr of 2025 writes this too; later ones choose another class there (`BlitSdmaV6` for gfx11.5 and
/// gfx12.5, `GpuAgent::CreateBlitSdma`), which has scopes in each packet instead (bits 29:28 of a poll's last dword and
/// so on). No header of the kernel driver or of PAL has them in packets of 6.1, so this crate has none.
///
/// # Errors
/// When there is no room.
pub fn invalidate<S: Sink>(writer: &mut Writer<S, Version>) -> Result<(), SequenceError> {
    gcr_user(writer, true)
}

/// Writes back the caches of the graphics core that copies before it went through, so that others see what was
/// copied. 5 dwords; none on 4.
///
/// # Errors
/// When there is no room.
pub fn write_back<S: Sink>(writer: &mut Writer<S, Version>) -> Result<(), SequenceError> {
    gcr_user(writer, false)
}

/// The GCR_USER of [`invalidate`] and [`write_back`], where there is one.
fn gcr_user<S: Sink>(writer: &mut Writer<S, Version>, inv: bool) -> Result<(), SequenceError> {
    if !writer.variant().limits().gcr {
        return Ok(());
    }
    Ok(writer.push(&GcrUser {
        gl2_wb: true,
        glk_wb: true,
        gl2_inv: inv,
        gl1_inv: inv,
        glv_inv: inv,
        glk_inv: inv,
        ..GcrUser::ZERO
    })?)
}

/// Writes the GPU's counter, 64 bits, to `addr`, a multiple of 32 (ROCr and AMD's tests insist). 3 dwords.
///
/// # Errors
/// When `addr` is not a multiple of 32 or there is no room.
pub fn timestamp<S: Sink>(writer: &mut Writer<S, Version>, addr: u64) -> Result<(), SequenceError> {
    aligned(TimestampGetGlobal::LAYOUT, "write_addr", addr, 32)?;
    Ok(writer.push(&TimestampGetGlobal { write_addr: addr, ..TimestampGetGlobal::ZERO })?)
}

/// Writes `dwords` dwords that do nothing: NOPs that skip zeros, which are NOPs too.
///
/// # Errors
/// When there is no room.
pub fn nops<S: Sink>(writer: &mut Writer<S, Version>, dwords: usize) -> Result<(), SequenceError> {
    const ZEROS: [u32; 64] = [0; 64];
    room(writer, Nop::LAYOUT.name, dwords)?;
    let mut left = dwords;
    while let Some(skipped) = left.min(1 + ZEROS.len()).checked_sub(1) {
        let zeros = ZEROS.get(..skipped).unwrap_or(&ZEROS);
        writer.push_with(&Nop { count: skipped as u16, ..Nop::ZERO }, zeros)?;
        left -= 1 + skipped;
    }
    Ok(())
}

/// Fills up to a multiple of `dwords` dwords from the writer's first, with [`nops`]: 8 for an indirect buffer.
///
/// # Errors
/// When there is no room.
pub fn pad<S: Sink>(writer: &mut Writer<S, Version>, dwords: usize) -> Result<(), SequenceError> {
    let rest = writer.written().checked_rem(dwords).unwrap_or(0);
    match rest {
        0 => Ok(()),
        rest => nops(writer, dwords - rest),
    }
}

/// Fills up to the shortest submission, if what the writer wrote is one and is shorter
/// ([`Limits::submission_bytes`](crate::limits::Limits::submission_bytes)).
///
/// # Errors
/// When there is no room.
pub fn pad_submission<S: Sink>(writer: &mut Writer<S, Version>) -> Result<(), SequenceError> {
    let needed = writer.variant().limits().submission_bytes as usize / 4;
    nops(writer, needed.saturating_sub(writer.written()))
}

/// Goes on in an indirect buffer: `dwords` dwords at `base`, a multiple of 32, padded to a multiple of 8. NOPs
/// before it make it end where it has to, on a multiple of 8 dwords of the ring; `ring_dwords` is where in the
/// ring the writer's first dword is. 6 to 13 dwords.
///
/// # Errors
/// When `base` is not a multiple of 32, `dwords` not one of 8 or too large, or there is no room.
pub fn indirect<S: Sink>(
    writer: &mut Writer<S, Version>,
    ring_dwords: u64,
    base: u64,
    dwords: u32,
) -> Result<(), SequenceError> {
    aligned(Indirect::LAYOUT, "ib_base", base, 32)?;
    let limits = writer.variant().limits();
    if dwords > limits.indirect_dwords || !dwords.is_multiple_of(limits.indirect_end) {
        return Err(WriteError::Field(FieldError::Unfit {
            packet: Indirect::LAYOUT.name,
            field: "ib_size",
            value: dwords.into(),
            bits: limits.indirect_dwords.into(),
            bias: 0,
        })
        .into());
    }
    let end = u64::from(limits.indirect_end);
    let length = Indirect::LAYOUT.dwords as u64;
    let position = ring_dwords.wrapping_add(writer.written() as u64).wrapping_add(length) % end;
    let before = ((end - position) % end) as usize;
    room(writer, Indirect::LAYOUT.name, before + Indirect::LAYOUT.dwords)?;
    nops(writer, before)?;
    Ok(writer.push(&Indirect { ib_base: base, ib_size: dwords, ..Indirect::ZERO })?)
}

/// Copies bytes and tells: [`invalidate`], [`copy`], [`write_back`], [`fence`].
///
/// # Errors
/// When a range wraps around, `fence_addr` is not a multiple of 4 or there is no room.
pub fn copy_fence<S: Sink>(
    writer: &mut Writer<S, Version>,
    src: u64,
    dst: u64,
    bytes: u64,
    fence_addr: u64,
    value: u32,
) -> Result<(), SequenceError> {
    let version = writer.variant();
    let needed = copy_fence_dwords(src, dst, bytes, version)?;
    room(writer, "copy and FENCE", usize::try_from(needed).unwrap_or(usize::MAX))?;
    aligned(Fence::LAYOUT, "addr", fence_addr, 4)?;
    invalidate(writer)?;
    copy(writer, src, dst, bytes)?;
    write_back(writer)?;
    fence(writer, fence_addr, value)
}

/// How many dwords [`copy_fence`] writes.
///
/// # Errors
/// When a range wraps around.
pub fn copy_fence_dwords(
    src: u64,
    dst: u64,
    bytes: u64,
    version: Version,
) -> Result<u64, RangeError> {
    let other =
        Fence::LAYOUT.dwords + if version.limits().gcr { dwords_of(GcrUser::LAYOUT, 2) } else { 0 };
    Ok(split::copy(src, dst, bytes, version)?.dwords().saturating_add(other as u64))
}
