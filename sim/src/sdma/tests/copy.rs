//! Copies, fills, writes.

use super::*;
use crate::memory::{Access, FaultReason};

#[test]
fn copies_of_every_size_and_alignment() {
    for version in Version::ALL {
        let mut rig = Rig::new(version);
        let source = rig.prepare();
        // Every pair of alignments for one version, some for all.
        let some = [(0, 0), (0, 3), (1, 0), (2, 6), (7, 7)];
        let places: Vec<(usize, usize)> = match version {
            Version::V6_0 => (0..64).map(|pair| (pair / 8, pair % 8)).collect(),
            _ => some.to_vec(),
        };
        for bytes in 1..=70usize {
            for &(from, to) in &places {
                rig.put(DST, &[0xee; 96]);
                rig.run(&copy(SRC + from as u64, DST + 8 + to as u64, bytes as u64));
                let mut expected = [0xee; 96];
                expected[8 + to..][..bytes].copy_from_slice(&source[from..][..bytes]);
                assert_eq!(rig.bytes(DST, 96), expected, "{version}: {bytes} from {from} to {to}");
            }
        }
    }
}

#[test]
fn copies_span_pages() {
    let mut rig = Rig::new(Version::V5_2);
    let source = rig.prepare();
    for (from, to, bytes) in [(0, 0, 65536), (4095, 1, 8194), (1, 4093, 20_000), (5000, 4096, 4096)]
    {
        rig.put(DST, &vec![0xee; DATA_BYTES as usize]);
        rig.run(&copy(SRC + from as u64, DST + to as u64, bytes as u64));
        let mut expected = vec![0xee; DATA_BYTES as usize];
        expected[to..][..bytes].copy_from_slice(&source[from..][..bytes]);
        assert!(rig.bytes(DST, DATA_BYTES as usize) == expected, "{bytes} from {from} to {to}");
    }
}

/// Counts of 22 and of 30 bits: the bits beyond are no part of it, and set they are not understood.
#[test]
fn counts_have_as_many_bits_as_the_version_says() {
    for version in Version::ALL {
        let mut rig = Rig::new(version);
        let source = rig.prepare();
        let mut words = copy(SRC, DST, 16);
        words[1] |= 1 << 22;
        rig.submit(&words);
        if matches!(version, Version::V4_0 | Version::V5_0) {
            let fault = rig.wait_fault();
            assert!(fault.to_string().contains("bits 0x400000 of dword 1"), "{fault}");
        } else {
            // 4 MiB more: it copies until the memory ends.
            wait_for("a page fault", || !rig.host.told().is_empty());
            assert!(rig.bytes(DST, DATA_BYTES as usize) == source, "{version}");
        }
    }
}

#[test]
fn backwards_copies_onto_what_lies_above() {
    let mut rig = Rig::new(Version::V6_1);
    let source = rig.prepare();
    let mut words = copy(SRC, SRC + 100, 20_000);
    words[0] |= 1 << 25;
    rig.run(&words);
    assert!(rig.bytes(SRC + 100, 20_000) == source[..20_000]);
}

#[test]
fn broadcasts_reach_both() {
    for version in [Version::V4_4, Version::V5_0, Version::V7_0] {
        let mut rig = Rig::new(version);
        let source = rig.prepare();
        let second = DST + 0x3003;
        let words = [0x0800_0001, 4998, 0, low(SRC), 0, low(DST + 3), 0, low(second), 0];
        rig.run(&words);
        assert!(rig.bytes(DST + 3, 4999) == source[..4999]);
        assert!(rig.bytes(second, 4999) == source[..4999]);
        assert_eq!(
            (rig.bytes(DST + 5002, 1), rig.bytes(second + 4999, 1)),
            (vec![0xee], vec![0xee])
        );
        let words = [0x0800_0001, 15, 0, low(SRC), 0, low(DST), 0, low(DST + 0x1010), 0];
        assert!(rig.refused(&words).contains("differently in 32 bytes"));
    }
}

/// As Linux writes copies of 7.0 (`sdma_v7_0_emit_copy_buffer`): with a further dword.
#[test]
fn copies_with_a_dword_about_compression() {
    let mut rig = Rig::new(Version::V7_0);
    let source = rig.prepare();
    let mut words = [0; 8];
    words[..7].copy_from_slice(&copy(SRC, DST, 77));
    words[0] |= 1 << 19;
    rig.submit(&words);
    rig.run(&fence(DST + 128, 5));
    assert_eq!((rig.bytes(DST, 77), rig.read_u32(DST + 128)), (source[..77].to_vec(), 5));
    words[7] = 2 << 16;
    assert!(rig.refused(&words).contains("read_compression_mode"));
}

/// A box of 3 × 2 × 2 elements of 4 bytes, in the layout of 4.x to 6.x and in that of 7.0.
#[test]
fn windows() {
    for version in [Version::V4_0, Version::V5_2, Version::V6_0, Version::V7_0] {
        let mut rig = Rig::new(version);
        let source = rig.prepare();
        let pitch = if version == Version::V7_0 { 16 } else { 13 };
        // Of the source: column 1, row 2, slice 1, rows of 16 elements, slices of 64.
        let words = [
            1 | 4 << 8 | 2 << 29,
            low(SRC),
            0,
            1 | 2 << 16,
            1 | 15 << pitch,
            63,
            low(DST),
            0,
            5 | 1 << 16,
            1 | 7 << pitch,
            31,
            2 | 1 << 16,
            1,
        ];
        rig.run(&words);
        let mut expected = vec![0xee; 1024];
        for (z, y, x) in
            (0..2).flat_map(|z| (0..2).flat_map(move |y| (0..12).map(move |x| (z, y, x))))
        {
            let from = 4 * ((z + 1) * 64 + (y + 2) * 16 + 1) + x;
            let to = 4 * ((z + 1) * 32 + (y + 1) * 8 + 5) + x;
            expected[to] = source[from];
        }
        assert_eq!(rig.bytes(DST, 1024), expected, "{version}");
        let mut odd = words;
        odd[1] += 2;
        assert!(rig.malformed(&odd).contains("whole dwords"));
    }
}

