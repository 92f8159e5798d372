//! The packet processor: takes packets in order and does what they say.

use super::dispatch::{Dispatch, Surroundings};
use super::error::{QueueError, QueueFault};
use super::queue::{Control, NEVER_RUNG, Stopped};
use super::{Host, QueueConfiguration, pm4, signal};
use crate::memory::{AddressSpace, MemoryFault, View};
use crate::profile::Gpu;
use crate::shader::{
    self, Counts, Finding, FindingKind, InstructionCache, KernelAt, Outside, Site, WaveFault,
    WaveFaultKind, WaveInterrupt,
};
use aql::header::PacketType;
use aql::vendor::Format;
use aql::{BarrierValue, Generation, Header, KernelDispatch, Packet};
use aql::{PACKET_BYTES, PACKET_WORDS, queue};
use std::hint;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::thread;
use std::time::Duration;

/// Why the processor does not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// The driver stopped it.
    Stopped,
    /// A page fault.
    Memory(MemoryFault),
    /// An error of the queue.
    Queue(QueueError),
    /// A wave that does not end.
    Hang(WaveFault),
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
struct Backoff {
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

    fn next(&mut self) -> Duration {
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

/// The processor of one queue.
#[derive(Debug)]
pub(super) struct Processor {
    gpu: Arc<Gpu>,
    configuration: QueueConfiguration,
    space: Arc<AddressSpace>,
    memory: View,
    instructions: InstructionCache,
    host: Arc<dyn Host>,
    control: Arc<Control>,
    /// Index of the packet to take next.
    index: u64,
    /// Packets that the doorbell has told of.
    submitted: u64,
    /// The doorbell's last value.
    rung: u64,
    /// Address of the first instruction of the last dispatch's kernel.
    kernel: u64,
}

impl Drop for Processor {
    fn drop(&mut self) {
        self.control.end();
    }
}

impl Processor {
    pub(super) fn new(
        first: u64,
        gpu: Arc<Gpu>,
        configuration: QueueConfiguration,
        space: Arc<AddressSpace>,
        host: Arc<dyn Host>,
        control: Arc<Control>,
    ) -> Processor {
        Processor {
            gpu,
            configuration,
            memory: View::new(Arc::clone(&space)),
            instructions: InstructionCache::default(),
            space,
            host,
            control,
            index: first,
            submitted: first,
            rung: NEVER_RUNG,
            kernel: 0,
        }
    }

    /// Processes packets until the queue stops for good.
    pub(super) fn run(mut self) {
        loop {
            let halt = match self.step() {
                Ok(()) => continue,
                Err(Halt::Queue(error)) => match self.fail(error) {
                    Ok(()) => continue,
                    Err(halt) => halt,
                },
                Err(halt) => halt,
            };
            match halt {
                Halt::Memory(fault) => self.host.memory_fault(fault),
                Halt::Hang(fault) => self.hang(fault),
                Halt::Stopped | Halt::Queue(_) => {}
            }
            return;
        }
    }

    /// Waits for the next packet, processes it and retires it.
    fn step(&mut self) -> Result<(), Halt> {
        let words = self.fetch()?;
        let start = self.host.clock();
        let completion_signal = match Packet::decode(&words) {
            Packet::KernelDispatch(packet) => {
                self.dispatch(&packet)?;
                packet.completion_signal
            }
            Packet::BarrierAnd(packet) => {
                self.barrier(packet.dep_signals(), false)?;
                packet.completion_signal
            }
            Packet::BarrierOr(packet) => {
                self.barrier(packet.dep_signals(), true)?;
                packet.completion_signal
            }
            Packet::BarrierValue(packet) => {
                self.barrier_value(&packet)?;
                packet.completion_signal
            }
            Packet::Pm4Indirect(packet) => {
                pm4::run(&mut self.memory, &packet)?;
                packet.completion_signal
            }
            // Agent dispatches, packets of other generations, what is unknown.
            packet => {
                let vendor = packet.header().packet_type == PacketType::VENDOR_SPECIFIC;
                let error =
                    if vendor { QueueError::VendorPacket } else { QueueError::PacketFormat };
                return Err(error(packet.to_string()).into());
            }
        };
        self.retire(completion_signal, start)
    }

    /// The next packet, once the doorbell has told of it and its header is valid.
    fn fetch(&mut self) -> Result<[u32; PACKET_WORDS], Halt> {
        let mut backoff = Backoff::default();
        self.control.rest(Duration::ZERO)?;
        let address = self.slot();
        loop {
            if self.index == self.submitted {
                self.look_at_doorbell()?;
            }
            if self.index != self.submitted {
                let head = self.memory.acquire_u32(address)?;
                if Header::from_word(head).packet_type != PacketType::INVALID {
                    let mut words = [head; PACKET_WORDS];
                    read_words(&mut self.memory, address.wrapping_add(4), &mut words[1..])?;
                    return Ok(words);
                }
            }
            self.control.rest(backoff.next())?;
        }
    }

    /// Address of the slot of the next packet.
    fn slot(&self) -> u64 {
        let (base, bytes) = self.configuration.ring;
        base.wrapping_add(
            self.index.wrapping_mul(PACKET_BYTES as u64) & u64::from(bytes.saturating_sub(1)),
        )
    }

    /// A doorbell is the index of the last packet of its producer. Of several producers, the one
    /// with the lower index may ring last; the write pointer has moved past all of them by
    /// then.
    fn look_at_doorbell(&mut self) -> Result<(), MemoryFault> {
        let (page, offset) = &self.configuration.doorbell;
        let doorbell = page.load_u64(*offset);
        if doorbell != self.rung {
            fence(Ordering::Acquire);
            self.rung = doorbell;
            let written = self.memory.acquire_u64(self.configuration.write_pointer)?;
            self.submitted = self.submitted.max(doorbell.wrapping_add(1)).max(written);
        }
        Ok(())
    }

    /// Frees the packet's slot and tells of its completion; not before its end, as kernels can read
    /// their packet through the dispatch pointer.
    ///
    /// The firmware resets headers to INVALID: hsa.h, HSA_PACKET_TYPE_INVALID, and AMD's answer on
    /// the mailing list amd-gfx of 22 December 2020
    /// (archives/amd-gfx/attachments/20201222/8cb58b12).
    fn retire(&mut self, completion_signal: u64, start: u64) -> Result<(), Halt> {
        let end = self.host.clock();
        self.control.rest(Duration::ZERO)?;
        let properties = self.queue()?.wrapping_add(queue::offset::QUEUE_PROPERTIES);
        let properties = self.memory.read_u32(properties)?;
        let profiling = queue::Properties::from_bits(properties).enable_profiling();
        fence(Ordering::Release);
        self.memory.write_u16(self.slot(), Header::INVALID.into_bits())?;
        self.index = self.index.wrapping_add(1);
        self.memory.release_u64(self.configuration.read_pointer, self.index)?;
        self.control.count_packet();
        let timestamps = profiling.then_some((start, end));
        signal::complete(&mut self.memory, &*self.host, completion_signal, timestamps)?;
        Ok(())
    }

    /// Address of the queue's `amd_queue_t`.
    fn queue(&mut self) -> Result<u64, MemoryFault> {
        const OFFSET_AFTER_READ_ID: u64 = queue::offset::READ_DISPATCH_ID_FIELD_BASE_BYTE_OFFSET
            - queue::offset::READ_DISPATCH_ID;
        let read_id = self.configuration.read_pointer;
        let offset = self.memory.read_u32(read_id.wrapping_add(OFFSET_AFTER_READ_ID))?;
        Ok(read_id.wrapping_sub(offset.into()))
    }

    fn dispatch(&mut self, packet: &KernelDispatch) -> Result<(), Halt> {
        let queue = self.queue()?;
        let surroundings = Surroundings {
            gpu: &self.gpu,
            queue,
            packet: self.slot(),
            index: self.index,
            trap_handler: self.configuration.trap_handler.get(),
        };
        let launch =
            Dispatch::new(packet, &surroundings, &mut self.memory)?.launch(&mut self.memory)?;
        self.kernel = launch.program;
        let inspection = self.host.inspection();
        let statistics =
            shader::run(&self.gpu, &launch, &self.space, &self.instructions, &*self, &inspection);
        let statistics = statistics.map_err(wave_fault)?;
        self.control.count_dispatch(statistics);
        Ok(())
    }

    /// Waits for all of the signals, or for any.
    fn barrier(&mut self, signals: [u64; 5], any: bool) -> Result<(), Halt> {
        let signals = signals.into_iter().filter(|&signal| signal != 0);
        self.wait(|memory| {
            let mut satisfied = 0;
            for signal in signals.clone() {
                if signal::value(memory, signal)? == 0 {
                    satisfied += 1;
                }
            }
            let all = signals.clone().count();
            Ok(satisfied == all || any && satisfied > 0)
        })
    }

    fn barrier_value(&mut self, packet: &BarrierValue) -> Result<(), Halt> {
        let generation = Generation::from_target_version(self.gpu.gfx_target_version);
        let refuse = || Halt::from(QueueError::VendorPacket(packet.to_string()));
        if !generation.is_some_and(|generation| Format::BARRIER_VALUE.is_accepted_by(generation)) {
            return Err(refuse());
        }
        if packet.signal == 0 {
            return Ok(());
        }
        self.wait(|memory| {
            let value = signal::value(memory, packet.signal)?;
            packet.holds(value).ok_or_else(refuse)
        })
    }

    /// Waits until memory says so.
    fn wait(&mut self, satisfied: impl Fn(&mut View) -> Result<bool, Halt>) -> Result<(), Halt> {
        let mut backoff = Backoff::default();
        while !satisfied(&mut self.memory)? {
            self.control.rest(backoff.next())?;
        }
        Ok(())
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
            packet: self.index,
            kernel: KernelAt { process, gpu, address: self.kernel },
            site: Site { workgroup, wave, pc, instruction },
            kind,
        };
        let error = QueueError::Hang(Box::new(finding.clone()));
        self.control.fail(QueueFault { packet: self.index, error });
        self.host.found(finding);
        self.host.hang();
    }

    /// Tells of an error, and waits when it is one that can be mended.
    fn fail(&mut self, error: QueueError) -> Result<(), Halt> {
        let (value, exception) = (error.inactive_value(), error.exception());
        if let QueueError::NotModelled { what, pc } = &error {
            let (queue, packet) = (self.configuration.id, self.index);
            self.host.not_modelled(&format!("{what}; at {pc:#x}, queue {queue}, packet {packet}"));
        }
        self.control.fail(QueueFault { packet: self.index, error });
        let inactive = self.queue()?.wrapping_add(queue::offset::QUEUE_INACTIVE_SIGNAL);
        let inactive = self.memory.read_u64(inactive)?;
        signal::store(&mut self.memory, &*self.host, inactive, value)?;
        if let Some(code) = exception {
            self.host.queue_error(self.configuration.id, 1 << (code - 1));
            return Err(Halt::Stopped);
        }
        // Without a signal nobody can say that it is mended: the queue waits for its end.
        self.wait(|memory| Ok(inactive != 0 && signal::value(memory, inactive)? == 0))?;
        self.control.recover();
        Ok(())
    }
}

/// What waves of the queue see of it.
impl Outside for Processor {
    fn is_stopped(&self) -> bool {
        self.control.stopped()
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
        self.index
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
pub(super) fn read_words(
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
