//! Damaged and malicious files: an error or a usable object, never a panic, never much memory.

use selvedge::code::{Archive, CodeError, CodeObject, Metadata};

use super::packing::{bundle, ccob, compressed, hash, zlib};
use super::{LINKED, Random, data};

/// Uses everything that a file offers.
fn use_all(bytes: &[u8]) -> Result<(), CodeError> {
    let archive = Archive::open(bytes, "k")?;
    for entry in archive.code_objects() {
        let object = entry.parse()?;
        let image = object.image();
        if image.size() < 16 << 20 {
            image.write(0x7000_0000_0000 & !(image.align() - 1), |_| Some(0x1234), |_, _| ())?;
        }
        for kernel in object.kernels() {
            assert!(kernel.explicit_size() <= kernel.kernarg_size());
            for argument in kernel.arguments() {
                assert!(argument.end() <= u64::from(kernel.kernarg_size()));
            }
            assert!(kernel.descriptor_offset() + 64 <= image.size());
            assert!(kernel.entry_offset() < image.size());
            assert_eq!(object.kernel(kernel.symbol())?.symbol(), kernel.symbol());
        }
        for symbol in object.symbols() {
            assert!(symbol.offset + symbol.size <= image.size());
        }
    }
    Ok(())
}

#[test]
fn truncated_at_every_length() {
    for name in LINKED.iter().copied().chain([
        "vadd-gfx1151-v5.o",
        "calls-gfx1151-v5.o",
        "table-gfx1151-v4.o",
        "plain.hipfb",
        "zstd-v2.hipfb",
        "zstd-v3.hipfb",
        "libhost.so",
    ]) {
        let bytes = data(name);
        for len in 0..bytes.len() {
            assert!(use_all(&bytes[..len]).is_err(), "{name}: {len} of {} bytes", bytes.len());
        }
    }
}

#[test]
fn random_mutations() {
    let interesting = [0, 1, 0x7f, 0x80, 0xff];
    for (seed, name) in
        ["globals-gfx1151-v5.co", "hidden-gfx90a-v4.co", "vadd-gfx1151-v5.o"].iter().enumerate()
    {
        let good = data(name);
        let mut random = Random(0x5e1_7ed6e + seed as u64);
        let mut usable = 0;
        for _ in 0..10_000 {
            let mut bytes = good.clone();
            for _ in 0..=random.below(8) {
                // Half of the changes go to the headers, where they do most.
                let limit = if random.below(2) == 0 { bytes.len() } else { 0x400 };
                let at = random.below(limit);
                let width = 1 << random.below(4);
                let value = match random.below(3) {
                    0 => interesting[random.below(interesting.len())],
                    _ => random.next() as u8,
                };
                bytes[at..].iter_mut().take(width).for_each(|b| *b = value);
            }
            usable += usize::from(use_all(&bytes).is_ok());
        }
        assert!((1..10_000).contains(&usable), "{name}: {usable} of 10,000 usable");
    }
}

#[test]
fn random_mutations_of_bundles() {
    for name in ["plain.hipfb", "zstd-v3.hipfb", "libhost.so"] {
        let good = data(name);
        let mut random = Random(good.len() as u64);
        for _ in 0..2_000 {
            let mut bytes = good.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                bytes[at] = random.next() as u8;
            }
            let _ = use_all(&bytes);
        }
    }
}

#[test]
fn deep_metadata() {
    // Lists in lists, and a map whose value is a map.
    for open in [&b"\x91"[..], b"\x81\xa1x"] {
        let error = Metadata::parse("k", &open.repeat(100_000)).unwrap_err();
        assert!(error.to_string().contains("depth limit"), "{error}");
    }
}

#[test]
fn metadata_that_promises_more_than_it_has() {
    for bytes in [
        &b"\xdf\xff\xff\xff\xff"[..],                  // a map of 2^32-1
        b"\x81\xaeamdhsa.kernels\xdd\xff\xff\xff\xff", // a list of 2^32-1
        b"\x81\xaeamdhsa.kernels\xdb\xff\xff\xff\xff", // text of 2^32-1
        b"",
    ] {
        let error = Metadata::parse("k", bytes).unwrap_err();
        assert!(
            error.to_string().starts_with("k: metadata note at offset 0x0: not MessagePack"),
            "{error}"
        );
    }
}

