//! Machines in a line of text, faulty ones among them.

use crate::machine::{Builder, Machine, MachineError};
use crate::profile::{self, Board};
use std::fmt;

/// Something about a machine that is not as it should be, or not as it mostly is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition {
    /// The host sees 256 MiB of the GPU's memory: no resizable BAR.
    SmallBar,
    /// The GPU's firmware is missing: the driver gives it up, and it is a PCI device and nothing else.
    NoFirmware,
    /// The topology does not say the sizes of context save areas, as before the stable kernels of December 2025.
    NoSaveArea,
    /// Processes may open neither `/dev/kfd` nor render nodes, as without the groups `render` and `video`.
    NoPermission,
    /// Processes may not open `/dev/kfd`.
    NoKfdPermission,
    /// Processes may not open render nodes.
    NoRenderPermission,
    /// amdgpu is not loaded.
    NoDriver,
    /// GPUs do not reach each other's memory over PCIe.
    NoPeers,
    /// There are two CPU nodes; GPUs are dealt out to them.
    TwoCpus,
}

impl Condition {
    /// What the host sees of a GPU's memory without resizable BAR, bytes.
    pub(crate) const SMALL_BAR: u64 = 256 << 20;

    /// All, with their names.
    pub const ALL: [(&'static str, Condition); 9] = [
        ("small-bar", Condition::SmallBar),
        ("no-firmware", Condition::NoFirmware),
        ("no-cwsr-fields", Condition::NoSaveArea),
        ("no-permission", Condition::NoPermission),
        ("no-kfd-permission", Condition::NoKfdPermission),
        ("no-render-permission", Condition::NoRenderPermission),
        ("no-driver", Condition::NoDriver),
        ("no-p2p", Condition::NoPeers),
        ("two-cpus", Condition::TwoCpus),
    ];

    fn named(name: &str) -> Option<Condition> {
        Condition::ALL.iter().find(|known| known.0 == name).map(|known| known.1)
    }

    /// Whether it concerns one GPU, not the machine.
    pub fn is_of_gpu(self) -> bool {
        matches!(self, Condition::SmallBar | Condition::NoFirmware)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Condition::ALL.iter().find(|known| known.1 == *self);
        f.write_str(known.map_or("", |known| known.0))
    }
}

/// The GPU of a machine for which none is named.
const DEFAULT: &str = "gfx1151";

impl Machine {
    /// Starts to describe the machine that a line of text names: GPUs with commas between, each with conditions after
    /// `+`, as in `gfx90a,gfx90a` or `gfx1151,gfx1100+small-bar`. A condition of the machine may stand at any GPU; one that
    /// stands by itself concerns all. `none` is no GPU; a line that names no GPU means gfx1151. A line with a slash is the
    /// folder of a recorded topology.
    ///
    /// # Errors
    /// [`MachineError::Description`] for a name that there is not, with those there are; those of
    /// [`recorded`](Machine::recorded).
    pub fn described(text: &str) -> Result<Builder, MachineError> {
        if text.contains('/') {
            return Machine::recorded(text.as_ref());
        }
        let mut gpus: Vec<(Board, Vec<Condition>)> = Vec::new();
        let mut of_all = Vec::new();
        let mut is_empty = false;
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let unknown = |name: &str| MachineError::Description {
                text: text.to_owned(),
                name: name.to_owned(),
            };
            let mut names = part.split('+');
            let first = names.next().unwrap_or_default();
            let conditions = |names: std::str::Split<'_, char>| {
                names
                    .map(|name| Condition::named(name).ok_or_else(|| unknown(name)))
                    .collect::<Result<Vec<_>, _>>()
            };
            if let Some(board) = profile::by_name(first) {
                let (own, machine): (Vec<_>, Vec<_>) =
                    conditions(names)?.into_iter().partition(|condition| condition.is_of_gpu());
                gpus.push((board, own));
                of_all.extend(machine);
            } else if first == "none" {
                is_empty = true;
                of_all.extend(conditions(names)?);
            } else {
                of_all.push(Condition::named(first).ok_or_else(|| unknown(first))?);
                of_all.extend(conditions(names)?);
            }
        }
        if gpus.is_empty() && !is_empty {
            gpus.extend(profile::by_name(DEFAULT).map(|board| (board, Vec::new())));
        }
        let (of_gpus, of_machine): (Vec<_>, Vec<_>) =
            of_all.into_iter().partition(|condition| condition.is_of_gpu());
        let mut builder = Machine::builder();
        for (mut board, mut conditions) in gpus {
            conditions.extend(&of_gpus);
            if conditions.contains(&Condition::SmallBar) {
                board.bar_bytes = Some(Condition::SMALL_BAR);
            }
            builder = if conditions.contains(&Condition::NoFirmware) {
                builder.board_without_firmware(board)
            } else {
                builder.board(board)
            };
        }
        Ok(of_machine.into_iter().fold(builder, Builder::condition))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for (name, condition) in Condition::ALL {
            assert_eq!(condition.to_string(), name);
            assert_eq!(Condition::named(name), Some(condition));
        }
    }

    #[test]
    fn unknown_names_are_told_with_those_there_are() {
        for (text, name) in [("gfx1151+small", "small"), ("gfx999", "gfx999"), ("gfx1151,+", "")] {
            let error = Machine::described(text).unwrap_err().to_string();
            assert!(error.contains(&format!("{name:?} is")), "{error}");
            assert!(error.contains("gfx1103") && error.contains("no-cwsr-fields"), "{error}");
        }
    }
}
