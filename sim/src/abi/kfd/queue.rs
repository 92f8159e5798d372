//! User queues (kfd_process_queue_manager.c, kfd_queue.c, kfd_device_queue_manager.c).

use super::debugger::{NEW, Source};
use super::sdma::{SdmaQueue, Wanted};
use super::signals::GpuInterrupts;
use super::svm::Ranges;
use super::{Device, KfdProcess, MMAP_TYPE_DOORBELL, State, mmap_offset};
use crate::abi::buffer::Domain;
use crate::abi::user::{self, access_ok};
use crate::board::{Held, PAGE};
use crate::count::Token;
use crate::cp::{QueueConfiguration, QueueKind, RingProcessor};
use crate::machine::Machine;
use crate::memory::AddressSpace;
use crate::profile::Board;
use crate::sdma::Engine;
use crate::shader::ComputeUnit;
use kfd::uapi::{self, exception};
use selvedge_sys::Errno;
use std::sync::Arc;

/// Queues of a process on a device, a limit of the hardware scheduler.
const MAX_QUEUES_PER_DEVICE: usize = 127;
/// Queue ids of a process, and doorbells (`KFD_MAX_NUM_OF_QUEUES_PER_PROCESS`).
const MAX_QUEUES: u32 = 1024;
/// Doorbells for SDMA, interrupts and video (`AMDGPU_NAVI10_DOORBELL64_FIRST_NON_CP` to `LAST_NON_CP`; of gfx942
/// `AMDGPU_DOORBELL_LAYOUT1_FIRST_NON_CP` to `LAST_NON_CP`, amdgpu_doorbell.h), and where they appear again
/// (`KFD_QUEUE_DOORBELL_MIRROR_OFFSET`).
const NON_CP_DOORBELLS: std::ops::RangeInclusive<usize> = 0x100..=0x190;
const NON_CP_DOORBELLS_GFX942: std::ops::RangeInclusive<usize> = 0x100..=0x1e8;
const DOORBELL_MIRROR: usize = 512;
const DOORBELL_BYTES: u64 = 8;
/// `node_props.eop_buffer_size`
const EOP_BYTES: u32 = 4096;
/// CU masks are cut to this many bits.
const MAX_CU_MASK_BITS: u32 = 1024;

/// Which of the mappings that a queue holds is its ring's.
const RING: usize = 2;

/// A queue as the process made it.
#[derive(Debug)]
pub(super) struct UserQueue {
    gpu: usize,
    doorbell: usize,
    ring: u64,
    ring_bytes: u32,
    percent: u32,
    priority: u32,
    /// Ring as the hardware has it.
    hardware_ring: (u64, u32),
    /// Starts of the mappings it holds.
    references: Vec<u64>,
    /// What it has of the SDMA engines.
    sdma: Option<SdmaQueue>,
    /// The debugger suspended it.
    pub(super) suspended: bool,
    /// As CREATE_QUEUE had it.
    args: uapi::CreateQueueArgs,
    _hardware: Held,
    _token: Token,
}

impl UserQueue {
    /// `QUEUE_IS_ACTIVE`, eviction aside.
    pub(super) fn is_active(&self) -> bool {
        self.ring_bytes > 0 && self.ring != 0 && self.percent > 0 && !self.suspended
    }

    /// Index of its GPU.
    pub(super) fn gpu(&self) -> usize {
        self.gpu
    }

    /// `set_queue_snapshot_entry`
    pub(super) fn snapshot(
        &self,
        queue_id: u32,
        gpu_id: u32,
        exception_status: u64,
    ) -> uapi::QueueSnapshotEntry {
        uapi::QueueSnapshotEntry {
            exception_status,
            ring_base_address: self.ring,
            write_pointer_address: self.args.write_pointer_address,
            read_pointer_address: self.args.read_pointer_address,
            ctx_save_restore_address: self.args.ctx_save_restore_address,
            queue_id,
            gpu_id,
            ring_size: self.ring_bytes,
            queue_type: match self.args.queue_type {
                uapi::QUEUE_TYPE_SDMA_BY_ENG_ID => uapi::QUEUE_TYPE_SDMA,
                kind => kind,
            },
            ctx_save_restore_area_size: self.args.ctx_save_restore_size,
            reserved: 0,
        }
    }

