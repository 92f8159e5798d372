//! Bundles made by hand, from the format's documentation.

use std::io::Write;

use md5::{Digest, Md5};

/// A plain bundle; each entry's bytes start at a multiple of `align`.
pub(crate) fn bundle(entries: &[(&str, &[u8])], align: usize) -> Vec<u8> {
    let table = entries.iter().map(|(id, _)| 24 + id.len()).sum::<usize>();
    let mut bytes = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    bytes.extend((entries.len() as u64).to_le_bytes());
    let mut at = 32 + table;
    for (id, contents) in entries {
        at = at.next_multiple_of(align);
        bytes.extend((at as u64).to_le_bytes());
        bytes.extend((contents.len() as u64).to_le_bytes());
        bytes.extend((id.len() as u64).to_le_bytes());
        bytes.extend(id.as_bytes());
        at += contents.len();
    }
    for (_, contents) in entries {
        bytes.resize(bytes.len().next_multiple_of(align), 0);
        bytes.extend_from_slice(contents);
    }
    bytes
}

/// How a payload is packed: the header's method number and the packed bytes.
pub(crate) fn zlib(contents: &[u8]) -> (u16, Vec<u8>) {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(contents).unwrap();
    (0, encoder.finish().unwrap())
}

/// zstd that stores: raw blocks of up to 128 KiB (RFC 8878, "Raw_Block").
pub(crate) fn stored_zstd(contents: &[u8]) -> (u16, Vec<u8>) {
    // Frame header: magic, descriptor (4-byte content size, single segment), content size.
    let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    bytes.extend((contents.len() as u32).to_le_bytes());
    let mut blocks = contents.chunks(1 << 17).peekable();
    while let Some(block) = blocks.next() {
        let header = (block.len() as u32) << 3 | u32::from(blocks.peek().is_none());
        bytes.extend(&header.to_le_bytes()[..3]);
        bytes.extend_from_slice(block);
    }
    (1, bytes)
}

/// Low eight bytes of the MD5.
pub(crate) fn hash(contents: &[u8]) -> u64 {
    u64::from_le_bytes(Md5::digest(contents)[..8].try_into().unwrap())
}

/// A compressed bundle of any version, with the header's unpacked size and hash as given.
pub(crate) fn ccob(version: u16, packed: (u16, Vec<u8>), unpacked: u64, hash: u64) -> Vec<u8> {
    let (method, payload) = packed;
    let mut bytes = b"CCOB".to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend(method.to_le_bytes());
    match version {
        1 => bytes.extend((unpacked as u32).to_le_bytes()),
        2 => {
            bytes.extend((payload.len() as u32 + 24).to_le_bytes());
            bytes.extend((unpacked as u32).to_le_bytes());
        }
        _ => {
            bytes.extend((payload.len() as u64 + 32).to_le_bytes());
            bytes.extend(unpacked.to_le_bytes());
        }
    }
    bytes.extend(hash.to_le_bytes());
    bytes.extend(payload);
    bytes
}

/// A correct compressed bundle.
pub(crate) fn compressed(
    version: u16,
    contents: &[u8],
    pack: fn(&[u8]) -> (u16, Vec<u8>),
) -> Vec<u8> {
    ccob(version, pack(contents), contents.len() as u64, hash(contents))
}
