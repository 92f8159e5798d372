//! Sharing memory with other processes, devices and drivers as dma-bufs.

use crate::allocation::Memory;
use crate::{Allocation, AllocationFlags, Device, Error, PAGE_SIZE, Process, Reservation, Result};
use selvedge_sys::File;
use std::os::fd::RawFd;
use std::sync::Arc;

/// What a dma-buf of an amdgpu device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DmabufInfo {
    /// Bytes.
    pub size: u64,
    /// The device whose memory it is.
    pub gpu_id: u32,
    /// Kind and attributes.
    pub flags: AllocationFlags,
    /// What its exporter attached to it.
    pub metadata: Vec<u8>,
}

impl Process {
    /// Asks what a dma-buf is.
    ///
    /// # Errors
    /// [`Error::DmabufInfo`]; EINVAL when no amdgpu device exported it.
    pub fn dmabuf_info(&self, fd: RawFd) -> Result<DmabufInfo> {
        let failed = |errno| Error::DmabufInfo { fd, errno };
        let sizes = self.driver().dmabuf_info(fd, &mut []).map_err(failed)?;
        let mut metadata = vec![0; sizes.metadata_size as usize];
        let info = match metadata.is_empty() {
            true => sizes,
            false => self.driver().dmabuf_info(fd, &mut metadata).map_err(failed)?,
        };
        metadata.truncate(info.metadata_size as usize);
        Ok(DmabufInfo {
            size: info.size,
            gpu_id: info.gpu_id,
            flags: AllocationFlags::from_bits_retain(info.flags),
            metadata,
        })
    }
}

impl Allocation {
    /// Exports the memory as a dma-buf, for reading and writing. The dma-buf keeps the memory alive
    /// in the kernel when the allocation is gone.
    ///
    /// # Errors
    /// [`Error::ExportDmabuf`].
    pub fn export_dmabuf(&self) -> Result<File> {
        let flags = (libc::O_CLOEXEC | libc::O_RDWR).cast_unsigned();
        self.device().process().driver().export_dmabuf(self.handle(), flags).map_err(|errno| {
            Error::ExportDmabuf { address: self.address(), handle: self.handle(), errno }
        })
    }

    /// Imports a dma-buf and maps it to the device, at an address of its own. The CPU does not see
    /// it through the allocation; mmap the dma-buf for that.
    ///
    /// # Errors
    /// [`Error::DmabufInfo`], [`Error::Reserve`], [`Error::OutsideAperture`],
    /// [`Error::ImportDmabuf`], [`Error::Map`].
    pub fn import_dmabuf(device: &Arc<Device>, fd: RawFd) -> Result<Arc<Allocation>> {
        let gpu_id = device.gpu_id();
        let process = device.process();
        let info = process.dmabuf_info(fd)?;
        let reservation = Reservation::new(process.system(), info.size, PAGE_SIZE)?;
        let address = reservation.address();
        device.check_aperture(address, reservation.len())?;
        let handle = process
            .driver()
            .import_dmabuf(gpu_id, address, fd)
            .map_err(|errno| Error::ImportDmabuf { gpu_id, fd, address, errno })?;
        Allocation::mapped(device.clone(), Memory::adopt(reservation, handle, info.flags))
    }
}
