//! The one place that calls /dev/kfd: each ioctl as a function of values and slices.
#![expect(unsafe_code, reason = "ioctl takes raw pointers")]

use crate::uapi::{self, request};
use selvedge_sys::{Errno, File, OpenMode, System};
use std::path::Path;
use std::sync::Arc;

/// Path of the driver's device node.
pub(crate) const PATH: &str = "/dev/kfd";

/// An open /dev/kfd.
#[derive(Debug)]
pub(crate) struct Driver {
    file: File,
}

impl Driver {
    pub(crate) fn open(system: &Arc<dyn System>) -> Result<Driver, Errno> {
        Ok(Driver { file: File::open(system, Path::new(PATH), OpenMode::ReadWrite)? })
    }

    pub(crate) fn from_file(file: File) -> Driver {
        Driver { file }
    }

    pub(crate) fn into_file(self) -> File {
        self.file
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// One ioctl, begun again when a signal interrupts it; the kernel's answer so far stays in
    /// `args`, so that it goes on where it stopped.
    ///
    /// # Safety
    /// `request` is the word that goes with `T`, and every address in `args` that the kernel reads
    /// or writes is valid for that.
    unsafe fn call<T>(&self, request: u32, args: &mut T) -> Result<i32, Errno> {
        // SAFETY: the caller's promise.
        unsafe { self.file.ioctl(request, std::ptr::from_mut(args)) }
    }

    pub(crate) fn get_version(&self) -> Result<uapi::GetVersionArgs, Errno> {
        let mut args = uapi::GetVersionArgs::default();
        // SAFETY: the argument holds no addresses.
        unsafe { self.call(request::GET_VERSION, &mut args)? };
        Ok(args)
    }

    /// Makes this file's process a secondary one.
    pub(crate) fn create_process(&self) -> Result<(), Errno> {
        // SAFETY: the ioctl has no argument; the kernel does not look at the pointer.
        unsafe { self.call(request::CREATE_PROCESS, &mut ())? };
        Ok(())
    }

    pub(crate) fn apertures(&self) -> Result<Vec<uapi::ProcessDeviceApertures>, Errno> {
        let mut args = uapi::GetProcessAperturesNewArgs::default();
        // SAFETY: with a count of 0 the kernel writes only the argument.
        unsafe { self.call(request::GET_PROCESS_APERTURES_NEW, &mut args)? };
        let mut apertures =
            vec![uapi::ProcessDeviceApertures::default(); args.num_of_nodes as usize];
        if apertures.is_empty() {
            return Ok(apertures);
        }
        args.kfd_process_device_apertures_ptr = apertures.as_mut_ptr() as u64;
        // SAFETY: the array is as long as `num_of_nodes` says.
        unsafe { self.call(request::GET_PROCESS_APERTURES_NEW, &mut args)? };
        apertures.truncate(args.num_of_nodes as usize);
        Ok(apertures)
    }

    pub(crate) fn acquire_vm(&self, drm_fd: i32, gpu_id: u32) -> Result<(), Errno> {
        let drm_fd = u32::try_from(drm_fd).map_err(|_| Errno::EBADF)?;
        let mut args = uapi::AcquireVmArgs { drm_fd, gpu_id };
        // SAFETY: the argument holds no addresses.
        unsafe { self.call(request::ACQUIRE_VM, &mut args)? };
        Ok(())
    }

    pub(crate) fn set_memory_policy(
        &self,
        mut args: uapi::SetMemoryPolicyArgs,
    ) -> Result<(), Errno> {
        // SAFETY: the addresses are the device's.
        unsafe { self.call(request::SET_MEMORY_POLICY, &mut args)? };
        Ok(())
    }

    pub(crate) fn runtime_enable(&self, mode: uapi::RuntimeMode) -> Result<(), Errno> {
        let mut args = uapi::RuntimeEnableArgs {
            mode_mask: mode.bits(),
            ..uapi::RuntimeEnableArgs::default()
        };
        // SAFETY: there is no address.
        unsafe { self.call(request::RUNTIME_ENABLE, &mut args)? };
        Ok(())
    }

    pub(crate) fn clock_counters(&self, gpu_id: u32) -> Result<uapi::GetClockCountersArgs, Errno> {
        let mut args =
            uapi::GetClockCountersArgs { gpu_id, ..uapi::GetClockCountersArgs::default() };
        // SAFETY: the argument holds no addresses.
        unsafe { self.call(request::GET_CLOCK_COUNTERS, &mut args)? };
        Ok(args)
    }

    pub(crate) fn available_memory(&self, gpu_id: u32) -> Result<u64, Errno> {
        let mut args =
            uapi::GetAvailableMemoryArgs { gpu_id, ..uapi::GetAvailableMemoryArgs::default() };
        // SAFETY: the argument holds no addresses.
        unsafe { self.call(request::AVAILABLE_MEMORY, &mut args)? };
        Ok(args.available)
    }

    pub(crate) fn set_scratch_backing(&self, gpu_id: u32, va_addr: u64) -> Result<(), Errno> {
        let mut args = uapi::SetScratchBackingVaArgs { va_addr, gpu_id, pad: 0 };
        // SAFETY: the address is the device's.
        unsafe { self.call(request::SET_SCRATCH_BACKING_VA, &mut args)? };
        Ok(())
    }

    pub(crate) fn set_trap_handler(
        &self,
        gpu_id: u32,
        tba_addr: u64,
        tma_addr: u64,
    ) -> Result<(), Errno> {
        let mut args = uapi::SetTrapHandlerArgs { tba_addr, tma_addr, gpu_id, pad: 0 };
        // SAFETY: the addresses are the device's.
        unsafe { self.call(request::SET_TRAP_HANDLER, &mut args)? };
        Ok(())
    }

    /// Sets the mode, or asks for it with a negative one.
    pub(crate) fn xnack_mode(&self, mode: i32) -> Result<i32, Errno> {
        let mut args = uapi::SetXnackModeArgs { xnack_enabled: mode };
        // SAFETY: the argument holds no addresses.
        unsafe { self.call(request::SET_XNACK_MODE, &mut args)? };
        Ok(args.xnack_enabled)
    }

    /// Allocates memory. A user pointer's CPU address goes in as `mmap_offset`; handle and mmap
    /// offset come back in `args`.
    pub(crate) fn allocate(&self, args: &mut uapi::AllocMemoryOfGpuArgs) -> Result<(), Errno> {
        // SAFETY: the kernel neither reads nor writes the ranges named; it pins or maps them.
        unsafe { self.call(request::ALLOC_MEMORY_OF_GPU, args)? };
        Ok(())
    }

    pub(crate) fn free(&self, handle: u64) -> Result<(), Errno> {
        let mut args = uapi::FreeMemoryOfGpuArgs { handle };
        // SAFETY: the argument holds no addresses.
        unsafe { self.call(request::FREE_MEMORY_OF_GPU, &mut args)? };
        Ok(())
    }

    /// Maps memory to devices. On failure says how many from the start of the list are done.
    pub(crate) fn map(&self, handle: u64, devices: &[u32]) -> Result<(), (usize, Errno)> {
        let mut args = uapi::MapMemoryToGpuArgs {
            handle,
            device_ids_array_ptr: devices.as_ptr() as u64,
            n_devices: u32::try_from(devices.len()).map_err(|_| (0, Errno::EINVAL))?,
            n_success: 0,
        };
        // SAFETY: the array is as long as `n_devices` says; the kernel only reads it.
        match unsafe { self.call(request::MAP_MEMORY_TO_GPU, &mut args) } {
            Ok(_) => Ok(()),
            Err(errno) => Err((args.n_success as usize, errno)),
        }
    }

    /// Unmaps memory from devices. On failure says how many from the start of the list are done.
    pub(crate) fn unmap(&self, handle: u64, devices: &[u32]) -> Result<(), (usize, Errno)> {
        let mut args = uapi::UnmapMemoryFromGpuArgs {
            handle,
            device_ids_array_ptr: devices.as_ptr() as u64,
            n_devices: u32::try_from(devices.len()).map_err(|_| (0, Errno::EINVAL))?,
            n_success: 0,
        };
        // SAFETY: the array is as long as `n_devices` says; the kernel only reads it.
        match unsafe { self.call(request::UNMAP_MEMORY_FROM_GPU, &mut args) } {
            Ok(_) => Ok(()),
            Err(errno) => Err((args.n_success as usize, errno)),
        }
    }

    pub(crate) fn create_queue(&self, args: &mut uapi::CreateQueueArgs) -> Result<(), Errno> {
        // SAFETY: the kernel checks that the addresses lie in buffers of this process; it reads the
        // save area's header through them, which the queue's owner has mapped.
        unsafe { self.call(request::CREATE_QUEUE, args)? };
        Ok(())
    }

    pub(crate) fn update_queue(&self, mut args: uapi::UpdateQueueArgs) -> Result<(), Errno> {
        // SAFETY: as for `create_queue`.
        unsafe { self.call(request::UPDATE_QUEUE, &mut args)? };
        Ok(())
    }

    pub(crate) fn destroy_queue(&self, queue_id: u32) -> Result<(), Errno> {
        let mut args = uapi::DestroyQueueArgs { queue_id, pad: 0 };
        // SAFETY: the argument holds no addresses.
        unsafe { self.call(request::DESTROY_QUEUE, &mut args)? };
        Ok(())
    }

    /// Sets a queue's mask of compute units; `mask` has 32 of them a word.
    pub(crate) fn set_cu_mask(&self, queue_id: u32, mask: &[u32]) -> Result<(), Errno> {
        let bits = mask.len().checked_mul(32).and_then(|bits| u32::try_from(bits).ok());
        let mut args = uapi::SetCuMaskArgs {
            queue_id,
            num_cu_mask: bits.ok_or(Errno::EINVAL)?,
            cu_mask_ptr: mask.as_ptr() as u64,
        };
        // SAFETY: the mask is as long as `num_cu_mask` says; the kernel only reads it.
        unsafe { self.call(request::SET_CU_MASK, &mut args)? };
        Ok(())
    }

    /// Copies a stopped queue's control stack out; the room must be the queue's control stack size,
    /// which the caller vouches for by being the queue.
    pub(crate) fn queue_wave_state(
        &self,
        queue_id: u32,
        control_stack: &mut [u8],
    ) -> Result<uapi::GetQueueWaveStateArgs, Errno> {
        let mut args = uapi::GetQueueWaveStateArgs {
            ctl_stack_address: control_stack.as_mut_ptr() as u64,
            queue_id,
            ..uapi::GetQueueWaveStateArgs::default()
        };
        // SAFETY: the kernel writes at most the queue's control stack size, which the slice has.
        unsafe { self.call(request::GET_QUEUE_WAVE_STATE, &mut args)? };
        Ok(args)
    }

    /// Allocates (or frees, with 0) global wave sync for a queue.
    pub(crate) fn set_queue_gws(&self, queue_id: u32, num_gws: u32) -> Result<(), Errno> {
        let mut args =
            uapi::AllocQueueGwsArgs { queue_id, num_gws, ..uapi::AllocQueueGwsArgs::default() };
        // SAFETY: the argument holds no addresses.
        unsafe { self.call(request::ALLOC_QUEUE_GWS, &mut args)? };
        Ok(())
    }

    /// Creates an event; `event_page` is the handle of a buffer that becomes the event page, or 0.
    pub(crate) fn create_event(
        &self,
        event_type: u32,
        auto_reset: bool,
        event_page: u64,
    ) -> Result<uapi::CreateEventArgs, Errno> {
        let mut args = uapi::CreateEventArgs {
            event_page_offset: event_page,
            event_type,
            auto_reset: auto_reset.into(),
            ..uapi::CreateEventArgs::default()
        };
        // SAFETY: the argument holds no addresses.
        unsafe { self.call(request::CREATE_EVENT, &mut args)? };
        Ok(args)
    }

    pub(crate) fn destroy_event(&self, event_id: u32) -> Result<(), Errno> {
        let mut args = uapi::DestroyEventArgs { event_id, pad: 0 };
        // SAFETY: the argument holds no addresses.
        unsafe { self.call(request::DESTROY_EVENT, &mut args)? };
        Ok(())
    }

    pub(crate) fn set_event(&self, event_id: u32) -> Result<(), Errno> {
        let mut args = uapi::SetEventArgs { event_id, pad: 0 };
        // SAFETY: the argument holds no addresses.
        unsafe { self.call(request::SET_EVENT, &mut args)? };
        Ok(())
    }

    pub(crate) fn reset_event(&self, event_id: u32) -> Result<(), Errno> {
        let mut args = uapi::ResetEventArgs { event_id, pad: 0 };
        // SAFETY: the argument holds no addresses.
        unsafe { self.call(request::RESET_EVENT, &mut args)? };
        Ok(())
    }

    /// Waits; answers `WAIT_RESULT_*`. When a signal interrupts the wait, the kernel leaves the time
    /// that remains in the argument, so that waiting again does not prolong it.
    pub(crate) fn wait_events(
        &self,
        events: &mut [uapi::EventData],
        all: bool,
        timeout_ms: u32,
    ) -> Result<u32, Errno> {
        let mut args = uapi::WaitEventsArgs {
            events_ptr: events.as_mut_ptr() as u64,
            num_events: u32::try_from(events.len()).map_err(|_| Errno::EINVAL)?,
            wait_for_all: all.into(),
            timeout: timeout_ms,
            wait_result: uapi::WAIT_RESULT_FAIL,
        };
        // SAFETY: the array is as long as `num_events` says and borrowed for the call.
        unsafe { self.call(request::WAIT_EVENTS, &mut args)? };
        Ok(args.wait_result)
    }

    pub(crate) fn export_dmabuf(&self, handle: u64, flags: u32) -> Result<File, Errno> {
        let mut args = uapi::ExportDmabufArgs { handle, flags, dmabuf_fd: 0 };
        // SAFETY: the argument holds no addresses.
        unsafe { self.call(request::EXPORT_DMABUF, &mut args)? };
        self.own(args.dmabuf_fd)
    }

    pub(crate) fn import_dmabuf(&self, gpu_id: u32, va_addr: u64, fd: i32) -> Result<u64, Errno> {
        let dmabuf_fd = u32::try_from(fd).map_err(|_| Errno::EBADF)?;
        let mut args = uapi::ImportDmabufArgs { va_addr, handle: 0, gpu_id, dmabuf_fd };
        // SAFETY: the address is the device's.
        unsafe { self.call(request::IMPORT_DMABUF, &mut args)? };
        Ok(args.handle)
    }

    /// What a dma-buf is; the exporter's metadata goes into `metadata`, as much as fits.
    pub(crate) fn dmabuf_info(
        &self,
        fd: i32,
        metadata: &mut [u8],
    ) -> Result<uapi::GetDmabufInfoArgs, Errno> {
        let mut args = uapi::GetDmabufInfoArgs {
            metadata_ptr: if metadata.is_empty() { 0 } else { metadata.as_mut_ptr() as u64 },
            metadata_size: u32::try_from(metadata.len()).map_err(|_| Errno::EINVAL)?,
            dmabuf_fd: u32::try_from(fd).map_err(|_| Errno::EBADF)?,
            ..uapi::GetDmabufInfoArgs::default()
        };
        // SAFETY: the room is as large as `metadata_size` says.
        unsafe { self.call(request::GET_DMABUF_INFO, &mut args)? };
        Ok(args)
    }

    /// Opens a device's file of system management events.
    pub(crate) fn smi_events(&self, gpu_id: u32) -> Result<File, Errno> {
        let mut args = uapi::SmiEventsArgs { gpuid: gpu_id, anon_fd: 0 };
        // SAFETY: the argument holds no addresses.
        unsafe { self.call(request::SMI_EVENTS, &mut args)? };
        self.own(args.anon_fd)
    }

    /// Sets or reads attributes of a range. The answer is in `attributes`.
    pub(crate) fn svm(
        &self,
        operation: u32,
        start_addr: u64,
        size: u64,
        attributes: &mut [uapi::SvmAttribute],
    ) -> Result<(), Errno> {
        // The struct and its tail, in words of 8 bytes: an attribute is one.
        const HEAD: usize = size_of::<uapi::SvmArgs>() / size_of::<u64>();
        let word = request::svm(attributes.len()).ok_or(Errno::EINVAL)?;
        let mut words = vec![0_u64; HEAD + attributes.len()];
        words[0] = start_addr;
        words[1] = size;
        words[2] = u64::from(operation) | (attributes.len() as u64) << 32;
        for (word, attribute) in words[HEAD..].iter_mut().zip(&*attributes) {
            *word = u64::from(attribute.type_) | u64::from(attribute.value) << 32;
        }
        // SAFETY: the buffer is as long as the request word says.
        unsafe { self.file.ioctl(word, words.as_mut_ptr())? };
        for (attribute, word) in attributes.iter_mut().zip(&words[HEAD..]) {
            *attribute = uapi::SvmAttribute { type_: *word as u32, value: (*word >> 32) as u32 };
        }
        Ok(())
    }

    /// Takes over a descriptor that the kernel handed out.
    fn own(&self, fd: u32) -> Result<File, Errno> {
        let fd = i32::try_from(fd).map_err(|_| Errno::EBADF)?;
        // SAFETY: the kernel opened it for this call.
        Ok(unsafe { File::from_raw(self.file.system(), fd) })
    }
}
