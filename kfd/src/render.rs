//! The render node: amdgpu's own interface, as far as a KFD client needs it.
#![expect(unsafe_code, reason = "ioctl takes raw pointers")]

use crate::uapi::amdgpu::{
    BoListEntry, BoListIn, CHUNK_ID_BO_HANDLES, CHUNK_ID_IB, CTX_OP_ALLOC_CTX, CTX_OP_FREE_CTX, Cs,
    CsChunk, CsChunkIb, CsIn, Ctx, GEM_VA_40, GemCreate, GemCreateFlags, GemCreateIn, GemDomain,
    GemMmap, GemVa, GemVaFlags, INFO_DEV_INFO, INFO_GPUVM_FAULT, INFO_HW_IP_INFO, INFO_MEMORY,
    INFO_TIMESTAMP, INFO_VRAM_LOST_COUNTER, Info, InfoDevice, InfoFirmware, InfoGpuvmFault,
    InfoHwIp, MemoryInfo, VA_OP_MAP, WaitCs, WaitCsIn, drm_request,
};
use selvedge_sys::{Errno, File, Mapping, Protection, drm};
use std::os::fd::RawFd;
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// An open render node. The errors of its queries are the kernel's.
#[derive(Debug)]
pub struct RenderFile {
    file: File,
}

impl RenderFile {
    pub(crate) fn new(file: File) -> RenderFile {
        RenderFile { file }
    }

    pub(crate) fn into_file(self) -> File {
        self.file
    }

    /// The descriptor, for use while this lives.
    pub fn fd(&self) -> RawFd {
        self.file.fd()
    }

    /// The file, for calls of one's own.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Asks for something of a fixed size. A kernel that knows less of it leaves the rest zero.
    fn query<T: FromBytes + IntoBytes + Immutable>(&self, mut info: Info) -> Result<T, Errno> {
        let mut answer = T::new_zeroed();
        info.return_pointer = std::ptr::from_mut(&mut answer) as u64;
        info.return_size = u32::try_from(size_of::<T>()).map_err(|_| Errno::EINVAL)?;
        // SAFETY: the kernel writes at most `return_size` bytes to the answer, whose every bit
        // pattern is valid.
        unsafe { self.file.ioctl(drm_request::INFO, &raw mut info)? };
        Ok(answer)
    }

    /// The device.
    ///
    /// # Errors
    /// As ioctl(2).
    pub fn device_info(&self) -> Result<InfoDevice, Errno> {
        self.query(Info::new(INFO_DEV_INFO))
    }

    /// Its memory.
    ///
    /// # Errors
    /// As ioctl(2).
    pub fn memory_info(&self) -> Result<MemoryInfo, Errno> {
        self.query(Info::new(INFO_MEMORY))
    }

    /// The `instance`th engine of a kind, `HW_IP_*`.
    ///
    /// # Errors
    /// As ioctl(2).
    pub fn engine_info(&self, kind: u32, instance: u32) -> Result<InfoHwIp, Errno> {
        self.query(Info::hw_ip(INFO_HW_IP_INFO, kind, instance))
    }

    /// The version of a firmware, `INFO_FW_*`.
    ///
    /// # Errors
    /// As ioctl(2).
    pub fn firmware_version(&self, firmware: u32) -> Result<InfoFirmware, Errno> {
        self.query(Info::firmware(firmware))
    }

    /// One register, at a dword offset, broadcast to all shader engines and arrays.
    ///
    /// # Errors
    /// As ioctl(2).
    pub fn register(&self, dword_offset: u32) -> Result<u32, Errno> {
        self.query(Info::registers(dword_offset, 1, 0xffff))
    }

    /// The device's clock, ticks.
    ///
    /// # Errors
    /// As ioctl(2).
    pub fn timestamp(&self) -> Result<u64, Errno> {
        self.query(Info::new(INFO_TIMESTAMP))
    }

    /// A sensor, `AMDGPU_INFO_SENSOR_*`.
    ///
    /// # Errors
    /// As ioctl(2).
    pub fn sensor(&self, sensor: u32) -> Result<u32, Errno> {
        self.query(Info::sensor(sensor))
    }

    /// How often device memory was lost.
    ///
    /// # Errors
    /// As ioctl(2).
    pub fn memory_lost_count(&self) -> Result<u32, Errno> {
        self.query(Info::new(INFO_VRAM_LOST_COUNTER))
    }

    /// The last page fault.
    ///
    /// # Errors
    /// As ioctl(2).
    pub fn last_fault(&self) -> Result<InfoGpuvmFault, Errno> {
        self.query(Info::new(INFO_GPUVM_FAULT))
    }

