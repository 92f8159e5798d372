//! The report as text for people.

use super::report::{
    Call, Fault, Field, Followed, Hex, Inside, Packet, Report, Reserved, Ring, Stream,
};
use std::fmt::{self, Display, Formatter, Write};

/// Lines of raw dwords of one packet that are printed, and dwords in a line.
const RAW_LINES: usize = 8;
const RAW_WORDS: usize = 8;

/// A number of dwords.
struct Dwords(usize);

impl Display for Dwords {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} dword{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}

impl Report<'_> {
    /// What is wrong with the streams, one message each.
    pub fn faults(&self) -> Vec<String> {
        let faulty =
            self.streams.iter().filter_map(|stream| Some((stream, stream.fault.as_ref()?)));
        let message = |(stream, fault): (&Stream<'_>, &Fault)| {
            let place = match stream.kind {
                "indirect buffer" => format!("indirect buffer at {:#x}", stream.address.0),
                _ => self.input.clone(),
            };
            format!("{place}: dword {} (address {:#x}): {fault}", fault.offset, fault.address.0)
        };
        faulty.map(message).collect()
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}: {}", self.word.0, self.problem)
    }
}

impl Display for Report<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} of {}", self.input, self.engine, self.gfx)?;
        match self.engine {
            "sdma" => writeln!(f, " (SDMA {})", self.sdma)?,
            _ => writeln!(f, " ({})", self.generation)?,
        }
        if let Some(ring) = &self.ring {
            writeln!(f, "{ring}")?;
        }
        for (index, stream) in self.streams.iter().enumerate() {
            f.write_char('\n')?;
            print_stream(f, index, stream)?;
            if let Some(ring) = &self.ring {
                match stream.kind {
                    "read" => writeln!(f, "\n==> read pointer {:#x}", ring.read_pointer.0)?,
                    "in flight" => writeln!(f, "\n==> write pointer {:#x}", ring.write_pointer.0)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

impl Display for Ring {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Ring { unit, size, read_offset, write_offset, in_flight, .. } = self;
        writeln!(f, "ring of {size:#x} {unit}, {in_flight:#x} in flight")?;
        let (read, write) = (self.read_pointer.0, self.write_pointer.0);
        write!(f, "  read pointer   {read:#x} {unit}: dword {read_offset}")?;
        match &self.inside {
            Some(inside) => writeln!(f, ", which seems to be {inside}")?,
            None => writeln!(f)?,
        }
        write!(f, "  write pointer  {write:#x} {unit}: dword {write_offset}")
    }
}

impl Display for Inside {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Inside { offset, dwords, name, read } = self;
        let (read, dwords) = (Dwords(*read), Dwords(*dwords));
        write!(f, "{read} inside {name}, {dwords} from dword {offset} on")
    }
}

fn print_stream(f: &mut Formatter<'_>, index: usize, stream: &Stream<'_>) -> fmt::Result {
    let Stream { kind, engine, .. } = stream;
    let dwords = Dwords(stream.dwords);
    let address = stream.address.0;
    match *kind {
        "indirect buffer" => {
            writeln!(f, "stream {index}: indirect buffer, {engine}, {dwords} at {address:#x}")?;
        }
        _ => writeln!(f, "stream {index}: {kind}, {dwords} at {address:#x}")?,
    }
    if stream.skipped > 0 {
        let skipped = Dwords(stream.skipped);
        writeln!(f, "  (before it {skipped} of a packet whose start is overwritten)")?;
    }
    let packets = &stream.packets;
    let mut raws = packets.raws().peekable();
    while let Some(raw) = raws.next() {
        print_packet(f, &packets.describe(&raw))?;
        let mut same = None;
        let mut count = 0;
        while let Some(next) = raws.next_if(|next| next.words() == raw.words()) {
            (same, count) = (Some(next), count + 1);
        }
        if let Some(last) = same {
            let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
            let last = packets.address(&last);
            writeln!(f, "    the same {times} more, the last at {:#x}", last.0)?;
        }
    }
    match &stream.fault {
        None => Ok(()),
        Some(fault) => {
            writeln!(f, "[{}] {:#x} FAULT", fault.offset, fault.address.0)?;
            print_words(f, &fault.words, fault.got)?;
            writeln!(f, "    {fault}")
        }
    }
}

/// The dwords of a packet, or the first of them.
fn print_words(f: &mut Formatter<'_>, words: &[Hex], count: usize) -> fmt::Result {
    for line in words.chunks(RAW_WORDS).take(RAW_LINES) {
        f.write_str("   ")?;
        for word in line {
            write!(f, " {:08x}", word.0)?;
        }
        f.write_char('\n')?;
    }
    match count.saturating_sub(RAW_LINES * RAW_WORDS) {
        0 => Ok(()),
        more => writeln!(f, "    and {} more", Dwords(more)),
    }
}

/// A line of a packet's description.
struct Row {
    indent: usize,
    name: String,
    value: String,
    meaning: String,
}

fn print_packet(f: &mut Formatter<'_>, packet: &Packet) -> fmt::Result {
    writeln!(f, "[{}] {:#x} {}", packet.offset, packet.address.0, packet.name)?;
    print_words(f, &packet.words, packet.words.len())?;
    let rows = rows(packet);
    let width = |part: fn(&Row) -> usize| rows.iter().map(part).max().unwrap_or(0);
    let names = width(|row| row.indent + row.name.len());
    let values = width(|row| row.value.len());
    for Row { indent, name, value, meaning } in &rows {
        let name = format!("{:indent$}{name}", "");
        let line = format!("      {name:names$}  {value:values$}  {meaning}");
        writeln!(f, "{}", line.trim_end())?;
    }
    for call in &packet.calls {
        writeln!(f, "      -> {call}")?;
    }
    for note in &packet.notes {
        writeln!(f, "      note: {note}")?;
    }
    Ok(())
}

fn rows(packet: &Packet) -> Vec<Row> {
    let mut rows = Vec::new();
    // Of what says which registers are written, only what is out of the ordinary.
    let terse = packet.name.starts_with("SET_");
    push_fields(&mut rows, 0, &packet.fields, &packet.reserved, terse);
    for register in &packet.registers {
        rows.push(Row {
            indent: 0,
            name: match &register.name {
                Some(name) => name.clone(),
                None => format!("register {:#x}", register.address.0),
            },
            value: format!("{:#010x}", register.value.0),
            meaning: String::new(),
        });
        push_fields(&mut rows, 2, &register.fields, &register.reserved, false);
    }
    if packet.payload > 0 {
        rows.push(Row {
            indent: 0,
            name: "payload".to_owned(),
            value: Dwords(packet.payload).to_string(),
            meaning: String::new(),
        });
    }
    rows
}

/// Fields as rows. Flags that are not set say nothing and are left out, as is the length, which the dwords show; terse
/// leaves out every zero.
fn push_fields(
    rows: &mut Vec<Row>,
    indent: usize,
    fields: &[Field],
    reserved: &[Reserved],
    terse: bool,
) {
    let says = |field: &&Field| {
        let zero_says_something = !field.flag && !terse;
        field.name != "dwords" && (field.value.0 != 0 || zero_says_something)
    };
    let fields = fields.iter().filter(says);
    rows.extend(fields.map(|field| Row {
        indent,
        name: field.name.to_owned(),
        value: field.text.clone(),
        meaning: field.meaning.clone(),
    }));
    rows.extend(reserved.iter().map(|reserved| Row {
        indent,
        name: format!("reserved[{}]", reserved.dword),
        value: format!("{:#010x}", reserved.bits.0),
        meaning: "bits without a meaning that are set".to_owned(),
    }));
}

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Call { engine, .. } = self;
        let dwords = Dwords(self.dwords);
        let how = if self.chain { "goes on in" } else { "calls" };
        write!(f, "{how} {dwords} of {engine} at {:#x}: ", self.address.0)?;
        match &self.followed {
            Followed::Decoded { stream } => write!(f, "stream {stream}"),
            Followed::Cycle { stream } => write!(f, "stream {stream}, which leads here: a cycle"),
            Followed::Missing { known_dwords: 0 } => {
                write!(
                    f,
                    "not followed, no memory is given there (--memory FILE@{:#x})",
                    self.address.0
                )
            }
            Followed::Missing { known_dwords } => {
                let known = Dwords(*known_dwords);
                write!(f, "not followed, the memory given holds only {known} of it")
            }
            Followed::Empty => f.write_str("nothing to follow"),
            Followed::Limit { limit } => write!(f, "not followed, the limit of {limit} is reached"),
        }
    }
}
