//! Queues that user space writes and the hardware reads.
#![expect(unsafe_code, reason = "a doorbell is a word of device memory")]

use crate::owner::Owner;
use crate::save_area::{self, ErrorReport, SaveAreaSizes};
use crate::{Allocation, AllocationFlags, Device, Error, Event, PAGE_SIZE, Result, uapi};
use selvedge_sys::{Mapping, Protection};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A process's doorbells on one device: 1,024 of 8 bytes (kfd_doorbell.c,
/// `kfd_doorbell_process_slice`).
const DOORBELL_SLICE: u64 = 8192;

/// End-of-pipe buffer, bytes (kfd_queue.c: 4096 on everything since gfx8.0.3).
const EOP_BUFFER_SIZE: u64 = 4096;

/// What a queue takes and who runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueKind {
    /// AQL packets, on the compute engines.
    Aql,
    /// PM4 packets, on the compute engines.
    Pm4,
    /// SDMA packets, on an engine of the kernel's choice.
    Sdma,
    /// SDMA packets, on an engine made for XGMI links.
    SdmaXgmi,
    /// SDMA packets, on this engine; KFD 1.17.
    SdmaEngine(u32),
}

impl QueueKind {
    fn number(self) -> u32 {
        match self {
            QueueKind::Aql => uapi::QUEUE_TYPE_COMPUTE_AQL,
            QueueKind::Pm4 => uapi::QUEUE_TYPE_COMPUTE,
            QueueKind::Sdma => uapi::QUEUE_TYPE_SDMA,
            QueueKind::SdmaXgmi => uapi::QUEUE_TYPE_SDMA_XGMI,
            QueueKind::SdmaEngine(_) => uapi::QUEUE_TYPE_SDMA_BY_ENG_ID,
        }
    }

    fn is_compute(self) -> bool {
        matches!(self, QueueKind::Aql | QueueKind::Pm4)
    }
}

/// A place in an allocation.
#[derive(Clone, Debug)]
pub struct Location {
    /// The allocation.
    pub allocation: Arc<Allocation>,
    /// Bytes from its start.
    pub offset: u64,
}

impl Location {
    /// The address.
    pub fn address(&self) -> u64 {
        self.allocation.address() + self.offset
    }
}

/// Where a compute queue's exceptions go.
#[derive(Clone, Debug)]
pub struct ExceptionReport {
    /// A 64-bit word that CPU and devices see: the kernel writes a mask of
    /// [`uapi::exception::mask`]s to it.
    pub payload: Location,
    /// The signal event that it sets then.
    pub event: Arc<Event>,
}

/// What a queue is made of.
///
/// The kernel is strict about the memory: the ring is an allocation of exactly its size, write and
/// read pointer lie in allocations of one page (they may share it), the write pointer's on the
/// queue's own device (kfd_queue.c, `kfd_queue_acquire_buffers`). End-of-pipe buffer and save area
/// are allocated with the queue.
#[derive(Clone, Debug)]
pub struct QueueOptions {
    /// What it takes.
    pub kind: QueueKind,
    /// The ring, a power of two of at least 1,024 bytes.
    pub ring: Arc<Allocation>,
    /// The 64-bit write pointer, which user space advances: AQL packets, PM4 dwords, SDMA bytes.
    pub write_pointer: Location,
    /// The read pointer, which the hardware advances.
    pub read_pointer: Location,
    /// Share of the hardware, 0 (stopped) to 100.
    pub percentage: u32,
    /// 0 to 15: 0–6 low, 7–10 medium, 11–15 high.
    pub priority: u32,
    /// Where a compute queue's exceptions go.
    pub exceptions: Option<ExceptionReport>,
}

impl QueueOptions {
    /// A running queue of medium priority.
    pub fn new(
        kind: QueueKind,
        ring: Arc<Allocation>,
        write_pointer: Location,
        read_pointer: Location,
    ) -> QueueOptions {
        QueueOptions {
            kind,
            ring,
            write_pointer,
            read_pointer,
            percentage: uapi::MAX_QUEUE_PERCENTAGE,
            priority: 7,
            exceptions: None,
        }
    }

