//! Target ids: which processor an object was compiled for, and with which features.
//!
//! The canonical form is `gfx90a:sramecc+:xnack-`: processor, then features in alphabetic order,
//! each at most once. A feature that is not written is *any* (LLVM, User Guide for AMDGPU Backend,
//! "Target ID").

use std::fmt;
use std::str::FromStr;

/// One row of [`PROCESSORS`].
#[derive(Debug)]
struct Row {
    mach: u8,
    name: &'static str,
    sramecc: bool,
    xnack: bool,
    /// Generic processor whose code this one runs, and the generic version at which it joined.
    generic: Option<(&'static str, u8)>,
}

const fn row(mach: u8, name: &'static str) -> Row {
    Row { mach, name, sramecc: false, xnack: false, generic: None }
}

impl Row {
    const fn xnack(mut self) -> Self {
        self.xnack = true;
        self
    }
    const fn sramecc(mut self) -> Self {
        self.sramecc = true;
        self
    }
    const fn within(mut self, generic: &'static str) -> Self {
        self.generic = Some((generic, 1));
        self
    }
}

/// Every `amdgcn` processor with its `EF_AMDGPU_MACH` number and features.
///
/// Sources: LLVM 22, `llvm/BinaryFormat/ELF.h` (numbers) and the User Guide for AMDGPU Backend,
/// tables "AMDGPU Processors" (features) and "AMDGPU Generic Processors" (members). All members
/// joined their generic processor in its version 1. Ordered by number.
const PROCESSORS: &[Row] = &[
    row(0x20, "gfx600"),
    row(0x21, "gfx601"),
    row(0x22, "gfx700"),
    row(0x23, "gfx701"),
    row(0x24, "gfx702"),
    row(0x25, "gfx703"),
    row(0x26, "gfx704"),
    row(0x28, "gfx801").xnack(),
    row(0x29, "gfx802"),
    row(0x2a, "gfx803"),
    row(0x2b, "gfx810").xnack(),
    row(0x2c, "gfx900").xnack().within("gfx9-generic"),
    row(0x2d, "gfx902").xnack().within("gfx9-generic"),
    row(0x2e, "gfx904").xnack().within("gfx9-generic"),
    row(0x2f, "gfx906").xnack().sramecc().within("gfx9-generic"),
    row(0x30, "gfx908").xnack().sramecc(),
    row(0x31, "gfx909").xnack().within("gfx9-generic"),
    row(0x32, "gfx90c").xnack().within("gfx9-generic"),
    row(0x33, "gfx1010").xnack().within("gfx10-1-generic"),
    row(0x34, "gfx1011").xnack().within("gfx10-1-generic"),
    row(0x35, "gfx1012").xnack().within("gfx10-1-generic"),
    row(0x36, "gfx1030").within("gfx10-3-generic"),
    row(0x37, "gfx1031").within("gfx10-3-generic"),
    row(0x38, "gfx1032").within("gfx10-3-generic"),
    row(0x39, "gfx1033").within("gfx10-3-generic"),
    row(0x3a, "gfx602"),
    row(0x3b, "gfx705"),
    row(0x3c, "gfx805"),
    row(0x3d, "gfx1035").within("gfx10-3-generic"),
    row(0x3e, "gfx1034").within("gfx10-3-generic"),
    row(0x3f, "gfx90a").xnack().sramecc(),
    row(0x40, "gfx940").xnack().sramecc().within("gfx9-4-generic"),
    row(0x41, "gfx1100").within("gfx11-generic"),
    row(0x42, "gfx1013").xnack().within("gfx10-1-generic"),
    row(0x43, "gfx1150").within("gfx11-generic"),
    row(0x44, "gfx1103").within("gfx11-generic"),
    row(0x45, "gfx1036").within("gfx10-3-generic"),
    row(0x46, "gfx1101").within("gfx11-generic"),
    row(0x47, "gfx1102").within("gfx11-generic"),
    row(0x48, "gfx1200").within("gfx12-generic"),
    row(0x49, "gfx1250"),
    row(0x4a, "gfx1151").within("gfx11-generic"),
    row(0x4b, "gfx941").xnack().sramecc().within("gfx9-4-generic"),
    row(0x4c, "gfx942").xnack().sramecc().within("gfx9-4-generic"),
    row(0x4e, "gfx1201").within("gfx12-generic"),
    row(0x4f, "gfx950").xnack().sramecc().within("gfx9-4-generic"),
    row(0x51, "gfx9-generic").xnack(),
    row(0x52, "gfx10-1-generic").xnack(),
    row(0x53, "gfx10-3-generic"),
    row(0x54, "gfx11-generic"),
    row(0x55, "gfx1152").within("gfx11-generic"),
    row(0x58, "gfx1153").within("gfx11-generic"),
    row(0x59, "gfx12-generic"),
    row(0x5a, "gfx1251"),
    row(0x5f, "gfx9-4-generic").xnack().sramecc(),
];

/// A processor that AMD code objects are compiled for: one chip (`gfx1151`) or a generic one
/// (`gfx11-generic`) whose code several chips run.
#[derive(Clone, Copy)]
pub struct Processor(&'static Row);

impl Processor {
    /// All known processors, ordered by their `EF_AMDGPU_MACH` number.
    pub fn all() -> impl Iterator<Item = Self> {
        PROCESSORS.iter().map(Self)
    }

    /// The processor with this `EF_AMDGPU_MACH` number (low byte of `e_flags`).
    #[must_use]
    pub fn from_mach(mach: u8) -> Option<Self> {
        Self::all().find(|p| p.0.mach == mach)
    }

    /// The processor of this name, for example `gfx1151` or `gfx11-generic`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|p| p.0.name == name)
    }

    /// The processor with this `gfx_target_version` of the KFD topology:
    /// major · 10000 + minor · 100 + stepping, for example 110501 for `gfx1151`
    /// (Linux, `amdkfd/kfd_device.c`, `kgd2kfd_probe`).
    #[must_use]
    pub fn from_gfx_target_version(version: u32) -> Option<Self> {
        let (major, minor, stepping) = (version / 10000, version / 100 % 100, version % 100);
        Self::from_name(&format!("gfx{major}{minor:x}{stepping:x}"))
    }

    /// Name, for example `gfx1151`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// `EF_AMDGPU_MACH` number.
    #[must_use]
    pub fn mach(self) -> u8 {
        self.0.mach
    }

    /// Whether the processor has the SRAM ECC target feature.
    #[must_use]
    pub fn has_sramecc(self) -> bool {
        self.0.sramecc
    }

    /// Whether the processor has the XNACK (replay of page faults) target feature.
    #[must_use]
    pub fn has_xnack(self) -> bool {
        self.0.xnack
    }

    /// Whether this is a generic processor.
    #[must_use]
    pub fn is_generic(self) -> bool {
        self.0.name.ends_with("-generic")
    }

    /// The generic processor whose code this one runs.
    #[must_use]
    pub fn generic(self) -> Option<Self> {
        Self::from_name(self.0.generic?.0)
    }
}

impl PartialEq for Processor {
    fn eq(&self, other: &Self) -> bool {
        self.0.mach == other.0.mach
    }
}

impl Eq for Processor {}

impl std::hash::Hash for Processor {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.mach.hash(state);
    }
}

