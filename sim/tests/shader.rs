//! The shader core as a whole: scheduling, faults, memory spaces, initial state.
//!
//! The programs are `tests/data/shader/*.s`; s[0:1] points to a buffer.

use selvedge_sim::memory::{Access, AddressSpace, Backing, FaultReason, MemoryFault, Permissions};
use selvedge_sim::profile;
use selvedge_sim::shader::{Launch, Statistics, WaveFault, WaveFaultKind, run_on};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const CODE: u64 = 0x10_0000_0000;
const OUT: u64 = 0x20_0000_0000;
const SCRATCH: u64 = 0x30_0000_0000;
const PAGE: u64 = 64 * 1024;

struct Machine {
    space: Arc<AddressSpace>,
    out: Arc<Backing>,
    scratch: Arc<Backing>,
    launch: Launch,
}

impl Machine {
    fn new(program: &[u8]) -> Machine {
        let space = Arc::new(AddressSpace::new());
        let map = |at, permissions| {
            let backing = Arc::new(Backing::zeroed(PAGE));
            assert!(space.map(at, PAGE, Arc::clone(&backing), 0, permissions));
            backing
        };
        let data = Permissions::READ | Permissions::WRITE;
        let code = map(CODE, Permissions::READ | Permissions::EXECUTE);
        for (offset, &byte) in (0..).zip(program) {
            code.store_u8(offset, byte);
        }
        let (out, scratch) = (map(OUT, data), map(SCRATCH, data));
        let mut user_data = [0; 32];
        user_data[0] = OUT as u32;
        user_data[1] = (OUT >> 32) as u32;
        let launch = Launch {
            program: CODE,
            // 32 VGPRs; denormals kept, IEEE, DX10_CLAMP.
            rsrc1: 3 | 0xf0 << 12 | 1 << 21 | 1 << 23,
            // Scratch, two user SGPRs, three workgroup ids, three work-item ids.
            rsrc2: 1 | 2 << 1 | 7 << 7 | 2 << 11,
            rsrc3: 0,
            wave32: true,
            user_data,
            grid: [32, 1, 1],
            workgroup: [32, 1, 1],
            lds_bytes: 256,
            scratch_base: SCRATCH,
            scratch_bytes_per_wave: 64 * 32,
            scratch_waves: 8,
            shared_aperture_hi: 1 << 16,
            private_aperture_hi: 2 << 16,
            trap_handler: None,
        };
        Machine { space, out, scratch, launch }
    }

    fn run_on(&self, threads: usize) -> Result<Statistics, WaveFault> {
        let gpu = &profile::gfx1151().gpu;
        run_on(gpu, &self.launch, &self.space, &AtomicBool::new(false), threads)
    }

    fn run(&self) -> Statistics {
        self.run_on(1).unwrap_or_else(|fault| panic!("{fault:?}"))
    }

    fn fault(&self) -> WaveFault {
        self.run_on(1).expect_err("the program faults")
    }

    fn dword(&self, index: u64) -> u32 {
        self.out.load_u32(4 * index)
    }
}

macro_rules! machine {
    ($name:literal) => {
        Machine::new(include_bytes!(concat!("../../tests/data/shader/", $name, ".bin")))
    };
}

#[test]
fn waves_meet_at_barriers() {
    let mut machine = machine!("barrier");
    machine.launch.grid = [64, 1, 1];
    machine.launch.workgroup = [64, 1, 1];
    let statistics = machine.run();
    assert_eq!(statistics, Statistics { waves: 2, instructions: 2 * 10 });
    for item in 0..64 {
        assert_eq!(machine.dword(item), (item ^ 32) as u32 + 100);
    }
}

#[test]
fn workgroups_that_wait_for_later_ones_go_on() {
    let mut machine = machine!("spin");
    machine.launch.grid = [64, 1, 1];
    machine.run();
    assert_eq!([machine.dword(0), machine.dword(1)], [7, 9]);
}

#[test]
fn endless_programs_can_be_killed() {
    let machine = machine!("endless");
    let stop = AtomicBool::new(false);
    let fault = std::thread::scope(|scope| {
        let waves = scope
            .spawn(|| run_on(&profile::gfx1151().gpu, &machine.launch, &machine.space, &stop, 1));
        std::thread::sleep(Duration::from_millis(20));
        stop.store(true, Ordering::Relaxed);
        waves.join().expect("no panic")
    });
    let fault = fault.expect_err("it was killed");
    assert_eq!((fault.kind, fault.pc), (WaveFaultKind::Killed, CODE));
}

#[test]
fn traps_without_a_handler_are_faults() {
    let fault = machine!("trap").fault();
    assert_eq!((fault.kind, fault.pc), (WaveFaultKind::Trap(2), CODE + 4));
    assert_eq!(fault.instruction.as_deref(), Some("s_trap 2"));
}

#[test]
fn a_trap_enters_the_handler_with_its_pc_and_id() {
    let mut machine = machine!("trap");
    // s_mov_b32 s4, ttmp1; s_add_u32 ttmp0, ttmp0, 4; s_rfe_b64 ttmp[0:1] at the handler would return to s_endpgm.
    let handler = [0xbe84_006du32, 0x806c_846c, 0xbe80_4a6c];
    let backing = Arc::new(Backing::zeroed(4096));
    for (index, word) in (0..).zip(handler) {
        backing.store_u32(4 * index, word);
    }
    let at = 0x50_0000_0000;
    assert!(machine.space.map(at, 4096, backing, 0, Permissions::READ | Permissions::EXECUTE));
    machine.launch.trap_handler = Some((at, 0));
    assert_eq!(machine.run().instructions, 2 + 3 + 1);
}

