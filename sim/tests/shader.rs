//! The shader core as a whole: scheduling, faults, memory spaces, initial state.
//!
//! The programs are `tests/data/shader/*.s`; s[0:1] points to a buffer.

use selvedge_sim::memory::{Access, AddressSpace, Backing, FaultReason, MemoryFault, Permissions};
use selvedge_sim::profile;
use selvedge_sim::shader::{
    Inspection, InstructionCache, Launch, Outside, Statistics, Trace, WaveFault, WaveFaultKind,
    WaveInterrupt, run, run_on,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const CODE: u64 = 0x10_0000_0000;
const OUT: u64 = 0x20_0000_0000;
const SCRATCH: u64 = 0x30_0000_0000;
const HANDLER: u64 = 0x50_0000_0000;
const PAGE: u64 = 64 * 1024;
/// Of COMPUTE_PGM_RSRC2.
const TRAP_PRESENT: u32 = 1 << 6;

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
            start: [0; 3],
            workgroup: [32, 1, 1],
            lds_bytes: 256,
            waves_per_compute_unit: 32,
            fill: 0,
            xccs: Default::default(),
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
        self.watch().0.unwrap_or_else(|fault| panic!("{fault:?}"))
    }

    /// Runs until the end, or until a wave raises an exception.
    fn watch(&self) -> (Result<Statistics, WaveFault>, Watcher) {
        let watcher = Watcher::default();
        let gpu = &profile::gfx1151().gpu;
        let result = run_on(gpu, &self.launch, &self.space, &watcher, 1);
        (result, watcher)
    }

    /// The exception that a wave raised, or what ended the program.
    fn fault(&self) -> WaveFault {
        let (result, watcher) = self.watch();
        let exception = watcher.exceptions.into_inner().expect("no panic").into_iter().next();
        exception.unwrap_or_else(|| result.expect_err("the program faults"))
    }

    /// Maps a trap handler and lets waves take traps.
    fn handle_traps(&mut self, handler: &[u8], data: u64) {
        let backing = Arc::new(Backing::zeroed(PAGE));
        for (offset, &byte) in (0..).zip(handler) {
            backing.store_u8(offset, byte);
        }
        let permissions = Permissions::READ | Permissions::EXECUTE;
        assert!(self.space.map(HANDLER, PAGE, backing, 0, permissions));
        self.launch.trap_handler = Some((HANDLER, data));
        self.launch.rsrc2 |= TRAP_PRESENT;
    }

    /// Runs until `done`; then the waves must still be there, and are killed.
    fn run_until(&self, done: impl Fn(&Watcher) -> bool) -> (WaveFault, Watcher) {
        self.run_until_on(&profile::gfx1151().gpu, done)
    }

    fn run_until_on(
        &self,
        gpu: &profile::Gpu,
        done: impl Fn(&Watcher) -> bool,
    ) -> (WaveFault, Watcher) {
        let watcher = Watcher { exceptions_kill: false, ..Watcher::default() };
        let result = std::thread::scope(|scope| {
            let waves = scope.spawn(|| run_on(gpu, &self.launch, &self.space, &watcher, 2));
            let start = Instant::now();
            while !done(&watcher) && start.elapsed() < Duration::from_secs(10) {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_millis(5));
            // Before anything can fail, as the scope waits for the waves.
            watcher.stop.store(true, Ordering::Relaxed);
            let result = waves.join().expect("no panic");
            assert!(done(&watcher), "{watcher:?}");
            result
        });
        (result.expect_err("it was killed"), watcher)
    }

    fn dword(&self, index: u64) -> u32 {
        self.out.load_u32(4 * index)
    }
}

/// Hears what waves say.
#[derive(Debug)]
struct Watcher {
    stop: AtomicBool,
    exceptions_kill: bool,
    exceptions: Mutex<Vec<WaveFault>>,
    interrupts: Mutex<Vec<WaveInterrupt>>,
}

