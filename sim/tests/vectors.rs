//! Runs recorded instruction vectors and whole kernels on the shader core and compares what they leave in memory.
//!
//! The data and the rules of judging are described in `tests/data/vectors/SOURCE`. Further `*.jsonl` files in the
//! directory that `SELVEDGE_VECTORS` names are run too.

use selvedge_sim::memory::{AddressSpace, Backing, Permissions};
use selvedge_sim::profile::{self, Gpu};
use selvedge_sim::shader::{Launch, Statistics, WaveFault, WaveFaultKind, run_on};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Vectors of the repository that the core may leave unsupported. May only fall.
const UNSUPPORTED: usize = 0;
/// Vectors of the repository that cannot be judged: those recorded with a wave size their test on hardware did not
/// have, and those whose assertions give no values. May only fall.
const SKIPPED: usize = 24;
/// Vectors of the repository that pass: a vector that vanished or is no longer run is missed.
const PASSED: usize = 623;

const CODE: u64 = 0x10_0000_0000;
const OUT: u64 = 0x20_0000_0000;
const KERNARG: u64 = 0x30_0000_0000;
const SCRATCH: u64 = 0x40_0000_0000;

/// How one vector went.
enum Outcome {
    Passed,
    Failed(String),
    Unsupported(String),
    Skipped(String),
}

fn hex(text: &str) -> Vec<u8> {
    let digit = |c: u8| (c as char).to_digit(16).expect("a hex digit") as u8;
    text.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} is a number: {}", value[key]))
}

fn sizes(value: &Value) -> [u32; 3] {
    std::array::from_fn(|i| value[i].as_u64().expect("a size") as u32)
}

fn map(space: &AddressSpace, at: u64, bytes: &[u8], permissions: Permissions) -> Arc<Backing> {
    let length = (bytes.len() as u64).next_multiple_of(4096);
    let backing = Arc::new(Backing::zeroed(length));
    for (offset, &byte) in bytes.iter().enumerate() {
        backing.store_u8(offset as u64, byte);
    }
    assert!(space.map(at, length, Arc::clone(&backing), 0, permissions), "{at:#x} is free");
    backing
}

fn dword(bytes: &[u8], index: usize) -> u32 {
    u32::from_le_bytes(bytes[4 * index..4 * index + 4].try_into().expect("four bytes"))
}

fn contents(backing: &Backing, length: usize) -> Vec<u8> {
    (0..length as u64).map(|offset| backing.load_u8(offset)).collect()
}

fn execute(gpu: &Gpu, launch: &Launch, space: &Arc<AddressSpace>) -> Result<Statistics, WaveFault> {
    run_on(gpu, launch, space, &AtomicBool::new(false), 1)
}

/// The outcome of a fault.
fn faulted(fault: &WaveFault) -> Outcome {
    match &fault.kind {
        WaveFaultKind::NotModelled(reason)
            if ["not modelled", "no tables", "reserved code"]
                .iter()
                .any(|text| reason.contains(text)) =>
        {
            Outcome::Unsupported(reason.clone())
        }
        _ => Outcome::Failed(format!("{fault:?}")),
    }
}

/// Sets IMM in the load of the output's address that every program for gfx950 ends with. Recorded without it, the offset
/// would be the register s0 (LLVM's disassembler; AMD "Instinct MI300" ISA document, "Scalar Memory Reads"), which the
/// software model that recorded them does not know.
fn load_by_immediate(code: &mut [u8]) {
    const LOAD: [u8; 4] = 0xc004_1728_u32.to_le_bytes(); // s_load_dwordx2 s[92:93], s[80:81], s0
    const IMM: u8 = 2; // Bit 17.
    for word in code.chunks_exact_mut(4).filter(|word| **word == LOAD) {
        word[2] |= IMM;
    }
}

