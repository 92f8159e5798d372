//! Memory that devices can see.
#![expect(unsafe_code, reason = "gives out atomics in mapped memory")]

use crate::{Device, Error, PAGE_SIZE, Process, Reservation, Result, uapi};
use selvedge_sys::Errno;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};

/// Kinds and attributes of memory. [`AllocationFlags::PUBLIC`] maps it to the CPU, too.
pub use crate::uapi::AllocMemFlags as AllocationFlags;

/// The largest allocation, bytes: libhsakmt's limit (fmm.c), beyond which page-table memory grows
/// without bounds.
const MAX_SIZE: u64 = 1 << 39;

/// Where memory lies.
#[derive(Debug)]
enum Range {
    /// In addresses that were reserved for it.
    Reserved(Reservation),
    /// In memory of the process that was there already.
    User(usize),
}

/// A kernel handle and its addresses, without a release of its own.
#[derive(Debug)]
pub(crate) struct Memory {
    range: Range,
    handle: u64,
    size: u64,
    flags: AllocationFlags,
    is_host_mapped: bool,
}

impl Memory {
    /// Allocates, and maps to the CPU with `PUBLIC`.
    pub(crate) fn allocate(
        device: &Device,
        size: u64,
        alignment: u64,
        flags: AllocationFlags,
    ) -> Result<Memory> {
        let gpu_id = device.gpu_id();
        let refused = |errno| Error::Allocate { gpu_id, size, flags, address: 0, errno };
        if size == 0 || flags.contains(AllocationFlags::USERPTR) {
            return Err(refused(Errno::EINVAL));
        }
        if size >= MAX_SIZE {
            return Err(refused(Errno::ENOMEM));
        }
        if flags.contains(AllocationFlags::CONTIGUOUS) {
            device.process().need_version("contiguous device memory", 16)?;
        }
        let reservation = Reservation::new(device.process().system(), size, alignment)?;
        let size = reservation.len();
        device.check_aperture(reservation.address(), size)?;
        let mut args = uapi::AllocMemoryOfGpuArgs {
            va_addr: reservation.address(),
            size,
            gpu_id,
            flags: flags.bits(),
            ..uapi::AllocMemoryOfGpuArgs::default()
        };
        let address = reservation.address();
        device.process().driver().allocate(&mut args).map_err(|errno| Error::Allocate {
            gpu_id,
            size,
            flags,
            address,
            errno,
        })?;
        let mut memory = Memory {
            range: Range::Reserved(reservation),
            handle: args.handle,
            size,
            flags,
            is_host_mapped: false,
        };
        if flags.contains(AllocationFlags::PUBLIC)
            && let Err(error) = memory.map_host(device, args.mmap_offset)
        {
            memory.release(device.process(), &[]);
            return Err(error);
        }
        Ok(memory)
    }

    /// Makes memory of the process visible; whole pages of it.
    fn register(
        device: &Device,
        pointer: *mut u8,
        size: u64,
        flags: AllocationFlags,
    ) -> Result<Memory> {
        let gpu_id = device.gpu_id();
        let address = pointer as u64;
        let flags = flags | AllocationFlags::USERPTR;
        let failed = |errno| Error::Allocate { gpu_id, size, flags, address, errno };
        if !address.is_multiple_of(PAGE_SIZE) || !size.is_multiple_of(PAGE_SIZE) || size == 0 {
            return Err(failed(Errno::EINVAL));
        }
        device.check_aperture(address, size)?;
        let mut args = uapi::AllocMemoryOfGpuArgs {
            va_addr: address,
            size,
            mmap_offset: address,
            gpu_id,
            flags: flags.bits(),
            ..uapi::AllocMemoryOfGpuArgs::default()
        };
        device.process().driver().allocate(&mut args).map_err(failed)?;
        let range = Range::User(pointer as usize);
        Ok(Memory { range, handle: args.handle, size, flags, is_host_mapped: true })
    }

    /// Memory that the kernel has a handle for already.
    pub(crate) fn adopt(reservation: Reservation, handle: u64, flags: AllocationFlags) -> Memory {
        let size = reservation.len();
        let range = Range::Reserved(reservation);
        Memory { range, handle, size, flags, is_host_mapped: false }
    }