#[test]
fn fills_of_bytes() {
    for version in Version::ALL {
        let mut rig = Rig::new(version);
        rig.prepare();
        for (to, bytes) in (0..4).flat_map(|to| (1..=70).map(move |bytes| (to, bytes))) {
            rig.put(DST, &[0xee; 96]);
            rig.run(&[11, low(DST + 8 + to as u64), 0, 0x1234_56ab, bytes as u32 - 1]);
            let mut expected = [0xee; 96];
            expected[8 + to..][..bytes].fill(0xab);
            assert_eq!(rig.bytes(DST, 96), expected, "{bytes} at {to}");
        }
    }
}

/// As ROCr writes them: count less 1 in bytes; the header of `BuildFillCommand`.
#[test]
fn fills_of_dwords() {
    let mut rig = Rig::new(Version::V6_0);
    rig.prepare();
    for (stored, bytes) in [(3, 4), (7, 8), (4, 8), (0, 4), (8191, 8192), (0x1003, 0x1004)] {
        rig.put(DST, &[0xee; 8200]);
        rig.run(&[0x8000_000b, low(DST), 0, 0x4433_2211, stored]);
        let filled: Vec<u8> = [0x11, 0x22, 0x33, 0x44].into_iter().cycle().take(bytes).collect();
        assert!(rig.bytes(DST, bytes) == filled, "{stored}");
        assert_eq!(rig.bytes(DST + bytes as u64, 4), [0xee; 4], "{stored}");
    }
    assert!(rig.malformed(&[0x8000_000b, low(DST + 2), 0, 0, 3]).contains("between"));
    let mut rig = Rig::new(Version::V6_0);
    assert!(rig.refused(&[0x4000_000b, low(DST), 0, 0, 3]).contains("fill of size 1"));
}

#[test]
fn writes() {
    for version in Version::ALL {
        let mut rig = Rig::new(version);
        rig.prepare();
        rig.submit(&[2, low(DST + 4), 0, 2, 0x0403_0201, 0x0807_0605, 0x0c0b_0a09]);
        // As tinygrad writes a dword.
        rig.run(&[2, low(DST + 32), high(DST), 0, 7]);
        assert_eq!(rig.bytes(DST + 4, 12), (1..=12).collect::<Vec<u8>>(), "{version}");
        assert_eq!((rig.bytes(DST, 4), rig.bytes(DST + 16, 4)), (vec![0xee; 4], vec![0xee; 4]));
        assert_eq!((rig.read_u32(DST + 32), rig.read_u32(DST + 36)), (7, 0xeeee_eeee));
        assert!(rig.malformed(&[2, low(DST + 2), 0, 0, 7]).contains("between"));
    }
}

/// As Linux writes page table entries (`sdma_v6_0_vm_set_pte_pde`).
#[test]
fn writes_that_grow() {
    let mut rig = Rig::new(Version::V6_0);
    rig.prepare();
    rig.run(&[12, low(DST), 0, 0x3, 0x8000_0000, 0x5000, 1, 0x1000, 0, 2]);
    let expected = [0x8000_0001_0000_5003, 0x8000_0001_0000_6003, 0x8000_0001_0000_7003u64];
    assert_eq!([0, 8, 16].map(|at| rig.read_u64(DST + at)), expected);
    assert_eq!(rig.bytes(DST + 24, 8), [0xee; 8]);
}

/// Nothing is mapped behind the source's last page, or the destination's.
#[test]
fn what_is_copied_before_a_page_fault_stays() {
    let end = SRC + DATA_BYTES;
    let mut rig = Rig::new(Version::V6_0);
    let source = rig.prepare();
    let fault = rig.fault(&copy(end - 5003, DST + 1, 6000));
    let reason = FaultReason::NotPresent;
    assert_eq!(fault, MemoryFault { address: end, access: Access::Read, reason });
    assert!(rig.bytes(DST + 1, 5003) == source[source.len() - 5003..]);
    assert_eq!(rig.bytes(DST + 5004, 4), [0xee; 4]);
    assert_eq!(rig.read_u64(READ), 0);

    let mut rig = Rig::new(Version::V6_0);
    let source = rig.prepare();
    let end = DST + DATA_BYTES;
    let fault = rig.fault(&copy(SRC, end - 4101, 6000));
    assert_eq!(fault, MemoryFault { address: end, access: Access::Write, reason });
    assert!(rig.bytes(end - 4101, 4101) == source[..4101]);

    let mut rig = Rig::new(Version::V6_0);
    rig.prepare();
    let fault = rig.fault(&copy(SRC, READ_ONLY + 1, 3));
    let reason = FaultReason::ReadOnly;
    assert_eq!(fault, MemoryFault { address: READ_ONLY + 1, access: Access::Write, reason });
    let mut rig = Rig::new(Version::V6_0);
    rig.run(&copy(READ_ONLY, DST, 64));
}

#[test]
fn encrypted_and_swapped_memory_is_refused() {
    for (dword, bit, name) in
        [(0, 18, "tmz"), (0, 16, "encrypt"), (2, 16, "dst_sw"), (2, 25, "src_sw")]
    {
        let mut rig = Rig::new(Version::V5_0);
        let mut words = copy(SRC, DST, 4);
        words[dword] |= 1 << bit;
        assert!(rig.refused(&words).contains(name));
    }
}
