//! `/dev/kfd` (kfd_chardev.c): the dispatcher and a process's state.
//!
//! - `device`: versions, apertures, clocks, ACQUIRE_VM and the settings of a device.
//! - `memory`: allocation and mapping, dma-buf; `user_memory`: of the process's own.
//! - `queue`: user queues; `sdma`: which engine they are on.
//! - `event`: events and waiting; `bell`: what waits sleep on.
//! - `signals`: what the hardware tells the kernel.
//! - `svm`: shared virtual memory; `migrate`: ranges of it that move.
//! - `debug`: runtime enable, DBG_TRAP; `debugger`: what a debugger is told.
//! - `checkpoint`: CRIU, profiler.
//! - `smi`: management events.

mod bell;
mod checkpoint;
mod debug;
mod debugger;
mod device;
pub(crate) mod event;
mod memory;
mod migrate;
mod queue;
mod sdma;
mod signals;
mod smi;
mod svm;
mod user_memory;

pub(crate) use memory::{export as export_buffer, user_buffer};
pub(crate) use sdma::{Engines, Place, Wanted};
pub(crate) use smi::{SmiFile, SmiReaders};

use super::drm::RenderFile;
use super::exchange::Call;
use super::file::{Node, OpenFile};
use super::handles::Handles;
use super::process::{Mappable, Process};
use crate::board::{Extent, Held};
use crate::count::Token;
use crate::cp::TrapHandler;
use crate::machine::Shared;
use crate::memory::AddressSpace;
use kfd::uapi;
use selvedge_sys::Errno;
use selvedge_sys::uapi::Direction::{Read, ReadWrite, Write};
use selvedge_sys::uapi::number;
use signals::Signals;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bits 63:62 of an mmap offset (kfd_priv.h, `KFD_MMAP_TYPE_*`).
const MMAP_TYPE_SHIFT: u32 = 62;
const MMAP_TYPE_DOORBELL: u64 = 3 << MMAP_TYPE_SHIFT;
const MMAP_TYPE_EVENTS: u64 = 2 << MMAP_TYPE_SHIFT;
const MMAP_TYPE_RESERVED: u64 = 1 << MMAP_TYPE_SHIFT;
const MMAP_TYPE_MMIO: u64 = 0;
/// Where the GPU's id is in an mmap offset (`KFD_MMAP_GPU_ID_SHIFT`).
const MMAP_GPU_ID_SHIFT: u32 = 46;

/// Bytes of a process's doorbells on a GPU: 1024 of 8 bytes.
pub(crate) const DOORBELL_SLICE: u64 = 8192;

/// `KFD_MMAP_GPU_ID`
fn mmap_offset(kind: u64, gpu_id: u32) -> u64 {
    kind | u64::from(gpu_id) << MMAP_GPU_ID_SHIFT
}

/// `GET_GPU_ID` and `GET_IDR_HANDLE` of a buffer's handle.
fn split_handle(handle: u64) -> (u32, u32) {
    ((handle >> 32) as u32, handle as u32)
}

/// A kfd_process. The primary one belongs to a Linux process and lives as long; a secondary one belongs to
/// an open file.
#[derive(Debug)]
pub(crate) struct KfdProcess {
    machine: Arc<Shared>,
    /// Of all kfd_processes of the machine, from 0 on.
    number: u32,
    /// Of the Linux process.
    pid: u32,
    is_primary: bool,
    /// What interrupts reach.
    signals: Arc<Signals>,
    state: Mutex<State>,
    _held: Option<Held>,
    _token: Token,
}

/// What the kernel keeps under `p->mutex`.
#[derive(Debug)]
struct State {
    /// One for each GPU of the machine (`struct kfd_process_device`).
    devices: Vec<Device>,
    queues: BTreeMap<u32, queue::UserQueue>,
    /// The buffer that holds the event page.
    signal_handle: Option<u64>,
    runtime_enabled: bool,
    /// `struct kfd_runtime_info`
    r_debug: u64,
    saves_ttmps: bool,
    debug_flags: uapi::TrapFlags,
    queues_paused: bool,
    xnack: i32,
    svm: svm::Ranges,
    user_memory: memory::UserMemory,
}

