//! Queues of SDMA engines.

use crate::rig::{Buffer, DOORBELL_SLICE, PAGE, Rig, anonymous, eventually, gtt};
use kfd::uapi::{self, AllocMemFlags, CreateQueueArgs, request};
use selvedge_sys::Errno;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

const RING_BYTES: u64 = 4096;
/// Where in the page of pointers the write pointer is; the read pointer is at its start.
const WRITE: u64 = 16;

/// An SDMA queue with its buffers.
#[derive(Debug)]
struct Queue {
    args: CreateQueueArgs,
    ring: Buffer,
    pointers: Buffer,
    doorbells: u64,
}

impl Queue {
    /// Buffers and arguments of a queue of this type that CREATE_QUEUE accepts: neither an EOP buffer nor a save area.
    fn buffers(rig: &Rig, queue_type: u32) -> Queue {
        let (ring, pointers) = (rig.buffer(gtt(), RING_BYTES), rig.buffer(gtt(), PAGE));
        let args = CreateQueueArgs {
            ring_base_address: ring.va,
            write_pointer_address: pointers.va + WRITE,
            read_pointer_address: pointers.va,
            ring_size: RING_BYTES as u32,
            gpu_id: rig.gpu_id,
            queue_type,
            queue_percentage: 100,
            queue_priority: 7,
            ..Default::default()
        };
        Queue { args, ring, pointers, doorbells: 0 }
    }

    fn new(rig: &Rig) -> Queue {
        let mut queue = Queue::buffers(rig, uapi::QUEUE_TYPE_SDMA);
        rig.ask(request::CREATE_QUEUE, &mut queue.args).unwrap();
        let offset = queue.args.doorbell_offset & !(DOORBELL_SLICE - 1);
        queue.doorbells = rig.mmap(rig.kfd, 0, DOORBELL_SLICE, offset).unwrap();
        queue
    }

    /// Appends dwords to the ring, and rings the doorbell.
    fn submit(&self, words: &[u32]) -> u64 {
        let start = self.pointers.qword(WRITE).load(SeqCst);
        for (at, &word) in (start..).step_by(4).zip(words) {
            self.ring.dword(at % RING_BYTES).store(word, SeqCst);
        }
        let end = start + 4 * words.len() as u64;
        self.pointers.qword(WRITE).store(end, SeqCst);
        let byte = self.args.doorbell_offset & (DOORBELL_SLICE - 1);
        let doorbell = std::ptr::with_exposed_provenance_mut((self.doorbells + byte) as usize);
        // SAFETY: the doorbells are mapped as long as the queue lives.
        unsafe { AtomicU64::from_ptr(doorbell) }.store(end, SeqCst);
        end
    }

    fn run(&self, words: &[u32]) {
        let end = self.submit(words);
        eventually("the read pointer", || self.pointers.qword(0).load(SeqCst) == end);
    }

    fn destroy(self, rig: &Rig) {
        let mut args = uapi::DestroyQueueArgs { queue_id: self.args.queue_id, pad: 0 };
        rig.ask(request::DESTROY_QUEUE, &mut args).unwrap();
        rig.munmap(self.doorbells, DOORBELL_SLICE);
        for buffer in [self.ring, self.pointers] {
            rig.release(buffer);
        }
    }
}

fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

/// COPY_LINEAR.
fn copy(src: u64, dst: u64, bytes: u32) -> [u32; 7] {
    let ([a, b], [c, d]) = (halves(src), halves(dst));
    [1, bytes - 1, 0, a, b, c, d]
}

/// FENCE, uncached from SDMA 5 on.
fn fence(rig: &Rig, address: u64, value: u32) -> [u32; 4] {
    let mtype = if rig.property("gfx_target_version").unwrap() < 100_000 { 0 } else { 3 << 16 };
    let [low, high] = halves(address);
    [5 | mtype, low, high, value]
}

fn vram() -> AllocMemFlags {
    AllocMemFlags::VRAM | AllocMemFlags::WRITABLE | AllocMemFlags::PUBLIC
}

