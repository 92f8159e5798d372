//! DBG_TRAP and RUNTIME_ENABLE (kfd_chardev.c, `kfd_ioctl_set_debug_trap`; kfd_debug.c). A process may debug itself: without
//! ptrace(2) there is nobody else.
//!
//! Not modelled, and refused: waves that start halted or trap, watched addresses, the state of waves of suspended queues.

use super::debugger::{NEW, OF_DEVICES, OF_PROCESSES, OF_QUEUES, Source};
use super::{KfdProcess, State};
use crate::abi::process::Process;
use crate::abi::user;
use kfd::uapi::{self, DbgTrapData, TrapFlags, exception};
use selvedge_sys::Errno;
use std::fs::File;
use std::sync::atomic::Ordering;
use zerocopy::IntoBytes;

/// `EALREADY`
const EALREADY: Errno = Errno(libc::EALREADY);
/// `HSA_CAP_TRAP_DEBUG_PRECISE_MEMORY_OPERATIONS_SUPPORTED`, `..._ALU_OPERATIONS_SUPPORTED` (kfd_sysfs.h)
const PRECISE_MEMORY: u32 = 0x0004_0000;
const PRECISE_ALU: u32 = 0x4000_0000;
/// Queues that an array may name (`KFD_MAX_NUM_OF_QUEUES_PER_PROCESS`).
const MAX_QUEUES: u32 = 1024;

/// Has an operation work on its data.
fn with<T: DbgTrapData>(
    args: &mut uapi::DbgTrapArgs,
    act: impl FnOnce(&mut T) -> Result<i32, Errno>,
) -> Result<i32, Errno> {
    let mut data: T = args.data().ok_or(Errno::EINVAL)?;
    let result = act(&mut data);
    args.set_data(&data);
    result
}

/// Whether an operation needs a runtime that is enabled.
fn needs_runtime(operation: u32) -> bool {
    matches!(
        operation,
        uapi::DBG_TRAP_SET_WAVE_LAUNCH_OVERRIDE
            | uapi::DBG_TRAP_SET_WAVE_LAUNCH_MODE
            | uapi::DBG_TRAP_SUSPEND_QUEUES
            | uapi::DBG_TRAP_RESUME_QUEUES
            | uapi::DBG_TRAP_SET_NODE_ADDRESS_WATCH
            | uapi::DBG_TRAP_CLEAR_NODE_ADDRESS_WATCH
            | uapi::DBG_TRAP_SET_FLAGS
    )
}

