//! What other people's code writes, run as it is.

use super::*;

/// Words that tinygrad, kfdtest and ROCr write; `pm4/tests/data/packets/SOURCE` says how they were made.
const SEQUENCES: &str = include_str!("../../../../../pm4/tests/data/packets/sequences.txt");

// What their code was given.
const THEIR_CODE: u64 = 0x7f12_0034_0100;
const SIGNAL: u64 = 0x7fde_00f0_0010;
const STAMP: u64 = 0x7fde_00f0_0018;
const MAILBOX: u64 = 0x7fde_00f0_1018;
const VALUE: u64 = 0x1234;
const EVENT: u32 = 3;
/// Where kfdtest's dispatches are called from, and tell of their end.
const CALLED: u64 = 0x1_0000_0000;

/// A GPU of a generation as the file names it, and the end of a program there.
fn gpu(generation: &str) -> Option<(Gpu, u32)> {
    let (name, gfx_target_version, end) = match generation {
        "gfx906" => ("gfx906", 90_006, 0xbf81_0000),
        "gfx90a" => ("gfx90a", 90_010, 0xbf81_0000),
        "gfx94x" => ("gfx942", 90_402, 0xbf81_0000),
        "gfx10.3" => ("gfx1030", 100_300, 0xbf81_0000),
        "gfx11" => ("gfx1100", 110_000, 0xbfb0_0000),
        "gfx11.5" => ("gfx1151", 110_501, 0xbfb0_0000),
        "gfx12" => ("gfx1201", 120_001, 0xbfb0_0000),
        // gfx908 and gfx10.1 have no shader core here.
        _ => return None,
    };
    Some((Gpu { name, gfx_target_version, ..gfx1151() }, end))
}

#[test]
fn sequences_run() {
    let mut ran = 0;
    for line in SEQUENCES.lines().filter(|line| !line.starts_with('#')) {
        let (names, words) = line.split_once(" : ").unwrap();
        let [client, case, generation] = names.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let Some((gpu, end)) = gpu(generation) else { continue };
        let words: Vec<_> =
            words.split(' ').map(|word| u32::from_str_radix(word, 16).unwrap()).collect();
        let rig = Rig::of(gpu);
        let page = |address: u64| address & !0xfff;
        for address in [THEIR_CODE, SIGNAL, MAILBOX, CALLED].map(page) {
            let backing = Arc::new(Backing::zeroed(4096));
            assert!(rig.space.map(address, 4096, backing, 0, Permissions::all()));
        }
        rig.write_u32(THEIR_CODE, end);
        rig.write_u64(SIGNAL, if case.starts_with("wait") { VALUE } else { 0 });
        let mut pm4 = Pm4::on(rig);
        pm4.buffer(CALLED, &[0xffff_1000; 1024]);
        if case == "call" {
            pm4.run(&words);
        } else {
            pm4.buffer(BUFFERS, &words);
            pm4.run(&call(BUFFERS, words.len()));
        }
        let name = format!("{client} {case} {generation}");
        let case = case.trim_end_matches('4');
        assert_eq!(*pm4.rig.host.refused.lock().unwrap(), [""; 0], "{name}");
        let told = pm4.rig.host.told();
        let signal = pm4.rig.read_u64(SIGNAL);
        match case {
            "dispatch" | "scratch" => {
                let statistics = pm4.queue.statistics();
                assert_eq!(statistics.dispatches, 1, "{name}");
                assert!(statistics.waves > 0, "{name}");
            }
            "fence" | "wait" => assert_eq!(signal, VALUE, "{name}"),
            "interrupt" => {
                assert_eq!(pm4.rig.read_u64(MAILBOX), u64::from(EVENT), "{name}");
                // tinygrad gives no id on gfx9.
                let is_anonymous = client == "tinygrad" && generation == "gfx94x";
                let id = if is_anonymous { 0 } else { EVENT };
                assert_eq!(told, [Told::Interrupt(id)], "{name}");
            }
            "timestamp" => assert!(pm4.rig.read_u64(STAMP) > 0, "{name}"),
            _ => assert_eq!(told, [], "{name}"),
        }
        ran += 1;
    }
    assert!(ran > 50, "{ran}");
}
