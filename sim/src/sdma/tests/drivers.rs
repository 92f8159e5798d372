//! What other drivers write: the crate `sdma`'s record of the packets that ROCr, Linux and tinygrad make
//! (`sdma/tests/data/emitters`), on engines of their versions.

use super::*;

const RECORD: &str = include_str!("../../../../sdma/tests/data/emitters/emitters.txt");
/// The addresses of the record.
const SOURCE: u64 = 0x1234_5678_9abc;
const DESTINATION: u64 = 0x7fed_cba9_8760;
const ADDRESS: u64 = 0x5566_7788_99a0;
const VALUE: u32 = 0x89ab_cdef;
const BYTES: u64 = 8 << 20;

/// ROCr of 2026 on gfx11.5, whose class for 6.1 has scopes in packets and no GCR (`BlitSdmaV6`): poll, copy, decrement,
/// fence, and a fill of two dwords, all of system scope. Engines of 6.0 have another class.
#[test]
fn rocr_with_scopes() {
    let poll = [0xb000_0008, low(DST), 0, 0, !0, 3 << 28 | 0x0fff_0004];
    let copy = [1 | 1 << 28, 15, 3 << 18 | 3 << 26, low(SRC), 0, low(DST + 64), 0];
    let decrement = [47 << 25 | 3 << 20 | 10, low(DST + 128), 0, !0, !0, 0, 0, 0];
    let fill = [2 << 30 | 1 << 29 | 3 << 24 | 11, low(DST + 192), 0, 7, 4];
    let timestamp = [3 << 24 | 0x020d, low(DST + 256), 0];
    let mut rig = Rig::new(Version::V6_1);
    let bytes = rig.prepare();
    rig.put(DST, &[0; 512]);
    rig.write_u64(DST + 128, 1);
    for words in [&poll[..], &copy, &decrement, &fill, &timestamp] {
        rig.run(words);
    }
    assert_eq!(rig.bytes(DST + 64, 17), [&bytes[..16], &[0]].concat());
    assert_eq!(rig.read_u64(DST + 128), 0);
    assert_eq!([192, 196, 200].map(|at| rig.read_u32(DST + at)), [7, 7, 0]);
    assert_ne!(rig.read_u64(DST + 256), 0);
    for words in [&poll[..], &copy, &fill] {
        let mut rig = Rig::new(Version::V6_0);
        let text = rig.refused(words);
        assert!(text.contains(" of dword "), "{text}");
    }
}

/// ROCr's swap (`BuildSwapCopyCommand`) is known, and not modelled; engines that have none take it for no packet.
#[test]
fn swaps_are_refused() {
    let swap = [0x0901, 63, 0, low(SRC), 0, low(DST), 0];
    for version in Version::ALL {
        let mut rig = Rig::new(version);
        match version {
            Version::V4_0 | Version::V4_4 | Version::V5_0 => {
                rig.malformed(&swap);
            }
            _ => assert!(rig.refused(&swap).contains("COPY_SWAP"), "{version}"),
        }
    }
}

/// Every line runs to its end, and is understood whole. What it does is looked at where one case says it all.
#[test]
fn packets_of_other_drivers_are_understood() {
    let memory =
        [SOURCE, DESTINATION, ADDRESS].map(|address| (address, Arc::new(Backing::zeroed(BYTES))));
    let mut cases = 0;
    for line in RECORD.lines().filter(|line| !line.starts_with('#')) {
        let (head, words) = line.split_once(" : ").unwrap();
        let [driver, case, versions] = head.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let words: Vec<u32> =
            words.split_whitespace().map(|word| u32::from_str_radix(word, 16).unwrap()).collect();
        for version in
            Version::ALL.into_iter().filter(|v| versions.split(',').any(|n| n == v.name()))
        {
            cases += 1;
            let mut rig = Rig::new(version);
            for (address, backing) in &memory {
                let start = address & !0xfff;
                assert!(rig.space.map(
                    start,
                    BYTES,
                    backing.clone(),
                    0,
                    Permissions::READ | Permissions::WRITE
                ));
            }
            rig.write_u32(ADDRESS, VALUE);
            rig.write_u32(SOURCE + 0x200, 0x1122_3344);
            // tinygrad's mailbox.
            let page = Arc::new(Backing::zeroed(4096));
            assert!(rig.space.map(0x2000, 4096, page, 0, Permissions::READ | Permissions::WRITE));
            // Where the ring was when Linux wrote the NOPs before an INDIRECT.
            if case == "indirect" {
                rig.place(&[0; 5]);
            }
            let end = rig.written + 4 * words.len() as u64;
            rig.submit(&words);
            wait_for(line, || {
                assert_eq!(rig.queue.fault(), None, "{line}");
                rig.read_u64(READ) == end
            });
            let told = rig.host.told();
            match (driver, case) {
                ("rocr", "trap") | ("tinygrad", "signal") => {
                    assert_eq!(told, [Told::Interrupt(0x123)], "{line}")
                }
                ("linux", "fence_64") if version < Version::V5_0 => {
                    assert_eq!(told, [Told::Interrupt(0)], "{line}");
                }
                _ => {}
            }
            match (driver, case) {
                (_, "copy") => assert_eq!(rig.read_u32(DESTINATION + 0x200), 0x1122_3344, "{line}"),
                (_, "fence" | "signal") => assert_eq!(rig.read_u32(ADDRESS), VALUE, "{line}"),
                (_, "decrement") => assert_eq!(rig.read_u32(ADDRESS), VALUE - 1, "{line}"),
                (_, "timestamp") => assert_eq!(rig.read_u64(ADDRESS), 100, "{line}"),
                _ => {}
            }
        }
    }
    assert!(cases > 150, "{cases}");
}
