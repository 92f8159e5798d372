//! Sequences of packets: what a compute queue needs to be told, in the order in which it needs it.
//!
//! Each function writes into a [`Writer`](crate::layout::Writer) for a generation: all its packets or, when it
//! fails, none.
//!
//! Where a partition has several XCCs (gfx94x, gfx950) each of them executes every packet. Caches, waits for
//! memory and dispatches are meant so. What writes memory or interrupts is not: [`fence()`], [`fence_with_interrupt`]
//! and [`timestamp`] belong into [`on_first_xcc`], [`wait_for_shaders`] is for one XCC.
//!
//! ```
//! use pm4::Generation;
//! use pm4::layout::Writer;
//! use pm4::sequence::{self, Dispatch, Grid, Scope};
//!
//! let mut buffer = [0; 128];
//! let mut packets = Writer::new(&mut buffer[..], Generation::Gfx115);
//! sequence::acquire(&mut packets, Scope::System)?;
//! sequence::dispatch(
//!     &mut packets,
//!     &Dispatch {
//!         code: 0x7f00_0001_0000,
//!         rsrc1: 0x60af_0000,
//!         rsrc2: 0x0000_0084,
//!         user_data: &[0x2000, 0x7f00],
//!         grid: Grid::new([1000, 1, 1], [256, 1, 1]).unwrap(),
//!         wave32: true,
//!         ..Dispatch::ZERO
//!     },
//! )?;
//! sequence::fence(&mut packets, Scope::System, 0x7f00_0003_0000, 1)?;
//! # Ok::<(), pm4::layout::WriteError>(())
//! ```

mod cache;
mod dispatch;
mod fence;
mod registers;
mod wait;
mod whole;

pub use cache::{Scope, acquire, new_code};
pub use dispatch::{Dispatch, Grid, Scratch, dispatch};
pub use fence::{Mailbox, fence, fence_with_interrupt, timestamp};
pub use wait::{call, wait_for_shaders, wait_until, wait_until_64};
pub use whole::on_first_xcc;
