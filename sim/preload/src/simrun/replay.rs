//! Runs a record again.

use super::OWN_ERROR;
use selvedge_sim::record::{self, ReplayError};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

/// How often this was tried: addresses are at random, and those of the record may be taken.
const TRIES_VARIABLE: &str = "SELVEDGE_SIM_REPLAY_TRIES";
const MOST_TRIES: u32 = 20;
/// Something came out otherwise.
const DIFFERS: u8 = 1;

/// Runs the record, and prints how it went.
pub(crate) fn run(path: &Path) -> ExitCode {
    match replay(path) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("simrun: {}: {error}", path.display());
            ExitCode::from(OWN_ERROR)
        }
    }
}

fn replay(path: &Path) -> Result<ExitCode, String> {
    let text = std::fs::read(path).map_err(|error| error.to_string())?;
    let lines =
        record::parse(&String::from_utf8_lossy(&text)).map_err(|error| error.to_string())?;
    drop(text);
    let outcome = match record::replay(&lines) {
        Err(ReplayError::Taken { address }) => return again(address),
        outcome => outcome.map_err(|error| error.to_string())?,
    };
    let differences = outcome.differences.len();
    outcome.differences.iter().for_each(|difference| println!("{difference}"));
    println!(
        "{} calls, {} packets; {} dwords as in the record, {} times; {differences} differences",
        outcome.calls, outcome.packets, outcome.dwords, outcome.times
    );
    Ok(ExitCode::from(if differences == 0 { 0 } else { DIFFERS }))
}

/// Once more, at other addresses.
fn again(taken: u64) -> Result<ExitCode, String> {
    let tries = std::env::var(TRIES_VARIABLE).ok().and_then(|tries| tries.parse().ok());
    let tries: u32 = tries.unwrap_or(1);
    if tries >= MOST_TRIES {
        return Err(format!("the address {taken:#x} was taken in {tries} processes"));
    }
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(own);
    command.args(std::env::args_os().skip(1)).env(TRIES_VARIABLE, (tries + 1).to_string());
    Err(command.exec().to_string())
}
