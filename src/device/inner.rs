//! An open device, shared by everything made on it.

use super::fault_watch::{FaultWatch, Waiter};
use super::trap_handler::{self, TrapHandler};
use super::{Endpoint, registry};
use crate::Error;
use crate::code::{Processor, TargetId};
use crate::fault::{Fault, MemoryFault, ResetFault};
use crate::memory::{HostVisible, Placement};
use aql::Generation;
use kfd::uapi::sysfs::Capability;
use kfd::{Allocation, AllocationFlags, Event, Lifetime, Report};
use selvedge_sys::{Errno, System, fork};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Sizes that scratch and queues depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Dies that each have the compute units and shader engines below.
    pub(crate) xccs: u32,
    /// Compute units of one die.
    pub(crate) compute_units: u32,
    /// Shader engines of one die.
    pub(crate) shader_engines: u32,
    pub(crate) scratch_slots_per_cu: u32,
    pub(crate) waves_per_cu: u32,
}

pub(crate) struct DeviceInner {
    name: String,
    endpoint: Endpoint,
    target: TargetId,
    generation: Generation,
    simulated: bool,
    fork_generation: u32,
    clock_frequency: u64,
    kfd: Arc<kfd::Device>,
    watch: Arc<FaultWatch>,
    /// Kept as long as waves may enter it.
    _trap_handler: Option<Arc<TrapHandler>>,
    /// [`System::identity`] of the machine.
    system: usize,
    /// The page whose first dword flushes host writes through PCI; none where memory needs no flush.
    hdp_flush: Option<HostVisible>,
    lost: OnceLock<Arc<Fault>>,
    /// How many executables were loaded so far.
    code_loaded: AtomicU64,
    /// Start and length of every live buffer, to explain faults.
    buffers: Mutex<BTreeMap<u64, u64>>,
}

