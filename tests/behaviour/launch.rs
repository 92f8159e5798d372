//! Launches that are right, and launches that are refused before anything is submitted.

use super::{LONG, SECOND, check_nothing_left, device_of, launch, load, machine, object_for};
use selvedge::{Argument, Device, Error, Geometry, Placement, StreamOptions};
use std::time::{Duration, Instant};

#[test]
fn code_for_another_target_is_refused() {
    let machine = machine(18);
    let device = device_of(&machine);
    // SAFETY: refused before it could run.
    let error =
        unsafe { device.load(&object_for("gfx1100", "k01_vadd"), "add.hsaco") }.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::Code(_)), "{text}");
    for part in ["add.hsaco", "gfx1100", "gfx1151"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn arguments_must_fit_the_declaration() {
    let machine = machine(18);
    let device = device_of(&machine);
    let executable = load(&device, "k01_vadd").unwrap();
    let buffer = device.allocate(4096, Placement::Host).unwrap();
    let stream = device.stream().unwrap();
    let good: [Argument<'_>; 4] =
        [(&buffer).into(), (&buffer).into(), (&buffer).into(), 1u32.into()];
    let mut cases: Vec<(Vec<Argument<'_>>, &str)> = vec![
        (good[..3].to_vec(), "takes 4 arguments, 3 were given"),
        ([good.to_vec(), vec![1u32.into()]].concat(), "takes 4 arguments, 5 were given"),
        (vec![], "0 were given"),
    ];
    for (index, wrong, text) in [
        (0, Argument::from(1u64), "argument 0"),
        (2, Argument::Local(64), "argument 2"),
        (3, Argument::from(1u64), "a value of 4 bytes, got a value of 8 bytes"),
        (3, Argument::from(&buffer), "argument 3"),
        (3, Argument::Bytes(&[1, 2, 3]), "got 3 bytes"),
        (3, Argument::Null, "argument 3"),
        (3, Argument::Value([0; 16], 200), "argument 3"),
    ] {
        let mut arguments = good.to_vec();
        arguments[index] = wrong;
        cases.push((arguments, text));
    }
    for (arguments, text) in cases {
        let error = launch(&stream, &executable, "vadd", (64, 64), &arguments).unwrap_err();
        assert!(matches!(error, Error::Arguments { .. }), "{error}");
        assert!(error.to_string().contains(text), "{error}");
    }
    assert_eq!(stream.in_flight(), 0);
    launch(&stream, &executable, "vadd", (64, 64), &good).unwrap().wait(LONG).unwrap();
    let error = executable.kernel("vsub").unwrap_err().to_string();
    assert!(error.contains("vsub") && error.contains("vadd"), "{error}");
}

#[test]
fn sizes_must_fit_the_kernel_and_the_device() {
    let machine = machine(18);
    let device = device_of(&machine);
    let stream = device.stream().unwrap();
    for (grid, block) in [(1 << 32, 256), (u64::MAX, 1), (0, 64), (64, 0), (2048, 1025)] {
        let error = Geometry::linear(grid, block).unwrap_err();
        assert!(matches!(error, Error::Geometry { .. }), "{error}");
    }
    // Compiled for at most 256.
    let add = load(&device, "k01_vadd").unwrap();
    let buffer = device.allocate(4096, Placement::Host).unwrap();
    let arguments: [Argument<'_>; 4] =
        [(&buffer).into(), (&buffer).into(), (&buffer).into(), 1u32.into()];
    let error = launch(&stream, &add, "vadd", (1024, 512), &arguments).unwrap_err();
    assert!(error.to_string().contains("at most 256, not 512"), "{error}");
    // Compiled for exactly 256.
    let reduce = load(&device, "k03_reduce").unwrap();
    let arguments: [Argument<'_>; 3] = [(&buffer).into(), (&buffer).into(), 1u32.into()];
    let error = launch(&stream, &reduce, "reduce", (128, 128), &arguments).unwrap_err();
    assert!(error.to_string().contains("exactly [256, 1, 1], not [128, 1, 1]"), "{error}");
    // LDS: 64 KiB is what a workgroup can have.
    let dynamic = |bytes| {
        let arguments: [Argument<'_>; 3] =
            [(&buffer).into(), (&buffer).into(), Argument::Local(bytes)];
        launch(&stream, &reduce, "reduce_dyn", (64, 64), &arguments)
    };
    dynamic(65536).unwrap().wait(LONG).unwrap();
    let geometry = Geometry::linear(64, 64).unwrap().with_dynamic_lds(65536);
    let kernel = reduce.kernel("reduce_dyn").unwrap();
    let arguments: [Argument<'_>; 3] = [(&buffer).into(), (&buffer).into(), Argument::Local(256)];
    // SAFETY: refused before it could run.
    let error = unsafe { stream.dispatch(&kernel, &geometry, &arguments) }.unwrap_err();
    assert!(matches!(error, Error::Resource { resource: "LDS", .. }), "{error}");
    for bytes in [65537, u32::MAX] {
        let error = dynamic(bytes).unwrap_err();
        assert!(matches!(error, Error::Resource { resource: "LDS", .. }), "{error}");
    }
    // Scratch: a dynamic stack larger than what a queue can have.
    let calls = load(&device, "calls_c").unwrap();
    for (stack_bytes, resource) in [(1 << 20, "scratch in one wave"), (100_000, "scratch")] {
        let options = StreamOptions { stack_bytes, ..StreamOptions::default() };
        let stream = device.stream_with(options).unwrap();
        let kernel = calls.kernel("call_recursive").unwrap();
        assert!(kernel.uses_dynamic_stack());
        let arguments: Vec<Argument<'_>> =
            (0..kernel.arguments().unwrap()).map(|_| Argument::from(&buffer)).collect();
        let error = launch(&stream, &calls, "call_recursive", (64, 64), &arguments).unwrap_err();
        match error {
            Error::Resource { resource: named, .. } => assert_eq!(named, resource, "{error}"),
            other => panic!("{other}"),
        }
        assert_eq!(stream.in_flight(), 0);
    }
}

#[test]
fn foreign_objects_are_refused() {
    let (one, two) = (machine(18), machine(18));
    let (here, there) = (device_of(&one), device_of(&two));
    let stream = here.stream().unwrap();
    let buffers = [here.allocate(64, Placement::Host), there.allocate(64, Placement::Host)];
    let [mine, foreign] = buffers.map(Result::unwrap);
    let arguments: [Argument<'_>; 4] =
        [(&mine).into(), (&foreign).into(), (&mine).into(), 1u32.into()];
    let add = load(&here, "k01_vadd").unwrap();
    let error = launch(&stream, &add, "vadd", (1, 1), &arguments).unwrap_err();
    assert!(matches!(error, Error::WrongDevice { what: "buffer", .. }), "{error}");
    let add = load(&there, "k01_vadd").unwrap();
    let error = launch(&stream, &add, "vadd", (1, 1), &[]).unwrap_err();
    assert!(matches!(error, Error::WrongDevice { what: "kernel", .. }), "{error}");
}

#[test]
fn ranges_are_checked() {
    let machine = machine(18);
    let device = device_of(&machine);
    let buffer = device.allocate(100, Placement::Host).unwrap();
    assert_eq!(device.allocate(0, Placement::Host).unwrap().len(), 1);
    assert!(buffer.slice(0, 100).is_ok() && buffer.slice(100, 0).is_ok());
    for (offset, bytes) in [(0, 101), (100, 1), (u64::MAX, 2), (1, u64::MAX)] {
        let error = buffer.slice(offset, bytes).unwrap_err();
        assert!(matches!(error, Error::Range { .. }), "{error}");
    }
    assert!(buffer.upload_at(97, &[1u32]).is_err());
    assert!(buffer.read_at(98, &mut [0u8; 3]).is_err());
    buffer.upload_at(96, &[0x0403_0201u32]).unwrap();
    let mut tail = [0u8; 3];
    buffer.read_at(97, &mut tail).unwrap();
    assert_eq!(tail, [2, 3, 4]);
    let error = device.allocate(1 << 50, Placement::Device).unwrap_err();
    assert!(matches!(error, Error::Kfd(_)), "{error}");
}

#[test]
fn work_runs_in_order_and_is_timed() {
    let machine = machine(18);
    let device = device_of(&machine);
    let executable = load(&device, "k02_saxpy").unwrap();
    let stream = device.stream_with(StreamOptions { depth: 64, ..Default::default() }).unwrap();
    let y = device.allocate_from(&[0f32; 256]).unwrap();
    let x = device.allocate_from(&[1f32; 256]).unwrap();
    // y = 2x + y, many more times than fit the queue.
    let mut last = None;
    for _ in 0..500 {
        let arguments = [(&y).into(), (&x).into(), 2f32.into(), 256u32.into()];
        last = Some(launch(&stream, &executable, "saxpy", (256, 64), &arguments).unwrap());
    }
    let last = last.unwrap();
    last.wait(LONG).unwrap();
    assert!(last.is_done().unwrap());
    assert!(y.read::<f32>().unwrap().iter().all(|&y| y == 1000.0));
    let times = last.times().unwrap().unwrap();
    assert!(times.start != 0 && times.end >= times.start && times.duration() < LONG);
    stream.synchronize(SECOND).unwrap();
    assert_eq!(stream.in_flight(), 0);
}

/// Sorts 32 numbers in scratch.
fn sorts(stream: &selvedge::Stream, executable: &selvedge::Executable, seed: u32) {
    let device = stream.device();
    let numbers: Vec<u32> =
        (0..32 * 64u32).map(|i| i.wrapping_mul(seed | 1).rotate_left(7)).collect();
    let (input, output) =
        (device.allocate_from(&numbers).unwrap(), device.allocate_from(&numbers).unwrap());
    let arguments = [(&input).into(), (&output).into()];
    launch(stream, executable, "private_sort", (64, 64), &arguments).unwrap().wait(LONG).unwrap();
    let mut sorted = numbers;
    sorted.chunks_mut(32).for_each(<[u32]>::sort_unstable);
    assert_eq!(output.read::<u32>().unwrap(), sorted);
}

#[test]
fn scratch_grows_as_kernels_need_it() {
    let machine = machine(18);
    let device = device_of(&machine);
    let scratch = load(&device, "scratch").unwrap();
    let add = load(&device, "k01_vadd").unwrap();
    let stream = device.stream().unwrap();
    let word = device.allocate_from(&[1u32; 64]).unwrap();
    let plain = || {
        let arguments = [(&word).into(), (&word).into(), (&word).into(), 1u32.into()];
        launch(&stream, &add, "vadd", (64, 64), &arguments).unwrap()
    };
    let large = || {
        let arguments = [(&word).into(), (&word).into(), 4u32.into()];
        launch(&stream, &scratch, "private_large", (64, 64), &arguments).unwrap()
    };
    // None, little, much, and back, each time with work in flight.
    plain();
    sorts(&stream, &scratch, 12345);
    plain();
    let last = large();
    last.wait(LONG).unwrap();
    assert!(last.times().unwrap().is_some());
    plain();
    sorts(&stream, &scratch, 999);
    large().wait(LONG).unwrap();
    sorts(&stream, &scratch, 77);
    assert_eq!(machine.objects().queues, 1);
    drop((last, stream, scratch, add, word, device));
    check_nothing_left(&machine);
}

#[test]
fn times_are_the_devices_and_kept_for_a_while() {
    let machine = machine(18);
    let device = device_of(&machine);
    // gfx1151's counter runs at 100 MHz (the profile's DEV_INFO, 100,000 kHz).
    assert_eq!(device.clock_frequency(), 100_000_000);
    let stream = device.stream_with(StreamOptions { depth: 64, ..Default::default() }).unwrap();
    let add = load(&device, "k01_vadd").unwrap();
    let word = device.allocate_from(&[1u32; 64]).unwrap();
    let arguments = [(&word).into(), (&word).into(), (&word).into(), 1u32.into()];
    let submit = || {
        let start = Instant::now();
        let submission = launch(&stream, &add, "vadd", (64, 64), &arguments).unwrap();
        submission.wait(LONG).unwrap();
        (submission, start.elapsed())
    };
    let (first, wall) = submit();
    let times = first.times().unwrap().unwrap();
    assert!(times.duration() <= wall, "{times:?} in {wall:?}");
    for _ in 1..64 {
        submit();
        assert_eq!(first.times().unwrap(), Some(times));
    }
    submit();
    assert_eq!(first.times().unwrap(), None);
}

#[test]
fn device_memory_holds_what_it_is_given() {
    for target in ["gfx1151", "gfx1100"] {
        let device = Device::select(&format!("sim:{target}").parse().unwrap()).unwrap();
        let values: Vec<u32> = (0..10_000).collect();
        let buffer = device.allocate(40_000, Placement::Device).unwrap();
        assert!(buffer.is_host_visible());
        buffer.upload(&values).unwrap();
        assert_eq!(buffer.read::<u32>().unwrap(), values);
    }
}

/// Host writes to a card's memory go through a cache in its PCI interface, which a store to the first dword of the
/// remapped register page flushes. The simulated page is memory, so the store can be seen.
#[test]
fn writes_to_a_cards_memory_are_flushed() {
    use kfd::AllocationFlags as Flags;
    let machine = selvedge_sim::Machine::with_gpu("gfx1100").unwrap();
    let system: std::sync::Arc<dyn selvedge_sys::System> = machine.process();
    let device = Device::on(system.clone()).unwrap();
    let process = kfd::Process::open(system, kfd::Lifetime::Auto).unwrap();
    let gpu = process.device(process.gpus().next().unwrap()).unwrap();
    let flags = Flags::MMIO_REMAP | Flags::WRITABLE | Flags::COHERENT | Flags::PUBLIC;
    let page = gpu.allocate(4096, flags).unwrap();
    let flushed = || page.word(0).unwrap().swap(0, std::sync::atomic::Ordering::AcqRel) == 1;
    flushed();
    let [card, host] =
        [Placement::Device, Placement::Host].map(|p| device.allocate(64, p).unwrap());
    assert!(!flushed());
    card.upload(&[1u32]).unwrap();
    assert!(flushed());
    card.fill(7).unwrap();
    assert!(flushed());
    host.upload(&[1u32]).unwrap();
    host.fill(7).unwrap();
    assert!(!flushed());
}

#[test]
fn kernel_reads_device_memory_and_writes_host_memory() {
    let device = Device::select(&"sim:gfx1151".parse().unwrap()).unwrap();
    let executable = load(&device, "k02_saxpy").unwrap();
    let x = device.allocate(1024, Placement::Device).unwrap();
    x.upload(&[3f32; 256]).unwrap();
    let y = device.allocate_from(&[1f32; 256]).unwrap();
    let stream = device.stream().unwrap();
    let arguments = [(&y).into(), (&x).into(), 2f32.into(), 256u32.into()];
    launch(&stream, &executable, "saxpy", (256, 64), &arguments).unwrap().wait(LONG).unwrap();
    assert!(y.read::<f32>().unwrap().iter().all(|&y| y == 7.0));
}

#[test]
fn streams_on_many_threads() {
    let machine = machine(18);
    let device = device_of(&machine);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| super::add(&device, 3000).unwrap());
        }
    });
    // One stream, many threads: nothing is lost.
    let stream = device.stream().unwrap();
    let histogram = load(&device, "k05_atomics").unwrap();
    let input = device.allocate_from(&[5u8; 256]).unwrap();
    let bins = device.allocate_from(&[0u32; 256]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let arguments = [(&input).into(), (&bins).into(), 256u32.into()];
                    launch(&stream, &histogram, "hist", (256, 64), &arguments).unwrap();
                }
            });
        }
    });
    stream.synchronize(LONG).unwrap();
    assert_eq!(bins.read::<u32>().unwrap()[5], 4 * 50 * 256);
    drop((stream, histogram, input, bins, device));
    check_nothing_left(&machine);
}

#[test]
fn a_full_queue_is_an_error_after_a_while() {
    let machine = machine(18);
    let device = device_of(&machine);
    let executable = load(&device, "endless").unwrap();
    let options = StreamOptions {
        depth: 64,
        full_timeout: Duration::from_millis(50),
        ..StreamOptions::default()
    };
    let stream = device.stream_with(options).unwrap();
    let (flag, seen) = (super::flag(&device), device.allocate_from(&[0u32]).unwrap());
    let wait = || {
        let arguments = [(&flag).into(), (&seen).into()];
        launch(&stream, &executable, "wait_for_flag", (32, 32), &arguments)
    };
    let error = loop {
        if let Err(error) = wait() {
            break error;
        }
    };
    assert!(matches!(error, Error::QueueFull { depth: 64, .. }), "{error}");
    // Nothing was lost: once the device goes on, so does the stream.
    flag.upload(&[7u32]).unwrap();
    stream.synchronize(LONG).unwrap();
    wait().unwrap().wait(LONG).unwrap();
    assert_eq!(seen.read::<u32>().unwrap(), [7]);
    for depth in [0, 32, 100, 1 << 20] {
        assert!(device.stream_with(StreamOptions { depth, ..Default::default() }).is_err());
    }
}
