//! The `selvedge` command: what devices there are, what a code object or a command stream holds, and launches.

mod devices;
mod disasm;
mod inspect;
mod run;

use selvedge_cli::decode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

/// Exit status for a bad command line (sysexits.h, EX_USAGE).
const USAGE: u8 = 64;

#[derive(Parser)]
#[command(
    name = "selvedge",
    version,
    about = "AMD GPUs from Rust: devices, code objects, command streams, launches"
)]
struct Command {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Say what a command stream, a ring or an indirect buffer holds
    Decode(Box<decode::Options>),
    /// Disassemble a code object
    Disasm(disasm::Options),
    /// List the GPUs that the KFD knows; opens none of them
    Devices(devices::Options),
    /// Say what a code object, offload bundle or host program holds
    Inspect(inspect::Options),
    /// Load a code object, launch a kernel, and write its buffers to files
    Run(Box<run::Options>),
}

fn parse() -> Result<Command, clap::Error> {
    let matches = Command::command().try_get_matches()?;
    let mut command = Command::from_arg_matches(&matches)?;
    if let (Action::Run(options), Some((_, matches))) = (&mut command.action, matches.subcommand())
    {
        options.note_order(matches);
    }
    Ok(command)
}

fn main() -> ExitCode {
    let command = match parse() {
        Ok(command) => command,
        Err(error) => {
            // Help and version are answers, not errors; they go to standard output.
            let status = if error.use_stderr() { USAGE } else { 0 };
            let _ = error.print();
            return ExitCode::from(status);
        }
    };
    let result = match command.action {
        Action::Decode(options) => decode::run(&options),
        Action::Devices(options) => devices::run(&options),
        Action::Disasm(options) => disasm::run(&options),
        Action::Inspect(options) => inspect::run(&options),
        Action::Run(options) => run::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("selvedge: {error}"));
            let usage = error.is::<run::UsageError>()
                || error.downcast_ref::<decode::Error>().is_some_and(decode::Error::is_usage);
            ExitCode::from(if usage { USAGE } else { 1 })
        }
    }
}

/// Whether an entry is for a target, given by its processor (`gfx90a`) or with features (`gfx90a:xnack-`).
fn is_for(entry: &selvedge::code::Entry<'_>, name: &str) -> bool {
    entry
        .target()
        .is_some_and(|target| target.to_string() == name || target.processor.to_string() == name)
}

/// Prints a line for people. When nobody can read it, that changes nothing of the result.
fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints a result. A reader that has seen enough and closed the pipe is no failure.
fn print(text: &str) -> Result<(), Error> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// The error of a command: what to print.
type Error = Box<dyn std::error::Error>;
