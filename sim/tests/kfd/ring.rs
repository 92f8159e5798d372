//! Sizes of rings, and doorbells that come back.

use crate::rig::{DOORBELL_SLICE, PAGE, Rig, eventually, gtt};
use kfd::uapi::{self, CreateQueueArgs, request};
use selvedge_sys::Errno;
use std::sync::atomic::Ordering::SeqCst;

/// More queues one after the other than a process has doorbells or ids.
#[test]
fn what_a_queue_had_comes_back() {
    let rig = Rig::new("gfx1151", 18);
    let buffers = rig.queue_buffers();
    // Stopped ones, so that their threads do nothing.
    let args = CreateQueueArgs { queue_percentage: 0, ..buffers.args };
    for round in 0..1100 {
        let mut args = args;
        assert_eq!(rig.ask(request::CREATE_QUEUE, &mut args), Ok(()), "queue {round}");
        let doorbell = args.doorbell_offset & (DOORBELL_SLICE - 1);
        assert_eq!((args.queue_id, doorbell), (0, 0), "queue {round}");
        let mut destroy = uapi::DestroyQueueArgs { queue_id: args.queue_id, pad: 0 };
        rig.ask(request::DESTROY_QUEUE, &mut destroy).unwrap();
    }
    assert_eq!(rig.objects().queues, 0);
    rig.release_buffers(buffers);
    assert_eq!((rig.objects().buffers, rig.objects().gpu_mappings), (0, 0));
}

/// A doorbell in use is not given away, one of the middle is.
#[test]
fn the_lowest_free_doorbell_is_next() {
    let rig = Rig::new("gfx1151", 18);
    let buffers = rig.queue_buffers();
    let args = CreateQueueArgs { queue_percentage: 0, ..buffers.args };
    let create = || {
        let mut args = args;
        rig.ask(request::CREATE_QUEUE, &mut args).unwrap();
        (args.queue_id, args.doorbell_offset & (DOORBELL_SLICE - 1))
    };
    let destroy = |queue_id| {
        let mut args = uapi::DestroyQueueArgs { queue_id, pad: 0 };
        rig.ask(request::DESTROY_QUEUE, &mut args).unwrap();
    };
    let [first, second, third] = [create(), create(), create()];
    destroy(second.0);
    assert_eq!(create(), second);
    for (id, _) in [first, second, third] {
        destroy(id);
    }
}

/// `kfd_queue_acquire_buffers` compares a ring of less than a page with its mapping in whole pages: rounded down
/// before KFD 1.22, so that any mapping matches, and up from there on. KFD 1.14 compares nothing.
#[test]
fn rings_smaller_than_a_page() {
    let cases = [(14, Ok(())), (17, Ok(())), (18, Ok(())), (23, Err(Errno::EINVAL))];
    for (minor, larger) in cases {
        let rig = Rig::new("gfx1151", minor);
        let buffers = rig.queue_buffers();
        let two_pages = rig.buffer(gtt(), 2 * PAGE);
        // A size below the least one is taken for it.
        for (size, taken) in [(1024, 1024), (2048, 2048), (256, 1024), (0, 1024)] {
            for (ring, expected) in [(buffers.ring, Ok(())), (two_pages, larger)] {
                let mut args = CreateQueueArgs {
                    queue_percentage: 0,
                    ring_base_address: ring.va,
                    ring_size: size,
                    ..buffers.args
                };
                let answer = rig.ask(request::CREATE_QUEUE, &mut args);
                assert_eq!(answer, expected, "KFD 1.{minor}, {size} in {}", ring.size);
                if answer.is_ok() {
                    assert_eq!(args.ring_size, taken);
                    let mut args = uapi::DestroyQueueArgs { queue_id: args.queue_id, pad: 0 };
                    rig.ask(request::DESTROY_QUEUE, &mut args).unwrap();
                }
            }
        }
    }
}

/// Packet 16 of a ring of 16 is in its first slot again.
#[test]
fn rings_of_16_packets_wrap_there() {
    const PACKETS: u64 = 16;
    for minor in [18, 23] {
        let rig = Rig::new("gfx1151", minor);
        let signals = rig.buffer(gtt(), PAGE);
        let (inside, outside) = (signals.va, signals.va + 64);
        let mut queue = rig.queue_buffers();
        queue.args.ring_size = 1024;
        rig.start(&mut queue).unwrap();
        signals.qword(8).store(PACKETS + 1, SeqCst);
        signals.qword(64 + 8).store(1, SeqCst);
        for index in 0..PACKETS {
            queue.submit_barrier(index, inside);
        }
        eventually("the first round", || signals.qword(8).load(SeqCst) == 1);
        eventually("the read pointer", || queue.pointers.qword(128).load(SeqCst) == PACKETS);
        // The header last: Barrier-AND.
        queue.ring.qword(56).store(inside, SeqCst);
        queue.ring.dword(0).store(3 | 1 << 8 | 2 << 9 | 2 << 11, SeqCst);
        // What this stores behind the ring's end is no packet.
        queue.submit_barrier(PACKETS, outside);
        eventually("the second round", || signals.qword(8).load(SeqCst) == 0);
        assert_eq!(signals.qword(64 + 8).load(SeqCst), 1);
        rig.destroy(queue);
    }
}
