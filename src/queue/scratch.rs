//! Private memory for waves.

use crate::Error;
use crate::device::DeviceInner;
use aql::scratch::{TmpringSize, slots, waves_are_per_shader_engine};
use kfd::AllocationFlags;
use std::sync::Arc;

/// Most scratch of one queue, bytes: 4 KiB a work-item on the largest RDNA3 part are 768 MiB.
pub(crate) const MAX_SCRATCH_BYTES: u64 = 2 << 30;

/// Scratch of one queue: room for every wave the device can run at once.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// `None` when no kernel has needed any.
    pub(crate) memory: Option<Arc<kfd::Allocation>>,
    /// Bytes a wave can have.
    pub(crate) wave_bytes: u32,
    /// COMPUTE_TMPRING_SIZE.
    pub(crate) tmpring: u32,
    /// Bytes in all.
    pub(crate) bytes: u64,
}

impl Scratch {
    /// No scratch.
    pub(crate) fn none() -> Scratch {
        Scratch { memory: None, wave_bytes: 0, tmpring: 0, bytes: 0 }
    }

    /// Scratch for waves of `wave_bytes` ([`wave_bytes`](aql::scratch::wave_bytes)).
    ///
    /// All slots are backed, whatever the grid: the hardware gives a wave any slot of its compute unit.
    pub(crate) fn allocate(
        device: &DeviceInner,
        kernel: &str,
        wave_bytes: u32,
    ) -> Result<Scratch, Error> {
        let generation = device.generation();
        let shape = device.shape();

        let waves = slots(shape.compute_units, shape.shader_engines, shape.scratch_slots_per_cu);
        let too_much = |needed| Error::Resource {
            kernel: kernel.to_owned(),
            resource: "scratch",
            needed,
            limit: MAX_SCRATCH_BYTES,
            device: device.name().to_owned(),
        };
        let bytes = u64::from(wave_bytes).saturating_mul(waves);
        if bytes > MAX_SCRATCH_BYTES {
            return Err(too_much(bytes));
        }
        let engines =
            if waves_are_per_shader_engine(generation) { shape.shader_engines } else { 1 };
        let size = TmpringSize { waves: (waves / u64::from(engines.max(1))) as u32, wave_bytes };
        let tmpring = size.encode(generation).map_err(|_| too_much(bytes))?;
        let flags = AllocationFlags::WRITABLE | AllocationFlags::NO_SUBSTITUTE;
        let memory = device.allocate_hidden(bytes, flags)?;
        Ok(Scratch { memory: Some(memory), wave_bytes, tmpring, bytes })
    }
}
