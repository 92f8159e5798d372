//! The kernel's objects on a scripted system: what is called, in which order, and what is made of
//! every answer.

mod device;
mod event;
mod memory;
mod process;
mod queue;
mod scripted;
mod sharing;
mod topology;
