//! Copies and fills of any length and alignment, as packets.
//!
//! The iterators allocate nothing and know beforehand how long they are. Ranges that overlap are not looked at:
//! packets are in ascending order and may run at the same time, so a copy onto itself gives anything.

use crate::packet::{ConstantFill, CopyLinear, FillSize};
use crate::version::Version;
use core::fmt;
use core::iter::FusedIterator;

/// From how many bytes on it is worth a packet or two more to give the engine dwords, which it moves faster than
/// bytes. A choice of this crate's; PAL does it from 4 bytes on, for ranges that start aligned.
const WORTH_ALIGNING: u64 = 256;

/// Why there are no packets for a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RangeError {
    /// The range goes past the end of the address space.
    Wraps {
        /// Which range.
        range: &'static str,
        /// Its first address.
        address: u64,
        /// Its length in bytes.
        bytes: u64,
    },
    /// Packets cannot be that large.
    PacketBytes {
        /// The bytes asked for.
        bytes: u32,
        /// The most there may be; a multiple of 4, at least 4, is needed.
        max: u32,
    },
}

impl fmt::Display for RangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            RangeError::Wraps { range, address, bytes } => write!(
                f,
                "{range} at {address:#x}: needed at most {:#x} bytes up to the end of the address space, got {bytes:#x}",
                u128::from(u64::MAX - address) + 1
            ),
            RangeError::PacketBytes { bytes, max } => write!(
                f,
                "bytes of a packet: needed a multiple of 4 from 4 to {max:#x}, got {bytes:#x}"
            ),
        }
    }
}

impl core::error::Error for RangeError {}

fn check_range(range: &'static str, address: u64, bytes: u64) -> Result<(), RangeError> {
    match bytes == 0 || address.checked_add(bytes - 1).is_some() {
        true => Ok(()),
        false => Err(RangeError::Wraps { range, address, bytes }),
    }
}

fn check_packet_bytes(bytes: u32, max: u32) -> Result<u64, RangeError> {
    match bytes > 0 && bytes.is_multiple_of(4) && bytes <= max {
        true => Ok(bytes.into()),
        false => Err(RangeError::PacketBytes { bytes, max }),
    }
}

/// A range in up to three parts: bytes before the first multiple of 4, dwords, bytes behind the last.
#[derive(Clone, Debug)]
struct Parts {
    head: u64,
    body: u64,
    tail: u64,
}

impl Parts {
    fn aligned(address: u64, bytes: u64) -> Parts {
        let head = (address.wrapping_neg() & 3).min(bytes);
        let tail = (bytes - head) & 3;
        Parts { head, body: bytes - head - tail, tail }
    }

    fn whole(bytes: u64) -> Parts {
        Parts { head: 0, body: bytes, tail: 0 }
    }

    const fn bytes(&self) -> u64 {
        self.head + self.body + self.tail
    }

    /// How many pieces are left when each of the ends is cut into pieces of `end` and the body of `body`.
    const fn pieces(&self, end: u64, body: u64) -> u64 {
        self.head.div_ceil(end) + self.body.div_ceil(body) + self.tail.div_ceil(end)
    }

    /// Takes the next piece, at most `end` or `body` long: its length and whether it is of the body.
    fn take(&mut self, end: u64, body: u64) -> Option<(u64, bool)> {
        let (part, most, dwords) = match self {
            Parts { head, .. } if *head > 0 => (head, end, false),
            Parts { body: middle, .. } if *middle > 0 => (middle, body, true),
            Parts { tail, .. } if *tail > 0 => (tail, end, false),
            _ => return None,
        };
        let bytes = most.min(*part);
        *part -= bytes;
        Some((bytes, dwords))
    }
}

/// Copies `bytes` bytes from `src` to `dst`, [`Limits::copy_bytes`](crate::limits::Limits::copy_bytes) at a time.
/// No bytes are no packets.
///
/// Where both addresses are equally far from a multiple of 4, what is before and behind the dwords is copied apart.
///
/// ```
/// use sdma::{Version, split};
///
/// let copies = split::copy(0x1001, 0x2001, 10 << 20, Version::V6_0).unwrap();
/// assert_eq!((copies.packets(), copies.dwords()), (5, 35));
/// let counts: Vec<u32> = copies.map(|copy| copy.count).collect();
/// assert_eq!(counts, [3, 4 << 20, 4 << 20, (2 << 20) - 4, 1]);
/// ```
///
/// # Errors
/// When a range wraps around.
pub fn copy(src: u64, dst: u64, bytes: u64, version: Version) -> Result<Copies, RangeError> {
    copy_by(src, dst, bytes, version, version.limits().copy_bytes)
}

/// [`copy`] with packets of up to `packet_bytes` bytes.
///
/// # Errors
/// When a range wraps around, or `packet_bytes` is not a multiple of 4 from 4 to
/// [`Limits::copy_bytes_max`](crate::limits::Limits::copy_bytes_max).
pub fn copy_by(
    src: u64,
    dst: u64,
    bytes: u64,
    version: Version,
    packet_bytes: u32,
) -> Result<Copies, RangeError> {
    check_range("source", src, bytes)?;
    check_range("destination", dst, bytes)?;
    let packet_bytes = check_packet_bytes(packet_bytes, version.limits().copy_bytes_max)?;
    let parts = match (src ^ dst) & 3 == 0 && bytes >= WORTH_ALIGNING {
        true => Parts::aligned(dst, bytes),
        false => Parts::whole(bytes),
    };
    Ok(Copies { src, dst, parts, packet_bytes })
}

/// The packets of a copy; see [`copy`].
#[derive(Clone, Debug)]
pub struct Copies {
    src: u64,
    dst: u64,
    parts: Parts,
    packet_bytes: u64,
}