    /// Says what the kernel would refuse, or find out too late.
    fn check(&self, device: &Device) -> std::result::Result<u32, String> {
        let size = check_ring(device, &self.ring)?;
        if device.node().target().major < 9 {
            return Err(format!("{} is too old", device.node().target()));
        }
        Settings { percentage: self.percentage, priority: self.priority }.check()?;
        for (name, pointer) in
            [("write pointer", &self.write_pointer), ("read pointer", &self.read_pointer)]
        {
            let length = pointer.allocation.len();
            if length != PAGE_SIZE {
                return Err(format!("the {name}'s allocation is {length} bytes, not one page"));
            }
            if pointer.offset > PAGE_SIZE - 8 || !pointer.offset.is_multiple_of(8) {
                return Err(format!("the {name}'s offset is {:#x}", pointer.offset));
            }
        }
        let owner = self.write_pointer.allocation.device().gpu_id();
        if owner != device.gpu_id() {
            return Err(format!("the write pointer lies in memory of gpu_id {owner}"));
        }
        for allocation in [&self.write_pointer.allocation, &self.read_pointer.allocation] {
            check_access(device, allocation)?;
        }
        match &self.exceptions {
            Some(_) if !self.kind.is_compute() => {
                Err("only compute queues report exceptions".to_owned())
            }
            Some(report) if !report.payload.offset.is_multiple_of(8) => {
                Err(format!("the exception payload's offset is {:#x}", report.payload.offset))
            }
            _ => Ok(size),
        }
    }
}

/// A ring's size, where a queue of the device can read it.
fn check_ring(device: &Device, ring: &Allocation) -> std::result::Result<u32, String> {
    let ring_size = ring.len();
    let size = u32::try_from(ring_size)
        .ok()
        .filter(|size| size.is_power_of_two() && *size >= uapi::MIN_QUEUE_RING_SIZE)
        .ok_or_else(|| format!("a ring of {ring_size} bytes is not a power of two of 32 bits"))?;
    check_access(device, ring)?;
    Ok(size)
}

/// Says why the device cannot reach memory.
fn check_access(device: &Device, allocation: &Allocation) -> std::result::Result<(), String> {
    if !allocation.mapped_to().contains(&device.gpu_id()) {
        return Err(format!("{:#x} is not mapped to the device", allocation.address()));
    }
    if !Arc::ptr_eq(allocation.device().process(), device.process()) {
        return Err(format!("{:#x} is of another process", allocation.address()));
    }
    Ok(())
}

/// Everything that must outlive the queue in the kernel.
#[derive(Clone, Debug)]
#[expect(dead_code, reason = "held, not read")]
struct Buffers {
    ring: Option<Arc<Allocation>>,
    write_pointer: Location,
    read_pointer: Location,
    exceptions: Option<ExceptionReport>,
    end_of_pipe: Option<Arc<Allocation>>,
    save_area: Option<Arc<Allocation>>,
}

/// What UPDATE_QUEUE replaces.
#[derive(Clone, Copy, Debug)]
struct Settings {
    percentage: u32,
    priority: u32,
}

impl Settings {
    fn check(self) -> std::result::Result<(), String> {
        if self.percentage > uapi::MAX_QUEUE_PERCENTAGE {
            return Err(format!("percentage {} is above 100", self.percentage));
        }
        if self.priority > uapi::MAX_QUEUE_PRIORITY {
            return Err(format!("priority {} is above 15", self.priority));
        }
        Ok(())
    }
}

/// A queue, destroyed when dropped. It holds its memory, and lets go of it only when the kernel has
/// destroyed the queue: a scheduler that fails over a vanished queue resets the device.
#[derive(Debug)]
pub struct Queue {
    device: Arc<Device>,
    kind: QueueKind,
    id: u32,
    doorbell: Doorbell,
    sizes: Option<SaveAreaSizes>,
    state: Mutex<(Buffers, Settings)>,
    is_destroyed: bool,
}