#[test]
fn metadata_errors_name_the_key() {
    for (bytes, expected) in [
        (&b"\x90"[..], "document: needed a map, got a list of 0"),
        (b"\x81\xaeamdhsa.kernels\x01", "amdhsa.kernels: needed a list, got 1"),
        (b"\x81\xaeamdhsa.kernels\x91\x90", "amdhsa.kernels[0]: needed a map, got a list of 0"),
        (b"\x81\xaeamdhsa.kernels\x91\x80", "amdhsa.kernels[0].name is missing"),
        (b"\x81\xaeamdhsa.version\x91\x01", "amdhsa.version: needed 2 numbers, got 1"),
        (b"\x81\xadamdhsa.target\xc0", "amdhsa.target: needed text, got nil"),
        (b"\x81\xadamdhsa.target\xa1\xff", "amdhsa.target: not UTF-8"),
    ] {
        let error = Metadata::parse("k", bytes).unwrap_err();
        assert_eq!(error.to_string(), format!("k: metadata note at offset 0x0: {expected}"));
    }
}

/// Memory beyond the file costs nothing until it is loaded, and too much of it is refused.
#[test]
fn large_memory_sizes() {
    let good = data("globals-gfx1151-v5.co");
    // p_memsz of the last PT_LOAD; program headers are 56 bytes each from offset 64.
    let last = (0..8).rev().find(|i| good[64 + 56 * i] == 1 && good[64 + 56 * i + 1] == 0).unwrap();
    let at = 64 + 56 * last + 40;
    let with = |size: u64| {
        let mut bytes = good.clone();
        bytes[at..at + 8].copy_from_slice(&size.to_le_bytes());
        CodeObject::parse(&bytes, "k")
    };
    let object = with(1 << 29).unwrap();
    assert!(object.image().size() > 1 << 29);
    for size in [1 << 30, 5 << 30, 1 << 62, u64::MAX] {
        let error = with(size).unwrap_err();
        assert!(matches!(error, CodeError::TooLarge { .. }), "{error}");
    }
}

/// A bundle table that claims more entries than the file can have.
#[test]
fn endless_bundle_table() {
    let mut bytes = bundle(&[("host-x86_64-unknown-linux--", b"")], 1);
    bytes[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
    let error = Archive::open(&bytes, "k").unwrap_err();
    assert!(matches!(error, CodeError::Truncated { .. }), "{error}");
    let error = Archive::open(&compressed(3, &bytes, zlib), "k").unwrap_err();
    assert!(error.to_string().starts_with("k (unpacked from offset 0x0): "), "{error}");
    // An id of 2^63 bytes, an offset that wraps around.
    for (at, value) in [(48, 1 << 63), (32, u64::MAX), (40, u64::MAX)] {
        let mut bytes = bundle(&[("host-x86_64-unknown-linux--", b"x")], 1);
        bytes[at..at + 8].copy_from_slice(&u64::to_le_bytes(value));
        assert!(Archive::open(&bytes, "k").is_err());
    }
}

/// zstd's decoder holds a window back: a small frame must not declare a huge one.
#[test]
fn huge_zstd_window() {
    let plain = bundle(&[("host-x86_64-unknown-linux--", b"x")], 1);
    // Frame header with a window descriptor (mantissa 0): 2^(10 + exponent) bytes.
    let frame = |exponent: u8| {
        let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, exponent << 3];
        let header = (plain.len() as u32) << 3 | 1;
        bytes.extend(&header.to_le_bytes()[..3]);
        bytes.extend_from_slice(&plain);
        (1, bytes)
    };
    let open = |exponent| {
        let bytes = ccob(3, frame(exponent), plain.len() as u64, hash(&plain));
        Archive::open(&bytes, "k").map(|a| a.entries().count())
    };
    assert_eq!(open(0), Ok(1));
    assert_eq!(open(17), Ok(1));
    for exponent in [18, 31] {
        let error = open(exponent).unwrap_err();
        let window = 1u64 << (10 + exponent);
        let reason = format!("Requested: {window}, Max: {}", 128 << 20);
        assert!(error.to_string().ends_with(&reason), "{error}");
    }
}

/// Many entries over the same bytes: reading each would cost the square of the file's size.
#[test]
fn overlapping_entries() {
    let mut bytes = bundle(&[("hip-amdgcn-amd-amdhsa--gfx1151", &[0; 64]), ("b", &[0; 64])], 1);
    let second = 32 + 24 + 30;
    let first = bytes[32..48].to_vec();
    bytes[second..second + 16].copy_from_slice(&first);
    assert_eq!(Archive::open(&bytes, "k").unwrap().entries().count(), 2);
    bytes[second..second + 8].copy_from_slice(&0u64.to_le_bytes());
    let all = (bytes.len() as u64).to_le_bytes();
    bytes[second + 8..second + 16].copy_from_slice(&all);
    let error = Archive::open(&bytes, "k").unwrap_err();
    assert!(error.to_string().contains("entries without overlap"), "{error}");
}
