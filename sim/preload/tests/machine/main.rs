//! Programs under `simrun`. Most of them are this one: a test runs itself again on the machine.

#![expect(unsafe_code, reason = "calls libc as programs do")]

mod board;
mod descriptors;
mod events;
mod files;
mod leaving;
mod memory;
mod probe;
mod readiness;
mod record;
mod signals;
mod threads;

use std::path::Path;
use std::process::Command;

/// `simrun` with a machine.
fn simrun(machine: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simrun"));
    command.args(["--machine", machine]);
    command
}

/// Whether this process is on a machine.
fn is_on_machine() -> bool {
    std::env::var_os("SELVEDGE_SIM_TREE").is_some()
}

/// Runs `body`, the body of the test called `name`, on a machine.
fn on_machine(machine: &str, name: &str, body: fn()) {
    if is_on_machine() {
        return body();
    }
    let own = std::env::current_exe().unwrap();
    let output = simrun(machine).arg(own).args(["--exact", name, "--nocapture"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{}\n{said}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}

/// An empty folder for a test.
fn folder(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// libc's result, or errno.
fn check(result: i32) -> Result<i32, i32> {
    if result < 0 { Err(errno()) } else { Ok(result) }
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap()
}

/// open(2)
fn open(path: &std::ffi::CStr, flags: i32) -> Result<i32, i32> {
    // SAFETY: a C string.
    check(unsafe { libc::open(path.as_ptr(), flags) })
}

/// ioctl(2)
fn ioctl<T: zerocopy::IntoBytes + zerocopy::FromBytes>(
    fd: i32,
    request: u32,
    argument: &mut T,
) -> Result<i32, i32> {
    // SAFETY: the argument is of the request's size.
    check(unsafe { libc::ioctl(fd, request.into(), std::ptr::from_mut(argument)) })
}

/// Asks the KFD for its version.
fn version(fd: i32) -> Result<u32, i32> {
    let mut version = kfd::uapi::GetVersionArgs::default();
    ioctl(fd, kfd::uapi::request::GET_VERSION, &mut version)?;
    Ok(version.minor_version)
}
