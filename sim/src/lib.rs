//! A simulated AMD GPU machine behind Linux's own ABI.
//!
//! # Architecture
//! - [`Machine`]: boards, a kernel, a clock, a plan of faults; it makes processes.
//! - [`Process`]: a Linux process on the machine, an implementor of [`selvedge_sys::System`].
//! - `abi`: what the kernel answers: `/dev/kfd`, render nodes, sysfs, mmap.
//! - `board`: what the processes of a machine share: the memory that devices own, and the books of it.
//! - [`fault`]: what goes wrong, and when.
//! - [`memory`]: GPU page tables over shared backing, with permissions.
//! - [`shader`]: executes the instructions of `amdgpu-isa`.
//! - [`cp`]: command processors: rings, doorbells, packets, signals.
//! - [`sdma`]: the engines that copy.
//! - [`record`]: records of processes, and running them again.
//! - [`profile`]: machines as data; `description` and `recorded`: from a line of text and from a topology; `modes`: what
//!   the environment asks for.
//!
//! ```
//! use selvedge_sim::Machine;
//! use selvedge_sys::{OpenMode, System};
//!
//! let machine = Machine::with_gpu("gfx1151")?;
//! let process = machine.process();
//! let kfd = process.open("/dev/kfd".as_ref(), OpenMode::ReadWrite)?;
//! process.close(kfd)?;
//! drop(process);
//! assert_eq!(machine.objects(), Default::default());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it does not model
//! What a program asks for and the machine has not is refused with ENOSYS, said on standard error and
//! kept in [`Machine::refusals`]: command submissions other than NOPs,
//! checkpoints, performance counters, waves that a debugger stops. Beyond that:
//! - **Eviction.** Bytes never move; a device's memory is as large as the board says and no larger.
//! - **Caches** keep nothing from anybody unless [`Builder::caches`] asks for it; then L2 does.
//! - **Signals.** They interrupt WAIT_EVENTS and nothing else; the kernel's SIGTERM and SIGSEGV
//!   after an unhandled fault are not sent.
//! - **Other processes of the host.** Where machines in several share a board ([`Builder::kept_at`]), page tables, queues
//!   and waves are still each process's own; see [`Process`].

mod abi;
mod board;
mod clock;
mod count;
pub mod cp;
mod description;
pub mod fault;
mod machine;
pub mod memory;
mod modes;
pub mod profile;
pub mod record;
mod recorded;
pub mod sdma;
pub mod shader;
mod tree;

pub use abi::{Entry, Process};
pub use board::Keeper;
pub use clock::{Clock, ManualClock};
pub use count::Objects;
pub use description::Condition;
pub use machine::{Builder, Machine, MachineError};
pub use memory::Caches;
pub use modes::Ordering;