#[derive(Debug, Default)]
struct Device {
    /// The render node's file whose VM was acquired; open as long as the process lives.
    render: Option<Arc<OpenFile>>,
    /// Buffers by the low half of their handle.
    buffers: Handles<memory::Allocation>,
    doorbells: Option<Doorbells>,
    trap_handler: Arc<TrapHandler>,
    scratch_base: u64,
    /// How many queue buffers lie in the mapping that starts at an address (`bo_va->queue_refcount`).
    queue_references: HashMap<u64, u32>,
    /// Queue that has global wave sync.
    gws: Option<u32>,
}

/// A process's doorbells on a GPU.
#[derive(Debug)]
struct Doorbells {
    pages: Arc<Extent>,
    /// One for each of the 1024, in use or never to be used.
    taken: Vec<bool>,
}

impl Device {
    fn render(&self) -> Option<&Arc<RenderFile>> {
        self.render.as_deref().and_then(OpenFile::render)
    }

    /// `kfd_bind_process_to_device`: the VM, once it was acquired.
    fn vm(&self) -> Result<Arc<AddressSpace>, Errno> {
        self.render().map(|render| render.vm.clone()).ok_or(Errno::ENODEV)
    }
}

impl KfdProcess {
    pub(crate) fn new(machine: &Arc<Shared>, pid: u32, is_primary: bool) -> Arc<KfdProcess> {
        // Without a keeper of the board nothing else is to be had either.
        let (number, held) = machine.new_kfd_process(pid, is_primary).unzip();
        let process = Arc::new(KfdProcess {
            number: number.unwrap_or(u32::MAX),
            pid,
            is_primary,
            signals: Arc::new(Signals::new(machine, pid)),
            state: Mutex::new(State {
                devices: machine.gpus.iter().map(|_| Device::default()).collect(),
                queues: BTreeMap::new(),
                signal_handle: None,
                runtime_enabled: false,
                r_debug: 0,
                saves_ttmps: false,
                debug_flags: uapi::TrapFlags::empty(),
                queues_paused: false,
                // With no GPU to object, retrying page faults is on (kfd_process.c,
                // `kfd_process_xnack_mode`); gfx10 and later cannot.
                xnack: i32::from(machine.gpus.is_empty()),
                svm: svm::Ranges::default(),
                user_memory: memory::UserMemory::default(),
            }),
            machine: machine.clone(),
            _held: held,
            _token: machine.counters.kfd_processes.token(),
        });
        machine.register(&process);
        // After it is registered, so that a GPU that hangs at the same time is not missed.
        for (gpu, device) in machine.gpus.iter().enumerate() {
            if device.hangs() {
                process.gpu_hangs(gpu);
            }
        }
        process
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `kfd_process_device_data_by_id`: the index of a GPU.
    fn gpu(&self, gpu_id: u32) -> Result<usize, Errno> {
        self.machine.gpu_index(gpu_id).ok_or(Errno::EINVAL)
    }

    /// A GPU does nothing any more.
    pub(crate) fn gpu_hangs(&self, gpu: usize) {
        self.signals.evict(gpu);
    }

    /// Another file's buffer is to have VRAM that the process fills: the process's buffers leave, its queues with them, and
    /// come back when they are wanted (`evict_process_worker`, `restore_process_worker` of kfd_process.c). In the end the
    /// other buffer is in system memory.
    pub(crate) fn make_room(&self, gpu: usize) {
        let state = self.lock();
        if state.devices[gpu].buffers.values().any(memory::Allocation::is_in_vram) {
            self.tell_of_eviction(&state, smi::EvictionTrigger::Buffers);
            self.tell_of_restore(&state);
        }
    }

    /// The driver stops all processes before it resets a GPU (`kfd_suspend_all_processes`).
    pub(crate) fn suspend(&self) {
        for gpu in 0..self.machine.gpus.len() {
            let event = smi::SmiEvent::QueueEviction(smi::EvictionTrigger::Suspend);
            self.machine.tell(gpu, self.pid, &event);
        }
    }

    /// A GPU was reset after a hang.
    pub(crate) fn gpu_was_reset(&self, gpu: usize) {
        self.signals.gpu_reset(gpu);
    }

    /// The Linux process ends: threads in WAIT_EVENTS return.
    pub(crate) fn interrupt_waits(&self) {
        self.signals.events.close();
    }

    /// `kfd_alloc_process_doorbells`
    fn doorbells<'a>(
        &self,
        gpu: usize,
        device: &'a mut Device,
    ) -> Result<&'a mut Doorbells, Errno> {
        if device.doorbells.is_none() {
            let pages = Arc::new(self.machine.kernel_pages(DOORBELL_SLICE)?);
            let taken = queue::doorbell_bitmap(&self.machine.gpus[gpu].board);
            device.doorbells = Some(Doorbells { pages, taken });
        }
        device.doorbells.as_mut().ok_or(Errno::ENOMEM)
    }

    /// `kfd_mmap`
    pub(crate) fn mmap(
        &self,
        machine: &Shared,
        offset: u64,
        length: u64,
    ) -> Result<Mappable, Errno> {
        let gpu_id = (offset >> MMAP_GPU_ID_SHIFT) as u32 & 0xffff;
        let gpu = machine.gpu_index(gpu_id).ok_or(Errno::ENODEV);
        match offset & 3 << MMAP_TYPE_SHIFT {
            MMAP_TYPE_EVENTS => self.signals.events.map(length),
            MMAP_TYPE_DOORBELL => {
                let gpu = gpu?;
                if length != DOORBELL_SLICE {
                    return Err(Errno::EINVAL);
                }
                let mut state = self.lock();
                let pages = &self.doorbells(gpu, &mut state.devices[gpu])?.pages;
                Ok((pages.offset, pages.backing.clone()))
            }
            MMAP_TYPE_RESERVED => {
                gpu?;
                Err(machine.refuse("mmap of the reserved memory that only old APUs have".into()))
            }
            _ => {
                let gpu = gpu?;
                if length != crate::board::PAGE {
                    return Err(Errno::EINVAL);
                }
                Ok(machine.remap_page(gpu))
            }
        }
    }

    /// What [`mmap`](KfdProcess::mmap) allowed is mapped.
    pub(crate) fn mapped(&self, offset: u64, length: u64) {
        if offset & 3 << MMAP_TYPE_SHIFT == MMAP_TYPE_EVENTS {
            self.signals.events.mapped(length);
        }
    }
}

