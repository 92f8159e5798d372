//! Minimum and maximum, which choose an operand.

use super::float::{
    SIGN16, SIGN32, SIGN64, flush_in16, flush_in32, flush_in64, flush_out16, flush_out32,
    flush_out64, is_nan16, is_nan32, is_nan64, quiet16, quiet32, quiet64,
};
use super::mode::Mode;

macro_rules! extremes {
    ($min:ident, $max:ident, $minimum:ident, $maximum:ident, $bits:ty, $is_nan:ident, $quiet:ident, $flush_in:ident, $flush_out:ident, $sign:expr) => {
        /// Minimum: −0 below +0, a NaN loses unless it is signalling in IEEE mode
        /// (RDNA3 ISA document, V_MIN; RDNA4 ISA document, V_MIN_NUM).
        #[inline(always)]
        pub(super) fn $min(mode: &Mode, a: $bits, b: $bits) -> $bits {
            extremes!(@number $bits, mode, a, b, $is_nan, $quiet, $flush_in, $flush_out, $sign, <)
        }

        /// Maximum, with the rules of the minimum.
        #[inline(always)]
        pub(super) fn $max(mode: &Mode, a: $bits, b: $bits) -> $bits {
            extremes!(@number $bits, mode, a, b, $is_nan, $quiet, $flush_in, $flush_out, $sign, >)
        }

        /// Minimum that is NaN when an operand is: the first signalling one, else the first quiet one
        /// (RDNA4 ISA document, V_MINIMUM).
        #[inline(always)]
        pub(super) fn $minimum(mode: &Mode, a: $bits, b: $bits) -> $bits {
            extremes!(@nan $bits, mode, a, b, $is_nan, $quiet, $flush_in, $flush_out, $sign, <)
        }

        /// Maximum, with the rules of that minimum.
        #[inline(always)]
        pub(super) fn $maximum(mode: &Mode, a: $bits, b: $bits) -> $bits {
            extremes!(@nan $bits, mode, a, b, $is_nan, $quiet, $flush_in, $flush_out, $sign, >)
        }
    };
    (@ordered $bits:ty, $a:ident, $b:ident, $sign:expr, $op:tt) => {{
        // Orders all numbers, −0 below +0.
        let key = |x: $bits| if x & $sign != 0 { !x & ($sign | ($sign - 1)) } else { x | $sign };
        if key($a) $op key($b) { $a } else { $b }
    }};
    (@number $bits:ty, $mode:ident, $a:ident, $b:ident, $is_nan:ident, $quiet:ident, $flush_in:ident, $flush_out:ident, $sign:expr, $op:tt) => {{
        let ($a, $b) = ($flush_in($mode, $a), $flush_in($mode, $b));
        let (nan_a, nan_b) = ($is_nan($a), $is_nan($b));
        let signalling_a = nan_a && $quiet($a) != $a;
        let signalling_b = nan_b && $quiet($b) != $b;
        let ordered = extremes!(@ordered $bits, $a, $b, $sign, $op);
        let quiet_rules = if nan_b { $a } else if nan_a { $b } else { ordered };
        let result = if $mode.ieee && signalling_a {
            $quiet($a)
        } else if $mode.ieee && signalling_b {
            $quiet($b)
        } else if $mode.quiets_two_nans && nan_a && nan_b {
            $quiet($a)
        } else {
            quiet_rules
        };
        $flush_out($mode, result)
    }};
    (@nan $bits:ty, $mode:ident, $a:ident, $b:ident, $is_nan:ident, $quiet:ident, $flush_in:ident, $flush_out:ident, $sign:expr, $op:tt) => {{
        let ($a, $b) = ($flush_in($mode, $a), $flush_in($mode, $b));
        let (nan_a, nan_b) = ($is_nan($a), $is_nan($b));
        let result = if nan_b && $quiet($b) != $b && !(nan_a && $quiet($a) != $a) {
            $quiet($b)
        } else if nan_a {
            $quiet($a)
        } else if nan_b {
            $b
        } else {
            extremes!(@ordered $bits, $a, $b, $sign, $op)
        };
        $flush_out($mode, result)
    }};
}

extremes!(
    min32,
    max32,
    minimum32,
    maximum32,
    u32,
    is_nan32,
    quiet32,
    flush_in32,
    flush_out32,
    SIGN32
);
extremes!(
    min64,
    max64,
    minimum64,
    maximum64,
    u64,
    is_nan64,
    quiet64,
    flush_in64,
    flush_out64,
    SIGN64
);
extremes!(
    min16,
    max16,
    minimum16,
    maximum16,
    u32,
    is_nan16,
    quiet16,
    flush_in16,
    flush_out16,
    SIGN16
);

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: u32 = 0x7fc0_0001;
    const SIGNALLING: u32 = 0xff80_0002;
    const ONE: u32 = 0x3f80_0000;

    #[test]
    fn numbers_win_without_ieee_mode_and_the_first_of_two_nans_is_quieted() {
        let mode = &Mode::without_switches(0xf0);
        assert_eq!(min32(mode, SIGNALLING, ONE), ONE);
        assert_eq!(max32(mode, ONE, QUIET), ONE);
        assert_eq!(min32(mode, SIGNALLING, QUIET), SIGNALLING | 0x40_0000);
        assert_eq!(max32(mode, QUIET, SIGNALLING), QUIET);
        assert_eq!(min32(mode, 0, 1 << 31), 1 << 31);
    }

    #[test]
    fn nans_win_a_signalling_one_before_a_quiet_one() {
        let mode = &Mode::without_switches(0xf0);
        assert_eq!(minimum32(mode, ONE, QUIET), QUIET);
        assert_eq!(minimum32(mode, QUIET, SIGNALLING), SIGNALLING | 0x40_0000);
        assert_eq!(maximum32(mode, SIGNALLING, 0x7f80_0001), SIGNALLING | 0x40_0000);
        assert_eq!(maximum32(mode, QUIET, 0x7fc0_0009), QUIET);
        assert_eq!(maximum32(mode, 0, 1 << 31), 0);
        assert_eq!(minimum16(mode, 0x3c00, 0x7d00), 0x7f00);
        assert_eq!(maximum64(mode, 1, 2), 2);
    }
}