/// What tinygrad's copy queue does: wait, copy, fence, fence to the mailbox, trap. Through memory of every kind.
#[test]
fn copies_fence_and_interrupt() {
    for name in selvedge_sim::profile::names() {
        let rig = Rig::new(name, 18);
        let slots = rig.buffer(gtt(), 32768);
        let mut args =
            uapi::CreateEventArgs { event_page_offset: slots.handle, ..Default::default() };
        rig.ask(request::CREATE_EVENT, &mut args).unwrap();
        let event = rig.create_event(uapi::EVENT_SIGNAL, 1);
        let mailbox = slots.va + u64::from(event) * 8;
        let bytes: u64 = 3 << 20;
        let (first, middle, last) =
            (rig.buffer(gtt(), bytes), rig.buffer(vram(), bytes), rig.buffer(gtt(), bytes));
        let signal = rig.buffer(gtt(), PAGE);
        for at in (0..bytes).step_by(8) {
            first.qword(at).store(at.wrapping_mul(0x9e37_79b9_7f4a_7c15), SeqCst);
        }
        let memory = anonymous(&rig.process, PAGE);
        let mut user = uapi::AllocMemoryOfGpuArgs {
            va_addr: memory,
            size: PAGE,
            mmap_offset: memory,
            gpu_id: rig.gpu_id,
            flags: (AllocMemFlags::USERPTR | AllocMemFlags::WRITABLE).bits(),
            ..Default::default()
        };
        rig.ask(request::ALLOC_MEMORY_OF_GPU, &mut user).unwrap();
        rig.map(user.handle).unwrap();

        let queue = Queue::new(&rig);
        let [low, high] = halves(signal.va + 8);
        let mut words = vec![0xd000_0008, low, high, 1, u32::MAX, 0x0fff_0004];
        words.extend(copy(first.va, middle.va, bytes as u32));
        words.extend(fence(&rig, signal.va, 1));
        words.extend(copy(middle.va, last.va + 1, bytes as u32 - 1));
        words.extend(copy(middle.va + 3, memory + 5, 1001));
        words.extend(fence(&rig, signal.va, 2));
        words.extend(fence(&rig, mailbox, event));
        words.extend([6, event]);
        let end = queue.submit(&words);
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert_eq!(signal.dword(0).load(SeqCst), 0, "it waits");
        signal.dword(8).store(1, SeqCst);
        let (data, result) = rig.wait(uapi::EventData::new(event, 1), 10_000);
        assert_eq!((result, data.signal().last_event_age), (uapi::WAIT_RESULT_COMPLETE, 2));
        assert_eq!(signal.dword(0).load(SeqCst), 2);
        let bytes_of = |at: u64, buffer: &Buffer| buffer.qword(at & !7).load(SeqCst).to_le_bytes();
        let byte = |at: u64, buffer: &Buffer| bytes_of(at, buffer)[(at & 7) as usize];
        for at in [0, 1, 2, 4095, 1 << 20, bytes - 3, bytes - 2] {
            assert_eq!(byte(at + 1, &last), byte(at, &first), "{name}, byte {at}");
            assert_eq!(byte(at, &middle), byte(at, &first), "{name}, byte {at}");
        }
        assert_eq!(byte(0, &last), 0);
        let copied: Vec<u8> = (0..1001).map(|at| byte(at + 3, &first)).collect();
        // SAFETY: mapped above, and the queue is done with it.
        let user_bytes = unsafe {
            std::slice::from_raw_parts(
                std::ptr::with_exposed_provenance::<u8>(memory as usize + 5),
                1001,
            )
        };
        assert_eq!(user_bytes, copied, "{name}");
        eventually("the read pointer", || queue.pointers.qword(0).load(SeqCst) == end);
        assert_eq!(rig.machine.refusals(), [""; 0]);
        queue.destroy(&rig);
    }
}

fn create(rig: &Rig, args: CreateQueueArgs) -> Result<(u32, u64), Errno> {
    let mut args = args;
    rig.ask(request::CREATE_QUEUE, &mut args)?;
    assert_eq!(args.doorbell_offset >> 46, u64::from(rig.gpu_id) | 3 << 16);
    Ok((args.queue_id, (args.doorbell_offset & (DOORBELL_SLICE - 1)) / 8))
}

