//! `simrun`: runs a program on a simulated machine. docs/SIMRUN.md is its manual.

#[path = "../environment.rs"]
mod environment;
mod keeper;
mod tree;

use clap::Parser;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The library's file.
const LIBRARY: &str = "libselvedge_preload.so";
/// Names the library, should it lie elsewhere.
const LIBRARY_VARIABLE: &str = "SELVEDGE_PRELOAD";
/// What shells return for a program that is not there or cannot be run, and for themselves.
const NOT_FOUND: u8 = 127;
const NOT_RUN: u8 = 126;
const OWN_ERROR: u8 = 125;

/// Runs a dynamically linked program on a simulated machine with AMD GPUs.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// GPUs of the machine, several with commas between, or `none`; conditions follow after `+`, as in `gfx1100+small-bar`. An
    /// unknown name is answered with those there are. Or the folder of a recorded topology, with a slash in its path.
    #[arg(long, default_value = "gfx1151", value_name = "GPU[+CONDITION...][,...]|FOLDER")]
    machine: String,
    /// The kernel: 6.5, 6.12, 6.18, 7.3, or the KFD's minor version: 14, 17, 18, 23.
    #[arg(long, default_value = "6.18", value_parser = kfd_minor, value_name = "VERSION")]
    kernel: u32,
    /// Appends a record of the program's calls to this file.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    program: Vec<OsString>,
}

/// The KFD's minor version of a kernel.
fn kfd_minor(kernel: &str) -> Result<u32, String> {
    match kernel {
        "6.5" => Ok(14),
        "6.12" => Ok(17),
        "6.18" => Ok(18),
        "7.3" => Ok(23),
        minor => minor.parse().map_err(|_| "no kernel of this version is played".to_owned()),
    }
}

/// Where the library is.
fn library() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os(LIBRARY_VARIABLE) {
        return Ok(path.into());
    }
    let own =
        std::env::current_exe().map_err(|error| format!("cannot tell where it lies: {error}"))?;
    let folder = own.parent().unwrap_or(Path::new("/"));
    let places = [folder.join(LIBRARY), folder.join("deps").join(LIBRARY)];
    // Cargo has it in deps/, and a copy beside the program that may be older.
    let changed = |place: &&PathBuf| place.metadata().and_then(|file| file.modified()).ok();
    let newest = places.iter().filter(|place| place.is_file()).max_by_key(changed);
    newest.cloned().ok_or_else(|| {
        format!(
            "there is no {} and no {}; {LIBRARY_VARIABLE} can name it",
            places[0].display(),
            places[1].display()
        )
    })
}

/// The machine for processes whose working directory is another: a folder by its whole path.
fn machine_of(machine: &str) -> Result<OsString, String> {
    if !machine.contains('/') {
        return Ok(machine.into());
    }
    let folder = std::path::absolute(machine).map_err(|error| format!("{machine}: {error}"))?;
    Ok(folder.into_os_string())
}

/// Replaces this process by the program.
fn run(options: &Options) -> Result<io::Error, String> {
    let library = library()?;
    let builder = environment::machine(&options.machine, options.kernel)
        .map_err(|error| error.to_string())?;
    let board = builder.keeper().map_err(|error| error.to_string())?;
    let machine = builder.build().map_err(|error| error.to_string())?;
    let written = |error| format!("cannot write the machine's files: {error}");
    let tree = tree::unused().map_err(written)?;
    keeper::start(&tree, board)
        .map_err(|error| format!("cannot start the keeper of the machine's board: {error}"))?;
    machine.write_files(&tree).map_err(written)?;
    keeper::stay(&tree).map_err(written)?;
    let mut preload = library.into_os_string();
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    let [program, arguments @ ..] = options.program.as_slice() else {
        return Err("no program is named".to_owned());
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("LD_PRELOAD", preload)
        .env(environment::MACHINE, machine_of(&options.machine)?)
        .env(environment::KFD_MINOR, options.kernel.to_string())
        .env(environment::TREE, &tree);
    if let Some(log) = &options.log {
        let log =
            std::path::absolute(log).map_err(|error| format!("{}: {error}", log.display()))?;
        command.env(environment::LOG, log);
    }
    Ok(command.exec())
}

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(error) => {
            eprintln!("simrun: {}: {error}", options.program[0].display());
            ExitCode::from(if error.kind() == io::ErrorKind::NotFound {
                NOT_FOUND
            } else {
                NOT_RUN
            })
        }
        Err(error) => {
            eprintln!("simrun: {error}");
            ExitCode::from(OWN_ERROR)
        }
    }
}
