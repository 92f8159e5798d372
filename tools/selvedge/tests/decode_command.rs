//! `selvedge decode` as a shell sees it.

use serde_json::Value;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const CALL: &str = "c0023f00 00001000 00000000 00800002 # a call\n";
const PM4: [&str; 5] = ["decode", "--engine", "pm4", "--gfx", "gfx1151"];

fn selvedge(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_selvedge"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    // A command that refuses its arguments does not read.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("the command ends")
}

/// Standard output and standard error.
#[track_caller]
fn run(arguments: &[&str], input: &[u8], status: i32) -> (String, String) {
    let output = selvedge(arguments, input);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    let (out, error) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {error}");
    (out, error)
}

fn with<'a>(arguments: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [arguments, more].concat()
}

/// A file of the test's own, gone when it ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, contents: &[u8]) -> Scratch {
        let name = format!("selvedge-decode-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, contents).expect("a scratch file");
        Scratch(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("a path of text")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn text_from_standard_input() {
    let (out, error) = run(&with(&PM4, &["--base", "0x8000", "-"]), CALL.as_bytes(), 0);
    assert!(out.starts_with("standard input: pm4 of gfx1151 (gfx11.5)\n"), "{out}");
    for part in ["[0] 0x8000 INDIRECT_BUFFER\n", "--memory FILE@0x1000"] {
        assert!(out.contains(part), "{part} in\n{out}");
    }
    assert_eq!(error, "");
}

#[test]
fn binary_with_memory_as_json() {
    let words = [0xc002_3f00_u32, 0x1000, 0, 0x0080_0002].map(u32::to_le_bytes).concat();
    let file = Scratch::new("file", &words);
    let memory = Scratch::new("memory", b"ffff1000 ffff1000");
    let image = format!("{}@0x1000", memory.path());
    let arguments = with(&PM4, &["--json", "--memory", &image, file.path()]);
    let report: Value = serde_json::from_str(&run(&arguments, b"", 0).0).unwrap();
    assert_eq!(report["input"], file.path());
    let followed = &report["streams"][0]["packets"][0]["calls"][0]["followed"];
    assert_eq!(*followed, serde_json::json!({ "outcome": "decoded", "stream": 1 }));
    assert_eq!(report["streams"][1]["packets"][1]["name"], "NOP.header");
}

#[test]
fn a_fault_is_told_after_what_is_before_it() {
    let (out, error) = run(&with(&PM4, &["-"]), b"ffff1000 c0064900 1", 1);
    assert!(out.contains("NOP.header") && out.contains("[1] 0x4 FAULT"), "{out}");
    assert_eq!(
        error,
        "selvedge: standard input: dword 1 (address 0x4): 0xc0064900: RELEASE_MEM (opcode 0x49): needed 8 \
         dwords, got 2; the stream is cut off, or a packet before it says a wrong length\n"
    );
    let (out, _) = run(&with(&PM4, &["--json", "-"]), b"ffff1000 c0064900 1", 1);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["streams"][0]["fault"]["needed"], 8);
}

#[test]
fn rings() {
    let ring = ["--ring", "--rptr", "0xe", "--wptr", "0x12", "-"];
    let words = "407 80000000 ".to_owned() + &"ffff1000 ".repeat(13) + "c0004600";
    let (out, _) = run(&with(&PM4, &ring), words.as_bytes(), 0);
    assert!(out.contains("[15] 0x3c EVENT_WRITE\n    c0004600 00000407\n"), "{out}");
    assert!(!out.contains("stream 1"), "{out}");
    let (out, _) = run(&with(&with(&PM4, &ring), &["--all"]), words.as_bytes(), 0);
    assert!(out.contains("the same 11 times more"), "{out}");
    let (_, error) = run(&with(&PM4, &ring), b"0 0 0", 1);
    assert!(error.contains("a ring of 12 bytes"), "{error}");
}

#[test]
fn mistakes_are_64_and_failures_are_1() {
    for (arguments, input, status, text) in [
        (with(&PM4, &["/nonexistent"]), "", 1, "/nonexistent"),
        (with(&PM4, &["-"]), "0 123456789", 1, "line 1, column 3"),
        (with(&PM4, &["-"]), "xyz", 1, "3 bytes"),
        (with(&PM4, &["--memory", "/nonexistent@0", "-"]), "", 1, "/nonexistent"),
        (with(&PM4, &["--memory", "/nonexistent", "-"]), "", 64, "FILE@ADDRESS"),
        (with(&PM4, &["--base", "2", "-"]), "", 64, "multiple of 4"),
        (with(&PM4, &["--rptr", "0", "--wptr", "0", "-"]), "", 64, "--ring"),
        (with(&PM4, &["--ring", "--rptr", "0", "-"]), "", 64, "--wptr"),
        (with(&PM4, &["--ring", "--rptr", "9", "--wptr", "3", "-"]), "0 0 0 0", 64, "is ahead"),
        (
            with(&PM4, &["--base", "0xfffffffffffffffc", "-"]),
            "0 0",
            64,
            "at most 0xfffffffffffffff8",
        ),
        (with(&PM4, &["--sdma", "6", "-"]), "", 64, "6.0"),
        (with(&PM4, &[]), "", 64, "FILE"),
        (vec!["decode", "--engine", "pm4", "--gfx", "gfx1250", "-"], "", 64, "gfx12"),
        (vec!["decode", "--engine", "dma", "--gfx", "gfx1151", "-"], "", 64, "sdma"),
    ] {
        let (out, error) = run(&arguments, input.as_bytes(), status);
        assert!(error.contains(text), "{arguments:?}: {error}");
        assert_eq!(out, "", "{arguments:?}");
    }
}

/// Runs the command in so much address space, and gives the size of its output.
#[cfg(target_os = "linux")]
#[track_caller]
fn output_within(kilobytes: usize, arguments: &[&str], path: &str) -> u64 {
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -v \"$1\"; shift; exec \"$@\"", "sh", &kilobytes.to_string()])
        .arg(env!("CARGO_BIN_EXE_selvedge"))
        .args(arguments)
        .arg(path)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut out = child.stdout.take().expect("a pipe");
    let size = std::io::copy(&mut out, &mut std::io::sink()).expect("output");
    assert!(child.wait().expect("the command ends").success());
    size
}

