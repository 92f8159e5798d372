//! `simrun`: runs a program on a simulated machine. docs/SIMRUN.md is its manual.

#[path = "../environment.rs"]
mod environment;
mod keeper;
mod program;
mod replay;
mod tree;

use clap::Parser;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The library's file.
const LIBRARY: &str = "libselvedge_preload.so";
/// A link to it, in the machine's folder.
const LINK: &str = ".preload.so";
/// Names the library, should it lie elsewhere.
const LIBRARY_VARIABLE: &str = "SELVEDGE_PRELOAD";
/// What shells return for a program that is not there or cannot be run, and for themselves.
const NOT_FOUND: u8 = 127;
const NOT_RUN: u8 = 126;
const OWN_ERROR: u8 = 125;

const EXAMPLES: &str = "Examples:
  simrun --machine gfx1030 rocminfo
  simrun --machine gfx90a,gfx90a --kernel 6.12 --log calls.log PROGRAM ARGUMENTS...
  simrun --machine gfx1030 --record run.record PROGRAM && simrun --replay run.record";

/// Runs a dynamically linked program on a simulated machine with AMD GPUs.
///
/// The program finds /dev/kfd, render nodes and sysfs as on a machine with the GPUs that are named. Its exit status is
/// simrun's; simrun's own errors are 125, 126 (the program cannot be run) and 127 (there is none).
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
struct Options {
    /// GPUs of the machine, several with commas between, or `none`; conditions follow after `+`, as in `gfx1100+small-bar`. An
    /// unknown name is answered with those there are. Or the folder of a recorded topology, with a slash in its path.
    #[arg(long, default_value = "gfx1151", value_name = "GPU[+CONDITION...][,...]|FOLDER")]
    machine: String,
    /// The kernel: 6.5, 6.12, 6.18, 7.3, or the KFD's minor version: 14, 17, 18, 23.
    #[arg(long, default_value = "6.18", value_parser = kfd_minor, value_name = "VERSION")]
    kernel: u32,
    /// Appends a record of the program's calls and its queues' packets to this file.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Writes a record that can be run again to this file, which must not exist. Queues work one at a time, slowly.
    #[arg(long, value_name = "FILE", conflicts_with = "log")]
    record: Option<PathBuf>,
    /// Runs such a record again, without the program, and tells what came out otherwise (status 1).
    #[arg(long, value_name = "FILE", conflicts_with_all = ["program", "log", "record", "machine", "kernel"])]
    replay: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(required_unless_present = "replay", trailing_var_arg = true, value_name = "PROGRAM")]
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
    if let Some(path) = std::env::var_os(LIBRARY_VARIABLE).filter(|path| !path.is_empty()) {
        let told = |error| format!("{LIBRARY_VARIABLE}={}: {error}", path.display());
        let file = std::fs::canonicalize(&path).map_err(told)?;
        return if file.is_file() {
            Ok(file)
        } else {
            Err(told(io::ErrorKind::IsADirectory.into()))
        };
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

/// The value of `LD_PRELOAD`: the library, and those that are in it already. ld.so takes spaces and colons for ends of names
/// (elf/rtld.c, `handle_preload_list`): a library in such a place is loaded by a link in the machine's folder.
fn preload(library: PathBuf, tree: &Path) -> Result<OsString, String> {
    let ends_name =
        |path: &Path| path.as_os_str().as_bytes().iter().any(|byte| b" :".contains(byte));
    let mut preload = library;
    if ends_name(&preload) {
        let link = tree.join(LINK);
        if ends_name(&link) {
            return Err(format!(
                "{} cannot be loaded: there is a space or a colon in its path, and in that of {}",
                preload.display(),
                tree.display()
            ));
        }
        symlink(&preload, &link).map_err(|error| format!("{}: {error}", link.display()))?;
        preload = link;
    }
    let mut preload = preload.into_os_string();
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    Ok(preload)
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
    let tree = tree::unused()?;
    keeper::start(&tree, board).map_err(|error| {
        format!("cannot start the keeper of the machine's board at {}: {error}", tree.display())
    })?;
    machine.write_files(&tree).map_err(written)?;
    keeper::stay(&tree).map_err(written)?;
    let preload = preload(library, &tree)?;
    let [program, arguments @ ..] = options.program.as_slice() else {
        return Err("no program is named".to_owned());
    };
    if let Some(obstacle) = program::obstacle(program) {
        eprintln!("simrun: {} does not see the machine: {obstacle}", program.display());
    }
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("LD_PRELOAD", preload)
        .env(environment::MACHINE, machine_of(&options.machine)?)
        .env(environment::KFD_MINOR, options.kernel.to_string())
        .env(environment::TREE, &tree);
    if let Some(log) = options.log.as_ref().or(options.record.as_ref()) {
        let told = |error| format!("{}: {error}", log.display());
        let mut file = OpenOptions::new();
        // Before the program runs, which could not tell.
        let file = match options.record {
            Some(_) => file.write(true).create_new(true),
            None => file.append(true).create(true),
        };
        file.open(log).map_err(told)?;
        command.env(environment::LOG, std::path::absolute(log).map_err(told)?);
    }
    if options.record.is_some() {
        command.env(environment::RECORD, "1");
    }
    Ok(command.exec())
}

fn main() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(told) => {
            // Help and the version are told so, too.
            let _ = told.print();
            return ExitCode::from(if told.use_stderr() { OWN_ERROR } else { 0 });
        }
    };
    if let Some(record) = &options.replay {
        return replay::run(record);
    }
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
