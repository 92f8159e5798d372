//! What a decoding found, as data: docs/DECODE.md describes the JSON.

use super::stream::Packets;
use pm4::layout::{self, Layout, Shown, Variants};
use serde::{Serialize, Serializer};

/// A number that is written `"0x1f"`: words, addresses and values may have more bits than a reader of JSON keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hex(pub u64);

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:#x}", self.0))
    }
}

/// The kind of a ring's part between its pointers.
pub(super) const IN_FLIGHT: &str = "in flight";
/// The kind of a ring's part that holds nothing yet.
pub(super) const UNWRITTEN: &str = "unwritten";

/// All that was found.
#[derive(Clone, Debug, Serialize)]
pub struct Report<'a> {
    /// Version of this description: 1.
    pub schema: u32,
    /// The file.
    pub input: String,
    /// The engine that reads it.
    pub engine: &'static str,
    /// The processor asked for.
    pub gfx: String,
    /// Its generation.
    pub generation: String,
    /// The version of its SDMA engines.
    pub sdma: &'static str,
    /// The ring, if the input is one.
    pub ring: Option<Ring>,
    /// The input, or the parts of the ring; then the indirect buffers reached from there.
    pub streams: Vec<Stream<'a>>,
}

/// A ring and its pointers.
#[derive(Clone, Debug, Serialize)]
pub struct Ring {
    /// What the pointers count: "dwords", "bytes" or "packets".
    pub unit: &'static str,
    /// Size of the ring in units.
    pub size: u64,
    /// The read pointer as given.
    pub read_pointer: Hex,
    /// The write pointer as given.
    pub write_pointer: Hex,
    /// Where in the ring the read pointer is, in dwords.
    pub read_offset: usize,
    /// Where in the ring the write pointer is, in dwords.
    pub write_offset: usize,
    /// Units between the pointers.
    pub in_flight: u64,
    /// The packet that the read pointer seems to be inside of.
    pub inside: Option<Inside>,
}

/// A packet with the read pointer inside it, as far as the packets around it tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inside {
    /// Where in the ring the packet starts, in dwords.
    pub offset: usize,
    /// Its length.
    pub dwords: usize,
    /// Its name.
    pub name: String,
    /// Its dwords that are before the read pointer.
    pub read: usize,
}

/// A row of packets.
#[derive(Clone, Debug, Serialize)]
pub struct Stream<'a> {
    /// What it is: "input", "in flight", "read" or "unwritten" of a ring, "indirect buffer".
    pub kind: &'static str,
    /// The engine that reads it.
    pub engine: &'static str,
    /// Address of the first dword.
    pub address: Hex,
    /// Its length in dwords.
    pub dwords: usize,
    /// How many calls deep it is.
    pub depth: usize,
    /// Dwords at the start that are the end of a packet whose start is overwritten.
    pub skipped: usize,
    /// The packets.
    pub packets: Packets<'a>,
    /// Where it stops being a stream, if it does.
    pub fault: Option<Fault>,
}

/// A packet.
#[derive(Clone, Debug, Serialize)]
pub struct Packet {
    /// Dwords before it in the input, the ring or the buffer.
    pub offset: usize,
    /// Its address.
    pub address: Hex,
    /// Its dwords.
    pub words: Vec<Hex>,
    /// AMD's name, or what is known instead of one.
    pub name: String,
    /// Whether its fields are known.
    pub known: bool,
    /// What it does.
    pub meaning: String,
    /// Its fields.
    pub fields: Vec<Field>,
    /// Bits that are set where no field is.
    pub reserved: Vec<Reserved>,
    /// Dwords behind its fields that are data.
    pub payload: usize,
    /// The registers it writes.
    pub registers: Vec<RegisterWrite>,
    /// The indirect buffers it calls.
    pub calls: Vec<Call>,
    /// What else is worth saying.
    pub notes: Vec<String>,
}

/// A field.
#[derive(Clone, Debug, Serialize)]
pub struct Field {
    /// Its name: AMD's, in lower case.
    pub name: &'static str,
    /// Its value, in the units of its meaning.
    pub value: Hex,
    /// The value's name, if it has one.
    pub value_name: Option<&'static str>,
    /// Whether it is one bit that says yes or no.
    pub flag: bool,
    /// What it means.
    pub meaning: String,
    /// The value as people read it.
    #[serde(skip)]
    pub text: String,
}

/// Bits that are set and have no meaning.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Reserved {
    /// Which dword of the packet or register.
    pub dword: usize,
    /// The bits.
    pub bits: Hex,
}