/// One test program: registers written to a buffer afterwards.
fn instructions(vector: &Value, gpu: &Gpu) -> Outcome {
    if vector["wave_size"] != vector["hw_wave_size"] {
        return Outcome::Skipped("recorded with another wave size than the hardware's".into());
    }
    let space = Arc::new(AddressSpace::new());
    let all = Permissions::READ | Permissions::WRITE | Permissions::EXECUTE;
    let mut code = hex(vector["code"].as_str().expect("code"));
    if vector["gfx"] == "gfx950" {
        load_by_immediate(&mut code);
    }
    map(&space, CODE, &code, all);
    let size = number(vector, "out_size") as usize;
    let out = map(&space, OUT, &vec![0; size], all);
    map(&space, KERNARG, &OUT.to_le_bytes(), all);
    let (grid, block) = (sizes(&vector["grid"]), sizes(&vector["block"]));
    let wave32 = number(vector, "wave_size") == 32;
    let lane_bytes = number(vector, "scratch_bytes_per_lane") as u32;
    let wave_bytes = lane_bytes * if wave32 { 32 } else { 64 };
    let scratch_waves = 4;
    if wave_bytes != 0 {
        map(&space, SCRATCH, &vec![0; (wave_bytes * scratch_waves) as usize], all);
    }
    let mut user_data = [0; 32];
    user_data[0] = KERNARG as u32;
    user_data[1] = (KERNARG >> 32) as u32;
    let launch = Launch {
        program: CODE,
        // All 256 VGPRs; FLOAT_MODE 0xC0, DX10_CLAMP, IEEE_MODE.
        rsrc1: 0x3f | 0xc0 << 12 | 1 << 21 | 1 << 23,
        // The programs use scratch without saying so.
        rsrc2: number(vector, "rsrc2") as u32 | u32::from(wave_bytes != 0),
        // As many accumulation VGPRs, where there are any.
        rsrc3: 0x3f,
        wave32,
        user_data,
        grid: std::array::from_fn(|i| grid[i] * block[i]),
        start: [0; 3],
        workgroup: block,
        lds_bytes: number(vector, "lds_bytes") as u32,
        waves_per_compute_unit: 32,
        fill: 0,
        xccs: Default::default(),
        scratch_base: SCRATCH,
        scratch_bytes_per_wave: wave_bytes,
        scratch_waves,
        shared_aperture_hi: 1 << 16,
        private_aperture_hi: 2 << 16,
        trap_handler: None,
    };
    if let Err(fault) = execute(gpu, &launch, &space) {
        return faulted(&fault);
    }
    judge(vector, &contents(&out, size), block.iter().product::<u32>() as usize)
}

/// The dword of the output that holds a location such as `["v", lane, register]`.
fn place(vector: &Value, threads: usize, location: &[Value]) -> Option<usize> {
    let index = |i: usize| location.get(i)?.as_u64().map(|n| n as usize);
    let scalars = 16 * threads;
    Some(match location[0].as_str()? {
        "lane" => index(1)?,
        "v" if vector["layout"] == "lanes" => index(1)?,
        "v" => index(2)? * threads + index(1)?,
        "s" if index(1)? == 126 => scalars + 18,
        "s" if index(1)? == 106 => scalars + 16,
        "s" if index(1)? < 16 => scalars + index(1)?,
        "vcc" => scalars + 16,
        "scc" => scalars + 17,
        _ => return None,
    })
}

fn judge(vector: &Value, got: &[u8], threads: usize) -> Outcome {
    let expected = hex(vector["out"].as_str().expect("out"));
    let list = |key: &str| vector[key].as_array().cloned().unwrap_or_default();
    let ignored: Vec<u64> = ["host_dependent_dwords", "addr_dependent_dwords"]
        .iter()
        .flat_map(|key| list(key))
        .filter_map(|n| n.as_u64())
        .collect();
    let exact = list("exact");
    let mut wrong = Vec::new();
    let kind = vector["check_kind"].as_str().expect("check_kind");
    if exact.is_empty() && kind == "bool" {
        return Outcome::Skipped("ran, but its assertions give no values to compare".into());
    }
    if !exact.is_empty() {
        for entry in &exact {
            let entry = entry.as_array().expect("an entry");
            let (value, location) = entry.split_last().expect("a value");
            let Some(at) = place(vector, threads, location) else { continue };
            if ignored.contains(&(at as u64)) {
                continue;
            }
            let value = value.as_i64().expect("a value") as u32;
            if dword(got, at) != value {
                wrong.push(format!("{location:?} is {:#x}, not {value:#x}", dword(got, at)));
            }
        }
    } else if kind == "exact" {
        for at in 0..expected.len() / 4 {
            let (is, want) = (dword(got, at), dword(&expected, at));
            if !ignored.contains(&(at as u64)) && is != want {
                wrong.push(format!("dword {at} is {is:#x}, not {want:#x}"));
            }
        }
    } else if kind == "approx" || kind == "mixed" {
        let asserts = list("asserts");
        for location in list("accessed") {
            let Some(at) = place(vector, threads, location.as_array().expect("a location")) else {
                continue;
            };
            let tolerance = asserts
                .iter()
                .filter(|a| a["loc"] == location || a["loc"].is_null())
                .filter_map(tolerance)
                .fold(0.0, f64::max);
            let (is, want) = (dword(got, at), dword(&expected, at));
            if !ignored.contains(&(at as u64)) && !close(is, want, tolerance) {
                wrong.push(format!("{location} is {is:#x}, not about {want:#x}"));
            }
        }
    }
    if wrong.is_empty() { Outcome::Passed } else { Outcome::Failed(wrong.join("; ")) }
}

