//! The state of one wave.

use super::WaveFaultKind;
use super::generation::{FlatScratch, Registers, Traits};
use super::gws::Queued;
use super::lds::Lds;
use super::mode::Mode;
use super::unit::ComputeUnit;
use crate::memory::{FaultReason, MemoryFault, View};
use amdgpu_isa::Src;

/// Lanes that the vector unit works on at once. A wave64 instruction is two passes of these
/// (RDNA3 ISA document, 3.1: wave64 issues each VALU and memory instruction twice).
pub(super) const LANES: usize = 32;

/// An array of one value a lane, or of so many. A macro, as what `from_fn` calls would be compiled without the host's
/// extensions.
macro_rules! lanes {
    (|$lane:ident| $value:expr) => {
        $crate::shader::wave::lanes!($crate::shader::wave::LANES, |$lane| $value)
    };
    ($count:expr, |$lane:ident| $value:expr) => {{
        let mut all = [Default::default(); $count];
        for $lane in 0..$count {
            all[$lane] = $value;
        }
        all
    }};
}
pub(super) use lanes;

/// One VGPR of 32 lanes.
pub(super) type Row = [u32; LANES];

/// A row in cache lines of its own: loads and stores of vectors of the host do not lie in two.
#[derive(Clone, Copy, Debug)]
#[repr(align(128))]
struct Lines(Row);

/// SGPR code of gfx9's `flat_scratch_lo`.
pub(super) const FLAT_SCRATCH: u8 = 102;
/// SGPR code of `vcc_lo`.
pub(super) const VCC: u8 = 106;
/// SGPR code of the first trap temporary.
pub(super) const TTMP0: u8 = 108;
/// SGPR code of `null`.
pub(super) const NULL: u8 = 124;
/// SGPR code of `m0`.
pub(super) const M0: u8 = 125;
/// SGPR code of `exec_lo`.
pub(super) const EXEC: u8 = 126;

/// Registers behind the last scalar code, so that a multi-dword access at its end stays inside.
const SGPR_FILE: usize = 128 + 16;

/// Why a wave stops executing for now or for good.
#[derive(Debug)]
pub(super) enum Stop {
    /// `s_endpgm`.
    End,
    /// `s_barrier`, `s_barrier_wait`.
    Barrier,
    /// Gives up the rest of its quantum (`s_sleep`).
    Yield,
    /// Halts, for ever, as no debugger is there to resume it.
    Halt,
    /// It cannot go on.
    Fault(Box<WaveFaultKind>),
}

impl Stop {
    /// An instruction that the hardware does not execute, and why.
    #[cold]
    pub(super) fn illegal(reason: impl Into<String>) -> Stop {
        Stop::Fault(Box::new(WaveFaultKind::IllegalInstruction(reason.into())))
    }

    /// Something that the hardware does and this core does not, or of which nothing is known.
    #[cold]
    pub(super) fn not_modelled(reason: impl Into<String>) -> Stop {
        Stop::Fault(Box::new(WaveFaultKind::NotModelled(reason.into())))
    }
}

impl From<MemoryFault> for Stop {
    #[cold]
    fn from(fault: MemoryFault) -> Stop {
        Stop::Fault(Box::new(match fault.reason {
            FaultReason::Misaligned => WaveFaultKind::MemoryViolation(fault),
            _ => WaveFaultKind::Memory(fault),
        }))
    }
}

/// What executing one instruction gives.
pub(super) type Step = Result<(), Stop>;

/// What a wave shares with others while it runs.
pub(super) struct Env<'a> {
    /// Its way to memory.
    pub(super) memory: &'a mut View,
    /// The LDS of its workgroup.
    pub(super) lds: &'a mut Lds,
    /// The dispatch.
    pub(super) launch: &'a super::Launch,
    /// The barriers of its workgroup.
    pub(super) barriers: &'a mut super::barrier::Barriers,
    /// The rest of the GPU.
    pub(super) outside: &'a dyn super::Outside,
    /// Whether the host has AVX2, FMA and F16C.
    pub(super) wide: bool,
    /// Set by instructions that drop the instruction cache.
    pub(super) invalidate_code: bool,
}

