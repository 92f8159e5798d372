//! What the hardware tells the kernel, by interrupts.

use super::debugger::{Debugger, OF_QUEUES, Source};
use super::event::{Events, fault_data};
use super::smi::SmiEvent;
use crate::abi::user;
use crate::cp::{Host, RingProcessor, Turns};
use crate::fault::{DoorbellFault, PacketFault};
use crate::machine::{Machine, Shared};
use crate::memory::MemoryFault;
use crate::modes::Ordering as Order;
use crate::shader::{ComputeUnit, Counts, Finding, Inspection, KernelAt, WaveInterrupt};
use kfd::uapi::ContextSaveAreaHeader;
use selvedge_sys::Errno;
use std::collections::BTreeMap;
use std::mem::offset_of;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

/// The part of a kfd_process that interrupts reach. Command processors hold it; nothing here waits for
/// one of them.
#[derive(Debug)]
pub(super) struct Signals {
    machine: Arc<Shared>,
    /// Of the Linux process.
    pid: u32,
    pub(super) events: Events,
    /// Whether the process's queues on a GPU are evicted for good: after a page fault or a reset.
    evicted: Vec<AtomicBool>,
    queues: Mutex<BTreeMap<u32, Arc<HardwareQueue>>>,
    /// RUNTIME_ENABLE's state: without it queue errors reach nobody.
    pub(super) runtime_enabled: AtomicBool,
    debugger: Mutex<Debugger>,
    /// How often the debugger has let a runtime go on that nobody has used yet (`runtime_enable_sema`).
    may_go_on: Mutex<u32>,
    goes_on: Condvar,
}

/// A queue as the hardware has it.
#[derive(Debug)]
pub(super) struct HardwareQueue {
    gpu: usize,
    /// Number of its doorbell (`q->doorbell_id`).
    doorbell: u32,
    /// Its context save area, in whose header user space says where errors go.
    save_area: u64,
    processor: RwLock<Option<RingProcessor>>,
}

impl HardwareQueue {
    fn with(&self, act: impl FnOnce(&RingProcessor)) {
        if let Some(queue) = &*self.processor.read().unwrap_or_else(PoisonError::into_inner) {
            act(queue);
        }
    }

    fn destroy(&self) {
        let queue = self.processor.write().unwrap_or_else(PoisonError::into_inner).take();
        // Outside the lock: it waits for the processor, which may be reporting something.
        if let Some(queue) = queue {
            queue.destroy();
        }
    }
}

impl Signals {
    pub(super) fn new(machine: &Arc<Shared>, pid: u32) -> Signals {
        Signals {
            machine: machine.clone(),
            pid,
            events: Events::new(machine.counters.events.clone()),
            evicted: machine.gpus.iter().map(|_| AtomicBool::new(false)).collect(),
            queues: Mutex::default(),
            runtime_enabled: AtomicBool::new(false),
            debugger: Mutex::new(Debugger::of(machine.gpus.len())),
            may_go_on: Mutex::new(0),
            goes_on: Condvar::new(),
        }
    }