/// `allocate_sdma_queue`, `allocate_doorbell`: queues are the GPU's, doorbells go by engine and queue.
#[test]
fn engines_have_so_many_queues() {
    // Board, queues for all, for links; doorbells of the first three.
    let cases = [
        ("gfx1151", 6, 0, [0x101, 0x301, 0x102]),
        ("gfx1100", 12, 0, [0x101, 0x10b, 0x301]),
        ("gfx1201", 12, 0, [0x101, 0x10b, 0x301]),
        ("gfx90a", 16, 24, [0x100, 0x10a, 0x300]),
        ("gfx906", 16, 0, [0x100, 0x10a, 0x300]),
        ("gfx1030", 32, 0, [0x100, 0x10a, 0x114]),
    ];
    for (name, any, links, doorbells) in cases {
        let rig = Rig::new(name, 18);
        let buffers = Queue::buffers(&rig, uapi::QUEUE_TYPE_SDMA);
        let args = CreateQueueArgs { queue_percentage: 0, ..buffers.args };
        let all = |queue_type| {
            let args = CreateQueueArgs { queue_type, ..args };
            let mut queues = Vec::new();
            loop {
                match create(&rig, args) {
                    Ok(queue) => queues.push(queue),
                    Err(errno) => {
                        assert_eq!(errno, Errno::ENOMEM, "{name}");
                        return queues;
                    }
                }
            }
        };
        let queues = all(uapi::QUEUE_TYPE_SDMA);
        assert_eq!(queues.len(), any, "{name}");
        let first: Vec<u64> = queues.iter().take(3).map(|queue| queue.1).collect();
        assert_eq!(first, doorbells, "{name}");
        assert_eq!(all(uapi::QUEUE_TYPE_SDMA_XGMI).len(), links, "{name}");
        // Those of other processes are the same ones.
        let other = Rig::on(rig.machine.clone());
        let its = Queue::buffers(&other, uapi::QUEUE_TYPE_SDMA);
        assert_eq!(create(&other, its.args), Err(Errno::ENOMEM), "{name}");
        let mut gone = uapi::DestroyQueueArgs { queue_id: queues[1].0, pad: 0 };
        rig.ask(request::DESTROY_QUEUE, &mut gone).unwrap();
        assert_eq!(create(&other, its.args).unwrap().1, queues[1].1, "{name}");
        assert_eq!(create(&rig, args), Err(Errno::ENOMEM), "{name}");
        // A compute queue never gets a doorbell of them.
        if name == "gfx1100" {
            let compute = rig.queue();
            assert_eq!(compute.args.doorbell_offset & (DOORBELL_SLICE - 1), 0);
            rig.destroy(compute);
        }
    }
}

/// A process that ends gives its queues back.
#[test]
fn queues_come_back_with_the_process() {
    let rig = Rig::new("gfx1151", 18);
    let buffers = Queue::buffers(&rig, uapi::QUEUE_TYPE_SDMA);
    for _ in 0..6 {
        create(&rig, buffers.args).unwrap();
    }
    let machine = rig.machine.clone();
    drop(rig);
    let rig = Rig::on(machine);
    let queue = Queue::new(&rig);
    assert_eq!(queue.args.doorbell_offset & (DOORBELL_SLICE - 1), 0x101 * 8);
    queue.destroy(&rig);
}

#[test]
fn queues_of_an_engine_by_its_number() {
    let rig = Rig::new("gfx90a", 18);
    let buffers = Queue::buffers(&rig, uapi::QUEUE_TYPE_SDMA_BY_ENG_ID);
    let by = |engine| create(&rig, CreateQueueArgs { sdma_engine_id: engine, ..buffers.args });
    // Two engines for all copies and three for links.
    let doorbells = [1, 1, 4, 0].map(|engine| by(engine).unwrap().1);
    assert_eq!(doorbells, [0x10a, 0x30a, 0x128, 0x100]);
    assert_eq!(by(5), Err(Errno::EINVAL));
    for _ in 0..7 {
        by(4).unwrap();
    }
    assert_eq!(by(4), Err(Errno::ENOMEM));
    assert!(by(3).is_ok());
}

