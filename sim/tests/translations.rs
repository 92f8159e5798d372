//! What the shader core keeps, decoded instructions and translated addresses, when what they came from changes.
//!
//! The programs are `tests/data/shader/*.s`; s[0:1] points to a buffer.

use selvedge_sim::memory::{AddressSpace, Backing, FaultReason, Permissions};
use selvedge_sim::profile;
use selvedge_sim::shader::{
    Inspection, InstructionCache, Launch, Statistics, WaveFault, WaveFaultKind, run, run_on,
};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const CODE: u64 = 0x10_0000_0000;
const OUT: u64 = 0x20_0000_0000;
const PAGE: u64 = 64 * 1024;

macro_rules! program {
    ($name:literal) => {
        include_bytes!(concat!("../../tests/data/shader/", $name, ".bin"))
    };
}

struct Machine {
    space: Arc<AddressSpace>,
    instructions: InstructionCache,
    out: Arc<Backing>,
    launch: Launch,
}

impl Machine {
    fn new() -> Machine {
        let space = Arc::new(AddressSpace::new());
        let out = Arc::new(Backing::zeroed(PAGE));
        let data = Permissions::READ | Permissions::WRITE;
        assert!(space.map(OUT, PAGE, Arc::clone(&out), 0, data));
        let mut user_data = [0; 32];
        user_data[0] = OUT as u32;
        user_data[1] = (OUT >> 32) as u32;
        let launch = Launch {
            program: CODE,
            // 32 VGPRs.
            rsrc1: 3 | 0xf0 << 12,
            // Two user SGPRs.
            rsrc2: 2 << 1,
            rsrc3: 0,
            wave32: true,
            user_data,
            grid: [32, 1, 1],
            start: [0; 3],
            workgroup: [32, 1, 1],
            lds_bytes: 0,
            waves_per_compute_unit: 32,
            fill: 0,
            xccs: Default::default(),
            scratch_base: 0,
            scratch_bytes_per_wave: 0,
            scratch_waves: 0,
            shared_aperture_hi: 1 << 16,
            private_aperture_hi: 2 << 16,
            trap_handler: None,
        };
        Machine { space, instructions: InstructionCache::default(), out, launch }
    }

    /// Maps a program, which the host and the device can write.
    fn map(&self, program: &[u8], offset: u64) -> Arc<Backing> {
        let code = Arc::new(Backing::zeroed(PAGE));
        for (offset, &byte) in (offset..).zip(program) {
            code.store_u8(offset, byte);
        }
        assert!(self.space.map(CODE, PAGE, Arc::clone(&code), 0, Permissions::all()));
        code
    }

    fn run(&self) -> Result<Statistics, WaveFault> {
        let gpu = &profile::gfx1151().gpu;
        run(
            gpu,
            &self.launch,
            &self.space,
            &self.instructions,
            &AtomicBool::new(false),
            &Inspection::default(),
        )
    }

    fn dword(&self, index: u64) -> u32 {
        self.out.load_u32(4 * index)
    }
}

#[test]
fn instructions_are_decoded_once() {
    let machine = Machine::new();
    machine.map(program!("literal"), 0);
    for _ in 0..3 {
        machine.run().unwrap();
        assert_eq!((machine.dword(0), machine.instructions.decoded()), (0x1111_1111, 4));
        machine.out.store_u32(0, 0);
    }
}

#[test]
fn code_that_waves_replace_is_seen_after_the_cache_is_invalidated() {
    let machine = Machine::new();
    let code = machine.map(program!("self_modifying"), 0);
    for _ in 0..2 {
        machine.run().unwrap();
        assert_eq!([machine.dword(0), machine.dword(1)], [1, 2]);
        // s_mov_b32 s6, 1
        code.store_u32(20, 0xbe86_0081);
    }
}

