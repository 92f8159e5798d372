//! Starting, stopping, ending.

use super::*;
use crate::cp::QueueError;
use aql::Generation;
use aql::scratch::TmpringSize;

/// Runs `action` and fails when it takes long.
fn promptly(what: &str, action: impl FnOnce()) {
    let start = Instant::now();
    action();
    assert!(start.elapsed() < Duration::from_secs(5), "{what} took {:?}", start.elapsed());
}

/// A queue that runs an endless kernel.
fn endless(rig: &Rig) -> RingProcessor {
    let queue = rig.start(0);
    rig.submit(0, &rig.dispatch(kernel::ENDLESS).encode());
    thread::sleep(Duration::from_millis(20));
    queue
}

#[test]
fn destroying_kills_waves() {
    let rig = Rig::new();
    let queue = endless(&rig);
    promptly("destroying", || queue.destroy());
    assert_eq!(rig.value(SIGNALS), 1);
    assert_eq!(rig.host.told(), []);
}

#[test]
fn dropping_is_destroying() {
    let rig = Rig::new();
    let queue = endless(&rig);
    promptly("dropping", || drop(queue));
    // The thread held the address space and the host; both are free again.
    assert_eq!(Arc::strong_count(&rig.space), 1);
    assert_eq!(Arc::strong_count(&rig.host), 1);
}

#[test]
fn evicting_kills_waves_for_good() {
    let rig = Rig::new();
    let queue = endless(&rig);
    promptly("evicting", || queue.evict());
    wait_for("the thread's end", || Arc::strong_count(&rig.host) == 1);
    let packet = rig.dispatch(kernel::END);
    rig.submit(0, &packet.encode());
    thread::sleep(Duration::from_millis(10));
    assert_eq!(rig.value(SIGNALS), 1);
    promptly("stopping", || assert!(queue.set_running(false)));
    promptly("continuing", || assert!(queue.set_running(true)));
    queue.destroy();
}

#[test]
fn a_stopped_queue_starts_nothing() {
    let rig = Rig::new();
    let queue = rig.start(0);
    assert!(queue.set_running(false));
    rig.submit(0, &rig.dispatch(kernel::END).encode());
    thread::sleep(Duration::from_millis(20));
    assert_eq!(rig.value(SIGNALS), 1);
    assert!(queue.set_running(true));
    rig.wait_zero(SIGNALS);
}

#[test]
fn a_waiting_barrier_does_not_delay_stopping() {
    let rig = Rig::new();
    let queue = rig.start(0);
    rig.signal(SIGNALS, 1, 0, 0);
    rig.signal(SIGNALS + 64, 1, 0, 0);
    let mut barrier = aql::BarrierAnd::new([SIGNALS + 64, 0, 0, 0, 0]);
    barrier.completion_signal = SIGNALS;
    rig.submit(0, &barrier.encode());
    thread::sleep(Duration::from_millis(10));
    promptly("stopping", || assert!(queue.set_running(false)));
    rig.set_value(SIGNALS + 64, 0);
    thread::sleep(Duration::from_millis(20));
    assert_eq!(rig.value(SIGNALS), 1, "a stopped queue completes nothing");
    queue.set_running(true);
    rig.wait_zero(SIGNALS);
}

#[test]
fn a_stopped_queue_can_be_destroyed() {
    let rig = Rig::new();
    let queue = rig.start(0);
    queue.set_running(false);
    promptly("destroying", || queue.destroy());
}

