//! Streams: packets one after the other, and what of them reaches beyond a packet: registers written and
//! indirect buffers called.

use crate::generation::{Generation, generations};
use crate::header::Header;
use crate::layout::{Layout, show};
use crate::packet::{self, CondIndirectBuffer, CondIndirectBufferMode};
use crate::register::{self, Register};
use core::fmt;
use core::iter::FusedIterator;

/// Splits dwords into packets.
///
/// What a packet holds is not looked at for where the next one starts: only its header is, so the body of a NOP is
/// never taken for packets. A fault ends the iteration, as nothing says where the next packet would be.
///
/// ```
/// use pm4::{Generation, Packets, StreamError};
///
/// let words = [0xc001_1000, 0xc006_4900, 0, 0xffff_1000, 0xc006_4900, 0x0600_0528];
/// let mut packets = Packets::new(Generation::Gfx115, &words);
/// let nop = packets.next().unwrap().unwrap();
/// assert_eq!((nop.offset, nop.words), (0, &words[..3]));
/// let filler = packets.next().unwrap().unwrap();
/// assert_eq!((filler.offset, filler.words.len()), (3, 1));
/// let fault = packets.next().unwrap().unwrap_err();
/// assert!(matches!(fault, StreamError::Truncated { offset: 4, needed: 8, got: 2, .. }));
/// assert!(packets.next().is_none());
/// ```
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    generation: Generation,
    words: &'a [u32],
    offset: usize,
}

impl<'a> Packets<'a> {
    /// The packets in `words`, the first of which is a header.
    pub const fn new(generation: Generation, words: &'a [u32]) -> Packets<'a> {
        Packets { generation, words, offset: 0 }
    }

    /// Dwords before the next packet; where the iteration stopped, once it has.
    pub const fn offset(&self) -> usize {
        self.offset
    }
}

impl<'a> Iterator for Packets<'a> {
    type Item = Result<RawPacket<'a>, StreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.offset;
        let rest = self.words;
        let header = Header(*rest.first()?);
        let fault = match header.dwords() {
            Some(needed) => match rest.split_at_checked(needed) {
                Some((words, rest)) => {
                    (self.words, self.offset) = (rest, offset + needed);
                    return Some(Ok(RawPacket { offset, generation: self.generation, words }));
                }
                None => StreamError::Truncated {
                    offset,
                    header,
                    generation: self.generation,
                    needed,
                    got: rest.len(),
                },
            },
            None => StreamError::Reserved { offset, header },
        };
        self.words = &[];
        Some(Err(fault))
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
        /// Its header.
        header: Header,
        /// The hardware that it is for.
        generation: Generation,
        /// Its length in dwords.
        needed: usize,
        /// The dwords that are left.
        got: usize,
    },
    /// A header of type 1, which no hardware has.
    Reserved {
        /// Dwords before it.
        offset: usize,
        /// The header.
        header: Header,
    },
}

impl StreamError {
    /// Dwords before the packet that is wrong.
    pub const fn offset(&self) -> usize {
        match *self {
            StreamError::Truncated { offset, .. } | StreamError::Reserved { offset, .. } => offset,
        }
    }

    /// Its header.
    pub const fn header(&self) -> Header {
        match *self {
            StreamError::Truncated { header, .. } | StreamError::Reserved { header, .. } => header,
        }
    }
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            StreamError::Truncated { offset, header, generation, needed, got } => {
                write!(f, "packet at dword {offset}: ")?;
                match header.packet_type() {
                    3 => match packet::opcode_name(header.opcode(), generation) {
                        Some(name) => write!(f, "{name} (opcode {:#04x})", header.opcode())?,
                        None => write!(f, "opcode {:#04x}", header.opcode())?,
                    },
                    other => write!(f, "type {other}")?,
                }
                write!(f, ", header {:#010x}, needed {needed} dwords, got {got}", header.0)
            }
            StreamError::Reserved { offset, header } => write!(
                f,
                "packet at dword {offset}: needed a header of type 0, 2 or 3, got {:#010x}, of type 1",
                header.0
            ),
        }
    }
}

impl core::error::Error for StreamError {}