    fn queues(&self) -> MutexGuard<'_, BTreeMap<u32, Arc<HardwareQueue>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn debugger(&self) -> MutexGuard<'_, Debugger> {
        self.debugger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A runtime waits until its debugger has heard of it.
    ///
    /// # Errors
    /// EINTR when the process ends.
    pub(super) fn wait_for_debugger(&self) -> Result<(), Errno> {
        /// How often to look whether the process ends.
        const LOOK: Duration = Duration::from_millis(20);
        let mut count = self.may_go_on.lock().unwrap_or_else(PoisonError::into_inner);
        while *count == 0 {
            if self.events.is_closing() {
                return Err(Errno::EINTR);
            }
            (count, _) =
                self.goes_on.wait_timeout(count, LOOK).unwrap_or_else(PoisonError::into_inner);
        }
        *count -= 1;
        Ok(())
    }

    /// The debugger lets a runtime go on.
    pub(super) fn let_runtime_go_on(&self) {
        *self.may_go_on.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.goes_on.notify_all();
    }

    /// `gpu_id` of a queue's GPU.
    pub(super) fn gpu_of(&self, id: u32) -> Option<u32> {
        self.queues().get(&id).map(|queue| self.machine.gpus[queue.gpu].id)
    }

    /// `kfd_set_dbg_ev_from_interrupt`, of exceptions that a queue has: whether anybody hears of it, the debugger or else
    /// the runtime.
    fn set_exception(&self, queue: Option<u32>, exceptions: u64) -> bool {
        if self.debugger().raise(exceptions, Source::Queue(queue)) {
            return true;
        }
        let heard = exceptions & OF_QUEUES != 0 && self.runtime_enabled.load(Ordering::Acquire);
        match queue.filter(|_| heard) {
            Some(id) => {
                self.send_to_runtime(id, exceptions);
                true
            }
            None => false,
        }
    }

    /// Puts a queue on the hardware. Where the process was evicted it never starts.
    ///
    /// # Errors
    /// Those of `start`; then nothing has changed.
    pub(super) fn add_queue(
        &self,
        id: u32,
        gpu: usize,
        doorbell: u32,
        save_area: u64,
        start: impl FnOnce() -> Result<RingProcessor, Errno>,
    ) -> Result<(), Errno> {
        let evicted = self.evicted[gpu].load(Ordering::Acquire);
        let processor = if evicted { None } else { Some(start()?) };
        let queue = HardwareQueue { gpu, doorbell, save_area, processor: RwLock::new(processor) };
        let queue = Arc::new(queue);
        self.queues().insert(id, queue.clone());
        // After the insertion, so that an eviction at the same time is not missed.
        if self.evicted[gpu].load(Ordering::Acquire) {
            queue.with(RingProcessor::evict);
        }
        Ok(())
    }

    /// The queue that has a doorbell.
    fn queue_at(&self, gpu: usize, doorbell: u32) -> Option<u32> {
        let queues = self.queues();
        let found = queues.iter().find(|(_, queue)| (queue.gpu, queue.doorbell) == (gpu, doorbell));
        found.map(|(&id, _)| id)
    }

    /// Stops or continues a queue; returns when no wave of it runs.
    ///
    /// # Errors
    /// ETIME when its waves did not end in the time that the kernel waits for preemption.
    pub(super) fn set_running(&self, id: u32, running: bool) -> Result<(), Errno> {
        let queue = self.queues().get(&id).cloned();
        let mut done = true;
        if let Some(queue) = queue {
            queue.with(|processor| done = processor.set_running(running));
        }
        if done { Ok(()) } else { Err(Errno::ETIME) }
    }

    /// Gives a queue that is stopped another ring.
    pub(super) fn set_ring(&self, id: u32, ring: (u64, u32)) {
        let queue = self.queues().get(&id).cloned();
        if let Some(queue) = queue {
            queue.with(|processor| processor.set_ring(ring));
        }
    }

    /// Says where workgroups of a queue may run.
    pub(super) fn set_compute_units(&self, id: u32, units: &Arc<[ComputeUnit]>) {
        let queue = self.queues().get(&id).cloned();
        if let Some(queue) = queue {
            queue.with(|processor| processor.set_compute_units(units.clone()));
        }
    }

    /// Gives a queue global wave sync, or takes it away.
    pub(super) fn set_global_wave_sync(&self, id: u32, has: bool) {
        let queue = self.queues().get(&id).cloned();
        if let Some(queue) = queue {
            queue.with(|processor| processor.set_global_wave_sync(has));
        }
    }

    /// Whether waves stand still in a queue.
    pub(super) fn has_waves(&self, id: u32) -> bool {
        let queue = self.queues().get(&id).cloned();
        let mut waves = false;
        if let Some(queue) = queue {
            queue.with(|processor| waves = processor.has_waves());
        }
        waves
    }

    pub(super) fn destroy_queue(&self, id: u32) {
        let queue = self.queues().remove(&id);
        if let Some(queue) = queue {
            queue.destroy();
        }
    }

    pub(super) fn destroy_queues(&self) {
        let queues = std::mem::take(&mut *self.queues());
        queues.values().for_each(|queue| queue.destroy());
    }

    /// `kfd_dqm_evict_pasid`: all queues of the process on the GPU stop, and none starts again.
    pub(super) fn evict(&self, gpu: usize) {
        self.evicted[gpu].store(true, Ordering::Release);
        let queues: Vec<_> = self.queues().values().filter(|q| q.gpu == gpu).cloned().collect();
        queues.iter().for_each(|queue| queue.with(RingProcessor::evict));
    }

    pub(super) fn gpu_reset(&self, gpu: usize) {
        self.evict(gpu);
        self.events.gpu_reset(self.machine.gpus[gpu].id);
    }

    /// `kfd_send_exception_to_runtime`: ORs the mask into the queue's error payload and sets its
    /// error event, both named by the header of its context save area.
    pub(super) fn send_to_runtime(&self, queue_id: u32, exceptions: u64) {
        let Some(queue) = self.queues().get(&queue_id).cloned() else { return };
        let header = queue.save_area;
        let payload_at = header + offset_of!(ContextSaveAreaHeader, err_payload_addr) as u64;
        let event_at = header + offset_of!(ContextSaveAreaHeader, err_event_id) as u64;
        let (Ok(payload), Ok(event)) = (user::get::<u64>(payload_at), user::get::<u32>(event_at))
        else {
            return;
        };
        let Ok(reasons) = user::get::<u64>(payload) else { return };
        if user::put(payload, &(reasons | exceptions)).is_ok() {
            // An event that is none is ignored, as the kernel does.
            let _ = self.events.set(event);
        }
    }
}

/// The interrupts of a process on one GPU.
#[derive(Debug)]
pub(super) struct GpuInterrupts {
    pub(super) signals: Arc<Signals>,
    pub(super) gpu: usize,
}

impl GpuInterrupts {
    /// Whether context id 0 of an end of pipe may mean any event. On gfx9 it is taken for a bogus one where firmware
    /// is known to send ids (kfd_int_process_v9.c, `event_interrupt_isr_v9` and `context_id_expected`).
    fn looks_at_all_events(&self) -> bool {
        let board = &self.signals.machine.gpus[self.gpu].board;
        match board.gc_version {
            (9, 0, 1) => board.mec_firmware < 0x817a,
            (9, 1, 0) | (9, 2, 1 | 2) | (9, 3, 0) | (9, 4, 0) => board.mec_firmware < 0x17a,
            version => !((9, 4, 1)..(10, 0, 0)).contains(&version),
        }
    }
}

impl Host for GpuInterrupts {
    fn end_of_pipe_interrupt(&self, context_id: u32) {
        let arrives = self.signals.machine.faults.interrupt_arrives();
        if arrives && (context_id != 0 || self.looks_at_all_events()) {
            self.signals.events.interrupt(context_id);
        }
    }

