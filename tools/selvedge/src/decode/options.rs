//! The command line of `selvedge decode`.

use super::input::read_words;
use super::{Engine, Image, Limits, Pointers, Report, Request, RingRequest, file_at, number};
use pm4::Generation;
use sdma::Version;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};

/// The options of the command.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "The input is binary, little-endian dwords, or text: hexadecimal words separated by white space or \
                  commas, with or without 0x, and comments from # to the end of the line. It is text when it is \
                  nothing else. Numbers of the command line are decimal, or hexadecimal with 0x.\n\n\
                  Pointers of a ring count what the engine counts: pm4 dwords, sdma bytes, aql packets. They may be \
                  larger than the ring, as the hardware's are.\n\n\
                  Exit status: 0; 1 when a stream is not what the engine can read (it is printed up to there), or a \
                  file cannot be read; 64 for a wrong command line."
)]
pub struct Options {
    /// The engine that reads the stream
    #[arg(long, value_enum)]
    engine: Engine,
    /// The processor, e.g. gfx1151
    #[arg(long, value_name = "gfxNNNN", value_parser = processor)]
    gfx: (String, Generation),
    /// Version of the SDMA engines, e.g. 6.0 or 6.0.1, when it is not the processor's usual one
    #[arg(long, value_name = "VERSION", value_parser = version)]
    sdma: Option<Version>,
    /// Address of the input's first byte
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    base: Option<u64>,
    /// What is in memory at an address, to follow indirect buffers; may be given several times
    #[arg(long, value_name = "FILE@ADDRESS", value_parser = file_at)]
    memory: Vec<(String, u64)>,
    /// The input is a whole ring
    #[arg(long, requires = "rptr", requires = "wptr")]
    ring: bool,
    /// Read pointer of the ring
    #[arg(long, value_name = "POINTER", value_parser = number, requires = "ring")]
    rptr: Option<u64>,
    /// Write pointer of the ring
    #[arg(long, value_name = "POINTER", value_parser = number, requires = "ring")]
    wptr: Option<u64>,
    /// Decode all of the ring, not only what is in flight
    #[arg(long, requires = "ring")]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The input; - is standard input
    #[arg(value_name = "FILE")]
    file: String,
}

fn processor(name: &str) -> Result<(String, Generation), String> {
    match Generation::from_name(name) {
        Some(generation) => Ok((name.to_owned(), generation)),
        None => Err(format!(
            "{name:?} is no processor whose packets are known; needed one of gfx900 to gfx950, gfx101x, gfx103x, \
             gfx110x, gfx115x, gfx120x, such as gfx1151"
        )),
    }
}

fn version(name: &str) -> Result<Version, String> {
    let ip = || {
        let mut numbers = name.split('.').map(str::parse);
        let (major, minor, revision) = (numbers.next()?, numbers.next()?, numbers.next()?);
        let none_left = numbers.next().is_none();
        Version::from_ip(major.ok()?, minor.ok()?, revision.ok()?).filter(|_| none_left)
    };
    let named = Version::ALL.into_iter().find(|version| version.name() == name);
    named.or_else(ip).ok_or_else(|| {
        let known = Version::ALL.map(Version::name).join(", ");
        format!("{name:?} is no SDMA version whose packets are known; needed one of {known}")
    })
}

fn address(text: &str) -> Result<u64, String> {
    let address = number(text)?;
    if address % 4 != 0 {
        return Err(format!("{text:?}: needed an address that is a multiple of 4"));
    }
    Ok(address)
}

fn read(name: &str) -> Result<Vec<u32>, Box<dyn Error>> {
    let words = if name == "-" {
        read_words(shown(name), std::io::stdin().lock())
    } else {
        File::open(name).and_then(|file| read_words(name, file))
    };
    Ok(words.map_err(|error| format!("{}: {error}", shown(name)))??)
}

fn shown(name: &str) -> &str {
    if name == "-" { "standard input" } else { name }
}

impl Options {
    /// The same with all files read.
    ///
    /// # Errors
    /// When a file cannot be read or is no dwords.
    pub fn request(&self) -> Result<Request, Box<dyn Error>> {
        let (gfx, generation) = self.gfx.clone();
        let input = read(&self.file)?;
        let mut memory = Vec::new();
        for (file, address) in &self.memory {
            let name = shown(file).to_owned();
            memory.push(Image { name, address: *address, words: read(file)? });
        }
        let ring = match (self.ring, self.rptr, self.wptr) {
            (true, Some(read), Some(write)) => {
                Some(RingRequest { pointers: Pointers { read, write }, all: self.all })
            }
            _ => None,
        };
        Ok(Request {
            engine: self.engine,
            gfx,
            generation,
            sdma: self.sdma.unwrap_or(Version::for_generation(generation)),
            name: shown(&self.file).to_owned(),
            words: input,
            base: self.base,
            ring,
            memory,
            limits: Limits::DEFAULT,
        })
    }
}

/// Runs the command.
///
/// # Errors
/// When a file cannot be read, standard output cannot be written, or a stream has a fault; then what comes before it
/// is printed.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let request = options.request()?;
    let report = super::decode(&request)?;
    match print(&report, options.json) {
        // A reader that has seen enough and closed the pipe is no failure.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            return Err(format!("standard output: {error}").into());
        }
        _ => {}
    }
    let faults = report.faults();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\nselvedge: ").into()) }
}

fn print(report: &Report<'_>, json: bool) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    if json {
        serde_json::to_writer_pretty(&mut out, report)?;
        writeln!(out)?;
    } else {
        write!(out, "{report}")?;
    }
    out.flush()
}
