//! The calls that every DRM driver answers (`<drm/drm.h>`): who drives the device, and closing and
//! sharing of buffer objects. Drivers add their own from [`COMMAND_BASE`].
#![expect(unsafe_code, reason = "ioctl takes raw pointers")]

mod uapi;

pub use uapi::*;

use crate::{Errno, File};
use std::os::fd::RawFd;

/// Who drives a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Driver {
    /// The driver's name: `amdgpu`, `amdxdna_accel_driver`.
    pub name: String,
    /// Major, minor version and patch level of its interface.
    pub version: (i32, i32, i32),
}

/// Asks who drives the device.
///
/// # Errors
/// As ioctl(2).
pub fn driver(file: &File) -> Result<Driver, Errno> {
    let mut args = Version::default();
    // SAFETY: without room for the strings, the kernel writes only the argument.
    unsafe { file.ioctl(VERSION, &raw mut args)? };
    let mut name = vec![0_u8; usize::try_from(args.name_len).map_err(|_| Errno::EOVERFLOW)?];
    args =
        Version { name_len: args.name_len, name: name.as_mut_ptr() as u64, ..Version::default() };
    // SAFETY: there is room for the name, of the length that is given.
    unsafe { file.ioctl(VERSION, &raw mut args)? };
    Ok(Driver {
        name: String::from_utf8_lossy(&name).into_owned(),
        version: (args.version_major, args.version_minor, args.version_patchlevel),
    })
}

/// Asks for a capability, `CAP_*`.
///
/// # Errors
/// As ioctl(2).
pub fn capability(file: &File, capability: u64) -> Result<u64, Errno> {
    let mut args = GetCap { capability, value: 0 };
    // SAFETY: the argument holds no addresses.
    unsafe { file.ioctl(GET_CAP, &raw mut args)? };
    Ok(args.value)
}

/// Lets go of a buffer object.
///
/// # Errors
/// As ioctl(2).
pub fn close_buffer(file: &File, handle: u32) -> Result<(), Errno> {
    let mut args = GemClose { handle, pad: 0 };
    // SAFETY: the argument holds no addresses.
    unsafe { file.ioctl(GEM_CLOSE, &raw mut args)? };
    Ok(())
}

/// Exports a buffer object as a dma-buf, for reading and writing.
///
/// # Errors
/// As ioctl(2).
pub fn export_buffer(file: &File, handle: u32) -> Result<File, Errno> {
    let flags = (libc::O_CLOEXEC | libc::O_RDWR).cast_unsigned();
    let mut args = PrimeHandle { handle, flags, fd: -1 };
    // SAFETY: the argument holds no addresses.
    unsafe { file.ioctl(PRIME_HANDLE_TO_FD, &raw mut args)? };
    // SAFETY: the kernel opened the descriptor for this call.
    Ok(unsafe { File::from_raw(file.system(), args.fd) })
}

/// Imports a dma-buf; the same buffer gets the same handle.
///
/// # Errors
/// As ioctl(2).
pub fn import_buffer(file: &File, fd: RawFd) -> Result<u32, Errno> {
    let mut args = PrimeHandle { handle: 0, flags: 0, fd };
    // SAFETY: the argument holds no addresses.
    unsafe { file.ioctl(PRIME_FD_TO_HANDLE, &raw mut args)? };
    Ok(args.handle)
}
