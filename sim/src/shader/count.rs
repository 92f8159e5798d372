//! Counts of instructions and of memory accesses.

use super::access::Accesses;
use super::finding::{AccessKind, Space};
use amdgpu_isa::Opcode;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// Counts of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Wave instructions.
    pub instructions: u64,
    /// Active lanes, summed.
    pub lanes: u64,
}

/// Counts of memory accesses of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Wave instructions.
    pub instructions: u64,
    /// Accesses of lanes; an instruction with two addresses makes two in each.
    pub accesses: u64,
    /// Bytes of all lanes, as if none shared any.
    pub bytes: u64,
}

/// What waves of a kernel did, summed over dispatches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// By operation: gfx11's name in upper case, as in the `Opcode` of `amdgpu-isa`.
    pub operations: BTreeMap<&'static str, Times>,
    /// Of the vector memory instructions, by where they went; scalar loads are in `scalar`.
    pub memory: BTreeMap<(Space, AccessKind), Traffic>,
    /// Of the scalar memory instructions.
    pub scalar: BTreeMap<AccessKind, Traffic>,
}

impl Counts {
    pub(super) fn count(&mut self, opcode: Opcode, lanes: u32, accesses: &Accesses) {
        let times = self.operations.entry(opcode.name()).or_default();
        times.instructions += 1;
        times.lanes += u64::from(lanes);
        for (kind, list) in accesses.parts() {
            let mut of = |space: Option<Space>| {
                let list = list.iter().filter(|one| space.is_none_or(|s| s == one.space));
                let (mut count, mut bytes) = (0, 0);
                for one in list {
                    count += 1;
                    bytes += u64::from(one.bytes);
                }
                if count == 0 {
                    return;
                }
                let traffic = match space {
                    None => self.scalar.entry(kind).or_default(),
                    Some(space) => self.memory.entry((space, kind)).or_default(),
                };
                traffic.instructions += 1;
                traffic.accesses += count;
                traffic.bytes += bytes;
            };
            if accesses.scalar {
                of(None);
            } else {
                [Space::Global, Space::Lds, Space::Scratch].into_iter().for_each(|s| of(Some(s)));
            }
        }
    }

    /// Adds others to them.
    pub(crate) fn add(&mut self, other: &Counts) {
        fn sum(to: &mut Traffic, from: &Traffic) {
            to.instructions += from.instructions;
            to.accesses += from.accesses;
            to.bytes += from.bytes;
        }
        for (name, times) in &other.operations {
            let to = self.operations.entry(name).or_default();
            to.instructions += times.instructions;
            to.lanes += times.lanes;
        }
        for (kind, traffic) in &other.memory {
            sum(self.memory.entry(*kind).or_default(), traffic);
        }
        for (kind, traffic) in &other.scalar {
            sum(self.scalar.entry(*kind).or_default(), traffic);
        }
    }
}

/// A table of lines that begin with `#`.
impl Display for Counts {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "# times, lanes, operation")?;
        for (name, Times { instructions, lanes }) in &self.operations {
            writeln!(f, "# {instructions} {lanes} {}", name.to_ascii_lowercase())?;
        }
        writeln!(f, "# times, accesses, bytes, kind")?;
        let line = |f: &mut Formatter<'_>, traffic: &Traffic, place: &str, kind: AccessKind| {
            let Traffic { instructions, accesses, bytes } = traffic;
            writeln!(f, "# {instructions} {accesses} {bytes} {place} {kind}")
        };
        for (kind, traffic) in &self.scalar {
            line(f, traffic, "scalar", *kind)?;
        }
        for ((space, kind), traffic) in &self.memory {
            let place = match space {
                Space::Global => "global",
                Space::Lds => "lds",
                Space::Scratch => "scratch",
            };
            line(f, traffic, place, *kind)?;
        }
        Ok(())
    }
}
