//! The packets a stream sends, and the stores that hand one to the device.

use crate::kernel::Geometry;
use aql::{Generation, PACKET_WORDS, Ring};
use pm4::layout::Writer;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a kernel dispatch packet says beside the geometry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch {
    pub(crate) kernel_object: u64,
    pub(crate) kernarg: u64,
    /// Scratch of a work-item, bytes.
    pub(crate) private: u32,
    /// LDS of a workgroup, bytes.
    pub(crate) lds: u32,
    pub(crate) completion_signal: u64,
}

/// A launch after everything before it (barrier bit), that sees what the host wrote and whose writes the host
/// sees (system-scope fences).
#[inline]
pub(crate) fn dispatch(geometry: &Geometry, launch: &Launch) -> [u32; PACKET_WORDS] {
    let mut packet = aql::KernelDispatch::new(
        launch.kernel_object,
        launch.kernarg,
        geometry.grid(),
        geometry.workgroup(),
    );
    packet.dimensions = geometry.dimensions() as u8;
    packet.private_segment_size = launch.private;
    packet.group_segment_size = launch.lds;
    packet.completion_signal = launch.completion_signal;
    packet.encode()
}

/// Makes code visible that was loaded where other bytes may have been: runs [`new_code`], which is at `buffer`.
pub(super) fn run_new_code(buffer: u64, completion_signal: u64) -> [u32; PACKET_WORDS] {
    let mut packet = aql::Pm4Indirect::new(buffer, NEW_CODE_DWORDS as u32);
    packet.completion_signal = completion_signal;
    packet.encode()
}

const NEW_CODE_DWORDS: usize = 8;

/// ACQUIRE_MEM for new code, filled up with single-dword NOPs.
pub(super) fn new_code(generation: Generation) -> [u32; NEW_CODE_DWORDS] {
    let mut words = [pm4::Header::NOP.0; NEW_CODE_DWORDS];
    let mut buffer = Writer::new(&mut words[..], generation);
    pm4::sequence::new_code(&mut buffer).expect("one ACQUIRE_MEM of at most 8 dwords");
    words
}

/// The stores that hand packet `index` to the device. Between the header and the doorbell there is nothing
/// but the write index: the processor may start the packet at the header, and sleeps until the doorbell.
#[inline(never)]
pub(super) fn publish(
    ring: &Ring<'_>,
    index: u64,
    words: &[u32; PACKET_WORDS],
    write_index: &AtomicU64,
    doorbell: &AtomicU64,
) {
    ring.write_body(index, words);
    ring.write_header(index, words);
    write_index.store(index + 1, Ordering::Release);
    doorbell.store(index, Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    const LAUNCH: Launch = Launch {
        kernel_object: 0x1122_3344_5566_7740,
        kernarg: 0x99aa_bbcc_ddee_ff00,
        private: 0x1234,
        lds: 0x5678,
        completion_signal: 0x1357_9bdf_0246_8ac0,
    };

    #[test]
    fn a_dispatch_is_ordered_and_fenced() {
        let geometry = Geometry::new(&[100, 7], &[16, 4]).unwrap();
        // Words by hsa_kernel_dispatch_packet_t: type 2, barrier, acquire and release system; two dimensions.
        let expected = [
            0x0002_1502,
            0x0004_0010,
            1,
            100,
            7,
            1,
            0x1234,
            0x5678,
            0x5566_7740,
            0x1122_3344,
            0xddee_ff00,
            0x99aa_bbcc,
            0,
            0,
            0x0246_8ac0,
            0x1357_9bdf,
        ];
        assert_eq!(dispatch(&geometry, &LAUNCH), expected);
    }

    #[test]
    fn new_code_waits_and_tells() {
        // amd_aql_pm4_ib of ROCr: vendor packet, format 1, barrier, system fences; INDIRECT_BUFFER of 8 dwords.
        let expected = [
            0x0001_1500,
            0xc002_3f00,
            0x0000_0c80,
            0x7000,
            8 | 1 << 23,
            10,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0x40,
            0x7001,
        ];
        assert_eq!(run_new_code(0x7000_0000_0c80, 0x7001_0000_0040), expected);
        assert_eq!(new_code(Generation::Gfx11)[0], 0xc006_5800);
        assert_eq!(new_code(Generation::Gfx12)[7] ^ new_code(Generation::Gfx11)[7], 1 << 9);
        assert_eq!(new_code(Generation::Gfx906)[7], 0xffff_1000);
    }

    #[test]
    fn the_doorbell_is_the_last_packet_and_the_write_index_the_next() {
        let memory: Vec<AtomicU32> = (0..256).map(|_| AtomicU32::new(0)).collect();
        let ring = Ring::new(&memory).unwrap();
        let (write_index, doorbell) = (AtomicU64::new(0), AtomicU64::new(0));
        let words: [u32; PACKET_WORDS] = std::array::from_fn(|i| 100 + i as u32);
        publish(&ring, 16 + 7, &words, &write_index, &doorbell);
        assert_eq!(write_index.into_inner(), 24);
        assert_eq!(doorbell.into_inner(), 23);
        let slot = ring.slot(7).each_ref().map(|word| word.load(Ordering::Relaxed));
        assert_eq!(slot, words);
    }

    /// Whoever sees the header sees the body: checked by reading while packets are written, many times.
    #[test]
    fn the_header_comes_last() {
        const PACKETS: u64 = 200_000;
        let memory: Vec<AtomicU32> = (0..256).map(|_| AtomicU32::new(0)).collect();
        let ring = Ring::new(&memory).unwrap();
        let (write_index, doorbell) = (AtomicU64::new(0), AtomicU64::new(0));
        let read = AtomicU64::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for index in 0..PACKETS {
                    while read.load(Ordering::Acquire) + ring.packets() <= index {
                        std::thread::yield_now();
                    }
                    let words = [index as u32 + 1; PACKET_WORDS];
                    publish(&ring, index, &words, &write_index, &doorbell);
                }
            });
            for index in 0..PACKETS {
                let slot = ring.slot(index);
                let header = index as u32 + 1;
                while slot[0].load(Ordering::Acquire) != header {
                    std::hint::spin_loop();
                    std::thread::yield_now();
                }
                for word in slot {
                    assert_eq!(word.load(Ordering::Relaxed), header, "packet {index}");
                }
                read.store(index + 1, Ordering::Release);
            }
        });
    }
}
