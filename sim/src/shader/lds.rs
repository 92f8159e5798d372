//! The LDS of one workgroup.

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
