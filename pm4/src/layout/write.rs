//! Writing packets one after the other.

use super::{FieldError, HasPayload, Packet};
use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering};

/// Where dwords go: ordinary memory, or memory that a device can see. What is written is cut off its front.
pub trait Sink {
    /// How many dwords there is room for.
    fn left(&self) -> usize;
    /// Writes a packet and what follows it; `false`, and nothing written, when there is no room for both.
    fn append(&mut self, packet: &[u32], payload: &[u32]) -> bool;
}

impl Sink for &mut [u32] {
    #[inline(always)]
    fn left(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn append(&mut self, packet: &[u32], payload: &[u32]) -> bool {
        let Some(room) = self.split_off_mut(..packet.len() + payload.len()) else { return false };
        let (first, second) = room.split_at_mut(packet.len());
        first.copy_from_slice(packet);
        second.copy_from_slice(payload);
        true
    }
}

/// Relaxed stores: whoever publishes the packets orders them.
impl Sink for &[AtomicU32] {
    #[inline(always)]
    fn left(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn append(&mut self, packet: &[u32], payload: &[u32]) -> bool {
        let Some(room) = self.split_off(..packet.len() + payload.len()) else { return false };
        let (first, second) = room.split_at(packet.len());
        for (place, word) in first.iter().zip(packet) {
            place.store(*word, Ordering::Relaxed);
        }
        for (place, word) in second.iter().zip(payload) {
            place.store(*word, Ordering::Relaxed);
        }
        true
    }
}

/// Why a packet was not written. Nothing of it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WriteError {
    /// There is no room.
    Full {
        /// The packet.
        packet: &'static str,
        /// Its length in dwords.
        needed: usize,
        /// The dwords that are left.
        left: usize,
    },
    /// The packet says another length of what follows it.
    Payload {
        /// The packet.
        packet: &'static str,
        /// The dwords that it says follow.
        needed: usize,
        /// The dwords given.
        got: usize,
    },
    /// The packet is one that dwords follow.
    NeedsPayload {
        /// The packet.
        packet: &'static str,
    },
    /// A field cannot be encoded.
    Field(FieldError),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            WriteError::Full { packet, needed, left } => {
                write!(f, "{packet}: needed room for {needed} dwords, {left} are left")
            }
            WriteError::Payload { packet, needed, got } => {
                write!(f, "{packet}: says that {needed} dwords follow it, got {got}")
            }
            WriteError::NeedsPayload { packet } => {
                write!(f, "{packet}: dwords follow it; needed push_with, got push")
            }
            WriteError::Field(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            WriteError::Field(error) => Some(error),
            _ => None,
        }
    }
}

impl From<FieldError> for WriteError {
    fn from(error: FieldError) -> WriteError {
        WriteError::Field(error)
    }
}

/// Writes packets for one hardware variant one after the other.
///
/// Each packet is checked first; what would be wrong is refused and nothing of it written.
#[derive(Debug)]
pub struct Writer<S, V> {
    sink: S,
    written: usize,
    variant: V,
}

impl<S: Sink, V: Copy> Writer<S, V> {
    /// A writer that starts at the sink's first dword.
    #[inline(always)]
    pub fn new(sink: S, variant: V) -> Writer<S, V> {
        Writer { sink, written: 0, variant }
    }

    /// What is written for.
    pub fn variant(&self) -> V {
        self.variant
    }

    /// How many dwords were written.
    #[inline(always)]
    pub fn written(&self) -> usize {
        self.written
    }

    /// How many dwords there is room for.
    #[inline(always)]
    pub fn left(&self) -> usize {
        self.sink.left()
    }

    /// Writes a packet that nothing follows.
    ///
    /// # Errors
    /// When a field does not fit, there is no room, or the packet is one with a payload.
    #[inline(always)]
    pub fn push<P: Packet<Variant = V>>(&mut self, packet: &P) -> Result<(), WriteError> {
        if P::LAYOUT.payload {
            return Err(WriteError::NeedsPayload { packet: P::LAYOUT.name });
        }
        self.store(packet, &[], Ok(()))
    }

    /// Writes packets that another writer made, all or none of them. `what` they are is for the error.
    pub(crate) fn append(&mut self, what: &'static str, words: &[u32]) -> Result<(), WriteError> {
        let needed = words.len();
        if !self.sink.append(words, &[]) {
            return Err(WriteError::Full { packet: what, needed, left: self.sink.left() });
        }
        self.written += needed;
        Ok(())
    }