/// One packet of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawPacket<'a> {
    /// Dwords before it.
    pub offset: usize,
    /// The hardware that it is for.
    pub generation: Generation,
    /// All its dwords, header first.
    pub words: &'a [u32],
}

impl<'a> RawPacket<'a> {
    /// Its header.
    pub fn header(&self) -> Header {
        Header(self.words.first().copied().unwrap_or(0))
    }

    /// Its layout, if there is one that is no longer than it.
    pub fn layout(&self) -> Option<&'static Layout> {
        packet::layout(self.generation, self.words)
            .filter(|layout| layout.dwords <= self.words.len())
    }

    /// AMD's name of what it is: the layout's, or that of the opcode. `None` for unknown opcodes, and for types 0
    /// and 2, which have none.
    pub fn name(&self) -> Option<&'static str> {
        match (self.layout(), self.header().packet_type()) {
            (Some(layout), _) => Some(layout.name),
            (None, 3) => packet::opcode_name(self.header().opcode(), self.generation),
            (None, _) => None,
        }
    }

    /// The registers that it writes by itself: those of the SET packets and of type 0. What is loaded from memory
    /// or computed (LOAD_*, *_RMW, SET_SH_REG_OFFSET) is not among them.
    pub fn writes(&self) -> RegisterWrites<'a> {
        let first = self.words.get(1).copied().unwrap_or(0) & 0xffff;
        let (form, at) = match self.header().packet_type() {
            0 => (Form::Row { address: self.header().0 & 0xffff }, 1),
            3 => match Space::of(self.header().opcode(), self.generation) {
                Some((Set::Row, space)) => (Form::Row { address: space.start() + first }, 2),
                Some((Set::Pairs, space)) => (Form::Pairs { start: space.start() }, 1),
                Some((Set::Packed, space)) => {
                    (Form::Packed { start: space.start(), left: first, second: false }, 2)
                }
                None => (Form::Row { address: 0 }, self.words.len()),
            },
            _ => (Form::Row { address: 0 }, self.words.len()),
        };
        RegisterWrites { generation: self.generation, words: self.words, at, form }
    }

    /// The indirect buffers that it calls or goes on in: one of INDIRECT_BUFFER, up to two of
    /// COND_INDIRECT_BUFFER, which chooses between them or between one and nothing.
    pub fn indirect_buffers(&self) -> impl Iterator<Item = IndirectBuffer> + use<'a> {
        let buffer = |address, dwords, chain| Some(IndirectBuffer { address, dwords, chain });
        let buffers = if let Ok(one) = packet::IndirectBuffer::decode(self.words, self.generation) {
            [buffer(one.ib_base, one.ib_size, one.chain), None]
        } else if let Ok(two) = CondIndirectBuffer::decode(self.words, self.generation) {
            let second = buffer(two.ib_base2, two.ib_size2, false);
            [
                buffer(two.ib_base1, two.ib_size1, false),
                second.filter(|_| two.mode != CondIndirectBufferMode::IF_THEN),
            ]
        } else {
            [None, None]
        };
        buffers.into_iter().flatten()
    }
}

/// One line: the packet, its fields, the registers it writes.
impl fmt::Display for RawPacket<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.header().packet_type(), self.layout(), self.name()) {
            (2, ..) => return f.write_str("filler"),
            (0, ..) => f.write_str("type 0")?,
            (_, Some(layout), _) => show(f, layout, self.words, self.generation.set())?,
            (_, None, Some(name)) => write!(f, "{name} ({} dwords)", self.words.len())?,
            (_, None, None) => {
                write!(f, "opcode {:#04x} ({} dwords)", self.header().opcode(), self.words.len())?;
            }
        }
        for write in self.writes() {
            write!(f, " {write}")?;
        }
        Ok(())
    }
}

/// An indirect buffer, as the packet that calls it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IndirectBuffer {
    /// Where it starts, in bytes.
    pub address: u64,
    /// Its length in dwords.
    pub dwords: u32,
    /// Whether the stream goes on there and does not come back.
    pub chain: bool,
}

/// Ranges of registers that packets count from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Space {
    Config,
    Context,
    Sh,
    Uconfig,
}

