//! Packets as queues take them, for whoever listens ([`Inspection::packets`](crate::shader::Inspection::packets)).

use super::conductor::QueueAt;
use aql::PACKET_WORDS;
use pm4::Generation;
use pm4::layout::{Layout, Variants};
use pm4::register::ComputeDispatchInitiator;
use sdma::Version;
use std::fmt::{self, Debug, Display, Formatter};

/// Hears of packets. It is called from the threads of queues, before the packet is processed.
pub trait PacketListener: Debug + Send + Sync {
    /// A queue has taken a packet from its ring, or from a buffer that a packet of its ring calls.
    fn taken(&self, packet: &TakenPacket<'_>);
}

/// How the dwords of a packet are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PacketFormat {
    /// AQL.
    Aql,
    /// PM4 of a generation; `None` when packets of the GPU are not known.
    Pm4(Option<Generation>),
    /// SDMA engines of a version.
    Sdma(Version),
}

/// A packet that a queue has taken.
///
/// As text it is one line: whose it is, where it was, its dwords, what they say, and what of that nobody here knows:
///
/// ```text
/// process 0 GPU 0 queue 1 PM4 24 at 0x7f0000000060: c0012800 80000000 80000000 | CONTEXT_CONTROL ...
/// process 0 GPU 0 queue 1 PM4 27 at 0x7f000000006c: c0017600 00000001 00000002 | SET_SH_REG ... | unknown: register 0x2c01
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TakenPacket<'a> {
    /// The process ([`KernelAt::process`](crate::shader::KernelAt::process)).
    pub process: u32,
    /// Index of the GPU on the machine.
    pub gpu: u32,
    /// The KFD's id of the queue.
    pub queue: u32,
    /// The place in the queue's stream of the ring's packet: of AQL its index, of PM4 dwords, of SDMA bytes.
    pub place: u64,
    /// Address of the packet.
    pub address: u64,
    /// Whether it is the ring's packet itself, and not one of an indirect buffer that it calls.
    pub in_ring: bool,
    /// How its dwords are read.
    pub format: PacketFormat,
    /// All its dwords; of one whose length nobody knows, as far as they were read.
    pub words: &'a [u32],
}

impl TakenPacket<'_> {
    /// Which queue it is of.
    pub fn queue_at(&self) -> QueueAt {
        QueueAt { process: self.process, gpu: self.gpu, queue: self.queue }
    }

    /// What the wire crates do not know of it: the packet, registers that it writes, bits without a meaning. Empty when
    /// all of it is known.
    pub fn unknown(&self) -> Vec<String> {
        match self.format {
            PacketFormat::Aql => self.unknown_aql(),
            PacketFormat::Pm4(Some(generation)) => self.unknown_pm4(generation),
            PacketFormat::Pm4(None) => vec![NO_PACKET.to_owned()],
            PacketFormat::Sdma(version) => match self.sdma(version).layout() {
                Some(layout) => unknown_bits(layout, self.words, version.set()).collect(),
                None => vec![NO_PACKET.to_owned()],
            },
        }
    }

    fn aql(&self) -> Option<(aql::Packet, &'static Layout)> {
        let words: &[u32; PACKET_WORDS] = self.words.try_into().ok()?;
        let packet = aql::Packet::decode(words);
        if matches!(packet, aql::Packet::Invalid(_) | aql::Packet::Unknown(_)) {
            return None;
        }
        let layout = aql::LAYOUTS.iter().copied().find(|layout| layout.matches(words[0]))?;
        Some((packet, layout))
    }

    fn unknown_aql(&self) -> Vec<String> {
        match self.aql() {
            Some((_, layout)) => unknown_bits(layout, self.words, Variants::ALL).collect(),
            None => vec![NO_PACKET.to_owned()],
        }
    }

    fn pm4(&self, generation: Generation) -> pm4::RawPacket<'_> {
        pm4::RawPacket { offset: 0, generation, words: self.words }
    }

    fn sdma(&self, version: Version) -> sdma::RawPacket<'_> {
        sdma::RawPacket { offset: 0, version, words: self.words }
    }

    fn unknown_pm4(&self, generation: Generation) -> Vec<String> {
        let raw = self.pm4(generation);
        let mut unknown = Vec::new();
        match (raw.header().packet_type(), raw.layout()) {
            (2, _) => return unknown,
            (3, Some(layout)) => {
                unknown.extend(unknown_bits(layout, self.words, generation.set()));
                if let Some(index) = layout.index("dispatch_initiator")
                    && let Some(value) = layout.fields[index].read(self.words, generation.set())
                {
                    // The register has 32 bits, and so has the field.
                    let register = ComputeDispatchInitiator::REGISTER;
                    unknown.extend(unknown_value(register.layout, value as u32, generation));
                }
            }
            _ => unknown.push(NO_PACKET.to_owned()),
        }
        for write in raw.writes() {
            match write.register {
                Some((register, _)) => {
                    unknown.extend(unknown_value(register.layout, write.value, generation));
                }
                None => unknown.push(format!("register {:#x}", write.address)),
            }
        }
        unknown
    }
}

