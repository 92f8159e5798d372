//! Wave instructions that the shader core executes per second of CPU time on one thread.
//!
//! Two kernels, built by clang for gfx1151, wave32 (`tests/data/shader/SOURCE`): an f32 add of a million elements,
//! and a 256 × 256 matrix multiply in f32 by 16 × 16 tiles in LDS. Then how much faster two threads are than one, by the
//! clock on the wall.
//!
//! An argument is how many seconds to run each; 0 runs it once, for tools that count instructions.

use selvedge_sim::memory::{AddressSpace, Backing, Permissions};
use selvedge_sim::profile;
use selvedge_sim::shader::{Launch, Statistics, run_on};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const CODE: u64 = 0x10_0000_0000;
const KERNARG: u64 = 0x20_0000_0000;
const BUFFERS: [u64; 3] = [0x30_0000_0000, 0x31_0000_0000, 0x32_0000_0000];

/// CPU time so far of this thread, or of all of the process's.
#[expect(unsafe_code, reason = "clock_gettime")]
fn cpu_time(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec to write.
    let result = unsafe { libc::clock_gettime(clock, &mut time) };
    assert_eq!(result, 0, "the clock exists");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// A kernel's code and descriptor.
struct Kernel {
    text: &'static [u8],
    descriptor: &'static [u8; 64],
}

impl Kernel {
    fn field(&self, offset: usize) -> u32 {
        let bytes = self.descriptor[offset..offset + 4].try_into().expect("four bytes");
        u32::from_le_bytes(bytes)
    }
}

struct Machine {
    space: Arc<AddressSpace>,
    buffers: [Arc<Backing>; 3],
}

impl Machine {
    fn new(kernel: &Kernel, elements: u64, last_argument: u32) -> Machine {
        let space = Arc::new(AddressSpace::new());
        let all = Permissions::READ | Permissions::WRITE | Permissions::EXECUTE;
        let map = |at: u64, length: u64| {
            let backing = Arc::new(Backing::zeroed(length));
            assert!(space.map(at, length, Arc::clone(&backing), 0, all));
            backing
        };
        let code = map(CODE, 4096);
        for (offset, &byte) in kernel.text.iter().enumerate() {
            code.store_u8(offset as u64, byte);
        }
        let buffers = BUFFERS.map(|at| map(at, elements * 4));
        let arguments = map(KERNARG, 4096);
        for (index, at) in BUFFERS.into_iter().enumerate() {
            arguments.store_u64(8 * index as u64, at);
        }
        arguments.store_u32(24, last_argument);
        // Hidden arguments of code object v5: group counts at 0, group sizes (u16) from 12 on.
        arguments.store_u16(32 + 12, 256);
        Machine { space, buffers }
    }

    fn launch(&self, kernel: &Kernel, grid: [u32; 3], workgroup: [u32; 3]) -> Launch {
        let mut user_data = [0; 32];
        user_data[0] = KERNARG as u32;
        user_data[1] = (KERNARG >> 32) as u32;
        Launch {
            program: CODE,
            // Offsets in the descriptor: LLVM's AMDGPUUsage document, "Kernel Descriptor".
            rsrc1: kernel.field(48),
            rsrc2: kernel.field(52),
            rsrc3: 0,
            wave32: true,
            user_data,
            grid,
            start: [0; 3],
            workgroup,
            lds_bytes: kernel.field(0),
            waves_per_compute_unit: 32,
            fill: 0,
            xccs: Default::default(),
            scratch_base: 0,
            scratch_bytes_per_wave: 0,
            scratch_waves: 0,
            shared_aperture_hi: 1 << 16,
            private_aperture_hi: 2 << 16,
            trap_handler: None,
        }
    }

    /// Runs for so long, at least once.
    fn run(&self, launch: &Launch, duration: Duration, threads: usize) -> Statistics {
        let mut total = Statistics::default();
        let begun = Instant::now();
        loop {
            let gpu = &profile::gfx1151().gpu;
            let part = run_on(gpu, launch, &self.space, &AtomicBool::new(false), threads)
                .unwrap_or_else(|fault| panic!("{fault:?}"));
            total.waves += part.waves;
            total.instructions += part.instructions;
            if begun.elapsed() >= duration {
                return total;
            }
        }
    }

    /// Measures the rate of one thread by its CPU time, and what a second thread brings.
    fn measure(&self, what: &str, launch: &Launch, duration: Duration, goal: f64) {
        let start = cpu_time(libc::CLOCK_THREAD_CPUTIME_ID);
        let statistics = self.run(launch, duration, 1);
        let seconds = (cpu_time(libc::CLOCK_THREAD_CPUTIME_ID) - start).as_secs_f64();
        let rate = statistics.instructions as f64 / seconds / 1e6;
        println!(
            "{what}: {rate:.1} M wave instructions per CPU second of one thread (goal {goal} M); \
             {} instructions of {} waves in {seconds:.2} s",
            statistics.instructions, statistics.waves
        );
        if duration.is_zero() {
            return;
        }
        // In turn, and the best of each, as other programs have the machine, too. CPU time for the same work says what
        // a machine that is free would show.
        let (mut wall, mut cpu) = ([f64::MAX; 2], [f64::MAX; 2]);
        for _ in 0..10 {
            for threads in 1..=2 {
                let begun = Instant::now();
                let start = cpu_time(libc::CLOCK_PROCESS_CPUTIME_ID);
                let statistics = self.run(launch, duration / 20, threads);
                let spent = cpu_time(libc::CLOCK_PROCESS_CPUTIME_ID) - start;
                for (best, time) in [(&mut wall, begun.elapsed()), (&mut cpu, spent)] {
                    let each = time.as_secs_f64() / statistics.instructions as f64;
                    best[threads - 1] = best[threads - 1].min(each);
                }
            }
        }
        println!(
            "{what}: two threads are {:.2} times as fast as one (goal 1.8), and need {:.2} times its CPU time",
            wall[0] / wall[1],
            cpu[1] / cpu[0]
        );
    }
}

fn main() {
    // Cargo adds arguments of its own.
    let seconds = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let duration = Duration::from_secs(seconds.unwrap_or(1));
    let add = Kernel {
        text: include_bytes!("../../tests/data/shader/vector_add.text"),
        descriptor: include_bytes!("../../tests/data/shader/vector_add.kd"),
    };
    let elements = 1 << 20;
    let machine = Machine::new(&add, elements, elements as u32);
    for index in 0..elements {
        machine.buffers[0].store_u32(4 * index, (index as f32).to_bits());
        machine.buffers[1].store_u32(4 * index, (0.5 + index as f32).to_bits());
    }
    let launch = machine.launch(&add, [elements as u32, 1, 1], [256, 1, 1]);
    machine.measure("f32 add of 1 M elements", &launch, duration, 25.0);
    for index in 0..elements {
        let got = f32::from_bits(machine.buffers[2].load_u32(4 * index));
        assert_eq!(got, index as f32 + (0.5 + index as f32));
    }

    let multiply = Kernel {
        text: include_bytes!("../../tests/data/shader/gemm16.text"),
        descriptor: include_bytes!("../../tests/data/shader/gemm16.kd"),
    };
    let size = 256u64;
    let machine = Machine::new(&multiply, size * size, size as u32);
    for index in 0..size * size {
        machine.buffers[0].store_u32(4 * index, ((index % 7) as f32).to_bits());
        machine.buffers[1].store_u32(4 * index, ((index % 5) as f32).to_bits());
    }
    let launch = machine.launch(&multiply, [256, 256, 1], [16, 16, 1]);
    machine.measure("256 × 256 f32 matrix multiply in tiles of 16", &launch, duration, 50.0);
    for (row, column) in [(0, 0), (3, 250), (255, 255), (128, 77)] {
        let expected: u64 =
            (0..size).map(|k| (row * size + k) % 7 * ((k * size + column) % 5)).sum();
        let got = f32::from_bits(machine.buffers[2].load_u32(4 * (row * size + column)));
        assert_eq!(got, expected as f32, "row {row}, column {column}");
    }
}