    fn queue_error(&self, queue_id: u32, exceptions: u64) {
        self.signals.set_exception(Some(queue_id), exceptions);
    }

    /// `event_interrupt_wq_v11`, SQ messages of waves: those of a trap handler are exceptions of a queue
    /// (`kfd_set_dbg_ev_from_interrupt`, without a debugger), or else all mean an event.
    fn wave_interrupt(&self, interrupt: WaveInterrupt) {
        /// `KFD_CTXID0_DOORBELL_ID_MASK`
        const DOORBELL_ID: u32 = 0x3ff;
        /// `KFD_CTXID0_TRAP_CODE_MASK`, a mask of 1 << (exception code − 1).
        const TRAP_CODE: u32 = 0xff_fc00;
        const TRAP_CODE_SHIFT: u32 = 10;
        let [context_id0, _] = interrupt.context_ids();
        let exceptions = u64::from((context_id0 & TRAP_CODE) >> TRAP_CODE_SHIFT);
        let privileged = context_id0 & WaveInterrupt::PRIVILEGED != 0;
        let queue = self.signals.queue_at(self.gpu, context_id0 & DOORBELL_ID);
        if !(privileged && self.signals.set_exception(queue, exceptions)) {
            self.signals.events.interrupt(context_id0 & WaveInterrupt::DATA);
        }
    }

    fn not_modelled(&self, what: &str) {
        self.signals.machine.refuse(what.to_owned());
    }