    pub(crate) fn create_context(&self) -> Result<u32, Errno> {
        let mut args = Ctx::new(CTX_OP_ALLOC_CTX, 0);
        // SAFETY: the argument holds no addresses.
        unsafe { self.file.ioctl(drm_request::CTX, &raw mut args)? };
        Ok(args.context())
    }

    pub(crate) fn free_context(&self, context: u32) -> Result<(), Errno> {
        let mut args = Ctx::new(CTX_OP_FREE_CTX, context);
        // SAFETY: the argument holds no addresses.
        unsafe { self.file.ioctl(drm_request::CTX, &raw mut args)? };
        Ok(())
    }

    /// A buffer in system memory that the CPU can map.
    pub(crate) fn create_buffer(&self, size: u64, alignment: u64) -> Result<u32, Errno> {
        let mut args = GemCreate {
            in_: GemCreateIn {
                bo_size: size,
                alignment,
                domains: GemDomain::GTT.bits(),
                domain_flags: GemCreateFlags::CPU_ACCESS_REQUIRED.bits(),
            },
        };
        // SAFETY: the argument holds no addresses.
        unsafe { self.file.ioctl(drm_request::GEM_CREATE, &raw mut args)? };
        Ok(args.out().handle)
    }

    pub(crate) fn map_buffer(&self, handle: u32, size: u64) -> Result<Mapping, Errno> {
        let mut args = GemMmap::new(handle);
        // SAFETY: the argument holds no addresses.
        unsafe { self.file.ioctl(drm_request::GEM_MMAP, &raw mut args)? };
        let length = usize::try_from(size).map_err(|_| Errno::ENOMEM)?;
        let protection = Protection::READ | Protection::WRITE;
        Mapping::of_file(self.file.system(), self.fd(), args.out.addr_ptr, length, protection)
    }

    /// Gives a buffer an address, readable and executable, with the next submission.
    pub(crate) fn map_buffer_to_device(
        &self,
        handle: u32,
        address: u64,
        size: u64,
    ) -> Result<(), Errno> {
        let flags = GemVaFlags::DELAY_UPDATE | GemVaFlags::READABLE | GemVaFlags::EXECUTABLE;
        let mut args = GemVa {
            handle,
            operation: VA_OP_MAP,
            flags: flags.bits(),
            va_address: address,
            map_size: size,
            ..GemVa::default()
        };
        // SAFETY: the address is the device's. The short form is what every kernel takes.
        unsafe { self.file.ioctl(GEM_VA_40, &raw mut args)? };
        Ok(())
    }

    pub(crate) fn close_buffer(&self, handle: u32) -> Result<(), Errno> {
        drm::close_buffer(&self.file, handle)
    }

    /// Submits one indirect buffer with the buffer it lies in; answers its sequence number.
    pub(crate) fn submit(&self, context: u32, buffer: u32, ib: &CsChunkIb) -> Result<u64, Errno> {
        let entry = BoListEntry { bo_handle: buffer, bo_priority: 0 };
        let list = BoListIn {
            bo_number: 1,
            bo_info_size: size_of::<BoListEntry>() as u32,
            bo_info_ptr: &raw const entry as u64,
            ..BoListIn::default()
        };
        let chunks = [
            CsChunk {
                chunk_id: CHUNK_ID_IB,
                length_dw: (size_of::<CsChunkIb>() / 4) as u32,
                chunk_data: std::ptr::from_ref(ib) as u64,
            },
            CsChunk {
                chunk_id: CHUNK_ID_BO_HANDLES,
                length_dw: (size_of::<BoListIn>() / 4) as u32,
                chunk_data: &raw const list as u64,
            },
        ];
        let addresses = [&raw const chunks[0] as u64, &raw const chunks[1] as u64];
        let mut args = Cs {
            in_: CsIn {
                ctx_id: context,
                num_chunks: 2,
                chunks: addresses.as_ptr() as u64,
                ..CsIn::default()
            },
        };
        // SAFETY: the kernel reads the chunks, which live until the call is over.
        unsafe { self.file.ioctl(drm_request::CS, &raw mut args)? };
        Ok(args.out().handle)
    }

    /// Waits for a submission until CLOCK_MONOTONIC reaches `timeout` ns; whether it is done.
    pub(crate) fn wait(&self, wait: WaitCsIn) -> Result<bool, Errno> {
        let mut args = WaitCs { in_: wait };
        // SAFETY: the argument holds no addresses.
        unsafe { self.file.ioctl(drm_request::WAIT_CS, &raw mut args)? };
        Ok(args.out().status == 0)
    }
}
