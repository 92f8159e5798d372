//! The instruction cache: decoded instructions by address.

use super::generation::Traits;
use super::vector::partial;
use super::wave::{Env, Step, Stop, Wave};
use super::{Launch, operands, resolve};
use crate::memory::{MemoryFault, View};
use amdgpu_isa::{DecodeError, Instruction, Target};
use std::collections::HashMap;

/// Executes one instruction.
pub(super) type Handler = fn(&mut Wave, &Op, &mut Env<'_>) -> Step;

/// A decoded instruction and what executes it.
#[derive(Clone, Copy)]
pub(super) struct Op {
    /// What executes it.
    pub(super) run: Handler,
    /// What executes the operation itself; `run` may do something around it.
    pub(super) inner: Handler,
    /// Its fields.
    pub(super) instruction: Instruction,
    /// The values of those sources that are constants.
    pub(super) constants: [u64; 3],
}

impl Op {
    /// The literal constant, 0 when there is none (then no operand asks for it).
    #[inline(always)]
    pub(super) fn literal(&self) -> u32 {
        self.instruction.literal.unwrap_or(0)
    }
}

/// Bytes of one page of the cache.
const PAGE: u64 = 4096;
const SLOTS: usize = (PAGE / 4) as usize;

/// Decoded instructions of one dispatch, filled as they are reached. It lives as long as the
/// dispatch, which is how launching invalidates the instruction cache.
pub(super) struct Code<'a> {
    target: Target,
    launch: &'a Launch,
    ops: Vec<Op>,
    pages: HashMap<u64, usize>,
    /// Index into `ops` plus one; 0 where nothing is decoded yet.
    slots: Vec<[u32; SLOTS]>,
    current: (u64, usize),
}

impl<'a> Code<'a> {
    /// An empty cache.
    pub(super) fn new(target: Target, launch: &'a Launch) -> Code<'a> {
        Code {
            target,
            launch,
            ops: Vec::new(),
            pages: HashMap::new(),
            slots: Vec::new(),
            current: (u64::MAX, 0),
        }
    }

    /// Forgets everything (`s_icache_inv`).
    pub(super) fn invalidate(&mut self) {
        *self = Code::new(self.target, self.launch);
    }

    /// The instruction at `pc`.
    #[inline]
    pub(super) fn at(&mut self, pc: u64, memory: &mut View) -> Result<&Op, Stop> {
        let page = pc / PAGE;
        if self.current.0 != page {
            self.turn_to(page);
        }
        let slot = (pc % PAGE / 4) as usize;
        let mut index = self.slots[self.current.1][slot];
        if index == 0 {
            index = self.fill(pc, memory)?;
            self.slots[self.current.1][slot] = index;
        }
        Ok(&self.ops[index as usize - 1])
    }

    #[cold]
    fn turn_to(&mut self, page: u64) {
        let next = self.slots.len();
        let index = *self.pages.entry(page).or_insert(next);
        if index == next {
            self.slots.push([0; SLOTS]);
        }
        self.current = (page, index);
    }

    #[cold]
    fn fill(&mut self, pc: u64, memory: &mut View) -> Result<u32, Stop> {
        let instruction = decode_at(self.target, pc, memory)?;
        let inner = resolve::handler(&instruction).ok_or_else(|| {
            Stop::not_modelled(format!("{} is not modelled", instruction.opcode.name()))
        })?;
        let registers = Traits::of(self.target).registers(self.launch);
        operands::check(&instruction, registers, self.launch.wave32)?;
        let run = partial::around(self.target, &instruction).unwrap_or(inner);
        let constants = operands::constants(&instruction, self.launch);
        self.ops.push(Op { run, inner, instruction, constants });
        Ok(self.ops.len() as u32)
    }
}

/// Fetches and decodes the instruction at `pc`.
pub(super) fn decode_at(target: Target, pc: u64, memory: &mut View) -> Result<Instruction, Stop> {
    let mut words = [0u32; 5];
    let mut fetched = 0;
    let mut fault: Option<MemoryFault> = None;
    for word in &mut words {
        match memory.fetch(pc + 4 * fetched as u64) {
            Ok(value) => {
                *word = value;
                fetched += 1;
            }
            Err(error) => {
                fault = Some(error);
                break;
            }
        }
    }
    match (amdgpu_isa::decode(target, &words[..fetched]), fault) {
        (Ok(instruction), _) => Ok(instruction),
        (Err(_), Some(fault)) if fetched < 2 => Err(fault.into()),
        (Err(DecodeError::UnknownFormat { .. } | DecodeError::UnknownOpcode { .. }), _) => {
            Err(Stop::illegal(format!("{:#010x} is no instruction", words[0])))
        }
        // Images and the like, which the hardware has; and fields of which nothing is known.
        (Err(error), _) => Err(Stop::not_modelled(error.to_string())),
    }
}
