//! The context save area: where the command processor puts a queue's waves when it is preempted
//! (compute wave save and restore, CWSR).

use crate::topology::Node;
use crate::{Allocation, AllocationFlags, Device, Error, PAGE_SIZE, Result, uapi};
use std::mem::offset_of;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Sizes of a node's save areas, bytes.
///
/// The kernel compares them with its own, and they differ between kernels for the same chip, so
/// sysfs is asked first (`cwsr_size`, `ctl_stack_size`); the formula of kfd_queue.c
/// (`kfd_queue_ctx_save_restore_size`) is for kernels that do not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaveAreaSizes {
    /// Control stack and wave state of one XCC: what CREATE_QUEUE takes as `ctx_save_restore_size`.
    pub context: u32,
    /// The control stack in it.
    pub control_stack: u32,
    /// The debugger's memory of one XCC.
    pub debug: u32,
    /// How many XCCs.
    pub xcc_count: u32,
}

impl SaveAreaSizes {
    /// The sizes for a node; `None` when it has no compute units or they do not fit 32 bits.
    pub fn of(node: &Node) -> Option<SaveAreaSizes> {
        let properties = &node.properties;
        let version = properties.gfx_target_version;
        let xcc_count = node.xcc_count();
        let compute_units = node.compute_unit_count() / xcc_count;
        if compute_units == 0 {
            return None;
        }
        let before_gfx10 = version < 100_100;
        let waves = if before_gfx10 {
            let engines = properties.array_count / properties.simd_arrays_per_engine.max(1);
            compute_units.checked_mul(40)?.min(engines.checked_mul(512)?)
        } else {
            compute_units.checked_mul(if is_gfx125(version) { 64 } else { 32 })?
        };
        let debug = waves.checked_mul(32)?.checked_next_multiple_of(64)?;
        let (control_stack, context) = match (properties.ctl_stack_size, properties.cwsr_size) {
            (Some(control_stack), Some(context)) => (control_stack, context),
            _ => {
                // A header of 40 bytes, an entry for each wave, 8 bytes at the end.
                let entry = if before_gfx10 { 8 } else { 12 };
                let stack = waves.checked_mul(entry)?.checked_add(40 + 8)?;
                let stack = stack.checked_next_multiple_of(PAGE_SIZE as u32)?;
                // gfx10's hardware has a limit.
                let stack = if properties.gfx_target_version / 10_000 == 10 {
                    stack.min(0x7000)
                } else {
                    stack
                };
                let state = compute_units.checked_mul(bytes_per_compute_unit(node)?)?;
                let state = state.checked_next_multiple_of(PAGE_SIZE as u32)?;
                (stack, stack.checked_add(state)?)
            }
        };
        Some(SaveAreaSizes { context, control_stack, debug, xcc_count })
    }

    /// Bytes of the whole area.
    pub fn total(&self) -> u64 {
        let one = u64::from(self.context) + u64::from(self.debug);
        (one * u64::from(self.xcc_count)).next_multiple_of(PAGE_SIZE)
    }
}

fn is_gfx125(version: u32) -> bool {
    version / 100 == 1205
}

/// Vector registers, scalar registers, LDS and hardware registers of a compute unit. (gfx950 and
/// gfx125x are newer than Linux 6.12: libhsakmt, queues.c.)
fn bytes_per_compute_unit(node: &Node) -> Option<u32> {
    let version = node.properties.gfx_target_version;
    let lds = node.properties.lds_size_in_kb.checked_mul(1024)?;
    let (vector, scalar, lds, hardware) = match version {
        _ if is_gfx125(version) => (0x8_0000, 0x8000, lds, 0x8000),
        90_500..=90_599 => (0x8_0000, 0x4000, lds, 0x1000),
        90_008 | 90_010 | 90_400..=90_499 => (0x8_0000, 0x4000, 0x1_0000, 0x1000),
        110_000 | 110_001 | 110_501 | 120_000 | 120_001 => (0x6_0000, 0x4000, 0x1_0000, 0x1000),
        _ => (0x4_0000, 0x4000, 0x1_0000, 0x1000_u32),
    };
    lds.checked_add(vector + scalar + hardware)
}

/// Where a queue's exceptions are reported: a 64-bit word that the kernel writes the mask of
/// `1 << (code − 1)` to, and the event that it sets then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorReport {
    pub(crate) address: u64,
    pub(crate) event_id: u32,
}

/// Allocates a save area and writes its headers, one for each XCC. New memory reads as zeros, as the
/// area must; the kernel reads the headers through the CPU's mapping.
pub(crate) fn allocate(
    device: &Arc<Device>,
    sizes: &SaveAreaSizes,
    report: Option<ErrorReport>,
) -> Result<Arc<Allocation>> {
    let flags = AllocationFlags::GTT
        | AllocationFlags::WRITABLE
        | AllocationFlags::EXECUTABLE
        | AllocationFlags::PUBLIC
        | AllocationFlags::COHERENT
        | AllocationFlags::UNCACHED
        | AllocationFlags::NO_SUBSTITUTE;
    let area = device.allocate(sizes.total(), flags)?;
    let count = sizes.xcc_count;
    for xcc in 0..count {
        let header = u64::from(xcc) * u64::from(sizes.context);
        let debug_offset = u64::from(count - xcc) * u64::from(sizes.context);
        let debug_size = u64::from(count) * u64::from(sizes.debug);
        let field = |offset: usize| header + offset as u64;
        let narrow = |value: u64| {
            u32::try_from(value).map_err(|_| Error::QueueShape {
                problem: format!("the save area of {count} XCCs is too large: {sizes:?}"),
            })
        };
        type Header = uapi::ContextSaveAreaHeader;
        area.word(field(offset_of!(Header, debug_offset)))?
            .store(narrow(debug_offset)?, Ordering::Relaxed);
        area.word(field(offset_of!(Header, debug_size)))?
            .store(narrow(debug_size)?, Ordering::Relaxed);
        if let Some(report) = report {
            area.long(field(offset_of!(Header, err_payload_addr)))?
                .store(report.address, Ordering::Relaxed);
            area.word(field(offset_of!(Header, err_event_id)))?
                .store(report.event_id, Ordering::Relaxed);
        }
    }
    Ok(area)
}
