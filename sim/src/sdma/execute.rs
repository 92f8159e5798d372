//! From a packet's name to what does it.

use super::ring::Stream;
use super::{Sdma, refuse};
use crate::cp::{Halt, PacketFormat, QueueError};
use ::sdma::RawPacket;
use ::sdma::packet::*;
use pm4::layout::Layout;
use std::fmt::Display;
use std::ops::Range;
use std::time::Duration;

/// Bytes that packets of an indirect buffer are padded to, and that INDIRECT ends at a multiple of (Linux
/// `sdma_v6_0.c`, `sdma_v6_0_ring_emit_ib` and `sdma_v6_0_ring_pad_ib`, and their like; tinygrad, `_submit`).
const INDIRECT_BYTES: u64 = 32;

/// Bits of their addresses that the two destinations of a copy have to have in common (ROCr, `amd_blit_sdma.cpp`, which
/// accepts no others; sdma_registers.h, `SDMA_PKT_COPY_LINEAR_BROADCAST`). What engines do otherwise is not published.
const BROADCAST_ALIGNMENT: u64 = 0x1f;

/// Packets that are held back at most.
const MOST: usize = 16;

/// Whether a packet may go on while later ones are processed.
fn may_overlap(name: &str) -> bool {
    matches!(
        name,
        "COPY_LINEAR"
            | "COPY_LINEAR.meta"
            | "COPY_BROADCAST_LINEAR"
            | "COPY_LINEAR_SUBWIN"
            | "CONSTANT_FILL"
            | "WRITE_UNTILED"
    )
}

/// The range of a GCR packet, whose limit is its last line; both zero are everything (ROCr, `amd_blit_sdma.cpp`,
/// `BuildGCRCommand`).
fn lines(base: u64, limit: u64) -> Range<u64> {
    match (base, limit) {
        (0, 0) => 0..u64::MAX,
        _ => base..limit.saturating_add(128),
    }
}

/// A packet that is none.
pub(super) fn malformed(problem: impl Display) -> Halt {
    QueueError::SdmaPacket(problem.to_string()).into()
}

/// Reads a packet's fields.
macro_rules! fields {
    ($Packet:ident, $self:ident, $words:ident) => {
        &$Packet::decode($words, $self.engine.version).map_err(malformed)?
    };
}

impl Sdma {
    /// Does the next packet of a stream, and goes past it and what it says is to be skipped.
    pub(super) fn packet(&mut self, stream: &mut Stream) -> Result<(), Halt> {
        let mut words = Vec::with_capacity(16);
        self.fetch(*stream, &mut words, 1)?;
        let address = self.address(*stream);
        self.place = address;
        let header = words[0];
        let version = self.engine.version;
        let (format, in_ring) = (PacketFormat::Sdma(version), *stream == Stream::Ring);
        let Some(layout) = layout(version, header) else {
            self.drain()?;
            self.hqd.taken(format, address, &words, in_ring)?;
            return Err(match refuse::without_layout(version, header) {
                Some(name) => self.not_modelled(name),
                None => malformed(format!("header {header:#010x} at {address:#x}")),
            });
        };
        self.fetch(*stream, &mut words, layout.dwords)?;
        let shown = |words: &[u32]| RawPacket { offset: 0, version, words }.to_string();
        let Some(length) = dwords(layout, version, &words) else {
            self.hqd.taken(format, address, &words, in_ring)?;
            return Err(self.not_modelled(shown(&words)));
        };
        if let Some(what) = refuse::unknown(layout, version, &words) {
            self.hqd.taken(format, address, &words, in_ring)?;
            return Err(self.not_modelled(format!("{what} of {}", shown(&words))));
        }
        self.fetch(*stream, &mut words, length)?;
        self.hqd.taken(format, address, &words, in_ring)?;
        if *stream == Stream::Ring {
            self.hqd.meet_planned_fault()?;
        }
        if may_overlap(layout.name) {
            if self.held.len() < MOST && self.hqd.disorder.holds() {
                self.held.push((address, words));
                return self.advance(stream, length);
            }
        } else if layout.name != "INDIRECT" {
            self.drain()?;
        }
        let skipped = match self.execute(layout, &words, *stream) {
            Err(Halt::Queue(QueueError::SdmaPacket(problem))) if self.place == address => {
                return Err(malformed(format!("{problem}: {} at {address:#x}", shown(&words))));
            }
            done => done?,
        };
        self.advance(stream, length + skipped)
    }

    /// Does what was held back.
    pub(super) fn drain(&mut self) -> Result<(), Halt> {
        if self.held.is_empty() {
            return Ok(());
        }
        let mut held = std::mem::take(&mut self.held);
        self.hqd.disorder.arrange(&mut held);
        for (address, words) in held {
            self.place = address;
            // It has been one already.
            if let Some(layout) = layout(self.engine.version, words[0]) {
                self.execute(layout, &words, Stream::Ring)?;
            }
        }
        Ok(())
    }

