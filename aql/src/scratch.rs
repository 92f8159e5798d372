//! Scratch (private segment): COMPUTE_TMPRING_SIZE, sizes, and the scratch buffer descriptor.
//!
//! Source: AMD's ROCR-Runtime, `runtime/hsa-runtime/core/runtime/amd_aql_queue.cpp`
//! (FillComputeTmpRingSize*, FillBufRsrcWord*); the register is [`ComputeTmpringSize`].

use crate::{Generation, generations};
use core::fmt;
use pm4::register::ComputeTmpringSize;

/// COMPUTE_TMPRING_SIZE as a value: how many waves have scratch, and how much each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TmpringSize {
    /// WAVES: waves of an XCC up to gfx10, waves of a **shader engine** from gfx11 on.
    pub waves: u32,
    /// Bytes of scratch of one wave, a multiple of [`wave_granule`].
    pub wave_bytes: u32,
}

/// What COMPUTE_TMPRING_SIZE cannot express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TmpringSizeError {
    /// More waves than 4095.
    Waves {
        /// The number of waves.
        got: u32,
    },
    /// A wave's scratch is too large or not a multiple of the granule.
    WaveBytes {
        /// The generation.
        generation: Generation,
        /// The number of bytes.
        got: u32,
    },
}

impl fmt::Display for TmpringSizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            TmpringSizeError::Waves { got } => {
                write!(f, "COMPUTE_TMPRING_SIZE.WAVES: needed at most 4095, got {got}")
            }
            TmpringSizeError::WaveBytes { generation, got } => write!(
                f,
                "COMPUTE_TMPRING_SIZE.WAVESIZE on {generation}: needed a multiple of {} bytes up \
                 to {}, got {got}",
                wave_granule(generation),
                max_wave_bytes(generation)
            ),
        }
    }
}

impl core::error::Error for TmpringSizeError {}

/// The unit of WAVESIZE in bytes: the lowest bit that the register holds.
pub const fn wave_granule(generation: Generation) -> u32 {
    1 << max_wave_bytes(generation).trailing_zeros()
}

/// The most scratch that a wave can have, bytes: all bits that the register holds.
pub const fn max_wave_bytes(generation: Generation) -> u32 {
    ComputeTmpringSize::decode_word(u32::MAX, generation).wavesize
}

/// Whether [`TmpringSize::waves`] counts the waves of one shader engine instead of all.
pub const fn waves_are_per_shader_engine(generation: Generation) -> bool {
    generation.is_in(generations::GFX11_ON)
}

/// Bytes of scratch of a wave of `lanes` lanes with `private_segment_size` bytes each; `None` when
/// it is more than the generation allows.
pub const fn wave_bytes(
    generation: Generation,
    private_segment_size: u32,
    lanes: u32,
) -> Option<u32> {
    let bytes = private_segment_size as u64 * lanes as u64;
    let granule = wave_granule(generation) as u64;
    let bytes = bytes.div_ceil(granule) * granule;
    if bytes <= max_wave_bytes(generation) as u64 { Some(bytes as u32) } else { None }
}

/// Waves of a device that can have scratch at once: all of them must be backed, even for a small
/// grid.
///
/// `compute_units` and `shader_engines` are those of one XCC, `slots_per_cu` is the topology's
/// `max_slots_scratch_cu`. The hardware deals slots out to all shader engines alike, so the
/// compute units are rounded up to a multiple of these.
pub const fn slots(compute_units: u32, shader_engines: u32, slots_per_cu: u32) -> u64 {
    let engines = if shader_engines == 0 { 1 } else { shader_engines as u64 };
    let units = (compute_units as u64).next_multiple_of(engines);
    units.saturating_mul(slots_per_cu as u64)
}

impl TmpringSize {
    /// The register.
    ///
    /// # Errors
    /// When a field does not hold the value.
    pub const fn encode(&self, generation: Generation) -> Result<u32, TmpringSizeError> {
        if self.waves > 0xfff {
            return Err(TmpringSizeError::Waves { got: self.waves });
        }
        if !self.wave_bytes.is_multiple_of(wave_granule(generation))
            || self.wave_bytes > max_wave_bytes(generation)
        {
            return Err(TmpringSizeError::WaveBytes { generation, got: self.wave_bytes });
        }
        let (waves, wavesize) = (self.waves as u16, self.wave_bytes);
        let [word] =
            ComputeTmpringSize { waves, wavesize, ..ComputeTmpringSize::ZERO }.encode(generation);
        Ok(word)
    }