#[test]
#[cfg(target_os = "linux")]
fn a_big_file_takes_little_more_memory_than_its_size() {
    let nops = 0xffff_1000_u32.to_le_bytes();
    let file = Scratch::new("big", &nops.repeat(16 << 20));
    let size = output_within((64 + 32) << 10, &PM4, file.path());
    assert!(size < 1000, "equal packets are shown once: {size}");
    // Different ones: each is printed.
    let two = [nops, 0x8000_0000_u32.to_le_bytes()].concat();
    let file = Scratch::new("two", &two.repeat(1 << 17));
    assert!(output_within(32 << 10, &PM4, file.path()) > 8 << 20);
    assert!(output_within(32 << 10, &with(&PM4, &["--json"]), file.path()) > 64 << 20);
}

#[test]
fn a_reader_that_closes_the_pipe_is_no_failure() {
    let two = [0xffff_1000_u32, 0x8000_0000].map(u32::to_le_bytes).concat();
    let file = Scratch::new("closed", &two.repeat(1 << 16));
    for more in [&[][..], &["--json"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_selvedge"))
            .args(with(&with(&PM4, more), &[file.path()]))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command runs");
        let mut start = [0; 10];
        let mut out = child.stdout.take().expect("a pipe");
        out.read_exact(&mut start).expect("output");
        drop(out);
        let output = child.wait_with_output().expect("the command ends");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*error), (Some(0), ""), "{more:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    for more in [&["-"][..], &["--json", "-"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("/dev/full");
        let output = Command::new(env!("CARGO_BIN_EXE_selvedge"))
            .args(with(&PM4, more))
            .stdin(Stdio::null())
            .stdout(full)
            .output()
            .expect("the command runs");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.starts_with("selvedge: standard output: No space left on device"), "{error}");
    }
}