/// How a packet lists registers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Set {
    /// An offset, then the values of it and those that follow.
    Row,
    /// Offsets and values in turn.
    Pairs,
    /// A number, then two offsets in a dword and their two values in turn.
    Packed,
}

impl Space {
    const fn start(self) -> u32 {
        match self {
            Space::Config => register::CONFIG_BASE,
            Space::Context => register::CONTEXT_BASE,
            Space::Sh => register::SH_BASE,
            Space::Uconfig => register::UCONFIG_BASE,
        }
    }

    /// What an opcode sets (PAL, IT_SET_*; the numbers of gfx12 differ from those of gfx11).
    const fn of(opcode: u8, generation: Generation) -> Option<(Set, Space)> {
        let gfx11 = generation.is_in(generations::GFX11);
        let gfx12 = generation.is_in(generations::GFX12);
        Some(match opcode {
            0x68 => (Set::Row, Space::Config),
            0x69 | 0x6a => (Set::Row, Space::Context),
            0x76 | 0x9b => (Set::Row, Space::Sh),
            0x79 | 0x7a => (Set::Row, Space::Uconfig),
            0xb8 if gfx11 || gfx12 => (Set::Pairs, Space::Context),
            0xb9 if gfx11 || gfx12 => (Set::Packed, Space::Context),
            0xba if gfx11 || gfx12 => (Set::Pairs, Space::Sh),
            0xbb if gfx11 => (Set::Packed, Space::Sh),
            0xbc if gfx12 => (Set::Packed, Space::Sh),
            0xbd if gfx11 || gfx12 => (Set::Packed, Space::Sh),
            0xbe if gfx12 => (Set::Pairs, Space::Uconfig),
            _ => return None,
        })
    }
}

/// A register that a packet writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterWrite {
    /// Which dword of the packet the value is.
    pub dword: usize,
    /// The register's address in dwords.
    pub address: u32,
    /// What is written.
    pub value: u32,
    /// The register there and which of its row it is, if it is known.
    pub register: Option<(&'static Register, u32)>,
}

impl RegisterWrite {
    /// AMD's name of the register, if it is known.
    pub fn name(&self) -> Option<register::Name> {
        self.register.map(|(register, index)| register.name_at(index))
    }
}

/// Name or address, and value.
impl fmt::Display for RegisterWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => name.fmt(f)?,
            None => write!(f, "{:#x}", self.address)?,
        }
        write!(f, "={:#010x}", self.value)
    }
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Row { address: u32 },
    Pairs { start: u32 },
    Packed { start: u32, left: u32, second: bool },
}

/// The registers that a packet writes, in its order.
#[derive(Clone, Debug)]
pub struct RegisterWrites<'a> {
    generation: Generation,
    words: &'a [u32],
    at: usize,
    form: Form,
}

