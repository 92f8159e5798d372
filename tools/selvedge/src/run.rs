//! `selvedge run`: one kernel from the shell.

use crate::Error;
use clap::ArgMatches;
use selvedge::{Argument, Buffer, Device, Geometry, Placement, StreamOptions};
use serde::Serialize;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
#[command(
    after_help = "Arguments are passed to the kernel in the order in which --in, --inout, --out, --i32, \
                        --i64, --f32 and --local are written. Grid and block are in work-items."
)]
pub(crate) struct Options {
    /// Code object, offload bundle (compressed or not), or host program with one
    #[arg(long, value_name = "FILE")]
    hsaco: PathBuf,
    /// The kernel's name
    #[arg(long)]
    kernel: String,
    /// Work-items: X, X,Y or X,Y,Z
    #[arg(long, value_delimiter = ',', required = true)]
    grid: Vec<u64>,
    /// Work-items of a workgroup: X, X,Y or X,Y,Z
    #[arg(long, value_delimiter = ',', required = true)]
    block: Vec<u64>,
    /// How many times to launch
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Give input I (counted from 0 among --in) N copies and rotate through them, launch by launch
    #[arg(long, value_name = "I:N", value_parser = rotation)]
    rotate_input: Vec<(usize, usize)>,
    /// A 32-bit integer argument
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true, value_parser = integer32)]
    i32: Vec<u32>,
    /// A 64-bit integer argument
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true, value_parser = integer64)]
    i64: Vec<u64>,
    /// A 32-bit float argument
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true, value_parser = float32)]
    f32: Vec<f32>,
    /// Bytes of local memory for a `local` pointer argument
    #[arg(long, value_name = "BYTES")]
    local: Vec<u32>,
    /// A buffer read from a file
    #[arg(long, value_name = "PATH:BYTES", value_parser = file)]
    r#in: Vec<File>,
    /// A buffer read from a file and written back to the same bytes of it
    #[arg(long, value_name = "PATH:BYTES", value_parser = file)]
    inout: Vec<File>,
    /// A zeroed buffer written to a file
    #[arg(long, value_name = "PATH:BYTES", value_parser = file)]
    out: Vec<File>,
    /// Seconds to wait for all launches
    #[arg(long, default_value_t = 60.0, value_parser = seconds)]
    timeout: f64,
    /// Which device, as in SELVEDGE_DEVICE; default: what SELVEDGE_DEVICE says
    #[arg(long)]
    device: Option<String>,
    /// Say what is done
    #[arg(long, short)]
    verbose: bool,
    /// Where each of the arguments above stood on the command line
    #[arg(skip)]
    order: Vec<Position>,
}

/// A mistake in the command line that only shows when it is carried out; exit status 64.
#[derive(Debug)]
pub(crate) struct UsageError(String);

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

fn usage(text: impl Into<String>) -> Error {
    Box::new(UsageError(text.into()))
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct File {
    path: PathBuf,
    bytes: u64,
}

/// A kernel argument as written: which list it is in, and where in it.
#[derive(Clone, Copy, Debug)]
struct Position {
    option: &'static str,
    index: usize,
}

fn file(text: &str) -> Result<File, String> {
    let (path, bytes) = text.rsplit_once(':').ok_or("write PATH:BYTES")?;
    let bytes: u64 = bytes.parse().map_err(|_| format!("{bytes:?} is not a number of bytes"))?;
    if path.is_empty() || bytes == 0 {
        return Err("a buffer needs a path and at least one byte".to_owned());
    }
    Ok(File { path: path.into(), bytes })
}

fn rotation(text: &str) -> Result<(usize, usize), String> {
    let (index, copies) = text.split_once(':').ok_or("write I:N")?;
    let index = index.parse().map_err(|_| format!("{index:?} is not an input's number"))?;
    match copies.parse() {
        Ok(copies @ 2..=64) => Ok((index, copies)),
        _ => Err(format!("{copies:?} copies; 2 to 64 are possible")),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1e9).contains(&value) => Ok(value),
        _ => Err("write a number of seconds from 0 to 1e9".to_owned()),
    }
}