/// What an assertion allows a value to differ by.
fn tolerance(assert: &Value) -> Option<f64> {
    if let Some(delta) = assert["delta"].as_f64() {
        return Some(delta);
    }
    assert["places"].as_f64().map(|places| 0.5 * 10f64.powf(-places))
}

/// Whether two dwords are about the same as a single, as the half in their low bits, or as the upper part of a
/// double.
fn close(is: u32, want: u32, tolerance: f64) -> bool {
    let near = |a: f64, b: f64| {
        a == b
            || a.is_nan() && b.is_nan()
            || (a - b).abs() <= tolerance.max(b.abs() * 2f64.powi(-20))
    };
    let half = |bits: u32| f64::from(half::f16::from_bits(bits as u16).to_f32());
    let single = |bits: u32| f64::from(f32::from_bits(bits));
    let double = |bits: u32| f64::from_bits(u64::from(bits) << 32);
    is == want
        || near(single(is), single(want))
        || is >> 16 == want >> 16 && near(half(is), half(want)) && tolerance > 0.0
        || near(double(is), double(want)) && tolerance > 0.0
}

/// A compiled kernel with its buffers before and after.
fn kernel(vector: &Value, gpu: &Gpu) -> Outcome {
    let space = Arc::new(AddressSpace::new());
    let all = Permissions::READ | Permissions::WRITE | Permissions::EXECUTE;
    map(&space, CODE, &hex(vector["text"].as_str().expect("text")), all);
    map(&space, KERNARG, &hex(vector["kernarg"].as_str().expect("kernarg")), all);
    let buffers = vector["buffers"].as_array().expect("buffers");
    let mut regions: BTreeMap<u64, (u64, Vec<u8>)> = BTreeMap::new();
    for buffer in buffers {
        let (va, offset) = (number(buffer, "va"), number(buffer, "region_offset") as usize);
        let bytes = hex(buffer["before"].as_str().expect("contents"));
        let (_, region) = regions
            .entry(number(buffer, "region"))
            .or_insert_with(|| (va - offset as u64, Vec::new()));
        let end = offset + bytes.len();
        region.resize(region.len().max(end), 0);
        region[offset..end].copy_from_slice(&bytes);
    }
    // Allocations start anywhere; pages that they share are one mapping.
    let mut pages: BTreeMap<u64, [u8; 4096]> = BTreeMap::new();
    for (start, bytes) in regions.values() {
        for (address, &byte) in (*start..).zip(bytes) {
            pages.entry(address & !4095).or_insert([0; 4096])[(address & 4095) as usize] = byte;
        }
    }
    let backings: BTreeMap<u64, Arc<Backing>> =
        pages.iter().map(|(&at, bytes)| (at, map(&space, at, bytes, all))).collect();
    let (grid, block) = (sizes(&vector["grid"]), sizes(&vector["block"]));
    let mut user_data = [0; 32];
    user_data[0] = KERNARG as u32;
    user_data[1] = (KERNARG >> 32) as u32;
    let resource = |index: usize| vector["rsrc"][index].as_u64().expect("a register") as u32;
    // The model that made these flushes denormal halves, though the kernels ask to keep them.
    let halves = vector["op"].as_str().is_some_and(|op| op.starts_with("half"));
    let launch = Launch {
        program: CODE + number(vector, "entry"),
        rsrc1: if halves { resource(0) & !(3 << 18) } else { resource(0) },
        rsrc2: resource(1),
        rsrc3: resource(2),
        wave32: vector["wave32"] == true,
        user_data,
        grid: std::array::from_fn(|i| grid[i] * block[i]),
        start: [0; 3],
        workgroup: block,
        lds_bytes: number(vector, "lds_bytes") as u32,
        waves_per_compute_unit: 32,
        fill: 0,
        xccs: Default::default(),
        scratch_base: SCRATCH,
        scratch_bytes_per_wave: 0,
        scratch_waves: 0,
        shared_aperture_hi: 1 << 16,
        private_aperture_hi: 2 << 16,
        trap_handler: None,
    };
    let statistics = match execute(gpu, &launch, &space) {
        Ok(statistics) => statistics,
        Err(fault) => return faulted(&fault),
    };
    if statistics.waves != number(vector, "waves")
        || statistics.instructions != number(vector, "wave_insts")
    {
        return Outcome::Failed(format!(
            "{statistics:?}, not {} waves of {} instructions",
            vector["waves"], vector["wave_insts"]
        ));
    }
    for buffer in buffers {
        let key = if buffer["after"] == "same" { "before" } else { "after" };
        let expected = hex(buffer[key].as_str().expect("contents"));
        for (index, want) in expected.chunks(4).enumerate() {
            let address = number(buffer, "va") + 4 * index as u64;
            let backing = &backings[&(address & !4095)];
            let mut is = [0; 4];
            for (offset, byte) in is.iter_mut().enumerate() {
                *byte = backing.load_u8((address & 4095) + offset as u64);
            }
            let is = &is[..want.len()];
            let approximate =
                !halves && want.len() == 4 && close(dword(is, 0), dword(want, 0), 0.0);
            if is != want && !approximate {
                return Outcome::Failed(format!("{address:#x} is {is:02x?}, not {want:02x?}"));
            }
        }
    }
    Outcome::Passed
}

