//! Shared virtual memory: attributes of ranges of the process's own address space. Needs the primary
//! context.
#![expect(unsafe_code, reason = "a range is made accessible to devices")]

use crate::uapi::{self, SvmAttribute, SvmFlags};
use crate::{Error, Process, Result};

/// Where a range lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SvmLocation {
    /// In system memory.
    System,
    /// In a device's memory, by gpu_id.
    Device(u32),
    /// Nowhere in particular, or different parts in different places.
    Undefined,
}

impl SvmLocation {
    fn value(self) -> u32 {
        match self {
            SvmLocation::System => uapi::SVM_LOCATION_SYSMEM,
            SvmLocation::Device(gpu_id) => gpu_id,
            SvmLocation::Undefined => uapi::SVM_LOCATION_UNDEFINED,
        }
    }

    fn from_value(value: u32) -> SvmLocation {
        match value {
            uapi::SVM_LOCATION_SYSMEM => SvmLocation::System,
            uapi::SVM_LOCATION_UNDEFINED => SvmLocation::Undefined,
            gpu_id => SvmLocation::Device(gpu_id),
        }
    }
}

/// What a device may do with a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SvmAccess {
    /// Access; the range may move to the device.
    Access,
    /// Access to it where it is.
    InPlace,
    /// None.
    None,
}

/// One attribute to set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SvmSetting {
    /// Where the range should live.
    Preferred(SvmLocation),
    /// Where it moves now.
    Prefetch(SvmLocation),
    /// What a device (gpu_id) may do.
    Access(u32, SvmAccess),
    /// Flags to set.
    Set(SvmFlags),
    /// Flags to clear.
    Clear(SvmFlags),
    /// How much moves at once: log2 of pages, at most 63.
    Granularity(u32),
}

impl SvmSetting {
    fn attribute(self) -> SvmAttribute {
        let (type_, value) = match self {
            SvmSetting::Preferred(location) => (uapi::SVM_ATTR_PREFERRED_LOC, location.value()),
            SvmSetting::Prefetch(location) => (uapi::SVM_ATTR_PREFETCH_LOC, location.value()),
            SvmSetting::Access(gpu_id, SvmAccess::Access) => (uapi::SVM_ATTR_ACCESS, gpu_id),
            SvmSetting::Access(gpu_id, SvmAccess::InPlace) => {
                (uapi::SVM_ATTR_ACCESS_IN_PLACE, gpu_id)
            }
            SvmSetting::Access(gpu_id, SvmAccess::None) => (uapi::SVM_ATTR_NO_ACCESS, gpu_id),
            SvmSetting::Set(flags) => (uapi::SVM_ATTR_SET_FLAGS, flags.bits()),
            SvmSetting::Clear(flags) => (uapi::SVM_ATTR_CLR_FLAGS, flags.bits()),
            SvmSetting::Granularity(log2) => (uapi::SVM_ATTR_GRANULARITY, log2),
        };
        SvmAttribute { type_, value }
    }
}

/// What the attributes of a range are, over all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SvmAttributes {
    /// Where it should live.
    pub preferred: SvmLocation,
    /// Where it was last moved.
    pub prefetch: SvmLocation,
    /// Flags that all parts have.
    pub set: SvmFlags,
    /// Flags that no part has.
    pub clear: SvmFlags,
    /// The smallest granularity.
    pub granularity: u32,
    /// What each device asked about may do, in the order asked.
    pub access: Vec<SvmAccess>,
}

impl Process {
    /// Sets attributes of a range: `address` and `size` are multiples of the page.
    ///
    /// # Safety
    /// Where devices get access, the range stays mapped, and is accessed by the host only in ways that
    /// allow a device to read and write it, as long as they have it.
    ///
    /// # Errors
    /// [`Error::NeedsPrimary`], [`Error::Svm`].
    pub unsafe fn set_svm(&self, address: u64, size: u64, settings: &[SvmSetting]) -> Result<()> {
        self.need_primary("SVM")?;
        let mut attributes: Vec<_> = settings.iter().map(|setting| setting.attribute()).collect();
        self.driver()
            .svm(uapi::SVM_OP_SET_ATTR, address, size, &mut attributes)
            .map_err(|errno| Error::Svm { operation: "set", address, size, errno })
    }

    /// Reads the attributes of a range, and what `devices` (gpu_ids) may do with it.
    ///
    /// # Errors
    /// [`Error::NeedsPrimary`], [`Error::Svm`].
    pub fn svm(&self, address: u64, size: u64, devices: &[u32]) -> Result<SvmAttributes> {
        self.need_primary("SVM")?;
        let ask = |type_, value| SvmAttribute { type_, value };
        let mut attributes = vec![
            ask(uapi::SVM_ATTR_PREFERRED_LOC, 0),
            ask(uapi::SVM_ATTR_PREFETCH_LOC, 0),
            ask(uapi::SVM_ATTR_SET_FLAGS, 0),
            ask(uapi::SVM_ATTR_CLR_FLAGS, 0),
            ask(uapi::SVM_ATTR_GRANULARITY, 0),
        ];
        let common = attributes.len();
        attributes.extend(devices.iter().map(|&gpu_id| ask(uapi::SVM_ATTR_ACCESS, gpu_id)));
        self.driver()
            .svm(uapi::SVM_OP_GET_ATTR, address, size, &mut attributes)
            .map_err(|errno| Error::Svm { operation: "read", address, size, errno })?;
        // The kernel replaces the type of an access by the one that holds (kfd_svm.c,
        // `svm_range_get_attr`).
        let access = attributes[common..].iter().map(|attribute| match attribute.type_ {
            uapi::SVM_ATTR_ACCESS => SvmAccess::Access,
            uapi::SVM_ATTR_ACCESS_IN_PLACE => SvmAccess::InPlace,
            _ => SvmAccess::None,
        });
        Ok(SvmAttributes {
            preferred: SvmLocation::from_value(attributes[0].value),
            prefetch: SvmLocation::from_value(attributes[1].value),
            set: SvmFlags::from_bits_retain(attributes[2].value),
            clear: SvmFlags::from_bits_retain(attributes[3].value),
            granularity: attributes[4].value,
            access: access.collect(),
        })
    }
}