impl Copies {
    /// How many packets are left.
    pub const fn packets(&self) -> u64 {
        self.parts.pieces(3, self.packet_bytes)
    }

    /// How many dwords they are.
    pub const fn dwords(&self) -> u64 {
        self.packets().saturating_mul(CopyLinear::LAYOUT.dwords as u64)
    }

    /// How many bytes are left to copy.
    pub const fn bytes(&self) -> u64 {
        self.parts.bytes()
    }
}

impl Iterator for Copies {
    type Item = CopyLinear;

    fn next(&mut self) -> Option<CopyLinear> {
        let (bytes, _) = self.parts.take(3, self.packet_bytes)?;
        let copy = CopyLinear {
            // At most `packet_bytes`, which is a u32.
            count: bytes as u32,
            src_addr: self.src,
            dst_addr: self.dst,
            ..CopyLinear::ZERO
        };
        // Past the last byte there is no next packet to use what wraps.
        self.src = self.src.wrapping_add(bytes);
        self.dst = self.dst.wrapping_add(bytes);
        Some(copy)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        hint(self.packets())
    }
}

impl FusedIterator for Copies {}

/// What a fill repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// A byte.
    Byte(u8),
    /// A dword, lowest byte first. It starts at the first byte of the range, wherever that is, and is cut off at
    /// the last.
    Dword(u32),
}

impl Pattern {
    /// The pattern from its byte `offset` on.
    fn from(self, offset: u64) -> u32 {
        match self {
            Pattern::Byte(byte) => u32::from_ne_bytes([byte; 4]),
            Pattern::Dword(dword) => dword.rotate_right(8 * (offset & 3) as u32),
        }
    }

    /// How many bytes at either end one fill of bytes can do: all of them when they are equal.
    const fn end(self) -> u64 {
        match self {
            Pattern::Byte(_) => 3,
            Pattern::Dword(_) => 1,
        }
    }
}

/// Fills `bytes` bytes at `dst`, [`Limits::fill_bytes`](crate::limits::Limits::fill_bytes) at a time. No bytes are
/// no packets.
///
/// What is before the first multiple of 4 and behind the last is filled by bytes, the rest by dwords.
///
/// ```
/// use sdma::packet::FillSize;
/// use sdma::split::{self, Pattern};
/// use sdma::Version;
///
/// let fills: Vec<_> =
///     split::fill(0x1003, 7, Pattern::Byte(0xab), Version::V4_0).unwrap().collect();
/// assert_eq!(fills.len(), 3);
/// assert_eq!((fills[1].dst_addr, fills[1].count, fills[1].fillsize), (0x1004, 4, FillSize::DW));
/// assert_eq!(fills[1].src_data, 0xabab_abab);
/// ```
///
/// # Errors
/// When the range wraps around.
pub fn fill(dst: u64, bytes: u64, pattern: Pattern, version: Version) -> Result<Fills, RangeError> {
    fill_by(dst, bytes, pattern, version, version.limits().fill_bytes)
}

/// [`fill`] with packets of up to `packet_bytes` bytes.
///
/// # Errors
/// When the range wraps around, or `packet_bytes` is not a multiple of 4 from 4 to
/// [`Limits::fill_bytes_max`](crate::limits::Limits::fill_bytes_max).
pub fn fill_by(
    dst: u64,
    bytes: u64,
    pattern: Pattern,
    version: Version,
    packet_bytes: u32,
) -> Result<Fills, RangeError> {
    check_range("destination", dst, bytes)?;
    let packet_bytes = check_packet_bytes(packet_bytes, version.limits().fill_bytes_max)?;
    let pattern = match pattern {
        Pattern::Dword(dword) if dword == dword.rotate_right(8) => Pattern::Byte(dword as u8),
        other => other,
    };
    Ok(Fills { start: dst, dst, pattern, parts: Parts::aligned(dst, bytes), packet_bytes })
}

/// The packets of a fill; see [`fill`].
#[derive(Clone, Debug)]
pub struct Fills {
    start: u64,
    dst: u64,
    pattern: Pattern,
    parts: Parts,
    packet_bytes: u64,
}

impl Fills {
    /// How many packets are left.
    pub const fn packets(&self) -> u64 {
        self.parts.pieces(self.pattern.end(), self.packet_bytes)
    }

    /// How many dwords they are.
    pub const fn dwords(&self) -> u64 {
        self.packets().saturating_mul(ConstantFill::LAYOUT.dwords as u64)
    }

    /// How many bytes are left to fill.
    pub const fn bytes(&self) -> u64 {
        self.parts.bytes()
    }
}

impl Iterator for Fills {
    type Item = ConstantFill;

    fn next(&mut self) -> Option<ConstantFill> {
        let (bytes, dwords) = self.parts.take(self.pattern.end(), self.packet_bytes)?;
        let data = self.pattern.from(self.dst.wrapping_sub(self.start));
        let (fillsize, src_data) =
            if dwords { (FillSize::DW, data) } else { (FillSize::BYTE, data & 0xff) };
        let fill = ConstantFill {
            // At most `packet_bytes`, which is a u32.
            count: bytes as u32,
            dst_addr: self.dst,
            src_data,
            fillsize,
            ..ConstantFill::ZERO
        };
        self.dst = self.dst.wrapping_add(bytes);
        Some(fill)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        hint(self.packets())
    }
}

impl FusedIterator for Fills {}

fn hint(packets: u64) -> (usize, Option<usize>) {
    match usize::try_from(packets) {
        Ok(packets) => (packets, Some(packets)),
        Err(_) => (usize::MAX, None),
    }
}