fn run(path: &Path, counts: &mut [usize; 4]) {
    let name = path.file_name().expect("a file").to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).expect("vectors can be read");
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let vector: Value = serde_json::from_str(line).expect("a line of JSON");
        let compiled = vector["kernel"].is_string();
        let outcome = match vector["gfx"].as_str() {
            Some("gfx1100") if compiled => kernel(&vector, &profile::gfx1100().gpu),
            // RDNA3.5 executes all of RDNA3's instructions; a few of the programs use its scalar floating point.
            Some("gfx1100") => instructions(&vector, &profile::gfx1151().gpu),
            Some("gfx1200") if compiled => kernel(&vector, &profile::gfx1200().gpu),
            Some("gfx1200") => instructions(&vector, &profile::gfx1200().gpu),
            // No board has them.
            Some("gfx950") => {
                instructions(&vector, &Gpu { gfx_target_version: 90500, ..profile::gfx90a().gpu })
            }
            other => Outcome::Skipped(format!("for {other:?}")),
        };
        let id = vector["id"].as_str().unwrap_or("?");
        let source = vector["source"].as_str().or(vector["op"].as_str()).unwrap_or("");
        let (index, text) = match outcome {
            Outcome::Passed => (0, None),
            Outcome::Failed(text) => (1, Some(text)),
            Outcome::Unsupported(text) => (2, Some(text)),
            Outcome::Skipped(text) => (3, Some(text)),
        };
        counts[index] += 1;
        if let Some(text) = text {
            let verdict = ["passed", "failed", "unsupported", "skipped"][index];
            println!("{name} {id} {source} {verdict}: {text}");
        }
    }
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
        .map(|entry| entry.expect("a directory entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    files
}

fn main() -> ExitCode {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/vectors");
    let mut counts = [0; 4];
    for path in files(&own) {
        run(&path, &mut counts);
    }
    let [own_passed, _, unsupported, skipped] = counts;
    let grown = unsupported > UNSUPPORTED || skipped > SKIPPED;
    if let Some(further) = std::env::var_os("SELVEDGE_VECTORS") {
        for path in files(Path::new(&further)) {
            run(&path, &mut counts);
        }
    }
    if grown {
        println!(
            "more vectors are unsupported or skipped than the {UNSUPPORTED} and {SKIPPED} that are known"
        );
    }
    if own_passed != PASSED {
        println!("{own_passed} vectors of the repository passed, not the {PASSED} that are known");
    }
    let [passed, failed, unsupported, skipped] = counts;
    println!(
        "vectors: {passed} passed, {failed} failed, {unsupported} unsupported, {skipped} skipped"
    );
    if failed == 0 && !grown && own_passed == PASSED {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
