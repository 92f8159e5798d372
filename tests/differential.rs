//! Random programs, compiled by clang for the GPU and run on the simulated machine, give what the same
//! source compiled by clang for x86-64 gave.
//!
//! `kernels/differential/differential.py` makes batches of them. A small one is stored in
//! `tests/data/differential`; `SELVEDGE_DIFFERENTIAL` names a directory with a further one.

mod case;

use case::Suite;
use selvedge::Device;
use std::path::{Path, PathBuf};

/// What is in a directory, sorted.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(directory).unwrap_or_else(|e| panic!("{}: {e}", directory.display()));
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("a directory entry").path()).collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_name().expect("a named file").to_string_lossy().into_owned()
}

/// Runs every program of a batch on every target it was compiled for, printing a line for each that
/// differs; returns how many ran, and how many differ.
fn run(batch: &Path) -> (usize, usize) {
    let suites: Vec<Suite> = entries(&batch.join("cases")).iter().map(|p| Suite::read(p)).collect();
    let (mut ran, mut differ) = (0, 0);
    for directory in entries(&batch.join("objects")) {
        let target = name(&directory);
        let open = || Device::select(&format!("sim:{target}").parse().unwrap()).expect("a device");
        let (mut device, mut here, mut differ_here) = (open(), 0, 0);
        for suite in &suites {
            for case in &suite.cases {
                let wave = case.wave.expect("every program names its wave size");
                let object = directory.join(format!("wave{wave}/{}.hsaco", suite.object));
                if !object.exists() {
                    continue;
                }
                here += 1;
                if let Err(error) = case.run(&device, &object) {
                    differ_here += 1;
                    let error = error.replace('\n', " ");
                    println!("differs: {} {target} wave{wave}: {error}", suite.object);
                    device = open(); // a fault would have ended the old one
                }
            }
        }
        println!("differential: {target}: {here} programs, {differ_here} differ");
        (ran, differ) = (ran + here, differ + differ_here);
    }
    (ran, differ)
}

#[test]
fn committed() {
    let (ran, differ) = run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/differential"));
    assert!(ran >= 20 && differ == 0, "{differ} of {ran} programs differ");
}

#[test]
fn batch() {
    let Some(directory) = std::env::var_os("SELVEDGE_DIFFERENTIAL") else { return };
    let (ran, differ) = run(Path::new(&directory));
    assert!(ran > 0 && differ == 0, "{differ} of {ran} programs differ");
}
