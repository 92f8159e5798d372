//! The checks of the simulated machine find nothing in right programs, and the watchdog tells of those that do not end.

mod case;

use case::Suite;
use selvedge::{Device, Error, Fault, Geometry};
use selvedge_sim::Machine;
use selvedge_sim::shader::{Checks, FindingKind};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Files of a directory of the repository.
fn files(directory: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let entries = std::fs::read_dir(directory).expect("a directory");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths
}

/// Runs cases on objects with all checks; kernels with findings, and how many cases ran.
fn check(target: &str, cases: &str, objects: &[&str]) -> (BTreeSet<String>, usize) {
    let (mut found, mut ran) = (BTreeSet::new(), 0);
    let machine = Machine::builder().gpu(target).unwrap().checks(Checks::ALL).build().unwrap();
    let device = Device::on(machine.process()).unwrap();
    let mut told = 0;
    for suite in files(cases).iter().map(|path| Suite::read(path)) {
        for directory in objects {
            let object = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
            let object = object.join(format!("{}.hsaco", suite.object));
            let wave = if directory.ends_with("wave64") { 64 } else { 32 };
            if !object.exists() {
                continue;
            }
            for case in suite.cases.iter().filter(|case| case.wave.is_none_or(|w| w == wave)) {
                ran += 1;
                if let Err(error) = case.run(&device, &object) {
                    panic!("{target} {}: {error}", case.kernel);
                }
                let findings = machine.findings();
                for finding in &findings[told..] {
                    println!("{target} {}: {finding}", case.kernel);
                    found.insert(case.kernel.clone());
                }
                told = findings.len();
            }
        }
    }
    (found, ran)
}

/// Kernels that race, storing the same: `packet` in a grid that is higher than one.
const RACES: [&str; 1] = ["packet"];

fn check_kernels(target: &str, objects: &[&str]) {
    let (found, ran) = check(target, "tests/data/kernels", objects);
    assert!(ran >= 30, "{ran}");
    assert!(found.iter().eq(&RACES), "{found:?}");
}

#[test]
fn right_kernels_of_gfx1151() {
    let objects = ["kernels/objects/gfx1151/v5/wave32", "kernels/objects/gfx1151/v5/wave64"];
    check_kernels("gfx1151", &objects);
}

#[test]
fn right_kernels_of_gfx1201() {
    check_kernels("gfx1201", &["kernels/objects/gfx1201/v5/wave32"]);
}

#[test]
fn right_kernels_of_gfx90a() {
    check_kernels("gfx90a", &["kernels/objects/gfx90a/v5/wave64"]);
}

#[test]
fn right_random_programs() {
    for (target, wave) in [("gfx1151", 32), ("gfx1201", 64), ("gfx906", 64)] {
        let objects = format!("tests/data/differential/objects/{target}/wave{wave}");
        let (found, ran) = check(target, "tests/data/differential/cases", &[&objects]);
        assert!(ran > 0 && found.is_empty(), "{target}: {found:?} of {ran}");
    }
}

#[test]
fn an_endless_kernel_is_named_and_the_gpu_reset() {
    let machine = Machine::builder().gpu("gfx1151").unwrap().watchdog(100_000).build().unwrap();
    let device = Device::on(machine.process()).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("kernels/objects/gfx1151/v5/wave32/endless.hsaco");
    let code = std::fs::read(path).unwrap();
    // SAFETY: the kernels are this repository's own.
    #[expect(unsafe_code, reason = "runs the repository's own kernels")]
    let executable = unsafe { device.load(&code, "endless.hsaco") }.unwrap();
    let kernel = executable.kernel("endless").unwrap();
    let buffer = device.allocate_from(&[0u32; 64]).unwrap();
    let stream = device.stream().unwrap();
    let geometry = Geometry::linear(64, 64).unwrap();
    // SAFETY: the kernel uses the buffer only.
    #[expect(unsafe_code, reason = "runs the repository's own kernels")]
    let submission = unsafe { stream.dispatch(&kernel, &geometry, &[(&buffer).into()]) }.unwrap();
    let error = submission.wait(Duration::from_secs(60)).unwrap_err();
    let Error::DeviceLost(fault) = &error else { panic!("{error}") };
    assert!(matches!(fault.as_ref(), Fault::Reset(_)), "{fault}");
    let [finding] = &machine.findings()[..] else { panic!("{:?}", machine.findings()) };
    assert_eq!(finding.kind, FindingKind::Endless { instructions: 100_000 });
    assert!(finding.site.instruction.is_some());
    assert_eq!((finding.site.workgroup, finding.site.wave), ([0; 3], 0));
}
