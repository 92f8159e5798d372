//! Every function of the atomics at its limits, by the pseudocode of the RDNA3 ISA document.

use super::super::atomic::Function::{self, *};

/// `(function, old, operand, second operand, new)`
const CASES: &[(Function, u32, u32, u32, u32)] = &[
    (Swap, 5, 9, 0, 9),
    (CompareSwap, 5, 9, 5, 9),
    (CompareSwap, 5, 9, 6, 5),
    (Add, 0, 5, 0, 5),
    (Add, u32::MAX, 1, 0, 0),
    (Subtract, 5, 5, 0, 0),
    (Subtract, 0, 1, 0, u32::MAX),
    (ReverseSubtract, 0, 5, 0, 5),
    (ReverseSubtract, 6, 5, 0, u32::MAX),
    (ClampedSubtract, 0, 5, 0, 0),
    (ClampedSubtract, 5, 5, 0, 0),
    (ClampedSubtract, 6, 5, 0, 1),
    (ClampedSubtract, 4, 5, 0, 0),
    (MinSigned, u32::MAX, 1, 0, u32::MAX),
    (MinSigned, 6, 5, 0, 5),
    (MinUnsigned, u32::MAX, 1, 0, 1),
    (MinUnsigned, 4, 5, 0, 4),
    (MaxSigned, u32::MAX, 1, 0, 1),
    (MaxSigned, 6, 5, 0, 6),
    (MaxUnsigned, u32::MAX, 1, 0, u32::MAX),
    (MaxUnsigned, 4, 5, 0, 5),
    (And, 0b0011, 0b0101, 0, 0b0001),
    (Or, 0b0011, 0b0101, 0, 0b0111),
    (Xor, 0b0011, 0b0101, 0, 0b0110),
    (Increment, 0, 5, 0, 1),
    (Increment, 4, 5, 0, 5),
    (Increment, 5, 5, 0, 0),
    (Increment, 6, 5, 0, 0),
    (Increment, 0, 0, 0, 0),
    (Increment, u32::MAX, u32::MAX, 0, 0),
    (Decrement, 0, 5, 0, 5),
    (Decrement, 1, 5, 0, 0),
    (Decrement, 5, 5, 0, 4),
    (Decrement, 6, 5, 0, 5),
    (Decrement, u32::MAX, u32::MAX, 0, u32::MAX - 1),
    (MaskOr, 0b0011, 0b0101, 0b1000, 0b1010),
    (Wrap, 0, 5, 9, 9),
    (Wrap, 4, 5, 9, 13),
    (Wrap, 5, 5, 9, 0),
    (Wrap, 6, 5, 9, 1),
];

/// `(function, old, operand, comparand, new)`
const FLOATS: &[(Function, f32, f32, f32, f32)] = &[
    (CompareSwapFloat, 0.0, 9.0, -0.0, 9.0),
    (CompareSwapFloat, 1.0, 9.0, 2.0, 1.0),
    (CompareSwapFloat, f32::NAN, 9.0, f32::NAN, f32::NAN),
    (MinFloat, 5.0, 5.0, 0.0, 5.0),
    (MinFloat, 6.0, 5.0, 0.0, 5.0),
    (MinFloat, -1.0, 0.0, 0.0, -1.0),
    (MaxFloat, 6.0, 5.0, 0.0, 6.0),
    (MaxFloat, 4.0, 5.0, 0.0, 5.0),
    (MaxFloat, -1.0, -2.0, 0.0, -1.0),
    (AddFloat, 1.5, -0.5, 0.0, 1.0),
    (AddFloat, 0.0, -0.0, 0.0, 0.0),
];

/// What the 32-bit number means in 64 bits.
fn wide(value: u32) -> u64 {
    i64::from(value as i32) as u64
}

#[test]
fn functions_at_their_limits() {
    for &(function, old, a, b, new) in CASES {
        assert_eq!(function.apply32(old, a, b), new, "{function:?} of {old:#x}, {a:#x}, {b:#x}");
        let [old, a, b, new] = [old, a, b, new].map(wide);
        assert_eq!(function.apply64(old, a, b), new, "{function:?} of {old:#x}, {a:#x}, {b:#x}");
    }
}

#[test]
fn functions_of_floats() {
    for &(function, old, a, b, new) in FLOATS {
        let got = function.apply32(old.to_bits(), a.to_bits(), b.to_bits());
        assert_eq!(got, new.to_bits(), "{function:?} of {old}, {a}, {b}");
        let [old, a, b, new] = [old, a, b, new].map(f64::from);
        let got = function.apply64(old.to_bits(), a.to_bits(), b.to_bits());
        assert_eq!(got, new.to_bits(), "{function:?} of {old}, {a}, {b}");
    }
}