impl Queue {
    pub(crate) fn create(device: &Arc<Device>, options: QueueOptions) -> Result<Queue> {
        let ring_size = options.check(device).map_err(|problem| Error::QueueShape { problem })?;
        let process = device.process();
        if let QueueKind::SdmaEngine(_) = options.kind {
            process.need_version("an SDMA queue on a chosen engine", 17)?;
        }
        let mut sizes = None;
        let (mut end_of_pipe, mut save_area) = (None, None);
        if options.kind.is_compute() {
            let node_sizes = SaveAreaSizes::of(device.node()).ok_or_else(|| Error::QueueShape {
                problem: format!("node {} has no compute units", device.node().index),
            })?;
            let flags = AllocationFlags::VRAM | AllocationFlags::WRITABLE;
            end_of_pipe = Some(device.allocate(EOP_BUFFER_SIZE, flags)?);
            let report = options.exceptions.as_ref().map(|report| ErrorReport {
                address: report.payload.address(),
                event_id: report.event.id(),
            });
            save_area = Some(save_area::allocate(device, &node_sizes, report)?);
            sizes = Some(node_sizes);
        }
        process.enable_runtime()?;
        let gpu_id = device.gpu_id();
        let address = |allocation: &Option<Arc<Allocation>>| {
            allocation.as_ref().map_or(0, |allocation| allocation.address())
        };
        let mut args = uapi::CreateQueueArgs {
            ring_base_address: options.ring.address(),
            write_pointer_address: options.write_pointer.address(),
            read_pointer_address: options.read_pointer.address(),
            ring_size,
            gpu_id,
            queue_type: options.kind.number(),
            queue_percentage: options.percentage,
            queue_priority: options.priority,
            eop_buffer_address: address(&end_of_pipe),
            eop_buffer_size: end_of_pipe.as_ref().map_or(0, |_| EOP_BUFFER_SIZE),
            ctx_save_restore_address: address(&save_area),
            ctx_save_restore_size: sizes.map_or(0, |sizes| sizes.context),
            ctl_stack_size: sizes.map_or(0, |sizes| sizes.control_stack),
            sdma_engine_id: match options.kind {
                QueueKind::SdmaEngine(engine) => engine,
                _ => 0,
            },
            ..uapi::CreateQueueArgs::default()
        };
        process.driver().create_queue(&mut args).map_err(|errno| Error::CreateQueue {
            gpu_id,
            queue_type: args.queue_type,
            ring: args.ring_base_address,
            ring_size,
            errno,
        })?;
        let buffers = Buffers {
            ring: Some(options.ring),
            write_pointer: options.write_pointer,
            read_pointer: options.read_pointer,
            exceptions: options.exceptions,
            end_of_pipe,
            save_area,
        };
        let settings = Settings { percentage: options.percentage, priority: options.priority };
        let doorbells = match device.doorbells(args.doorbell_offset & !(DOORBELL_SLICE - 1)) {
            Ok(doorbells) => doorbells,
            Err(error) => {
                if process.driver().destroy_queue(args.queue_id).is_err() {
                    process.quarantine();
                    std::mem::forget(buffers);
                }
                return Err(error);
            }
        };
        Ok(Queue {
            device: device.clone(),
            kind: options.kind,
            id: args.queue_id,
            doorbell: Doorbell {
                doorbells,
                offset: args.doorbell_offset & (DOORBELL_SLICE - 8),
                owner: Owner::current(),
            },
            sizes,
            state: Mutex::new((buffers, settings)),
            is_destroyed: false,
        })
    }

    /// The device that runs it.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// What it takes.
    pub fn kind(&self) -> QueueKind {
        self.kind
    }

    /// Its id in this process.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Its doorbell.
    pub fn doorbell(&self) -> &Doorbell {
        &self.doorbell
    }