    /// Offsets and sizes of the control stack and of the waves' state, with no wave in them, at the start of the context
    /// save area (kfd_mqd_manager_v11.c, `get_wave_state`).
    pub(super) fn put_save_area_header(&self) -> Result<(), Errno> {
        self.put_wave_state(self.args.ctx_save_restore_address)
    }

    fn put_wave_state(&self, address: u64) -> Result<(), Errno> {
        let stack = self.args.ctl_stack_size;
        user::put(address, &[stack, 0, stack, 0])
    }
}

/// `init_doorbell_bitmap`
pub(super) fn doorbell_bitmap(board: &Board) -> Vec<bool> {
    let non_cp = match board.gpu.gfx_target_version {
        90402 => NON_CP_DOORBELLS_GFX942,
        _ => NON_CP_DOORBELLS,
    };
    (0..MAX_QUEUES as usize).map(|id| non_cp.contains(&(id % DOORBELL_MIRROR))).collect()
}

/// What CREATE_QUEUE and UPDATE_QUEUE check alike. Returns the ring's size.
fn check_ring(percentage: u32, priority: u32, ring: u64, bytes: u32) -> Result<u32, Errno> {
    if percentage & 0xff > uapi::MAX_QUEUE_PERCENTAGE || priority > uapi::MAX_QUEUE_PRIORITY {
        return Err(Errno::EINVAL);
    }
    if ring != 0 && !access_ok(ring, 8) {
        return Err(Errno::EFAULT);
    }
    if bytes != 0 && !bytes.is_power_of_two() {
        return Err(Errno::EINVAL);
    }
    Ok(bytes.max(uapi::MIN_QUEUE_RING_SIZE))
}

/// `kfd_queue_buffer_get`: an address must start a buffer's mapping of exactly this size (0: of any).
fn buffer(vm: &AddressSpace, svm: &Ranges, address: u64, bytes: u64) -> Result<u64, Errno> {
    let page = address & !(PAGE - 1);
    match vm.mapping_of(page) {
        Some((start, length))
            if start == page && (bytes == 0 || length == bytes) && !svm.overlaps(page, PAGE) =>
        {
            Ok(start)
        }
        _ => Err(Errno::EINVAL),
    }
}

/// The MES polls the write pointer through the GART: the buffer must be the queue's own device's
/// (`init_user_queue`) and is pinned (`amdgpu_amdkfd_map_gtt_bo_to_gart`), which the process's own pages cannot be.
fn check_write_pointer(state: &State, gpu: usize, page: u64) -> Result<(), Errno> {
    let buffers = state.devices.iter().flat_map(|device| device.buffers.values());
    let buffer = buffers.into_iter().find(|a| a.va == page && a.is_mapped_on(gpu));
    match buffer.map(|a| &a.buffer) {
        Some(buffer) if buffer.gpu != gpu => Err(Errno::EINVAL),
        Some(buffer) if buffer.domain == Domain::User => Err(Errno::EPERM),
        _ => Ok(()),
    }
}

impl Device {
    fn reference(&mut self, start: u64) {
        *self.queue_references.entry(start).or_default() += 1;
    }

    fn unreference(&mut self, start: u64) {
        if let Some(count) = self.queue_references.get_mut(&start) {
            *count -= 1;
            if *count == 0 {
                self.queue_references.remove(&start);
            }
        }
    }
}

impl KfdProcess {
    /// `set_queue_properties_from_user`
    fn check_queue(&self, args: &mut uapi::CreateQueueArgs) -> Result<(), Errno> {
        args.ring_size = check_ring(
            args.queue_percentage,
            args.queue_priority,
            args.ring_base_address,
            args.ring_size,
        )?;
        let optional = |address: u64| address == 0 || access_ok(address, 4);
        if !access_ok(args.read_pointer_address, 4)
            || !access_ok(args.write_pointer_address, 4)
            || !optional(args.eop_buffer_address)
            || !optional(args.ctx_save_restore_address)
        {
            return Err(Errno::EFAULT);
        }
        match args.queue_type {
            uapi::QUEUE_TYPE_SDMA_BY_ENG_ID if self.machine.kernel.minor < 17 => {
                Err(Errno::ENOTSUPP)
            }
            uapi::QUEUE_TYPE_COMPUTE..=uapi::QUEUE_TYPE_SDMA_BY_ENG_ID => Ok(()),
            _ => Err(Errno::ENOTSUPP),
        }
    }