impl Env<'_> {
    /// Does to L2, when it keeps copies, what an instruction says: writes it back, then invalidates it.
    pub(super) fn act_on_cache(&self, write_back: bool, invalidate: bool) {
        if let Some(cache) = self.memory.space().cache() {
            if write_back {
                cache.write_back();
            }
            if invalidate {
                cache.invalidate();
            }
        }
    }
}

/// Where a wave is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Can execute.
    Running,
    /// Waits for the other waves of its workgroup.
    AtBarrier,
    /// Waits for the waves of its workgroup to signal the barrier; it may have been signalled since.
    AtSplitBarrier,
    /// Stands still until it is killed.
    Halted,
    /// Has executed `s_endpgm`.
    Ended,
}

/// One wave: program counter, registers, modes.
#[derive(Debug)]
pub(super) struct Wave {
    pub(super) pc: u64,
    /// All scalar registers by operand code; `null` (124) always reads 0.
    sgpr: [u32; SGPR_FILE],
    pub(super) scc: bool,
    /// `halves` rows a register, low lanes first.
    vgpr: Vec<Lines>,
    /// VGPRs allocated; accumulation VGPRs follow them in `vgpr`.
    vgprs: usize,
    /// What its generation does differently.
    pub(super) traits: &'static Traits,
    /// 1 for wave32, 2 for wave64.
    pub(super) halves: usize,
    pub(super) mode: Mode,
    pub(super) state: State,
    /// STATUS.PRIV: inside the trap handler, or started so by RSRC1.PRIV.
    pub(super) privileged: bool,
    /// STATUS.HALT, which has no effect while `privileged`.
    pub(super) halt: bool,
    /// TRAPSTS, EXCP_FLAG_PRIV: exceptions that happened.
    pub(super) trapsts: u32,
    /// EXCP_FLAG_USER, which programs may set; no arithmetic exception happens here.
    pub(super) exceptions: u32,
    /// TRAP_CTRL: exceptions that are to enter the trap handler.
    pub(super) trap_control: u32,
    /// Whether trap temporaries can be read without privilege.
    temporaries_readable: bool,
    /// Whether VGPRs are indexed (MODE.GPR_IDX_EN of gfx9).
    pub(super) indexes: bool,
    /// Number within its workgroup.
    pub(super) id: u32,
    /// What it waits for in global wave sync.
    pub(super) queued: Option<Queued>,
    /// The XCC it runs on.
    pub(super) xcc: u32,
    /// Where on the XCC.
    pub(super) unit: ComputeUnit,
    /// Where its scratch starts.
    pub(super) scratch: u64,
    /// Instructions executed (SHADER_CYCLES counts them).
    pub(super) executed: u64,
}

impl Wave {
    /// A wave with all registers zero.
    pub(super) fn new(wave32: bool, traits: &'static Traits, registers: Registers) -> Wave {
        let halves = if wave32 { 1 } else { 2 };
        Wave {
            pc: 0,
            sgpr: [0; SGPR_FILE],
            scc: false,
            vgpr: vec![Lines([0; LANES]); registers.all * halves],
            vgprs: registers.vgprs,
            traits,
            halves,
            mode: Mode::default(),
            state: State::Running,
            privileged: false,
            halt: false,
            trapsts: 0,
            exceptions: 0,
            trap_control: 0,
            indexes: false,
            temporaries_readable: false,
            id: 0,
            xcc: 0,
            queued: None,
            unit: ComputeUnit::default(),
            scratch: 0,
            executed: 0,
        }
    }