    /// A compute queue's save area and the sizes it was made with.
    pub fn save_area(&self) -> Option<(Arc<Allocation>, SaveAreaSizes)> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        Some((state.0.save_area.clone()?, self.sizes?))
    }

    /// Changes share of the hardware (0 stops the queue) and priority.
    ///
    /// # Errors
    /// [`Error::QueueShape`], also when the ring is no longer mapped to the device;
    /// [`Error::UpdateQueue`].
    pub fn update(&self, percentage: u32, priority: u32) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let settings = Settings { percentage, priority };
        self.apply(state.0.ring.as_deref(), settings)?;
        state.1 = settings;
        Ok(())
    }

    /// Replaces the ring; without one the queue stops. The hardware must have read all of the old.
    ///
    /// # Errors
    /// [`Error::QueueShape`] for a ring that a new queue could not have either, and
    /// [`Error::UpdateQueue`]; the old ring stays then.
    pub fn set_ring(&self, ring: Option<Arc<Allocation>>) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.apply(ring.as_deref(), state.1)?;
        state.0.ring = ring;
        Ok(())
    }

    fn apply(&self, ring: Option<&Allocation>, settings: Settings) -> Result<()> {
        let queue_id = self.id;
        let gpu_id = self.device.gpu_id();
        let ring_size = settings
            .check()
            .and_then(|()| ring.map_or(Ok(0), |ring| check_ring(&self.device, ring)))
            .map_err(|problem| Error::QueueShape { problem })?;
        self.device
            .process()
            .driver()
            .update_queue(uapi::UpdateQueueArgs {
                ring_base_address: ring.map_or(0, Allocation::address),
                queue_id,
                ring_size,
                queue_percentage: settings.percentage,
                queue_priority: settings.priority,
            })
            .map_err(|errno| Error::UpdateQueue { gpu_id, queue_id, errno })
    }

    /// Restricts a compute queue to some compute units: a bit each, 32 a word, at most 1,024. On
    /// gfx10 and later they go in pairs, the workgroup processors.
    ///
    /// # Errors
    /// [`Error::CuMask`].
    pub fn set_cu_mask(&self, mask: &[u32]) -> Result<()> {
        self.device.process().driver().set_cu_mask(self.id, mask).map_err(|errno| Error::CuMask {
            queue_id: self.id,
            mask: mask.to_vec(),
            errno,
        })
    }

    /// Gives a compute queue global wave sync for cooperative launches: 1, or 0 to take it away.
    ///
    /// # Errors
    /// [`Error::QueueGws`].
    pub fn set_global_wave_sync(&self, count: u32) -> Result<()> {
        let queue_id = self.id;
        self.device
            .process()
            .driver()
            .set_queue_gws(queue_id, count)
            .map_err(|errno| Error::QueueGws { queue_id, count, errno })
    }

    /// The waves of a stopped compute queue: its control stack, and how much of it and of the save
    /// area is in use.
    ///
    /// # Errors
    /// [`Error::WaveState`].
    pub fn wave_state(&self) -> Result<WaveState> {
        let room = self.sizes.map_or(0, |sizes| sizes.control_stack);
        let mut control_stack = vec![0; room as usize];
        let args = self
            .device
            .process()
            .driver()
            .queue_wave_state(self.id, &mut control_stack)
            .map_err(|errno| Error::WaveState { queue_id: self.id, errno })?;
        Ok(WaveState {
            control_stack,
            control_stack_used: args.ctl_stack_used_size,
            save_area_used: args.save_area_used_size,
        })
    }

    /// Destroys the queue and says how that went.
    ///
    /// # Errors
    /// [`Error::DestroyQueue`]; the queue's memory is quarantined then.
    pub fn destroy(mut self) -> Result<()> {
        self.release()
    }

    /// Destroys the queue while its value stays, for owners that keep more than the kernel knows of; dropping it
    /// afterwards does nothing.
    ///
    /// # Errors
    /// As [`Queue::destroy`].
    pub fn shut_down(&mut self) -> Result<()> {
        self.release()
    }

    fn release(&mut self) -> Result<()> {
        let process = self.device.process();
        if self.is_destroyed || !process.is_here() {
            return Ok(());
        }
        self.is_destroyed = true;
        process.driver().destroy_queue(self.id).map_err(|errno| {
            process.quarantine();
            let (buffers, _) = &*self.state.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(buffers.clone());
            std::mem::forget(self.doorbell.clone());
            Error::DestroyQueue { gpu_id: self.device.gpu_id(), queue_id: self.id, errno }
        })
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // Nobody is left to tell; the failure is counted.
        let _ = self.release();
    }
}

/// What GET_QUEUE_WAVE_STATE tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaveState {
    /// The control stack, behind its header.
    pub control_stack: Vec<u8>,
    /// Bytes of it in use.
    pub control_stack_used: u32,
    /// Bytes of wave state in use.
    pub save_area_used: u32,
}

/// A process's doorbells on one device.
#[derive(Debug)]
pub(crate) struct Doorbells {
    mapping: Mapping,
}

impl Doorbells {
    pub(crate) fn map(device: &Device, offset: u64) -> Result<Doorbells> {
        let process = device.process();
        let failed = |errno| Error::MapDoorbells { gpu_id: device.gpu_id(), offset, errno };
        let mapping = Mapping::of_file(
            process.system(),
            process.driver().file().fd(),
            offset,
            DOORBELL_SLICE as usize,
            Protection::READ | Protection::WRITE,
        )
        .map_err(failed)?;
        mapping.keep_from_children().map_err(failed)?;
        Ok(Doorbells { mapping })
    }
}

/// A queue's doorbell: one store tells the hardware how far the ring is written.
#[derive(Clone, Debug)]
pub struct Doorbell {
    doorbells: Arc<Doorbells>,
    offset: u64,
    owner: Owner,
}

impl Doorbell {
    /// Rings: the index of the last packet of an AQL queue, the write pointer of the others. What
    /// was written before is visible to the device by then. Does nothing in a forked child, which has no
    /// doorbells.
    #[inline]
    pub fn ring(&self, value: u64) {
        if self.owner.is_current() {
            self.word().store(value, Ordering::Release);
        }
    }

    /// The doorbell itself, valid as long as this value, for who checks the process before and rings more
    /// than once. A forked child has no doorbells: an access to the word ends it with SIGSEGV there.
    #[inline]
    pub fn word(&self) -> &AtomicU64 {
        let pointer = self.doorbells.mapping.pointer().wrapping_add(self.offset as usize);
        // SAFETY: the offset is that of a doorbell in the mapped slice, aligned to 8 bytes.
        unsafe { AtomicU64::from_ptr(pointer.cast()) }
    }
}
