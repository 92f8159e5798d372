//! `selvedge decode`: indirect buffers and what is in memory.

mod asked;

use asked::{packets, request};
use expect_test::{expect, expect_file};
use selvedge_cli::decode::report::{Followed, Report};
use selvedge_cli::decode::{Engine, Image, Limits, Request, decode};

fn image(address: u64, words: &[u32]) -> Image {
    Image { name: format!("at-{address:x}.bin"), address, words: words.to_vec() }
}

/// What became of the calls of a stream.
fn outcomes(report: &Report<'_>, stream: usize) -> Vec<Followed> {
    let calls = packets(report, stream).into_iter().flat_map(|packet| packet.calls);
    calls.map(|call| call.followed).collect()
}

/// INDIRECT_BUFFER of PM4.
fn call(address: u32, dwords: u32) -> [u32; 4] {
    [0xc002_3f00, address, 0, 0x0080_0000 | dwords]
}

#[test]
fn calls_are_followed() {
    let nop = [0xc000_1000, 0];
    let mut asked = request(
        Engine::Pm4,
        "gfx1151",
        [&call(0x1000, 4)[..], &call(0x2000, 2), &call(0x3000, 2)].concat(),
    );
    asked.memory = vec![
        image(0xff8, &[&nop[..], &call(0x2000, 2)].concat()),
        image(0x2000, &nop),
        image(0x3000, &[0]),
    ];
    let report = decode(&asked).unwrap();
    let outcomes = |stream: usize| -> Vec<_> {
        let packets = report.streams[stream].packets.iter();
        packets.flat_map(|packet| packet.calls).map(|call| call.followed).collect()
    };
    assert_eq!(
        outcomes(0),
        [
            Followed::Decoded { stream: 1 },
            Followed::Decoded { stream: 2 },
            Followed::Missing { known_dwords: 1 },
        ]
    );
    assert_eq!(outcomes(1), [Followed::Decoded { stream: 2 }], "known already");
    assert_eq!(report.streams.len(), 3);
    expect_file!["decode/calls.txt"].assert_eq(&report.to_string());
}

#[test]
fn cycles_and_limits_end() {
    let mut asked = request(Engine::Pm4, "gfx1151", call(0x1000, 4).to_vec());
    asked.memory = vec![image(0x1000, &call(0x2000, 4)), image(0x2000, &call(0x1000, 4))];
    let outcome = |asked: &Request, stream: usize| {
        packets(&decode(asked).unwrap(), stream)[0].calls[0].followed.clone()
    };
    assert_eq!(outcome(&asked, 2), Followed::Cycle { stream: 1 });
    for (limit, name) in [
        (Limits { depth: 1, ..Limits::DEFAULT }, "depth"),
        (Limits { buffers: 1, ..Limits::DEFAULT }, "buffers"),
        (Limits { dwords: 7, ..Limits::DEFAULT }, "dwords"),
    ] {
        asked.limits = limit;
        assert_eq!(outcome(&asked, 1), Followed::Limit { limit: name });
    }
}

