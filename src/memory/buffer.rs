//! A program's data.

use super::HostVisible;
use crate::code::Image;
use crate::device::DeviceInner;
use crate::{Device, Error};
use kfd::{Allocation, AllocationFlags};
use std::fmt;
use std::sync::Arc;
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// Where a buffer's bytes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// System memory (GTT) that the device caches. What one side writes the other sees at the borders of
    /// submissions: host writes by the next one, device writes when it is done.
    #[default]
    Host,
    /// System memory that the device does not cache: each side sees the other's writes at once, in order if they
    /// are atomic. For flags and queues that kernels and the host share; slow for anything else.
    Coherent,
    /// The device's own memory (VRAM). The host reaches it where the whole of it is visible
    /// through PCI (`large BAR`), else only by copies on the device.
    Device,
}

/// Memory of one device. Clones share it; submissions keep what they use.
#[derive(Clone)]
pub struct Buffer {
    inner: Arc<BufferInner>,
}

pub(crate) struct BufferInner {
    device: Arc<DeviceInner>,
    memory: Memory,
    length: u64,
    placement: Placement,
}

enum Memory {
    Visible(HostVisible),
    Hidden(Arc<Allocation>),
}

impl Buffer {
    pub(crate) fn new(device: &Device, bytes: u64, placement: Placement) -> Result<Buffer, Error> {
        let flags = AllocationFlags::WRITABLE | AllocationFlags::NO_SUBSTITUTE;
        Buffer::with_flags(device, bytes, 1, placement, flags)
    }

    pub(crate) fn new_code(
        device: &Device,
        bytes: u64,
        alignment: u64,
        placement: Placement,
    ) -> Result<Buffer, Error> {
        let flags = AllocationFlags::WRITABLE
            | AllocationFlags::EXECUTABLE
            | AllocationFlags::NO_SUBSTITUTE;
        Buffer::with_flags(device, bytes, alignment, placement, flags)
    }

    fn with_flags(
        device: &Device,
        bytes: u64,
        alignment: u64,
        placement: Placement,
        flags: AllocationFlags,
    ) -> Result<Buffer, Error> {
        let inner = device.inner();
        let memory = inner.allocate(bytes.max(1), alignment, placement, flags)?;
        let memory = match memory.host_pointer() {
            Some(_) => HostVisible::new(memory).map(Memory::Visible),
            None => Some(Memory::Hidden(memory)),
        };
        let memory = memory.ok_or(Error::NotHostVisible { bytes })?;
        let buffer = Buffer {
            inner: Arc::new(BufferInner {
                device: inner.clone(),
                memory,
                length: bytes.max(1),
                placement,
            }),
        };
        inner.note_allocated(buffer.address(), buffer.len());
        Ok(buffer)
    }

    /// Device address of the first byte.
    pub fn address(&self) -> u64 {
        self.inner.address()
    }

    /// Bytes asked for; 1 when 0 were.
    pub fn len(&self) -> u64 {
        self.inner.length
    }