impl KfdProcess {
    /// DBG_TRAP: what the ioctl returns.
    pub(super) fn debug_trap(
        &self,
        linux: &Process,
        args: &mut uapi::DbgTrapArgs,
    ) -> Result<i32, Errno> {
        if !self.is_primary {
            return Err(Errno::EOPNOTSUPP);
        }
        // The process may know itself by the host's id.
        if args.pid != self.pid && args.pid != std::process::id() {
            return Err(Errno::ESRCH);
        }
        let mut guard = self.lock();
        let state = &mut *guard;
        let attached = self.signals.debugger().is_attached();
        if args.op != uapi::DBG_TRAP_ENABLE && !attached {
            // Detaching from nothing is the error of every other operation too.
            return Err(Errno::EINVAL);
        }
        if needs_runtime(args.op) && !state.runtime_enabled {
            return Err(Errno::EPERM);
        }
        match args.op {
            uapi::DBG_TRAP_ENABLE => with(args, |data| self.attach(linux, state, data)),
            uapi::DBG_TRAP_DISABLE => {
                self.resume_all(state)?;
                state.debug_flags = TrapFlags::empty();
                self.signals.debugger().detach();
                Ok(0)
            }
            uapi::DBG_TRAP_SEND_RUNTIME_EVENT => with(args, |data| self.send_event(data)),
            uapi::DBG_TRAP_SET_EXCEPTIONS_ENABLED => {
                with(args, |data: &mut uapi::DbgTrapSetExceptionsEnabledArgs| {
                    self.enable_exceptions(data.exception_mask);
                    Ok(0)
                })
            }
            uapi::DBG_TRAP_SET_WAVE_LAUNCH_OVERRIDE => {
                Err(self.machine.refuse("traps that a debugger has waves take".into()))
            }
            uapi::DBG_TRAP_SET_WAVE_LAUNCH_MODE => {
                with(args, |data: &mut uapi::DbgTrapSetWaveLaunchModeArgs| {
                    // The kernel takes it for a byte.
                    match data.launch_mode & 0xff {
                        uapi::WAVE_LAUNCH_MODE_NORMAL => Ok(0),
                        uapi::WAVE_LAUNCH_MODE_HALT | uapi::WAVE_LAUNCH_MODE_DEBUG => {
                            Err(self.machine.refuse("waves that start halted".into()))
                        }
                        _ => Err(Errno::EINVAL),
                    }
                })
            }
            uapi::DBG_TRAP_SUSPEND_QUEUES => with(args, |data| self.suspend_queues(state, data)),
            uapi::DBG_TRAP_RESUME_QUEUES => with(args, |data| self.resume_queues(state, data)),
            uapi::DBG_TRAP_SET_NODE_ADDRESS_WATCH => {
                with(args, |data: &mut uapi::DbgTrapSetNodeAddressWatchArgs| {
                    self.gpu(data.gpu_id).map_err(|_| Errno::ENODEV)?;
                    Err(self.machine.refuse("watched addresses".into()))
                })
            }
            uapi::DBG_TRAP_CLEAR_NODE_ADDRESS_WATCH => {
                with(args, |data: &mut uapi::DbgTrapClearNodeAddressWatchArgs| {
                    self.gpu(data.gpu_id).map_err(|_| Errno::ENODEV)?;
                    // Nobody has any.
                    Err(Errno::EINVAL)
                })
            }
            uapi::DBG_TRAP_SET_FLAGS => with(args, |data| self.set_flags(state, data)),
            uapi::DBG_TRAP_QUERY_DEBUG_EVENT => with(args, |data| self.query_event(data)),
            uapi::DBG_TRAP_QUERY_EXCEPTION_INFO => with(args, |data| self.query_info(state, data)),
            uapi::DBG_TRAP_GET_QUEUE_SNAPSHOT => with(args, |data| self.list_queues(state, data)),
            uapi::DBG_TRAP_GET_DEVICE_SNAPSHOT => with(args, |data| self.list_devices(data)),
            _ => Err(Errno::EINVAL),
        }
    }

    fn runtime_info(state: &State) -> uapi::RuntimeInfo {
        uapi::RuntimeInfo {
            r_debug: state.r_debug,
            runtime_state: u32::from(state.runtime_enabled),
            ttmp_setup: u32::from(state.saves_ttmps),
        }
    }

    /// `kfd_dbg_trap_enable`
    fn attach(
        &self,
        linux: &Process,
        state: &mut State,
        enable: &mut uapi::DbgTrapEnableArgs,
    ) -> Result<i32, Errno> {
        if self.signals.debugger().is_attached() {
            return Err(EALREADY);
        }
        if state.devices.iter().any(|device| device.gws.is_some()) {
            // Waves at a global barrier cannot be stopped on boards with the context-save fault of GC 11.0
            // (`kfd_dbg_has_cwsr_workaround`), and those before GC 9.4.3 have no support (`kfd_dbg_has_gws_support`).
            let refuses = |gpu: &crate::machine::GpuDevice| {
                let version = gpu.board.gc_version;
                let old = version < (9, 4, 1) || ((10, 0, 0)..(10, 3, 0)).contains(&version);
                old || ((11, 0, 0)..=(11, 0, 3)).contains(&version)
            };
            if self.machine.gpus.iter().any(refuses) {
                return Err(Errno::EBUSY);
            }
        }
        let fd = enable.dbg_fd.cast_signed();
        let file =
            host_file(fd).or_else(|| linux.file(fd).and_then(|_| File::open("/dev/null").ok()));
        let file = file.ok_or(Errno::EBADF)?;
        let info = Self::runtime_info(state);
        let size = size_of::<uapi::RuntimeInfo>();
        let copy = size.min(enable.rinfo_size as usize);
        enable.rinfo_size = size as u32;
        user::write(enable.rinfo_ptr, &info.as_bytes()[..copy])?;
        self.signals.debugger().attach(file, enable.exception_mask);
        Ok(0)
    }

