//! Packets with anything in their fields.

use super::*;
use ::sdma::packet::LAYOUTS;

/// A xorshift generator.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Whatever packets say, the engine does not break: a queue goes on, waits, or stops with an error or a page fault.
#[test]
fn anything_is_done_or_stops_the_queue() {
    let mut state = 0x9e37_79b9_7f4a_7c15;
    for round in 0..3000 {
        let version = Version::ALL[round % 8];
        let layouts: Vec<_> =
            LAYOUTS.iter().filter(|layout| layout.variants.contains(version.set())).collect();
        let layout = layouts[next(&mut state) as usize % layouts.len()];
        let mut rig = Rig::new(version);
        let mut words = vec![0; layout.dwords + 8];
        for field in layout.fields {
            // Mostly what means something; addresses of memory, often odd ones.
            let value = match next(&mut state) % 8 {
                0 => next(&mut state),
                1 => u64::MAX,
                2 | 3 if field.name.contains("addr") => DST + next(&mut state) % 64,
                4 => next(&mut state) % 100,
                5 if field.name.contains("addr") => u64::MAX - next(&mut state) % 64,
                _ if field.name.contains("addr") => DST + 8 * (next(&mut state) % 8),
                _ => 0,
            };
            field.write(value, &mut words, version.set());
        }
        words[0] = words[0] & !layout.fixed_mask | layout.fixed;
        rig.submit(&words);
        let start = Instant::now();
        let stopped = || rig.queue.fault().is_some() || !rig.host.told().is_empty();
        while rig.read_u64(READ) < rig.written && !stopped() && start.elapsed().as_millis() < 3 {
            thread::yield_now();
        }
        let broken = rig.host.broken.lock().unwrap().clone();
        assert_eq!(broken, None, "{} of {version}: {words:x?}", layout.name);
        rig.queue.destroy();
        let broken = rig.host.broken.lock().unwrap().clone();
        assert_eq!(broken, None, "{} of {version}: {words:x?}", layout.name);
    }
}