    /// Makes it as new, keeping the storage: `fill` in all registers but NULL and the trap temporaries.
    pub(super) fn reset(&mut self, fill: u32) {
        self.sgpr = [fill; SGPR_FILE];
        self.sgpr[usize::from(TTMP0)..=usize::from(NULL)].fill(0);
        self.scc = false;
        self.vgpr.fill(Lines([fill; LANES]));
        self.state = State::Running;
        self.privileged = false;
        self.halt = false;
        self.trapsts = 0;
        self.exceptions = 0;
        self.trap_control = 0;
        self.indexes = false;
        self.executed = 0;
        self.queued = None;
    }

    /// The number by which `row` has the register: accumulation VGPRs lie behind the others.
    #[inline(always)]
    pub(super) fn data_register(&self, register: u8, accumulation: bool) -> usize {
        usize::from(register) + if accumulation { self.vgprs } else { 0 }
    }

    /// The number by which `row` has a source or destination that is a vector register.
    pub(super) fn vector_register(&self, source: Src) -> Option<usize> {
        match (source.vgpr(), source.accumulator()) {
            (Some(register), _) => Some(usize::from(register)),
            (_, Some(register)) => Some(self.data_register(register, true)),
            _ => None,
        }
    }

    /// Where its scratch starts.
    pub(super) fn scratch_base(&self) -> u64 {
        match self.traits.flat_scratch {
            FlatScratch::Register | FlatScratch::RegisterSetByKernel => self.scratch,
            FlatScratch::SetByKernel | FlatScratch::SetByHardware => self.sgpr64(FLAT_SCRATCH),
        }
    }

    /// VGPRs allocated.
    pub(super) fn vgprs(&self) -> usize {
        self.vgprs
    }

    /// Lanes of the wave.
    pub(super) fn lanes(&self) -> usize {
        self.halves * LANES
    }

    /// Whether a scalar register reads as 0 and drops writes: `null`, and outside the trap handler its
    /// temporaries (RDNA3 ISA document, "Trap temporary SGPRs").
    #[inline(always)]
    fn is_void(&self, code: u8) -> bool {
        const TEMPORARIES: u8 = NULL - TTMP0;
        let from_first = code.wrapping_sub(TTMP0);
        from_first <= TEMPORARIES && (from_first == TEMPORARIES || !self.privileged)
    }

    /// Whether a scalar register reads as 0.
    #[inline(always)]
    fn reads_zero(&self, code: u8) -> bool {
        self.is_void(code) && (code == NULL || !self.temporaries_readable)
    }

    /// Puts what hardware does on gfx12 into trap temporaries: the workgroup's x in TTMP9, y and z in TTMP7, the
    /// wave's number in TTMP8 29:25.
    pub(super) fn set_architected_ids(&mut self, x: u32, yz: u32, number: u32) {
        self.temporaries_readable = true;
        self.sgpr[usize::from(TTMP0) + 7] = yz;
        self.sgpr[usize::from(TTMP0) + 8] = (number & 0x1f) << 25;
        self.sgpr[usize::from(TTMP0) + 9] = x;
    }

    /// All scalar registers by operand code.
    pub(super) fn scalars(&self) -> &[u32] {
        &self.sgpr[..128]
    }

