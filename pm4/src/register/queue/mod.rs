//! CP_HQD_* and CP_MQD_*: the state of a mapped compute queue, as a dump of a hung one shows it.

mod buffers;
mod ring;
mod save;
mod scheduler;
mod state;

pub use buffers::*;
pub use ring::*;
pub use save::*;
pub use scheduler::*;
pub use state::*;
