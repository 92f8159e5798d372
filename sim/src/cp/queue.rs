//! A queue of the hardware, as the driver handles it.

use super::aql::Aql;
use super::hqd::{self, Hqd, Processor};
use super::pm4::Pm4;
use super::thread::spawn;
use super::{Host, QueueConfiguration, QueueFault, QueueKind};
use crate::memory::AddressSpace;
use crate::profile::Gpu;
use crate::sdma::Sdma;
use crate::shader::{ComputeUnit, GlobalWaveSync, WaveFault};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long Linux waits for the waves of a queue that it stops: amdgpu's module parameter
/// `queue_preemption_timeout_ms`.
const PREEMPTION_TIMEOUT: Duration = Duration::from_secs(9);

/// What a doorbell reads as until the queue's first: no packet has this index.
pub(super) const NEVER_RUNG: u64 = u64::MAX;

/// Counts since the queue was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueStatistics {
    /// Packets completed.
    pub packets: u64,
    /// Kernel dispatches completed.
    pub dispatches: u64,
    /// Waves of completed dispatches.
    pub waves: u64,
    /// Wave instructions of completed dispatches.
    pub instructions: u64,
}

/// The queue is to stop for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stopped;

#[derive(Debug)]
struct State {
    /// Whether the driver wants the queue to run.
    running: bool,
    /// Whether a packet is being processed.
    busy: bool,
    /// Threads that run waves of it, and how many of them stand still.
    wave_threads: usize,
    paused_threads: usize,
    /// Another ring, from when the queue goes on.
    ring: Option<(u64, u32)>,
    /// Where its workgroups may run.
    units: Arc<[ComputeUnit]>,
    /// What it has of global wave sync.
    sync: Option<Arc<GlobalWaveSync>>,
    /// Why the queue stopped by itself.
    fault: Option<QueueFault>,
    /// The first exception of a wave.
    exception: Option<WaveFault>,
}

impl State {
    /// Whether something goes on: a packet's work, but not that of waves which all stand still.
    fn is_at_work(&self) -> bool {
        self.busy && (self.wave_threads == 0 || self.paused_threads < self.wave_threads)
    }
}

/// What the queue's thread and its driver share.
#[derive(Debug)]
pub(super) struct Control {
    state: Mutex<State>,
    changed: Condvar,
    /// Ends waves and the thread.
    stop: AtomicBool,
    /// Waves are to stand still: what `State::running` says is not so.
    pause: AtomicBool,
    packets: AtomicU64,
    dispatches: AtomicU64,
    waves: AtomicU64,
    instructions: AtomicU64,
}

impl Control {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the queue, and with it its waves, is to end.
    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        // Whoever is about to wait has looked at the flag under the lock, or will.
        drop(self.lock());
        self.changed.notify_all();
    }

    /// A point where the queue may be stopped: sleeps for `time`, or shorter when the driver wants
    /// something, and waits until the queue may run. Until then it is not busy, afterwards it
    /// is. Returns the queue's ring, if it is another one from now on.
    pub(super) fn rest(&self, time: Duration) -> Result<Option<(u64, u32)>, Stopped> {
        let mut state = self.lock();
        if state.running && !self.stopped() && time.is_zero() {
            state.busy = true;
            return Ok(state.ring.take());
        }
        state.busy = false;
        self.changed.notify_all();
        if state.running && !self.stopped() {
            (state, _) =
                self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner);
        }
        while !state.running && !self.stopped() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if self.stopped() {
            return Err(Stopped);
        }
        state.busy = true;
        Ok(state.ring.take())
    }

    /// Where workgroups may run.
    pub(super) fn compute_units(&self) -> Arc<[ComputeUnit]> {
        self.lock().units.clone()
    }

    /// What the queue has of global wave sync.
    pub(super) fn global_wave_sync(&self) -> Option<Arc<GlobalWaveSync>> {
        self.lock().sync.clone()
    }

    /// A thread begins, or ends, to run waves of the queue.
    pub(super) fn count_wave_threads(&self, begins: bool) {
        let mut state = self.lock();
        if begins {
            state.wave_threads += 1;
        } else {
            state.wave_threads -= 1;
        }
        self.changed.notify_all();
    }

    /// A point where waves stand still as long as the queue is not to run.
    pub(super) fn pause(&self) {
        if !self.pause.load(Ordering::Acquire) {
            return;
        }
        let mut state = self.lock();
        state.paused_threads += 1;
        self.changed.notify_all();
        while !state.running && !self.stopped() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.paused_threads -= 1;
    }

    /// The queue's thread is about to end.
    pub(super) fn end(&self) {
        self.lock().busy = false;
        self.changed.notify_all();
    }

    pub(super) fn fail(&self, fault: QueueFault) {
        self.lock().fault = Some(fault);
    }

    pub(super) fn note_exception(&self, exception: &WaveFault) {
        self.lock().exception.get_or_insert_with(|| exception.clone());
    }

    pub(super) fn recover(&self) {
        self.lock().fault = None;
    }

    pub(super) fn count_packet(&self) {
        self.packets.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_dispatch(&self, statistics: crate::shader::Statistics) {
        self.dispatches.fetch_add(1, Ordering::Relaxed);
        self.waves.fetch_add(statistics.waves, Ordering::Relaxed);
        self.instructions.fetch_add(statistics.instructions, Ordering::Relaxed);
    }
}

/// A queue: its processor runs in a thread of its own, which ends with the value.
#[derive(Debug)]
pub struct RingProcessor {
    control: Arc<Control>,
    thread: Option<JoinHandle<()>>,
}

