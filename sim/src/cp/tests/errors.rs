//! Packets that stop the queue, and how it tells.

use super::*;
use crate::cp::QueueError;
use crate::memory::{Access, FaultReason};
use aql::vendor::Condition;
use aql::{AgentDispatch, BarrierValue, ExtKernelDispatch, Pm4Indirect};

/// Submits the packet and checks all that an error does: value of the inactive signal, its event,
/// the exception, the completion that does not come, the packet that stays.
fn check(rig: &Rig, words: &[u32; 16], value: i64, exception: u32) -> QueueError {
    let queue = rig.start(0);
    rig.signal(INACTIVE, 0, MAILBOXES, 9);
    rig.submit(0, words);
    let fault = rig.wait_fault(&queue);
    assert_eq!(rig.value(INACTIVE), value, "{fault}");
    wait_for("the exception", || rig.host.told().len() == 2);
    let exceptions = 1 << (exception - 1);
    assert_eq!(rig.host.told(), [Told::Interrupt(9), Told::Error { queue: 7, exceptions }]);
    assert_eq!(rig.read_u64(MAILBOXES), 9);
    assert_eq!(rig.read_u64(QUEUE + queue::offset::READ_DISPATCH_ID), 0);
    assert_eq!(fault.packet, 0);
    assert_eq!(queue.statistics().packets, 0);
    // The queue is dead: nothing behind the packet runs either.
    rig.signal(SIGNALS + 64, 1, 0, 0);
    let mut barrier = aql::BarrierAnd::new([0; 5]);
    barrier.completion_signal = SIGNALS + 64;
    rig.submit(0, &barrier.encode());
    thread::sleep(Duration::from_millis(5));
    assert_eq!(rig.value(SIGNALS + 64), 1);
    queue.destroy();
    fault.error
}

fn check_dispatch(
    change: impl FnOnce(&mut KernelDispatch),
    value: i64,
    exception: u32,
) -> QueueError {
    let rig = Rig::new();
    let mut packet = rig.dispatch(kernel::END);
    change(&mut packet);
    let error = check(&rig, &packet.encode(), value, exception);
    assert_eq!(rig.value(SIGNALS), 1, "no completion");
    error
}

fn set_grid(packet: &mut KernelDispatch, size: [u32; 3]) {
    [packet.grid_size_x, packet.grid_size_y, packet.grid_size_z] = size;
}

fn set_workgroup(packet: &mut KernelDispatch, size: [u16; 3]) {
    [packet.workgroup_size_x, packet.workgroup_size_y, packet.workgroup_size_z] = size;
}

#[test]
fn grids() {
    let changes: [fn(&mut KernelDispatch); 4] = [
        |p| p.dimensions = 0,
        |p| p.grid_size_x = 0,
        |p| p.grid_size_z = 0,
        |p| {
            p.dimensions = 1;
            p.grid_size_y = 2;
        },
    ];
    for change in changes {
        check_dispatch(change, 2, 16);
    }
    let error = check_dispatch(|p| p.dimensions = 0, 2, 16);
    assert_eq!(
        error.to_string(),
        "grid [32, 1, 1] in 0 dimensions: there must be 1 to 3 dimensions"
    );
    let too_large: [fn(&mut KernelDispatch); 2] =
        [|p| set_grid(p, [u32::MAX; 3]), |p| set_grid(p, [1 << 16, 1 << 16, 1])];
    for change in too_large {
        let all = |p: &mut KernelDispatch| {
            p.dimensions = 3;
            change(p);
        };
        let error = check_dispatch(all, 2, 16).to_string();
        assert!(error.ends_with("there can be at most 4294967295 work-items"), "{error}");
    }
}

/// A failure of the simulator is no silent hang.
#[test]
fn panics_reach_the_host() {
    let rig = Rig::new();
    let queue = rig.start(0);
    rig.host.broken.store(true, Ordering::Relaxed);
    rig.submit(0, &aql::BarrierAnd::new([0; 5]).encode());
    wait_for("the panic", || !rig.host.told().is_empty());
    assert_eq!(rig.host.told(), [Told::Internal("the clock is broken".to_owned())]);
    queue.destroy();
}

#[test]
fn workgroups() {
    let changes: [fn(&mut KernelDispatch); 4] = [
        |p| p.workgroup_size_y = 0,
        |p| set_workgroup(p, [32, 32, 2]),
        |p| set_workgroup(p, [u16::MAX; 3]),
        |p| {
            p.dimensions = 2;
            p.workgroup_size_z = 2;
        },
    ];
    for change in changes {
        check_dispatch(change, 64, 21);
    }
}

#[test]
fn group_segments() {
    let error = check_dispatch(|p| p.group_segment_size = 65_537, 4, 17);
    assert_eq!(
        error.to_string(),
        "group segment of 65537 bytes: a workgroup can have at most 65536"
    );
    check_dispatch(|p| p.group_segment_size = u32::MAX, 4, 17);
}

