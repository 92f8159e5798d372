//! Private memory for waves.

use super::image::ScratchArea;
use crate::Error;
use crate::device::{DeviceInner, Shape};
use aql::Generation;
use aql::scratch::{TmpringSize, TmpringSizeError, slots, waves_are_per_shader_engine};
use kfd::AllocationFlags;
use std::sync::Arc;

/// Most scratch of one queue on one die, bytes: 4 KiB a work-item on the largest RDNA3 part are 768 MiB.
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
        let (tmpring, bytes) =
            size(device.generation(), &device.shape(), wave_bytes).map_err(|error| {
                Error::Kernel {
                    kernel: kernel.to_owned(),
                    reason: format!(
                        "its scratch of {wave_bytes} bytes a wave cannot be set up: {error}"
                    ),
                }
            })?;
        let limit = MAX_SCRATCH_BYTES * u64::from(device.shape().xccs);
        if bytes > limit {
            return Err(Error::Resource {
                kernel: kernel.to_owned(),
                resource: "scratch",
                needed: bytes,
                limit,
                device: device.name().to_owned(),
            });
        }
        let flags = AllocationFlags::WRITABLE | AllocationFlags::NO_SUBSTITUTE;
        let memory = device.allocate_hidden(bytes, flags)?;
        Ok(Scratch { memory: Some(memory), wave_bytes, tmpring, bytes })
    }

    /// What `amd_queue_t` says of it.
    pub(super) fn area(&self) -> Option<ScratchArea> {
        let address = self.memory.as_ref()?.address();
        let Scratch { bytes, wave_bytes, tmpring, .. } = *self;
        Some(ScratchArea { address, bytes, wave_bytes, tmpring })
    }
}

/// COMPUTE_TMPRING_SIZE and the bytes of memory behind it, for waves of `wave_bytes`.
fn size(
    generation: Generation,
    shape: &Shape,
    wave_bytes: u32,
) -> Result<(u32, u64), TmpringSizeError> {
    // Of one die; each has its own part of the memory.
    let waves = slots(shape.compute_units, shape.shader_engines, shape.scratch_slots_per_cu);
    let engines = if waves_are_per_shader_engine(generation) { shape.shader_engines } else { 1 };
    let waves_counted = u32::try_from(waves / u64::from(engines.max(1))).unwrap_or(u32::MAX);
    let tmpring = TmpringSize { waves: waves_counted, wave_bytes }.encode(generation)?;
    Ok((tmpring, u64::from(wave_bytes) * waves * u64::from(shape.xccs)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The register admits exactly the waves that there is memory for.
    #[test]
    fn every_wave_that_the_register_admits_has_memory() {
        let shape = |xccs, compute_units, shader_engines| Shape {
            xccs,
            compute_units,
            shader_engines,
            scratch_slots_per_cu: 32,
            waves_per_cu: 32,
        };
        for (generation, shape, per_engine, bytes) in [
            (Generation::Gfx11, shape(1, 40, 2), true, 40 * 32 * 4096),
            (Generation::Gfx11, shape(1, 96, 6), true, 96 * 32 * 4096),
            (Generation::Gfx11, shape(1, 41, 2), true, 42 * 32 * 4096),
            (Generation::Gfx103, shape(1, 72, 4), false, 72 * 32 * 4096),
            (Generation::Gfx94x, shape(8, 38, 4), false, 8 * 40 * 32 * 4096),
        ] {
            let (tmpring, got) = size(generation, &shape, 4096).unwrap();
            assert_eq!(got, bytes, "{generation} {shape:?}");
            let decoded = TmpringSize::decode(tmpring, generation);
            assert_eq!(decoded.wave_bytes, 4096);
            let engines = if per_engine { shape.shader_engines } else { 1 };
            let waves = u64::from(decoded.waves * engines * shape.xccs);
            assert_eq!(waves * 4096, bytes, "{generation} {shape:?}");
        }
        // Rows published for 304 compute units on 8 dies: 10,240 slots of 5,120 bytes.
        let (_, bytes) = size(Generation::Gfx94x, &shape(8, 38, 4), 5120).unwrap();
        assert_eq!(bytes, 52_428_800);
    }
}
