//! The machine, and the process on it that this process is.
#![expect(unsafe_code, reason = "a pointer to what is never freed")]

use crate::inside::Inside;
use crate::{descriptors, environment, log, paths, raw, symbols};
use selvedge_sim::Process;
use selvedge_sim::record::Recorder;
use selvedge_sys::{Errno, fork};
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, OnceLock};

/// The machine as this process sees it.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) process: Arc<Process>,
    /// The generation of the process that it belongs to.
    generation: u32,
    /// The process.
    pub(crate) pid: u32,
    /// What writes a record that can be run again.
    pub(crate) recorder: Option<Arc<Recorder>>,
}

/// The last that was made; never freed, and after a fork replaced once the child asks for one.
static STATE: AtomicPtr<State> = AtomicPtr::new(std::ptr::null_mut());

/// Done before the program's own code.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

extern "C" fn start() {
    let _inside = Inside::enter();
    // Registers what tells forked children.
    fork::generation();
    // SAFETY: the handler does what a forked child may.
    unsafe { libc::pthread_atfork(None, None, Some(descriptors::forked)) };
    log::is_on();
    symbols::find();
    paths::moved();
}

/// What the environment said when the program started.
#[derive(Debug)]
pub(crate) struct Settings {
    boards: String,
    kfd_minor: Option<u32>,
    pub(crate) tree: Option<OsString>,
    pub(crate) log: Option<OsString>,
    /// Whether the record is one that can be run again.
    record: bool,
}

pub(crate) fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| Settings {
        boards: std::env::var(environment::MACHINE).unwrap_or_default(),
        kfd_minor: std::env::var(environment::KFD_MINOR).ok().and_then(|text| text.parse().ok()),
        tree: std::env::var_os(environment::TREE),
        log: std::env::var_os(environment::LOG),
        record: std::env::var_os(environment::RECORD).is_some(),
    })
}

/// The machine, if this process has had to do with it.
pub(crate) fn current() -> Option<&'static State> {
    let state = STATE.load(Ordering::Acquire);
    // SAFETY: null, or made by `get` and never freed.
    unsafe { state.as_ref() }.filter(|state| state.generation == fork::generation())
}

/// The machine. The first call of a process makes it; a forked child gets one of its own.
pub(crate) fn get() -> Result<&'static State, Errno> {
    if let Some(state) = current() {
        return Ok(state);
    }
    let old = STATE.load(Ordering::Acquire);
    let new = Box::into_raw(Box::new(make()?));
    match STATE.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: just made, and not freed any more.
        Ok(_) => Ok(unsafe { &*new }),
        Err(_) => {
            // SAFETY: just made, and nobody else has seen it.
            drop(unsafe { Box::from_raw(new) });
            current().ok_or(Errno::EAGAIN)
        }
    }
}

fn make() -> Result<State, Errno> {
    let Settings { boards, kfd_minor: minor, record, .. } = settings();
    let recorder = minor
        .filter(|_| *record && log::is_on())
        .map(|minor| Arc::new(Recorder::new(boards, minor, is_root(), log::lines)));
    let built = minor
        .ok_or_else(|| format!("{} names no version", environment::KFD_MINOR))
        .and_then(|minor| environment::machine(boards, minor).map_err(|error| error.to_string()))
        .map(|builder| if is_root() { builder.privileged() } else { builder })
        .map(|builder| match board() {
            Some(socket) => builder.kept_at(&socket),
            None => builder,
        })
        .map(|builder| if log::is_on() { builder.packets(Arc::new(log::Packets)) } else { builder })
        .map(|builder| match recorder.clone() {
            Some(recorder) => builder.conductor(recorder),
            None => builder,
        })
        .and_then(|builder| builder.build().map_err(|error| error.to_string()));
    let machine = built.map_err(|error| {
        // Who cannot read it still gets the errno.
        let _ = writeln!(std::io::stderr(), "simulated machine: {error}");
        Errno::ENODEV
    })?;
    log::line(format_args!("machine {boards}, KFD 1.{}", minor.unwrap_or(0)));
    let pid = raw::getpid();
    let process = machine.process_with_pid(pid);
    process.watch_descriptors(descriptors::claim);
    Ok(State { process, generation: fork::generation(), pid, recorder })
}

/// Where the keeper of the machine's board listens.
pub(crate) fn board() -> Option<PathBuf> {
    settings().tree.as_ref().map(|tree| Path::new(tree).join(environment::BOARD))
}

fn is_root() -> bool {
    // SAFETY: only asks.
    unsafe { libc::geteuid() == 0 }
}