    /// `kfd_queue_acquire_buffers`: the starts of the mappings that the queue holds from now on.
    fn queue_buffers(
        &self,
        gpu: usize,
        vm: &AddressSpace,
        svm: &Ranges,
        args: &uapi::CreateQueueArgs,
    ) -> Result<Vec<u64>, Errno> {
        let minor = self.machine.kernel.minor;
        if !self.machine.kernel.queue_buffers_checked {
            // Before 6.12 only the write pointer was looked at, for the MES: one page, in a buffer.
            let page = args.write_pointer_address & !(PAGE - 1);
            return match vm.mapping_of(page) {
                Some((_, PAGE)) => Ok(Vec::new()),
                _ if !self.machine.gpus[gpu].board.has_mes() => Ok(Vec::new()),
                _ => Err(Errno::EINVAL),
            };
        }
        let is_compute =
            matches!(args.queue_type, uapi::QUEUE_TYPE_COMPUTE | uapi::QUEUE_TYPE_COMPUTE_AQL);
        let metadata = if minor >= 22 { u64::from(args.metadata_ring_size) } else { 0 };
        let ring_bytes = match u64::from(args.ring_size) + metadata {
            bytes if minor >= 22 => bytes.next_multiple_of(PAGE),
            // Compared in pages: a ring of less than one matches any mapping.
            bytes => bytes / PAGE * PAGE,
        };
        let mut held = vec![
            buffer(vm, svm, args.write_pointer_address, PAGE)?,
            buffer(vm, svm, args.read_pointer_address, PAGE)?,
            buffer(vm, svm, args.ring_base_address, ring_bytes)?,
        ];
        if !is_compute {
            return Ok(held);
        }
        if args.eop_buffer_address != 0 {
            let bytes = args.eop_buffer_size as u32;
            if bytes < EOP_BYTES {
                return Err(Errno::EINVAL);
            }
            let bytes = u64::from(bytes).next_multiple_of(PAGE);
            held.push(buffer(vm, svm, args.eop_buffer_address, bytes)?);
        }
        let sizes = self.machine.gpus[gpu].context_save;
        if args.ctl_stack_size != sizes.control_stack || args.ctx_save_restore_size < sizes.total {
            return Err(Errno::EINVAL);
        }
        let area = u64::from(args.ctx_save_restore_size) + u64::from(sizes.debug);
        let xccs = u64::from(self.machine.gpus[gpu].board.gpu.xccs);
        let area = (area * xccs).next_multiple_of(PAGE);
        match buffer(vm, svm, args.ctx_save_restore_address, area) {
            Ok(start) => held.push(start),
            Err(_) if svm.is_always_mapped(args.ctx_save_restore_address, area, gpu) => {}
            Err(errno) => return Err(errno),
        }
        Ok(held)
    }

    /// [`QueueConfiguration::xcc`]: AQL queues start at one after the other (`before` is how many the board has had), PM4
    /// queues are on the one that bits 15:8 of the percentage name (kfd_mqd_manager_v9.c, `init_mqd_v9_4_3`; kfd_chardev.c, `pm4_target_xcc`).
    fn first_xcc(
        &self,
        gpu: usize,
        kind: QueueKind,
        target: u32,
        before: u32,
    ) -> Result<u32, Errno> {
        let device = &self.machine.gpus[gpu];
        match kind {
            // The XCC that is the logical 0 comes round the other way.
            QueueKind::Aql => {
                let start = before % device.board.gpu.xccs;
                Ok((device.board.gpu.xccs - start) % device.board.gpu.xccs)
            }
            QueueKind::Pm4 if target >= device.board.gpu.xccs && device.board.gpu.xccs > 1 => {
                Err(self.machine.refuse(format!("a PM4 queue on XCC {target}")))
            }
            QueueKind::Pm4 if device.board.gpu.xccs > 1 => Ok(target),
            QueueKind::Pm4 | QueueKind::Sdma(_) => Ok(0),
        }
    }

    /// A queue of an SDMA engine.
    fn sdma_queue(&self, gpu: usize, wanted: Wanted) -> Result<(Engine, SdmaQueue), Errno> {
        let device = &self.machine.gpus[gpu];
        let (major, minor, revision) = device.board.sdma_version;
        let version = ::sdma::Version::from_ip(major.into(), minor.into(), revision.into());
        let Some(version) = version else {
            let what = format!("queues of SDMA {major}.{minor}.{revision}");
            return Err(self.machine.refuse(what));
        };
        let (place, held) = self.machine.sdma_queue(gpu, wanted)?;
        let queue = SdmaQueue::new(place, held);
        Ok((Engine { version, number: queue.engine() }, queue))
    }

