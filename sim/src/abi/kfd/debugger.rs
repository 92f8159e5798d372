//! What a debugger is told of a process: exceptions of its queues, its GPUs and itself (kfd_debug.c).

use kfd::uapi::{HsaMemoryExceptionData, exception};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;

const fn mask(codes: &[u32]) -> u64 {
    let (mut mask, mut i) = (0, 0);
    while i < codes.len() {
        mask |= exception::mask(codes[i]);
        i += 1;
    }
    mask
}

/// `KFD_EC_MASK_QUEUE`
pub(super) const OF_QUEUES: u64 = mask(&[
    exception::QUEUE_WAVE_ABORT,
    exception::QUEUE_WAVE_TRAP,
    exception::QUEUE_WAVE_MATH_ERROR,
    exception::QUEUE_WAVE_ILLEGAL_INSTRUCTION,
    exception::QUEUE_WAVE_MEMORY_VIOLATION,
    exception::QUEUE_WAVE_APERTURE_VIOLATION,
    exception::QUEUE_PACKET_DISPATCH_DIM_INVALID,
    exception::QUEUE_PACKET_DISPATCH_GROUP_SEGMENT_SIZE_INVALID,
    exception::QUEUE_PACKET_DISPATCH_CODE_INVALID,
    exception::QUEUE_PACKET_RESERVED,
    exception::QUEUE_PACKET_UNSUPPORTED,
    exception::QUEUE_PACKET_DISPATCH_WORK_GROUP_SIZE_INVALID,
    exception::QUEUE_PACKET_DISPATCH_REGISTER_INVALID,
    exception::QUEUE_PACKET_VENDOR_UNSUPPORTED,
    exception::QUEUE_PREEMPTION_ERROR,
    exception::QUEUE_NEW,
]);
/// `KFD_EC_MASK_DEVICE`
pub(super) const OF_DEVICES: u64 = mask(&[
    exception::DEVICE_QUEUE_DELETE,
    exception::DEVICE_RAS_ERROR,
    exception::DEVICE_FATAL_HALT,
    exception::DEVICE_MEMORY_VIOLATION,
    exception::DEVICE_NEW,
]);
/// `KFD_EC_MASK_PROCESS`
pub(super) const OF_PROCESSES: u64 =
    mask(&[exception::PROCESS_RUNTIME, exception::PROCESS_DEVICE_REMOVE]);
/// A queue that the debugger has not heard of.
pub(super) const NEW: u64 = exception::mask(exception::QUEUE_NEW);
const MEMORY_VIOLATION: u64 = exception::mask(exception::DEVICE_MEMORY_VIOLATION);

/// Whom an exception is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A queue by id; none has it.
    Queue(Option<u32>),
    /// A GPU by index.
    Device(usize),
    Process,
}

/// The debugger of a process, or what one would find.
#[derive(Debug, Default)]
pub(super) struct Debugger {
    /// Where it hears of exceptions; `None` without a debugger.
    file: Option<File>,
    /// Those that it wants to hear of (`exception_enable_mask`).
    pub(super) enabled: u64,
    /// Raised, by queue.
    pub(super) queues: BTreeMap<u32, u64>,
    /// Raised, by GPU.
    pub(super) devices: Vec<u64>,
    /// Raised.
    pub(super) process: u64,
    /// The first page fault of a GPU that nobody has asked about.
    pub(super) faults: BTreeMap<usize, HsaMemoryExceptionData>,
}

impl Debugger {
    pub(super) fn of(gpus: usize) -> Debugger {
        Debugger { devices: vec![0; gpus], ..Debugger::default() }
    }

    pub(super) fn is_attached(&self) -> bool {
        self.file.is_some()
    }

    pub(super) fn attach(&mut self, file: File, enabled: u64) {
        (self.file, self.enabled) = (Some(file), enabled);
    }

    /// `kfd_dbg_trap_disable`
    pub(super) fn detach(&mut self) {
        self.file = None;
        self.queues.values_mut().for_each(|status| *status = 0);
        self.devices.fill(0);
        self.process = 0;
    }

    /// `kfd_dbg_ev_raise`: whether the debugger hears of it.
    pub(super) fn raise(&mut self, exceptions: u64, source: Source) -> bool {
        let Some(file) = &mut self.file else { return false };
        match source {
            Source::Device(gpu) => self.devices[gpu] |= exceptions & OF_DEVICES,
            Source::Process => self.process |= exceptions & OF_PROCESSES,
            Source::Queue(id) => {
                if let Some(status) = id.and_then(|id| self.queues.get_mut(&id)) {
                    *status |= exceptions;
                }
            }
        }
        if self.enabled & exceptions == 0 {
            return false;
        }
        // What cannot be written is lost.
        let _ = file.write(b".");
        true
    }

    /// A page fault, whose data is kept for who asks; otherwise as [`raise`](Debugger::raise).
    pub(super) fn raise_fault(&mut self, gpu: usize, data: HsaMemoryExceptionData) -> bool {
        if self.is_attached() {
            self.faults.entry(gpu).or_insert(data);
        }
        self.raise(MEMORY_VIOLATION, Source::Device(gpu))
    }

    /// `kfd_dbg_ev_query_debug_event`: the exceptions of the first queue, else GPU, else of the process that has any
    /// which the debugger wants. Those in `clear` are forgotten.
    pub(super) fn next(&mut self, clear: u64) -> Option<(u64, Source)> {
        let wanted = self.enabled;
        let queues = self.queues.iter_mut().map(|(&id, all)| (Source::Queue(Some(id)), all));
        let devices =
            self.devices.iter_mut().enumerate().map(|(gpu, all)| (Source::Device(gpu), all));
        let process = std::iter::once((Source::Process, &mut self.process));
        let mut all = queues.chain(devices).chain(process);
        let (source, status) = all.find(|(_, status)| **status & wanted != 0)?;
        let found = *status;
        *status &= !clear;
        Some((found, source))
    }
}