    /// A buffer has at least one byte.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The whole buffer.
    pub fn view(&self) -> BufferView<'_> {
        BufferView { buffer: self, offset: 0, length: self.len() }
    }

    /// Part of the buffer.
    ///
    /// # Errors
    /// [`Error::Range`] when it does not lie in the buffer.
    pub fn slice(&self, offset: u64, bytes: u64) -> Result<BufferView<'_>, Error> {
        self.check(offset, bytes)?;
        Ok(BufferView { buffer: self, offset, length: bytes })
    }

    /// Copies values in, from the first byte on. Work in flight that uses the buffer sees old and new
    /// bytes mixed: wait for it first.
    ///
    /// # Errors
    /// [`Error::Range`] when there are more than fit; [`Error::NotHostVisible`].
    pub fn upload<T: IntoBytes + Immutable>(&self, values: &[T]) -> Result<(), Error> {
        self.upload_at(0, values)
    }

    /// Copies values in, from byte `offset` on.
    ///
    /// # Errors
    /// As [`Buffer::upload`].
    pub fn upload_at<T: IntoBytes + Immutable>(
        &self,
        offset: u64,
        values: &[T],
    ) -> Result<(), Error> {
        let bytes = values.as_bytes();
        self.check(offset, bytes.len() as u64)?;
        self.visible()?.copy_in(offset as usize, bytes);
        self.flush();
        Ok(())
    }

    /// Copies the whole buffer out, as many values as fit.
    ///
    /// # Errors
    /// [`Error::NotHostVisible`].
    pub fn read<T: FromBytes + IntoBytes + Immutable>(&self) -> Result<Vec<T>, Error> {
        let count = self.len() as usize / size_of::<T>().max(1);
        let mut values = Vec::new();
        values.resize_with(count, T::new_zeroed);
        self.read_at(0, &mut values)?;
        Ok(values)
    }

    /// Copies values out, from byte `offset` on.
    ///
    /// # Errors
    /// [`Error::Range`] when there are fewer; [`Error::NotHostVisible`].
    pub fn read_at<T: FromBytes + IntoBytes>(
        &self,
        offset: u64,
        values: &mut [T],
    ) -> Result<(), Error> {
        let bytes = values.as_mut_bytes();
        self.check(offset, bytes.len() as u64)?;
        self.visible()?.copy_out(offset as usize, bytes);
        Ok(())
    }

    /// Sets every byte.
    ///
    /// # Errors
    /// [`Error::NotHostVisible`].
    pub fn fill(&self, value: u8) -> Result<(), Error> {
        let memory = self.visible()?;
        memory.fill(0, self.len() as usize, value);
        self.flush();
        Ok(())
    }

    /// Makes host writes through PCI visible to the device.
    fn flush(&self) {
        if self.inner.placement == Placement::Device {
            self.inner.device.flush_host_writes();
        }
    }

    /// Lays out a code object's image from the first byte on, for the address this buffer has.
    pub(crate) fn write_image(&self, image: &Image) -> Result<(), Error> {
        self.check(0, image.size())?;
        let memory = self.visible()?;
        let put = |offset: u64, bytes: &[u8]| memory.copy_in(offset as usize, bytes);
        image.write(self.address(), |_| None, put)?;
        self.flush();
        Ok(())
    }

    /// Whether the host can read and write it.
    pub fn is_host_visible(&self) -> bool {
        matches!(self.inner.memory, Memory::Visible(_))
    }

    pub(crate) fn device(&self) -> &Arc<DeviceInner> {
        &self.inner.device
    }

    pub(crate) fn inner(&self) -> &Arc<BufferInner> {
        &self.inner
    }

    fn visible(&self) -> Result<&HostVisible, Error> {
        self.inner.device.check_fork("buffer")?;
        match &self.inner.memory {
            Memory::Visible(memory) => Ok(memory),
            Memory::Hidden(_) => Err(Error::NotHostVisible { bytes: self.len() }),
        }
    }

    fn check(&self, offset: u64, bytes: u64) -> Result<(), Error> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.len() => Ok(()),
            _ => Err(Error::Range { offset, bytes, length: self.len() }),
        }
    }
}

impl BufferInner {
    fn address(&self) -> u64 {
        match &self.memory {
            Memory::Visible(memory) => memory.address(),
            Memory::Hidden(allocation) => allocation.address(),
        }
    }
}

impl Drop for BufferInner {
    fn drop(&mut self) {
        self.device.note_freed(self.address());
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer {{ {:#x}, {} bytes }}", self.address(), self.len())
    }
}

/// Part of a buffer.
#[derive(Clone, Copy, Debug)]
pub struct BufferView<'a> {
    buffer: &'a Buffer,
    offset: u64,
    length: u64,
}

impl<'a> BufferView<'a> {
    /// The buffer.
    pub fn buffer(&self) -> &'a Buffer {
        self.buffer
    }

    /// Device address of the first byte.
    pub fn address(&self) -> u64 {
        self.buffer.address() + self.offset
    }

    /// Bytes.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

impl Device {
    /// Memory for `bytes` bytes where a kernel can use it. Contents are unspecified; 0 bytes become 1.
    ///
    /// # Errors
    /// What Linux says, with the amount asked for and what is free.
    pub fn allocate(&self, bytes: u64, placement: Placement) -> Result<Buffer, Error> {
        Buffer::new(self, bytes, placement)
    }

    /// A buffer with a copy of `values`, in [`Placement::Host`].
    ///
    /// # Errors
    /// As [`Device::allocate`].
    pub fn allocate_from<T: IntoBytes + Immutable>(&self, values: &[T]) -> Result<Buffer, Error> {
        let buffer = self.allocate(size_of_val(values) as u64, Placement::Host)?;
        buffer.upload(values)?;
        Ok(buffer)
    }
}
