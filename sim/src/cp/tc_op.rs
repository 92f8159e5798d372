//! Atomics of L2 by their number, as packets of PM4 and SDMA have it.

use crate::memory::{MemoryFault, View};
use crate::shader::AtomicFunction as Function;

/// An operation. The lowest five bits of its number name the function, bit 5 says 64 bits, bit 6 that nothing is
/// returned (TC_OP of AMD's `vega10_enum.h` to `soc24_enum.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TcOp {
    pub(crate) function: Function,
    is_wide: bool,
    pub(crate) returns: bool,
}

impl TcOp {
    pub(crate) fn of(number: u8) -> Option<TcOp> {
        let function = match number & 0x1f {
            1 => Function::CompareSwapFloat,
            2 => Function::MinFloat,
            3 => Function::MaxFloat,
            7 => Function::Swap,
            8 => Function::CompareSwap,
            15 => Function::Add,
            16 => Function::Subtract,
            17 => Function::MinSigned,
            18 => Function::MinUnsigned,
            19 => Function::MaxSigned,
            20 => Function::MaxUnsigned,
            21 => Function::And,
            22 => Function::Or,
            23 => Function::Xor,
            24 => Function::Increment,
            25 => Function::Decrement,
            _ => return None,
        };
        Some(TcOp { function, is_wide: number & 32 != 0, returns: number & 64 == 0 })
    }

    /// What is stored. Of operations on 32 bits the upper halves do not count, and that of the result is 0.
    fn apply(self, old: u64, operand: u64, comparand: u64) -> u64 {
        match self.is_wide {
            true => self.function.apply64(old, operand, comparand),
            false => self.function.apply32(old as u32, operand as u32, comparand as u32).into(),
        }
    }

    /// Does it to memory; what was there.
    pub(crate) fn execute(
        self,
        memory: &mut View,
        address: u64,
        operand: u64,
        comparand: u64,
    ) -> Result<u64, MemoryFault> {
        let new = |old| self.apply(old, operand, comparand);
        if self.is_wide {
            return memory.atomic_u64(address, new);
        }
        Ok(memory.atomic_u32(address, |old| new(old.into()) as u32)?.into())
    }

    /// Whether one that compares stores its operand over this: whether any other takes its place.
    pub(crate) fn swaps(self, old: u64, comparand: u64) -> bool {
        self.apply(old, !old, comparand) != old
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_by_number() {
        // vega10_enum.h, TC_OP: numbers of some of each quarter.
        for (number, function, is_wide, returns) in [
            (7, Function::Swap, false, true),
            (40, Function::CompareSwap, true, true),
            (79, Function::Add, false, false),
            (121, Function::Decrement, true, false),
        ] {
            let operation = TcOp { function, is_wide, returns };
            assert_eq!(TcOp::of(number), Some(operation));
        }
        assert_eq!(TcOp::of(0), None);
        assert_eq!(TcOp::of(9), None);
    }

    #[test]
    fn values() {
        let narrow = |function| TcOp { function, is_wide: false, returns: false };
        let wide = |function| TcOp { function, is_wide: true, returns: false };
        let minus_one = u64::from(u32::MAX);
        assert_eq!(narrow(Function::MinSigned).apply(3, minus_one, 0), minus_one);
        assert_eq!(wide(Function::MinSigned).apply(3, minus_one, 0), 3);
        assert_eq!(narrow(Function::MaxSigned).apply(3, minus_one, 0), 3);
        assert_eq!(narrow(Function::MaxUnsigned).apply(3, minus_one, 0), minus_one);
        assert_eq!(wide(Function::MinUnsigned).apply(3, minus_one, 0), 3);
        assert_eq!(narrow(Function::Increment).apply(5, 5, 0), 0);
        assert_eq!(narrow(Function::Increment).apply(4, 5, 0), 5);
        assert_eq!(wide(Function::Decrement).apply(0, 9, 0), 9);
        assert_eq!(wide(Function::Decrement).apply(10, 9, 0), 9);
        assert_eq!(wide(Function::Decrement).apply(9, 9, 0), 8);
        assert_eq!(narrow(Function::CompareSwap).apply(1, 2, 1), 2);
        assert_eq!(narrow(Function::CompareSwap).apply(1, 2, 0), 1);
        assert_eq!(narrow(Function::Subtract).apply(0, 1, 0) as u32, u32::MAX);
        assert_eq!(narrow(Function::Xor).apply(6, 3, 0), 5);
        assert_eq!(narrow(Function::And).apply(6, 3, 0), 2);
        assert_eq!(narrow(Function::Or).apply(6, 3, 0), 7);
    }
}