    fn map_host(&mut self, device: &Device, offset: u64) -> Result<()> {
        let Range::Reserved(reservation) = &self.range else { return Ok(()) };
        // Doorbells and registers are /dev/kfd's, memory is the render file's.
        let of_driver = AllocationFlags::DOORBELL | AllocationFlags::MMIO_REMAP;
        let fd = match self.flags.intersects(of_driver) {
            true => device.process().driver().file().fd(),
            false => device.render_file().fd(),
        };
        reservation.map_file(fd, offset).map_err(|errno| Error::MapForCpu {
            address: reservation.address(),
            size: self.size,
            errno,
        })?;
        self.is_host_mapped = true;
        Ok(())
    }

    pub(crate) fn address(&self) -> u64 {
        self.pointer() as u64
    }

    pub(crate) fn handle(&self) -> u64 {
        self.handle
    }

    pub(crate) fn pointer(&self) -> *mut u8 {
        match &self.range {
            Range::Reserved(reservation) => reservation.pointer(),
            Range::User(address) => *address as *mut u8,
        }
    }

    /// Gives up the handle without freeing it; its range goes on.
    pub(crate) fn into_reservation(self) -> Option<Reservation> {
        match self.range {
            Range::Reserved(reservation) => Some(reservation),
            Range::User(_) => None,
        }
    }

    pub(crate) fn map(&self, process: &Process, devices: &[u32]) -> Result<()> {
        process.driver().map(self.handle, devices).map_err(|(done, errno)| Error::Map {
            address: self.address(),
            handle: self.handle,
            devices: devices.to_vec(),
            done,
            errno,
        })
    }

    fn unmap(&self, process: &Process, devices: &[u32]) -> Result<()> {
        process.driver().unmap(self.handle, devices).map_err(|(done, errno)| Error::Unmap {
            address: self.address(),
            handle: self.handle,
            devices: devices.to_vec(),
            done,
            errno,
        })
    }

    /// Unmaps from the devices it is mapped to, then frees; the addresses go with the value. When
    /// one fails, everything after it is left as it is, and counted.
    pub(crate) fn release(&self, process: &Process, mapped: &[u32]) {
        if !process.is_here() {
            return;
        }
        let released = match mapped {
            [] => Ok(()),
            _ => self.unmap(process, mapped),
        }
        .is_ok()
            && process.driver().free(self.handle).is_ok();
        if !released {
            process.quarantine();
            if let Range::Reserved(reservation) = &self.range {
                reservation.abandon();
            }
        }
    }
}

/// Memory that devices can see, at one address for all of them and the CPU. Dropping it unmaps and
/// frees it; whoever has given its address to a device keeps it alive until the device is done.
#[derive(Debug)]
pub struct Allocation {
    device: Arc<Device>,
    memory: Memory,
    mapped: Mutex<Vec<u32>>,
}

impl Allocation {
    pub(crate) fn mapped(device: Arc<Device>, memory: Memory) -> Result<Arc<Allocation>> {
        let gpu_id = device.gpu_id();
        let allocation = Allocation { device, memory, mapped: Mutex::new(Vec::new()) };
        allocation.map_ids(&[gpu_id])?;
        Ok(Arc::new(allocation))
    }

    /// Makes memory of this process visible to a device, at its own address: whole pages, with the
    /// attributes of `flags`. Needs the primary context.
    ///
    /// # Safety
    /// The range is mapped readable and writable, stays mapped, and is accessed by the host only in
    /// ways that allow a device to read and write it, as long as the allocation lives.
    ///
    /// # Errors
    /// [`Error::NeedsPrimary`], [`Error::OutsideAperture`], [`Error::Allocate`], [`Error::Map`].
    pub unsafe fn register(
        device: &Arc<Device>,
        pointer: *mut u8,
        size: u64,
        flags: AllocationFlags,
    ) -> Result<Arc<Allocation>> {
        device.process().need_primary("memory of the process (user pointers)")?;
        Allocation::mapped(device.clone(), Memory::register(device, pointer, size, flags)?)
    }

    /// The device it was allocated on.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The address, for devices and the CPU.
    pub fn address(&self) -> u64 {
        self.memory.address()
    }