impl RingProcessor {
    /// Starts the processor at packet 0.
    ///
    /// The doorbell is set to all ones, so that every store of a packet index or write pointer is seen as a
    /// change.
    ///
    /// # Errors
    /// When the operating system cannot start a thread.
    ///
    /// # Panics
    /// When the doorbell does not lie in its page.
    pub fn start(
        gpu: Arc<Gpu>,
        configuration: QueueConfiguration,
        space: Arc<AddressSpace>,
        host: Arc<dyn Host>,
    ) -> io::Result<RingProcessor> {
        RingProcessor::start_at(0, gpu, configuration, space, host)
    }

    /// Starts the processor at packet `first` (of PM4, at that dword; of SDMA engines, at that byte), as after the queue had
    /// been unmapped and mapped
    /// again.
    pub(crate) fn start_at(
        first: u64,
        gpu: Arc<Gpu>,
        configuration: QueueConfiguration,
        space: Arc<AddressSpace>,
        host: Arc<dyn Host>,
    ) -> io::Result<RingProcessor> {
        let control = Arc::new(Control {
            state: Mutex::new(State {
                running: true,
                busy: false,
                wave_threads: 0,
                paused_threads: 0,
                ring: None,
                units: Arc::default(),
                sync: None,
                fault: None,
                exception: None,
            }),
            changed: Condvar::new(),
            stop: AtomicBool::new(false),
            pause: AtomicBool::new(false),
            packets: AtomicU64::new(0),
            dispatches: AtomicU64::new(0),
            waves: AtomicU64::new(0),
            instructions: AtomicU64::new(0),
        });
        configuration.doorbell.0.store_u64(configuration.doorbell.1, NEVER_RUNG);
        let name = format!("gpu-queue-{}", configuration.id);
        let kind = configuration.kind;
        let hqd = Hqd::new(gpu, configuration, space, Arc::clone(&host), Arc::clone(&control));
        let processor: Box<dyn Processor> = match kind {
            QueueKind::Aql => Box::new(Aql::new(first, hqd)),
            QueueKind::Pm4 => Box::new(Pm4::new(first, hqd)),
            QueueKind::Sdma(engine) => Box::new(Sdma::new(engine, first, hqd)),
        };
        let thread = spawn(name, host, move || hqd::run(processor))?;
        Ok(RingProcessor { control, thread: Some(thread) })
    }

    /// Stops work on the queue for good (VM fault, reset); returns at once, from any thread.
    /// Running waves end within a few instructions; nothing completes any more.
    pub fn evict(&self) {
        self.control.stop();
    }

    /// Stops (`false`) or continues (`true`) the queue, as queue percentage 0 does. Stopping
    /// returns when no packet is being processed; a barrier packet that waits for its signals
    /// stops at once, and so do the waves of a kernel, where they are: what hardware saves to memory
    /// they keep here.
    ///
    /// Returns false when that took longer than Linux waits; the queue is
    /// then still to stop. See [`Host`] for locks.
    pub fn set_running(&self, running: bool) -> bool {
        let deadline = Instant::now() + PREEMPTION_TIMEOUT;
        let mut state = self.control.lock();
        state.running = running;
        self.control.pause.store(!running, Ordering::Release);
        self.control.changed.notify_all();
        while !running && state.is_at_work() && !self.on_own_thread() {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else {
                return false;
            };
            (state, _) = self
                .control
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
        true
    }

    /// Gives the queue another ring, of which the packet at its read pointer is the next. To be called while it is
    /// stopped; a packet whose work has begun goes on as it was read.
    pub(crate) fn set_ring(&self, ring: (u64, u32)) {
        self.control.lock().ring = Some(ring);
    }

    /// Says where workgroups of later dispatches may run.
    pub(crate) fn set_compute_units(&self, units: Arc<[ComputeUnit]>) {
        self.control.lock().units = units;
    }

    /// Gives the queue global wave sync, or takes it away.
    pub(crate) fn set_global_wave_sync(&self, has: bool) {
        self.control.lock().sync = has.then(Arc::default);
    }

    /// Whether the processor waits: for a packet, or in one for memory. From when it sees a doorbell until it has found
    /// that it has to wait it does not.
    #[cfg(test)]
    pub(crate) fn is_parked(&self) -> bool {
        !self.control.lock().busy
    }

    /// Whether waves stand still in the queue.
    pub(crate) fn has_waves(&self) -> bool {
        self.control.lock().wave_threads != 0
    }

    /// Kills the queue's waves and ends its thread, as dropping the value does. See [`Host`] for
    /// locks.
    pub fn destroy(self) {
        drop(self);
    }

    /// Counts since the queue was created.
    pub fn statistics(&self) -> QueueStatistics {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        QueueStatistics {
            packets: load(&self.control.packets),
            dispatches: load(&self.control.dispatches),
            waves: load(&self.control.waves),
            instructions: load(&self.control.instructions),
        }
    }

    /// Why the queue has stopped by itself, or what it lacks to go on.
    pub fn fault(&self) -> Option<QueueFault> {
        self.control.lock().fault.clone()
    }

    /// The first exception that a wave of the queue raised. On hardware only the trap handler hears of it.
    pub fn exception(&self) -> Option<WaveFault> {
        self.control.lock().exception.clone()
    }

    fn on_own_thread(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| thread.thread().id() == thread::current().id())
    }
}

impl Drop for RingProcessor {
    fn drop(&mut self) {
        self.control.stop();
        let own = self.on_own_thread();
        if let Some(thread) = self.thread.take()
            && !own
        {
            // A panic of the queue's work has been told already; one in telling it has nobody to go to.
            let _ = thread.join();
        }
    }
}
