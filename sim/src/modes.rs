//! How honest the machine is, as the environment asks for it.

use crate::memory::Caches;
use crate::shader::variable;
use std::sync::OnceLock;

/// The variable that names what caches do: `stale`, or `transparent`, the default.
pub(crate) const CACHES_VARIABLE: &str = "SELVEDGE_SIM_CACHES";

/// What [`CACHES_VARIABLE`] asks for, read once. What cannot be understood is told on standard error and left out.
pub(crate) fn caches() -> Caches {
    static ASKED: OnceLock<Caches> = OnceLock::new();
    *ASKED.get_or_init(|| variable(CACHES_VARIABLE, str::parse).unwrap_or_default())
}