    /// Bytes, a multiple of the page.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> u64 {
        self.memory.size
    }

    /// Kind and attributes.
    pub fn flags(&self) -> AllocationFlags {
        self.memory.flags
    }

    /// What ioctls call it.
    pub fn handle(&self) -> u64 {
        self.memory.handle
    }

    /// The first byte for the CPU, where it can see the memory. Nothing says who else accesses it
    /// meanwhile: form no references, and copy with the device kept away.
    pub fn host_pointer(&self) -> Option<*mut u8> {
        let memory = &self.memory;
        memory.is_host_mapped.then(|| memory.pointer())
    }

    /// The memory as words for the CPU.
    ///
    /// # Errors
    /// [`Error::NoHostAccess`], also in a forked child.
    pub fn words(&self) -> Result<&[AtomicU32]> {
        let pointer = self.part(0, self.len())?;
        // SAFETY: the range is mapped for as long as `self` lives, page-aligned, and atomics may be
        // shared with whoever accesses it.
        Ok(unsafe { std::slice::from_raw_parts(pointer.cast(), (self.len() / 4) as usize) })
    }

    /// One 32-bit word for the CPU, at a byte offset.
    ///
    /// # Errors
    /// [`Error::NoHostAccess`], [`Error::OutOfBounds`].
    pub fn word(&self, offset: u64) -> Result<&AtomicU32> {
        let pointer = self.part(offset, 4)?;
        // SAFETY: as for `words`; the offset is aligned and inside.
        Ok(unsafe { AtomicU32::from_ptr(pointer.cast()) })
    }

    /// One 64-bit word for the CPU, at a byte offset.
    ///
    /// # Errors
    /// [`Error::NoHostAccess`], [`Error::OutOfBounds`].
    pub fn long(&self, offset: u64) -> Result<&AtomicU64> {
        let pointer = self.part(offset, 8)?;
        // SAFETY: as for `words`; the offset is aligned and inside.
        Ok(unsafe { AtomicU64::from_ptr(pointer.cast()) })
    }

    /// An aligned part of the memory, of a length that is its alignment or the whole.
    fn part(&self, offset: u64, length: u64) -> Result<*mut u8> {
        let (address, size) = (self.address(), self.len());
        let inside = offset.checked_add(length).is_some_and(|end| end <= size);
        if !inside || !offset.is_multiple_of(length) {
            return Err(Error::OutOfBounds { address, size, offset, length });
        }
        match self.host_pointer() {
            Some(pointer) if self.device.process().is_here() => {
                Ok(pointer.wrapping_add(offset as usize))
            }
            _ => Err(Error::NoHostAccess { address }),
        }
    }

    /// Maps it to further devices of the same process.
    ///
    /// # Errors
    /// [`Error::Map`]; what is mapped by then stays mapped.
    pub fn map_to(&self, devices: &[&Device]) -> Result<()> {
        self.map_ids(&devices.iter().map(|device| device.gpu_id()).collect::<Vec<_>>())
    }

    fn map_ids(&self, devices: &[u32]) -> Result<()> {
        let mut mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<u32> =
            devices.iter().copied().filter(|device| !mapped.contains(device)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let result = self.memory.map(self.device.process(), &new);
        match &result {
            Ok(()) => mapped.extend(&new),
            Err(Error::Map { done, .. }) => mapped.extend(new.iter().take(*done)),
            Err(_) => {}
        }
        result
    }

    /// Unmaps it from devices.
    ///
    /// # Errors
    /// [`Error::Unmap`]; what is unmapped by then stays unmapped.
    pub fn unmap_from(&self, devices: &[&Device]) -> Result<()> {
        let mut mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        let ids = devices.iter().map(|device| device.gpu_id());
        let old: Vec<u32> = ids.filter(|device| mapped.contains(device)).collect();
        if old.is_empty() {
            return Ok(());
        }
        let result = self.memory.unmap(self.device.process(), &old);
        let done = match &result {
            Err(Error::Unmap { done, .. }) => *done,
            _ => old.len(),
        };
        mapped.retain(|device| !old.iter().take(done).any(|gone| gone == device));
        result
    }

    /// The devices it is mapped to, by gpu_id.
    pub fn mapped_to(&self) -> Vec<u32> {
        self.mapped.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let mapped = self.mapped.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.memory.release(self.device.process(), mapped);
    }
}
