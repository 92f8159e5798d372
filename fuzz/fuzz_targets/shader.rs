//! Any machine code on any registers ends: by itself, by a fault that names the instruction, or by the watchdog; and
//! memory that it may not write stays as it was. That holds with all checks, too, whose findings can be told.
//!
//! The first byte picks the machine, the second the wave size, the traps, the shape, the checks and which watchdog; eight
//! bytes make the registers that waves start with; the rest is code.
#![no_main]

use libfuzzer_sys::fuzz_target;
use selvedge_fuzz::{pick, take};
use selvedge_sim::memory::{AddressSpace, Backing, Permissions};
use selvedge_sim::profile;
use selvedge_sim::shader::{Checks, Counts, Finding, Inspection, InstructionCache, KernelAt, Launch, Outside, WaveFault, WaveFaultKind, run};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const CODE: u64 = 0x10_0000_0000;
const DATA: u64 = 0x20_0000_0000;
const CONSTANTS: u64 = 0x20_0000_1000; // right behind what may be written
const SCRATCH: u64 = 0x40_0000_0000;
const PAGE: u64 = 4096;

/// Generations that the shader core executes and no board is of: a board like theirs, and their number.
const OTHERS: &[(&str, Option<u32>)] =
    &[("gfx90a", Some(90_008)), ("gfx90a", Some(90_402)), ("gfx90a", Some(90_500))];

/// Kills the waves after so many looks, of which there is one a time slice of a wave.
struct Watchdog(AtomicU32);

impl Outside for Watchdog {
    fn is_stopped(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
    }

    fn clock(&self) -> u64 {
        self.0.load(Ordering::Relaxed).into()
    }

    fn found(&self, finding: Finding) {
        assert!(finding.site.instruction.is_some() && finding.to_string().contains("0x1000000"));
    }

    fn counted(&self, _: KernelAt, counts: &Counts) {
        assert!(!counts.to_string().is_empty());
    }

    fn exception(&self, fault: &WaveFault) {
        assert!(!matches!(fault.kind, WaveFaultKind::Killed));
    }
}

fn page(space: &AddressSpace, at: u64, bytes: &[u8], permissions: Permissions) -> Arc<Backing> {
    let backing = Arc::new(Backing::zeroed(PAGE));
    for (offset, byte) in (0..PAGE).zip(bytes) {
        backing.store_u8(offset, *byte);
    }
    assert!(space.map(at, PAGE, Arc::clone(&backing), 0, permissions));
    backing
}

fn contents(backing: &Backing) -> Vec<u8> {
    (0..PAGE).map(|offset| backing.load_u8(offset)).collect()
}

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes;
    let boards = profile::names().iter().map(|name| (*name, None));
    let machines: Vec<_> = boards.chain(OTHERS.iter().copied()).collect();
    let (name, version) = pick(&machines, &mut bytes);
    let mut gpu = profile::by_name(name).expect("a machine of the list").gpu;
    gpu.gfx_target_version = version.unwrap_or(gpu.gfx_target_version);
    let [choices] = take(&mut bytes);
    let mut numbers = u64::from_le_bytes(take(&mut bytes)) | 1;
    let mut number = || {
        numbers ^= numbers << 13;
        numbers ^= numbers >> 7;
        numbers ^= numbers << 17;
        numbers as u32
    };
    let space = Arc::new(AddressSpace::new());
    let code = page(&space, CODE, bytes, Permissions::READ | Permissions::EXECUTE);
    page(&space, DATA, &[0x5a; 64], Permissions::READ | Permissions::WRITE);
    let constants = page(&space, CONSTANTS, &[0xc3; PAGE as usize], Permissions::READ);
    page(&space, SCRATCH, &[], Permissions::READ | Permissions::WRITE);
    let before = (contents(&code), contents(&constants));
    let mut user_data: [u32; 32] = std::array::from_fn(|_| number());
    for (pair, address) in user_data.chunks_exact_mut(4).zip([DATA, CONSTANTS, DATA + 2048, SCRATCH]) {
        pair[0] = address as u32;
        pair[1] = (address >> 32) as u32;
    }
    let scratch = choices & 2 != 0;
    let mode = number();
    let vgprs = if mode >> 30 == 0 { mode & 0x3f } else { 0x3f }; // mostly all
    let launch = Launch {
        program: CODE,
        rsrc1: vgprs | mode & 0xff << 12 | 1 << 21 | 1 << 23, // any rounding and denormal modes
        rsrc2: u32::from(scratch) | 16 << 1 | 7 << 7 | u32::from(choices & 4 != 0) << 6 | 2 << 11,
        rsrc3: 0x3f, // accumulation registers behind 256 others
        wave32: choices & 1 != 0 && !name.starts_with("gfx9"),
        user_data,
        grid: [80, 2, 1],
        start: [0; 3],
        workgroup: [if choices & 8 != 0 { 80 } else { 20 }, 1, 1],
        lds_bytes: 1024,
        waves_per_compute_unit: 32,
        fill: number() & if choices & 16 != 0 { 0xff } else { u32::MAX },
        xccs: Default::default(),
        scratch_base: SCRATCH,
        scratch_bytes_per_wave: if scratch { 1024 } else { 0 },
        scratch_waves: 4,
        shared_aperture_hi: 1 << 16,
        private_aperture_hi: 2 << 16,
        trap_handler: (choices & 32 != 0).then_some((CODE + 1024, DATA)),
    };
    let watchdog = Watchdog(AtomicU32::new(24));
    let checked = choices & 64 != 0;
    let inspection = Inspection {
        watchdog: (choices & 128 != 0).then_some(5000),
        checks: if checked { Checks::ALL } else { Checks::default() },
        counts: checked,
        ..Inspection::default()
    };
    if let Err(fault) = run(&gpu, &launch, &space, &InstructionCache::default(), &watchdog, &inspection) {
        assert!(matches!(fault.kind, WaveFaultKind::Killed) || watchdog.0.load(Ordering::Relaxed) > 0);
        if matches!(fault.kind, WaveFaultKind::Endless { .. } | WaveFaultKind::Deadlock) {
            assert!(inspection.watchdog.is_some());
        }
        if let WaveFaultKind::NotModelled(text) | WaveFaultKind::IllegalInstruction(text) = &fault.kind {
            assert!(!text.is_empty());
        }
    }
    assert!(before == (contents(&code), contents(&constants)), "memory that may not be written was");
});
