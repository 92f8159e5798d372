//! The variables by which `simrun` tells the library, and so every process below it, what machine it is.

/// The machine, as `selvedge_sim::Machine::described` reads it.
pub(crate) const MACHINE: &str = "SELVEDGE_SIM_MACHINE";
/// Minor number of the KFD's version.
pub(crate) const KFD_MINOR: &str = "SELVEDGE_SIM_KERNEL";
/// The folder that holds the machine's sysfs and /dev.
pub(crate) const TREE: &str = "SELVEDGE_SIM_TREE";
/// The file to write the record of calls to.
pub(crate) const LOG: &str = "SELVEDGE_SIM_LOG";

/// The socket in the folder at which the keeper of the machine's board listens.
pub(crate) const BOARD: &str = ".board";

/// Set when the record is one that can be run again.
pub(crate) const RECORD: &str = "SELVEDGE_SIM_RECORD";

/// The machine that a line of text and a minor number describe.
pub(crate) fn machine(
    description: &str,
    kfd_minor: u32,
) -> Result<selvedge_sim::Builder, selvedge_sim::MachineError> {
    selvedge_sim::Machine::described(description)?.kfd_minor(kfd_minor)
}
