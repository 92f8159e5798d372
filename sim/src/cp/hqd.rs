//! A hardware queue: what processors of packets of every kind have in common.

use super::conductor::{Conductor, QueueAt};
use super::error::{QueueError, QueueFault};
use super::overlap::{Disorder, Held};
use super::queue::{Control, NEVER_RUNG, Stopped};
use super::taken::{PacketFormat, PacketListener, TakenPacket};
use super::turns::{Turn, Turns};
use super::{Host, QueueConfiguration, QueueKind};
use crate::fault::{DoorbellFault, PacketFault};
use crate::memory::{Access, AddressSpace, FaultReason, MemoryFault, Path, View};
use crate::modes::Ordering as Order;
use crate::profile::Gpu;
use crate::shader::{
    self, ComputeUnit, Counts, Finding, FindingKind, GlobalWaveSync, InstructionCache, KernelAt,
    Launch, Outside, Site, WaveFault, WaveFaultKind, WaveInterrupt,
};
use std::fmt::Debug;
use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::thread;
use std::time::{Duration, Instant};

/// Why the processor does not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// The driver stopped it.
    Stopped,
    /// A page fault.
    Memory(MemoryFault),
    /// An error of the queue.
    Queue(QueueError),
    /// A wave that does not end.
    Hang(WaveFault),
    /// Work that never starts, by what hardware does not look at before it waits for it.
    Stuck(QueueError),
}

impl From<Stopped> for Halt {
    fn from(_: Stopped) -> Halt {
        Halt::Stopped
    }
}

impl From<MemoryFault> for Halt {
    fn from(fault: MemoryFault) -> Halt {
        Halt::Memory(fault)
    }
}

impl From<QueueError> for Halt {
    fn from(error: QueueError) -> Halt {
        Halt::Queue(error)
    }
}

/// How long to sleep between looks at memory that somebody else will change: not at all at first,
/// for the round trips of a busy queue, then ever longer.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    looks: u32,
}

impl Backoff {
    const SPINS: u32 = 200;
    const YIELDS: u32 = 220;
    /// Sleeps double from 16 µs.
    const FIRST_SLEEP: Duration = Duration::from_micros(16);
    /// Six doublings: 1 ms.
    const DOUBLINGS: u32 = 6;
    /// After so many looks (a quarter of a second) the queue is idle.
    const IDLE: u32 = Backoff::YIELDS + 256;
    const IDLE_SLEEP: Duration = Duration::from_millis(4);

    pub(crate) fn next(&mut self) -> Duration {
        self.looks = self.looks.saturating_add(1);
        if self.looks <= Backoff::SPINS {
            hint::spin_loop();
            Duration::ZERO
        } else if self.looks <= Backoff::YIELDS {
            thread::yield_now();
            Duration::ZERO
        } else if self.looks <= Backoff::IDLE {
            let doublings = (self.looks - Backoff::YIELDS - 1).min(Backoff::DOUBLINGS);
            Backoff::FIRST_SLEEP * (1 << doublings)
        } else {
            Backoff::IDLE_SLEEP
        }
    }
}

/// What takes packets of one kind from a ring.
pub(crate) trait Processor: Debug + Send {
    /// Waits for the next packet, and does what it says.
    fn step(&mut self) -> Result<(), Halt>;

    /// Tells of an error, and waits when it is one that can be mended; what only the KFD hears of cannot.
    fn fail(&mut self, error: QueueError) -> Result<(), Halt> {
        let (hqd, exception) = (self.hqd(), error.exception());
        hqd.note(error);
        if let Some(code) = exception {
            hqd.host.queue_error(hqd.configuration.id, 1 << (code - 1));
        }
        Err(Halt::Stopped)
    }

    /// The queue it works on.
    fn hqd(&self) -> &Hqd;
}

/// Processes packets until the queue stops for good.
pub(super) fn run(mut processor: Box<dyn Processor>) {
    loop {
        let done = match processor.step() {
            Err(Halt::Queue(error)) => processor.fail(error),
            done => done,
        };
        let hqd = processor.hqd();
        hqd.conducted_turn_ends();
        let Err(halt) = done else { continue };
        match halt {
            Halt::Memory(fault) => hqd.host.memory_fault(fault),
            Halt::Hang(fault) => hqd.hang(fault),
            Halt::Stuck(error) => hqd.stuck(error),
            Halt::Stopped | Halt::Queue(_) => {}
        }
        return;
    }
}