impl fmt::Display for Processor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl fmt::Debug for Processor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

/// Setting of a target feature; the discriminants are the two-bit fields of `e_flags` from code
/// object V4 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Feature {
    /// The processor has no such feature, or the object does not speak of it.
    Unsupported = 0,
    /// Runs with the feature on or off.
    Any = 1,
    /// Runs only with the feature off.
    Off = 2,
    /// Runs only with the feature on.
    On = 3,
}

impl Feature {
    /// The setting in a two-bit field (higher bits are ignored).
    pub(super) fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            0 => Self::Unsupported,
            1 => Self::Any,
            2 => Self::Off,
            _ => Self::On,
        }
    }

    fn unwritten(supported: bool) -> Self {
        if supported { Self::Any } else { Self::Unsupported }
    }

    fn switch(on: bool) -> Self {
        if on { Self::On } else { Self::Off }
    }

    /// Whether code compiled with `self` runs where the device has `device`.
    fn accepts(self, device: Self) -> bool {
        matches!(self, Self::Unsupported | Self::Any) || self == device
    }

    fn sign(self) -> Option<char> {
        match self {
            Self::On => Some('+'),
            Self::Off => Some('-'),
            Self::Any | Self::Unsupported => None,
        }
    }
}

/// Processor and features that code was compiled for, or that a device has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TargetId {
    /// The processor.
    pub processor: Processor,
    /// SRAM ECC setting.
    pub sramecc: Feature,
    /// XNACK setting.
    pub xnack: Feature,
    /// Version of a generic processor's code, 1 to 255, from `e_flags` of code object V6; `None`
    /// where nothing states it (names have no version, other processors have none).
    pub generic_version: Option<u8>,
}