fn number(text: &str) -> Result<i128, String> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let value = match digits.strip_prefix("0x") {
        Some(hex) => i128::from(u64::from_str_radix(hex, 16).map_err(|e| e.to_string())?),
        None => i128::from(digits.parse::<u64>().map_err(|e| e.to_string())?),
    };
    Ok(sign * value)
}

fn integer32(text: &str) -> Result<u32, String> {
    let value = number(text)?;
    let signed = i32::try_from(value).map(|v| v as u32);
    signed.or(u32::try_from(value)).map_err(|_| format!("{text} has more than 32 bits"))
}

fn integer64(text: &str) -> Result<u64, String> {
    let value = number(text)?;
    let signed = i64::try_from(value).map(|v| v as u64);
    signed.or(u64::try_from(value)).map_err(|_| format!("{text} has more than 64 bits"))
}

fn float32(text: &str) -> Result<f32, String> {
    let value: f32 = text.parse().map_err(|_| "write a number".to_owned())?;
    if value.is_infinite() && text.bytes().any(|byte| byte.is_ascii_digit()) {
        return Err(format!("{text} is beyond what 32 bits can hold; infinity is written inf"));
    }
    Ok(value)
}

impl Options {
    /// Takes over the order in which the arguments stood.
    pub(crate) fn note_order(&mut self, matches: &ArgMatches) {
        let mut order: Vec<(usize, Position)> = Vec::new();
        for option in ["in", "inout", "out", "i32", "i64", "f32", "local"] {
            let places = matches.indices_of(option).into_iter().flatten().enumerate();
            order.extend(places.map(|(index, place)| (place, Position { option, index })));
        }
        order.sort_by_key(|(place, _)| *place);
        self.order = order.into_iter().map(|(_, position)| position).collect();
    }
}

/// A file that a buffer's contents go to. It is opened before the kernel runs.
struct Output<'a> {
    path: &'a Path,
    file: std::fs::File,
    /// The file ends where the buffer ends.
    whole: bool,
}

impl<'a> Output<'a> {
    fn open(path: &'a Path, whole: bool) -> Result<Output<'a>, Error> {
        // What is there stays until there is something better.
        let options = OpenOptions::new().write(true).create(whole).truncate(false).open(path);
        let file = options.map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Output { path, file, whole })
    }

    fn write(&mut self, contents: &[u8]) -> Result<(), Error> {
        let written = self.file.write_all(contents).and_then(|()| {
            // A pipe or a terminal has no length.
            if self.whole && self.file.metadata()?.is_file() {
                self.file.set_len(contents.len() as u64)?;
            }
            Ok(())
        });
        written.map_err(|error| format!("{}: {error}", self.path.display()).into())
    }
}

/// One kernel argument, ready.
enum Prepared<'a> {
    /// Copies of a buffer to rotate through, and where its contents go in the end.
    Buffers(Vec<Buffer>, Option<Output<'a>>),
    I32(u32),
    I64(u64),
    F32(f32),
    Local(u32),
}

impl<'a> Prepared<'a> {
    fn new(
        options: &'a Options,
        device: &Device,
        position: Position,
    ) -> Result<Prepared<'a>, Error> {
        let Position { option, index } = position;
        Ok(match option {
            "i32" => Prepared::I32(options.i32[index]),
            "i64" => Prepared::I64(options.i64[index]),
            "f32" => Prepared::F32(options.f32[index]),
            "local" => Prepared::Local(options.local[index]),
            "in" => {
                let rotated = options.rotate_input.iter().rev().find(|(i, _)| *i == index);
                let copies = rotated.map_or(1, |(_, copies)| *copies);
                let file = &options.r#in[index];
                let contents = read(file)?;
                let buffers = (0..copies).map(|_| device.allocate_from(&contents));
                Prepared::Buffers(buffers.collect::<Result<_, _>>()?, None)
            }
            "inout" => {
                let file = &options.inout[index];
                let buffer = device.allocate_from(&read(file)?)?;
                Prepared::Buffers(vec![buffer], Some(Output::open(&file.path, false)?))
            }
            _ => {
                let file = &options.out[index];
                let buffer = device.allocate(file.bytes, Placement::Host)?;
                buffer.fill(0)?;
                Prepared::Buffers(vec![buffer], Some(Output::open(&file.path, true)?))
            }
        })
    }

    fn argument(&self, launch: u32) -> Argument<'_> {
        match self {
            Prepared::Buffers(buffers, _) => (&buffers[launch as usize % buffers.len()]).into(),
            Prepared::I32(value) => (*value).into(),
            Prepared::I64(value) => (*value).into(),
            Prepared::F32(value) => (*value).into(),
            Prepared::Local(bytes) => Argument::Local(*bytes),
        }
    }
}

