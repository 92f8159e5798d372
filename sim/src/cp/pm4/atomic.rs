//! ATOMIC_MEM.

use super::{Context, Next, Operation};
use crate::cp::hqd::{Backoff, Halt};
use ::pm4::packet::{AtomicCommand, AtomicMem, AtomicOp};

/// What an operation is, apart from its width and from whether it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Swap,
    CompareAndSwap,
    Add,
    Subtract,
    SignedMinimum,
    UnsignedMinimum,
    SignedMaximum,
    UnsignedMaximum,
    And,
    Or,
    Xor,
    Increment,
    Decrement,
}

/// An operation: the numbers of 32 and 64 bits, and of those that return and do not, are 32 and 64 apart
/// ([`AtomicOp`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Atomic {
    function: Function,
    is_wide: bool,
    returns: bool,
}

impl Atomic {
    fn of(operation: AtomicOp) -> Option<Atomic> {
        let function = match AtomicOp(operation.0 & 0x1f) {
            AtomicOp::ATOMIC_SWAP_RTN_32 => Function::Swap,
            AtomicOp::ATOMIC_CMPSWAP_RTN_32 => Function::CompareAndSwap,
            AtomicOp::ATOMIC_ADD_RTN_32 => Function::Add,
            AtomicOp::ATOMIC_SUB_RTN_32 => Function::Subtract,
            AtomicOp::ATOMIC_SMIN_RTN_32 => Function::SignedMinimum,
            AtomicOp::ATOMIC_UMIN_RTN_32 => Function::UnsignedMinimum,
            AtomicOp::ATOMIC_SMAX_RTN_32 => Function::SignedMaximum,
            AtomicOp::ATOMIC_UMAX_RTN_32 => Function::UnsignedMaximum,
            AtomicOp::ATOMIC_AND_RTN_32 => Function::And,
            AtomicOp::ATOMIC_OR_RTN_32 => Function::Or,
            AtomicOp::ATOMIC_XOR_RTN_32 => Function::Xor,
            AtomicOp::ATOMIC_INC_RTN_32 => Function::Increment,
            AtomicOp::ATOMIC_DEC_RTN_32 => Function::Decrement,
            _ => return None,
        };
        let (is_wide, returns) = (operation.0 & 32 != 0, operation.0 & 64 == 0);
        Some(Atomic { function, is_wide, returns })
    }

    /// What is stored. Values of 32 bits have zeros above.
    fn apply(self, old: u64, operand: u64, compared: u64) -> u64 {
        let signed = |value: u64| match self.is_wide {
            true => value.cast_signed(),
            false => (value as u32).cast_signed().into(),
        };
        match self.function {
            Function::Swap => operand,
            Function::CompareAndSwap if old == compared => operand,
            Function::CompareAndSwap => old,
            Function::Add => old.wrapping_add(operand),
            Function::Subtract => old.wrapping_sub(operand),
            Function::SignedMinimum if signed(operand) < signed(old) => operand,
            Function::SignedMaximum if signed(operand) > signed(old) => operand,
            Function::SignedMinimum | Function::SignedMaximum => old,
            Function::UnsignedMinimum => old.min(operand),
            Function::UnsignedMaximum => old.max(operand),
            Function::And => old & operand,
            Function::Or => old | operand,
            Function::Xor => old ^ operand,
            Function::Increment if old >= operand => 0,
            Function::Increment => old + 1,
            Function::Decrement if old == 0 || old > operand => operand,
            Function::Decrement => old - 1,
        }
    }
}

impl Operation for AtomicMem {
    fn execute(&self, at: &mut Context<'_>) -> Result<Next, Halt> {
        let Some(atomic) = Atomic::of(self.atomic) else {
            return Err(at.not_modelled("this atomic"));
        };
        let loops = match self.command {
            AtomicCommand::SINGLE_PASS_ATOMIC
            | AtomicCommand::WAIT_FOR_WRITE_CONFIRMATION
            | AtomicCommand::SEND_AND_CONTINUE => false,
            AtomicCommand::LOOP_UNTIL_COMPARE_SATISFIED
                if atomic.function == Function::CompareAndSwap =>
            {
                true
            }
            _ => return Err(at.malformed("this operation has no such command")),
        };
        let mask = if atomic.is_wide { u64::MAX } else { u32::MAX.into() };
        let (operand, compared) = (self.src_data & mask, self.cmp_data & mask);
        let mut backoff = Backoff::default();
        loop {
            let memory = &mut at.hqd.memory;
            let old = match atomic.is_wide {
                true => memory.atomic_u64(self.addr, |old| atomic.apply(old, operand, compared))?,
                false => memory
                    .atomic_u32(self.addr, |old| {
                        atomic.apply(old.into(), operand, compared) as u32
                    })?
                    .into(),
            };
            if atomic.returns {
                at.engine.atomic_return = old;
            }
            if !loops || old == compared {
                return Ok(Next::Continue);
            }
            at.hqd.rest(backoff.next())?;
        }
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
            (40, Function::CompareAndSwap, true, true),
            (79, Function::Add, false, false),
            (121, Function::Decrement, true, false),
        ] {
            let atomic = Atomic { function, is_wide, returns };
            assert_eq!(Atomic::of(AtomicOp(number)), Some(atomic));
        }
        assert_eq!(Atomic::of(AtomicOp(0)), None);
        assert_eq!(Atomic::of(AtomicOp(9)), None, "floats");
    }

    #[test]
    fn values() {
        let narrow = |function| Atomic { function, is_wide: false, returns: false };
        let wide = |function| Atomic { function, is_wide: true, returns: false };
        let minus_one = u64::from(u32::MAX);
        assert_eq!(narrow(Function::SignedMinimum).apply(3, minus_one, 0), minus_one);
        assert_eq!(wide(Function::SignedMinimum).apply(3, minus_one, 0), 3);
        assert_eq!(narrow(Function::SignedMaximum).apply(3, minus_one, 0), 3);
        assert_eq!(narrow(Function::UnsignedMaximum).apply(3, minus_one, 0), minus_one);
        assert_eq!(wide(Function::UnsignedMinimum).apply(3, minus_one, 0), 3);
        assert_eq!(narrow(Function::Increment).apply(5, 5, 0), 0);
        assert_eq!(narrow(Function::Increment).apply(4, 5, 0), 5);
        assert_eq!(wide(Function::Decrement).apply(0, 9, 0), 9);
        assert_eq!(wide(Function::Decrement).apply(10, 9, 0), 9);
        assert_eq!(wide(Function::Decrement).apply(9, 9, 0), 8);
        assert_eq!(narrow(Function::CompareAndSwap).apply(1, 2, 1), 2);
        assert_eq!(narrow(Function::CompareAndSwap).apply(1, 2, 0), 1);
        assert_eq!(narrow(Function::Subtract).apply(0, 1, 0) as u32, u32::MAX);
        assert_eq!(narrow(Function::Xor).apply(6, 3, 0), 5);
        assert_eq!(narrow(Function::And).apply(6, 3, 0), 2);
        assert_eq!(narrow(Function::Or).apply(6, 3, 0), 7);
    }
}