    /// Writes a packet and what follows it.
    ///
    /// # Errors
    /// When a field does not fit, there is no room, or the packet says another length.
    #[inline(always)]
    pub fn push_with<P>(&mut self, packet: &P, payload: &[u32]) -> Result<(), WriteError>
    where
        P: HasPayload<Variant = V>,
    {
        let (needed, got) = (packet.payload(), payload.len());
        if needed != got {
            return Err(WriteError::Payload { packet: P::LAYOUT.name, needed, got });
        }
        self.store(packet, payload, packet.check_payload())
    }

    #[inline(always)]
    fn store<P: Packet<Variant = V>>(
        &mut self,
        packet: &P,
        payload: &[u32],
        length: Result<(), FieldError>,
    ) -> Result<(), WriteError> {
        if !packet.fits(self.variant) {
            return Err(refusal(*packet, self.variant));
        }
        length?;
        let words = packet.to_words(self.variant);
        let needed = P::LAYOUT.dwords + payload.len();
        if !self.sink.append(words.as_ref(), payload) {
            return Err(WriteError::Full {
                packet: P::LAYOUT.name,
                needed,
                left: self.sink.left(),
            });
        }
        self.written += needed;
        Ok(())
    }
}

#[cold]
#[inline(never)]
fn refusal<P: Packet>(packet: P, variant: P::Variant) -> WriteError {
    match packet.check(variant) {
        Err(error) => WriteError::Field(error),
        Ok(()) => WriteError::Field(FieldError::NoSuchPacket { packet: P::LAYOUT.name }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Generation;
    use crate::packet::{DispatchDirect, SetShReg};

    #[test]
    fn writes_one_after_the_other() {
        let mut words = [0xa5a5_a5a5; 10];
        let mut writer = Writer::new(&mut words[..], Generation::Gfx115);
        writer.push_with(&SetShReg::new(0x2e12, 2), &[1, 2]).unwrap();
        writer.push(&DispatchDirect::new([3, 4, 5], 6)).unwrap();
        assert_eq!((writer.written(), writer.left()), (9, 1));
        let error = writer.push(&DispatchDirect::new([1; 3], 1)).unwrap_err();
        assert_eq!(error, WriteError::Full { packet: "DISPATCH_DIRECT", needed: 5, left: 1 });
        assert_eq!((writer.written(), writer.left()), (9, 1));
        assert_eq!(words, [0xc002_7600, 0x212, 1, 2, 0xc003_1500, 3, 4, 5, 6, 0xa5a5_a5a5]);
    }

    #[test]
    fn device_memory_holds_the_same_words() {
        let words = [const { AtomicU32::new(0xa5a5_a5a5) }; 5];
        let mut writer = Writer::new(&words[..], Generation::Gfx115);
        writer.push_with(&SetShReg::new(0x2e12, 2), &[1, 2]).unwrap();
        let error = writer.push_with(&SetShReg::new(0x2e12, 1), &[1]).unwrap_err();
        assert_eq!(error, WriteError::Full { packet: "SET_SH_REG", needed: 3, left: 1 });
        let words = words.map(AtomicU32::into_inner);
        assert_eq!(words, [0xc002_7600, 0x212, 1, 2, 0xa5a5_a5a5]);
    }

    #[test]
    fn a_refused_packet_leaves_nothing() {
        let mut words = [0; 8];
        let mut writer = Writer::new(&mut words[..], Generation::Gfx115);
        let packet = SetShReg::new(0x2e12, 2);
        assert_eq!(
            writer.push_with(&packet, &[1]),
            Err(WriteError::Payload { packet: "SET_SH_REG", needed: 2, got: 1 })
        );
        assert_eq!(writer.push(&packet), Err(WriteError::NeedsPayload { packet: "SET_SH_REG" }));
        let elsewhere = SetShReg::new(0xc000, 1);
        assert!(matches!(
            writer.push_with(&elsewhere, &[1]),
            Err(WriteError::Field(FieldError::Unfit { field: "reg_offset", .. }))
        ));
        assert_eq!(writer.written(), 0);
        assert_eq!(words, [0; 8]);
    }
}
