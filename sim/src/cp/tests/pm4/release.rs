//! RELEASE_MEM and what else is about work that came before.

use super::*;
use crate::memory::{Access, FaultReason};

/// tinygrad's timeline signal on gfx11 and later, to the dword but for the addresses (pm4/tests/data/packets,
/// sequences.txt, `interrupt`): a fence of 32 bits, then the event's mailbox and its interrupt.
#[rustfmt::skip]
fn signal(value: u32, event: u32) -> Vec<u32> {
    let mailbox = MAILBOXES + 8 * u64::from(event);
    vec![
        0xc006_4900, 0x0070_f514, 0x2000_0000, low(DATA), high(DATA), value, 0, 0,
        0xc006_4900, 0x514, 0x2200_0000, low(mailbox), high(mailbox), event, 0, event,
    ]
}

#[test]
fn a_fence_and_its_event() {
    let mut pm4 = Pm4::new();
    pm4.rig.write_u64(DATA, u64::MAX);
    pm4.rig.write_u64(MAILBOXES + 24, u64::MAX);
    pm4.run(&signal(0x1234, 3));
    assert_eq!(pm4.rig.host.told(), [Told::Interrupt(3)]);
    assert_eq!(pm4.rig.read_u64(DATA), 0xffff_ffff_0000_1234, "32 bits");
    assert_eq!(pm4.rig.read_u64(MAILBOXES + 24), 0xffff_ffff_0000_0003);
}

/// A host that looks at memory when it is interrupted.
#[derive(Debug)]
struct Looking {
    space: Arc<AddressSpace>,
    seen: Mutex<Vec<(u32, u32)>>,
}

impl Host for Looking {
    fn end_of_pipe_interrupt(&self, context_id: u32) {
        let fence = view(&self.space).acquire_u32(DATA).unwrap();
        self.seen.lock().unwrap().push((context_id, fence));
    }

    fn queue_error(&self, _: u32, _: u64) {}

    fn wave_interrupt(&self, _: WaveInterrupt) {}

    fn memory_fault(&self, _: MemoryFault) {}

    fn not_modelled(&self, _: &str) {}

    fn internal_error(&self, _: &str) {}

    fn clock(&self) -> u64 {
        0
    }
}

/// Who is woken up finds the fence written.
#[test]
fn interrupts_come_after_the_write() {
    let rig = Rig::new();
    let host = Arc::new(Looking { space: rig.space.clone(), seen: Mutex::default() });
    let queue = RingProcessor::start(
        rig.gpu.clone(),
        rig.configuration(0, QueueKind::Pm4),
        rig.space.clone(),
        host.clone(),
    );
    let mut pm4 = Pm4 { rig, queue: queue.unwrap(), written: 0 };
    for value in 1..20 {
        pm4.run(&[0xc006_4900, 0x514, 0x2200_0000, low(DATA), high(DATA), value, 0, 100 + value]);
    }
    let expected: Vec<_> = (1..20).map(|value| (100 + value, value)).collect();
    assert_eq!(*host.seen.lock().unwrap(), expected);
}

#[test]
fn interrupts_by_selection() {
    let mut pm4 = Pm4::new();
    for (select, interrupts) in [(0, 0), (1, 1), (2, 1), (3, 0), (4, 1)] {
        let told = pm4.rig.host.told().len();
        let value = 100 + select;
        let control = 2 << 29 | select << 24 | 1 << 16;
        pm4.run(&[0xc006_4900, 0x528, control, low(DATA), 0, value, 7, 40 + select]);
        assert_eq!(pm4.rig.read_u64(DATA), 7 << 32 | u64::from(value), "64 bits");
        let told = pm4.rig.host.told()[told..].to_vec();
        let expected = vec![Told::Interrupt(40 + select); interrupts];
        assert_eq!(told, expected, "selection {select}");
    }
}

