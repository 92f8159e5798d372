//! Offload bundles: several code objects, and possibly the host's, in one file.
//!
//! Format: Clang documentation, "Clang Offload Bundler", "Bundled Binary File Layout" and
//! "Bundle Entry ID".

use std::ops::Range;

use super::elf::{slice, u64_at};
use super::error::CodeError;
use super::target::TargetId;

pub(super) const MAGIC: &[u8; 24] = b"__CLANG_OFFLOAD_BUNDLE__";

/// Longest entry id that is read, in bytes.
const MAX_ID: u64 = 4096;

/// An entry of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BundleEntry {
    /// Entry id, for example `hipv4-amdgcn-amd-amdhsa--gfx1151`.
    pub(super) id: String,
    /// Where its bytes are, from the start of the bundle.
    pub(super) range: Range<usize>,
}

/// Reads the table of the bundle that `bytes` start with, and how many bytes the bundle has: up to
/// the end of the table or of the last entry.
///
/// `base` is where the bundle starts in `file`, for errors.
pub(super) fn read(
    file: &str,
    bytes: &[u8],
    base: u64,
) -> Result<(Vec<BundleEntry>, usize), CodeError> {
    let get = |offset: u64, len: u64, what: &str| {
        slice(file, bytes, offset, len, what).map_err(|error| match error {
            CodeError::Truncated { file, what, offset, needed, available } => {
                let offset = base.saturating_add(offset);
                CodeError::Truncated { file, what, offset, needed, available }
            }
            other => other,
        })
    };
    let header = get(0, MAGIC.len() as u64 + 8, "offload bundle header")?;
    let count = u64_at(header, MAGIC.len());
    let mut at = header.len() as u64;
    let mut end = at;
    let mut total = 0u64;
    let mut entries = Vec::new();
    for index in 0..count {
        let fixed = get(at, 24, &format!("offload bundle entry {index} of {count}"))?;
        let (offset, size, id_size) = (u64_at(fixed, 0), u64_at(fixed, 8), u64_at(fixed, 16));
        if id_size > MAX_ID {
            return Err(CodeError::TooLarge {
                file: file.to_owned(),
                what: format!("id of offload bundle entry {index}"),
                offset: base + at,
                got: id_size,
                limit: MAX_ID,
                remedy: "the bundle is damaged",
            });
        }
        let id = get(at + 24, id_size, "offload bundle entry id")?;
        let id = String::from_utf8_lossy(id).into_owned();
        at += 24 + id_size;
        get(offset, size, &format!("offload bundle entry {index} (`{id}`)"))?;
        // So that reading all entries costs no more than reading the file.
        total += size;
        if total > bytes.len() as u64 {
            return Err(CodeError::Field {
                file: file.to_owned(),
                field: format!("offset of offload bundle entry {index} (`{id}`)"),
                offset: base + at - 24 - id_size,
                needed: "entries without overlap".to_owned(),
                got: format!("{total} bytes in all, of {}", bytes.len()),
            });
        }
        let range = offset as usize..(offset + size) as usize;
        end = end.max(offset + size);
        entries.push(BundleEntry { id, range });
    }
    Ok((entries, end.max(at) as usize))
}

/// The target in an entry id: what starts with `gfx` after a dash. The triple in front of it is
/// written with four parts (`amdgcn-amd-amdhsa--`), three (`amdgcn-amd-amdhsa-`) or an environment.
pub(super) fn target_of_id(id: &str) -> Option<TargetId> {
    let start = id.find("-gfx")? + 1;
    id[start..].parse().ok()
}

/// Whether an entry is the host's: `host-x86_64-unknown-linux--`, `host-x86_64-unknown-linux-gnu-`,
/// `host-x86_64-unknown-linux` and so on.
pub(super) fn is_host_id(id: &str) -> bool {
    id == "host" || id.starts_with("host-")
}