    /// All rows of vector registers, `halves` a register.
    pub(super) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.vgpr.iter().map(|Lines(row)| row)
    }

    /// A scalar register by its code.
    #[inline(always)]
    pub(super) fn sgpr(&self, code: u8) -> u32 {
        if self.reads_zero(code) { 0 } else { self.sgpr[usize::from(code & 0x7f)] }
    }

    /// Sets a scalar register.
    #[inline(always)]
    pub(super) fn set_sgpr(&mut self, code: u8, value: u32) {
        if !self.is_void(code) {
            self.sgpr[usize::from(code & 0x7f)] = value;
        }
    }

    /// A pair of scalar registers.
    #[inline(always)]
    pub(super) fn sgpr64(&self, code: u8) -> u64 {
        if self.reads_zero(code) {
            return 0;
        }
        let at = usize::from(code & 0x7f);
        u64::from(self.sgpr[at]) | u64::from(self.sgpr[at + 1]) << 32
    }

    /// Sets a pair of scalar registers.
    #[inline(always)]
    pub(super) fn set_sgpr64(&mut self, code: u8, value: u64) {
        if !self.is_void(code) {
            let at = usize::from(code & 0x7f);
            self.sgpr[at] = value as u32;
            self.sgpr[at + 1] = (value >> 32) as u32;
        }
    }

    /// The mask of active lanes.
    #[inline(always)]
    pub(super) fn exec(&self) -> u64 {
        self.mask(EXEC)
    }

    /// Active lanes of one pass.
    #[inline(always)]
    pub(super) fn exec_half(&self, half: usize) -> u32 {
        self.sgpr[usize::from(EXEC) + half]
    }

    /// A lane mask in scalar registers: one register in wave32, two in wave64.
    #[inline(always)]
    pub(super) fn mask(&self, code: u8) -> u64 {
        if self.halves == 1 { u64::from(self.sgpr(code)) } else { self.sgpr64(code) }
    }

    /// Sets a lane mask.
    #[inline(always)]
    pub(super) fn set_mask(&mut self, code: u8, value: u64) {
        if self.halves == 1 {
            self.set_sgpr(code, value as u32);
        } else {
            self.set_sgpr64(code, value);
        }
    }

    /// A lane mask given as a source operand, which is always a register.
    #[inline]
    pub(super) fn source_mask(&self, source: Src) -> u64 {
        self.mask(source.0 as u8)
    }

    /// 32 bits of a source operand that is no VGPR; `constant` is its value when it is no register.
    #[inline(always)]
    pub(super) fn s32(&self, source: Src, constant: u64) -> u32 {
        match source.0 {
            code @ 0..=127 => self.sgpr(code as u8),
            251 => u32::from(self.mask(VCC) == 0),
            252 => u32::from(self.mask(EXEC) == 0),
            253 => u32::from(self.scc),
            _ => constant as u32,
        }
    }

    /// 64 bits of a source operand that is no VGPR; `constant` is its value when it is no register.
    #[inline(always)]
    pub(super) fn s64(&self, source: Src, constant: u64) -> u64 {
        match source.0 {
            code @ 0..=127 => self.sgpr64(code as u8),
            251 => u64::from(self.mask(VCC) == 0),
            252 => u64::from(self.mask(EXEC) == 0),
            253 => u64::from(self.scc),
            _ => constant,
        }
    }

    /// A vector register of one pass.
    ///
    /// # Panics
    /// When the register is not allocated; `Code` refuses such instructions.
    #[inline(always)]
    pub(super) fn row(&self, register: usize, half: usize) -> &Row {
        &self.vgpr[register * self.halves + half].0
    }

    /// A vector register of one pass, to write.
    #[inline(always)]
    pub(super) fn row_mut(&mut self, register: usize, half: usize) -> &mut Row {
        &mut self.vgpr[register * self.halves + half].0
    }

    /// One lane of a vector register.
    #[inline]
    pub(super) fn lane(&self, register: usize, lane: usize) -> u32 {
        self.row(register, lane / LANES)[lane % LANES]
    }

    /// Sets one lane of a vector register.
    #[inline]
    pub(super) fn set_lane(&mut self, register: usize, lane: usize, value: u32) {
        self.row_mut(register, lane / LANES)[lane % LANES] = value;
    }

    /// Writes the lanes of `mask`.
    #[inline(always)]
    pub(super) fn write(&mut self, register: usize, half: usize, mask: u32, values: &Row) {
        let row = self.row_mut(register, half);
        if mask == u32::MAX {
            *row = *values;
        } else {
            // All ones in active lanes.
            let active: Row = lanes!(|lane| ((mask << (31 - lane)) as i32 >> 31) as u32);
            *row = lanes!(|lane| row[lane] & !active[lane] | values[lane] & active[lane]);
        }
    }
}
