//! What the packet processor reads of a queue: the first contents of `amd_queue_t`.

use crate::device::Shape;
use aql::Generation;
use aql::scratch::resource_descriptor;

/// Scratch as `amd_queue_t` tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ScratchArea {
    /// Device address.
    pub(super) address: u64,
    /// Bytes, of all dies.
    pub(super) bytes: u64,
    /// Bytes of one wave.
    pub(super) wave_bytes: u32,
    /// COMPUTE_TMPRING_SIZE.
    pub(super) tmpring: u32,
}

/// Addresses that `amd_queue_t` holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addresses {
    pub(super) ring: u64,
    /// Bases of the LDS and the scratch aperture.
    pub(super) apertures: (u64, u64),
    /// The signal of `queue_inactive_signal`.
    pub(super) inactive_signal: u64,
}

/// The structure for a queue of `slots` packets.
pub(super) fn queue_image(
    generation: Generation,
    shape: &Shape,
    slots: u32,
    addresses: &Addresses,
    scratch: Option<&ScratchArea>,
) -> aql::Queue {
    let (lds, private) = addresses.apertures;
    let mut image =
        aql::Queue::new(addresses.ring, slots, (lds >> 32) as u32, (private >> 32) as u32);
    image.max_cu_id = (shape.compute_units * shape.xccs).saturating_sub(1);
    image.max_wave_id = shape.waves_per_cu.saturating_sub(1);
    image.queue_properties =
        aql::queue::Properties::new().with_is_ptr64(true).with_enable_profiling(true).into_bits();
    image.queue_inactive_signal = addresses.inactive_signal;
    if let Some(scratch) = scratch {
        image.compute_tmpring_size = scratch.tmpring;
        image.scratch_backing_memory_location = scratch.address;
        image.scratch_backing_memory_byte_size = scratch.bytes;
        image.scratch_wave64_lane_byte_size = scratch.wave_bytes / 64;
        // CAST: of one die scratch has at most MAX_SCRATCH_BYTES, 2 GiB.
        let one_die = (scratch.bytes / u64::from(shape.xccs.max(1))) as u32;
        image.scratch_resource_descriptor =
            resource_descriptor(generation, scratch.address, one_die);
    }
    image
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerocopy::IntoBytes;

    #[test]
    fn fields_are_where_the_processor_looks_for_them() {
        let shape = Shape {
            xccs: 1,
            compute_units: 40,
            shader_engines: 2,
            scratch_slots_per_cu: 32,
            waves_per_cu: 32,
        };
        let addresses = Addresses {
            ring: 0x7000_0000_0000,
            apertures: (1 << 48, 2 << 48),
            inactive_signal: 0x7000_1000_0c00,
        };
        let scratch = ScratchArea {
            address: 0x7000_2000_0000,
            bytes: 1280 * 4096,
            wave_bytes: 4096,
            tmpring: 640 | 16 << 12,
        };
        let image = queue_image(Generation::Gfx11, &shape, 1024, &addresses, Some(&scratch));
        let bytes = image.as_bytes();
        // Byte offsets of amd_queue_t (AMD's amd_hsa_queue.h).
        for (offset, value) in [
            (4, 1),         // features: kernel dispatch
            (12, 0x7000),   // base_address, high
            (24, 1024),     // size
            (64, 0x1_0000), // group_segment_aperture_base_hi
            (68, 0x2_0000), // private_segment_aperture_base_hi
            (72, 39),       // max_cu_id
            (76, 31),       // max_wave_id
            (136, 128),     // read_dispatch_id_field_base_byte_offset
            (140, 640 | 16 << 12),
            (160, 0x2000_0000), // scratch_backing_memory_location, low
            (168, 1280 * 4096), // scratch_backing_memory_byte_size
            (176, 64),          // scratch_wave64_lane_byte_size: 4096 / 64
            (180, 0b1010),      // IS_PTR64, ENABLE_PROFILING
            (192, 0x1000_0c00), // queue_inactive_signal, low
        ] {
            let word: [u8; 4] = bytes[offset..offset + 4].try_into().unwrap();
            assert_eq!(u32::from_le_bytes(word), value, "at byte {offset}");
        }
        let dies = Shape { xccs: 8, compute_units: 38, ..shape };
        let image = queue_image(Generation::Gfx94x, &dies, 64, &addresses, None);
        assert_eq!((image.max_cu_id, image.compute_tmpring_size), (303, 0));
    }
}
