//! Copies and fills against memcpy and memset, through their dwords.

use pm4::layout::Writer;
use proptest::prelude::*;
use sdma::packet::{ConstantFill, CopyLinear, FillSize};
use sdma::split::{self, Pattern, RangeError};
use sdma::{Packets, Version};
use std::collections::BTreeMap;

/// Memory that only what is written to takes room in: by first address, length and what was written. Bytes nobody
/// wrote are a function of the address.
#[derive(Default)]
struct Memory {
    writes: BTreeMap<u64, (u64, Source)>,
}

#[derive(Clone, Copy)]
enum Source {
    /// Bytes that memory had at first, from an address on.
    Copy(u64),
    /// A dword, lowest byte first, again and again.
    Repeat(u32),
}

fn untouched(address: u64) -> u8 {
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

impl Memory {
    fn read(&self, address: u64) -> u8 {
        match self.writes.range(..=address).next_back() {
            Some((start, (bytes, source))) if address - start < *bytes => match source {
                Source::Copy(src) => untouched(src + (address - start)),
                Source::Repeat(dword) => dword.to_le_bytes()[(address - start) as usize % 4],
            },
            _ => untouched(address),
        }
    }

    /// Packets may run at the same time: no two may write the same byte.
    fn write(&mut self, start: u64, bytes: u64, source: Source) {
        assert!(bytes > 0);
        let before = self.writes.range(..=start).next_back();
        assert!(before.is_none_or(|(other, (bytes, _))| other + bytes <= start));
        let after = self.writes.range(start..).next();
        assert!(after.is_none_or(|(other, _)| start + bytes <= *other));
        self.writes.insert(start, (bytes, source));
    }

    /// Does what an engine does with packets.
    fn execute(&mut self, words: &[u32], version: Version) {
        for raw in Packets::new(version, words) {
            let raw = raw.unwrap();
            match raw.name().unwrap() {
                "COPY_LINEAR" => {
                    let copy = CopyLinear::decode(raw.words, version).unwrap();
                    let source = Source::Copy(copy.src_addr);
                    self.write(copy.dst_addr, copy.count.into(), source);
                }
                "CONSTANT_FILL" => {
                    let fill = ConstantFill::decode(raw.words, version).unwrap();
                    let pattern = match fill.fillsize {
                        FillSize::DW => {
                            assert_eq!((fill.dst_addr % 4, fill.count % 4), (0, 0), "{fill}");
                            fill.src_data
                        }
                        FillSize::BYTE => (fill.src_data & 0xff) * 0x0101_0101,
                        other => panic!("{other}"),
                    };
                    self.write(fill.dst_addr, fill.count.into(), Source::Repeat(pattern));
                }
                other => panic!("{other}"),
            }
        }
    }
}

fn words<P>(packets: impl Iterator<Item = P>, dwords: u64, version: Version) -> Vec<u32>
where
    P: pm4::layout::Packet<Variant = Version>,
{
    let mut words = vec![0; dwords as usize];
    let mut writer = Writer::new(&mut words[..], version);
    for packet in packets {
        writer.push(&packet).unwrap();
    }
    assert_eq!(writer.left(), 0, "as many dwords as foretold");
    words
}

/// Addresses to look at: both ends and beyond, where the first and the last packets meet, and some between.
fn places(dst: u64, bytes: u64, memory: &Memory) -> Vec<u64> {
    let mut edges = vec![dst, dst.wrapping_add(bytes)];
    edges.extend(memory.writes.keys().take(40));
    edges.extend(memory.writes.keys().rev().take(40));
    edges.extend((0..64).map(|step| dst.wrapping_add(bytes / 64 * step)));
    edges
        .iter()
        .flat_map(|edge| (0..12).map(|near| edge.wrapping_add(near).wrapping_sub(6)))
        .collect()
}

fn version() -> impl Strategy<Value = Version> {
    prop::sample::select(Version::ALL.to_vec())
}

/// Lengths of all sizes, most of them near something that matters.
fn bytes() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..600u64,
        (0..40u64, 0..600u64).prop_map(|(mib, more)| (mib << 20) + more),
        (4u64 << 30..40 << 30),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn copies_are_memcpy(version in version(), src in 0u64..1 << 47, dst in 0u64..1 << 47, bytes in bytes(), more in any::<bool>()) {
        let limits = version.limits();
        let most = if more { limits.copy_bytes_max } else { limits.copy_bytes };
        let copies = split::copy_by(src, dst, bytes, version, most).unwrap();
        prop_assert_eq!(copies.bytes(), bytes);
        prop_assert_eq!(copies.size_hint(), (copies.packets() as usize, Some(copies.packets() as usize)));
        prop_assert_eq!(copies.clone().count() as u64, copies.packets());
        prop_assert!(copies.packets() <= bytes.div_ceil(most.into()) + 2);
        prop_assert!(copies.clone().all(|copy| copy.count <= most && copy.check(version).is_ok()));
        let dwords = copies.dwords();
        let mut memory = Memory::default();
        memory.execute(&words(copies, dwords, version), version);
        for place in places(dst, bytes, &memory) {
            let offset = place.wrapping_sub(dst);
            let expected = if offset < bytes { untouched(src + offset) } else { untouched(place) };
            prop_assert_eq!(memory.read(place), expected, "{:#x}", place);
        }
        let aligned = (src ^ dst) % 4 == 0 && bytes >= 1024;
        let dwords = memory.writes.iter().filter(|(dst, (bytes, _))| *dst % 4 == 0 && bytes % 4 == 0).count();
        prop_assert!(!aligned || memory.writes.len() - dwords <= 2, "dwords where there can be");
    }

    #[test]
    fn fills_are_memset(version in version(), dst in 0u64..1 << 47, bytes in bytes(), dword in any::<u32>(), byte in any::<bool>()) {
        let pattern = if byte { Pattern::Byte(dword as u8) } else { Pattern::Dword(dword) };
        let fills = split::fill(dst, bytes, pattern, version).unwrap();
        prop_assert_eq!(fills.bytes(), bytes);
        prop_assert_eq!(fills.clone().count() as u64, fills.packets());
        prop_assert!(fills.clone().all(|fill| fill.count <= version.limits().fill_bytes && fill.check(version).is_ok()));
        let dwords = fills.dwords();
        let mut memory = Memory::default();
        memory.execute(&words(fills, dwords, version), version);
        for place in places(dst, bytes, &memory) {
            let offset = place.wrapping_sub(dst);
            let expected = match pattern {
                _ if offset >= bytes => untouched(place),
                Pattern::Byte(byte) => byte,
                Pattern::Dword(dword) => dword.to_le_bytes()[offset as usize % 4],
            };
            prop_assert_eq!(memory.read(place), expected, "{:#x}", place);
        }
    }

    #[test]
    fn any_range_is_refused_or_cut(version in version(), src in any::<u64>(), dst in any::<u64>(), bytes in any::<u64>(), packet in any::<u32>()) {
        for packet in [packet, packet & !3, packet & 0xfffffc] {
            if let Ok(mut copies) = split::copy_by(src, dst, bytes, version, packet) {
                prop_assert!(copies.dwords() >= copies.packets());
                prop_assert!(copies.by_ref().take(4).all(|copy| copy.count > 0));
            }
            if let Ok(mut fills) = split::fill_by(dst, bytes, Pattern::Dword(7), version, packet) {
                prop_assert!(fills.by_ref().take(4).all(|fill| fill.count > 0));
            }
        }
    }
}

