//! The LDS of one workgroup.

use super::runs::{self, RUN, RUNS, Run};
use super::wave::{Row, lanes};

/// An address for each lane.
pub(super) struct Addresses<'a> {
    base: &'a Row,
    runs: [Run; RUNS],
}

impl<'a> Addresses<'a> {
    #[inline(always)]
    pub(super) fn new(base: &'a Row) -> Addresses<'a> {
        Addresses { base, runs: runs::of(base) }
    }
}

/// Local data share: bytes that the waves of a workgroup share. Loads beyond its end give 0, stores there
/// are dropped (RDNA3 ISA document, 12.1 "LDS out of range").
#[derive(Debug, Default)]
pub(super) struct Lds {
    bytes: Vec<u8>,
}

impl Lds {
    /// LDS of so many bytes, with `fill` in all dwords.
    pub(super) fn reset(&mut self, bytes: u32, fill: u32) {
        self.bytes.resize(bytes as usize, 0);
        let (dwords, rest) = self.bytes.as_chunks_mut();
        dwords.fill(fill.to_le_bytes());
        rest.fill(0);
    }

    /// The bytes of an access, when all are in range.
    #[inline(always)]
    fn at<const N: usize>(&self, address: u32) -> Option<&[u8; N]> {
        let start = address as usize;
        self.bytes.get(start..start + N)?.first_chunk()
    }

    #[inline(always)]
    fn at_mut<const N: usize>(&mut self, address: u32) -> Option<&mut [u8; N]> {
        let start = address as usize;
        self.bytes.get_mut(start..start + N)?.first_chunk_mut()
    }

    /// A dword for each lane, from the lane's address plus `offset`.
    #[inline(always)]
    pub(super) fn load_row(&self, addresses: &Addresses<'_>, offset: u32, row: &mut Row) {
        let (values, _) = row.as_chunks_mut::<RUN>();
        let (bases, _) = addresses.base.as_chunks::<RUN>();
        for ((values, base), run) in values.iter_mut().zip(bases).zip(addresses.runs) {
            let first = base[0].wrapping_add(offset);
            match (run, self.at::<{ 4 * RUN }>(first)) {
                (Run::Same, _) => *values = [self.load32(first); RUN],
                (Run::Rising, Some(bytes)) => {
                    let (dwords, _) = bytes.as_chunks();
                    *values = lanes!(RUN, |lane| u32::from_le_bytes(dwords[lane]));
                }
                _ => self.load_scattered(base, offset, values),
            }
        }
    }

    #[inline(never)]
    fn load_scattered(&self, base: &[u32; RUN], offset: u32, values: &mut [u32; RUN]) {
        for (value, address) in values.iter_mut().zip(base) {
            *value = self.load32(address.wrapping_add(offset));
        }
    }

    #[inline(never)]
    fn store_scattered(&mut self, base: &[u32; RUN], offset: u32, values: &[u32; RUN]) {
        for (value, address) in values.iter().zip(base) {
            self.store32(address.wrapping_add(offset), *value);
        }
    }

    /// Stores each lane's dword to the lane's address plus `offset`.
    #[inline(always)]
    pub(super) fn store_row(&mut self, addresses: &Addresses<'_>, offset: u32, row: &Row) {
        let (values, _) = row.as_chunks::<RUN>();
        let (bases, _) = addresses.base.as_chunks::<RUN>();
        for ((values, base), run) in values.iter().zip(bases).zip(addresses.runs) {
            let first = base[0].wrapping_add(offset);
            match (run, self.at_mut::<{ 4 * RUN }>(first)) {
                (Run::Rising, Some(bytes)) => {
                    let (dwords, _) = bytes.as_chunks_mut();
                    for (dword, value) in dwords.iter_mut().zip(values) {
                        *dword = value.to_le_bytes();
                    }
                }
                _ => self.store_scattered(base, offset, values),
            }
        }
    }

    #[inline(always)]
    pub(super) fn load8(&self, address: u32) -> u8 {
        self.at(address).copied().map_or(0, u8::from_le_bytes)
    }

    #[inline(always)]
    pub(super) fn load16(&self, address: u32) -> u16 {
        self.at(address).copied().map_or(0, u16::from_le_bytes)
    }

    #[inline(always)]
    pub(super) fn load32(&self, address: u32) -> u32 {
        self.at(address).copied().map_or(0, u32::from_le_bytes)
    }

    #[inline(always)]
    pub(super) fn load64(&self, address: u32) -> u64 {
        self.at(address).copied().map_or(0, u64::from_le_bytes)
    }

    #[inline(always)]
    pub(super) fn store8(&mut self, address: u32, value: u8) {
        if let Some(bytes) = self.at_mut(address) {
            *bytes = value.to_le_bytes();
        }
    }

    #[inline(always)]
    pub(super) fn store16(&mut self, address: u32, value: u16) {
        if let Some(bytes) = self.at_mut(address) {
            *bytes = value.to_le_bytes();
        }
    }

    #[inline(always)]
    pub(super) fn store32(&mut self, address: u32, value: u32) {
        if let Some(bytes) = self.at_mut(address) {
            *bytes = value.to_le_bytes();
        }
    }

    #[inline(always)]
    pub(super) fn store64(&mut self, address: u32, value: u64) {
        if let Some(bytes) = self.at_mut(address) {
            *bytes = value.to_le_bytes();
        }
    }
}
