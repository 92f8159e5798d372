//! Memory that host and device share.
//!
//! - [`Buffer`], [`BufferView`]: a program's data.
//! - `HostVisible`, `Span`: what the runtime itself keeps there: rings, signals, arguments.
//!
//! No reference to device-visible bytes is ever formed: they are copied, or seen as atomics.

mod buffer;
mod host;

pub use buffer::{Buffer, BufferView, Placement};
pub(crate) use host::{HostVisible, Span};
