//! Calls with arbitrary arguments: the machine answers all of them and is empty afterwards.

use crate::rig::{PAGE, Rig, anonymous};
use proptest::prelude::*;
use selvedge_sim::Objects;
use selvedge_sys::System;

/// Words worth trying: small numbers, ids, flags, sizes, and addresses good and bad.
fn word(scratch: u64, gpu_id: u32) -> impl Strategy<Value = u64> {
    let gpu = u64::from(gpu_id);
    prop_oneof![
        4 => 0u64..5,
        2 => Just(gpu),
        2 => Just(gpu << 32),
        2 => (0u64..8).prop_map(move |i| gpu << 32 | i),
        3 => (0u64..64).prop_map(move |page| scratch + page * PAGE),
        1 => Just(scratch + 12),
        1 => Just(PAGE),
        1 => Just(1 << 63),
        1 => Just(1 << 47),
        1 => Just(0xffff_ffff),
        1 => Just(u64::MAX),
        1 => (0u32..64).prop_map(|bit| 1 << bit),
        1 => any::<u64>(),
    ]
}

#[derive(Clone, Debug)]
struct Random {
    render: bool,
    number: u8,
    size: u32,
    words: Vec<u64>,
}

fn call(scratch: u64, gpu_id: u32) -> impl Strategy<Value = Random> {
    let words = prop::collection::vec(word(scratch, gpu_id), 16);
    let size = prop_oneof![0u32..129, Just(24), Just(40), Just(96)];
    (any::<bool>(), 0u8..0x60, size, words).prop_map(|(render, number, size, words)| Random {
        render,
        number,
        size,
        words,
    })
}

/// WAIT_EVENTS and the timeline wait may rightly last for ever.
fn may_wait(call: &Random) -> bool {
    !call.render && call.number == 0x0c
}

#[test]
fn every_call_returns_and_leaves_nothing() {
    let probe = Rig::new("gfx1151", 23);
    let gpu_id = probe.gpu_id;
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 96,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    // Answers may be written anywhere in it.
    let scratch = anonymous(&probe.process, 128 * PAGE);
    let calls = prop::collection::vec(call(scratch, gpu_id), 1..80);
    runner
        .run(&calls, |calls| {
            let rig = Rig::new("gfx1151", 23);
            for call in calls.into_iter().filter(|call| !may_wait(call)) {
                let mut words = call.words.clone();
                words.resize(32, 0);
                let (fd, kind) = if call.render { (rig.render, b'd') } else { (rig.kfd, b'K') };
                let request =
                    3 << 30 | call.size << 16 | u32::from(kind) << 8 | u32::from(call.number);
                // SAFETY: the argument is larger than any size asked for; addresses in it are bad or in
                // memory that is nobody else's.
                let answer = unsafe { rig.process.ioctl(fd, request, words.as_mut_ptr().cast()) };
                prop_assert!(answer.is_ok_and(|value| value == 0) || answer.is_err());
            }
            let machine = rig.machine.clone();
            drop(rig);
            prop_assert_eq!(machine.objects(), Objects::default());
            Ok(())
        })
        .unwrap();
}
