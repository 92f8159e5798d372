//! Compressed offload bundles (CCOB): a header, then a plain bundle packed with zlib or zstd.
//!
//! Header, little-endian (LLVM, `clang/lib/Driver/OffloadBundler.cpp`, class
//! `CompressedOffloadBundle`, and `llvm/Object/OffloadBundle.h`):
//!
//! | field | V1 | V2 | V3 |
//! |---|---|---|---|
//! | magic `CCOB`, u16 version, u16 method (0 zlib, 1 zstd) | 0 | 0 | 0 |
//! | size of the file with header | none | u32 at 8 | u64 at 8 |
//! | unpacked size | u32 at 8 | u32 at 12 | u64 at 16 |
//! | hash: low 8 bytes of the MD5 of the unpacked bytes | at 12 | at 16 | at 24 |
//! | payload | at 20 | at 24 | at 32 |

use std::fmt;
use std::io::Read;

use flate2::bufread::ZlibDecoder;
use md5::{Digest, Md5};
use ruzstd::decoding::StreamingDecoder;

use super::elf::{u32_at, u64_at};
use super::error::CodeError;

pub(super) const MAGIC: &[u8; 4] = b"CCOB";

/// Largest zstd window of a bundle that is smaller: what zstd itself accepts unasked
/// (`ZSTD_WINDOWLOG_LIMIT_DEFAULT` is 27), and what clang's long-distance matching uses.
const MAX_WINDOW: u64 = 128 << 20;

/// How a bundle is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// zlib.
    Zlib,
    /// Zstandard.
    Zstd,
}

/// Header of a compressed offload bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompressedBundle {
    /// Header version, 1 to 3.
    pub version: u16,
    /// How it is packed.
    pub method: Method,
    /// Size with the header, in bytes; V1 does not say.
    pub total_size: Option<u64>,
    /// Size unpacked, in bytes.
    pub unpacked_size: u64,
    /// Low eight bytes of the MD5 of the unpacked bytes.
    pub hash: u64,
    header_size: usize,
}

impl fmt::Display for CompressedBundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let method = match self.method {
            Method::Zlib => "zlib",
            Method::Zstd => "zstd",
        };
        write!(f, "compressed offload bundle v{}, {method}, ", self.version)?;
        if let Some(total) = self.total_size {
            write!(f, "{total} bytes, ")?;
        }
        write!(f, "unpacks to {}", self.unpacked_size)
    }
}

impl CompressedBundle {
    /// Reads the header that `bytes` start with; they start at `base` of `file`.
    pub(super) fn parse(file: &str, bytes: &[u8], base: u64) -> Result<Self, CodeError> {
        let need = |needed: usize| {
            (bytes.len() >= needed).then_some(()).ok_or_else(|| CodeError::Truncated {
                file: file.to_owned(),
                what: "compressed offload bundle header".to_owned(),
                offset: base,
                needed: needed as u64,
                available: bytes.len() as u64,
            })
        };
        let field = |field: &str, at: u64, needed: &str, got: u64| CodeError::Field {
            file: file.to_owned(),
            field: format!("{field} of a compressed offload bundle"),
            offset: base + at,
            needed: needed.to_owned(),
            got: got.to_string(),
        };
        need(8)?;
        let (version, method) = (u32_at(bytes, 4) & 0xffff, u32_at(bytes, 4) >> 16);
        let method = match method {
            0 => Method::Zlib,
            1 => Method::Zstd,
            other => return Err(field("method", 6, "0 (zlib) or 1 (zstd)", other.into())),
        };
        let header_size = match version {
            1 => 20,
            2 => 24,
            3 => 32,
            other => return Err(field("version", 4, "1, 2 or 3", other.into())),
        };
        need(header_size)?;
        let (total_size, unpacked_size) = match version {
            1 => (None, u32_at(bytes, 8).into()),
            2 => (Some(u32_at(bytes, 8).into()), u32_at(bytes, 12).into()),
            _ => (Some(u64_at(bytes, 8)), u64_at(bytes, 16)),
        };
        if let Some(total) = total_size {
            if total < header_size as u64 {
                return Err(field("file size", 8, "at least the header's", total));
            }
            if total > bytes.len() as u64 {
                return Err(CodeError::Truncated {
                    file: file.to_owned(),
                    what: "compressed offload bundle".to_owned(),
                    offset: base,
                    needed: total,
                    available: bytes.len() as u64,
                });
            }
        }
        let hash = u64_at(bytes, header_size - 8);
        let version = version as u16;
        Ok(Self { version, method, total_size, unpacked_size, hash, header_size })
    }

    /// Unpacks the bundle that `bytes` start with, and says how many of them it takes.
    ///
    /// Memory grows with what really comes out, never beyond the size in the header (or zstd's
    /// window, if that is larger), and not at all if that is more than `limit`.
    pub(super) fn unpack(
        &self,
        file: &str,
        bytes: &[u8],
        base: u64,
        limit: u64,
    ) -> Result<(Vec<u8>, usize), CodeError> {
        if self.unpacked_size > limit {
            return Err(CodeError::TooLarge {
                file: file.to_owned(),
                what: format!("unpacked size of a {self}"),
                offset: base,
                got: self.unpacked_size,
                limit,
                remedy: "raise Limits::max_unpacked_bytes if the file is to be trusted",
            });
        }
        let fail = |reason: String| CodeError::Compressed {
            file: file.to_owned(),
            bundle: self.to_string(),
            offset: base,
            reason,
        };
        // Parsing has checked that the header and, where it is known, the whole are in `bytes`.
        let end = self.total_size.map_or(bytes.len(), |total| total as usize);
        let mut payload = &bytes[self.header_size..end];
        let before = payload.len();
        let mut unpacked = Vec::new();
        let most = self.unpacked_size.saturating_add(1);
        let result = match self.method {
            Method::Zlib => ZlibDecoder::new(&mut payload).take(most).read_to_end(&mut unpacked),
            Method::Zstd => {
                StreamingDecoder::new_with_max_window_size(&mut payload, most.max(MAX_WINDOW))
                    .map_err(std::io::Error::other)
                    .and_then(|decoder| decoder.take(most).read_to_end(&mut unpacked))
            }
        };
        result.map_err(|e| fail(format!("damaged after {} bytes: {e}", unpacked.len())))?;
        if unpacked.len() as u64 != self.unpacked_size {
            let more = if unpacked.len() as u64 > self.unpacked_size { "more than " } else { "" };
            return Err(fail(format!(
                "it unpacks to {more}{} bytes",
                (unpacked.len() as u64).min(self.unpacked_size)
            )));
        }
        let actual = u64_at(&Md5::digest(&unpacked), 0);
        if actual != self.hash {
            return Err(CodeError::Hash {
                file: file.to_owned(),
                bundle: self.to_string(),
                offset: base,
                expected: self.hash,
                actual,
            });
        }
        let used = match self.total_size {
            Some(_) => end,
            None => self.header_size + before - payload.len(),
        };
        Ok((unpacked, used))
    }
}
