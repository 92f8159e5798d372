//! What `simrun` leaves behind, and says.

use crate::{folder, is_on_machine, simrun};
use std::path::Path;
use std::time::{Duration, Instant};

/// The entries of a folder, once there are `count`, or after a while.
fn entries(folder: &Path, count: usize) -> Vec<std::ffi::OsString> {
    let start = Instant::now();
    loop {
        let names: Vec<_> =
            folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        if names.len() == count || start.elapsed() > Duration::from_secs(20) {
            return names;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn nothing_is_left_behind() {
    if is_on_machine() {
        return;
    }
    let folder = folder("left");
    let mut command = simrun("gfx1151");
    let status = command.env("TMPDIR", &folder).args(["cat", "/sys/class/kfd/kfd/dev"]).status();
    assert!(status.unwrap().success());
    assert!(entries(&folder, 0).is_empty());
    // A program that is killed, too.
    let mut command = simrun("gfx1151");
    let mut killed = command.env("TMPDIR", &folder).args(["sleep", "100"]).spawn().unwrap();
    assert_eq!(entries(&folder, 1).len(), 1);
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(entries(&folder, 0).is_empty());
    // What a program leaves running keeps the machine.
    let mut command = simrun("gfx1151");
    let script = "(sleep 1; cat /sys/class/kfd/kfd/dev) & exit 0";
    let output = command.env("TMPDIR", &folder).args(["sh", "-c", script]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "235:0\n");
    assert!(entries(&folder, 0).is_empty());
}

#[test]
fn exit_codes() {
    if is_on_machine() {
        return;
    }
    let code = |machine: &str, program: &[&str]| simrun(machine).args(program).output().unwrap();
    assert_eq!(code("gfx1151", &["sh", "-c", "exit 7"]).status.code(), Some(7));
    assert_eq!(code("gfx1151", &["no-such-program"]).status.code(), Some(127));
    let unknown = code("gfx9999", &["true"]);
    assert_eq!(unknown.status.code(), Some(125));
    assert!(String::from_utf8(unknown.stderr).unwrap().contains("gfx9999"));
}

/// What `simrun` says of itself when it has failed.
fn told(command: &mut std::process::Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn what_cannot_be_run_is_told() {
    if is_on_machine() {
        return;
    }
    let told = |option: &str, value: &str| told(simrun("gfx1151").args([option, value, "true"]));
    assert!(told("--kernel", "5.0").contains("no kernel of this version"));
    assert!(told("--machin", "gfx1030").contains("--machin"));
    assert!(told("--log", "/no/such/folder").contains("/no/such/folder"));
    for (variable, value) in [("TMPDIR", "/no/such"), ("SELVEDGE_PRELOAD", "/no/such")] {
        let said = self::told(simrun("gfx1151").env(variable, value).arg("true"));
        assert!(said.contains("/no/such: No such file"), "{said}");
    }
    let said = self::told(&mut simrun("gfx1151"));
    assert!(said.contains("PROGRAM"), "{said}");
    // Neither empty variable says anything.
    let mut command = simrun("gfx1151");
    let status = command.env("TMPDIR", "").env("SELVEDGE_PRELOAD", "").arg("true").status();
    assert!(status.unwrap().success());
}

/// An ELF file (elf.h) of x86-64 with one program header of a kind, which no system would run.
fn elf(kind: u8) -> Vec<u8> {
    let mut file = vec![0; 64 + 56];
    file[..6].copy_from_slice(b"\x7fELF\x02\x01");
    (file[16], file[18], file[32], file[54], file[56]) = (2, 62, 64, 56, 1);
    file[64] = kind;
    file
}

#[test]
fn programs_without_a_dynamic_linker_are_told_of() {
    if is_on_machine() {
        return;
    }
    let folder = folder("programs");
    let (loaded, linked) = (1, 3);
    for (name, kind, told) in [("static", loaded, true), ("dynamic", linked, false)] {
        let program = folder.join(name);
        std::fs::write(&program, elf(kind)).unwrap();
        let output = simrun("none").arg(&program).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.contains("does not see the machine: it is linked statically"), told);
        // It is not executable.
        assert_eq!(output.status.code(), Some(126));
    }
}

#[test]
fn the_library_may_lie_anywhere() {
    if is_on_machine() {
        return;
    }
    let folder = folder("a folder: with spaces");
    // Tests alone build it in `deps/` only.
    let beside = Path::new(env!("CARGO_BIN_EXE_simrun")).with_file_name("deps");
    let library = beside.join("libselvedge_preload.so");
    let linked = folder.join("libselvedge_preload.so");
    std::os::unix::fs::symlink(library, &linked).unwrap();
    let copy = folder.join("library.so");
    std::fs::copy(&linked, &copy).unwrap();
    let mut command = simrun("gfx1151");
    let output = command.env("SELVEDGE_PRELOAD", &copy).args(["cat", "/sys/class/kfd/kfd/dev"]);
    assert_eq!(String::from_utf8(output.output().unwrap().stdout).unwrap(), "235:0\n");
    let said = told(command.env("TMPDIR", &folder));
    assert!(said.contains("a space or a colon"), "{said}");
}

#[test]
fn a_limit_of_files_is_told() {
    if is_on_machine() {
        return;
    }
    let mut command = std::process::Command::new("sh");
    let script = "ulimit -f 100; exec \"$0\" true";
    let said = told(command.args(["-c", script, env!("CARGO_BIN_EXE_simrun")]));
    assert!(said.contains("File too large"), "{said}");
}

#[test]
fn the_record_has_a_line_for_each_call() {
    if is_on_machine() {
        return;
    }
    let log = folder("record").join("calls");
    let program = ["sh", "-c", "cat /sys/class/kfd/kfd/dev; exec 7<>/dev/kfd; exec 7>&-"];
    let output = simrun("gfx1151").arg("--log").arg(&log).args(program).output().unwrap();
    assert!(output.status.success());
    let text = std::fs::read_to_string(log).unwrap();
    for line in ["open /sys/class/kfd/kfd/dev", "machine gfx1151, KFD 1.18", "open /dev/kfd"] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let (process, _) = text.split_once('.').unwrap();
    assert!(process.parse::<u32>().is_ok());
}