impl TargetId {
    /// The processor with all its features at *any*.
    #[must_use]
    pub fn new(processor: Processor) -> Self {
        Self {
            processor,
            sramecc: Feature::unwritten(processor.has_sramecc()),
            xnack: Feature::unwritten(processor.has_xnack()),
            generic_version: None,
        }
    }

    /// The target of a device, which has each of its features either on or off. Settings of
    /// features that the processor lacks are ignored.
    #[must_use]
    pub fn of_device(processor: Processor, sramecc: bool, xnack: bool) -> Self {
        let mut target = Self::new(processor);
        if processor.has_sramecc() {
            target.sramecc = Feature::switch(sramecc);
        }
        if processor.has_xnack() {
            target.xnack = Feature::switch(xnack);
        }
        target
    }

    /// The target in an ELF header's `e_flags`.
    ///
    /// Code object V3 has one bit a feature (XNACK 0x100, SRAM ECC 0x200) and cannot say *any*;
    /// from V4 on a feature has two bits (XNACK 9:8, SRAM ECC 11:10); V6 adds the generic version
    /// in 31:24 (LLVM, User Guide for AMDGPU Backend, tables "`e_flags`" for V3, V4 and V6).
    ///
    /// # Errors
    /// The `EF_AMDGPU_MACH` number, if no processor has it.
    pub fn from_e_flags(e_flags: u32, abi: AbiVersion) -> Result<Self, u8> {
        let mach = (e_flags & 0xff) as u8;
        let processor = Processor::from_mach(mach).ok_or(mach)?;
        let mut target = Self::new(processor);
        if abi == AbiVersion::V3 {
            let v3 = |bit: u32, supported: bool| match (e_flags & bit != 0, supported) {
                (true, _) => Feature::On,
                (false, true) => Feature::Off,
                (false, false) => Feature::Unsupported,
            };
            target.xnack = v3(0x100, processor.has_xnack());
            target.sramecc = v3(0x200, processor.has_sramecc());
        } else {
            target.xnack = Feature::from_bits(e_flags >> 8);
            target.sramecc = Feature::from_bits(e_flags >> 10);
        }
        if processor.is_generic() && abi == AbiVersion::V6 {
            target.generic_version = Some((e_flags >> 24) as u8);
        }
        Ok(target)
    }

    /// Whether code compiled for `self` runs on `device`.
    ///
    /// The processor must be the same, or `self` a generic one that covers the device's, in a
    /// version not below the one at which it joined; each feature must be *any* or the device's
    /// (LLVM, User Guide for AMDGPU Backend, "Target ID" and "Generic Processor Versioning").
    ///
    /// # Errors
    /// The first thing that differs.
    pub fn matches(&self, device: &Self) -> Result<(), Mismatch> {
        if self.processor != device.processor {
            let joined = match device.processor.0.generic {
                Some((generic, joined)) if generic == self.processor.name() => joined,
                _ => return Err(Mismatch::Processor),
            };
            if let Some(version) = self.generic_version.filter(|v| *v < joined) {
                return Err(Mismatch::GenericVersion { object: version, joined });
            }
        }
        for (feature, object, device) in
            [("sramecc", self.sramecc, device.sramecc), ("xnack", self.xnack, device.xnack)]
        {
            if !object.accepts(device) {
                return Err(Mismatch::Feature { feature, object, device });
            }
        }
        Ok(())
    }

    /// How specific code for `self` is: an exact processor before a generic one, then by the
    /// number of features that are fixed.
    pub(super) fn specificity(&self) -> (bool, usize) {
        let fixed = [self.sramecc, self.xnack].into_iter().filter(|f| f.sign().is_some()).count();
        (!self.processor.is_generic(), fixed)
    }
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.processor.name())?;
        for (name, feature) in [("sramecc", self.sramecc), ("xnack", self.xnack)] {
            if let Some(sign) = feature.sign() {
                write!(f, ":{name}{sign}")?;
            }
        }
        Ok(())
    }
}