    /// `kfd_dbg_send_exception_to_runtime`
    fn send_event(&self, data: &uapi::DbgTrapSendRuntimeEventArgs) -> Result<i32, Errno> {
        let mut exceptions = data.exception_mask;
        let fault = exception::mask(exception::DEVICE_MEMORY_VIOLATION);
        if exceptions & fault != 0 {
            let gpu = self.gpu(data.gpu_id).map_err(|_| Errno::ENODEV)?;
            let kept = self.signals.debugger().faults.get(&gpu).copied();
            self.signals.evict(gpu);
            self.signals.events.memory_fault(kept.unwrap_or_default());
            exceptions &= !fault;
        }
        let runtime = exception::mask(exception::PROCESS_RUNTIME);
        if exceptions & runtime != 0 {
            self.signals.let_runtime_go_on();
            exceptions &= !runtime;
        }
        if exceptions != 0 {
            self.signals.send_to_runtime(data.queue_id, exceptions);
        }
        Ok(0)
    }

    /// `kfd_dbg_set_enabled_debug_exception_mask`: what was raised before and is wanted now is told at once.
    fn enable_exceptions(&self, mask: u64) {
        let mut debugger = self.signals.debugger();
        debugger.enabled = mask;
        let raised = debugger.queues.values().chain(&debugger.devices).fold(0, |all, s| all | s);
        if (raised | debugger.process) & mask != 0 {
            debugger.raise(mask, Source::Queue(None));
        }
    }

    /// `kfd_dbg_trap_set_flags`. One operation at a time is what waves do here anyway.
    fn set_flags(
        &self,
        state: &mut State,
        data: &mut uapi::DbgTrapSetFlagsArgs,
    ) -> Result<i32, Errno> {
        let wanted = TrapFlags::from_bits_retain(data.flags);
        data.flags = state.debug_flags.bits();
        for gpu in &self.machine.gpus {
            let capability = gpu.board.capability;
            if (capability & PRECISE_MEMORY == 0 && wanted.contains(TrapFlags::SINGLE_MEM_OP))
                || (capability & PRECISE_ALU == 0 && wanted.contains(TrapFlags::SINGLE_ALU_OP))
            {
                return Err(Errno::EACCES);
            }
        }
        state.debug_flags = wanted;
        Ok(0)
    }

    fn query_event(&self, data: &mut uapi::DbgTrapQueryDebugEventArgs) -> Result<i32, Errno> {
        let clear = std::mem::take(&mut data.exception_mask);
        (data.gpu_id, data.queue_id) = (0, 0);
        let next = self.signals.debugger().next(clear);
        let (found, source) = next.ok_or(Errno::EAGAIN)?;
        data.exception_mask = found;
        match source {
            Source::Queue(id) => {
                data.queue_id = id.unwrap_or(0);
                data.gpu_id = self.signals.gpu_of(data.queue_id).unwrap_or(0);
            }
            Source::Device(gpu) => data.gpu_id = self.machine.gpus[gpu].id,
            Source::Process => {}
        }
        Ok(0)
    }

    /// `kfd_dbg_trap_query_exception_info`
    fn query_info(
        &self,
        state: &State,
        data: &mut uapi::DbgTrapQueryExceptionInfoArgs,
    ) -> Result<i32, Errno> {
        if data.info_ptr == 0 {
            return Err(Errno::EINVAL);
        }
        let mask = exception::mask(data.exception_code);
        let mut debugger = self.signals.debugger();
        let debugger = &mut *debugger;
        let mut size = 0;
        let status = if mask & OF_QUEUES != 0 {
            debugger.queues.get_mut(&data.source_id)
        } else if mask & OF_DEVICES != 0 {
            self.machine.gpu_index(data.source_id).map(|gpu| &mut debugger.devices[gpu])
        } else if mask & OF_PROCESSES != 0 {
            Some(&mut debugger.process)
        } else {
            None
        };
        let status = status.ok_or(Errno::EINVAL)?;
        if *status & mask == 0 {
            return Err(Errno::ENODATA);
        }
        if data.exception_code == exception::PROCESS_RUNTIME {
            let info = Self::runtime_info(state);
            size = size_of_val(&info);
            let copy = size.min(data.info_size as usize);
            user::write(data.info_ptr, &info.as_bytes()[..copy])?;
        }
        // Of a page fault nothing is copied either: `vm_fault_exc_data_size` is set nowhere.
        data.info_size = size as u32;
        if data.clear_exception != 0 {
            *status &= !mask;
            if data.exception_code == exception::DEVICE_MEMORY_VIOLATION
                && let Some(gpu) = self.machine.gpu_index(data.source_id)
            {
                debugger.faults.remove(&gpu);
            }
        }
        Ok(0)
    }

