//! Records, and running them again.

use crate::{folder, ioctl, is_on_machine, open, simrun, version};
use kfd::uapi::{
    AllocMemFlags, AllocMemoryOfGpuArgs, CreateEventArgs, EVENT_SIGNAL, SetEventArgs,
    WaitEventsArgs, request,
};
use std::process::{Command, Output};

/// Runs this test again as a program that is recorded; the record.
fn recorded(name: &str) -> (std::path::PathBuf, String) {
    let file = folder(name).join("record");
    let own = std::env::current_exe().unwrap();
    let mut command = simrun("gfx1030+small-bar");
    // With caches that keep copies there are no records.
    command.env_remove("SELVEDGE_SIM_CACHES");
    command.arg("--record").arg(&file).arg(own);
    let output =
        command.args(["--exact", &format!("record::{name}"), "--nocapture"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    (file, text)
}

fn replay(file: &std::path::Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_simrun")).arg("--replay").arg(file).output().unwrap()
}

/// Makes an event and sets it.
fn program() {
    let kfd = open(c"/dev/kfd", libc::O_RDWR).unwrap();
    version(kfd).unwrap();
    let mut event = CreateEventArgs { event_type: EVENT_SIGNAL, ..Default::default() };
    ioctl(kfd, request::CREATE_EVENT, &mut event).unwrap();
    let mut set = SetEventArgs { event_id: event.event_id, ..Default::default() };
    ioctl(kfd, request::SET_EVENT, &mut set).unwrap();
    set.event_id = 4000;
    assert_eq!(ioctl(kfd, request::SET_EVENT, &mut set), Err(libc::EINVAL));
    // Arguments, and what is behind them, that cannot be read; a range beyond all addresses.
    // SAFETY: the kernel is given a bad pointer.
    let bad = unsafe { libc::ioctl(kfd, request::SET_EVENT.into(), std::ptr::null_mut::<u8>()) };
    assert_eq!(crate::check(bad), Err(libc::EFAULT));
    let mut wait = WaitEventsArgs { events_ptr: 8, num_events: 1, ..Default::default() };
    assert_eq!(ioctl(kfd, request::WAIT_EVENTS, &mut wait), Err(libc::EFAULT));
    let mut memory = AllocMemoryOfGpuArgs {
        flags: AllocMemFlags::USERPTR.bits(),
        mmap_offset: 0x1000,
        size: u64::MAX - 0x1fff,
        ..Default::default()
    };
    assert!(ioctl(kfd, request::ALLOC_MEMORY_OF_GPU, &mut memory).is_err());
}

#[test]
fn calls_run_again() {
    if is_on_machine() {
        return program();
    }
    let (file, text) = recorded("calls_run_again");
    let output = replay(&file);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains(" 0 differences"), "{output:?}");

    // Another answer in the record is told.
    let refused =
        text.lines().find(|line| line.starts_with("@ ioctl") && line.contains(" -22 ")).unwrap();
    std::fs::write(&file, text.replace(refused, &refused.replace(" -22 ", " 0 "))).unwrap();
    let output = replay(&file);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("SET_EVENT gave 0, and here -22"), "{said}");

    // A record that is cut off, and none at all.
    std::fs::write(&file, &text[..text.rfind("@ ioctl").unwrap() + 20]).unwrap();
    let output = replay(&file);
    assert_eq!(output.status.code(), Some(125));
    let line = text[..text.rfind("@ ioctl").unwrap()].lines().count() + 1;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(&format!("line {line}: the record is cut off")), "{said}");
    std::fs::write(&file, "nothing\n").unwrap();
    let said = String::from_utf8_lossy(&replay(&file).stderr).into_owned();
    assert!(said.contains("no record of a machine"), "{said}");
}

#[test]
fn a_record_is_not_overwritten() {
    let file = folder("a_record_is_not_overwritten").join("record");
    std::fs::write(&file, "something").unwrap();
    let output = simrun("none").arg("--record").arg(&file).arg("true").output().unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert_eq!(std::fs::read(&file).unwrap(), b"something");
}
