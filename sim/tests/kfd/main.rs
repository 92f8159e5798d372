//! The kernel side of the simulated machine, driven as a driver drives it: validation rules, events,
//! faults, secondary contexts, injected errors, object counts.

#![expect(unsafe_code, reason = "makes system calls and touches what they mapped")]

mod board;
mod debug;
mod drm;
mod event;
mod fault;
mod gws;
mod machines;
mod memory;
mod planned;
mod pm4;
mod process;
mod queue;
mod random;
mod real_machines;
mod record;
mod rig;
mod ring;
mod sdma;
mod smi;
mod svm;
mod topology;
mod trap;
