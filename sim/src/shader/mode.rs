//! The MODE register: rounding, denormals, NaN handling.

/// Rounding of results (RDNA3 ISA document, MODE.FP_ROUND).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Round {
    /// To nearest, ties to even.
    #[default]
    Nearest,
    /// Towards +∞.
    Up,
    /// Towards −∞.
    Down,
    /// Towards zero.
    Zero,
}

impl Round {
    fn from_bits(bits: u32) -> Round {
        match bits & 3 {
            0 => Round::Nearest,
            1 => Round::Up,
            2 => Round::Down,
            _ => Round::Zero,
        }
    }
}

/// How denormals of one width are treated (MODE.FP_DENORM).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Denormals {
    /// Inputs that are denormal count as zero.
    pub(super) flush_inputs: bool,
    /// Results that are denormal become zero.
    pub(super) flush_outputs: bool,
}

impl Denormals {
    fn from_bits(bits: u32) -> Denormals {
        Denormals { flush_inputs: bits & 1 == 0, flush_outputs: bits & 2 == 0 }
    }
}

/// MODE, kept as its bits with the decoded parts beside them
/// (RDNA3 ISA document, 3.3.3: FP_ROUND 3:0, FP_DENORM 7:4, DX10_CLAMP 8, IEEE 9, EXCP_EN 20:12, FP16_OVFL 23).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mode {
    bits: u32,
    /// Rounding of f32.
    pub(super) round32: Round,
    /// Rounding of f16 and f64.
    pub(super) round16_64: Round,
    /// Denormals of f32.
    pub(super) denormals32: Denormals,
    /// Denormals of f16 and f64.
    pub(super) denormals16_64: Denormals,
    /// `clamp` turns NaN into 0.
    pub(super) dx10_clamp: bool,
    /// Signalling NaNs are quieted by min, max and the like.
    pub(super) ieee: bool,
    /// Min and max quiet the first of two NaNs.
    pub(super) quiets_two_nans: bool,
    /// f16 overflow gives the largest finite value.
    pub(super) fp16_overflow: bool,
}

impl Mode {
    /// MODE as a new wave has it, from RSRC1: FLOAT_MODE 19:12, DX10_CLAMP 21, IEEE_MODE 23, FP16_OVFL 26, and
    /// `exceptions`, those that trap. `switches` says whether the generation has the second, the third and the last.
    pub(super) fn from_rsrc1(rsrc1: u32, exceptions: u32, switches: bool) -> Mode {
        let bits = rsrc1 >> 12 & 0xff | (rsrc1 >> 26 & 1) << 23;
        if switches {
            let switches = (rsrc1 >> 21 & 1) << 8 | (rsrc1 >> 23 & 1) << 9;
            Mode::from_bits(bits | switches | exceptions << 12)
        } else {
            Mode::without_switches(bits)
        }
    }

    /// From the register's value, of a generation without DX10_CLAMP and IEEE.
    pub(super) fn without_switches(bits: u32) -> Mode {
        Mode { dx10_clamp: true, ieee: false, quiets_two_nans: true, ..Mode::from_bits(bits) }
    }

    /// The same generation's MODE with another value.
    pub(super) fn with_bits(&self, bits: u32) -> Mode {
        if self.quiets_two_nans { Mode::without_switches(bits) } else { Mode::from_bits(bits) }
    }

    /// The register's value.
    pub(super) fn bits(&self) -> u32 {
        self.bits
    }

    /// Which arithmetic exceptions trap: the lower seven bits of EXCP_EN. The other two are of memory.
    pub(super) fn exceptions(&self) -> u32 {
        self.bits >> 12 & 0x7f
    }

    /// From the register's value.
    pub(super) fn from_bits(bits: u32) -> Mode {
        Mode {
            bits,
            round32: Round::from_bits(bits),
            round16_64: Round::from_bits(bits >> 2),
            denormals32: Denormals::from_bits(bits >> 4),
            denormals16_64: Denormals::from_bits(bits >> 6),
            dx10_clamp: bits >> 8 & 1 != 0,
            ieee: bits >> 9 & 1 != 0,
            quiets_two_nans: false,
            fp16_overflow: bits >> 23 & 1 != 0,
        }
    }

    /// Replaces the four rounding bits (`s_round_mode`).
    pub(super) fn set_round(&mut self, bits: u32) {
        *self = self.with_bits(self.bits & !0xf | bits & 0xf);
    }

    /// Replaces the four denormal bits (`s_denorm_mode`).
    pub(super) fn set_denormals(&mut self, bits: u32) {
        *self = self.with_bits(self.bits & !0xf0 | (bits & 0xf) << 4);
    }
}