    /// Does what a packet says; returns how many dwords behind it are skipped.
    fn execute(&mut self, layout: &Layout, words: &[u32], stream: Stream) -> Result<usize, Halt> {
        let payload = words.get(layout.dwords..).unwrap_or(&[]);
        match layout.name {
            "NOP" => {}
            "INDIRECT" => self.indirect(fields!(Indirect, self, words), stream)?,
            "COND_EXE" => return self.condition(fields!(CondExe, self, words)),
            "PRE_EXE" => return Ok(self.selection(fields!(PreExe, self, words))),
            "COPY_LINEAR" => {
                let packet = fields!(CopyLinear, self, words);
                let (src, dst) = (packet.src_addr, packet.dst_addr);
                self.copy(src, &[dst], packet.count.into(), packet.backwards)?;
            }
            "COPY_LINEAR.meta" => {
                let packet = fields!(CopyLinearMeta, self, words);
                let (src, dst) = (packet.src_addr, packet.dst_addr);
                self.copy(src, &[dst], packet.count.into(), packet.backwards)?;
            }
            "COPY_BROADCAST_LINEAR" => {
                let packet = fields!(CopyBroadcastLinear, self, words);
                let destinations = [packet.dst1_addr, packet.dst2_addr];
                if (packet.dst1_addr ^ packet.dst2_addr) & BROADCAST_ALIGNMENT != 0 {
                    let what = "a copy to two places that lie differently in 32 bytes";
                    return Err(self.not_modelled(what));
                }
                self.copy(packet.src_addr, &destinations, packet.count.into(), false)?;
            }
            "COPY_LINEAR_SUBWIN" => self.copy_window(fields!(CopyLinearSubwin, self, words))?,
            "CONSTANT_FILL" => self.fill(fields!(ConstantFill, self, words))?,
            "WRITE_UNTILED" => self.write(fields!(WriteUntiled, self, words), payload)?,
            "WRITE_INCR" => self.write_increasing(fields!(WriteIncr, self, words))?,
            "FENCE" => self.fence(fields!(Fence, self, words))?,
            "TRAP" => self.trap(fields!(Trap, self, words)),
            // As long as a trap and without its interrupt.
            "DUMMY_TRAP" | "DUMMY_TRAP.old" => {}
            "POLL_REGMEM" => self.poll(fields!(PollRegmem, self, words))?,
            "ATOMIC" => self.atomic(fields!(Atomic, self, words))?,
            "SEMAPHORE" => self.semaphore(fields!(Semaphore, self, words))?,
            "MEM_INCR" => {
                let packet = fields!(MemIncr, self, words);
                self.hqd.memory.atomic_u64(packet.addr, |value| value.wrapping_add(1))?;
            }
            "TIMESTAMP_SET" => self.set_counter(fields!(TimestampSet, self, words)),
            "TIMESTAMP_GET" => {
                let packet = fields!(TimestampGet, self, words);
                self.store_counter(packet.write_addr, self.counter)?;
            }
            "TIMESTAMP_GET_GLOBAL" => {
                let packet = fields!(TimestampGetGlobal, self, words);
                self.store_counter(packet.write_addr, 0)?;
            }
            "GCR_REQ" => {
                let packet = fields!(GcrReq, self, words);
                let range = lines(packet.base_va, packet.limit_va);
                self.cache_control(packet.gl2_range, range, packet.gl2_wb, packet.gl2_inv)?;
            }
            "GCR_USER" => {
                let packet = fields!(GcrUser, self, words);
                let range = lines(packet.base_va, packet.limit_va);
                self.cache_control(packet.gl2_range, range, packet.gl2_wb, packet.gl2_inv)?;
            }
            name => return Err(self.not_modelled(name)),
        }
        Ok(0)
    }

    /// The error of something in a packet that is not modelled.
    pub(super) fn not_modelled(&self, what: impl Display) -> Halt {
        let what = format!("{what} of an SDMA queue");
        QueueError::NotModelled { what, pc: self.place }.into()
    }

    /// Acts on L2 (GCR_CNTL).
    fn cache_control(
        &self,
        select: u8,
        range: Range<u64>,
        write_back: bool,
        invalidate: bool,
    ) -> Result<(), Halt> {
        match self.hqd.act_on_cache_by(select, range, write_back, invalidate) {
            true => Ok(()),
            false => Err(self.not_modelled("volatile lines of L2")),
        }
    }

    /// Runs a buffer.
    fn indirect(&mut self, packet: &Indirect, stream: Stream) -> Result<(), Halt> {
        if stream != Stream::Ring {
            return Err(self.not_modelled("INDIRECT in an indirect buffer"));
        }
        let end = self.hqd.packet.wrapping_add(4 * Indirect::LAYOUT.dwords as u64);
        if !end.is_multiple_of(INDIRECT_BYTES) {
            return Err(malformed("it does not end with a group of 8 dwords of the ring"));
        }
        let dwords = packet.ib_size;
        if !packet.ib_base.is_multiple_of(INDIRECT_BYTES) || !dwords.is_multiple_of(8) {
            return Err(malformed("the buffer is not of whole groups of 8 dwords"));
        }
        let mut buffer = Stream::Buffer { address: packet.ib_base, dwords };
        while !matches!(buffer, Stream::Buffer { dwords: 0, .. }) {
            self.hqd.rest(Duration::ZERO)?;
            self.packet(&mut buffer)?;
        }
        Ok(())
    }
}