fn read(file: &File) -> Result<Vec<u8>, Error> {
    let contents =
        std::fs::read(&file.path).map_err(|error| format!("{}: {error}", file.path.display()))?;
    if (contents.len() as u64) < file.bytes {
        return Err(format!(
            "{} has {} bytes, {} were asked for",
            file.path.display(),
            contents.len(),
            file.bytes
        )
        .into());
    }
    Ok(contents[..file.bytes as usize].to_vec())
}

/// The launches are not done in time.
fn late(kernel: &str, seconds: f64, device: &Device) -> Error {
    let help = match device.is_simulated() {
        true => {
            "; with SELVEDGE_SIM_WATCHDOG=1000000 a wave that does not end is told, and where it is"
        }
        false => "",
    };
    format!("kernel {kernel} is not done after {seconds} s, which --timeout sets{help}").into()
}

/// The line printed in the end.
#[derive(Serialize)]
struct Report {
    device: String,
    simulated: bool,
    kernel: String,
    launches: u32,
    total_ms: f64,
    us_per_launch: f64,
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    for &(index, _) in &options.rotate_input {
        if index >= options.r#in.len() {
            let inputs = options.r#in.len();
            return Err(usage(format!("--rotate-input {index}: there are {inputs} inputs (--in)")));
        }
    }
    let geometry =
        Geometry::new(&options.grid, &options.block).map_err(|error| usage(error.to_string()))?;
    let device = match &options.device {
        None => Device::from_env()?,
        Some(name) => {
            Device::select(&name.parse().map_err(|e: selvedge::Error| usage(e.to_string()))?)?
        }
    };
    let say = |text: &str| {
        if options.verbose {
            crate::complain(text);
        }
    };
    say(&format!("device: {device}"));

    let name = options.hsaco.display().to_string();
    let bytes = std::fs::read(&options.hsaco).map_err(|error| format!("{name}: {error}"))?;
    // SAFETY: the user asked for this code to be run with these arguments.
    #[expect(unsafe_code, reason = "the command's purpose is to run the code it is given")]
    let executable = unsafe { device.load(&bytes, &name)? };
    let kernel = executable.kernel(&options.kernel)?;
    say(&format!("kernel: {} at {:#x}", kernel.name(), kernel.address()));

    let mut prepared: Vec<Prepared<'_>> = options
        .order
        .iter()
        .map(|&position| Prepared::new(options, &device, position))
        .collect::<Result<_, _>>()?;
    let timeout = Duration::from_secs_f64(options.timeout);
    let stream =
        device.stream_with(StreamOptions { full_timeout: timeout, ..Default::default() })?;
    let start = Instant::now();
    for launch in 0..options.repeat {
        let arguments: Vec<Argument<'_>> = prepared.iter().map(|p| p.argument(launch)).collect();
        // SAFETY: as for `load`: the arguments are the user's.
        #[expect(unsafe_code, reason = "the command's purpose is to run the code it is given")]
        unsafe {
            stream.dispatch(&kernel, &geometry, &arguments)?
        };
    }
    stream.synchronize(timeout).map_err(|error| match error {
        selvedge::Error::Timeout { .. } => late(kernel.name(), options.timeout, &device),
        other => other.into(),
    })?;
    let total = start.elapsed();

    for argument in &mut prepared {
        if let Prepared::Buffers(buffers, Some(output)) = argument {
            let contents: Vec<u8> = buffers[0].read()?;
            output.write(&contents)?;
            say(&format!("wrote {} bytes to {}", contents.len(), output.path.display()));
        }
    }
    let total_ms = total.as_secs_f64() * 1e3;
    let report = Report {
        device: device.to_string(),
        simulated: device.is_simulated(),
        kernel: kernel.name().to_owned(),
        launches: options.repeat,
        total_ms,
        us_per_launch: total_ms * 1e3 / f64::from(options.repeat),
    };
    crate::print(&format!("{}\n", serde_json::to_string(&report)?))
}
