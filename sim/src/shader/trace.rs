//! What waves do, instruction by instruction, for whoever looks for a fault.

use super::code::Op;
use super::count::Counts;
use super::inspect::{Subject, tell};
use super::wave::{LANES, Row, Wave};
use crate::cp::{PacketListener, TakenPacket};
use amdgpu_isa::{Instruction, disassemble};
use std::fmt::{self, Display, Formatter, Write as _};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::{Mutex, PoisonError};

/// The variable that names the file that traces go to; `-` is standard error.
pub const VARIABLE: &str = "SELVEDGE_SIM_TRACE";

/// Where a trace goes: a line for each instruction that a wave executes, with the registers that it changed, and at the
/// end of a dispatch how often each was executed and what memory was accessed. Traced dispatches run on one thread.
///
/// Each packet that a queue takes is a line, too ([`TakenPacket`]). A dispatch begins with a line that says where its
/// kernel is; others name the queue (the KFD's id), the dispatch (the index of its packet), workgroup and wave:
///
/// ```text
/// # process 0 GPU 0 queue 0 AQL 2 at 0x7f0000000080: 00011502 ... | KERNEL_DISPATCH ...
/// # queue 0 packet 2: kernel at 0x1000000000, grid [64, 1, 1], workgroup [32, 1, 1]
/// 0.2 [0, 0, 0] wave 0 0x100000001c: v_add_nc_u32_e32 v1, v0, v2 | v1[0]=0x5 v1[1]=0x6
/// ```
pub struct Trace {
    out: Mutex<Out>,
}

struct Out {
    writer: Box<dyn Write + Send>,
    /// Why the writer refused something, first.
    error: Option<io::Error>,
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Trace")
    }
}

impl Trace {
    /// A trace that goes to a writer. When that refuses something, standard error is told once, and what follows may have
    /// gaps; see [`error`](Trace::error).
    pub fn new(out: impl Write + Send + 'static) -> Trace {
        Trace { out: Mutex::new(Out { writer: Box::new(out), error: None }) }
    }

    /// The first error of the writer: the trace is not whole then.
    pub fn error(&self) -> Option<String> {
        let out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.error.as_ref().map(ToString::to_string)
    }

    /// The trace that [`VARIABLE`] asks for. When its file cannot be made, standard error is told and there is none.
    pub(super) fn asked_for() -> Option<Trace> {
        let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty())?;
        if path == "-" {
            return Some(Trace::new(io::stderr()));
        }
        match File::create(&path) {
            Ok(file) => Some(Trace::new(BufWriter::new(file))),
            Err(error) => {
                tell(&format!("no trace: {VARIABLE}={}: {error}", path.display()));
                None
            }
        }
    }

    fn write(&self, text: &str, flush: bool) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let mut result = out.writer.write_all(text.as_bytes());
        if flush && result.is_ok() {
            result = out.writer.flush();
        }
        if let Err(error) = result
            && out.error.is_none()
        {
            tell(&format!("the trace is not whole: {error}"));
            out.error = Some(error);
        }
    }
}

impl PacketListener for Trace {
    fn taken(&self, packet: &TakenPacket<'_>) {
        self.write(&format!("# {packet}\n"), true);
    }
}

/// The trace of one dispatch.
pub(super) struct Tracer<'a> {
    trace: &'a Trace,
    subject: Subject<'a>,
    /// The workgroup whose wave is looked at.
    pub(super) workgroup: [u32; 3],
    scalars: Vec<u32>,
    rows: Vec<Row>,
    scc: bool,
    text: String,
}

impl<'a> Tracer<'a> {
    pub(super) fn new(trace: &'a Trace, subject: Subject<'a>) -> Tracer<'a> {
        let Subject { launch, outside, .. } = subject;
        let text = format!(
            "# queue {} packet {}: kernel at {:#x}, grid {:?}, workgroup {:?}\n",
            outside.queue(),
            outside.packet(),
            launch.program,
            launch.grid,
            launch.workgroup
        );
        trace.write(&text, false);
        Tracer {
            trace,
            subject,
            workgroup: [0; 3],
            scalars: Vec::new(),
            rows: Vec::new(),
            scc: false,
            text,
        }
    }

    /// What was written goes out, so that a process that is killed leaves it behind.
    pub(super) fn flush(&self) {
        self.trace.write("", true);
    }

    /// What was counted, as the dispatch ends.
    pub(super) fn summarise(&self, counts: &Counts) {
        self.trace.write(&counts.to_string(), true);
    }

    fn line(&mut self, wave: &Wave, pc: u64, instruction: &Instruction) -> fmt::Result {
        let Subject { target, launch, outside } = self.subject;
        let text = disassemble(instruction, target, launch.wave32);
        let (queue, packet, workgroup) = (outside.queue(), outside.packet(), self.workgroup);
        write!(self.text, "{queue}.{packet} {workgroup:?} wave {} {pc:#x}: {text} |", wave.id)?;
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

impl Tracer<'_> {
    /// An instruction is about to be executed.
    pub(super) fn before(&mut self, wave: &Wave) {
        self.scalars.clear();
        self.scalars.extend_from_slice(wave.scalars());
        self.rows.clear();
        self.rows.extend(wave.rows());
        self.scc = wave.scc;
    }

    /// The instruction at `pc` was executed.
    pub(super) fn after(&mut self, wave: &Wave, pc: u64, op: &Op) {
        self.text.clear();
        if self.line(wave, pc, &op.instruction).is_ok() {
            self.trace.write(&self.text, false);
        }
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