    /// `pqm_get_queue_snapshot`
    fn list_queues(
        &self,
        state: &State,
        data: &mut uapi::DbgTrapQueueSnapshotArgs,
    ) -> Result<i32, Errno> {
        let room = std::mem::take(&mut data.num_queues);
        let stride = u64::from(data.entry_size);
        if stride == 0 {
            return Err(Errno::EINVAL);
        }
        let size = size_of::<uapi::QueueSnapshotEntry>().min(data.entry_size as usize);
        data.entry_size = size as u32;
        let mut debugger = self.signals.debugger();
        for (&id, queue) in &state.queues {
            if data.num_queues < room {
                let status = debugger.queues.entry(id).or_default();
                let gpu_id = self.machine.gpus[queue.gpu()].id;
                let entry = queue.snapshot(id, gpu_id, *status);
                *status &= !data.exception_mask;
                let at = data.snapshot_buf_ptr + u64::from(data.num_queues) * stride;
                user::write(at, &entry.as_bytes()[..size])?;
            }
            data.num_queues += 1;
        }
        Ok(0)
    }

    /// `kfd_dbg_trap_device_snapshot`
    fn list_devices(&self, data: &mut uapi::DbgTrapDeviceSnapshotArgs) -> Result<i32, Errno> {
        if data.snapshot_buf_ptr == 0 {
            return Err(Errno::EINVAL);
        }
        let stride = u64::from(data.entry_size);
        let all = self.machine.gpus.len() as u32;
        let count = data.num_devices.min(all);
        data.num_devices = all;
        // The last eight bytes came with KFD 1.19 or later.
        let known = size_of::<uapi::DbgDeviceInfoEntry>()
            - if self.machine.kernel.minor >= 19 { 0 } else { 8 };
        let size = known.min(data.entry_size as usize);
        data.entry_size = size as u32;
        let apertures = self.apertures();
        let mut debugger = self.signals.debugger();
        for (place, gpu) in (0..u64::from(count)).zip(&self.machine.gpus) {
            let (index, board) = (place as usize, &gpu.board);
            let aperture = &apertures[index];
            let entry = uapi::DbgDeviceInfoEntry {
                exception_status: debugger.devices[index],
                lds_base: aperture.lds_base,
                lds_limit: aperture.lds_limit,
                scratch_base: aperture.scratch_base,
                scratch_limit: aperture.scratch_limit,
                gpuvm_base: aperture.gpuvm_base,
                gpuvm_limit: aperture.gpuvm_limit,
                gpu_id: gpu.id,
                location_id: board.location_id,
                vendor_id: 0x1002,
                device_id: board.device_id,
                revision_id: board.pci_revision,
                subsystem_vendor_id: board.subsystem.0.into(),
                subsystem_device_id: board.subsystem.1.into(),
                fw_version: board.mec_firmware,
                gfx_target_version: board.gpu.gfx_target_version,
                simd_count: board.simds(),
                max_waves_per_simd: board.waves_per_simd,
                array_count: board.arrays(),
                simd_arrays_per_engine: board.arrays_per_engine,
                num_xcc: 1,
                capability: crate::abi::topology::capability(board, &self.machine.kernel),
                // The field has 32 bits.
                debug_prop: board.debug_properties as u32,
                capability2: 0,
                pad: 0,
            };
            debugger.devices[index] &= !data.exception_mask;
            user::write(data.snapshot_buf_ptr + place * stride, &entry.as_bytes()[..size])?;
        }
        Ok(0)
    }

    /// RUNTIME_ENABLE, both ways (`runtime_enable`, `runtime_disable`). With a debugger it waits until that one has heard
    /// of it, and says so by SEND_RUNTIME_EVENT.
    pub(super) fn runtime_enable(&self, args: &mut uapi::RuntimeEnableArgs) -> Result<(), Errno> {
        let mode = uapi::RuntimeMode::from_bits_retain(args.mode_mask);
        let mut state = self.lock();
        let enable = mode.contains(uapi::RuntimeMode::ENABLE);
        if enable && state.runtime_enabled {
            return Err(Errno::EBUSY);
        }
        if enable && !state.queues.is_empty() {
            return Err(Errno::EEXIST);
        }
        state.runtime_enabled = enable;
        state.r_debug = if enable { args.r_debug } else { 0 };
        state.saves_ttmps = enable && mode.contains(uapi::RuntimeMode::TTMP_SAVE);
        self.signals.runtime_enabled.store(enable, Ordering::Release);
        if !enable {
            self.resume_all(&mut state)?;
        }
        drop(state);
        let mut debugger = self.signals.debugger();
        if debugger.is_attached() {
            debugger.raise(exception::mask(exception::PROCESS_RUNTIME), Source::Process);
            drop(debugger);
            return self.signals.wait_for_debugger();
        }
        Ok(())
    }

