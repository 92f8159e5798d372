//! The instruction cache: decoded instructions by address.

use super::generation::{Registers, Traits};
use super::vector::partial;
use super::wave::{Env, Step, Stop, Wave};
use super::{Launch, operands, resolve};
use crate::memory::{Access, MemoryFault, View};
use amdgpu_isa::{DecodeError, Instruction, Target};
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

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
/// Pages that a cache holds, and that a dispatch has at hand.
const PAGES: usize = 1024;

/// What an instruction's [`Op`] depends on beside its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Settings {
    target: Target,
    wave32: bool,
    registers: Registers,
    /// Bits 63:32 of those of LDS and scratch, which are constants to instructions.
    apertures: [u32; 2],
}

/// Decoded instructions by page, kept between dispatches.
///
/// Each dispatch, and each wave after `s_icache_inv`, reads a page's bytes again when it comes to it, and takes what
/// was decoded only if they are the same. That is what hardware promises after an invalidation, whoever wrote the
/// bytes and whatever is mapped there now; hardware that is not told may go on with old instructions.
#[derive(Default)]
pub struct InstructionCache {
    pages: Mutex<Kept>,
    decoded: AtomicU64,
}

/// Pages by number.
#[derive(Default)]
struct Kept {
    /// With the time when they were last asked for.
    pages: HashMap<(u64, Settings), (Arc<Page>, u64)>,
    /// How often any was asked for.
    now: u64,
}

impl InstructionCache {
    /// How many instructions it has decoded.
    pub fn decoded(&self) -> u64 {
        self.decoded.load(Ordering::Relaxed)
    }

    /// The page with these bytes: a new one in place of one with other bytes, or when there are too many, of the one that
    /// was not asked for for the longest time.
    fn page(&self, number: u64, settings: Settings, bytes: Bytes) -> Arc<Page> {
        let mut kept = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let Kept { pages, now } = &mut *kept;
        *now += 1;
        let place = (number, settings);
        if let Some((page, used)) = pages.get_mut(&place) {
            if page.bytes.as_ref() == Some(&bytes) {
                *used = *now;
                return Arc::clone(page);
            }
        } else if pages.len() >= PAGES {
            let oldest = pages.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(&place, _)| place) {
                pages.remove(&oldest);
            }
        }
        let page = Arc::new(Page::new(Some(bytes)));
        pages.insert(place, (Arc::clone(&page), *now));
        page
    }
}

impl fmt::Debug for InstructionCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InstructionCache").field("decoded", &self.decoded).finish_non_exhaustive()
    }
}

/// The bytes of a page, and those behind it that its last instruction may have.
#[derive(Debug, PartialEq, Eq)]
struct Bytes {
    dwords: Vec<u32>,
    /// Why there are no more.
    end: Option<MemoryFault>,
}

impl Bytes {
    /// Those in memory; `None` for a page of several mappings.
    fn read(number: u64, memory: &mut View) -> Option<Bytes> {
        let start = number * PAGE;
        let mut dwords = vec![0; SLOTS];
        memory.window(start, PAGE, Access::Execute)?.load_dwords(start, &mut dwords);
        let mut end = None;
        for behind in 0..Instruction::MAX_DWORDS as u64 - 1 {
            match memory.fetch(start.wrapping_add(PAGE + 4 * behind)) {
                Ok(dword) => dwords.push(dword),
                Err(fault) => {
                    end = Some(fault);
                    break;
                }
            }
        }
        Some(Bytes { dwords, end })
    }

    fn decode(&self, target: Target, slot: usize) -> Result<Instruction, Stop> {
        let end = self.dwords.len().min(slot + Instruction::MAX_DWORDS);
        let fault = if end < slot + Instruction::MAX_DWORDS { self.end } else { None };
        decode(target, &self.dwords[slot..end], fault)
    }
}

/// Instructions of a page.
struct Page {
    /// `None` for one that is not kept.
    bytes: Option<Bytes>,
    slots: [OnceLock<Decoded>; SLOTS],
}

/// What a slot holds.
pub(super) struct Decoded {
    /// The instruction's, here to be known before the rest of it.
    pub(super) size: u64,
    op: Box<Op>,
}

impl Deref for Decoded {
    type Target = Op;

    #[inline(always)]
    fn deref(&self) -> &Op {
        &self.op
    }
}

impl Page {
    fn new(bytes: Option<Bytes>) -> Page {
        Page { bytes, slots: [const { OnceLock::new() }; SLOTS] }
    }
}

/// The instruction cache as one thread of a dispatch sees it.
pub(super) struct Code<'a> {
    cache: &'a InstructionCache,
    settings: Settings,
    launch: &'a Launch,
    /// Pages reached since the start or the last invalidation.
    pages: Vec<Arc<Page>>,
    /// Where in `pages` they are, by number.
    numbers: HashMap<u64, usize>,
    current: (u64, usize),
}

