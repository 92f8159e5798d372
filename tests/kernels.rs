//! Every kernel of `kernels/`, built by clang for the GPU and run on the simulated machine, gives what
//! the same source compiled by clang for x86-64 gave (`tests/data/kernels`).
//!
//! `SELVEDGE_KERNELS` may name a further directory with trees like `kernels/objects` in it (other
//! optimisation levels, renamed kernels: `kernels/build.py --variants`); they are run as well.

mod case;

use case::Suite;
use selvedge::Device;
use std::path::{Path, PathBuf};

fn suites() -> Vec<Suite> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/kernels");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(directory)
        .expect("the reference results")
        .map(|entry| entry.expect("a directory entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    paths.sort();
    paths.iter().map(|path| Suite::read(path)).collect()
}

/// Runs all cases on the objects below `tree`; returns how many ran.
fn run_tree(tree: &Path, target: &str) -> usize {
    let device = Device::select(&format!("sim:{target}").parse().unwrap()).expect("a device");
    let mut failures = Vec::new();
    let mut ran = 0;
    for suite in suites() {
        for version in ["v5", "v6"] {
            for wave in [32, 64] {
                let object = tree.join(target).join(version).join(format!("wave{wave}"));
                let object = object.join(format!("{}.hsaco", suite.object));
                if !object.exists() {
                    continue;
                }
                for case in suite.cases.iter().filter(|c| c.wave.is_none_or(|w| w == wave)) {
                    ran += 1;
                    if let Err(error) = case.run(&device, &object) {
                        failures.push(format!(
                            "{target} {version} wave{wave} {} {}: {error}",
                            suite.object, case.kernel
                        ));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {ran} failed:\n{}", failures.len(), failures.join("\n"));
    ran
}

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/objects")
}

#[test]
fn kernels_on_gfx1151() {
    assert!(run_tree(&committed(), "gfx1151") >= 100);
}

#[test]
fn kernels_on_gfx1100() {
    assert!(run_tree(&committed(), "gfx1100") >= 100);
}

#[test]
fn kernels_on_gfx1201() {
    assert!(run_tree(&committed(), "gfx1201") >= 100);
}

#[test]
fn kernels_on_gfx90a() {
    assert!(run_tree(&committed(), "gfx90a") >= 100);
}

#[test]
fn kernels_on_gfx942() {
    assert!(run_tree(&committed(), "gfx942") >= 100);
}

#[test]
fn kernels_on_gfx906() {
    assert!(run_tree(&committed(), "gfx906") >= 100);
}

#[test]
fn kernels_on_gfx1030() {
    assert!(run_tree(&committed(), "gfx1030") >= 100);
}

#[test]
fn variants() {
    let Some(directory) = std::env::var_os("SELVEDGE_KERNELS") else { return };
    for entry in std::fs::read_dir(directory).expect("SELVEDGE_KERNELS is a directory") {
        let tree = entry.expect("a directory entry").path();
        for target in ["gfx1151", "gfx1100", "gfx1201", "gfx90a", "gfx942", "gfx906", "gfx1030"] {
            let ran = run_tree(&tree, target);
            println!("{} {target}: {ran} cases", tree.display());
            assert!(ran >= 100);
        }
    }
}
