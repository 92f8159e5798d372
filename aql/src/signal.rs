//! `amd_signal_t` (amd_hsa_signal.h): 64 bytes, 64-aligned, in memory that host and device share.
//!
//! A signal's handle is its address. Once a device may touch it, no reference to it may be formed:
//! address its fields by [`offset`]; [`Signal`] is for initial images and copies.

use crate::profiling::Interval;
use core::mem::offset_of;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `AMD_SIGNAL_KIND_INVALID`.
pub const KIND_INVALID: i64 = 0;
/// `AMD_SIGNAL_KIND_USER`: `value` is a value.
pub const KIND_USER: i64 = 1;
/// `AMD_SIGNAL_KIND_DOORBELL`: `value` is the address of a 64-bit doorbell.
pub const KIND_DOORBELL: i64 = -1;
/// `AMD_SIGNAL_KIND_LEGACY_DOORBELL`: `value` is the address of a 32-bit doorbell.
pub const KIND_LEGACY_DOORBELL: i64 = -2;

/// `AMD_SIGNAL_ALIGN_BYTES`.
pub const ALIGNMENT: u64 = 64;

/// Byte offsets of the fields.
pub mod offset {
    /// `kind`, i64.
    pub const KIND: u64 = 0;
    /// `value`, i64.
    pub const VALUE: u64 = 8;
    /// `event_mailbox_ptr`, u64.
    pub const EVENT_MAILBOX_PTR: u64 = 16;
    /// `event_id`, u32.
    pub const EVENT_ID: u64 = 24;
    /// `start_ts`, u64.
    pub const START_TS: u64 = 32;
    /// `end_ts`, u64.
    pub const END_TS: u64 = 40;
    /// `queue_ptr`, u64.
    pub const QUEUE_PTR: u64 = 48;
}

/// The signal's bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C, align(64))]
pub struct Signal {
    /// [`KIND_USER`] or another.
    pub kind: i64,
    /// What packets wait for and decrement.
    pub value: i64,
    /// Address of the event slot that the completing device writes `event_id` to before it raises
    /// its interrupt; 0 for no interrupt.
    pub event_mailbox_ptr: u64,
    /// Event id, written to the mailbox and sent with the interrupt.
    pub event_id: u32,
    /// Zero.
    pub reserved1: u32,
    /// GPU clock ticks when the packet started; written when the queue has
    /// [`crate::queue::Properties::enable_profiling`] ([`crate::profiling`]).
    pub start_ts: u64,
    /// GPU clock ticks when the packet was complete.
    pub end_ts: u64,
    /// Address of the `amd_queue_t` whose doorbell it is.
    pub queue_ptr: u64,
    /// Zero.
    pub reserved3: [u32; 2],
}

impl Signal {
    /// A user signal with a value and no event.
    pub fn user(value: i64) -> Signal {
        Signal { kind: KIND_USER, value, ..Signal::default() }
    }

    /// When the packet that it completed ran; `None` when no times were written.
    pub const fn interval(&self) -> Option<Interval> {
        Interval::new(self.start_ts, self.end_ts)
    }
}

const _: () = {
    assert!(size_of::<Signal>() == 64);
    assert!(offset_of!(Signal, kind) as u64 == offset::KIND);
    assert!(offset_of!(Signal, value) as u64 == offset::VALUE);
    assert!(offset_of!(Signal, event_mailbox_ptr) as u64 == offset::EVENT_MAILBOX_PTR);
    assert!(offset_of!(Signal, event_id) as u64 == offset::EVENT_ID);
    assert!(offset_of!(Signal, start_ts) as u64 == offset::START_TS);
    assert!(offset_of!(Signal, end_ts) as u64 == offset::END_TS);
    assert!(offset_of!(Signal, queue_ptr) as u64 == offset::QUEUE_PTR);
};
