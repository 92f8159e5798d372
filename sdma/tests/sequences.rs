//! Sequences: what they write, what they refuse, and that they write all or nothing.

use pm4::layout::{WriteError, Writer};
use proptest::prelude::*;
use sdma::packet::{Fence, PollFunction};
use sdma::sequence::{self, SequenceError};
use sdma::split::Pattern;
use sdma::{Packets, Version};

fn lines(version: Version, write: impl FnOnce(&mut Writer<&mut [u32], Version>)) -> Vec<String> {
    let mut words = [0xffff_ffff; 256];
    let mut writer = Writer::new(&mut words[..], version);
    write(&mut writer);
    let written = writer.written();
    Packets::new(version, &words[..written])
        .map(|raw| raw.unwrap().to_string().replace(" predicate", ""))
        .collect()
}

/// Names alone.
fn names(version: Version, write: impl FnOnce(&mut Writer<&mut [u32], Version>)) -> Vec<String> {
    lines(version, write)
        .iter()
        .map(|line| line.split(' ').next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn copy_and_fence() {
    for version in Version::ALL {
        let got = names(version, |w| {
            sequence::copy_fence(w, 0x10000, 0x20000, 6 << 20, 0x3000, 1).unwrap();
            let needed = sequence::copy_fence_dwords(0x10000, 0x20000, 6 << 20, version).unwrap();
            assert_eq!(w.written() as u64, needed);
        });
        let copies = ["COPY_LINEAR", "COPY_LINEAR"];
        let expected = match version.limits().gcr {
            true => ["GCR_USER", copies[0], copies[1], "GCR_USER", "FENCE"].to_vec(),
            false => [copies[0], copies[1], "FENCE"].to_vec(),
        };
        assert_eq!(got, expected, "{version}");
    }
}

#[test]
fn drains_poll_twice_on_old_engines() {
    let write = |w: &mut Writer<&mut [u32], Version>| sequence::drain(w, 0x1000, 5).unwrap();
    assert_eq!(names(Version::V4_0, write), ["FENCE", "POLL_REGMEM", "POLL_REGMEM"]);
    for version in &Version::ALL[1..] {
        assert_eq!(names(*version, write), ["FENCE", "POLL_REGMEM"], "{version}");
    }
}

#[test]
fn interrupts() {
    let got = lines(Version::V4_4, |w| sequence::interrupt(w, 0x2000, 7).unwrap());
    assert_eq!(got, ["FENCE addr=0x2000 data=7", "TRAP int_context=7"]);
    let got = lines(Version::V7_0, |w| {
        sequence::fence_64(w, 0x2000, 0x1_0000_0002).unwrap();
        sequence::fence_64_upper_first(w, 0x2000, 0x1_0000_0002).unwrap();
        sequence::interrupt(w, 0x3000, u32::MAX).unwrap();
    });
    assert_eq!(got.len(), 6);
    for (line, expected) in got.iter().zip([
        "addr=0x2000 data=2",
        "addr=0x2004 data=1",
        "addr=0x2004 data=1",
        "addr=0x2000 data=2",
    ]) {
        assert!(line.ends_with(expected), "{line}");
    }
    // Before 7.0 the context has 28 bits, and then the mailbox is not written either.
    let got = lines(Version::V6_0, |w| {
        assert!(sequence::interrupt(w, 0x3000, 1 << 28).is_err());
    });
    assert_eq!(got, [""; 0]);
}

/// What 64 bits of memory hold after each FENCE of a sequence.
fn values(before: u64, write: impl FnOnce(&mut Writer<&mut [u32], Version>)) -> [u64; 2] {
    let mut words = [0; 8];
    let mut writer = Writer::new(&mut words[..], Version::V6_0);
    write(&mut writer);
    assert_eq!(writer.written(), words.len());
    let mut memory = before;
    [0, 4].map(|at| {
        let fence = Fence::decode(&words[at..], Version::V6_0).unwrap();
        let shift = match fence.addr {
            0x2000 => 0,
            0x2004 => 32,
            addr => panic!("{addr:#x}"),
        };
        memory = memory & !(0xffff_ffff << shift) | u64::from(fence.data) << shift;
        memory
    })
}

fn lower_first(before: u64, value: u64) -> [u64; 2] {
    values(before, |w| sequence::fence_64(w, 0x2000, value).unwrap())
}

fn upper_first(before: u64, value: u64) -> [u64; 2] {
    values(before, |w| sequence::fence_64_upper_first(w, 0x2000, value).unwrap())
}

#[test]
fn between_the_halves() {
    assert_eq!(lower_first(0xffff_ffff, 0x1_0000_0000), [0, 0x1_0000_0000]);
    assert_eq!(lower_first(0x1_0000_0000, 0xffff_ffff), [0x1_ffff_ffff, 0xffff_ffff]);
    // Where somebody who compares all 64 bits goes on early.
    assert_eq!(upper_first(0xffff_ffff, 0x1_0000_0000), [0x1_ffff_ffff, 0x1_0000_0000]);
    assert_eq!(upper_first(0x1_0000_0000, 0xffff_ffff), [0, 0xffff_ffff]);
}

#[test]
fn hdp_flush_is_not_for_all() {
    for version in Version::ALL {
        let got = lines(version, |w| match sequence::hdp_flush(w) {
            Ok(()) => assert_ne!(version, Version::V5_0),
            Err(error) => assert_eq!(error.to_string(), "SDMA 5.0 has no HDP flush"),
        });
        assert_eq!(got.len(), usize::from(version != Version::V5_0));
    }
}

#[test]
fn padding() {
    for version in Version::ALL {
        for before in 0..20 {
            for start in 0..20 {
                let mut words = [0xffff_ffff; 64];
                let mut w = Writer::new(&mut words[..], version);
                sequence::nops(&mut w, before).unwrap();
                sequence::indirect(&mut w, start, 0x1000, 16).unwrap();
                assert_eq!((start as usize + w.written()) % 8, 0, "ends where it has to");
                assert!((6..14).contains(&(w.written() - before)));
                sequence::pad(&mut w, 8).unwrap();
                assert_eq!(w.written() % 8, 0);
                sequence::pad(&mut w, 8).unwrap();
                sequence::pad(&mut w, 0).unwrap();
                let written = w.written();
                assert!(Packets::new(version, &words[..written]).all(|raw| raw.is_ok()));
            }
        }
    }
    let mut words = [0xffff_ffff; 300];
    let mut w = Writer::new(&mut words[..], Version::V5_2);
    sequence::nops(&mut w, 300).unwrap();
    assert!(Packets::new(Version::V5_2, &words).all(|raw| raw.unwrap().name() == Some("NOP")));
    for (version, dwords) in [(Version::V4_0, 64), (Version::V4_4, 4), (Version::V7_0, 4)] {
        let mut words = [0; 64];
        let mut w = Writer::new(&mut words[..], version);
        sequence::fence(&mut w, 0x1000, 1).unwrap();
        sequence::pad_submission(&mut w).unwrap();
        assert_eq!(w.written(), dwords, "{version}");
    }
}

#[test]
fn what_is_not_aligned_is_refused() {
    for version in Version::ALL {
        let got = lines(version, |w| {
            let equal = PollFunction::EQUAL_TO_THE_REFERENCE_VALUE;
            assert!(sequence::fence(w, 2, 0).is_err());
            assert!(sequence::fence_64(w, 4, 0).is_err());
            assert!(sequence::fence_64(w, 1, 0).is_err());
            assert!(sequence::fence_64_upper_first(w, 4, 0).is_err());
            assert!(sequence::decrement(w, 4).is_err());
            assert!(sequence::poll(w, 1, equal, 0, 0).is_err());
            assert!(sequence::drain(w, 1, 0).is_err());
            assert!(sequence::interrupt(w, 1, 0).is_err());
            assert!(sequence::timestamp(w, 8).is_err());
            assert!(sequence::indirect(w, 0, 16, 8).is_err());
            assert!(sequence::indirect(w, 0, 32, 7).is_err());
            assert!(sequence::indirect(w, 0, 32, 1 << 20).is_err());
            assert!(sequence::copy_fence(w, 0, 0, 1, 3, 0).is_err());
            assert!(sequence::copy(w, u64::MAX, 0, 2).is_err());
            let error = sequence::fence(w, 2, 0).unwrap_err();
            assert_eq!(
                error.to_string(),
                "FENCE: addr = 0x2, needed 0x0 to 0xfffffffffffffffc, a multiple of 0x4"
            );
        });
        assert_eq!(got, [""; 0], "{version}: nothing is written");
    }
}

proptest! {
    /// With the lower half first nothing is beyond the new value, whichever way it goes; with the upper half first
    /// the lower one is old as long as the upper one is.
    #[test]
    fn nobody_goes_on_early(before: u64, value: u64) {
        let [between, after] = lower_first(before, value);
        prop_assert_eq!(after, value);
        prop_assert!(between == value || between.cmp(&value) == before.cmp(&value));
        let [between, after] = upper_first(before, value);
        prop_assert_eq!(after, value);
        prop_assert_eq!((between >> 32, between as u32), (value >> 32, before as u32));
    }

    /// With any room there is everything or nothing.
    #[test]
    fn all_or_nothing(version in prop::sample::select(Version::ALL.to_vec()), room in 0usize..80, which in 0u8..13, bytes in 0u64..30 << 20) {
        let write = |w: &mut Writer<&mut [u32], Version>| match which {
            0 => sequence::copy(w, 0x1001, 0x900_0001, bytes),
            1 => sequence::fill(w, 0x1001, bytes, Pattern::Dword(0x0102_0304)),
            2 => sequence::fence_64(w, 0x1000, 7),
            3 => sequence::interrupt(w, 0x1000, 7),
            4 => sequence::drain(w, 0x1000, 7),
            5 => sequence::copy_fence(w, 0x1000, 0x900_0000, bytes, 0x1000, 7),
            6 => sequence::indirect(w, 3, 0x1000, 8),
            7 => sequence::nops(w, 70),
            8 => sequence::invalidate(w),
            9 => sequence::write_back(w),
            10 => sequence::decrement(w, 0x1000),
            11 => sequence::fence_64_upper_first(w, 0x1000, 7),
            _ => sequence::timestamp(w, 0x1000),
        };
        let mut enough = [0; 400];
        let mut w = Writer::new(&mut enough[..], version);
        write(&mut w).unwrap();
        let needed = w.written();
        let mut words = vec![0xeeee_eeee; room];
        let mut w = Writer::new(&mut words[..], version);
        let result = write(&mut w);
        let written = w.written();
        if needed <= room {
            prop_assert_eq!((result, written), (Ok(()), needed));
            prop_assert_eq!(&words[..needed], &enough[..needed]);
        } else {
            let full = matches!(result, Err(SequenceError::Write(WriteError::Full { .. })));
            prop_assert!(full, "{:?}", result);
            prop_assert_eq!(written, 0);
            prop_assert!(words.iter().all(|word| *word == 0xeeee_eeee));
        }
    }
}
