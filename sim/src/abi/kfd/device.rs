//! Apertures, clocks, ACQUIRE_VM, events' ioctls and the settings of a device (kfd_chardev.c).

use super::event::Created;
use super::{KfdProcess, MMAP_TYPE_EVENTS, split_handle};
use crate::abi::buffer::Domain;
use crate::abi::process::Process;
use crate::abi::user;
use kfd::uapi;
use selvedge_sys::Errno;

/// Nanoseconds count at 1 GHz.
const SYSTEM_CLOCK_HZ: u64 = 1_000_000_000;
/// The most that kcalloc gives.
const KMALLOC_MAX: u64 = 4 << 20;
/// Lengths of `tile_mode_array` and `macrotile_mode_array` (amdgpu_gfx.h).
const TILE_MODES: u32 = 32;
const MACRO_TILE_MODES: u32 = 16;

impl KfdProcess {
    pub(super) fn apertures(&self) -> Vec<uapi::ProcessDeviceApertures> {
        let aperture = |gpu: &crate::machine::GpuDevice| {
            let (lds_base, lds_limit) = gpu.board.lds_range();
            let (scratch_base, scratch_limit) = gpu.board.scratch_range();
            let (gpuvm_base, gpuvm_limit) = gpu.board.gpuvm_range();
            uapi::ProcessDeviceApertures {
                lds_base,
                lds_limit,
                scratch_base,
                scratch_limit,
                gpuvm_base,
                gpuvm_limit,
                gpu_id: gpu.id,
                pad: 0,
            }
        };
        self.machine.gpus.iter().map(aperture).collect()
    }

    pub(super) fn get_process_apertures(
        &self,
        args: &mut uapi::GetProcessAperturesArgs,
    ) -> Result<(), Errno> {
        args.num_of_nodes = 0;
        for (slot, aperture) in args.process_apertures.iter_mut().zip(self.apertures()) {
            *slot = aperture;
            args.num_of_nodes += 1;
        }
        Ok(())
    }

    pub(super) fn get_process_apertures_new(
        &self,
        args: &mut uapi::GetProcessAperturesNewArgs,
    ) -> Result<(), Errno> {
        let apertures = self.apertures();
        if args.num_of_nodes == 0 {
            args.num_of_nodes = apertures.len() as u32;
            return Ok(());
        }
        // Nodes count CPUs too.
        let nodes = apertures.len() as u32 + 1;
        if self.machine.kernel.aperture_count_checked && args.num_of_nodes > nodes {
            return Err(Errno::EINVAL);
        }
        let size = size_of::<uapi::ProcessDeviceApertures>() as u64;
        if u64::from(args.num_of_nodes) * size > KMALLOC_MAX {
            return Err(Errno::ENOMEM);
        }
        args.num_of_nodes = args.num_of_nodes.min(apertures.len() as u32);
        (0..).zip(apertures.iter().take(args.num_of_nodes as usize)).try_for_each(
            |(i, aperture): (u64, _)| {
                let address = args.kfd_process_device_apertures_ptr.wrapping_add(i * size);
                user::put(address, aperture)
            },
        )
    }

    pub(super) fn get_clock_counters(
        &self,
        args: &mut uapi::GetClockCountersArgs,
    ) -> Result<(), Errno> {
        let clock = &self.machine.clock;
        // A node without a GPU has no counter; no id is an error.
        args.gpu_clock_counter = self.gpu(args.gpu_id).map_or(0, |_| clock.gpu_ticks());
        args.cpu_clock_counter = clock.raw_ns();
        args.system_clock_counter = clock.boottime_ns();
        args.system_clock_freq = SYSTEM_CLOCK_HZ;
        Ok(())
    }

    pub(super) fn set_memory_policy(
        &self,
        args: &mut uapi::SetMemoryPolicyArgs,
    ) -> Result<(), Errno> {
        if args.default_policy > 1 || args.alternate_policy > 1 {
            return Err(Errno::EINVAL);
        }
        let gpu = self.gpu(args.gpu_id)?;
        // gfx11 ignores the policies (kfd_device_queue_manager_v11.c).
        self.lock().devices[gpu].vm().map(drop).map_err(|_| Errno::ESRCH)
    }

    pub(super) fn set_trap_handler(
        &self,
        args: &mut uapi::SetTrapHandlerArgs,
    ) -> Result<(), Errno> {
        let gpu = self.gpu(args.gpu_id)?;
        let state = self.lock();
        state.devices[gpu].vm().map_err(|_| Errno::ESRCH)?;
        let handler = (args.tba_addr, args.tma_addr);
        state.devices[gpu].trap_handler.set((args.tba_addr != 0).then_some(handler));
        Ok(())
    }

    pub(super) fn set_scratch_backing_va(
        &self,
        args: &mut uapi::SetScratchBackingVaArgs,
    ) -> Result<(), Errno> {
        let gpu = self.gpu(args.gpu_id)?;
        let mut state = self.lock();
        state.devices[gpu].vm()?;
        state.devices[gpu].scratch_base = args.va_addr;
        Ok(())
    }

