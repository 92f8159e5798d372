//! How the values of neighbouring lanes lie to each other, four lanes at a time.
#![expect(unsafe_code, reason = "vectors that every host has")]

use super::wave::{LANES, Row};
use std::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_and_si128, _mm_cmpeq_epi32, _mm_loadu_si128, _mm_movemask_epi8,
    _mm_packs_epi16, _mm_packs_epi32, _mm_set1_epi32, _mm_setr_epi32, _mm_setzero_si128,
};

/// Lanes that are looked at together: kernels that work on tiles have rows of 16.
pub(super) const RUN: usize = 16;
/// Runs of a row.
pub(super) const RUNS: usize = LANES / RUN;
/// Lanes of a vector.
const QUAD: usize = 4;

/// How the addresses of a run of lanes lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    Same,
    Rising,
    Scattered,
}

/// How the addresses of dwords lie, in each run of lanes.
#[inline(always)]
pub(super) fn of(addresses: &Row) -> [Run; RUNS] {
    let (each, _) = addresses.as_chunks::<RUN>();
    let mut runs = [Run::Scattered; RUNS];
    for (run, addresses) in runs.iter_mut().zip(each) {
        *run = match (rises(addresses, 0), rises(addresses, 4)) {
            (true, _) => Run::Same,
            (_, true) => Run::Rising,
            _ => Run::Scattered,
        };
    }
    runs
}

/// Whether in each run each lane's value is `step` above the one before.
#[inline(always)]
pub(super) fn all_rise(values: &Row, step: u32) -> bool {
    let (runs, _) = values.as_chunks::<RUN>();
    runs.iter().all(|values| rises(values, step))
}

/// Whether each lane's value is `step` above the one before.
#[inline(always)]
fn rises(values: &[u32; RUN], step: u32) -> bool {
    let (quads, _) = values.as_chunks::<QUAD>();
    let (first, step) = (values[0] as i32, step as i32);
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        let mut expected =
            _mm_add_epi32(_mm_set1_epi32(first), _mm_setr_epi32(0, step, 2 * step, 3 * step));
        let mut rising = _mm_set1_epi32(-1);
        for quad in quads {
            rising = _mm_and_si128(rising, _mm_cmpeq_epi32(load(quad), expected));
            expected = _mm_add_epi32(expected, _mm_set1_epi32(4 * step));
        }
        _mm_movemask_epi8(rising) == 0xffff
    }
}

/// The lanes that are all ones; the others are 0.
#[inline(always)]
pub(super) fn sign_bits(lanes: &Row) -> u32 {
    let (quads, _) = lanes.as_chunks::<QUAD>();
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        let mut vectors = [_mm_setzero_si128(); LANES / QUAD];
        for (vector, quad) in vectors.iter_mut().zip(quads) {
            *vector = load(quad);
        }
        let [a, b, c, d, e, f, g, h] = vectors;
        let low = _mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d));
        let high = _mm_packs_epi16(_mm_packs_epi32(e, f), _mm_packs_epi32(g, h));
        _mm_movemask_epi8(low) as u32 | (_mm_movemask_epi8(high) as u32) << RUN
    }
}

#[inline(always)]
fn load(quad: &[u32; QUAD]) -> __m128i {
    // SAFETY: a quad is 16 bytes; SSE2 is part of x86-64.
    unsafe { _mm_loadu_si128(quad.as_ptr().cast()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::array::from_fn;

    #[test]
    fn runs_are_told_apart() {
        let rising: Row = from_fn(|lane| 0xffff_fff0u32.wrapping_add(4 * lane as u32));
        assert_eq!(of(&rising), [Run::Rising; 2]);
        assert!(all_rise(&rising, 4) && !all_rise(&rising, 0));
        let halves: Row = from_fn(|lane| if lane < RUN { 7 } else { 100 + 4 * lane as u32 });
        assert_eq!(of(&halves), [Run::Same, Run::Rising]);
        for lane in 0..LANES {
            let mut other = rising;
            other[lane] ^= 1;
            let mut expected = [Run::Rising; 2];
            expected[lane / RUN] = Run::Scattered;
            assert_eq!(of(&other), expected);
            assert!(!all_rise(&other, 4));
        }
    }

    #[test]
    fn bits_of_lanes() {
        for bits in [0, u32::MAX, 1, 1 << 31, 0x1234_5678, 0x8001_7ffe] {
            let lanes: Row = from_fn(|lane| if bits >> lane & 1 != 0 { u32::MAX } else { 0 });
            assert_eq!(sign_bits(&lanes), bits);
        }
    }
}
