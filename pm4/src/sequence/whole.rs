//! Sequences that are written whole or not at all.

use crate::generation::{Generation, generations};
use crate::layout::{FieldError, Sink, WriteError, Writer};
use crate::packet::PredExec;

/// Dwords of the longest sequence: a dispatch with scratch for 8 XCCs has 101.
const LONGEST: usize = 128;

/// Writes what `packets` writes once all of it is known to be right and there is room for it.
#[inline]
pub(super) fn whole<S: Sink>(
    to: &mut Writer<S, Generation>,
    what: &'static str,
    packets: impl FnOnce(&mut Writer<&mut [u32], Generation>) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let mut words = [0; LONGEST];
    let mut writer = Writer::new(&mut words[..], to.variant());
    packets(&mut writer)?;
    let written = writer.written();
    to.append(what, words.get(..written).unwrap_or_default())
}

/// Has only the first of a partition's XCCs execute what `packets` writes, up to 126 dwords; where there is one
/// XCC, just writes it.
///
/// Every XCC executes the packets of a queue. Without this each would write a fence or a timestamp, the fastest
/// first, and each would interrupt:
///
/// ```
/// use pm4::Generation;
/// use pm4::layout::Writer;
/// use pm4::sequence::{self, Scope};
///
/// let mut buffer = [0; 16];
/// let mut packets = Writer::new(&mut buffer[..], Generation::Gfx94x);
/// sequence::on_first_xcc(&mut packets, 8, |packets| {
///     sequence::fence(packets, Scope::System, 0x7f00_0003_0000, 1)
/// })?;
/// assert_eq!(packets.written(), 10);
/// # Ok::<(), pm4::layout::WriteError>(())
/// ```
///
/// PRED_EXEC, which does this, works in indirect buffers only. A fence written so is about the work and the
/// caches of the first XCC. That the others are done has to be seen to before: tinygrad, of which this form is
/// (`AMDComputeQueue.signal`), ends each dispatch with EVENT_WRITE CS_PARTIAL_FLUSH
/// ([`EventWrite::CS_PARTIAL_FLUSH`](crate::packet::EventWrite::CS_PARTIAL_FLUSH)) on every XCC and leaves the
/// rest to the queue of AQL packets that calls the buffer. No source says more.
///
/// # Errors
/// What `packets` returns, when `xccs` is not 1 to 8 (1 but for gfx94x and gfx950), or when there is no room.
pub fn on_first_xcc<S: Sink>(
    to: &mut Writer<S, Generation>,
    xccs: u8,
    packets: impl FnOnce(&mut Writer<&mut [u32], Generation>) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    check_xccs("PRED_EXEC", "xccs", xccs, to.variant())?;
    if xccs == 1 {
        return whole(to, "packets of an XCC", packets);
    }
    let mut words = [0; LONGEST - PredExec::LAYOUT.dwords];
    let mut writer = Writer::new(&mut words[..], to.variant());
    packets(&mut writer)?;
    let written = writer.written();
    whole(to, "PRED_EXEC and its packets", |to| {
        to.push(&only_on(0, written as u16))?;
        to.append("packets of an XCC", words.get(..written).unwrap_or_default())
    })
}

/// Has one XCC alone execute the next dwords.
pub(super) const fn only_on(xcc: u8, dwords: u16) -> PredExec {
    let device_select = if xcc < 8 { 1 << xcc } else { 0 };
    PredExec { device_select, exec_count: dwords, ..PredExec::ZERO }
}

/// Refuses a number of XCCs that no partition has.
pub(super) fn check_xccs(
    packet: &'static str,
    field: &'static str,
    xccs: u8,
    generation: Generation,
) -> Result<(), FieldError> {
    let max = if generation.is_in(generations::GFX94X_ON) { 8 } else { 1 };
    match xccs {
        1..=8 if xccs <= max => Ok(()),
        _ => Err(FieldError::Range { packet, field, value: xccs.into(), min: 1, max: max.into() }),
    }
}

/// Refuses an address that has other bits than those.
pub(super) fn check_address(
    packet: &'static str,
    field: &'static str,
    value: u64,
    bits: u64,
) -> Result<(), FieldError> {
    match value & !bits {
        0 => Ok(()),
        _ => Err(FieldError::Unfit { packet, field, value, bits, bias: 0 }),
    }
}