impl Drop for KfdProcess {
    /// Queues go before the memory they use (kfd_process.c, `kfd_process_notifier_release_internal`).
    fn drop(&mut self) {
        self.signals.destroy_queues();
        let mut guard = self.lock();
        let state = &mut *guard;
        state.queues.clear();
        state.svm.unmap_all(&state.devices);
        for device in &mut state.devices {
            device.buffers.take_all().for_each(memory::Allocation::release);
        }
        // A VM belongs to one kfd_process at a time.
        for (gpu, device) in state.devices.iter().enumerate() {
            if let Some(render) = device.render() {
                self.tell_of_process(gpu, false);
                render.release_compute();
            }
        }
    }
}

/// `kfd_ioctl`: looks at the number only, then lets the handler work on a copy of the argument.
pub(crate) fn ioctl(linux: &Process, file: &Arc<OpenFile>, call: Call) -> Result<i32, Errno> {
    let machine = linux.machine();
    let kernel = &machine.kernel;
    let nr = number(call.request);
    let exists = match nr {
        0x27 => kernel.has_secondary_contexts(),
        0x28 => kernel.has_profiler(),
        1..=0x26 => true,
        _ => false,
    };
    if !exists {
        return Err(Errno::ENOTTY);
    }
    if file.pid != linux.pid() {
        return Err(Errno::EBADF);
    }
    let process = file.kfd_process().ok_or(Errno::EBADF)?;
    let p = &*process;
    if nr == 0x22 && !machine.privileged {
        return Err(Errno::EACCES);
    }
    match nr {
        0x01 => call.exchange(Read, |args: &mut uapi::GetVersionArgs| {
            args.major_version = 1;
            args.minor_version = kernel.minor;
            Ok(())
        }),
        0x02 => call.exchange(ReadWrite, |args| p.create_queue(args)),
        0x03 => call.exchange(ReadWrite, |args| p.destroy_queue(args)),
        0x04 => call.exchange(Write, |args| p.set_memory_policy(args)),
        0x05 => call.exchange(ReadWrite, |args| p.get_clock_counters(args)),
        0x06 => call.exchange(Read, |args| p.get_process_apertures(args)),
        0x07 => call.exchange(Write, |args| p.update_queue(args)),
        0x08 => call.exchange(ReadWrite, |args| p.create_event(args)),
        0x09 => call.exchange(Write, |args: &mut uapi::DestroyEventArgs| {
            p.signals.events.destroy(args.event_id)
        }),
        0x0a => call
            .exchange(Write, |args: &mut uapi::SetEventArgs| p.signals.events.set(args.event_id)),
        0x0b => call.exchange(Write, |args: &mut uapi::ResetEventArgs| {
            p.signals.events.reset(args.event_id)
        }),
        0x0c => call.exchange(ReadWrite, |args| p.wait_events(args)),
        0x0d..=0x10 => call.bytes(Write, 0, |_, _| Err(Errno::EPERM)),
        0x11 => call.exchange(ReadWrite, |args| p.set_scratch_backing_va(args)),
        0x12 => call.exchange(ReadWrite, |args| p.get_tile_config(args)),
        0x13 => call.exchange(Write, |args| p.set_trap_handler(args)),
        0x14 => call.exchange(ReadWrite, |args| p.get_process_apertures_new(args)),
        0x15 => call.exchange(Write, |args| p.acquire_vm(linux, args)),
        0x16 => call.exchange(ReadWrite, |args| p.alloc_memory(args)),
        0x17 => call.exchange(Write, |args| p.free_memory(args)),
        0x18 => call.exchange(ReadWrite, |args| p.map_memory(args)),
        0x19 => call.exchange(ReadWrite, |args| p.unmap_memory(args)),
        0x1a => call.exchange(Write, |args| p.set_cu_mask(args)),
        0x1b => call.exchange(ReadWrite, |args| p.get_queue_wave_state(args)),
        0x1c => call.exchange(ReadWrite, |args| p.get_dmabuf_info(linux, args)),
        0x1d => call.exchange(ReadWrite, |args| p.import_dmabuf(linux, args)),
        0x1e => call.exchange(ReadWrite, |args| p.alloc_queue_gws(args)),
        0x1f => call.exchange(ReadWrite, |args| p.smi_events(linux, args)),
        0x20 => p.svm(call),
        0x21 => call.exchange(ReadWrite, |args| p.set_xnack_mode(args)),
        0x22 => call.exchange(ReadWrite, |args| p.criu(args)),
        0x23 => call.exchange(ReadWrite, |args| p.available_memory(args)),
        0x24 => call.exchange(ReadWrite, |args| p.export_dmabuf(linux, args)),
        0x25 => call.exchange(ReadWrite, |args| p.runtime_enable(args)),
        0x26 => {
            let mut answer = 0;
            let ask = |args: &mut _| p.debug_trap(linux, args).map(|count| answer = count);
            call.exchange(ReadWrite, ask)?;
            Ok(answer)
        }
        0x27 => create_process(linux, file),
        0x28 => call.exchange(ReadWrite, |args| p.profiler(args)),
        _ => Err(Errno::ENOTTY),
    }
}

/// CREATE_PROCESS (Linux 7, `kfd_ioctl_create_process`): the file leads to a new, secondary kfd_process from
/// now on. One that already does cannot again.
fn create_process(linux: &Process, file: &OpenFile) -> Result<i32, Errno> {
    let Node::Kfd(slot) = &file.node else { return Err(Errno::EBADF) };
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    if !slot.is_primary {
        return Err(Errno::EINVAL);
    }
    *slot = KfdProcess::new(linux.machine(), linux.pid(), false);
    Ok(0)
}