impl Default for Watcher {
    fn default() -> Watcher {
        Watcher {
            stop: AtomicBool::new(false),
            exceptions_kill: true,
            exceptions: Mutex::default(),
            interrupts: Mutex::default(),
        }
    }
}

impl Outside for Watcher {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn clock(&self) -> u64 {
        0
    }

    fn doorbell_id(&self) -> u16 {
        0x155
    }

    fn wave_interrupt(&self, interrupt: WaveInterrupt) {
        self.interrupts.lock().unwrap().push(interrupt);
    }

    fn exception(&self, fault: &WaveFault) {
        self.exceptions.lock().unwrap().push(fault.clone());
        if self.exceptions_kill {
            self.stop.store(true, Ordering::Relaxed);
        }
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
fn traps_without_a_handler_pass() {
    let mut machine = machine!("trap");
    assert_eq!(machine.run().instructions, 3, "a wave that takes no traps");
    machine.launch.rsrc2 |= TRAP_PRESENT;
    assert_eq!(machine.run().instructions, 3, "Linux's handler lets it pass");
}

#[test]
fn exceptions_without_a_handler_halt_the_wave() {
    for (trap_present, pc) in [(TRAP_PRESENT, CODE + 4 - 8), (0, CODE + 4)] {
        let mut machine = machine!("illegal");
        machine.launch.rsrc2 |= trap_present;
        let (killed, watcher) =
            machine.run_until(|watcher| !watcher.exceptions.lock().unwrap().is_empty());
        let exceptions = watcher.exceptions.into_inner().unwrap();
        let [exception] = &exceptions[..] else { panic!("{exceptions:?}") };
        let WaveFaultKind::IllegalInstruction(text) = &exception.kind else {
            panic!("{exception:?}")
        };
        assert_eq!((text.as_str(), exception.pc), ("0xbfff0000 is no instruction", CODE + 4));
        assert_eq!((killed.kind, killed.pc), (WaveFaultKind::Killed, pc));
        assert_eq!(watcher.interrupts.into_inner().unwrap(), []);
    }
}

/// Other workgroups end, those with a halted wave keep their place.
#[test]
fn workgroups_of_a_halted_wave_wait_for_it() {
    let mut machine = machine!("half_barrier");
    machine.launch.grid = [64 * 200, 1, 1];
    machine.launch.workgroup = [64, 1, 1];
    machine.launch.rsrc2 |= TRAP_PRESENT;
    let (killed, watcher) =
        machine.run_until(|watcher| watcher.exceptions.lock().unwrap().len() == 4);
    assert_eq!(killed.kind, WaveFaultKind::Killed);
    // 8 waves have scratch.
    assert_eq!(watcher.exceptions.into_inner().unwrap().len(), 4);
}

const PRIV_TRAP_EN_VCCZ_VALID: u32 = 1 << 5 | 1 << 6 | 1 << 10 | 1 << 16;

/// What the handler finds: cwsr_trap_handler_gfx10.asm, assembled for gfx11, says it.
#[test]
fn a_handler_is_entered_as_linux_enters_it() {
    let handler = include_bytes!("../../tests/data/shader/trap_state.bin");
    let data = 0x55_6677_8800;
    let state = |machine: &Machine| std::array::from_fn::<u32, 7, _>(|i| machine.dword(i as u64));
    let status = PRIV_TRAP_EN_VCCZ_VALID;
    let (pc, pc_hi) = (CODE as u32 + 4, (CODE >> 32) as u32);

    let mut machine = machine!("trap");
    machine.handle_traps(handler, data);
    assert_eq!(machine.run().instructions, 2 + 24 + 1);
    assert_eq!(state(&machine), [pc, pc_hi | 2 << 16, status, 0x6677_8800, 0x55, 0, 1]);

    let mut machine = machine!("illegal");
    machine.handle_traps(handler, data);
    let watcher = Watcher { exceptions_kill: false, ..Watcher::default() };
    let gpu = &profile::gfx1151().gpu;
    let statistics = run_on(gpu, &machine.launch, &machine.space, &watcher, 1).unwrap();
    assert_eq!(statistics.instructions, 1 + 24 + 1);
    assert_eq!(state(&machine), [pc, pc_hi, status, 0x6677_8800, 0x55, 1 << 11, 1]);

    // A bit 0 of STATUS that comes back.
    let mut machine = machine!("debug_trap");
    machine.handle_traps(handler, data);
    machine.run();
    assert_eq!(machine.dword(0), 1);
}

/// The runtime's handler. M0 9:0 is the doorbell, 23:10 a mask of 1 << (exception code − 1)
/// (kfd_int_process_v11.c, KFD_CTXID0_*).
#[test]
fn the_runtime_s_handler_tells_linux_and_halts() {
    let handler = include_bytes!("../../src/device/trap_handler/gfx11.bin");
    let cases = [
        // Code 1 at its s_trap; 4 and 6 two instructions before.
        (machine!("trap"), 0x0555, CODE + 4),
        (machine!("illegal"), 0x2155, CODE + 4 - 8),
        (machine!("past_end"), 0x2155, CODE + 4 - 8),
        (machine!("unaligned"), 0x8155, 0),
    ];
    for (mut machine, data, pc) in cases {
        machine.handle_traps(handler, 0);
        let (killed, watcher) =
            machine.run_until(|watcher| !watcher.interrupts.lock().unwrap().is_empty());
        let interrupt = WaveInterrupt { data, privileged: true, wave: 0 };
        assert_eq!(watcher.interrupts.into_inner().unwrap(), [interrupt]);
        assert_eq!(killed.kind, WaveFaultKind::Killed);
        assert!(pc == 0 || killed.pc == pc, "{:#x}", killed.pc);
    }
    // llvm.debugtrap goes on, with SCC and M0 as they were.
    let mut machine = machine!("debug_trap");
    machine.handle_traps(handler, 0);
    machine.out.store_u32(4, 77);
    machine.run();
    assert_eq!([machine.dword(0), machine.dword(1)], [1, 0]);
}

/// That of gfx12, on gfx1201: `s_trap 2`, an illegal instruction, `s_trap 3`, which ends the program.
#[test]
fn the_runtime_s_handler_of_gfx12_tells_linux_and_halts() {
    let handler = include_bytes!("../../src/device/trap_handler/gfx12.bin");
    let gpu = &profile::gfx1201().gpu;
    for (word, data, pc) in [(0xbf90_0002u32, 0x0555, CODE), (0xbfff_0000, 0x2155, CODE - 8)] {
        let mut machine =
            Machine::new(&[word.to_le_bytes(), 0xbfb0_0000u32.to_le_bytes()].concat());
        machine.handle_traps(handler, 0);
        let (killed, watcher) =
            machine.run_until_on(gpu, |watcher| !watcher.interrupts.lock().unwrap().is_empty());
        let interrupt = WaveInterrupt { data, privileged: true, wave: 0 };
        assert_eq!(watcher.interrupts.into_inner().unwrap(), [interrupt]);
        assert_eq!((killed.kind, killed.pc), (WaveFaultKind::Killed, pc));
    }
    let mut machine =
        Machine::new(&[0xbf90_0003u32.to_le_bytes(), 0xbfb0_0000u32.to_le_bytes()].concat());
    machine.handle_traps(handler, 0);
    let watcher = Watcher::default();
    run_on(gpu, &machine.launch, &machine.space, &watcher, 1).unwrap();
    assert_eq!(watcher.interrupts.into_inner().unwrap(), []);
}

/// gfx1100 runs waves with PRIV set: `s_trap` passes, and compilers send the interrupt.
#[test]
fn waves_with_privilege_send_for_themselves() {
    let mut machine = machine!("simulated_trap");
    machine.handle_traps(include_bytes!("../../src/device/trap_handler/gfx11.bin"), 0);
    machine.launch.rsrc1 |= 1 << 20;
    let (killed, watcher) =
        machine.run_until(|watcher| !watcher.interrupts.lock().unwrap().is_empty());
    let interrupt = WaveInterrupt { data: 0x555, privileged: true, wave: 0 };
    assert_eq!(watcher.interrupts.into_inner().unwrap(), [interrupt]);
    assert_eq!(killed.kind, WaveFaultKind::Killed);
}

/// SQ_INTERRUPT_WORD_WAVE_CTXID* of kfd_int_process_v11.c: data 23:0, PRIV 26, wave 31:27; encoding 7:6.
#[test]
fn interrupts_are_packed_as_the_hardware_packs_them() {
    let interrupt = WaveInterrupt { data: 0xab_cdef, privileged: true, wave: 5 };
    assert_eq!(interrupt.context_ids(), [0x2cab_cdef, 0x40]);
    let interrupt = WaveInterrupt { data: 0, privileged: false, wave: 31 };
    assert_eq!(interrupt.context_ids(), [0xf800_0000, 0x40]);
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
    assert_eq!(fault.kind, WaveFaultKind::MemoryViolation(kind));
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
    let WaveFaultKind::NotModelled(text) = &fault.kind else { panic!("{fault:?}") };
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

/// A writer whose text can be read meanwhile.
#[derive(Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Text {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_trace_has_every_instruction_and_what_it_changed() {
    let mut machine = Machine::new(include_bytes!("../../tests/data/shader/workgroups.bin"));
    machine.launch.grid = [2, 1, 2];
    machine.launch.workgroup = [2, 1, 1];
    let text = Text::default();
    let trace = Arc::new(Trace::new(text.clone()));
    let inspection =
        Inspection { trace: Some(trace.clone()), counts: true, ..Inspection::default() };
    let statistics = run(
        &profile::gfx1151().gpu,
        &machine.launch,
        &machine.space,
        &InstructionCache::default(),
        &AtomicBool::new(false),
        &inspection,
    )
    .unwrap();
    assert_eq!(trace.error(), None);
    let text = String::from_utf8(text.0.lock().unwrap().clone()).unwrap();
    let (counts, lines): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with('#'));
    assert_eq!(lines.len() as u64, statistics.instructions);
    assert_eq!(lines[0], "0.0 [0, 0, 0] wave 0 0x1000000000: v_bfe_u32 v1, v0, 10, 10 |");
    let second: Vec<&str> =
        lines.iter().copied().filter(|line| line.starts_with("0.0 [0, 0, 1]")).collect();
    assert_eq!(
        second[5],
        "0.0 [0, 0, 1] wave 0 0x1000000028: v_mad_u32_u24 v2, s4, 3, v2 | v2[0]=0x3 v2[1]=0x3"
    );
    assert!(second.last().unwrap().ends_with(": s_endpgm |"), "{second:?}");
    let kernel = "# queue 0 packet 0: kernel at 0x1000000000, grid [2, 1, 2], workgroup [2, 1, 1]";
    assert_eq!(counts[..2], [kernel, "# times, lanes, operation"]);
    assert!(counts.contains(&"# 2 4 global_atomic_add_u32"), "{counts:?}");
    assert!(counts.contains(&"# 2 4 16 global atomic"), "{counts:?}");
}

#[test]
fn sizes_beyond_hardware_are_refused() {
    for (grid, workgroup) in
        [([u32::MAX; 3], [1, 1, 1]), ([1; 3], [65536, 65536, 2]), ([1; 3], [1025, 1, 1])]
    {
        let mut machine = Machine::new(include_bytes!("../../tests/data/shader/workgroups.bin"));
        (machine.launch.grid, machine.launch.workgroup) = (grid, workgroup);
        let fault = machine.run_until(|_| true).0;
        assert!(matches!(fault.kind, WaveFaultKind::NotModelled(_)), "{fault:?}");
    }
}
