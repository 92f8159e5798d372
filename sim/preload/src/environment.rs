//! The variables by which `simrun` tells the library, and so every process below it, what machine it is.

/// The names of the boards, separated by commas; `none` for a machine without a GPU.
pub(crate) const MACHINE: &str = "SELVEDGE_SIM_MACHINE";
/// Minor number of the KFD's version.
pub(crate) const KFD_MINOR: &str = "SELVEDGE_SIM_KERNEL";
/// The folder that holds the machine's sysfs and /dev.
pub(crate) const TREE: &str = "SELVEDGE_SIM_TREE";
/// The file to write the record of calls to.
pub(crate) const LOG: &str = "SELVEDGE_SIM_LOG";

/// The machine that the names of boards and a minor number describe.
pub(crate) fn machine(
    boards: &str,
    kfd_minor: u32,
) -> Result<selvedge_sim::Builder, selvedge_sim::MachineError> {
    let mut builder = selvedge_sim::Machine::builder().kfd_minor(kfd_minor)?;
    for name in boards.split(',').filter(|&name| !name.is_empty() && name != "none") {
        builder = builder.gpu(name)?;
    }
    Ok(builder)
}
