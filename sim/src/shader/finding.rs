//! What the watchdog and the checks find.

use std::fmt::{self, Display, Formatter};
use std::mem::{Discriminant, discriminant};

/// Something wrong with a program, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The KFD's id of the queue.
    pub queue: u32,
    /// Index of the dispatch's packet in it.
    pub packet: u64,
    /// The kernel.
    pub kernel: KernelAt,
    /// Where.
    pub site: Site,
    /// What.
    pub kind: FindingKind,
}

/// Where a kernel is: its address alone may be another's in another process or on another GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelAt {
    /// The process, in the order in which processes came to the KFD; a context that a process makes beside its first has
    /// a number of its own.
    pub process: u32,
    /// Index of the GPU on the machine.
    pub gpu: u32,
    /// Address of its first instruction.
    pub address: u64,
}

/// An instruction of a wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Workgroup id.
    pub workgroup: [u32; 3],
    /// Wave within the workgroup.
    pub wave: u32,
    /// Address of the instruction.
    pub pc: u64,
    /// The instruction in LLVM's spelling, when it could be decoded.
    pub instruction: Option<String>,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindingKind {
    /// The wave executed as many instructions as the watchdog allows.
    Endless {
        /// How many.
        instructions: u64,
    },
    /// The wave waits at a barrier, and no wave of its workgroup is left that could complete it.
    Deadlock,
    /// Two waves access the same byte, at least one of them writes, and nothing orders the two.
    Race {
        /// Where the byte is.
        space: Space,
        /// Its address, or offset in LDS.
        address: u64,
        /// What the wave does.
        access: AccessKind,
        /// The other wave's access, which came before.
        other: Site,
        /// What that one did.
        other_access: AccessKind,
    },
    /// A wave reads a byte of LDS that no wave of its workgroup has written.
    UnwrittenLds {
        /// Its offset.
        address: u64,
    },
    /// A value that nothing has set decides something.
    Unset {
        /// The register, `v1[5]` with its lane or `s4`.
        register: String,
        /// What it decides.
        decides: Decides,
    },
    /// The check for races gave up on a dispatch that accesses memory too often.
    Incomplete {
        /// How many memory instructions it followed.
        followed: u64,
    },
}

/// A kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// GPU virtual memory, all but scratch.
    Global,
    /// The workgroup's LDS.
    Lds,
    /// A lane's scratch.
    Scratch,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Reads and writes indivisibly.
    Atomic,
}

/// What a value decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decides {
    /// Where memory is accessed, or where the program goes on.
    Address,
    /// Whether a branch is taken.
    Branch,
    /// Which lanes are active.
    Execution,
    /// What memory holds.
    Memory,
}

/// What is told of once for each instruction: what kind it is, what an unset value decides, the other instruction of a race.
pub(crate) type Sort = (Discriminant<FindingKind>, Option<Decides>, Option<u64>);

impl FindingKind {
    pub(crate) fn sort(&self) -> Sort {
        let (decides, other) = match self {
            FindingKind::Race { other, .. } => (None, Some(other.pc)),
            FindingKind::Unset { decides, .. } => (Some(*decides), None),
            _ => (None, None),
        };
        (discriminant(self), decides, other)
    }
}

impl Display for Site {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "workgroup {:?} wave {} at {:#x}", self.workgroup, self.wave, self.pc)?;
        self.instruction.as_ref().map_or(Ok(()), |text| write!(f, ": {text}"))
    }
}

impl Display for Finding {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Finding { queue, packet, kernel, site, kind } = self;
        let KernelAt { process, gpu, address } = kernel;
        write!(f, "{kind}; kernel {address:#x} of process {process}, GPU {gpu}, queue {queue}, ")?;
        write!(f, "packet {packet}, {site}")?;
        if let FindingKind::Race { other, other_access, .. } = kind {
            write!(f, "; before it {other_access} by {other}")?;
        }
        Ok(())
    }
}

impl Display for FindingKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            FindingKind::Endless { instructions } => {
                write!(f, "a wave has executed {instructions} instructions without an end")
            }
            FindingKind::Deadlock => f.write_str("a wave waits at a barrier that nobody completes"),
            FindingKind::Race { space: Space::Lds, address, access, .. } => {
                write!(f, "race of waves on LDS byte {address:#x}, {access}")
            }
            FindingKind::Race { address, access, .. } => {
                write!(f, "race of waves on memory at {address:#x}, {access}")
            }
            FindingKind::UnwrittenLds { address } => {
                write!(f, "load of LDS byte {address:#x}, which nothing has written")
            }
            FindingKind::Unset { register, decides } => {
                write!(f, "{register}, which nothing has set, decides {decides}")
            }
            FindingKind::Incomplete { followed } => {
                write!(f, "the check for races gave up after {followed} memory instructions")
            }
        }
    }
}

impl Display for AccessKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AccessKind::Load => "load",
            AccessKind::Store => "store",
            AccessKind::Atomic => "atomic",
        })
    }
}

impl Display for Decides {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Decides::Address => "an address",
            Decides::Branch => "a branch",
            Decides::Execution => "which lanes are active",
            Decides::Memory => "what memory holds",
        })
    }
}