    pub(super) fn get_tile_config(&self, args: &mut uapi::GetTileConfigArgs) -> Result<(), Errno> {
        self.gpu(args.gpu_id)?;
        // gfx9 and later leave the tables empty (gfx_v11_0.c fills neither).
        for (pointer, count, length) in [
            (args.tile_config_ptr, &mut args.num_tile_configs, TILE_MODES),
            (args.macro_tile_config_ptr, &mut args.num_macro_tile_configs, MACRO_TILE_MODES),
        ] {
            *count = (*count).min(length);
            if let Err(errno) = user::write(pointer, &vec![0; *count as usize * 4]) {
                *count = 0;
                return Err(errno);
            }
        }
        args.gb_addr_config = 0;
        args.num_banks = 0;
        args.num_ranks = 0;
        Ok(())
    }

    pub(super) fn acquire_vm(
        &self,
        linux: &Process,
        args: &mut uapi::AcquireVmArgs,
    ) -> Result<(), Errno> {
        let file = linux.file(args.drm_fd.cast_signed()).ok_or(Errno::EINVAL)?;
        let gpu = self.gpu(args.gpu_id)?;
        let mut state = self.lock();
        let device = &mut state.devices[gpu];
        if let Some(held) = &device.render {
            return if std::sync::Arc::ptr_eq(held, &file) { Ok(()) } else { Err(Errno::EBUSY) };
        }
        let render = file.render().filter(|render| render.gpu == gpu).ok_or(Errno::EINVAL)?;
        if !render.acquire_compute() {
            return Err(Errno::EINVAL);
        }
        device.render = Some(file);
        self.tell_of_process(gpu, true);
        Ok(())
    }

    pub(super) fn available_memory(
        &self,
        args: &mut uapi::GetAvailableMemoryArgs,
    ) -> Result<(), Errno> {
        const VRAM_ALIGNMENT: u64 = 2 << 20;
        let gpu = self.gpu(args.gpu_id)?;
        let board = &self.machine.gpus[gpu].board;
        args.available = if board.vram_is_gtt(&self.machine.kernel) {
            self.machine.available(None)
        } else {
            self.machine.available(Some(gpu)) / VRAM_ALIGNMENT * VRAM_ALIGNMENT
        };
        Ok(())
    }

    pub(super) fn create_event(&self, args: &mut uapi::CreateEventArgs) -> Result<(), Errno> {
        let events = &self.signals.events;
        if args.event_page_offset != 0 {
            self.set_event_page(args.event_page_offset)?;
        }
        let auto_reset = args.auto_reset != 0;
        args.event_page_offset = 0;
        let new_page = || self.machine.kernel_pages(super::event::PAGE_BYTES);
        let Created { id, slot } = events.create(args.event_type, auto_reset, new_page)?;
        if let Some(slot) = slot {
            args.event_page_offset = MMAP_TYPE_EVENTS;
            args.event_slot_index = slot;
        }
        args.event_id = id;
        args.event_trigger_data = id;
        Ok(())
    }

    /// `kfd_kmap_event_page`: a buffer of the process becomes its event page.
    fn set_event_page(&self, handle: u64) -> Result<(), Errno> {
        let mut state = self.lock();
        if self.signals.events.has_page() {
            return Err(Errno::EINVAL);
        }
        let (gpu_id, index) = split_handle(handle);
        let gpu = self.gpu(gpu_id)?;
        state.devices[gpu].vm()?;
        let allocation = state.devices[gpu].buffers.get(&index).ok_or(Errno::EINVAL)?;
        let buffer = &allocation.buffer;
        // It is pinned in GTT, which moves what is in VRAM and cannot take the process's own pages.
        if buffer.domain == Domain::User {
            return Err(Errno::EINVAL);
        }
        self.signals.events.set_page(buffer.backing.clone(), buffer.offset)?;
        state.signal_handle = Some(handle);
        Ok(())
    }

    pub(super) fn wait_events(&self, args: &mut uapi::WaitEventsArgs) -> Result<(), Errno> {
        let all = args.wait_for_all != 0;
        let (result, outcome) =
            self.signals.events.wait(args.events_ptr, args.num_events, all, &mut args.timeout);
        args.wait_result = outcome;
        result
    }

    pub(super) fn set_xnack_mode(&self, args: &mut uapi::SetXnackModeArgs) -> Result<(), Errno> {
        if !self.machine.kernel.svm {
            return Err(Errno::EPERM);
        }
        let mut state = self.lock();
        if args.xnack_enabled < 0 {
            args.xnack_enabled = state.xnack;
            return Ok(());
        }
        if !state.queues.is_empty() {
            return Err(Errno::EBUSY);
        }
        // gfx10 and later cannot retry, and of gfx9 only those where each process chooses (kfd_process.c,
        // `kfd_process_xnack_mode`; `KFD_SUPPORT_XNACK_PER_PROCESS`), as others are set not to at boot.
        if args.xnack_enabled != 0 && !self.machine.gpus.is_empty() {
            let chooses =
                |version| ((9, 4, 2)..=(9, 4, 4)).contains(&version) || version == (9, 5, 0);
            if self.machine.gpus.iter().all(|gpu| chooses(gpu.board.gc_version)) {
                return Err(self.machine.refuse("page faults that are retried (XNACK)".into()));
            }
            return Err(Errno::EPERM);
        }
        state.xnack = args.xnack_enabled;
        Ok(())
    }
}
