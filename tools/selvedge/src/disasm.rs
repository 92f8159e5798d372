//! `selvedge disasm`.

use crate::Error;
use amdgpu_isa::{Instructions, Target, disassemble};
use selvedge::code::{Archive, CodeError, CodeObject, Entry, Kernel, Segment, Symbol, SymbolKind};
use std::io::{BufWriter, ErrorKind, Write};
use std::ops::Range;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Code object, offload bundle (compressed or not), or host program with one
    file: PathBuf,
    /// Only this kernel
    #[arg(long)]
    kernel: Option<String>,
    /// Only code objects of this target, e.g. gfx1151
    #[arg(long)]
    target: Option<String>,
}

/// A name of a place in the code.
struct Label<'a> {
    offset: u64,
    name: &'a str,
    /// The wave size from here on, where a kernel starts.
    wave: Option<u32>,
}

/// The names of functions, in order of their places.
fn labels(object: &CodeObject) -> Vec<Label<'_>> {
    let functions = object.symbols().iter().filter(|symbol| symbol.kind == SymbolKind::Function);
    let wave = |symbol: &Symbol| {
        let kernel = object.kernels().iter().find(|kernel| kernel.entry_offset() == symbol.offset);
        kernel.map(Kernel::wavefront_size)
    };
    let mut labels: Vec<Label<'_>> = functions
        .map(|symbol| Label { offset: symbol.offset, name: &symbol.name, wave: wave(symbol) })
        .collect();
    labels.sort_by_key(|label| label.offset);
    labels
}

/// The bytes of the image that one kernel's code takes: those of its symbol, or, where that has no size, up to the next
/// function's.
fn extent(object: &CodeObject, name: &str, labels: &[Label<'_>]) -> Result<Range<u64>, CodeError> {
    let start = object.kernel(name)?.entry_offset();
    let is_it = |symbol: &&Symbol| {
        symbol.kind == SymbolKind::Function && symbol.offset == start && symbol.size > 0
    };
    let end = match object.symbols().iter().find(is_it) {
        Some(symbol) => start.saturating_add(symbol.size),
        None => labels.iter().map(|label| label.offset).find(|at| *at > start).unwrap_or(u64::MAX),
    };
    Ok(start..end)
}

/// Prints the code of a segment that is in `range`, with the labels that lie there.
fn segment(
    out: &mut impl Write,
    target: Target,
    segment: &Segment,
    range: &Range<u64>,
    labels: &[Label<'_>],
    wave: &mut u32,
) -> std::io::Result<()> {
    let contents = segment.contents();
    let within = |offset: u64| {
        let distance = usize::try_from(offset.saturating_sub(segment.offset));
        distance.unwrap_or(usize::MAX).min(contents.len())
    };
    let (from, to) = (within(range.start), within(range.end));
    let start = segment.offset + from as u64;
    let mut labels = labels.iter().skip_while(|label| label.offset < start).peekable();
    for (at, result) in Instructions::new(target, &contents[from..to]) {
        let offset = start + at as u64;
        while let Some(label) = labels.next_if(|label| label.offset <= offset) {
            *wave = label.wave.unwrap_or(*wave);
            writeln!(out, "{}:", label.name)?;
        }
        let bytes = contents[from..to].get(at..).unwrap_or_default();
        match result {
            Ok(instruction) => {
                let text = disassemble(&instruction, target, *wave == 32).to_string();
                write!(out, "\t{text:<58} // {offset:06x}:")?;
                for word in bytes.chunks(4).take(usize::from(instruction.size) / 4) {
                    write!(out, " {:08x}", dword(word))?;
                }
                writeln!(out)?;
            }
            Err(error) => {
                let text = format!(".long {:#010x}", dword(bytes));
                writeln!(out, "\t{text:<58} // {offset:06x}: {error}")?;
            }
        }
    }
    Ok(())
}

/// The first four bytes, or what there is of them.
fn dword(bytes: &[u8]) -> u32 {
    let mut word = [0; 4];
    for (place, byte) in word.iter_mut().zip(bytes) {
        *place = *byte;
    }
    u32::from_le_bytes(word)
}

fn known(object: &CodeObject) -> Result<Target, Error> {
    let processor = object.target().processor.to_string();
    processor.parse().map_err(|_| {
        let known: Vec<&str> = Target::ALL.iter().map(|target| target.name()).collect();
        let known = known.join(", ");
        format!("{}: no instruction tables for {processor}; there are: {known}", object.name())
            .into()
    })
}

/// Prints one code object, or a kernel of it.
fn object(out: &mut impl Write, object: &CodeObject, kernel: Option<&str>) -> Result<(), Error> {
    let target = known(object)?;
    let labels = labels(object);
    let range = match kernel {
        Some(name) => extent(object, name, &labels)?,
        None => 0..u64::MAX,
    };
    let of_range =
        labels.iter().rev().find(|label| label.offset <= range.start && label.wave.is_some());
    let first = of_range.or(labels.iter().find(|label| label.wave.is_some()));
    let usual = if target.has_wave32() { 32 } else { 64 };
    let mut wave = first.and_then(|label| label.wave).unwrap_or(usual);
    writeln!(out, "; {}: {}", object.name(), object.target())?;
    for code in object.image().segments().iter().filter(|segment| segment.execute) {
        segment(out, target, code, &range, &labels, &mut wave)?;
    }
    Ok(())
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let file = options.file.display().to_string();
    let bytes = std::fs::read(&options.file).map_err(|error| format!("{file}: {error}"))?;
    let archive = Archive::open(&bytes, &file)?;
    let wanted = |entry: &Entry<'_>| match &options.target {
        None => true,
        Some(name) => crate::is_for(entry, name),
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut left_out = Vec::new();
    let mut printed = false;
    for entry in archive.code_objects().filter(wanted) {
        let parsed = entry.parse().map_err(Error::from);
        match parsed.and_then(|parsed| object(&mut out, &parsed, options.kernel.as_deref())) {
            Ok(()) => printed = true,
            Err(error) if error.is::<std::io::Error>() => return quiet(error),
            Err(error) => left_out.push(error),
        }
    }
    if printed {
        // A kernel is in one of several objects; without one all of them were asked for.
        let mut told = left_out.iter().filter(|_| options.kernel.is_none());
        let written = told.try_for_each(|error| writeln!(out, "; left out: {error}"));
        return written.and_then(|()| out.flush()).map_err(Error::from).or_else(quiet);
    }
    if !left_out.is_empty() {
        let all: Vec<String> = left_out.iter().map(ToString::to_string).collect();
        return Err(all.join("\n").into());
    }
    let target = options.target.as_deref().map_or(String::new(), |name| format!(" for {name}"));
    Err(format!("{file}: no code object{target} in it; `selvedge inspect` lists what there is")
        .into())
}

/// A reader that has seen enough and closed the pipe is no failure.
fn quiet(error: Error) -> Result<(), Error> {
    match error.downcast_ref::<std::io::Error>() {
        Some(io) if io.kind() == ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error),
    }
}