    pub(super) fn create_queue(
        self: &KfdProcess,
        args: &mut uapi::CreateQueueArgs,
    ) -> Result<(), Errno> {
        self.check_queue(args)?;
        let mut guard = self.lock();
        let state = &mut *guard;
        let gpu = self.gpu(args.gpu_id)?;
        let device = &mut state.devices[gpu];
        let vm = device.vm().map_err(|_| Errno::ESRCH)?;
        let board = &self.machine.gpus[gpu].board;
        if args.queue_type == uapi::QUEUE_TYPE_SDMA_BY_ENG_ID
            && args.sdma_engine_id >= board.sdma_engines + board.sdma_link_engines
        {
            return Err(Errno::EINVAL);
        }
        self.doorbells(gpu, device)?;
        let references = self.queue_buffers(gpu, &vm, &state.svm, args)?;
        if state.queues.values().filter(|q| q.gpu == gpu).count() >= MAX_QUEUES_PER_DEVICE {
            return Err(Errno::ENOSPC);
        }
        let id = (0..MAX_QUEUES).find(|id| !state.queues.contains_key(id)).ok_or(Errno::ENOMEM)?;
        if board.has_mes() {
            check_write_pointer(state, gpu, args.write_pointer_address & !(PAGE - 1))?;
        }
        let on_engine = |wanted| {
            self.sdma_queue(gpu, wanted)
                .map(|(engine, queue)| (QueueKind::Sdma(engine), Some(queue)))
        };
        let (kind, sdma) = match args.queue_type {
            uapi::QUEUE_TYPE_COMPUTE_AQL => (QueueKind::Aql, None),
            uapi::QUEUE_TYPE_SDMA => on_engine(Wanted::Any)?,
            uapi::QUEUE_TYPE_SDMA_XGMI => on_engine(Wanted::Link)?,
            uapi::QUEUE_TYPE_SDMA_BY_ENG_ID => on_engine(Wanted::Engine(args.sdma_engine_id))?,
            // `check_queue` knows no others.
            _ => (QueueKind::Pm4, None),
        };
        let described = (id, args.queue_type, args.ring_size);
        let (hardware, before) = self.machine.hardware_queue(gpu, self.number, described)?;
        let device = &mut state.devices[gpu];
        let trap_handler = device.trap_handler.clone();
        let doorbells = self.doorbells(gpu, device)?;
        let free = || doorbells.taken.iter().position(|taken| !taken);
        let doorbell = sdma.as_ref().map(SdmaQueue::doorbell).or_else(free).ok_or(Errno::EBUSY)?;
        let byte = doorbell as u64 * DOORBELL_BYTES;
        let xcc = self.first_xcc(gpu, kind, args.queue_percentage >> 8 & 0xff, before)?;
        let configuration = QueueConfiguration {
            kind,
            process: self.number,
            gpu: gpu as u32,
            id,
            ring: (args.ring_base_address, args.ring_size),
            read_pointer: args.read_pointer_address,
            write_pointer: args.write_pointer_address,
            end_of_pipe_buffer: args.eop_buffer_address,
            doorbell: (doorbells.pages.backing.clone(), byte),
            trap_handler,
            xcc,
        };
        let queue = UserQueue {
            gpu,
            doorbell,
            ring: args.ring_base_address,
            ring_bytes: args.ring_size,
            percent: args.queue_percentage & 0xff,
            priority: args.queue_priority,
            hardware_ring: configuration.ring,
            suspended: false,
            args: *args,
            references,
            sdma,
            _hardware: hardware,
            _token: self.machine.counters.queues.token(),
        };
        let host = Arc::new(GpuInterrupts { signals: self.signals.clone(), gpu });
        let processors = self.machine.gpus[gpu].processors.clone();
        let active = queue.is_active() && !state.queues_paused;
        let save_area = args.ctx_save_restore_address;
        let units = self.compute_units(gpu).into();
        self.signals.add_queue(id, gpu, doorbell as u32, save_area, || {
            // A queue of the hardware is a thread here.
            let processor = RingProcessor::start(processors, configuration, vm, host);
            let processor = processor.map_err(|_| Errno::ENOMEM)?;
            processor.set_compute_units(units);
            if !active {
                processor.set_running(false);
            }
            Ok(processor)
        })?;
        let device = &mut state.devices[gpu];
        self.doorbells(gpu, device)?.taken[doorbell] = true;
        queue.references.iter().for_each(|&start| device.reference(start));
        state.queues.insert(id, queue);
        let mut debugger = self.signals.debugger();
        debugger.queues.insert(id, NEW);
        debugger.raise(NEW, Source::Queue(Some(id)));
        args.queue_id = id;
        args.doorbell_offset = mmap_offset(MMAP_TYPE_DOORBELL, args.gpu_id) | byte;
        Ok(())
    }