/// Why code does not run on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// Another processor.
    #[error("different processor")]
    Processor,
    /// The generic code is older than the processor's membership.
    #[error("generic version {object} is below {joined}, at which the processor joined")]
    GenericVersion {
        /// Version of the object.
        object: u8,
        /// Version at which the device's processor joined.
        joined: u8,
    },
    /// A feature is set differently.
    #[error("{feature} is {} in the object and {} on the device", state(*object), state(*device))]
    Feature {
        /// `sramecc` or `xnack`.
        feature: &'static str,
        /// Setting in the object.
        object: Feature,
        /// Setting on the device.
        device: Feature,
    },
}

fn state(feature: Feature) -> &'static str {
    match feature {
        Feature::Unsupported => "not supported",
        Feature::Any => "not known",
        Feature::Off => "off",
        Feature::On => "on",
    }
}

/// A string is not a target id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseTargetError {
    /// No processor has this name.
    #[error("`{0}` is not a known processor (for example gfx1151, gfx90a:xnack-, gfx11-generic)")]
    UnknownProcessor(String),
    /// A feature is not written as `name+` or `name-`, or the processor does not have it.
    #[error(
        "`{feature}` is not a feature of {processor} (sramecc+, sramecc-, xnack+, xnack- where it has them)"
    )]
    UnknownFeature {
        /// Processor name.
        processor: &'static str,
        /// The text of the feature.
        feature: String,
    },
    /// A feature is named twice.
    #[error("feature {0} is given twice")]
    RepeatedFeature(&'static str),
}

impl FromStr for TargetId {
    type Err = ParseTargetError;

    /// Reads `gfx90a:xnack-:sramecc+`, features in any order, and the older form of bundle
    /// entries `gfx906+xnack+sram-ecc`, in which a feature that is not written is off.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, features, old) = match text.find([':', '+']) {
            Some(at) => (&text[..at], &text[at + 1..], text.as_bytes()[at] == b'+'),
            None => (text, "", false),
        };
        let processor = Processor::from_name(name)
            .ok_or_else(|| ParseTargetError::UnknownProcessor(name.to_owned()))?;
        let mut target =
            if old { Self::of_device(processor, false, false) } else { Self::new(processor) };
        let (mut sramecc, mut xnack) = (None, None);
        let separator = if old { '+' } else { ':' };
        for feature in features.split(separator).filter(|_| text.len() > name.len()) {
            let unknown = || ParseTargetError::UnknownFeature {
                processor: processor.name(),
                feature: feature.to_owned(),
            };
            let (key, on) = if old {
                (feature, true)
            } else {
                match (feature.strip_suffix('+'), feature.strip_suffix('-')) {
                    (Some(key), _) => (key, true),
                    (_, Some(key)) => (key, false),
                    _ => return Err(unknown()),
                }
            };
            let (name, slot) = match key {
                "sramecc" | "sram-ecc" if processor.has_sramecc() => ("sramecc", &mut sramecc),
                "xnack" if processor.has_xnack() => ("xnack", &mut xnack),
                _ => return Err(unknown()),
            };
            if slot.replace(Feature::switch(on)).is_some() {
                return Err(ParseTargetError::RepeatedFeature(name));
            }
        }
        target.sramecc = sramecc.unwrap_or(target.sramecc);
        target.xnack = xnack.unwrap_or(target.xnack);
        Ok(target)
    }
}

/// Code object version: `EI_ABIVERSION` of the ELF header plus two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AbiVersion {
    /// Version 3.
    V3 = 3,
    /// Version 4.
    V4 = 4,
    /// Version 5.
    V5 = 5,
    /// Version 6.
    V6 = 6,
}

impl AbiVersion {
    /// The version with this `EI_ABIVERSION` (LLVM, `llvm/BinaryFormat/ELF.h`,
    /// `ELFABIVERSION_AMDGPU_HSA_V3` = 1 to `_V6` = 4).
    #[must_use]
    pub fn from_ident(ei_abiversion: u8) -> Option<Self> {
        Some(match ei_abiversion {
            1 => Self::V3,
            2 => Self::V4,
            3 => Self::V5,
            4 => Self::V6,
            _ => return None,
        })
    }
}

impl fmt::Display for AbiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "V{}", *self as u8)
    }
}