#[test]
fn percentage_zero_stops_a_copy_queue() {
    let rig = Rig::new("gfx1100", 18);
    let signal = rig.buffer(gtt(), PAGE);
    let queue = Queue::new(&rig);
    let update = |percentage| {
        let mut args = uapi::UpdateQueueArgs {
            ring_base_address: queue.args.ring_base_address,
            queue_id: queue.args.queue_id,
            ring_size: queue.args.ring_size,
            queue_percentage: percentage,
            queue_priority: 7,
        };
        rig.ask(request::UPDATE_QUEUE, &mut args).unwrap();
    };
    queue.run(&fence(&rig, signal.va, 1));
    update(0);
    queue.submit(&fence(&rig, signal.va, 2));
    std::thread::sleep(std::time::Duration::from_millis(30));
    assert_eq!(signal.dword(0).load(SeqCst), 1);
    // Waves are those of compute queues.
    let mut state = uapi::GetQueueWaveStateArgs {
        queue_id: queue.args.queue_id,
        ctl_stack_address: signal.va + 256,
        ..Default::default()
    };
    assert_eq!(rig.ask(request::GET_QUEUE_WAVE_STATE, &mut state), Err(Errno::EINVAL));
    update(100);
    eventually("the fence", || signal.dword(0).load(SeqCst) == 2);
    queue.destroy(&rig);
}

/// A page fault of a copy is told as one of a kernel, and stops all of the process's queues.
#[test]
fn page_faults_of_copies() {
    let rig = Rig::new("gfx1151", 18);
    let memory = rig.create_event(uapi::EVENT_MEMORY, 0);
    let buffer = rig.buffer(gtt(), PAGE);
    let (queue, other) = (Queue::new(&rig), Queue::new(&rig));
    buffer.dword(PAGE - 4).store(0x0403_0201, SeqCst);
    // The last three bytes come from nowhere.
    queue.submit(&copy(buffer.va + PAGE - 4, buffer.va, 7));
    let (data, result) = rig.wait(uapi::EventData::new(memory, 0), 10_000);
    assert_eq!(result, uapi::WAIT_RESULT_COMPLETE);
    assert_eq!(data.memory_exception().va, buffer.va + PAGE);
    assert_eq!(buffer.qword(0).load(SeqCst), 0x0403_0201, "what was copied before it stays");
    other.submit(&fence(&rig, buffer.va + 8, 1));
    std::thread::sleep(std::time::Duration::from_millis(30));
    assert_eq!(buffer.dword(8).load(SeqCst), 0);
    queue.destroy(&rig);
    other.destroy(&rig);
}

/// An opcode that there is not: no event tells of it, the read pointer stays, and the queue can be destroyed.
#[test]
fn bad_packets_are_told_to_nobody() {
    let rig = Rig::new("gfx1151", 18);
    rig.runtime_enable(uapi::RuntimeMode::ENABLE.bits()).unwrap();
    let hardware = rig.create_event(uapi::EVENT_HW_EXCEPTION, 0);
    let queue = Queue::new(&rig);
    queue.run(&[0; 4]);
    queue.submit(&[0x7f, 0]);
    let (_, result) = rig.wait(uapi::EventData::new(hardware, 0), 50);
    assert_eq!(result, uapi::WAIT_RESULT_TIMEOUT);
    assert_eq!(queue.pointers.qword(0).load(SeqCst), 16);
    queue.destroy(&rig);
}

/// Since 6.12 ring and pointers are buffers of their own, as with other queues; what only compute queues have is not
/// looked at.
#[test]
fn buffers_are_checked() {
    for minor in [18, 23] {
        let rig = Rig::new("gfx1100", minor);
        let good = Queue::buffers(&rig, uapi::QUEUE_TYPE_SDMA);
        let args = CreateQueueArgs { queue_percentage: 0, ..good.args };
        for (args, answer) in [
            (CreateQueueArgs { read_pointer_address: 8 * PAGE, ..args }, Err(Errno::EINVAL)),
            (CreateQueueArgs { ring_size: 8192, ..args }, Err(Errno::EINVAL)),
            (CreateQueueArgs { eop_buffer_address: 8 * PAGE, ..args }, Ok(())),
            (CreateQueueArgs { ctx_save_restore_address: 8 * PAGE, ..args }, Ok(())),
        ] {
            assert_eq!(create(&rig, args).map(drop), answer, "1.{minor} {args:?}");
        }
        assert_eq!(rig.unmap(good.ring.handle), Err(Errno::EBUSY));
    }
}