    /// A queue is to leave the hardware. A GPU that hangs does not let it, which Linux finds out and resets it
    /// (`unmap_queues_cpsch`, `remove_queue_mes`, `kfd_hws_hang`); here without waiting as long as Linux does.
    fn unmap_from(&self, gpu: usize) -> Result<(), Errno> {
        if !self.machine.gpus[gpu].hangs() {
            return Ok(());
        }
        Machine(self.machine.clone()).reset_gpu(gpu);
        Err(Errno::ETIME)
    }

    pub(super) fn destroy_queue(&self, args: &mut uapi::DestroyQueueArgs) -> Result<(), Errno> {
        let mut state = self.lock();
        if state.queues.get(&args.queue_id).ok_or(Errno::EINVAL)?.suspended {
            // It waits until the debugger lets the queue go on.
            let what = "destroying a queue that a debugger suspended";
            return Err(self.machine.refuse(what.into()));
        }
        let queue = state.queues.remove(&args.queue_id).ok_or(Errno::EINVAL)?;
        // The queue goes all the same (`pqm_destroy_queue`).
        let unmapped = if queue.is_active() { self.unmap_from(queue.gpu) } else { Ok(()) };
        self.signals.destroy_queue(args.queue_id);
        {
            let mut debugger = self.signals.debugger();
            debugger.queues.remove(&args.queue_id);
            let deleted = exception::mask(exception::DEVICE_QUEUE_DELETE);
            debugger.raise(deleted, Source::Device(queue.gpu));
        }
        let device = &mut state.devices[queue.gpu];
        queue.references.iter().for_each(|&start| device.unreference(start));
        if let Some(doorbells) = &mut device.doorbells
            && queue.sdma.is_none()
        {
            doorbells.taken[queue.doorbell] = false;
        }
        if device.gws == Some(args.queue_id) {
            device.gws = None;
        }
        unmapped
    }

    pub(super) fn update_queue(&self, args: &mut uapi::UpdateQueueArgs) -> Result<(), Errno> {
        let bytes = check_ring(
            args.queue_percentage,
            args.queue_priority,
            args.ring_base_address,
            args.ring_size,
        )?;
        let mut guard = self.lock();
        let state = &mut *guard;
        let queue = state.queues.get_mut(&args.queue_id).ok_or(Errno::EFAULT)?;
        let (ring, device) = ((args.ring_base_address, bytes), &mut state.devices[queue.gpu]);
        if ring.0 != 0 && self.machine.kernel.queue_buffers_checked {
            let vm = device.vm()?;
            let start = buffer(&vm, &state.svm, ring.0, u64::from(bytes) / PAGE * PAGE)
                .map_err(|_| Errno::EFAULT)?;
            device.reference(start);
            let before = std::mem::replace(&mut queue.references[RING], start);
            device.unreference(before);
        }
        if queue.is_active() {
            self.unmap_from(queue.gpu)?;
        }
        let is_other = ring.0 != 0 && ring != queue.hardware_ring;
        (queue.ring, queue.ring_bytes) = ring;
        queue.percent = args.queue_percentage & 0xff;
        queue.priority = args.queue_priority;
        if is_other {
            queue.hardware_ring = ring;
            // The queue leaves the hardware first (`update_queue`).
            self.signals.set_running(args.queue_id, false)?;
            self.signals.set_ring(args.queue_id, ring);
        }
        let active = queue.is_active() && !state.queues_paused;
        self.signals.set_running(args.queue_id, active)
    }