impl<'a> Code<'a> {
    /// Knows no page yet, which is how launching invalidates the instruction cache.
    pub(super) fn new(target: Target, launch: &'a Launch, cache: &'a InstructionCache) -> Code<'a> {
        let settings = Settings {
            target,
            wave32: launch.wave32,
            registers: Traits::of(target).registers(launch),
            apertures: [launch.shared_aperture_hi, launch.private_aperture_hi],
        };
        Code {
            cache,
            settings,
            launch,
            pages: Vec::new(),
            numbers: HashMap::new(),
            current: (u64::MAX, 0),
        }
    }

    /// Looks at all bytes again (`s_icache_inv`).
    pub(super) fn invalidate(&mut self) {
        self.pages.clear();
        self.numbers.clear();
        self.current = (u64::MAX, 0);
    }

    /// The instruction at `pc`.
    #[inline]
    pub(super) fn at(&mut self, pc: u64, memory: &mut View) -> Result<&Decoded, Stop> {
        let number = pc / PAGE;
        if self.current.0 != number {
            self.turn_to(number, memory);
        }
        let slot = (pc % PAGE / 4) as usize;
        let code = &*self;
        match code.pages[code.current.1].slots[slot].get() {
            Some(decoded) => Ok(decoded),
            None => code.fill(pc, slot, memory),
        }
    }

    #[cold]
    fn turn_to(&mut self, number: u64, memory: &mut View) {
        if self.pages.len() >= PAGES && !self.numbers.contains_key(&number) {
            self.invalidate();
        }
        let index = *self.numbers.entry(number).or_insert_with(|| {
            self.pages.push(match Bytes::read(number, memory) {
                Some(bytes) => self.cache.page(number, self.settings, bytes),
                None => Arc::new(Page::new(None)),
            });
            self.pages.len() - 1
        });
        self.current = (number, index);
    }

    #[cold]
    fn fill(&self, pc: u64, slot: usize, memory: &mut View) -> Result<&Decoded, Stop> {
        let page = &self.pages[self.current.1];
        let target = self.settings.target;
        let instruction = match &page.bytes {
            Some(bytes) => bytes.decode(target, slot)?,
            None => decode_at(target, pc, memory)?,
        };
        let inner = resolve::handler(&instruction).ok_or_else(|| {
            Stop::not_modelled(format!("{} is not modelled", instruction.opcode.name()))
        })?;
        operands::check(&instruction, self.settings.registers, self.settings.wave32)?;
        let run = partial::around(target, &instruction).unwrap_or(inner);
        let constants = operands::constants(&instruction, self.launch);
        self.cache.decoded.fetch_add(1, Ordering::Relaxed);
        let op = Box::new(Op { run, inner, instruction, constants });
        Ok(page.slots[slot].get_or_init(|| Decoded { size: instruction.size.into(), op }))
    }
}

/// Fetches and decodes the instruction at `pc`.
pub(super) fn decode_at(target: Target, pc: u64, memory: &mut View) -> Result<Instruction, Stop> {
    let mut words = [0u32; Instruction::MAX_DWORDS];
    let mut fetched = 0;
    let mut fault = None;
    for word in &mut words {
        match memory.fetch(pc.wrapping_add(4 * fetched as u64)) {
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
    decode(target, &words[..fetched], fault)
}

/// Decodes the instruction at the start of `words`; `fault` is why there are fewer than there could be.
fn decode(target: Target, words: &[u32], fault: Option<MemoryFault>) -> Result<Instruction, Stop> {
    match (amdgpu_isa::decode(target, words), fault) {
        (Ok(instruction), _) => Ok(instruction),
        (Err(DecodeError::Truncated { .. }), Some(fault)) => Err(fault.into()),
        (Err(DecodeError::UnknownFormat { .. } | DecodeError::UnknownOpcode { .. }), _) => {
            let first = words.first().copied().unwrap_or(0);
            Err(Stop::illegal(format!("{first:#010x} is no instruction")))
        }
        // Images and the like, which the hardware has; and fields of which nothing is known.
        (Err(error), _) => Err(Stop::not_modelled(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, InstructionCache, PAGES, Page, Settings};
    use crate::shader::generation::Registers;
    use amdgpu_isa::Target;
    use std::sync::Arc;

    fn page(cache: &InstructionCache, number: u64, first: u32) -> Arc<Page> {
        let settings = Settings {
            target: Target::Gfx1151,
            wave32: true,
            registers: Registers { vgprs: 8, all: 8 },
            apertures: [0; 2],
        };
        cache.page(number, settings, Bytes { dwords: vec![first], end: None })
    }

    #[test]
    fn a_full_cache_loses_what_was_not_asked_for_longest() {
        let cache = InstructionCache::default();
        let pages: Vec<_> = (0..PAGES as u64).map(|number| page(&cache, number, 0)).collect();
        let is_kept = |number: u64| Arc::ptr_eq(&page(&cache, number, 0), &pages[number as usize]);
        // Other bytes take the place of those that were there.
        page(&cache, 2, 1);
        assert!(is_kept(0) && is_kept(1) && !is_kept(2));
        assert!(is_kept(3));
        page(&cache, PAGES as u64, 0);
        // Page 4 is gone, and asking for it has made page 5 go.
        assert!(is_kept(6) && is_kept(0) && is_kept(1) && is_kept(3) && !is_kept(4) && !is_kept(5));
        assert_eq!(cache.pages.lock().unwrap().pages.len(), PAGES);
    }
}