#[test]
fn reserved_bits() {
    // `setup` beyond the dimensions, reserved0, the header's last bits.
    check_dispatch(|p| p.reserved[0] = 1 << 18, 32, 20);
    check_dispatch(|p| p.reserved[2] = 1 << 16, 32, 20);
    check_dispatch(|p| p.reserved[0] = 1 << 15, 32, 20);
}

#[test]
fn kernel_objects() {
    check_dispatch(|p| p.kernel_object = 0, 8, 18);
    check_dispatch(|p| p.kernel_object += 32, 8, 18);

    type Change = fn(&mut KernelDescriptor);
    let changes: [(Change, &str); 4] = [
        (|d| d.kernel_code_entry_byte_offset += 4, "entry 0x400104 is not a multiple of 256"),
        (|d| d.reserved3[0] = 1, "reserved bits 511:480 must be zero on gfx11.5"),
        (
            |d| d.compute_pgm_rsrc2 = Rsrc2::new().with_user_sgpr_count(1).into_bits(),
            "the kernel's properties need 2 user SGPRs, and USER_SGPR_COUNT allows 1",
        ),
        (|d| d.compute_pgm_rsrc1 |= 1 << 20, "COMPUTE_PGM_RSRC1 must be zero on gfx11.5"),
    ];
    for (change, problem) in changes {
        let rig = Rig::new();
        let packet = rig.dispatch(kernel::END);
        rig.load(kernel::END, change);
        let error = check(&rig, &packet.encode(), 8, 18);
        assert_eq!(error.to_string(), format!("kernel object 0x400000: {problem}"));
    }
}

#[test]
fn registers() {
    let rig = Rig::new();
    let mut packet = rig.dispatch(kernel::END);
    packet.workgroup_size_x = 1024;
    rig.load(kernel::END, |d| d.compute_pgm_rsrc1 |= 31);
    let error = check(&rig, &packet.encode(), 128, 22);
    assert_eq!(
        error.to_string(),
        "32 waves of 264 VGPRs: a workgroup can have at most 10 waves of this kind"
    );
}

#[test]
fn packets_of_other_kinds() {
    let agent = AgentDispatch::new(1, 0, [0; 4]);
    check(&Rig::new(), &agent.encode(), 32, 20);
    check(&Rig::new(), &[6; 16], 32, 20);
    // A ring that nobody filled with INVALID.
    check(&Rig::new(), &[0; 16], 256, 23);
    let barrier = BarrierValue::new(SIGNALS, Condition::EQ, 0);
    check(&Rig::new(), &barrier.encode(), 256, 23);
    let clusters = ExtKernelDispatch::new(0, 0, (1, 1, 1), [1; 3]);
    check(&Rig::new(), &clusters.encode(), 256, 23);
}

#[test]
fn indirect_buffers() {
    let refused = |buffer: &[u32], problem: &str| {
        let rig = Rig::new();
        for (i, word) in buffer.iter().enumerate() {
            rig.write_u32(DATA + 4 * i as u64, *word);
        }
        let packet = Pm4Indirect::new(DATA, buffer.len() as u32);
        let error = check(&rig, &packet.encode(), 256, 23).to_string();
        assert!(error.ends_with(problem), "{error}");
    };
    // WRITE_DATA without data.
    refused(&[0xc001_3700, 5 << 8, 0], "WRITE_DATA of 3 dwords");
    refused(&[0xc003_2700, 0, 0, 0, 0], "DRAW_INDEX_2 of 5 dwords");
    refused(&[0xc006_5800, 0], "8 dwords in a buffer with 2 left");
    refused(&[0x8000_0000, 0], "header 0x00000000 at 0x600004: a header of type 0");
    refused(&[0x8000_0000, 0xc002_3f00, 0, 0, 1 << 23], ": an empty buffer");
}

#[test]
fn what_is_not_modelled() {
    let rig = Rig::new();
    let packet = rig.dispatch(kernel::NOT_MODELLED);
    let error = check(&rig, &packet.encode(), 0x4000_0000, 4);
    assert!(error.to_string().starts_with("not modelled: "), "{error}");
    assert!(error.to_string().ends_with(" at 0x400100"), "{error}");
    let refused = rig.host.refused.lock().unwrap();
    assert!(refused[0].ends_with("; at 0x400100, queue 7, packet 0"), "{refused:?}");
    assert_eq!(rig.value(SIGNALS), 1);
}

