//! What watches waves for whoever looks for a fault: the trace, the counts, the watchdog, the checks.
//!
//! All of it is off by default, and then costs nothing: waves run in a loop of their own. A dispatch that something
//! looks at runs on one thread; the watchdog alone does not change that.

use super::access::{self, Accesses};
use super::check::Checker;
use super::code::Op;
use super::count::Counts;
use super::finding::KernelAt;
use super::launch::Group;
use super::trace::{Trace, Tracer};
use super::wave::Wave;
use super::{Launch, Outside};
use crate::cp::{Conductor, PacketListener};
use amdgpu_isa::Target;
use std::io::{self, Write};
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

/// The variable that sets the watchdog: how many instructions a wave may execute.
pub const WATCHDOG_VARIABLE: &str = "SELVEDGE_SIM_WATCHDOG";

/// The variable that asks for checks: `races`, `uninitialised`, or both with a comma between.
pub const CHECK_VARIABLE: &str = "SELVEDGE_SIM_CHECK";

/// Which wrong programs are told of that hardware runs without a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Accesses of two waves to the same bytes with no order between them.
    pub races: bool,
    /// Uses of registers and LDS that nothing has set.
    pub uninitialised: bool,
}

impl Checks {
    /// All there are.
    pub const ALL: Checks = Checks { races: true, uninitialised: true };

    /// Whether there are any.
    pub fn any(self) -> bool {
        self != Checks::default()
    }
}

impl FromStr for Checks {
    type Err = String;

    /// Names with commas between them.
    fn from_str(text: &str) -> Result<Checks, String> {
        let mut checks = Checks::default();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match name {
                "races" => checks.races = true,
                "uninitialised" => checks.uninitialised = true,
                _ => {
                    return Err(format!(
                        "no check is called {name:?}; there are races, uninitialised"
                    ));
                }
            }
        }
        Ok(checks)
    }
}

/// What looks at the waves of a machine.
#[derive(Clone, Debug, Default)]
pub struct Inspection {
    /// Where every instruction is written down.
    pub trace: Option<Arc<Trace>>,
    /// How many instructions a wave may execute before it counts as one that never ends. Then waves that wait at a
    /// barrier which none can complete are found, too.
    pub watchdog: Option<u64>,
    /// Which checks are made.
    pub checks: Checks,
    /// Whether instructions and memory accesses are counted, of each kernel.
    pub counts: bool,
    /// Who hears of the packets that queues take. It changes nothing of how they are processed.
    pub packets: Option<Arc<dyn PacketListener>>,
    /// Who says which queue may work; all may at once when there is none.
    pub conductor: Option<Arc<dyn Conductor>>,
}

impl Inspection {
    /// What the environment asks for, read once: [`TRACE_VARIABLE`](super::TRACE_VARIABLE), [`WATCHDOG_VARIABLE`],
    /// [`CHECK_VARIABLE`]. What cannot be understood is told on standard error and left out.
    pub fn asked_for() -> &'static Inspection {
        static ASKED: OnceLock<Inspection> = OnceLock::new();
        ASKED.get_or_init(|| {
            let trace = Trace::asked_for().map(Arc::new);
            let watchdog = variable(WATCHDOG_VARIABLE, |text| {
                text.parse().map_err(|_| String::from("not a number of instructions"))
            });
            let checks = variable(CHECK_VARIABLE, str::parse).unwrap_or_default();
            let counts = trace.is_some();
            Inspection { counts, trace, watchdog, checks, packets: None, conductor: None }
        })
    }

    /// All who hear of packets: the trace has them, too.
    pub(crate) fn listeners(&self) -> Vec<Arc<dyn PacketListener>> {
        let trace = self.trace.clone().map(|trace| trace as Arc<dyn PacketListener>);
        trace.into_iter().chain(self.packets.clone()).collect()
    }

    /// Whether anything is looked at.
    pub(crate) fn is_any(&self) -> bool {
        self.looks() || self.watchdog.is_some()
    }

    /// Whether every instruction is looked at.
    pub(super) fn looks(&self) -> bool {
        self.trace.is_some() || self.checks.any() || self.counts
    }
}

/// What a variable says, when it is set and can be understood.
pub(crate) fn variable<T>(name: &str, parse: impl Fn(&str) -> Result<T, String>) -> Option<T> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
    let parsed = value.to_str().ok_or_else(|| String::from("not UTF-8")).and_then(parse);
    parsed.map_err(|error| tell(&format!("{name}={}: {error}", value.display()))).ok()
}