const NO_PACKET: &str = "packet";

/// Bits of a packet that its layout gives no meaning.
fn unknown_bits<'a>(
    layout: &'static Layout,
    words: &'a [u32],
    variant: Variants,
) -> impl Iterator<Item = String> + use<'a> {
    words.iter().take(layout.dwords).enumerate().filter_map(move |(dword, word)| {
        let bits = word & !layout.known_bits(dword, variant);
        (bits != 0).then(|| format!("bits {bits:#x} of dword {dword}"))
    })
}

/// Bits of a register's value that have no meaning.
fn unknown_value(layout: &Layout, value: u32, generation: Generation) -> Option<String> {
    let bits = value & !layout.known_bits(0, generation.set());
    (bits != 0).then(|| format!("bits {bits:#x} of {}", layout.name))
}

impl Display for TakenPacket<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let TakenPacket { process, gpu, queue, place, address, .. } = self;
        let kind = match self.format {
            PacketFormat::Aql => "AQL",
            PacketFormat::Pm4(_) => "PM4",
            PacketFormat::Sdma(_) => "SDMA",
        };
        let buffer = if self.in_ring { "" } else { " buffer" };
        write!(
            f,
            "process {process} GPU {gpu} queue {queue} {kind} {place}{buffer} at {address:#x}:"
        )?;
        self.words.iter().try_for_each(|word| write!(f, " {word:08x}"))?;
        f.write_str(" | ")?;
        match self.format {
            PacketFormat::Aql => match self.aql() {
                Some((packet, _)) => write!(f, "{packet}")?,
                None => f.write_str("no packet that is known")?,
            },
            PacketFormat::Pm4(Some(generation)) => write!(f, "{}", self.pm4(generation))?,
            PacketFormat::Pm4(None) => f.write_str("PM4 of a GPU whose packets are not known")?,
            PacketFormat::Sdma(version) => write!(f, "{}", self.sdma(version))?,
        }
        let unknown = self.unknown();
        if unknown.is_empty() { Ok(()) } else { write!(f, " | unknown: {}", unknown.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(format: PacketFormat, words: &[u32]) -> TakenPacket<'_> {
        TakenPacket {
            process: 2,
            gpu: 1,
            queue: 3,
            place: 24,
            address: 0x1000,
            in_ring: true,
            format,
            words,
        }
    }

    const GFX11: PacketFormat = PacketFormat::Pm4(Some(Generation::Gfx11));

    #[test]
    fn a_line_tells_all() {
        // SET_SH_REG of COMPUTE_START_X (PAL, IT_SET_SH_REG and mmCOMPUTE_START_X, 0x2e04).
        let words = [0xc001_7600, 0x204, 7];
        let text = packet(GFX11, &words).to_string();
        assert_eq!(
            text,
            "process 2 GPU 1 queue 3 PM4 24 at 0x1000: c0017600 00000204 00000007 | SET_SH_REG \
             dwords=3 reg_offset=0x204 vmid_shift=0 index=DEFAULT COMPUTE_START_X=0x00000007"
        );
    }

    #[test]
    fn what_is_not_known_is_told() {
        let unknown = |format, words: &[u32]| packet(format, words).unknown();
        // An opcode that there is not, a register that is not in the tables, bits of a header.
        assert_eq!(unknown(GFX11, &[0xc000_0100, 0]), ["packet"]);
        assert_eq!(unknown(GFX11, &[0xc001_7600, 0x3ff, 7]), ["register 0x2fff"]);
        assert_eq!(unknown(GFX11, &[0xc001_7680, 0x204, 7]), ["bits 0x80 of dword 0"]);
        assert_eq!(unknown(GFX11, &[0x8000_0000]), [""; 0]);
        assert_eq!(unknown(PacketFormat::Pm4(None), &[0xc001_7600, 0x204, 7]), ["packet"]);
        // An SDMA opcode that there is not, and a NOP.
        let sdma = PacketFormat::Sdma(Version::V6_0);
        assert_eq!(unknown(sdma, &[0xff]), ["packet"]);
        assert_eq!(unknown(sdma, &[0]), [""; 0]);
        // An AQL packet type that there is not, a dispatch of nothing, one with a reserved dword.
        let mut words = [0; PACKET_WORDS];
        words[0] = 9;
        assert_eq!(unknown(PacketFormat::Aql, &words), ["packet"]);
        words[0] = 2;
        assert_eq!(unknown(PacketFormat::Aql, &words), [""; 0]);
        words[12] = 5;
        assert_eq!(unknown(PacketFormat::Aql, &words), ["bits 0x5 of dword 12"]);
        assert!(
            packet(PacketFormat::Aql, &words)
                .to_string()
                .ends_with("| unknown: bits 0x5 of dword 12")
        );
    }
}