/// tinygrad's timestamp: an end of pipe that writes nothing, one that writes the clock, cache control.
#[test]
fn timestamps() {
    let mut pm4 = Pm4::new();
    #[rustfmt::skip]
    pm4.run(&[
        0xc006_4900, 0x514, 0x0200_0000, 0, 0, 0, 0, 0,
        0xc006_4900, 0x514, 0x6000_0000, low(DATA), high(DATA), 0, 0, 0,
        0xc006_5800, 0, 0xffff_ffff, 0xffff_ffff, 0, 0, 0, 0xc3f1,
    ]);
    assert_eq!(pm4.rig.host.told(), [Told::Interrupt(0)]);
    let first = pm4.rig.read_u64(DATA);
    assert!(first > 0);
    // COPY_DATA of the clock, 64 bits; TIMESTAMP of both ends.
    pm4.run(&[0xc004_4000, 9 | 2 << 8 | 1 << 16 | 1 << 20, 0, 0, low(DATA + 8), high(DATA)]);
    pm4.run(&[0xc004_b200, 3, low(DATA + 16), 0, low(DATA + 24), 0]);
    let [second, bottom, top] = [8, 16, 24].map(|at| pm4.rig.read_u64(DATA + at));
    assert!(first < second && second < top && top < bottom, "{first} {second} {top} {bottom}");
}

#[test]
fn adds_where_there_are_some() {
    let add = [0xc006_4900, 0x514, 7 << 29, low(DATA), 0, 5, 0, 0];
    let mut pm4 = Pm4::new();
    pm4.rig.write_u32(DATA, 0xffff_ffff);
    pm4.run(&add);
    assert_eq!(pm4.rig.read_u64(DATA), 4);
    let mut pm4 = Pm4::of("gfx1201", 120_001);
    pm4.submit(&add);
    let text = pm4.fault().error.to_string();
    assert!(text.starts_with("not modelled: this data (RELEASE_MEM"), "{text}");
}

/// The hardware notes the event in the EOP buffer, wherever that is.
#[test]
fn without_an_eop_buffer_it_is_a_page_fault() {
    let rig = Rig::new();
    let mut configuration = rig.configuration(0, QueueKind::Pm4);
    configuration.end_of_pipe_buffer = 0;
    let queue = rig.start_with(configuration, 0);
    let mut pm4 = Pm4 { rig, queue, written: 0 };
    pm4.submit(&signal(1, 3));
    wait_for("the fault", || !pm4.rig.host.told().is_empty());
    let fault = MemoryFault { address: 0, access: Access::Write, reason: FaultReason::NotPresent };
    assert_eq!(pm4.rig.host.told(), [Told::Fault(fault)]);
    assert_eq!(pm4.rig.read_u32(DATA), 0);
}

#[test]
fn gfx9_has_its_own_forms() {
    let mut pm4 = Pm4::of("gfx90a", 90_010);
    // tinygrad's on gfx94x, which tells no event's id; Linux then looks at all mailboxes.
    pm4.run(&[0xc005_5800, 0x28c4_0000, 0xffff_ffff, 0xffff_ffff, 0, 0, 10]);
    pm4.run(&[0xc006_4900, 0x0008_8514, 0x2000_0000, low(DATA), high(DATA), 0x1234, 0, 0]);
    pm4.run(&[0xc006_4900, 0x514, 0x2200_0000, low(MAILBOXES), high(MAILBOXES), 3, 0, 0]);
    assert_eq!(pm4.rig.host.told(), [Told::Interrupt(0)]);
    assert_eq!(pm4.rig.read_u32(DATA), 0x1234);
    // ACQUIRE_MEM of gfx10 is a dword longer.
    pm4.submit(&[0xc006_5800, 0, 0, 0, 0, 0, 0, 0]);
    let text = pm4.fault().error.to_string();
    assert!(text.ends_with("ACQUIRE_MEM of 8 dwords"), "{text}");
}

#[test]
fn events_that_are_not_modelled() {
    // THREAD_TRACE_FINISH; CS_PARTIAL_FLUSH of the wrong kind; SAMPLE_PIPELINESTAT with an address.
    for event in [&[0xc000_4600, 0x37][..], &[0xc000_4600, 7], &[0xc002_4600, 0x21e, low(DATA), 0]]
    {
        let mut pm4 = Pm4::new();
        pm4.run(&[0xc000_4600, 0x407]);
        pm4.submit(event);
        let fault = pm4.fault();
        assert_eq!(fault.packet, 2);
        let text = fault.error.to_string();
        assert!(text.starts_with("not modelled: ") && text.contains("EVENT_WRITE"), "{text}");
        assert_eq!(pm4.rig.host.refused.lock().unwrap().len(), 1);
    }
}