/// Standard error is told, if it listens.
pub(super) fn tell(text: &str) {
    let _ = writeln!(io::stderr(), "selvedge-sim: {text}");
}

/// Looks at each instruction of a wave.
pub(super) trait Watch {
    /// It is about to be executed.
    fn before(&mut self, wave: &Wave, pc: u64, op: &Op);
    /// It was executed; `pc` is its address. One that faulted was not, nor one that waits to be executed again.
    fn after(&mut self, wave: &Wave, pc: u64, op: &Op);
}

/// Nobody looks.
impl Watch for () {
    #[inline(always)]
    fn before(&mut self, _: &Wave, _: u64, _: &Op) {}
    #[inline(always)]
    fn after(&mut self, _: &Wave, _: u64, _: &Op) {}
}

/// Which dispatch an inspector looks at.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) target: Target,
    pub(super) launch: &'a Launch,
    pub(super) outside: &'a dyn Outside,
}

impl Subject<'_> {
    /// Which kernel it runs.
    pub(super) fn kernel(&self) -> KernelAt {
        let (process, gpu) = (self.outside.process(), self.outside.gpu());
        KernelAt { process, gpu, address: self.launch.program }
    }
}

/// What looks at one dispatch.
pub(super) struct Inspector<'a> {
    subject: Subject<'a>,
    tracer: Option<Tracer<'a>>,
    checker: Option<Checker<'a>>,
    counts: Option<Counts>,
    /// What the instruction accesses.
    accesses: Accesses,
    /// Lanes that were active as it began.
    lanes: u32,
}

impl<'a> Inspector<'a> {
    pub(super) fn new(inspection: &'a Inspection, subject: Subject<'a>) -> Inspector<'a> {
        Inspector {
            subject,
            tracer: inspection.trace.as_deref().map(|trace| Tracer::new(trace, subject)),
            checker: inspection.checks.any().then(|| Checker::new(inspection.checks, subject)),
            counts: inspection.counts.then(Counts::default),
            accesses: Accesses::default(),
            lanes: 0,
        }
    }

    /// The next instructions are of a wave of this workgroup.
    pub(super) fn turn_to(&mut self, number: u64, group: Group) {
        if let Some(tracer) = &mut self.tracer {
            tracer.workgroup = group.id;
        }
        if let Some(checker) = &mut self.checker {
            checker.turn_to(number, group);
        }
    }

    /// The wave stops for now: what was written goes out, so that a process that is killed leaves it behind.
    pub(super) fn flush(&self) {
        if let Some(tracer) = &self.tracer {
            tracer.flush();
        }
    }

    /// All waves of a workgroup have ended.
    pub(super) fn group_ended(&mut self, number: u64) {
        if let Some(checker) = &mut self.checker {
            checker.group_ended(number);
        }
    }
}

impl Watch for Inspector<'_> {
    fn before(&mut self, wave: &Wave, pc: u64, op: &Op) {
        if let Some(tracer) = &mut self.tracer {
            tracer.before(wave);
        }
        if self.checker.is_none() && self.counts.is_none() {
            return;
        }
        access::collect(wave, op, self.subject.launch, &mut self.accesses);
        self.lanes = wave.exec().count_ones();
        if let Some(checker) = &mut self.checker {
            checker.before(wave, pc, op, &self.accesses);
        }
    }

    fn after(&mut self, wave: &Wave, pc: u64, op: &Op) {
        if let Some(tracer) = &mut self.tracer {
            tracer.after(wave, pc, op);
        }
        if let Some(checker) = &mut self.checker {
            checker.after(wave, op);
        }
        if let Some(counts) = &mut self.counts {
            counts.count(op.instruction.opcode, self.lanes, &self.accesses);
        }
    }
}

/// The counts, as the dispatch ends.
impl Drop for Inspector<'_> {
    fn drop(&mut self) {
        let Some(counts) = &self.counts else { return };
        if let Some(tracer) = &self.tracer {
            tracer.summarise(counts);
        }
        self.subject.outside.counted(self.subject.kernel(), counts);
    }
}

#[cfg(test)]
mod tests {
    use super::Checks;

    #[test]
    fn checks_are_named() {
        assert_eq!("races, uninitialised".parse(), Ok(Checks::ALL));
        assert_eq!("".parse(), Ok(Checks::default()));
        assert_eq!("races".parse(), Ok(Checks { races: true, uninitialised: false }));
        let error = "race".parse::<Checks>().unwrap_err();
        assert_eq!(error, "no check is called \"race\"; there are races, uninitialised");
    }
}
