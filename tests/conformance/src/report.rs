//! What came of the cases.

use crate::Case;
use std::fmt;

/// What came of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// What was asked holds.
    Pass,
    /// It does not: what was seen.
    Fail(String),
    /// The GPU, its kernel or its context has no such thing: why.
    NotApplicable(String),
}

/// A case's end: an error is any outcome but a pass.
pub type Result<T = ()> = std::result::Result<T, Outcome>;

impl Outcome {
    /// A failure.
    pub(crate) fn fail(what: impl Into<String>) -> Outcome {
        Outcome::Fail(what.into())
    }
}

impl From<kfd::Error> for Outcome {
    fn from(error: kfd::Error) -> Outcome {
        Outcome::Fail(error.to_string())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Pass => f.write_str("pass"),
            Outcome::Fail(what) => write!(f, "FAIL: {what}"),
            Outcome::NotApplicable(why) => write!(f, "not applicable: {why}"),
        }
    }
}

/// Fails unless both are equal, saying what they are.
pub(crate) fn equal<T: PartialEq + fmt::Debug>(what: &str, got: T, expected: T) -> Result {
    if got == expected {
        return Ok(());
    }
    Err(Outcome::fail(format!("{what} is {got:x?}, expected {expected:x?}")))
}

/// All outcomes, in the order of the cases.
#[derive(Clone, Debug)]
pub struct Report {
    /// Each case with what came of it.
    pub outcomes: Vec<(Case, Outcome)>,
}

impl Report {
    /// The cases that failed.
    pub fn failures(&self) -> impl Iterator<Item = &(Case, Outcome)> {
        self.outcomes.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Fail(_)))
    }

    /// How many passed, failed, and were not applicable.
    pub fn counts(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        for (_, outcome) in &self.outcomes {
            counts[match outcome {
                Outcome::Pass => 0,
                Outcome::Fail(_) => 1,
                Outcome::NotApplicable(_) => 2,
            }] += 1;
        }
        counts
    }
}

/// One line a case, then the counts.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (case, outcome) in &self.outcomes {
            writeln!(f, "{}: {outcome}", case.id)?;
        }
        let [passed, failed, other] = self.counts();
        write!(f, "{passed} passed, {failed} failed, {other} not applicable")
    }
}
