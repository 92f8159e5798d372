//! The cases, by what they are about.

mod aql_errors;
mod aql_kernels;
mod aql_packets;
mod debugger;
mod events;
mod lifecycle;
mod management;
mod memory;
mod peer;
mod pm4_dispatch;
mod pm4_packets;
mod recipes;
mod sdma_packets;
mod sharing;
mod user_memory;
mod waves;

use crate::{Case, Result, Subject};

/// All cases.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    [
        memory::CASES,
        events::CASES,
        lifecycle::CASES,
        aql_packets::CASES,
        aql_kernels::CASES,
        waves::CASES,
        aql_errors::CASES,
        pm4_packets::CASES,
        pm4_dispatch::CASES,
        sdma_packets::CASES,
        peer::CASES,
        recipes::CASES,
        sharing::CASES,
        user_memory::CASES,
        management::CASES,
        debugger::CASES,
    ]
    .into_iter()
    .flatten()
}

const fn case(id: &'static str, claim: &'static str, run: fn(&Subject) -> Result) -> Case {
    Case { id, claim, faults: false, primary: false, run }
}

const fn faulting(id: &'static str, claim: &'static str, run: fn(&Subject) -> Result) -> Case {
    Case { id, claim, faults: true, primary: false, run }
}

const fn primary(id: &'static str, claim: &'static str, run: fn(&Subject) -> Result) -> Case {
    Case { id, claim, faults: false, primary: true, run }
}

/// Arguments in a kernel's order, each as its bytes.
macro_rules! arguments {
    ($($value:expr),*) => {
        [$(&$value.to_le_bytes()[..]),*].concat()
    };
}
use arguments;
