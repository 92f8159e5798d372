//! Copies, fills, writes.

use super::Sdma;
use super::execute::malformed;
use crate::cp::Halt;
use ::sdma::packet::{ConstantFill, CopyLinearSubwin, FillSize, WriteIncr, WriteUntiled};
use std::time::Duration;
use zerocopy::IntoBytes;

/// Bytes at a time.
const STEP: u64 = 4096;

/// A fill's field that says what is repeated; values beside those of [`FillSize`] are not published.
fn pattern(packet: &ConstantFill) -> Option<[u8; 4]> {
    match packet.fillsize {
        FillSize::BYTE => Some([packet.src_data as u8; 4]),
        FillSize::DW => Some(packet.src_data.to_le_bytes()),
        _ => None,
    }
}

impl Sdma {
    /// Copies bytes to each destination.
    pub(super) fn copy(
        &mut self,
        src: u64,
        destinations: &[u64],
        bytes: u64,
        backwards: bool,
    ) -> Result<(), Halt> {
        let mut buffer = [0; STEP as usize];
        let mut done = 0;
        while done < bytes {
            let step = STEP.min(bytes - done);
            let at = if backwards { bytes - done - step } else { done };
            let from = src.wrapping_add(at);
            let buffer = &mut buffer[..step as usize];
            let read = self.hqd.memory.read_bytes(from, buffer);
            // What lies before a fault is copied.
            let good = match read {
                Ok(()) => step,
                Err(fault) => fault.address.wrapping_sub(from).min(step),
            };
            for destination in destinations {
                let to = destination.wrapping_add(at);
                self.hqd.memory.write_bytes(to, &buffer[..good as usize])?;
            }
            read?;
            done += step;
            self.hqd.rest(Duration::ZERO)?;
        }
        Ok(())
    }

    /// Copies a box, row by row. Addresses and pitches are of whole dwords, as hardware needs it (ROCr,
    /// `amd_blit_sdma.cpp`, `SubmitCopyRectCommand`).
    pub(super) fn copy_window(&mut self, packet: &CopyLinearSubwin) -> Result<(), Halt> {
        if packet.elementsize > 4 {
            return Err(malformed("an element larger than 16 bytes"));
        }
        let element = |count: u64| count << packet.elementsize;
        let (rows, slices) = (u64::from(packet.rect_y), u64::from(packet.rect_z));
        let pitches = [packet.src_pitch, packet.dst_pitch].map(|pitch| element(pitch.into()));
        let slice_pitches = [packet.src_slice_pitch, packet.dst_slice_pitch].map(element);
        let whole = |bytes: &u64| bytes.is_multiple_of(4);
        if ![packet.src_addr, packet.dst_addr].iter().all(whole)
            || rows > 1 && !pitches.iter().all(whole)
            || slices > 1 && !slice_pitches.iter().all(whole)
        {
            return Err(malformed("an address or a pitch that is not of whole dwords"));
        }
        let start = |address: u64, [x, y, z]: [u16; 3], pitch: u64, slice_pitch: u64| {
            address
                .wrapping_add(element(x.into()))
                .wrapping_add(u64::from(y).wrapping_mul(pitch))
                .wrapping_add(u64::from(z).wrapping_mul(slice_pitch))
        };
        let src_place = [packet.src_x, packet.src_y, packet.src_z];
        let dst_place = [packet.dst_x, packet.dst_y, packet.dst_z];
        let src = start(packet.src_addr, src_place, pitches[0], slice_pitches[0]);
        let dst = start(packet.dst_addr, dst_place, pitches[1], slice_pitches[1]);
        let row = |start: u64, side: usize, y: u64, z: u64| {
            let slice = z.wrapping_mul(slice_pitches[side]);
            start.wrapping_add(y.wrapping_mul(pitches[side])).wrapping_add(slice)
        };
        for z in 0..slices {
            for y in 0..rows {
                let bytes = element(packet.rect_x.into());
                self.copy(row(src, 0, y, z), &[row(dst, 1, y, z)], bytes, false)?;
            }
        }
        Ok(())
    }

    /// Fills memory. Of dword fills the count's two lowest bits, as stored, do not count.
    pub(super) fn fill(&mut self, packet: &ConstantFill) -> Result<(), Halt> {
        let Some(pattern) = pattern(packet) else {
            return Err(self.not_modelled(format!("a fill of size {}", packet.fillsize.0)));
        };
        let mut bytes = u64::from(packet.count);
        if packet.fillsize == FillSize::DW {
            if !packet.dst_addr.is_multiple_of(4) {
                return Err(malformed("a fill of dwords at an address between them"));
            }
            bytes = ((bytes - 1) & !3) + 4;
        }
        let mut buffer = [0; STEP as usize];
        let (chunks, _) = buffer.as_chunks_mut::<4>();
        chunks.fill(pattern);
        let mut done = 0;
        while done < bytes {
            let step = STEP.min(bytes - done);
            let to = packet.dst_addr.wrapping_add(done);
            self.hqd.memory.write_bytes(to, &buffer[..step as usize])?;
            done += step;
            self.hqd.rest(Duration::ZERO)?;
        }
        Ok(())
    }

    /// Writes the dwords that follow the packet.
    pub(super) fn write(&mut self, packet: &WriteUntiled, payload: &[u32]) -> Result<(), Halt> {
        if !packet.dst_addr.is_multiple_of(4) {
            return Err(malformed("a write of dwords to an address between them"));
        }
        Ok(self.hqd.memory.write_bytes(packet.dst_addr, payload.as_bytes())?)
    }

    /// Writes numbers that grow: page table entries, of which `mask` are the flags (Linux `sdma_v4_0_vm_set_pte_pde`
    /// and its like).
    pub(super) fn write_increasing(&mut self, packet: &WriteIncr) -> Result<(), Halt> {
        if !packet.dst_addr.is_multiple_of(8) {
            return Err(malformed("a write of qwords to an address between them"));
        }
        let mut value = packet.init;
        for index in 0..u64::from(packet.count) {
            let to = packet.dst_addr.wrapping_add(8 * index);
            self.hqd.memory.write_u64(to, value | packet.mask)?;
            value = value.wrapping_add(packet.incr);
        }
        Ok(())
    }
}