/// A register that a packet writes.
#[derive(Clone, Debug, Serialize)]
pub struct RegisterWrite {
    /// Which dword of the packet the value is.
    pub dword: usize,
    /// The register's address in dwords.
    pub address: Hex,
    /// AMD's name; none if the register is not known.
    pub name: Option<String>,
    /// What is written.
    pub value: Hex,
    /// The register's fields.
    pub fields: Vec<Field>,
    /// Bits that are set where no field is.
    pub reserved: Vec<Reserved>,
}

/// An indirect buffer that a packet calls.
#[derive(Clone, Debug, Serialize)]
pub struct Call {
    /// The engine that reads it.
    pub engine: &'static str,
    /// Where it is.
    pub address: Hex,
    /// Its length in dwords.
    pub dwords: usize,
    /// Whether the stream goes on there and does not come back.
    pub chain: bool,
    /// What became of following it.
    pub followed: Followed,
}

/// What became of following a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Followed {
    /// It is decoded: the index among the report's streams.
    Decoded {
        /// The stream.
        stream: usize,
    },
    /// It is decoded, and leads back to the call: the index among the report's streams.
    Cycle {
        /// The stream.
        stream: usize,
    },
    /// Nothing says what is in memory there, or not of all of it.
    Missing {
        /// Dwords from the start that are known.
        known_dwords: usize,
    },
    /// It has no dwords, so there is nothing to follow.
    Empty,
    /// More calls deep, more buffers or more dwords than are followed.
    Limit {
        /// Which limit.
        limit: &'static str,
    },
}

/// Where a stream stops being one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// Dwords before it, as of a packet.
    pub offset: usize,
    /// Its address.
    pub address: Hex,
    /// The dword there.
    pub word: Hex,
    /// The dwords from there to the end of the stream, the first 64 of them.
    pub words: Vec<Hex>,
    /// Dwords that the packet needs, if it is known.
    pub needed: Option<usize>,
    /// Dwords that are left.
    pub got: usize,
    /// What is wrong.
    pub problem: String,
}

/// The first sentence of a documentation comment, without its markup.
pub fn sentence(doc: &str) -> String {
    let paragraph = doc.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    let text = words.join(" ");
    let end = text.match_indices(". ").map(|(at, _)| at).next().unwrap_or(text.len());
    let text = text.get(..end).unwrap_or_default().trim_end_matches('.');
    // [`Type::NAME`](target) becomes NAME.
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, (inside, after))) =
        rest.split_once("[`").and_then(|(before, link)| Some((before, link.split_once("`]")?)))
    {
        plain.push_str(before);
        plain.push_str(inside.rsplit("::").next().unwrap_or(inside));
        let target = after.strip_prefix('(').and_then(|target| target.split_once(')'));
        rest = target.map_or(after, |(_, after)| after);
    }
    plain.push_str(rest);
    plain.replace("**", "").replace('`', "")
}

/// The fields of words by a layout, and bits that are set outside them.
pub fn fields(
    layout: &'static Layout,
    words: &[u32],
    variant: Variants,
) -> (Vec<Field>, Vec<Reserved>) {
    let field = |field: &'static layout::Field| {
        let value = field.read(words, variant)?;
        let named = field.names.iter().find(|(named, _)| *named == value).map(|(_, name)| *name);
        let text = match named {
            Some(name) if value < 10 => format!("{name} ({value})"),
            Some(name) => format!("{name} ({value:#x})"),
            None if field.flag => if value == 0 { "no" } else { "yes" }.to_owned(),
            None => Shown { field, value }.to_string(),
        };
        Some(Field {
            name: field.name,
            value: Hex(value),
            value_name: named,
            flag: field.flag,
            meaning: sentence(field.doc),
            text,
        })
    };
    let reserved = words.iter().take(layout.dwords).enumerate().filter_map(|(dword, word)| {
        let bits = word & !layout.known_bits(dword, variant);
        (bits != 0).then_some(Reserved { dword, bits: Hex(bits.into()) })
    });
    (layout.fields.iter().filter_map(field).collect(), reserved.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_sentences() {
        assert_eq!(sentence(" Number of bytes; at\n least 1.\n"), "Number of bytes; at least 1");
        assert_eq!(sentence(" One. Two.\n"), "One");
        assert_eq!(sentence(" One\n two.\n\n Three.\n"), "One two");
        assert_eq!(sentence(""), "");
        assert_eq!(
            sentence(" **All** of [`Event::A`] or [`b`](crate::b), `c`.\n"),
            "All of A or b, c"
        );
        assert_eq!(sentence(" Open [`link.\n"), "Open [link");
    }
}
