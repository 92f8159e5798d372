//! Private memory for waves.

use crate::Error;
use crate::device::DeviceInner;
use aql::scratch::{TmpringSize, slots, wave_bytes, waves_are_per_shader_engine};
use kfd::AllocationFlags;
use std::sync::Arc;

/// Most scratch of one queue, bytes.
pub(crate) const MAX_SCRATCH_BYTES: u64 = 512 << 20;

/// Scratch of one queue: room for every wave the device can run at once.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// `None` when no kernel has needed any.
    pub(crate) memory: Option<Arc<kfd::Allocation>>,
    /// Bytes a work-item can have.
    pub(crate) lane_bytes: u32,
    /// COMPUTE_TMPRING_SIZE.
    pub(crate) tmpring: u32,
    /// Bytes in all.
    pub(crate) bytes: u64,
}

impl Scratch {
    /// No scratch.
    pub(crate) fn none() -> Scratch {
        Scratch { memory: None, lane_bytes: 0, tmpring: 0, bytes: 0 }
    }

    /// Scratch for work-items of `private_bytes`, in waves of up to 64.
    ///
    /// All slots are backed, whatever the grid: the hardware gives a wave any slot of its compute unit.
    pub(crate) fn allocate(
        device: &DeviceInner,
        kernel: &str,
        private_bytes: u32,
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
        let per_wave = wave_bytes(generation, private_bytes, 64)
            .ok_or_else(|| too_much(u64::from(private_bytes) * 64 * waves))?;
        let bytes = u64::from(per_wave).saturating_mul(waves);
        if bytes > MAX_SCRATCH_BYTES {
            return Err(too_much(bytes));
        }
        let engines =
            if waves_are_per_shader_engine(generation) { shape.shader_engines } else { 1 };
        let size =
            TmpringSize { waves: (waves / u64::from(engines.max(1))) as u32, wave_bytes: per_wave };
        let tmpring = size.encode(generation).map_err(|_| too_much(bytes))?;
        let flags = AllocationFlags::WRITABLE | AllocationFlags::NO_SUBSTITUTE;
        let memory = device.allocate_hidden(bytes, flags)?;
        Ok(Scratch { memory: Some(memory), lane_bytes: per_wave / 64, tmpring, bytes })
    }
}