/// Processor time of the thread of a queue with this id.
fn thread_time(id: u32) -> Duration {
    // The kernel keeps 15 characters of the name.
    let name = format!("gpu-queue-{id}\n");
    let mut tasks = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
    let task = tasks
        .find(|task| std::fs::read_to_string(task.join("comm")).is_ok_and(|comm| comm == name))
        .unwrap();
    let stat = std::fs::read_to_string(task.join("stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    // utime and stime: fields 14 and 15 of proc(5), ticks of 10 ms.
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(10 * ticks)
}

#[test]
fn idle_queues_sleep() {
    let rig = Rig { first_id: 4000, ..Rig::new() };
    let queue = rig.start(0);
    thread::sleep(Duration::from_millis(500));
    let before = thread_time(4000);
    thread::sleep(Duration::from_secs(1));
    let used = thread_time(4000) - before;
    assert!(used <= Duration::from_millis(30), "{used:?} of processor time in a second");
    drop(queue);
}

#[test]
fn scratch_can_be_given_later() {
    let rig = Rig::new();
    let queue = rig.start(0);
    rig.signal(INACTIVE, 0, MAILBOXES, 3);
    let mut packet = rig.dispatch(kernel::END);
    packet.private_segment_size = 64;
    rig.submit(0, &packet.encode());
    let fault = rig.wait_fault(&queue);
    assert!(matches!(fault.error, QueueError::Scratch { needed: 2048, lanes: 32, .. }), "{fault}");
    assert_eq!(rig.value(INACTIVE), 0x400);
    assert_eq!(rig.host.told(), [Told::Interrupt(3)], "the KFD does not hear of it");
    thread::sleep(Duration::from_millis(5));
    assert_eq!(rig.value(SIGNALS), 1);

    let tmpring = TmpringSize { waves: 640, wave_bytes: 2048 }.encode(Generation::Gfx11).unwrap();
    rig.write_field(queue::offset::COMPUTE_TMPRING_SIZE, tmpring);
    rig.write_field(queue::offset::SCRATCH_WAVE64_LANE_BYTE_SIZE, 32);
    rig.set_value(INACTIVE, 0);
    rig.wait_zero(SIGNALS);
    assert_eq!(queue.fault(), None);
}

/// A host that does to the queue what the machine does on a fault, from the queue's own thread.
#[derive(Debug, Default)]
struct Evicting {
    queue: Mutex<Option<RingProcessor>>,
}

impl Host for Evicting {
    fn end_of_pipe_interrupt(&self, _: u32) {}

    fn queue_error(&self, _: u32, _: u64) {
        // Owner of the queue, and dropped on the queue's own thread.
        drop(self.queue.lock().unwrap().take());
    }

    fn wave_interrupt(&self, _: WaveInterrupt) {}

    fn memory_fault(&self, _: MemoryFault) {
        let queue = self.queue.lock().unwrap();
        let queue = queue.as_ref().unwrap();
        queue.evict();
        assert!(queue.set_running(false));
    }

    fn not_modelled(&self, what: &str) {
        panic!("{what}");
    }

    fn internal_error(&self, message: &str) {
        panic!("{message}");
    }

    fn clock(&self) -> u64 {
        0
    }
}

#[test]
fn the_queues_own_thread_may_stop_it() {
    for words in [Rig::new().dispatch(kernel::NULL_STORE).encode(), [6; 16]] {
        let rig = Rig::new();
        rig.dispatch(kernel::NULL_STORE);
        let host = Arc::new(Evicting::default());
        let configuration = QueueConfiguration {
            kind: QueueKind::Aql,
            end_of_pipe_buffer: 0,
            process: 0,
            gpu: 0,
            id: 1,
            ring: (RING, RING_BYTES),
            read_pointer: QUEUE + queue::offset::READ_DISPATCH_ID,
            write_pointer: QUEUE + queue::offset::WRITE_DISPATCH_ID,
            doorbell: (Arc::clone(&rig.doorbells), 0),
            trap_handler: Arc::default(),
            xcc: 0,
        };
        let queue = RingProcessor::start(
            Arc::clone(&rig.gpu),
            configuration,
            Arc::clone(&rig.space),
            host.clone(),
        )
        .unwrap();
        *host.queue.lock().unwrap() = Some(queue);
        rig.submit(0, &words);
        wait_for("the thread's end", || Arc::strong_count(&host) == 1);
    }
}

/// Scratch for one dispatch (ROCr, amd_aql_queue.cpp, `DynamicQueueEventsHandler`): its end is told by 512, and the queue
/// goes on when the property is clear.
#[test]
fn scratch_for_once_is_given_back() {
    let rig = Rig::new();
    let tmpring = TmpringSize { waves: 640, wave_bytes: 2048 }.encode(Generation::Gfx11).unwrap();
    rig.write_field(queue::offset::COMPUTE_TMPRING_SIZE, tmpring);
    rig.write_field(queue::offset::SCRATCH_WAVE64_LANE_BYTE_SIZE, 32);
    let once = queue::Properties::new().with_use_scratch_once(true).into_bits();
    rig.write_field(queue::offset::QUEUE_PROPERTIES, once);
    rig.signal(INACTIVE, 0, MAILBOXES, 3);
    let queue = rig.start(0);
    // One that needs no scratch leaves it alone.
    let mut packet = rig.dispatch(kernel::END);
    rig.submit(0, &packet.encode());
    rig.wait_zero(SIGNALS);
    assert_eq!(rig.value(INACTIVE), 0);
    packet.private_segment_size = 64;
    rig.set_value(SIGNALS, 2);
    rig.submit(0, &packet.encode());
    wait_for("the end of scratch", || rig.value(INACTIVE) == 512);
    wait_for("the interrupt", || rig.host.told() == [Told::Interrupt(3)]);
    assert_eq!((rig.value(SIGNALS), queue.fault()), (1, None));
    rig.submit(0, &packet.encode());
    rig.set_value(INACTIVE, 0);
    wait_for("the queue's rest", || queue.is_parked());
    assert_eq!(rig.value(SIGNALS), 1, "the property is still there");
    rig.write_field(queue::offset::QUEUE_PROPERTIES, 0);
    rig.wait_zero(SIGNALS);
    assert_eq!(rig.value(INACTIVE), 0);
}