/// In the page of the instruction, and in the one behind it when it goes on there.
#[test]
fn code_that_the_host_replaces_is_seen_by_the_next_dispatch() {
    for offset in [0, 4096 - 8] {
        let mut machine = Machine::new();
        let code = machine.map(program!("literal"), offset);
        machine.launch.program = CODE + offset;
        for literal in [0x1111_1111, 0x2222_2222, 0x2222_2222, 0x3333_3333] {
            code.store_u32(offset + 8, literal);
            machine.run().unwrap();
            assert_eq!(machine.dword(0), literal);
        }
    }
}

#[test]
fn other_code_mapped_at_the_same_address_is_what_runs() {
    let machine = Machine::new();
    machine.map(program!("literal"), 0);
    machine.run().unwrap();
    assert!(machine.space.unmap(CODE));
    let fault = machine.run().unwrap_err();
    let WaveFaultKind::Memory(memory) = fault.kind else { panic!("{fault:?}") };
    assert_eq!((memory.address, memory.reason), (CODE, FaultReason::NotPresent));
    machine.map(program!("self_modifying"), 0);
    machine.run().unwrap();
    assert_eq!([machine.dword(0), machine.dword(1)], [1, 2]);
}

/// What a dispatch may use is looked at when an instruction is decoded.
#[test]
fn dispatches_with_other_registers_do_not_share_what_was_decoded() {
    let mut machine = Machine::new();
    machine.map(program!("registers"), 0);
    machine.launch.rsrc1 |= 12;
    machine.run().unwrap();
    machine.launch.rsrc1 = 3 | 0xf0 << 12;
    let fault = machine.run().unwrap_err();
    let WaveFaultKind::NotModelled(text) = &fault.kind else { panic!("{fault:?}") };
    assert!(text.contains("uses v100, but the dispatch allocates 32 VGPRs"), "{text}");
}

#[test]
fn memory_unmapped_while_a_kernel_runs_faults_at_its_next_access() {
    let machine = Machine::new();
    machine.map(program!("poll"), 0);
    let behind = OUT + PAGE;
    let backing = Arc::new(Backing::zeroed(PAGE));
    assert!(machine.space.map(behind, PAGE, backing, 0, Permissions::READ));
    let fault = std::thread::scope(|scope| {
        let waves = scope.spawn(|| machine.run());
        let start = Instant::now();
        while machine.dword(0) == 0 {
            assert!(start.elapsed() < Duration::from_secs(10));
            std::thread::yield_now();
        }
        assert!(machine.space.unmap(behind));
        waves.join().expect("no panic").expect_err("nothing is mapped any more")
    });
    let WaveFaultKind::Memory(memory) = fault.kind else { panic!("{fault:?}") };
    assert_eq!((memory.address, memory.reason), (behind, FaultReason::NotPresent));
    assert_eq!(fault.instruction.as_deref(), Some("global_load_b32 v2, v0, s[4:5]"));
}

/// As many workgroups again must not need more memory of the host.
#[test]
fn waves_run_without_allocating() {
    let machine = Machine::new();
    machine.map(program!("literal"), 0);
    let count = |groups: u32| {
        let launch = Launch { grid: [32 * groups, 1, 1], ..machine.launch.clone() };
        let gpu = &profile::gfx1151().gpu;
        let before = allocations::so_far();
        run_on(gpu, &launch, &machine.space, &AtomicBool::new(false), 1).unwrap();
        allocations::so_far() - before
    };
    // Names of boards and the like are made at the first use.
    count(1);
    assert_eq!(count(100), count(1000));
}

/// Counts what this thread allocates.
mod allocations {
    #![expect(unsafe_code, reason = "an allocator")]

    use std::alloc::{GlobalAlloc, Layout, System};
    use std::cell::Cell;

    struct Counting;

    thread_local! {
        static COUNT: Cell<u64> = const { Cell::new(0) };
    }

    // SAFETY: all is the system's allocator's doing.
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            COUNT.set(COUNT.get() + 1);
            // SAFETY: the caller's promise.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
            // SAFETY: the caller's promise.
            unsafe { System.dealloc(pointer, layout) }
        }
    }

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    pub(crate) fn so_far() -> u64 {
        COUNT.get()
    }
}
