//! The ring, its pointers and the doorbell.

use super::*;

#[test]
fn pointers_count_dwords() {
    let mut pm4 = Pm4::new();
    // NOPs of two dwords and of one, a filler.
    pm4.run(&[0xc000_1000, 0xdead_beef, 0xffff_1000, 0x8000_0000]);
    assert_eq!(pm4.rig.read_u64(READ_POINTER), 4, "32 bits, in dwords");
    assert_eq!(pm4.queue.statistics().packets, 3);
    assert_eq!(pm4.rig.host.told(), []);
}

/// The read pointer's upper half is not the hardware's.
#[test]
fn the_read_pointer_has_32_bits() {
    let rig = Rig::new();
    rig.write_u64(READ_POINTER, 0xabcd_0123_0000_0000);
    let mut pm4 = Pm4::on(rig);
    pm4.run(&[0xffff_1000]);
    assert_eq!(pm4.rig.read_u64(READ_POINTER), 0xabcd_0123_0000_0001);
}

#[test]
fn nothing_is_taken_before_the_doorbell() {
    let mut pm4 = Pm4::new();
    pm4.place(&write_data(DATA, &[1]));
    pm4.assert_waits_at(0);
    assert_eq!(pm4.rig.read_u32(DATA), 0);
    pm4.ring_doorbell();
    pm4.wait_idle();
    assert_eq!(pm4.rig.read_u32(DATA), 1);
}

/// Packets lie across the ring's end at every place, and all of their dwords count.
#[test]
fn packets_go_on_at_the_start_of_the_ring() {
    let mut pm4 = Pm4::new();
    for round in 1..200u32 {
        let values: Vec<_> = (0..7).map(|value| round << 8 | value).collect();
        pm4.run(&write_data(DATA, &values));
        for (at, value) in (DATA..).step_by(4).zip(values) {
            assert_eq!(pm4.rig.read_u32(at), value, "round {round}");
        }
    }
    assert!(pm4.written > 8 * DWORDS);
    assert_eq!(pm4.queue.statistics().packets, 199);
}

#[test]
fn the_write_pointer_has_64_bits() {
    let mut pm4 = Pm4::at(Rig::new(), (1 << 32) - 3);
    for value in 1..100 {
        pm4.run(&write_data(DATA, &[value]));
        assert_eq!(pm4.rig.read_u32(DATA), value);
    }
}

#[test]
fn half_a_packet_is_waited_for() {
    let mut pm4 = Pm4::new();
    let words = write_data(DATA, &[1, 2]);
    for word in &words {
        pm4.assert_waits_at(0);
        pm4.submit(&[*word]);
    }
    pm4.wait_idle();
    assert_eq!((pm4.rig.read_u32(DATA), pm4.rig.read_u32(DATA + 4)), (1, 2));
}

/// A producer that counts bytes tells of dwords that are not there: zeros, which are no packet.
#[test]
fn a_write_pointer_in_bytes_stops_the_queue() {
    let pm4 = &mut Pm4::new();
    for slot in 0..DWORDS {
        pm4.rig.write_u32(RING + 4 * slot, 0);
    }
    pm4.place(&write_data(DATA, &[1]));
    pm4.rig.ring_doorbell(0, pm4.written * 4);
    let fault = pm4.fault();
    assert_eq!(fault.packet, 5);
    assert_eq!(
        fault.error.to_string(),
        "PM4 packet with header 0x00000000 at 0x100014: a header of type 0"
    );
    assert_eq!(pm4.rig.read_u32(DATA), 1, "what came before is done");
    assert_eq!(pm4.read_pointer(), 5);
}

#[test]
fn no_packet_is_longer_than_the_ring() {
    let mut pm4 = Pm4::new();
    // WRITE_DATA of 256 dwords.
    pm4.submit(&[0xc0fe_3700, 0x0010_0500]);
    let text = pm4.fault().error.to_string();
    assert!(text.ends_with("256 dwords in a ring of 256"), "{text}");
}

#[test]
fn an_unmapped_ring_is_a_page_fault() {
    let mut pm4 = Pm4::new();
    pm4.place(&[0xffff_1000]);
    assert!(pm4.rig.space.unmap(RING));
    pm4.ring_doorbell();
    wait_for("the fault", || !pm4.rig.host.told().is_empty());
    let reason = crate::memory::FaultReason::NotPresent;
    let fault = MemoryFault { address: RING, access: crate::memory::Access::Read, reason };
    assert_eq!(pm4.rig.host.told(), [Told::Fault(fault)]);
}