    /// A queue goes on, if nothing else keeps it.
    pub(super) fn run_again(&self, state: &State, id: u32) -> Result<(), Errno> {
        match state.queues.get(&id) {
            Some(queue) => self.signals.set_running(id, queue.is_active() && !state.queues_paused),
            None => Ok(()),
        }
    }

    /// The compute units of a GPU, in the order of a mask's bits.
    fn compute_units(&self, gpu: usize) -> Vec<ComputeUnit> {
        let board = &self.machine.gpus[gpu].board;
        let step = if board.has_workgroup_processors() { 2 } else { 1 };
        let (xccs, engines) = (board.gpu.xccs, board.gpu.shader_engines);
        let units = board.gpu.compute_units / xccs;
        ComputeUnit::all(xccs, engines, board.arrays_per_engine, units, step)
    }

    pub(super) fn set_cu_mask(&self, args: &mut uapi::SetCuMaskArgs) -> Result<(), Errno> {
        if !args.num_cu_mask.is_multiple_of(32) || args.num_cu_mask == 0 {
            return Err(Errno::EINVAL);
        }
        let mut mask = vec![0u8; args.num_cu_mask.min(MAX_CU_MASK_BITS) as usize / 8];
        user::read(args.cu_mask_ptr, &mut mask)?;
        let state = self.lock();
        let queue = state.queues.get(&args.queue_id).ok_or(Errno::EFAULT)?;
        let gpu = queue.gpu;
        // Compute units of a workgroup processor go together (`pqm_update_mqd`).
        let half = |byte: &u8| (byte ^ byte >> 1) & 0x55 != 0;
        if self.machine.gpus[gpu].board.has_workgroup_processors() && mask.iter().any(half) {
            return Err(Errno::EINVAL);
        }
        if queue.sdma.is_some() {
            return Ok(());
        }
        // What a short mask does not say is off.
        let bit = |i: usize| mask.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 != 0);
        let all = self.compute_units(gpu).into_iter().enumerate();
        let allowed: Arc<[ComputeUnit]> = all.filter(|&(i, _)| bit(i)).map(|(_, u)| u).collect();
        let xccs = self.machine.gpus[gpu].board.gpu.xccs;
        if !(0..xccs).all(|xcc| allowed.iter().any(|unit| unit.xcc == xcc)) {
            return Err(self.machine.refuse("a queue without compute units on an XCC".into()));
        }
        if queue.is_active() {
            self.unmap_from(gpu)?;
        }
        self.signals.set_compute_units(args.queue_id, &allowed);
        Ok(())
    }

    /// `pqm_get_wave_state`, of a compute queue that is stopped. What waves that stand still would have saved is not
    /// modelled.
    pub(super) fn get_queue_wave_state(
        &self,
        args: &mut uapi::GetQueueWaveStateArgs,
    ) -> Result<(), Errno> {
        let state = self.lock();
        let queue = state.queues.get(&args.queue_id).ok_or(Errno::EFAULT)?;
        if queue.is_active() || queue.sdma.is_some() {
            return Err(Errno::EINVAL);
        }
        if self.signals.has_waves(args.queue_id) {
            return Err(self.machine.refuse("the saved state of waves".into()));
        }
        args.ctl_stack_used_size = 0;
        args.save_area_used_size = 0;
        queue.put_wave_state(args.ctl_stack_address)
    }

    pub(super) fn alloc_queue_gws(&self, args: &mut uapi::AllocQueueGwsArgs) -> Result<(), Errno> {
        let mut guard = self.lock();
        let state = &mut *guard;
        let gpu = state.queues.get(&args.queue_id).ok_or(Errno::EINVAL)?.gpu;
        // With the MES, and on GC 9.4.3, it is a formality (`pqm_set_gws`): what the instructions then do is not known.
        let board = &self.machine.gpus[gpu].board;
        let is_real = !board.has_mes() && !((9, 4, 3)..=(9, 4, 4)).contains(&board.gc_version);
        let device = &mut state.devices[gpu];
        args.first_gws = 0;
        match (args.num_gws != 0, device.gws) {
            (true, Some(_)) => Err(Errno::EBUSY),
            (false, None) => Err(Errno::EINVAL),
            (true, None) => {
                device.gws = Some(args.queue_id);
                self.signals.set_global_wave_sync(args.queue_id, is_real);
                Ok(())
            }
            (false, Some(_)) => {
                device.gws = None;
                self.signals.set_global_wave_sync(args.queue_id, false);
                Ok(())
            }
        }
    }
}
