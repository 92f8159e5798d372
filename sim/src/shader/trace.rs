//! What waves do, instruction by instruction, for whoever looks for a fault.

use super::code::Op;
use super::wave::{LANES, Row, Wave};
use amdgpu_isa::{Instruction, Target, disassemble};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter, Write as _};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The variable that names the file that traces go to; `-` is standard error.
pub const VARIABLE: &str = "SELVEDGE_SIM_TRACE";

/// Where a trace goes: a line for each instruction that a wave executes, with the registers that it changed, and at the
/// end of a dispatch how often each was executed. Traced dispatches run on one thread.
///
/// ```text
/// [0, 0, 0] wave 0 0x100000001c: v_add_nc_u32_e32 v1, v0, v2 | v1[0]=0x5 v1[1]=0x6
/// ```
pub struct Trace {
    out: Mutex<Box<dyn Write + Send>>,
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Trace")
    }
}

impl Trace {
    /// A trace that goes to a writer. What it refuses is lost.
    pub fn new(out: impl Write + Send + 'static) -> Trace {
        Trace { out: Mutex::new(Box::new(out)) }
    }

    /// The trace that [`VARIABLE`] asks for. When its file cannot be made, standard error is told and there is none.
    pub(super) fn asked_for() -> Option<&'static Trace> {
        static TRACE: OnceLock<Option<Trace>> = OnceLock::new();
        let open = || {
            let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty())?;
            if path == "-" {
                return Some(Trace::new(io::stderr()));
            }
            match File::create(&path) {
                Ok(file) => Some(Trace::new(BufWriter::new(file))),
                Err(error) => {
                    let path = path.display();
                    let _ = writeln!(
                        io::stderr(),
                        "selvedge-sim: no trace: {VARIABLE}={path}: {error}"
                    );
                    None
                }
            }
        };
        TRACE.get_or_init(open).as_ref()
    }

    fn write(&self, text: &str, flush: bool) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = out.write_all(text.as_bytes());
        if flush {
            let _ = out.flush();
        }
    }
}

/// Looks at each instruction of a wave.
pub(super) trait Watch {
    /// It is about to be executed.
    fn before(&mut self, wave: &Wave);
    /// It was executed; `pc` is its address.
    fn after(&mut self, wave: &Wave, pc: u64, op: &Op);
}

/// Nobody looks.
impl Watch for () {
    #[inline(always)]
    fn before(&mut self, _: &Wave) {}
    #[inline(always)]
    fn after(&mut self, _: &Wave, _: u64, _: &Op) {}
}

/// The trace of one dispatch.
pub(super) struct Tracer<'a> {
    trace: &'a Trace,
    target: Target,
    wave32: bool,
    /// The workgroup whose wave is looked at.
    pub(super) workgroup: [u32; 3],
    scalars: Vec<u32>,
    rows: Vec<Row>,
    scc: bool,
    active: u32,
    /// Times and lanes of each operation.
    counts: BTreeMap<&'static str, (u64, u64)>,
    text: String,
}

impl<'a> Tracer<'a> {
    pub(super) fn new(trace: &'a Trace, target: Target, wave32: bool) -> Tracer<'a> {
        Tracer {
            trace,
            target,
            wave32,
            workgroup: [0; 3],
            scalars: Vec::new(),
            rows: Vec::new(),
            scc: false,
            active: 0,
            counts: BTreeMap::new(),
            text: String::new(),
        }
    }

    /// What was written goes out, so that a process that is killed leaves it behind.
    pub(super) fn flush(&self) {
        self.trace.write("", true);
    }

    fn line(&mut self, wave: &Wave, pc: u64, instruction: &Instruction) -> fmt::Result {
        let text = disassemble(instruction, self.target, self.wave32);
        write!(self.text, "{:?} wave {} {pc:#x}: {text} |", self.workgroup, wave.id)?;
        for (code, (new, old)) in wave.scalars().iter().zip(&self.scalars).enumerate() {
            if new != old {
                write!(self.text, " {}={new:#x}", Scalar(code))?;
            }
        }
        if wave.scc != self.scc {
            write!(self.text, " scc={}", u32::from(wave.scc))?;
        }
        for (index, (new, old)) in wave.rows().zip(&self.rows).enumerate() {
            if new == old {
                continue;
            }
            let (register, first) = (index / wave.halves, index % wave.halves * LANES);
            let (file, register) = match register.checked_sub(wave.vgprs()) {
                Some(accumulator) => ('a', accumulator),
                None => ('v', register),
            };
            for (lane, (new, old)) in new.iter().zip(old).enumerate() {
                if new != old {
                    write!(self.text, " {file}{register}[{}]={new:#x}", first + lane)?;
                }
            }
        }
        self.text.push('\n');
        Ok(())
    }
}

impl Watch for Tracer<'_> {
    fn before(&mut self, wave: &Wave) {
        self.scalars.clear();
        self.scalars.extend_from_slice(wave.scalars());
        self.rows.clear();
        self.rows.extend(wave.rows());
        self.scc = wave.scc;
        self.active = wave.exec().count_ones();
    }

    fn after(&mut self, wave: &Wave, pc: u64, op: &Op) {
        let (times, lanes) = self.counts.entry(op.instruction.opcode.name()).or_default();
        *times += 1;
        *lanes += u64::from(self.active);
        self.text.clear();
        if self.line(wave, pc, &op.instruction).is_ok() {
            self.trace.write(&self.text, false);
        }
    }
}

/// The counts, as the dispatch ends.
impl Drop for Tracer<'_> {
    fn drop(&mut self) {
        let mut text = String::from("# times, lanes, operation\n");
        for (name, (times, lanes)) in &self.counts {
            let _ = writeln!(text, "# {times} {lanes} {}", name.to_ascii_lowercase());
        }
        self.trace.write(&text, true);
    }
}

/// A scalar register by its operand code.
struct Scalar(usize);

impl Display for Scalar {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            code @ 0..=105 => write!(f, "s{code}"),
            106 => f.write_str("vcc_lo"),
            107 => f.write_str("vcc_hi"),
            code @ 108..=123 => write!(f, "ttmp{}", code - 108),
            125 => f.write_str("m0"),
            126 => f.write_str("exec_lo"),
            127 => f.write_str("exec_hi"),
            code => write!(f, "scalar {code}"),
        }
    }
}