    /// The process's queues on the GPU stop and it gets an HW_EXCEPTION event, as after a reset.
    fn internal_error(&self, message: &str) {
        self.signals.machine.refuse(format!("internal error of the simulator: {message}"));
        self.signals.gpu_reset(self.gpu);
    }

    fn inspection(&self) -> Arc<Inspection> {
        self.signals.machine.inspection.clone()
    }

    fn packet_fault(&self, queue_id: u32) -> Option<PacketFault> {
        let fault = self.signals.machine.faults.packet(queue_id)?;
        let machine = Machine(self.signals.machine.clone());
        match fault {
            PacketFault::Hang => machine.hang_gpu(self.gpu),
            PacketFault::Reset => machine.reset_gpu(self.gpu),
            PacketFault::PageFault(_) => {}
        }
        Some(fault)
    }

    fn doorbell_fault(&self, queue_id: u32) -> Option<DoorbellFault> {
        self.signals.machine.faults.doorbell(queue_id)
    }

    fn torn_write(&self, queue_id: u32) -> Option<Duration> {
        self.signals.machine.faults.write(queue_id)
    }

    fn ordering(&self) -> Order {
        self.signals.machine.ordering
    }

    fn turns(&self) -> Arc<Turns> {
        self.signals.machine.gpus[self.gpu].turns.clone()
    }

    fn found(&self, finding: Finding) {
        self.signals.machine.found(finding);
    }

    fn counted(&self, kernel: KernelAt, counts: &Counts) {
        self.signals.machine.counted(kernel, counts);
    }

    /// Linux finds the queue hung when it has to leave the hardware, and resets the GPU (`kfd_hws_hang`).
    fn hang(&self) {
        Machine(self.signals.machine.clone()).reset_gpu(self.gpu);
    }

    fn memory_fault(&self, fault: MemoryFault) {
        let device = &self.signals.machine.gpus[self.gpu];
        // kfd_int_process_v10.c tells of no fault.
        if device.board.gc_version.0 != 10 {
            let name = &super::smi::task_name();
            self.signals.machine.tell(self.gpu, self.signals.pid, &SmiEvent::VmFault { name });
        }
        let gpu_id = self.signals.machine.gpus[self.gpu].id;
        let data = fault_data(gpu_id, &fault);
        // Who debugs the process decides whether it goes on (`kfd_set_dbg_ev_from_interrupt`).
        if !self.signals.debugger().raise_fault(self.gpu, data) {
            self.signals.evict(self.gpu);
            self.signals.events.memory_fault(data);
        }
    }

    fn clock(&self) -> u64 {
        self.signals.machine.clock.gpu_ticks()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kfd::uapi::{EVENT_HW_EXCEPTION, EventData, WAIT_RESULT_COMPLETE};

    #[test]
    fn an_internal_error_is_told_as_a_reset() {
        let machine = crate::Machine::with_gpu("gfx1151").unwrap();
        let signals = Arc::new(Signals::new(&machine.0, 1));
        let event =
            signals.events.create(EVENT_HW_EXCEPTION, false, || Err(Errno::ENOMEM)).unwrap();
        GpuInterrupts { signals: signals.clone(), gpu: 0 }.internal_error("no reason");
        let mut data = EventData::new(event.id, 0);
        let address = (&raw mut data).expose_provenance() as u64;
        assert_eq!(signals.events.wait(address, 1, false, &mut 0), (Ok(()), WAIT_RESULT_COMPLETE));
        assert_eq!(data.hw_exception().memory_lost, 1);
        assert_eq!(machine.refusals(), ["internal error of the simulator: no reason"]);
        let started = signals.add_queue(0, 0, 0, 0, || Err(Errno::ENOMEM));
        assert_eq!(started, Ok(()), "no queue starts any more");
    }

    #[test]
    fn a_queue_that_does_not_start_is_none() {
        let machine = crate::Machine::with_gpu("gfx1151").unwrap();
        let signals = Signals::new(&machine.0, 1);
        assert_eq!(signals.add_queue(0, 0, 0, 0, || Err(Errno::ENOMEM)), Err(Errno::ENOMEM));
        assert!(signals.queues().is_empty());
    }
}
