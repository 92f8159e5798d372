//! The arguments of ioctls, for the record: names and fields are those of the kernel's headers.

use crate::paths::DRM_MAJOR;
use crate::raw;
use kfd::uapi::{self, amdgpu, request};
use selvedge_sys::drm;
use selvedge_sys::uapi::{Field, Layout, kind, number, size};
use std::ffi::c_void;
use std::fmt::{self, Display};

/// The most of an argument that is shown.
const MOST: usize = 512;

/// An ioctl that has returned.
#[derive(Debug)]
pub(crate) struct Call {
    /// Numbers of the device.
    pub(crate) device: Option<(u32, u32)>,
    pub(crate) request: u32,
    pub(crate) argument: *mut c_void,
}

/// amdgpu's, whose argument is one struct.
const AMDGPU: [(&str, &str); 3] =
    [("INFO", "Info"), ("GEM_VA", "GemVa"), ("GEM_USERPTR", "GemUserptr")];

/// Ioctls of the driver in AMD's packages, which Linux's own has not (ROCT-Thunk-Interface, include/linux/kfd_ioctl.h).
const OF_THE_PACKAGED_DRIVER: [(u8, &str); 5] = [
    (0x80, "IPC_IMPORT_HANDLE"),
    (0x81, "IPC_EXPORT_HANDLE"),
    (0x82, "DBG_TRAP"),
    (0x83, "CROSS_MEMORY_COPY"),
    (0x84, "RLC_SPM"),
];

fn layout(name: &str) -> Option<&'static Layout> {
    let all = uapi::LAYOUTS.iter().chain(amdgpu::LAYOUTS).chain([&drm::LAYOUTS]);
    all.flat_map(|module| module.iter()).find(|layout| layout.name == name)
}

impl Call {
    /// The kernel's name and the argument's layout.
    fn known(&self) -> Option<(&'static str, &'static str, Option<&'static Layout>)> {
        let number = number(self.request);
        if self.device?.0 != DRM_MAJOR {
            let mut packaged = OF_THE_PACKAGED_DRIVER.iter();
            if let Some((_, name)) = packaged.find(|known| known.0 == number) {
                return Some(("packaged AMDKFD_IOC_", name, None));
            }
            let ioctl = request::ALL
                .iter()
                .find(|known| selvedge_sys::uapi::number(known.request) == number)?;
            return Some(("AMDKFD_IOC_", ioctl.name, layout(ioctl.argument)));
        }
        if kind(self.request) != drm::BASE {
            return None;
        }
        let is_it = |request: u32| selvedge_sys::uapi::number(request) == number;
        if let Some((name, _, argument)) = drm::REQUESTS.iter().find(|known| is_it(known.1)) {
            return Some(("DRM_IOCTL_", name, layout(argument)));
        }
        let all = amdgpu::drm_request::ALL.iter();
        let (name, _) = all.copied().find(|known| is_it(known.1))?;
        let argument = AMDGPU.iter().find(|known| known.0 == name);
        Some(("DRM_IOCTL_AMDGPU_", name, argument.and_then(|known| layout(known.1))))
    }

    fn fields(&self, f: &mut fmt::Formatter<'_>, layout: &Layout) -> fmt::Result {
        let mut bytes = [0; MOST];
        let bytes = &mut bytes[..size(self.request).min(layout.size).min(MOST)];
        if !raw::peek(self.argument, bytes) {
            return write!(f, " {{{:p}}}", self.argument);
        }
        f.write_str(" {")?;
        let shown = layout.fields.iter().filter(|field| !field.name.starts_with("pad"));
        for (index, field) in shown.enumerate() {
            let Some(value) = value(bytes, field) else { continue };
            let space = if index == 0 { "" } else { " " };
            write!(f, "{space}{}={value:#x}", field.name)?;
        }
        f.write_str("}")
    }
}

/// A field that is a number.
fn value(bytes: &[u8], field: &Field) -> Option<u64> {
    let bytes = bytes.get(field.offset..field.offset + field.size).filter(|_| field.size <= 8)?;
    Some(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}

impl Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((prefix, name, layout)) = self.known() else {
            return write!(f, "unknown {:#010x}", self.request);
        };
        write!(f, "{prefix}{name}")?;
        layout.map_or(Ok(()), |layout| self.fields(f, layout))
    }
}
