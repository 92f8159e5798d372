//! Wave instructions that the shader core executes per second of CPU time on one thread.
//!
//! Two kernels, built by clang for gfx1151, wave32 (`tests/data/shader/SOURCE`): an f32 add of a million elements,
//! and a 256 × 256 matrix multiply in f32 by 16 × 16 tiles in LDS.

use selvedge_sim::memory::{AddressSpace, Backing, Permissions};
use selvedge_sim::profile;
use selvedge_sim::shader::{Launch, Statistics, run_on};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const CODE: u64 = 0x10_0000_0000;
const KERNARG: u64 = 0x20_0000_0000;
const BUFFERS: [u64; 3] = [0x30_0000_0000, 0x31_0000_0000, 0x32_0000_0000];

/// CPU time of this thread so far.
#[expect(unsafe_code, reason = "clock_gettime")]
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec to write.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(result, 0, "the thread's clock exists");
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

    fn run(&self, kernel: &Kernel, grid: [u32; 3], workgroup: [u32; 3]) -> (Statistics, f64) {
        let mut user_data = [0; 32];
        user_data[0] = KERNARG as u32;
        user_data[1] = (KERNARG >> 32) as u32;
        let launch = Launch {
            program: CODE,
            // Offsets in the descriptor: LLVM's AMDGPUUsage document, "Kernel Descriptor".
            rsrc1: kernel.field(48),
            rsrc2: kernel.field(52),
            rsrc3: 0,
            wave32: true,
            user_data,
            grid,
            workgroup,
            lds_bytes: kernel.field(0),
            waves_per_compute_unit: 32,
            fill: 0,
            scratch_base: 0,
            scratch_bytes_per_wave: 0,
            scratch_waves: 0,
            shared_aperture_hi: 1 << 16,
            private_aperture_hi: 2 << 16,
            trap_handler: None,
        };
        let mut total = Statistics::default();
        let (start, begun) = (cpu_time(), Instant::now());
        while begun.elapsed() < Duration::from_secs(1) {
            let gpu = &profile::gfx1151().gpu;
            let part = run_on(gpu, &launch, &self.space, &AtomicBool::new(false), 1)
                .unwrap_or_else(|fault| panic!("{fault:?}"));
            total.waves += part.waves;
            total.instructions += part.instructions;
        }
        (total, (cpu_time() - start).as_secs_f64())
    }
}

fn report(what: &str, statistics: Statistics, seconds: f64, goal: f64) {
    let rate = statistics.instructions as f64 / seconds / 1e6;
    println!(
        "{what}: {rate:.1} M wave instructions per CPU second of one thread (goal {goal} M); \
         {} instructions of {} waves in {seconds:.2} s",
        statistics.instructions, statistics.waves
    );
}

fn main() {
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
    let (statistics, seconds) = machine.run(&add, [elements as u32, 1, 1], [256, 1, 1]);
    for index in 0..elements {
        let got = f32::from_bits(machine.buffers[2].load_u32(4 * index));
        assert_eq!(got, index as f32 + (0.5 + index as f32));
    }
    report("f32 add of 1 M elements", statistics, seconds, 25.0);

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
    let (statistics, seconds) = machine.run(&multiply, [256, 256, 1], [16, 16, 1]);
    for (row, column) in [(0, 0), (3, 250), (255, 255), (128, 77)] {
        let expected: u64 =
            (0..size).map(|k| (row * size + k) % 7 * ((k * size + column) % 5)).sum();
        let got = f32::from_bits(machine.buffers[2].load_u32(4 * (row * size + column)));
        assert_eq!(got, expected as f32, "row {row}, column {column}");
    }
    report("256 × 256 f32 matrix multiply in tiles of 16", statistics, seconds, 50.0);
}