/// How long a queue that has not its turn sleeps before it asks again.
const TURN: Duration = Duration::from_micros(50);

fn queue_at(configuration: &QueueConfiguration) -> QueueAt {
    let QueueConfiguration { process, gpu, id: queue, .. } = *configuration;
    QueueAt { process, gpu, queue }
}

/// The state of a queue of the hardware (AMD's hardware queue descriptor).
#[derive(Debug)]
pub(crate) struct Hqd {
    pub(crate) gpu: Arc<Gpu>,
    pub(crate) configuration: QueueConfiguration,
    pub(crate) memory: View,
    pub(crate) host: Arc<dyn Host>,
    control: Arc<Control>,
    pub(super) space: Arc<AddressSpace>,
    instructions: InstructionCache,
    /// Who hears of its packets.
    listeners: Vec<Arc<dyn PacketListener>>,
    /// Who says when it may work.
    conductor: Option<Arc<dyn Conductor>>,
    /// Whether it has its turn.
    in_turn: AtomicBool,
    /// What findings and faults call the packet that is being processed: its index, or its place in the stream.
    pub(crate) packet: u64,
    pub(crate) disorder: Disorder,
    pub(super) turns: Arc<Turns>,
    pub(super) turn: Turn,
    /// Dispatches that are held back.
    pub(super) held: Vec<Held>,
    /// The doorbell's last value.
    rung: u64,
    /// A doorbell that is to be seen late, and when.
    late: Option<(u64, Instant)>,
    /// A doorbell of which half was seen.
    torn: Option<u64>,
    /// Address of the first instruction of the last dispatch's kernel.
    kernel: u64,
}

impl Drop for Hqd {
    fn drop(&mut self) {
        self.conducted_turn_ends();
        self.turn.end(&self.turns);
        self.control.end();
    }
}

impl Hqd {
    pub(super) fn new(
        gpu: Arc<Gpu>,
        configuration: QueueConfiguration,
        space: Arc<AddressSpace>,
        host: Arc<dyn Host>,
        control: Arc<Control>,
    ) -> Hqd {
        let path = match configuration.kind {
            QueueKind::Sdma(engine) => engine.path(),
            // Some of what the processors access goes through L2 and some does not, by packet, field and firmware.
            QueueKind::Aql | QueueKind::Pm4 => Path::Both,
        };
        let (ordering, turns) = (host.ordering(), host.turns());
        let disorder = Disorder::new(ordering, configuration.id);
        let inspection = host.inspection();
        if let Some(conductor) = &inspection.conductor {
            conductor.joins(queue_at(&configuration), &space, &configuration.doorbell);
        }
        Hqd {
            gpu,
            disorder,
            turn: Turn::new(&turns, ordering == Order::Adversarial),
            turns,
            configuration,
            memory: View::on(path, Arc::clone(&space)),
            instructions: InstructionCache::default(),
            held: Vec::new(),
            listeners: inspection.listeners(),
            conductor: inspection.conductor.clone(),
            in_turn: AtomicBool::new(false),
            space,
            host,
            control,
            packet: 0,
            rung: NEVER_RUNG,
            late: None,
            torn: None,
            kernel: 0,
        }
    }

    /// The doorbell's value, when it has changed. What was written before it was rung is seen from now on.
    pub(crate) fn doorbell(&mut self) -> Option<u64> {
        let (page, offset) = &self.configuration.doorbell;
        let doorbell = page.load_u64(*offset);
        if doorbell == self.rung {
            return None;
        }
        fence(Ordering::Acquire);
        let seen = self.faulty_doorbell(doorbell);
        if let Some(seen) = seen {
            self.rung = seen;
        }
        seen
    }

    /// What is seen of a new value of the doorbell, where a plan has something in mind for it.
    fn faulty_doorbell(&mut self, doorbell: u64) -> Option<u64> {
        const LOWER: u64 = u32::MAX as u64;
        if let Some((value, until)) = self.late
            && value == doorbell
        {
            return (Instant::now() >= until).then_some(doorbell);
        }
        self.late = None;
        if self.torn == Some(doorbell) {
            self.torn = None;
            return Some(doorbell);
        }
        match self.host.doorbell_fault(self.configuration.id) {
            None => Some(doorbell),
            Some(DoorbellFault::Lost) => {
                self.rung = doorbell;
                None
            }
            Some(DoorbellFault::Late(delay)) => {
                self.late = Some((doorbell, Instant::now() + delay));
                None
            }
            Some(DoorbellFault::Torn) => {
                self.torn = Some(doorbell);
                let before = if self.rung == NEVER_RUNG { 0 } else { self.rung };
                Some(doorbell & LOWER | before & !LOWER)
            }
        }
    }