impl Iterator for RegisterWrites<'_> {
    type Item = RegisterWrite;

    fn next(&mut self) -> Option<RegisterWrite> {
        let at = self.at;
        let (dword, address) = match &mut self.form {
            Form::Row { address } => {
                self.at += 1;
                let this = *address;
                *address += 1;
                (at, this)
            }
            Form::Pairs { start } => {
                self.at += 2;
                (at + 1, *start + (self.words.get(at)? & 0xffff))
            }
            Form::Packed { start, left, second } => {
                *left = left.checked_sub(1)?;
                let offsets = *self.words.get(at)?;
                let this = if *second {
                    self.at += 3;
                    (at + 2, *start + (offsets >> 16))
                } else {
                    (at + 1, *start + (offsets & 0xffff))
                };
                *second = !*second;
                this
            }
        };
        let value = *self.words.get(dword)?;
        let register = register::at(self.generation, address);
        Some(RegisterWrite { dword, address, value, register })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;
    use std::vec::Vec;

    fn packet(words: &[u32]) -> RawPacket<'_> {
        Packets::new(Generation::Gfx115, words).next().unwrap().unwrap()
    }

    fn written(generation: Generation, words: &[u32]) -> Vec<(usize, u32, u32)> {
        let packet = Packets::new(generation, words).next().unwrap().unwrap();
        packet.writes().map(|write| (write.dword, write.address, write.value)).collect()
    }

    #[test]
    fn registers() {
        let gfx11 = |words| written(Generation::Gfx11, words);
        assert_eq!(
            gfx11(&[0xc002_7600, 0x4000_020c, 7, 8]),
            [(2, 0x2e0c, 7), (3, 0x2e0d, 8)],
            "the index above the offset is none of the address"
        );
        assert_eq!(gfx11(&[0xc001_6800, 1, 7]), [(2, 0x2001, 7)]);
        assert_eq!(gfx11(&[0xc001_6900, 1, 7]), [(2, 0xa001, 7)]);
        assert_eq!(gfx11(&[0xc001_7900, 1, 7]), [(2, 0xc001, 7)]);
        assert_eq!(gfx11(&[0xc000_7600, 0x20c]), [], "an offset and no value");
        assert_eq!(gfx11(&[0x0001_2e0c, 7, 8]), [(1, 0x2e0c, 7), (2, 0x2e0d, 8)], "type 0");
        assert_eq!(gfx11(&[0xc003_ba00, 1, 7, 2, 8]), [(2, 0x2c01, 7), (4, 0x2c02, 8)]);
        assert_eq!(gfx11(&[0xc002_ba00, 1, 7, 2]), [(2, 0x2c01, 7)], "half a pair");
        let packed = [0xc007_bb00, 4, 0x0002_0001, 7, 8, 0x0001_0004, 9, 10, 11];
        assert_eq!(
            gfx11(&packed),
            [(3, 0x2c01, 7), (4, 0x2c02, 8), (6, 0x2c04, 9), (7, 0x2c01, 10)],
            "four, and what follows is none"
        );
        assert_eq!(gfx11(&[0xc002_bb00, 9, 0x0002_0001, 7]), [(3, 0x2c01, 7)], "fewer than said");
        assert_eq!(written(Generation::Gfx12, &packed), [], "another number in gfx12");
        assert_eq!(written(Generation::Gfx103, &packed), [], "none before gfx11");
        assert_eq!(
            written(Generation::Gfx12, &[0xc001_be00, 1, 7, 0]),
            [(2, 0xc001, 7)],
            "new in gfx12"
        );
        assert_eq!(gfx11(&[0x8000_0000]), []);
    }

    /// Names of opcodes are held against AMD's headers; what sets registers is told by its name.
    #[test]
    fn packets_that_set_registers_are_known_by_name() {
        let mut told = 0;
        for (generation, opcode) in
            Generation::ALL.into_iter().flat_map(|g| (0..=255).map(move |o| (g, o)))
        {
            let Some(name) = packet::opcode_name(opcode, generation) else {
                assert_eq!(Space::of(opcode, generation), None, "{generation} {opcode:#x}");
                continue;
            };
            let space = [
                ("SET_CONFIG_REG", Space::Config),
                ("SET_CONTEXT_REG", Space::Context),
                ("SET_SH_REG", Space::Sh),
                ("SET_UCONFIG_REG", Space::Uconfig),
            ];
            let space = space.into_iter().find_map(|(start, space)| {
                let set = match name.strip_prefix(start)? {
                    "" | "_INDEX" => Set::Row,
                    "_PAIRS" => Set::Pairs,
                    "_PAIRS_PACKED" | "_PAIRS_PACKED_N" => Set::Packed,
                    _ => return None, // computed, or loaded from memory
                };
                Some((set, space))
            });
            assert_eq!(Space::of(opcode, generation), space, "{generation} {opcode:#x} {name}");
            told += usize::from(space.is_some());
        }
        assert!(told > 70, "{told}");
    }

    #[test]
    fn indirect_buffers() {
        let buffers = |words: &[u32]| packet(words).indirect_buffers().collect::<Vec<_>>();
        assert_eq!(
            buffers(&[0xc002_3f00, 0x4003, 8, 0x0090_0010]),
            [IndirectBuffer { address: 0x8_0000_4000, dwords: 16, chain: true }]
        );
        let mut two = [0; 14];
        two[0] = 0xc00c_3f00;
        two[8..].copy_from_slice(&[0x1000, 1, 0x0010_0003, 0x2000, 2, 4]);
        assert_eq!(
            buffers(&two),
            [
                IndirectBuffer { address: 0x1_0000_1000, dwords: 3, chain: false },
                IndirectBuffer { address: 0x2_0000_2000, dwords: 4, chain: false },
            ]
        );
        two[1] = 1;
        assert_eq!(buffers(&two).len(), 1, "or nothing");
        assert_eq!(buffers(&[0xc001_3f00, 0, 0]), [], "too short");
    }

    #[test]
    fn fillers_and_bodies() {
        let words = [
            0x8000_0000, // type 2
            0xffff_1000, // a NOP of one dword
            0xc001_1000,
            0xc006_4900,
            0x4000_0000, // what a NOP holds is no packet
            0xc000_1000,
            0,
        ];
        let packets: Vec<_> = Packets::new(Generation::Gfx906, &words)
            .map(|packet| packet.map(|packet| (packet.offset, packet.words.len())))
            .collect();
        assert_eq!(packets, [Ok((0, 1)), Ok((1, 1)), Ok((2, 3)), Ok((5, 2))]);
        assert_eq!(packet(&words).to_string(), "filler");
        assert_eq!(packet(&words).name(), None);
    }

    #[test]
    fn faults() {
        let fault = |words: &[u32]| {
            let mut packets = Packets::new(Generation::Gfx115, words);
            let fault = packets.find_map(Result::err).unwrap();
            assert!(packets.next().is_none());
            assert_eq!(packets.offset(), fault.offset());
            fault.to_string()
        };
        assert_eq!(
            fault(&[0x8000_0000, 0x4000_0001]),
            "packet at dword 1: needed a header of type 0, 2 or 3, got 0x40000001, of type 1"
        );
        assert_eq!(
            fault(&[0xc006_1800, 1]),
            "packet at dword 0: opcode 0x18, header 0xc0061800, needed 8 dwords, got 2"
        );
        assert_eq!(
            fault(&[0xc006_3700, 1]),
            "packet at dword 0: WRITE_DATA (opcode 0x37), header 0xc0063700, needed 8 dwords, got 2"
        );
        assert_eq!(
            fault(&[0x0001_2e0c, 1]),
            "packet at dword 0: type 0, header 0x00012e0c, needed 3 dwords, got 2"
        );
    }

    /// Words of which some are headers of short packets with opcodes that exist.
    fn words() -> impl Strategy<Value = Vec<u32>> {
        let header =
            (any::<u8>(), 0u32..12).prop_map(|(opcode, count)| Header::new(opcode, count + 2).0);
        let register = (0u32..8).prop_map(|count| count << 16 | 0x2e0c);
        let word = prop_oneof![header, register, 0u32..16, any::<u32>(), Just(Header::NOP.0)];
        proptest::collection::vec(word, 0..200)
    }

    proptest! {
        #[test]
        fn any_words(words in words(), generation in 0..Generation::ALL.len()) {
            let generation = Generation::ALL[generation];
            let mut packets = Packets::new(generation, &words);
            let mut covered = 0;
            let mut fault = None;
            for packet in packets.by_ref() {
                prop_assert_eq!(fault, None, "nothing follows a fault");
                match packet {
                    Ok(packet) => {
                        prop_assert_eq!(packet.offset, covered);
                        prop_assert_eq!(
                            &words[covered..covered + packet.words.len()],
                            packet.words
                        );
                        covered += packet.words.len();
                        prop_assert!(!packet.words.is_empty());
                        prop_assert!(!packet.to_string().is_empty());
                        prop_assert!(packet.writes().count() <= packet.words.len());
                        for write in packet.writes() {
                            prop_assert_eq!(packet.words[write.dword], write.value);
                        }
                        prop_assert!(packet.indirect_buffers().count() <= 2);
                    }
                    Err(error) => fault = Some(error),
                }
            }
            prop_assert!(packets.next().is_none());
            prop_assert_eq!(packets.offset(), covered);
            match fault {
                None => prop_assert_eq!(covered, words.len()),
                Some(StreamError::Truncated { offset, needed, got, .. }) => {
                    prop_assert_eq!((offset, got), (covered, words.len() - covered));
                    prop_assert!(needed > got);
                }
                Some(fault) => prop_assert_eq!(fault.offset(), covered),
            }
        }
    }
}