    /// `suspend_queues`: how many were. The array's entries become queue ids with bits that say what came of them.
    fn suspend_queues(
        &self,
        state: &mut State,
        data: &mut uapi::DbgTrapSuspendQueuesArgs,
    ) -> Result<i32, Errno> {
        let mut ids = queue_ids(data.queue_array_ptr, data.num_queues)?;
        ids.iter_mut().for_each(|id| *id |= uapi::DBG_QUEUE_INVALID_MASK);
        let mut count = 0;
        let known: Vec<u32> = state.queues.keys().copied().collect();
        for id in known {
            let Some(place) = place_of(&ids, id) else { continue };
            let status = self.signals.debugger().queues.get(&id).copied().unwrap_or(0);
            let Some(queue) = state.queues.get_mut(&id) else { continue };
            if !queue.suspended && status & NEW != 0 {
                // EBUSY, which leaves it marked invalid (`suspend_single_queue`).
                continue;
            }
            queue.suspended = true;
            self.signals.set_running(id, false)?;
            if self.signals.has_waves(id) {
                queue.suspended = false;
                self.run_again(state, id)?;
                return Err(self.machine.refuse("the saved state of waves".into()));
            }
            ids[place] &= !uapi::DBG_QUEUE_INVALID_MASK;
            if let Some(status) = self.signals.debugger().queues.get_mut(&id) {
                *status &= !data.exception_mask;
            }
            count += 1;
        }
        if count > 0 {
            // `copy_context_work_handler`, which goes over all queues and keeps no error.
            for queue in state.queues.values() {
                let _ = queue.put_save_area_header();
            }
        }
        user::write(data.queue_array_ptr, ids.as_bytes()).or(Ok(()))?;
        Ok(count)
    }

    /// `resume_queues`: how many were.
    fn resume_queues(
        &self,
        state: &mut State,
        data: &mut uapi::DbgTrapResumeQueuesArgs,
    ) -> Result<i32, Errno> {
        if data.queue_array_ptr == 0 {
            return self.resume_all(state);
        }
        let mut ids = queue_ids(data.queue_array_ptr, data.num_queues)?;
        ids.iter_mut().for_each(|id| *id |= uapi::DBG_QUEUE_INVALID_MASK);
        let mut count = 0;
        let known: Vec<u32> = state.queues.keys().copied().collect();
        for id in known {
            if let Some(place) = place_of(&ids, id) {
                self.resume(state, id)?;
                ids[place] &= !uapi::DBG_QUEUE_INVALID_MASK;
                count += 1;
            }
        }
        user::write(data.queue_array_ptr, ids.as_bytes()).or(Ok(()))?;
        Ok(count)
    }

    fn resume_all(&self, state: &mut State) -> Result<i32, Errno> {
        let known: Vec<u32> = state.queues.keys().copied().collect();
        known.iter().try_for_each(|&id| self.resume(state, id))?;
        Ok(known.len() as i32)
    }

    fn resume(&self, state: &mut State, id: u32) -> Result<(), Errno> {
        match state.queues.get_mut(&id) {
            Some(queue) if queue.suspended => {
                queue.suspended = false;
                self.run_again(state, id)
            }
            _ => Ok(()),
        }
    }
}

/// `get_queue_ids`
fn queue_ids(address: u64, count: u32) -> Result<Vec<u32>, Errno> {
    if (address == 0 && count != 0) || count > MAX_QUEUES {
        return Err(Errno::EINVAL);
    }
    let mut ids = vec![0u32; count as usize];
    user::read(address, ids.as_mut_bytes())?;
    Ok(ids)
}

/// `q_array_get_index`
fn place_of(ids: &[u32], id: u32) -> Option<usize> {
    const MARKS: u32 = uapi::DBG_QUEUE_INVALID_MASK | uapi::DBG_QUEUE_ERROR_MASK;
    ids.iter().position(|entry| entry & !MARKS == id)
}

/// Another reference to what a descriptor of the host process leads to; `None` when it is closed.
fn host_file(fd: i32) -> Option<File> {
    super::smi::duplicate(fd).map(File::from)
}