    /// A packet was taken; something else may be planned than to process it.
    pub(crate) fn meet_planned_fault(&mut self) -> Result<(), Halt> {
        self.take_turn();
        match self.host.packet_fault(self.configuration.id) {
            None => Ok(()),
            Some(PacketFault::Hang | PacketFault::Reset) => Err(Halt::Stopped),
            Some(PacketFault::PageFault(address)) => {
                let (access, reason) = (Access::Read, FaultReason::NotPresent);
                Err(Halt::Memory(MemoryFault { address, access, reason }))
            }
        }
    }

    /// A point where the queue may be stopped; see [`Control::rest`].
    pub(crate) fn rest(&mut self, time: Duration) -> Result<(), Stopped> {
        if time.is_zero() {
            return self.rest_for(time);
        }
        self.turn.set_busy(&self.turns, false);
        let conductor = self.conductor.clone();
        let Some(conductor) = conductor.filter(|_| self.in_turn.load(Ordering::Relaxed)) else {
            return self.rest_for(time);
        };
        let queue = queue_at(&self.configuration);
        conductor.pauses(queue);
        self.in_turn.store(false, Ordering::Relaxed);
        self.rest_for(time)?;
        while !conductor.resumes(queue) {
            self.rest_for(TURN)?;
        }
        self.in_turn.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn rest_for(&mut self, time: Duration) -> Result<(), Stopped> {
        if let Some(ring) = self.control.rest(time)? {
            self.configuration.ring = ring;
        }
        Ok(())
    }

    /// What follows a packet is not its turn.
    fn conducted_turn_ends(&self) {
        if let Some(conductor) = &self.conductor
            && self.in_turn.swap(false, Ordering::Relaxed)
        {
            conductor.ends(queue_at(&self.configuration));
        }
    }

    /// What counts packets.
    pub(super) fn counter(&self) -> Arc<Control> {
        Arc::clone(&self.control)
    }

    /// Ends the queue's waves and, at its next rest, the queue.
    pub(super) fn stop(&self) {
        self.control.stop();
    }

    /// Waits until memory says so.
    pub(crate) fn wait(
        &mut self,
        satisfied: impl Fn(&mut View) -> Result<bool, Halt>,
    ) -> Result<(), Halt> {
        let mut backoff = Backoff::default();
        while !satisfied(&mut self.memory)? {
            self.rest(backoff.next())?;
        }
        Ok(())
    }

    /// A packet has been taken, from the ring or from an indirect buffer.
    #[inline]
    pub(crate) fn taken(
        &mut self,
        format: PacketFormat,
        address: u64,
        words: &[u32],
        in_ring: bool,
    ) -> Result<(), Stopped> {
        if self.listeners.is_empty() && self.conductor.is_none() {
            return Ok(());
        }
        let QueueConfiguration { process, gpu, id: queue, .. } = self.configuration;
        let place = self.packet;
        let packet = TakenPacket { process, gpu, queue, place, address, in_ring, format, words };
        if let Some(conductor) = self.conductor.clone().filter(|_| in_ring) {
            while !conductor.begins(&packet, self.rung) {
                self.rest_for(TURN)?;
            }
            self.in_turn.store(true, Ordering::Relaxed);
        }
        self.listeners.iter().for_each(|listener| listener.taken(&packet));
        Ok(())
    }

    /// A packet has been processed.
    pub(crate) fn count_packet(&self) {
        self.control.count_packet();
    }

    /// Runs a kernel to its end.
    pub(super) fn dispatch(&mut self, launch: &Launch) -> Result<(), Halt> {
        self.kernel = launch.program;
        self.execute(launch)
    }

    /// The same beside others.
    pub(super) fn execute(&self, launch: &Launch) -> Result<(), Halt> {
        let inspection = self.host.inspection();
        let statistics =
            shader::run(&self.gpu, launch, &self.space, &self.instructions, self, &inspection);
        let statistics = statistics.map_err(wave_fault)?;
        self.control.count_dispatch(statistics);
        Ok(())
    }

    /// Keeps why the queue has stopped. What no hardware would stop at is told aloud.
    pub(crate) fn note(&self, error: QueueError) {
        if let QueueError::NotModelled { what, pc } = &error {
            let (queue, packet) = (self.configuration.id, self.packet);
            self.host.not_modelled(&format!("{what}; at {pc:#x}, queue {queue}, packet {packet}"));
        }
        self.control.fail(QueueFault { packet: self.packet, error });
    }

    /// What stopped the queue has been mended.
    pub(super) fn recover(&self) {
        self.control.recover();
    }

    /// Hardware would wait for ever, for room that there is not. As with a wave that does not end, Linux finds out.
    fn stuck(&self, error: QueueError) {
        let QueueConfiguration { id, .. } = self.configuration;
        self.host.not_modelled(&format!(
            "what comes after a hang: {error}; queue {id}, packet {}",
            self.packet
        ));
        self.note(error);
        self.host.hang();
    }

    /// The watchdog has found a wave that does not end. The packet processor itself would not notice; Linux does, when the
    /// queue does not leave the hardware in time.
    fn hang(&self, fault: WaveFault) {
        let kind = match &fault.kind {
            WaveFaultKind::Endless { instructions } => {
                FindingKind::Endless { instructions: *instructions }
            }
            _ => FindingKind::Deadlock,
        };
        let WaveFault { pc, instruction, workgroup, wave, .. } = fault;
        let QueueConfiguration { process, gpu, id, .. } = self.configuration;
        let finding = Finding {
            queue: id,
            packet: self.packet,
            kernel: KernelAt { process, gpu, address: self.kernel },
            site: Site { workgroup, wave, pc, instruction },
            kind,
        };
        let error = QueueError::Hang(Box::new(finding.clone()));
        self.control.fail(QueueFault { packet: self.packet, error });
        self.host.found(finding);
        self.host.hang();
    }
}

/// What waves of the queue see of it.
impl Outside for Hqd {
    fn is_stopped(&self) -> bool {
        self.control.stopped()
    }