    /// Reads the register; bits beyond WAVESIZE are not part of it.
    pub const fn decode(register: u32, generation: Generation) -> TmpringSize {
        let register = ComputeTmpringSize::decode_word(register, generation);
        TmpringSize { waves: register.waves as u32, wave_bytes: register.wavesize }
    }
}

/// The buffer descriptor (V#) of scratch that kernels get in SGPRs when they ask for a private
/// segment buffer: swizzled by lane, 32-bit elements. `size` is in bytes, of one XCC. The packet
/// processor fills INDEX_STRIDE in from gfx10 on.
pub const fn resource_descriptor(generation: Generation, base: u64, size: u32) -> [u32; 4] {
    // DST_SEL_X..W = SQ_SEL_X..W (4 to 7), three bits each.
    const SELECT: u32 = 4 | 5 << 3 | 6 << 6 | 7 << 9;
    const ADD_TID_ENABLE: u32 = 1 << 23;
    let (swizzle, word3) = match generation {
        // NUM_FORMAT = UINT (4), DATA_FORMAT = 32 (4), ELEMENT_SIZE = 4 bytes (1), INDEX_STRIDE = 64
        // lanes (3).
        _ if generation.is_in(generations::GFX9) => {
            (1 << 31, SELECT | 4 << 12 | 4 << 15 | 1 << 19 | 3 << 21 | ADD_TID_ENABLE)
        }
        // FORMAT = 32_UINT (20), RESOURCE_LEVEL = 1, OOB_SELECT = no bounds check (2).
        Generation::Gfx101 | Generation::Gfx103 => {
            (1 << 31, SELECT | 20 << 12 | ADD_TID_ENABLE | 1 << 24 | 2 << 28)
        }
        // SWIZZLE_ENABLE has two bits, and there is no RESOURCE_LEVEL.
        _ => (1 << 30, SELECT | 20 << 12 | ADD_TID_ENABLE | 2 << 28),
    };
    [base as u32, (base >> 32) as u32 & 0xffff | swizzle, size, word3]
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    #[test]
    fn sizes() {
        assert_eq!(wave_bytes(Generation::Gfx11, 4, 32), Some(256));
        assert_eq!(wave_bytes(Generation::Gfx11, 4, 64), Some(256));
        assert_eq!(wave_bytes(Generation::Gfx906, 4, 64), Some(1024));
        assert_eq!(wave_bytes(Generation::Gfx11, 0, 32), Some(0));
        assert_eq!(wave_bytes(Generation::Gfx11, u32::MAX, 64), None);
        assert_eq!(max_wave_bytes(Generation::Gfx11), 0x7fff * 256);
        assert_eq!(slots(40, 2, 32), 1280);
        assert_eq!(slots(41, 2, 32), 1344);
        assert_eq!(slots(u32::MAX, u32::MAX - 1, u32::MAX), u64::MAX);
    }

    #[test]
    fn errors_say_what_fits() {
        let error =
            TmpringSize { waves: 1, wave_bytes: 100 }.encode(Generation::Gfx103).unwrap_err();
        assert_eq!(
            error.to_string(),
            "COMPUTE_TMPRING_SIZE.WAVESIZE on gfx10.3: needed a multiple of 1024 bytes up to \
             8387584, got 100"
        );
        assert!(TmpringSize { waves: 4096, wave_bytes: 0 }.encode(Generation::Gfx103).is_err());
    }

    proptest! {
        #[test]
        fn tmpring_round_trip(waves in 0u32..4096, units in 0u32..1 << 13) {
            for generation in Generation::ALL {
                let size = TmpringSize { waves, wave_bytes: units * wave_granule(generation) };
                let register = size.encode(generation).unwrap();
                prop_assert_eq!(TmpringSize::decode(register, generation), size);
            }
        }
    }
}