#[test]
fn an_unmapped_access_names_address_and_instruction() {
    let fault = machine!("unmapped").fault();
    let address = 0x77_0000_1000;
    let kind = MemoryFault { address, access: Access::Read, reason: FaultReason::NotPresent };
    assert_eq!(fault.kind, WaveFaultKind::Memory(kind));
    assert_eq!(fault.pc, CODE + 16);
    assert_eq!(fault.instruction.as_deref(), Some("global_load_b32 v1, v[2:3], off"));
}

#[test]
fn code_must_be_executable() {
    let mut machine = machine!("trap");
    machine.launch.program = OUT;
    let kind =
        MemoryFault { address: OUT, access: Access::Execute, reason: FaultReason::NoExecute };
    assert_eq!(machine.fault().kind, WaveFaultKind::Memory(kind));
}

#[test]
fn unaligned_loads_work_and_unaligned_atomics_fault() {
    let machine = machine!("unaligned");
    let fault = machine.fault();
    let kind =
        MemoryFault { address: OUT + 2, access: Access::Atomic, reason: FaultReason::Misaligned };
    assert_eq!(fault.kind, WaveFaultKind::Memory(kind));
    assert_eq!(machine.dword(2), 0x7766_5544);
}

#[test]
fn running_past_the_end_is_illegal() {
    let fault = machine!("past_end").fault();
    assert_eq!(fault.pc, CODE + 4);
    assert!(
        matches!(&fault.kind, WaveFaultKind::IllegalInstruction(text) if text.contains("s_code_end"))
    );
    assert_eq!(fault.instruction.as_deref(), Some("s_code_end"));
}

#[test]
fn registers_beyond_the_allocation_are_refused() {
    let fault = machine!("registers").fault();
    let WaveFaultKind::IllegalInstruction(text) = &fault.kind else { panic!("{fault:?}") };
    assert!(text.contains("v100") && text.contains("32 VGPRs"), "{text}");
}

#[test]
fn lds_ends_where_it_ends() {
    let machine = machine!("lds_end");
    machine.out.store_u32(0, 77);
    machine.run();
    assert_eq!(machine.dword(0), 0);
}

#[test]
fn scratch_is_interleaved_by_lane() {
    let machine = machine!("scratch");
    machine.run();
    for lane in 0..32u64 {
        assert_eq!(machine.dword(lane), 1000 + lane as u32);
        assert_eq!(machine.dword(64 + lane), 2000 + lane as u32);
        // Dword 1 of each lane lies behind dword 0 of all lanes.
        assert_eq!(machine.scratch.load_u32(4 * (32 + lane)), 1000 + lane as u32);
    }
}

#[test]
fn wave64_has_64_lanes() {
    let mut machine = machine!("wave64");
    machine.launch.wave32 = false;
    machine.launch.grid = [60, 1, 1];
    machine.launch.workgroup = [64, 1, 1];
    let statistics = machine.run();
    assert_eq!(statistics.waves, 1);
    for lane in 0..60u32 {
        let below = lane / 2;
        let odd = if lane % 2 == 1 { 0x10000 } else { 0 };
        assert_eq!(machine.dword(lane.into()), 40 + lane + 64 * below + odd, "lane {lane}");
    }
    assert_eq!(machine.dword(60), 0);
}

#[test]
fn wmma_multiplies_signed_bytes() {
    let machine = machine!("wmma_iu8");
    let a = |row: u64, k: u64| (row * 31 + k * 7) as i8;
    let b = |column: u64, k: u64| (column * 17 + k * 13 + 5) as i8;
    for line in 0..16 {
        for k in 0..16 {
            machine.out.store_u8(16 * line + k, a(line, k) as u8);
            machine.out.store_u8(256 + 16 * line + k, b(line, k) as u8);
        }
    }
    machine.run();
    for row in 0..16 {
        for column in 0..16 {
            let expected: i32 =
                (0..16).map(|k| i32::from(a(row, k)) * i32::from(b(column, k))).sum();
            let (register, lane) = (row / 2, column + 16 * (row % 2));
            let got = machine.out.load_u32(1024 + 128 * register + 4 * lane) as i32;
            assert_eq!(got, expected, "row {row}, column {column}");
        }
    }
}

#[test]
fn each_work_item_of_a_partial_grid_runs_once_on_any_number_of_threads() {
    let mut machine = machine!("workgroups");
    machine.launch.grid = [10, 5, 7];
    machine.launch.workgroup = [4, 2, 3];
    machine.launch.scratch_waves = 640;
    for threads in [1, 3] {
        let statistics = machine.run_on(threads).unwrap_or_else(|fault| panic!("{fault:?}"));
        assert_eq!(statistics, Statistics { waves: 3 * 3 * 3, instructions: 27 * 12 });
        for item in 0..10 * 5 * 7 {
            assert_eq!(machine.out.load_u32(4 * item), 1, "work-item {item}");
            machine.out.store_u32(4 * item, 0);
        }
    }
}