    fn global_wave_sync(&self) -> Option<Arc<GlobalWaveSync>> {
        self.control.global_wave_sync()
    }

    fn compute_units(&self) -> Arc<[ComputeUnit]> {
        self.control.compute_units()
    }

    fn count_wave_threads(&self, begins: bool) {
        self.control.count_wave_threads(begins);
    }

    fn pause(&self) {
        self.control.pause();
    }

    fn clock(&self) -> u64 {
        self.host.clock()
    }

    fn doorbell_id(&self) -> u16 {
        // 1024 of 8 bytes for a process: 10 bits.
        (self.configuration.doorbell.1 / 8) as u16 & 0x3ff
    }

    fn queue(&self) -> u32 {
        self.configuration.id
    }

    fn process(&self) -> u32 {
        self.configuration.process
    }

    fn gpu(&self) -> u32 {
        self.configuration.gpu
    }

    fn packet(&self) -> u64 {
        self.packet
    }

    fn found(&self, finding: Finding) {
        self.host.found(finding);
    }

    fn counted(&self, kernel: KernelAt, counts: &Counts) {
        self.host.counted(kernel, counts);
    }

    fn wave_interrupt(&self, interrupt: WaveInterrupt) {
        self.host.wave_interrupt(interrupt);
    }

    fn exception(&self, fault: &WaveFault) {
        self.control.note_exception(fault);
    }
}

/// Reads consecutive dwords.
pub(crate) fn read_words(
    memory: &mut View,
    mut address: u64,
    words: &mut [u32],
) -> Result<(), MemoryFault> {
    for word in words {
        *word = memory.read_u32(address)?;
        address = address.wrapping_add(4);
    }
    Ok(())
}

/// What a wave's end means for its queue.
fn wave_fault(fault: WaveFault) -> Halt {
    match fault.kind {
        WaveFaultKind::Memory(fault) => Halt::Memory(fault),
        WaveFaultKind::Endless { .. } | WaveFaultKind::Deadlock => Halt::Hang(fault),
        WaveFaultKind::NotModelled(what) => QueueError::NotModelled { what, pc: fault.pc }.into(),
        // Exceptions do not end dispatches.
        WaveFaultKind::IllegalInstruction(_)
        | WaveFaultKind::MemoryViolation(_)
        | WaveFaultKind::Killed => Halt::Stopped,
    }
}