#[test]
fn exceptions_reach_nobody_without_a_trap_handler() {
    for code in [kernel::ILLEGAL, kernel::MISALIGNED] {
        let rig = Rig::new();
        rig.write_u64(DATA, DATA + 64);
        let packet = rig.dispatch(code);
        let queue = rig.start(0);
        rig.submit(0, &packet.encode());
        wait_for("the exception", || queue.exception().is_some());
        thread::sleep(Duration::from_millis(5));
        assert_eq!(rig.host.told(), []);
        assert_eq!((rig.value(INACTIVE), rig.value(SIGNALS)), (0, 1));
        assert_eq!(queue.fault(), None);
        // Its waves can be killed.
        queue.destroy();
    }
}

#[test]
fn traps_pass_without_a_trap_handler() {
    for code in [kernel::ABORT, kernel::DEBUG_TRAP] {
        let rig = Rig::new();
        let packet = rig.dispatch(code);
        let queue = rig.start(0);
        rig.submit(0, &packet.encode());
        rig.wait_zero(SIGNALS);
        assert_eq!(rig.host.told(), []);
        queue.destroy();
    }
}

/// The runtime's handler: M0 9:0 is the doorbell, 23:10 a mask of 1 << (exception code − 1).
#[test]
fn a_trap_handler_tells_and_halts() {
    let handler = include_bytes!("../../../../src/device/trap_handler/gfx11.bin");
    let cases: [(&[u32], Option<u32>); 4] = [
        (kernel::ILLEGAL, Some(0x2001)),
        (kernel::MISALIGNED, Some(0x8001)),
        (kernel::ABORT, Some(0x401)),
        (kernel::DEBUG_TRAP, None),
    ];
    for (code, data) in cases {
        let rig = Rig::new();
        view(&rig.space).write_bytes(CODE + 0x800, handler).unwrap();
        rig.trap_handler.set(Some((CODE + 0x800, 0)));
        rig.write_u64(DATA, DATA + 64);
        let packet = rig.dispatch(code);
        let queue = rig.start(1);
        rig.submit(1, &packet.encode());
        match data {
            Some(data) => {
                wait_for("the interrupt", || !rig.host.told().is_empty());
                thread::sleep(Duration::from_millis(5));
                let interrupt = WaveInterrupt { data, privileged: true, wave: 0 };
                assert_eq!(rig.host.told(), [Told::Wave(interrupt)]);
                assert_eq!(rig.value(SIGNALS), 1);
            }
            None => rig.wait_zero(SIGNALS),
        }
        queue.destroy();
    }
}

/// The fault that a packet leads to; the queue says nothing itself.
fn memory_fault(rig: &Rig, words: &[u32; 16]) -> MemoryFault {
    let queue = rig.start(0);
    rig.submit(0, words);
    wait_for("the fault", || !rig.host.told().is_empty());
    queue.destroy();
    assert_eq!(rig.value(INACTIVE), 0);
    match rig.host.told()[..] {
        [Told::Fault(fault)] => fault,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn page_faults_go_to_the_host() {
    let not_present =
        |address, access| MemoryFault { address, access, reason: FaultReason::NotPresent };
    let rig = Rig::new();
    let packet = rig.dispatch(kernel::NULL_STORE);
    assert_eq!(memory_fault(&rig, &packet.encode()), not_present(0, Access::Write));
    assert_eq!(rig.value(SIGNALS), 1, "the signal never completes");

    let rig = Rig::new();
    let mut packet = rig.dispatch(kernel::END);
    packet.kernel_object = 0x9000_0000;
    assert_eq!(memory_fault(&rig, &packet.encode()), not_present(0x9000_0000, Access::Read));

    let rig = Rig::new();
    let mut packet = rig.dispatch(kernel::END);
    packet.completion_signal = 0x9000_0000;
    let fault = memory_fault(&rig, &packet.encode());
    assert_eq!(fault, not_present(0x9000_0010, Access::Read));
}

#[test]
fn an_unmapped_ring_is_a_page_fault() {
    let rig = Rig::new();
    let packet = rig.dispatch(kernel::END);
    let index = rig.place(0, &packet.encode());
    assert!(rig.space.unmap(RING));
    let queue = rig.start(0);
    rig.ring_doorbell(0, index);
    wait_for("the fault", || !rig.host.told().is_empty());
    queue.destroy();
    let reason = FaultReason::NotPresent;
    let fault = MemoryFault { address: RING, access: Access::Read, reason };
    assert_eq!(rig.host.told(), [Told::Fault(fault)]);
}

#[test]
fn without_inactive_signal_the_host_still_hears() {
    let rig = Rig::new();
    rig.write_u64(QUEUE + queue::offset::QUEUE_INACTIVE_SIGNAL, 0);
    let queue = rig.start(0);
    rig.submit(0, &[6; 16]);
    wait_for("the exception", || !rig.host.told().is_empty());
    assert_eq!(rig.host.told(), [Told::Error { queue: 7, exceptions: 1 << 19 }]);
    queue.destroy();
}