/// Lengths around 256 bytes and below, from where on copies are cut; Miri is slow.
const SHORT: u64 = if cfg!(miri) { 8 } else { 300 };

/// Every alignment and every short length, byte by byte.
#[test]
fn short_ranges() {
    for version in [Version::V4_0, Version::V7_0] {
        for (src, dst, bytes) in (0..4)
            .flat_map(|src| (0..4).map(move |dst| (src, dst)))
            .flat_map(|(src, dst)| (0..SHORT).map(move |bytes| (0x1000 + src, 0x8000 + dst, bytes)))
        {
            let copies = split::copy(src, dst, bytes, version).unwrap();
            let dwords = copies.dwords();
            let mut memory = Memory::default();
            memory.execute(&words(copies, dwords, version), version);
            for place in dst - 8..dst + bytes + 8 {
                let inside = (dst..dst + bytes).contains(&place);
                let expected = untouched(if inside { place - dst + src } else { place });
                assert_eq!(memory.read(place), expected, "{src:#x} {dst:#x} {bytes}");
            }
        }
    }
}

/// From 256 bytes on a copy whose ends can be aligned gets dwords for its middle.
#[test]
fn long_copies_are_of_dwords() {
    let cut = |src, dst, bytes| {
        let copies = split::copy(src, dst, bytes, Version::V6_0).unwrap();
        copies.map(|copy| (copy.dst_addr, copy.count)).collect::<Vec<_>>()
    };
    assert_eq!(cut(0x1001, 0x8001, 255), [(0x8001, 255)]);
    assert_eq!(cut(0x1001, 0x8001, 256), [(0x8001, 3), (0x8004, 252), (0x8100, 1)]);
    assert_eq!(cut(0x1001, 0x8002, 256), [(0x8002, 256)], "never both");
    assert_eq!(cut(0x1000, 0x8000, 1 << 12), [(0x8000, 1 << 12)]);
}

#[test]
fn ends_of_the_address_space() {
    let version = Version::V6_0;
    assert_eq!(split::copy(u64::MAX, 0, 1, version).unwrap().count(), 1);
    assert_eq!(split::copy(u64::MAX - 1023, 4096, 1024, version).unwrap().bytes(), 1024);
    assert_eq!(split::copy(u64::MAX, u64::MAX, 0, version).unwrap().count(), 0);
    assert_eq!(split::fill(0, 0, Pattern::Byte(1), version).unwrap().count(), 0);
    assert_eq!(split::fill(u64::MAX - 2, 3, Pattern::Dword(1), version).unwrap().packets(), 3);
    let wraps = RangeError::Wraps { range: "source", address: u64::MAX, bytes: 2 };
    assert_eq!(split::copy(u64::MAX, 0, 2, version).unwrap_err(), wraps);
    assert_eq!(
        wraps.to_string(),
        "source at 0xffffffffffffffff: needed at most 0x1 bytes up to the end of the address space, got 0x2"
    );
    assert!(split::copy(0, 2, u64::MAX, version).is_err());
    assert!(split::copy(0, 0, u64::MAX, version).is_ok());
    assert!(split::fill(8, u64::MAX, Pattern::Byte(0), version).is_err());
}

#[test]
fn packet_sizes() {
    for version in Version::ALL {
        let limits = version.limits();
        for (bytes, good) in [
            (0, false),
            (2, false),
            (4, true),
            (limits.copy_bytes, true),
            (limits.copy_bytes_max, true),
            (limits.copy_bytes_max + 4, false),
            (u32::MAX, false),
        ] {
            assert_eq!(
                split::copy_by(0, 0, 8, version, bytes).is_ok(),
                good,
                "{version} {bytes:#x}"
            );
        }
        assert!(split::fill_by(0, 8, Pattern::Byte(0), version, limits.fill_bytes_max).is_ok());
        assert!(
            split::fill_by(0, 8, Pattern::Byte(0), version, limits.fill_bytes_max + 4).is_err()
        );
    }
}
