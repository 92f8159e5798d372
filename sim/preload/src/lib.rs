//! A library for `LD_PRELOAD` that puts a program on a simulated machine.
//!
//! It has functions of libc's names. What concerns the machine's files goes to a [`selvedge_sim::Process`], the rest
//! to the kernel, by system calls: the simulator's own calls of libc come here too and must not go round in circles.
//! The program `simrun` sets it up; docs/SIMRUN.md tells users how.
//!
//! - `environment`: how `simrun` tells what machine it is.
//! - `paths`: which paths are the machine's; `descriptors`: which descriptors are.
//! - `state`: the machine and the process on it; `inside`: who calls, the program or the simulator.
//! - `files`, `status`, `attributes`, `directories`, `links`, `working`: what takes a path; `transfer`, `control`,
//!   `readiness`, `select`, `epoll`, `memory`: what takes a descriptor or an address.
//! - `symbols`: libc's own functions, and `dlsym`.
//! - `log`, `arguments`: the record of calls.
//!
//! On x86-64 a function that is declared with `...` in C takes its integer arguments in the same registers as one
//! that is not (System V ABI, 3.2.3 and 3.5.7), so that the definitions here, which name all of them, serve callers
//! of `open`, `fcntl` and `ioctl`. What a caller did not give is garbage, and not looked at.

mod arguments;
mod attributes;
mod control;
mod descriptors;
mod directories;
mod environment;
mod epoll;
mod files;
mod inside;
mod links;
mod log;
mod memory;
mod paths;
mod raw;
mod readiness;
mod select;
mod state;
mod status;
mod symbols;
mod transfer;
mod working;