#[test]
fn sdma_calls_are_followed() {
    let mut words = vec![0x4, 0x1000, 0, 2, 0, 0];
    words.extend([0xff, 0]);
    let mut asked = request(Engine::Sdma, "gfx1100", words);
    asked.memory = vec![image(0x1000, &[6, 0])];
    let report = decode(&asked).unwrap();
    assert_eq!(packets(&report, 1)[0].name, "TRAP");
    expect![[r#"
        [
            "input: dword 6 (address 0x18): 0x000000ff: SDMA 6.0 has no packet of opcode 0xff and sub-opcode 0x00, and only a packet that is known says where the next one is; is it another version (--sdma)?",
        ]
    "#]]
    .assert_debug_eq(&report.faults());
}

#[test]
fn a_cycle_through_a_second_caller_is_found() {
    let mut asked = request(Engine::Pm4, "gfx1151", [call(0x1000, 4), call(0x2000, 4)].concat());
    asked.memory = vec![
        image(0x1000, &call(0x3000, 4)),
        image(0x2000, &call(0x3000, 4)),
        // Called by the other two, of which it calls the second.
        image(0x3000, &call(0x2000, 4)),
    ];
    let report = decode(&asked).unwrap();
    let decoded = |stream| Followed::Decoded { stream };
    assert_eq!(outcomes(&report, 0), [decoded(1), decoded(2)]);
    assert_eq!(outcomes(&report, 1), [decoded(3)], "nothing leads back to it");
    assert_eq!(outcomes(&report, 2), [Followed::Cycle { stream: 3 }]);
    assert_eq!(outcomes(&report, 3), [Followed::Cycle { stream: 2 }]);
}

#[test]
fn an_input_that_calls_itself_is_a_cycle() {
    let mut asked = request(Engine::Pm4, "gfx1151", call(0x1000, 4).to_vec());
    asked.base = Some(0x1000);
    let report = decode(&asked).unwrap();
    assert_eq!(outcomes(&report, 0), [Followed::Decoded { stream: 1 }]);
    assert_eq!(outcomes(&report, 1), [Followed::Cycle { stream: 1 }]);
}

#[test]
fn a_call_of_no_dwords_asks_for_no_memory() {
    let asked = request(Engine::Pm4, "gfx1151", call(0x1000, 0).to_vec());
    let report = decode(&asked).unwrap();
    assert_eq!(outcomes(&report, 0), [Followed::Empty]);
    let text = report.to_string();
    assert!(text.contains("-> calls 0 dwords of pm4 at 0x1000: nothing to follow\n"), "{text}");
    assert!(!text.contains("--memory"), "{text}");
}

#[test]
fn images_that_overlap_are_refused() {
    let mut asked = request(Engine::Pm4, "gfx1151", vec![0xffff_1000; 4]);
    let refused = |asked: &Request| {
        decode(asked).map(|_| ()).map_err(|error| {
            assert!(error.is_usage());
            error.to_string()
        })
    };
    asked.memory = vec![image(0x2000, &[0; 4]), image(0x1ff4, &[0; 3]), image(0x2004, &[])];
    assert_eq!(refused(&asked), Ok(()), "they touch, and one is empty");
    asked.memory[1].words.push(0);
    assert_eq!(
        refused(&asked).unwrap_err(),
        "at-2000.bin (0x2000 to 0x200f) overlaps at-1ff4.bin (0x1ff4 to 0x2003): needed one file for each address; \
         cut one of them, or leave it out (with --base the input is memory too)"
    );
    asked.memory.truncate(1);
    asked.base = Some(0x200c);
    let error = refused(&asked).unwrap_err();
    let both = "input (0x200c to 0x201b) overlaps at-2000.bin (0x2000 to 0x200f): ";
    assert!(error.starts_with(both), "{error}");
}

#[test]
fn memory_beyond_the_last_address_is_refused() {
    let mut asked = request(Engine::Pm4, "gfx1151", vec![0xffff_1000; 4]);
    asked.base = Some(u64::MAX - 15);
    let report = decode(&asked).unwrap();
    let last = packets(&report, 0)[3].address.0;
    assert_eq!(last, u64::MAX - 3, "the last dword of all");
    asked.base = Some(u64::MAX - 11);
    let error = decode(&asked).unwrap_err();
    assert!(error.is_usage());
    assert_eq!(
        error.to_string(),
        "input: 0x10 bytes at 0xfffffffffffffff4 reach beyond the last address, 2^64 - 1: needed an address of at most \
         0xfffffffffffffff0"
    );
    asked.base = None;
    asked.memory = vec![image(u64::MAX - 3, &[0; 2])];
    let error = decode(&asked).unwrap_err().to_string();
    assert!(error.starts_with("at-fffffffffffffffc.bin: 0x8 bytes at "), "{error}");
}
