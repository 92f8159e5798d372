//! tests/data/kernel/probe.c, compiled unchanged, on machines without a GPU: the answers of real kernels.
//!
//! Masked are only the values of clocks and the duration of waits.

use crate::{folder, is_on_machine};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiled program; `None` when there is no C compiler.
fn probe() -> Option<PathBuf> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let program = folder("probe").join("probe");
    let compiled = Command::new(&compiler)
        .arg("-O1")
        .arg("-I")
        .arg(data.join("uapi/compat"))
        .arg("-I")
        .arg(data.join("uapi/linux-7.3.4"))
        .arg("-D__counted_by(x)=")
        .arg("-o")
        .arg(&program)
        .arg(data.join("kernel/probe.c"))
        .arg("-lpthread")
        .output();
    match compiled {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(program)
        }
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "{compiler}: {error}");
            println!("skipped: no C compiler: {compiler}: {error}");
            None
        }
    }
}

/// Replaces the number after each of the keys.
fn masked(line: &str) -> String {
    let mut line = line.to_owned();
    for key in ["took=", " cpu=", " sys="] {
        if let Some(at) = line.find(key) {
            let start = at + key.len();
            let digits = line[start..].bytes().take_while(u8::is_ascii_digit).count();
            line.replace_range(start..start + digits, "N");
        }
    }
    line
}

/// The lines of the program's main thread, and those of the others: which of two threads prints first when one wakes
/// the other is chance.
fn by_thread(mut text: String) -> (Vec<String>, Vec<String>) {
    const OTHER: &str = "  [thread] ";
    let mut others = Vec::new();
    while let Some(start) = text.find(OTHER) {
        let end = text[start..].find('\n').map_or(text.len(), |length| start + length + 1);
        others.push(text[start..end].to_owned());
        text.replace_range(start..end, "");
    }
    (text.lines().map(masked).collect(), others)
}

fn compare(program: &Path, kernel: &str, arguments: &[&str], golden: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simrun"));
    command.args(["--machine", "none", "--kernel", kernel]).arg(program).args(arguments);
    let output = command.output().unwrap();
    let (ours, our_others) = by_thread(String::from_utf8(output.stdout).unwrap());
    let (theirs, their_others) = by_thread(golden.to_owned());
    assert_eq!(our_others, their_others);
    let pairs = ours.iter().zip(&theirs).filter(|(ours, theirs)| ours != theirs);
    let differing: Vec<String> =
        pairs.map(|(ours, theirs)| format!("simulated: {ours}\n     real: {theirs}")).collect();
    assert!(differing.is_empty(), "{} lines differ:\n{}", differing.len(), differing.join("\n"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(ours.len(), theirs.len(), "{}\n{said}", output.status);
    assert!(output.status.success());
}

#[test]
fn answers_are_those_of_real_kernels() {
    if is_on_machine() {
        return;
    }
    let Some(program) = probe() else { return };
    let golden = include_str!("../../../../tests/data/kernel/probe-6.18.out");
    compare(&program, "6.18", &[], golden);
    let golden = include_str!("../../../../tests/data/kernel/probe-6.12.out");
    compare(&program, "6.12", &["danger"], golden);
}