impl DeviceInner {
    pub(super) fn open(
        system: &Arc<dyn System>,
        endpoint: &Endpoint,
        lifetime: Lifetime,
    ) -> Result<Arc<DeviceInner>, Error> {
        let node = endpoint.node();
        let version = node.properties.gfx_target_version;
        let unsupported = |reason: &str| Error::Unsupported {
            device: endpoint.to_string(),
            reason: reason.to_owned(),
        };
        let generation = Generation::from_target_version(version)
            .ok_or_else(|| unsupported("this runtime does not know its architecture"))?;
        let processor = Processor::from_gfx_target_version(version)
            .ok_or_else(|| unsupported("this runtime does not know its instruction set"))?;

        let process = kfd::Process::open(system.clone(), lifetime)?;
        let kfd = process.device(node)?;
        let xnack = processor.has_xnack() && process.xnack()?;
        let sramecc = processor.has_sramecc() && node.capability().contains(Capability::SRAM_EDC);
        let info = kfd.render_file().device_info().map_err(|errno| Error::Io {
            path: format!("{} (AMDGPU_INFO_DEV_INFO)", node.render_node()),
            errno,
        })?;
        // In kHz.
        let clock_frequency = u64::from(info.gpu_counter_freq) * 1000;
        if let Some(fault) = registry::primary_fault(system.identity(), node.gpu_id)
            && process.is_primary()
        {
            return Err(Error::DeviceLost(fault));
        }
        let watch = FaultWatch::of(&kfd)?;
        // Before the first queue, which takes it over.
        let trap_handler = trap_handler::install(&kfd, generation)?;
        let hdp_flush = if endpoint.is_discrete() { hdp_flush_page(&kfd)? } else { None };
        let simulated = system.is_simulated();
        let name = if simulated { format!("{endpoint} (simulated)") } else { endpoint.to_string() };
        let device = Arc::new(DeviceInner {
            name,
            endpoint: endpoint.clone(),
            target: TargetId::of_device(processor, sramecc, xnack),
            generation,
            simulated,
            fork_generation: fork::generation(),
            clock_frequency,
            kfd,
            watch,
            _trap_handler: trap_handler,
            system: system.identity(),
            hdp_flush,
            lost: OnceLock::new(),
            code_loaded: AtomicU64::new(0),
            buffers: Mutex::new(BTreeMap::new()),
        });
        device.watch.tell_also(&device);
        Ok(device)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub(crate) fn target(&self) -> &TargetId {
        &self.target
    }

    pub(crate) fn generation(&self) -> Generation {
        self.generation
    }

    pub(crate) fn is_simulated(&self) -> bool {
        self.simulated
    }

    pub(crate) fn clock_frequency(&self) -> u64 {
        self.clock_frequency
    }

    pub(crate) fn kfd(&self) -> &Arc<kfd::Device> {
        &self.kfd
    }

    pub(crate) fn process(&self) -> &Arc<kfd::Process> {
        self.kfd.process()
    }

    pub(crate) fn apertures(&self) -> &kfd::uapi::ProcessDeviceApertures {
        self.kfd.apertures()
    }

    /// LDS of one workgroup, bytes.
    pub(crate) fn lds_bytes(&self) -> u32 {
        self.endpoint.node().properties.lds_size_in_kb << 10
    }

    pub(crate) fn shape(&self) -> Shape {
        let node = self.endpoint.node();
        let properties = &node.properties;
        let arrays = properties.simd_arrays_per_engine.max(1);
        Shape {
            compute_units: node.compute_unit_count() / node.xcc_count().max(1),
            xccs: node.xcc_count().max(1),
            shader_engines: (properties.array_count / arrays / node.xcc_count().max(1)).max(1),
            scratch_slots_per_cu: properties.max_slots_scratch_cu,
            waves_per_cu: properties.max_waves_per_simd * properties.simd_per_cu,
        }
    }

    pub(crate) fn allocate(
        &self,
        bytes: u64,
        alignment: u64,
        placement: Placement,
        flags: AllocationFlags,
    ) -> Result<Arc<Allocation>, Error> {
        match placement {
            Placement::Host => self.allocate_as(
                bytes,
                alignment,
                flags | AllocationFlags::GTT | AllocationFlags::PUBLIC,
            ),
            Placement::Coherent => self.allocate_as(
                bytes,
                alignment,
                flags
                    | AllocationFlags::GTT
                    | AllocationFlags::PUBLIC
                    | AllocationFlags::COHERENT
                    | AllocationFlags::UNCACHED,
            ),
            Placement::Device if self.device_memory_is_visible() => self.allocate_as(
                bytes,
                alignment,
                flags | AllocationFlags::VRAM | AllocationFlags::PUBLIC,
            ),
            Placement::Device => self.allocate_as(bytes, alignment, flags | AllocationFlags::VRAM),
        }
    }

    /// Device memory that the host never looks at.
    pub(crate) fn allocate_hidden(
        &self,
        bytes: u64,
        flags: AllocationFlags,
    ) -> Result<Arc<Allocation>, Error> {
        self.allocate_as(bytes, 1, flags | AllocationFlags::VRAM)
    }

    fn allocate_as(
        &self,
        bytes: u64,
        alignment: u64,
        flags: AllocationFlags,
    ) -> Result<Arc<Allocation>, Error> {
        self.check_fork("device")?;
        self.check_alive()?;
        Ok(self.kfd.allocate_aligned(bytes, alignment.max(kfd::PAGE_SIZE), flags)?)
    }

    /// Whether the host can write device memory so that the device sees it: all of it is mapped through PCI, and,
    /// where there is a cache in between (the HDP's), it can be flushed.
    pub(crate) fn device_memory_is_visible(&self) -> bool {
        self.endpoint.device_memory_is_visible()
            && (self.hdp_flush.is_some() || !self.endpoint.is_discrete())
    }

    /// Makes host writes to device memory through PCI visible to the device.
    pub(crate) fn flush_host_writes(&self) {
        store_fence();
        if let Some(page) = &self.hdp_flush {
            let flush = &page.dwords(0, 1)[0];
            // A plain store: a locked one on memory of this kind locks the bus.
            flush.store(1, Ordering::Release);
            // The read comes back after the flush has been seen (PCI ordering).
            flush.load(Ordering::Acquire);
        }
    }

    /// Refuses to go on in a forked child.
    #[inline]
    pub(crate) fn check_fork(&self, what: &'static str) -> Result<(), Error> {
        if fork::generation() == self.fork_generation {
            Ok(())
        } else {
            Err(Error::Forked { what })
        }
    }

    /// Refuses to go on after the device was lost.
    #[inline]
    pub(crate) fn check_alive(&self) -> Result<(), Error> {
        match self.lost.get() {
            None => Ok(()),
            Some(fault) => Err(Error::DeviceLost(fault.clone())),
        }
    }

    /// Refuses objects of other devices.
    #[inline]
    pub(crate) fn check_same(
        self: &Arc<Self>,
        what: &'static str,
        owner: &Arc<DeviceInner>,
    ) -> Result<(), Error> {
        if Arc::ptr_eq(self, owner) {
            return Ok(());
        }
        Err(Error::WrongDevice { what, owner: owner.name.clone(), device: self.name.clone() })
    }

    /// How many executables were loaded so far: when it has grown, a queue's instruction caches may be
    /// stale.
    #[inline]
    pub(crate) fn code_loaded(&self) -> u64 {
        self.code_loaded.load(Ordering::Acquire)
    }

    pub(crate) fn note_code_loaded(&self) {
        self.code_loaded.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn note_allocated(&self, address: u64, length: u64) {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner).insert(address, length);
    }

    pub(crate) fn note_freed(&self, address: u64) {
        // In a forked child another thread of the parent may have held the lock.
        if self.check_fork("device").is_ok() {
            self.buffers.lock().unwrap_or_else(PoisonError::into_inner).remove(&address);
        }
    }

    /// From now on there is work that may fault.
    pub(crate) fn expect_faults(&self) -> Result<(), Error> {
        self.watch.start().map_err(|error| Error::Io {
            path: "the thread that waits for faults".to_owned(),
            errno: Errno(error.raw_os_error().unwrap_or(Errno::EAGAIN.0)),
        })
    }

    /// Prepares to wait for `event` or a fault of the device. Between this and the wait the caller
    /// looks once more at what it waits for.
    pub(crate) fn waiter(&self, event: &Arc<Event>) -> Waiter<'_> {
        self.watch.waiter(event)
    }

