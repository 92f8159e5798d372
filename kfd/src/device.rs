//! One GPU, as this process sees it.

use crate::allocation::Memory;
use crate::queue::Doorbells;
use crate::render::RenderFile;
use crate::topology::Node;
use crate::uapi::{self, ProcessDeviceApertures};
use crate::{Allocation, AllocationFlags, Error, PAGE_SIZE, Process, Queue, QueueOptions, Result};
use std::sync::{Arc, Mutex, PoisonError};

/// Clocks of the device and the host, read at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockCounters {
    /// The device's counter, ticks.
    pub gpu: u64,
    /// CLOCK_MONOTONIC_RAW, ns.
    pub cpu: u64,
    /// CLOCK_BOOTTIME, ticks of `system_frequency`.
    pub system: u64,
    /// Ticks in a second: 10⁹.
    pub system_frequency: u64,
}

/// A GPU whose page tables are this process's.
#[derive(Debug)]
pub struct Device {
    node: Node,
    /// The process keeps it open, too.
    render_file: Arc<RenderFile>,
    apertures: ProcessDeviceApertures,
    doorbells: Mutex<Option<Arc<Doorbells>>>,
    /// Dropped last: the process must find itself the only owner of its files.
    process: Arc<Process>,
}

impl Device {
    pub(crate) fn new(
        process: Arc<Process>,
        node: Node,
        render_file: Arc<RenderFile>,
        apertures: ProcessDeviceApertures,
    ) -> Device {
        Device { node, render_file, apertures, doorbells: Mutex::new(None), process }
    }

    /// The process.
    pub fn process(&self) -> &Arc<Process> {
        &self.process
    }

    /// The node.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// What ioctls call it.
    pub fn gpu_id(&self) -> u32 {
        self.node.gpu_id
    }

    /// Its special address ranges.
    pub fn apertures(&self) -> &ProcessDeviceApertures {
        &self.apertures
    }

    /// The open render node, whose page tables are the process's.
    pub fn render_file(&self) -> &RenderFile {
        &self.render_file
    }

    /// Fails unless the device can map memory at all of a range that is not empty.
    pub(crate) fn check_aperture(&self, address: u64, length: u64) -> Result<()> {
        let (base, limit) = (self.apertures.gpuvm_base, self.apertures.gpuvm_limit);
        match address.checked_add(length - 1) {
            Some(last) if address >= base && last <= limit => Ok(()),
            _ => {
                Err(Error::OutsideAperture { gpu_id: self.gpu_id(), address, length, base, limit })
            }
        }
    }

    /// Allocates memory, maps it to this device and, with [`AllocationFlags::PUBLIC`], to the CPU,
    /// at one address. Exactly one kind is given, [`AllocationFlags::VRAM`] or
    /// [`AllocationFlags::GTT`]; the size is rounded up to pages.
    ///
    /// # Errors
    /// [`Error::Reserve`], [`Error::OutsideAperture`], [`Error::Allocate`], [`Error::MapForCpu`],
    /// [`Error::Map`]; nothing stays allocated then.
    pub fn allocate(
        self: &Arc<Device>,
        size: u64,
        flags: AllocationFlags,
    ) -> Result<Arc<Allocation>> {
        self.allocate_aligned(size, PAGE_SIZE, flags)
    }

    /// The same, with an alignment of the address: a power of two, bytes.
    ///
    /// # Errors
    /// As [`Device::allocate`].
    pub fn allocate_aligned(
        self: &Arc<Device>,
        size: u64,
        alignment: u64,
        flags: AllocationFlags,
    ) -> Result<Arc<Allocation>> {
        let memory = Memory::allocate(self, size, alignment, flags)?;
        Allocation::mapped(self.clone(), memory)
    }

    /// Creates a queue. The runtime is enabled first, if it is not.
    ///
    /// # Errors
    /// [`Error::QueueShape`] for what the kernel would refuse or, worse, take; what allocating its
    /// buffers can answer; [`Error::RuntimeEnable`], [`Error::CreateQueue`],
    /// [`Error::MapDoorbells`].
    pub fn create_queue(self: &Arc<Device>, options: QueueOptions) -> Result<Queue> {
        Queue::create(self, options)
    }

    /// The doorbells of this process on this device, mapped when first needed.
    pub(crate) fn doorbells(&self, offset: u64) -> Result<Arc<Doorbells>> {
        let mut doorbells = self.doorbells.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(doorbells) = &*doorbells {
            return Ok(doorbells.clone());
        }
        let new = Arc::new(Doorbells::map(self, offset)?);
        *doorbells = Some(new.clone());
        Ok(new)
    }

    /// Reads the clocks.
    ///
    /// # Errors
    /// [`Error::ClockCounters`].
    pub fn clock_counters(&self) -> Result<ClockCounters> {
        let gpu_id = self.gpu_id();
        let counters = self
            .process
            .driver()
            .clock_counters(gpu_id)
            .map_err(|errno| Error::ClockCounters { gpu_id, errno })?;
        Ok(ClockCounters {
            gpu: counters.gpu_clock_counter,
            cpu: counters.cpu_clock_counter,
            system: counters.system_clock_counter,
            system_frequency: counters.system_clock_freq,
        })
    }

    /// How many bytes of device memory can still be allocated.
    ///
    /// # Errors
    /// [`Error::AvailableMemory`].
    pub fn available_memory(&self) -> Result<u64> {
        let gpu_id = self.gpu_id();
        self.process
            .driver()
            .available_memory(gpu_id)
            .map_err(|errno| Error::AvailableMemory { gpu_id, errno })
    }

    /// Sets the memory policy again. A device gets non-coherent by default when it is opened;
    /// `flags` need KFD 1.18.
    ///
    /// # Errors
    /// [`Error::NeedsVersion`], [`Error::MemoryPolicy`].
    pub fn set_memory_policy(&self, coherent: bool, flags: uapi::ProcessFlags) -> Result<()> {
        if !flags.is_empty() {
            self.process.need_version("a memory policy's process flags", 18)?;
        }
        let gpu_id = self.gpu_id();
        let default_policy = match coherent {
            true => uapi::CACHE_POLICY_COHERENT,
            false => uapi::CACHE_POLICY_NONCOHERENT,
        };
        self.process
            .driver()
            .set_memory_policy(uapi::SetMemoryPolicyArgs {
                gpu_id,
                default_policy,
                alternate_policy: uapi::CACHE_POLICY_COHERENT,
                misc_process_flag: flags.bits(),
                ..uapi::SetMemoryPolicyArgs::default()
            })
            .map_err(|errno| Error::MemoryPolicy { gpu_id, errno })
    }

    /// Says what memory is behind the scratch aperture (old devices; gfx9 and later take it from
    /// the queue).
    ///
    /// # Errors
    /// [`Error::ScratchBacking`].
    pub fn set_scratch_backing(&self, address: u64) -> Result<()> {
        let gpu_id = self.gpu_id();
        self.process
            .driver()
            .set_scratch_backing(gpu_id, address)
            .map_err(|errno| Error::ScratchBacking { gpu_id, address, errno })
    }

    /// Installs a second-level trap handler: code and data, both at 256-byte alignment. They must
    /// stay mapped as long as queues run.
    ///
    /// # Errors
    /// [`Error::TrapHandler`].
    pub fn set_trap_handler(&self, handler: u64, data: u64) -> Result<()> {
        let gpu_id = self.gpu_id();
        self.process
            .driver()
            .set_trap_handler(gpu_id, handler, data)
            .map_err(|errno| Error::TrapHandler { gpu_id, handler, errno })
    }
}
