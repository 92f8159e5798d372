//! Streams: packets one after the other.

use crate::packet;
use crate::version::Version;
use core::fmt;
use core::iter::FusedIterator;
use pm4::layout::{Layout, show};

/// Splits dwords into packets.
///
/// SDMA packets do not say how long they are: the opcode does, and for some a count. A packet that is not known
/// ends the iteration therefore, as does one that is cut off: nothing says where the next one would be.
///
/// ```
/// use sdma::{Packets, StreamError, Version};
///
/// // A NOP that skips a dword, FENCE, and an opcode that there is not.
/// let words = [0x1_0000, 0xdead, 0x5, 0x1000, 0, 7, 0xff];
/// let mut packets = Packets::new(Version::V4_0, &words);
/// let nop = packets.next().unwrap().unwrap();
/// assert_eq!((nop.offset, nop.words.len()), (0, 2));
/// let fence = packets.next().unwrap().unwrap();
/// assert_eq!(fence.to_string(), "FENCE addr=0x1000 data=7");
/// let fault = packets.next().unwrap().unwrap_err();
/// assert_eq!(fault, StreamError::Unknown { offset: 6, header: 0xff, version: Version::V4_0 });
/// assert!(packets.next().is_none());
/// ```
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    version: Version,
    words: &'a [u32],
    offset: usize,
}

impl<'a> Packets<'a> {
    /// The packets in `words`, which start with one.
    pub const fn new(version: Version, words: &'a [u32]) -> Packets<'a> {
        Packets { version, words, offset: 0 }
    }

    /// Dwords before the next packet; where the iteration stopped, once it has.
    pub const fn offset(&self) -> usize {
        self.offset
    }
}

impl<'a> Iterator for Packets<'a> {
    type Item = Result<RawPacket<'a>, StreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (offset, version, rest) = (self.offset, self.version, self.words);
        let header = *rest.first()?;
        self.words = &[];
        let Some(layout) = packet::layout(version, header) else {
            return Some(Err(StreamError::Unknown { offset, header, version }));
        };
        let truncated = |needed| StreamError::Truncated {
            offset,
            header,
            packet: layout.name,
            needed,
            got: rest.len(),
        };
        if rest.len() < layout.dwords {
            return Some(Err(truncated(layout.dwords)));
        }
        let Some(needed) = packet::dwords(layout, version, rest) else {
            return Some(Err(StreamError::Length { offset, header, packet: layout.name }));
        };
        let Some((words, rest)) = rest.split_at_checked(needed) else {
            return Some(Err(truncated(needed)));
        };
        (self.words, self.offset) = (rest, offset + needed);
        Some(Ok(RawPacket { offset, version, words }))
    }
}

impl FusedIterator for Packets<'_> {}

/// Where a stream stops being one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StreamError {
    /// The dwords end before the packet does.
    Truncated {
        /// Dwords before the packet.
        offset: usize,
        /// Its first dword.
        header: u32,
        /// Its layout's name.
        packet: &'static str,
        /// Its length in dwords, or the least that it can be when too few are there to tell.
        needed: usize,
        /// The dwords that are left.
        got: usize,
    },
    /// The version has no such packet.
    Unknown {
        /// Dwords before the packet.
        offset: usize,
        /// Its first dword.
        header: u32,
        /// The version.
        version: Version,
    },
    /// The packet is known and its length is not ([`packet::dwords`]).
    Length {
        /// Dwords before the packet.
        offset: usize,
        /// Its first dword.
        header: u32,
        /// Its layout's name.
        packet: &'static str,
    },
}

impl StreamError {
    /// Dwords before the packet that is wrong.
    pub const fn offset(&self) -> usize {
        match *self {
            StreamError::Truncated { offset, .. }
            | StreamError::Unknown { offset, .. }
            | StreamError::Length { offset, .. } => offset,
        }
    }

    /// Its first dword.
    pub const fn header(&self) -> u32 {
        match *self {
            StreamError::Truncated { header, .. }
            | StreamError::Unknown { header, .. }
            | StreamError::Length { header, .. } => header,
        }
    }
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = self.header();
        write!(f, "packet at dword {}: ", self.offset())?;
        match *self {
            StreamError::Truncated { packet, needed, got, .. } => {
                write!(f, "{packet}, header {header:#010x}, needed {needed} dwords, got {got}")
            }
            StreamError::Unknown { version, .. } => {
                let [op, sub_op, ..] = header.to_le_bytes();
                write!(f, "header {header:#010x}: {version} has no opcode {op:#04x}")?;
                match packet::opcode_name(version, op) {
                    Some(name) => write!(f, " ({name}) with sub-opcode {sub_op:#04x}"),
                    None => Ok(()),
                }
            }
            StreamError::Length { packet, .. } => {
                write!(f, "{packet}, header {header:#010x}: its length is not published")
            }
        }
    }
}

impl core::error::Error for StreamError {}

/// One packet of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawPacket<'a> {
    /// Dwords before it.
    pub offset: usize,
    /// The engines that it is for.
    pub version: Version,
    /// All its dwords.
    pub words: &'a [u32],
}

impl RawPacket<'_> {
    /// Its first dword.
    pub fn header(&self) -> u32 {
        self.words.first().copied().unwrap_or(0)
    }

    /// Its layout. A packet of a stream has one; one made by hand may not.
    pub fn layout(&self) -> Option<&'static Layout> {
        packet::layout(self.version, self.header())
            .filter(|layout| layout.dwords <= self.words.len())
    }

    /// The name of its layout, or AMD's of the opcode.
    pub fn name(&self) -> Option<&'static str> {
        let [opcode, ..] = self.header().to_le_bytes();
        match self.layout() {
            Some(layout) => Some(layout.name),
            None => packet::opcode_name(self.version, opcode),
        }
    }

    /// The dwords behind those of the layout.
    pub fn payload(&self) -> &[u32] {
        self.layout().and_then(|layout| self.words.get(layout.dwords..)).unwrap_or(&[])
    }
}

/// One line: the packet and its fields.
impl fmt::Display for RawPacket<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.layout(), self.name()) {
            (Some(layout), _) => show(f, layout, self.words, self.version.set()),
            (None, Some(name)) => write!(f, "{name} ({} dwords)", self.words.len()),
            (None, None) => {
                write!(f, "opcode {:#04x} ({} dwords)", self.header() & 0xff, self.words.len())
            }
        }
    }
}
