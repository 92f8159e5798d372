//! The command as a shell sees it.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn object(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../kernels/objects/gfx1151/v5/wave32")
        .join(format!("{name}.hsaco"))
}

fn selvedge(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selvedge"));
    command.args(arguments).env_remove("SELVEDGE_DEVICE").output().expect("the command runs")
}

#[track_caller]
fn succeeds(arguments: &[&str]) -> String {
    let output = selvedge(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).expect("text")
}

#[track_caller]
fn fails(arguments: &[&str], status: i32) -> String {
    let output = selvedge(arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {error}");
    assert!(output.stdout.is_empty(), "{arguments:?} printed a result");
    error
}

/// A directory of the test's own, gone when it ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("selvedge-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a scratch directory");
        Scratch(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a path of text").to_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn devices() {
    let rows: Value =
        serde_json::from_str(&succeeds(&["devices", "--sim", "gfx1100", "--json"])).unwrap();
    assert_eq!(rows[0]["target"], "gfx1100");
    assert_eq!(rows[0]["simulated"], true);
    assert_eq!(rows[0]["kind"], "discrete");
    let text = succeeds(&["devices", "--sim", "gfx1151"]);
    assert!(text.contains("gfx1151 (simulated)") && text.contains("integrated"), "{text}");
    let error = fails(&["devices", "--sim", "gfx9"], 1);
    assert!(error.contains("gfx1151"), "{error}");
}

#[test]
fn inspect() {
    let file = object("k03_reduce");
    let file = file.to_str().unwrap();
    let text = succeeds(&["inspect", file]);
    for part in [
        "gfx1151",
        "kernel reduce",
        "workgroups of exactly [256, 1, 1]",
        "LDS 1024 bytes",
        "global_buffer",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let report: Value = serde_json::from_str(&succeeds(&["inspect", file, "--json"])).unwrap();
    let object = &report["entries"][0]["object"];
    let kernels = object["kernels"].as_array().unwrap();
    let dynamic = kernels.iter().find(|kernel| kernel["name"] == "reduce_dyn").unwrap();
    let kinds: Vec<&str> = dynamic["arguments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| a["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds[..3], ["global_buffer", "global_buffer", "dynamic_shared_pointer"]);
    let source = object_source();
    let error = fails(&["inspect", source.to_str().unwrap()], 1);
    assert!(error.contains("vector_add.cl"), "{error}");
    let error = fails(&["inspect", "/nonexistent"], 1);
    assert!(error.contains("/nonexistent"), "{error}");
}

#[test]
fn disasm() {
    let file = object("calls");
    let file = file.to_str().unwrap();
    let text = succeeds(&["disasm", file]);
    assert!(text.starts_with("; ") && text.contains("gfx1151\n"), "{text}");
    for part in ["\ncall_direct:\n", "\ncall_with_stack:\n", "\ts_endpgm ", " // 00"] {
        assert!(text.contains(part), "needed {part:?} in {text}");
    }
    let one = succeeds(&["disasm", file, "--kernel", "call_direct"]);
    assert!(one.contains("\ncall_direct:\n") && !one.contains("call_with_stack:"), "{one}");
    assert!(text.contains(one.lines().nth(2).unwrap()), "the kernel is part of the whole");
    let error = fails(&["disasm", file, "--kernel", "nope"], 1);
    assert!(error.contains("no kernel `nope`") && error.contains("call_direct"), "{error}");
    let error = fails(&["disasm", file, "--target", "gfx1100"], 1);
    assert!(error.contains("no code object for gfx1100"), "{error}");
    let error = fails(&["disasm", object_source().to_str().unwrap()], 1);
    assert!(error.contains("vector_add.cl"), "{error}");
}

fn object_source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/vector_add.cl")
}

#[test]
fn run_adds() {
    let scratch = Scratch::new("run");
    let words = |f: fn(i32) -> i32| (0..1000).flat_map(|i| f(i).to_le_bytes()).collect::<Vec<u8>>();
    let (a, b, c) = (scratch.file("a"), scratch.file("b"), scratch.file("c"));
    std::fs::write(&a, words(|i| i * 5)).unwrap();
    std::fs::write(&b, words(|i| -i)).unwrap();
    let code = object("k01_vadd");
    let line = succeeds(&[
        "run",
        "--hsaco",
        code.to_str().unwrap(),
        "--kernel",
        "vadd",
        "--grid",
        "1024",
        "--block",
        "256",
        "--device",
        "sim",
        "--repeat",
        "6",
        "--rotate-input",
        "1:3",
        "--in",
        &format!("{a}:4000"),
        "--in",
        &format!("{b}:4000"),
        "--out",
        &format!("{c}:4000"),
        "--i32",
        "1000",
    ]);
    let report: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(report["launches"], 6);
    assert_eq!(report["simulated"], true);
    assert!(report["total_ms"].as_f64().unwrap() > 0.0);
    assert!(report["us_per_launch"].as_f64().unwrap() > 0.0);
    assert_eq!(std::fs::read(&c).unwrap(), words(|i| i * 4));
}

#[test]
fn run_keeps_the_order_of_arguments() {
    let scratch = Scratch::new("order");
    let y = scratch.file("y");
    let x = scratch.file("x");
    let floats = |value: f32| value.to_le_bytes().repeat(64);
    // The kernel's buffer is the start of the file; what follows stays.
    std::fs::write(&y, [floats(1.0), vec![7; 9]].concat()).unwrap();
    std::fs::write(&x, floats(2.0)).unwrap();
    let code = object("k02_saxpy");
    succeeds(&[
        "run",
        "--hsaco",
        code.to_str().unwrap(),
        "--kernel",
        "saxpy",
        "--grid",
        "64,1,1",
        "--block",
        "64,1,1",
        "--device",
        "sim",
        "--inout",
        &format!("{y}:256"),
        "--in",
        &format!("{x}:256"),
        "--f32",
        "-3.5",
        "--i32",
        "64",
    ]);
    assert_eq!(std::fs::read(&y).unwrap(), [floats(-6.0), vec![7; 9]].concat());
}

#[test]
fn run_ends_when_the_kernel_does_not() {
    let (code, scratch) = (object("endless"), Scratch::new("endless"));
    let progress = format!("{}:4", scratch.file("progress"));
    let error = fails(
        &[
            "run",
            "--hsaco",
            code.to_str().unwrap(),
            "--kernel",
            "endless",
            "--grid",
            "1",
            "--block",
            "1",
            "--device",
            "sim",
            "--out",
            &progress,
            "--timeout",
            "0.05",
        ],
        1,
    );
    assert!(error.contains("kernel endless is not done after 0.05 s"), "{error}");
    assert!(error.contains("SELVEDGE_SIM_WATCHDOG"), "{error}");
}

#[test]
fn mistakes_are_64_and_failures_are_1() {
    let code = object("k01_vadd");
    let code = code.to_str().unwrap();
    let run = |more: &[&str]| -> Vec<String> {
        let start = ["run", "--hsaco", code, "--kernel", "vadd"];
        let device = if more.contains(&"--device") { &[][..] } else { &["--device", "sim"] };
        start.iter().chain(device).chain(more).map(|s| (*s).to_owned()).collect()
    };
    for (more, status, text) in [
        (&["--grid", "64"][..], 64, "--block"),
        (&["--grid", "64", "--block", "64", "--nope"], 64, "--nope"),
        (&["--grid", "4294967296", "--block", "64"], 64, "4294967296"),
        (&["--grid", "64", "--block", "64,1"], 64, "dimensions"),
        (&["--grid", "64", "--block", "64", "--repeat", "0"], 64, "repeat"),
        (&["--grid", "64", "--block", "64", "--rotate-input", "0:65"], 64, "2 to 64"),
        (&["--grid", "64", "--block", "64", "--rotate-input", "0:2"], 64, "0 inputs"),
        (&["--grid", "64", "--block", "64", "--in", "nofile"], 64, "PATH:BYTES"),
        (&["--grid", "64", "--block", "64", "--i32", "4294967296"], 64, "32 bits"),
        (&["--grid", "64", "--block", "64", "--f32", "1e50"], 64, "1e50"),
        (&["--grid", "64", "--block", "64", "--device", "gpu"], 64, "gpu"),
        (&["--grid", "64", "--block", "64", "--out", "/nonexistent/o:4"], 1, "/nonexistent/o"),
        (&["--grid", "64", "--block", "64", "--in", "/nonexistent:4"], 1, "/nonexistent"),
        (&["--grid", "64", "--block", "64", "--i32", "1"], 1, "takes 4 arguments, 1 were given"),
    ] {
        let arguments = run(more);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let error = fails(&arguments, status);
        assert!(error.contains(text), "{more:?}: {error}");
    }
    let error = fails(&["inspect", "--target", "gfx90a", code], 1);
    assert!(error.contains("gfx90a") && error.contains("gfx1151"), "{error}");
    fails(&[], 64);
    fails(&["explode"], 64);
    assert!(succeeds(&["--version"]).starts_with("selvedge "));
    // No device named, and no GPU here or one: never the simulated machine by itself.
    let output =
        selvedge(&["run", "--hsaco", code, "--kernel", "vadd", "--grid", "1", "--block", "1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!String::from_utf8_lossy(&output.stdout).contains("simulated"));
}
