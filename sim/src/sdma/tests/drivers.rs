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