    /// Looks for a fault without waiting.
    pub(crate) fn poll_fault(&self) -> Option<Arc<Fault>> {
        if self.lost.get().is_none() && self.check_fork("device").is_ok() {
            self.watch.poll();
        }
        self.lost.get().cloned()
    }

    /// Notes a fault of this device; of several, the first counts.
    pub(super) fn note_fault(&self, report: &Report) {
        let gpu_id = self.kfd.gpu_id();
        let device = self.name.clone();
        let fault = match report {
            Report::Memory(fault) if fault.gpu_id == gpu_id => Fault::Memory(MemoryFault {
                device,
                address: fault.address,
                not_present: fault.not_present,
                read_only: fault.read_only,
                no_execute: fault.no_execute,
                imprecise: fault.imprecise,
                error_type: fault.error_type,
                nearest: self.nearest_buffer(fault.address),
            }),
            Report::Reset(reset) if reset.gpu_id == gpu_id => Fault::Reset(ResetFault {
                device,
                memory_lost: reset.memory_lost,
                kind: reset.reset_type,
                cause: reset.reset_cause,
            }),
            _ => return,
        };
        let fault = self.lost.get_or_init(|| Arc::new(fault));
        if self.process().is_primary() {
            registry::note_primary_fault(self.system, gpu_id, fault);
        }
    }

    fn nearest_buffer(&self, address: u64) -> Option<(u64, u64)> {
        let buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        buffers.range(..=address).next_back().map(|(&start, &length)| (start, length))
    }
}

/// The page through which host writes to device memory are flushed (the HDP's, `MMIO_REMAP`); none where
/// the kernel has none to give.
fn hdp_flush_page(device: &Arc<kfd::Device>) -> Result<Option<HostVisible>, Error> {
    let flags = AllocationFlags::MMIO_REMAP
        | AllocationFlags::WRITABLE
        | AllocationFlags::COHERENT
        | AllocationFlags::PUBLIC;
    match device.allocate(kfd::PAGE_SIZE, flags) {
        Ok(page) => Ok(HostVisible::new(page)),
        // kfd_chardev.c, kfd_ioctl_alloc_memory_of_gpu: the registers' bus address is 0.
        Err(kfd::Error::Allocate { errno: Errno::ENOMEM, .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Drains the write-combining buffers that stores to device memory go through.
#[expect(unsafe_code, reason = "an instruction")]
fn store_fence() {
    // SAFETY: every x86-64 processor has SFENCE, and it touches no memory.
    unsafe { std::arch::x86_64::_mm_sfence() };
}
