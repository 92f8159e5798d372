//! How an ioctl's argument crosses: copied in, worked on, copied out.

use super::user;
use selvedge_sys::Errno;
use selvedge_sys::uapi::{Direction, size};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// An ioctl as the process made it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    /// Request word; its type, number and size count.
    pub(crate) request: u32,
    /// Which of the kernel's directions are taken, as bits of [`Direction`].
    pub(crate) directions: u32,
    /// Address of the argument.
    pub(crate) argument: u64,
}

impl Call {
    /// As `kfd_ioctl` takes it, which goes by its own description of the ioctl alone.
    pub(crate) fn by_number(request: u32, argument: u64) -> Call {
        Call { request, argument, directions: Direction::ReadWrite as u32 }
    }

    /// As `drm_ioctl` takes it, which copies only where the caller's direction bits agree.
    pub(crate) fn as_declared(self) -> Call {
        Call { directions: self.request >> 30, ..self }
    }

    /// Does what `kfd_ioctl` (kfd_chardev.c) and `drm_ioctl` (drm_ioctl.c) do around a handler: the kernel's
    /// own description of the ioctl gives direction and size; the caller's size, when shorter, is filled up
    /// with zeros and cuts the answer. The argument is copied out even after an error.
    pub(crate) fn bytes(
        self,
        direction: Direction,
        known_size: usize,
        handler: impl FnOnce(&mut [u8], usize) -> Result<(), Errno>,
    ) -> Result<i32, Errno> {
        let user_size = size(self.request);
        let size = known_size.max(user_size);
        // Words keep structs in it aligned.
        let mut words = vec![0u64; size.div_ceil(8)];
        let buffer = &mut words.as_mut_bytes()[..size];
        let directions = direction as u32 & self.directions;
        if directions & Direction::Write as u32 != 0 {
            user::read(self.argument, &mut buffer[..user_size])?;
        }
        let result = handler(buffer, user_size);
        if directions & Direction::Read as u32 != 0 {
            user::write(self.argument, &buffer[..user_size])?;
        }
        result.map(|()| 0)
    }

    /// [`Call::bytes`] for a struct.
    pub(crate) fn exchange<A: FromBytes + IntoBytes + KnownLayout + Immutable>(
        self,
        direction: Direction,
        handler: impl FnOnce(&mut A) -> Result<(), Errno>,
    ) -> Result<i32, Errno> {
        self.bytes(direction, size_of::<A>(), |buffer, _| {
            let (argument, _) = A::mut_from_prefix(buffer).map_err(|_| Errno::EINVAL)?;
            handler(argument)
        })
    }
}
