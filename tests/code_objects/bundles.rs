//! Offload bundles, plain and compressed, and the choice among their entries.

use selvedge::code::{Archive, CodeError, Container, Contents, Limits, Method, TargetId};

use super::packing::{bundle, ccob, compressed, hash, stored_zstd, zlib};
use super::{Random, data};

fn target(text: &str) -> TargetId {
    text.parse().unwrap()
}

/// An entry's bytes are the object's, and its kernels are found.
fn check(bytes: &[u8], device: &str, object: &[u8]) {
    let archive = Archive::open(bytes, "bundle").unwrap_or_else(|e| panic!("{e}"));
    let entry = archive.select(&target(device)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(entry.bytes(), object);
    assert_eq!(entry.parse().unwrap().kernel("vadd").unwrap().name(), "vadd");
}

#[test]
fn made_by_clang() {
    let (gfx1100, gfx1151) = (data("vadd-gfx1100-v5.co"), data("vadd-gfx1151-v5.co"));
    for (name, version) in [
        ("plain.hipfb", None),
        ("zstd-v2.hipfb", Some(2)),
        ("zstd-v3.hipfb", Some(3)),
        ("libhost.so", Some(2)),
    ] {
        let bytes = data(name);
        check(&bytes, "gfx1100", &gfx1100);
        check(&bytes, "gfx1151", &gfx1151);
        let archive = Archive::open(&bytes, name).unwrap();
        let member = archive.members().next().unwrap();
        match (&member.container, version) {
            (Container::Bundle, None) => {}
            (Container::Compressed(header), Some(version)) => {
                assert_eq!((header.version, header.method), (version, Method::Zstd));
            }
            other => panic!("{name}: {other:?}"),
        }
        let contents = archive.entries().map(|e| e.contents()).collect::<Vec<_>>();
        assert_eq!(contents[0], Contents::Host);
        let objects = [target("gfx1100"), target("gfx1151")].map(Contents::CodeObject);
        assert_eq!(contents[1..3], objects, "{name}");
    }
}

#[test]
fn host_library_with_two_bundles() {
    let bytes = data("libhost.so");
    let archive = Archive::open(&bytes, "libhost.so").unwrap();
    assert_eq!(archive.members().count(), 2);
    for member in archive.members() {
        assert!(bytes[member.offset as usize..].starts_with(b"CCOB"));
    }
    let chosen = archive.select_all(&target("gfx1151")).unwrap();
    assert_eq!(chosen.len(), 2);
    assert_eq!(chosen[1].parse().unwrap().name(), "libhost.so[hipv4-amdgcn-amd-amdhsa--gfx1151]");
}

#[test]
fn raw_object() {
    let bytes = data("vadd-gfx11-generic-v6.co");
    let archive = Archive::open(&bytes, "k.co").unwrap();
    let entry = archive.select(&target("gfx1151")).unwrap();
    assert_eq!(entry.id(), "amdgcn-amd-amdhsa--gfx11-generic");
    assert_eq!(entry.member().container, Container::Raw);
    assert_eq!(entry.parse().unwrap().name(), "k.co");
    assert_eq!(entry.target().unwrap().generic_version, Some(1));
}

#[test]
fn every_version_and_method() {
    let object = data("vadd-gfx1151-v5.co");
    let plain = bundle(&[("hipv4-amdgcn-amd-amdhsa--gfx1151", &object)], 4096);
    check(&plain, "gfx1151", &object);
    for version in 1..=3 {
        for pack in [zlib, stored_zstd] {
            check(&compressed(version, &plain, pack), "gfx1151", &object);
        }
    }
}

/// A compressed bundle as HIP's compiler writes it by default, of which only the header was
/// published: it is named, not called "not an ELF".
#[test]
fn compressed_bundle_is_named() {
    let header = [
        0x43, 0x43, 0x4f, 0x42, 0x03, 0x00, 0x01, 0x00, 0x4b, 0x0d, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0xd0, 0x2e, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x08, 0x65, 0xab, 0xc3, 0x26, 0x00,
        0xf3, 0xbf, 0x28, 0xb5, 0x2f, 0xfd,
    ];
    let mut bytes = header.to_vec();
    let text = Archive::open(&bytes, "k.co").unwrap_err().to_string();
    assert_eq!(
        text,
        "k.co: compressed offload bundle at offset 0x0 needs 3403 bytes, but only 36 are there: the file is truncated \
         or its header is wrong"
    );
    bytes.resize(3403, 0);
    let error = Archive::open(&bytes, "k.co").unwrap_err();
    assert!(matches!(error, CodeError::Compressed { .. }), "{error}");
    let text = error.to_string();
    let named = "compressed offload bundle v3, zstd, 3403 bytes, unpacks to 11984 at offset 0x0";
    assert!(text.contains(named), "{text}");
}

/// The first bundle's payload is stored and contains the magic number; 0 to 15 bytes of padding
/// follow.
#[test]
fn magic_inside_a_payload() {
    let object = data("vadd-gfx1151-v5.co");
    let noise = |magic: &[u8]| {
        let mut random = Random(1);
        let mut noise = (0..5000).map(|_| random.next() as u8).collect::<Vec<_>>();
        noise[2000..2000 + magic.len()].copy_from_slice(magic);
        noise
    };
    let second =
        compressed(3, &bundle(&[("hipv4-amdgcn-amd-amdhsa--gfx1151", &object)], 64), stored_zstd);
    for magic in [b"CCOB".as_slice(), b"__CLANG_OFFLOAD_BUNDLE__"] {
        let first = bundle(&[("hipv4-amdgcn-amd-amdhsa--gfx9999", &noise(magic))], 64);
        for version in 1..=3 {
            for padding in 0..16 {
                let mut bytes = compressed(version, &first, stored_zstd);
                let stored = bytes.windows(magic.len()).skip(1).filter(|w| *w == magic).count();
                assert!(stored >= 1);
                bytes.resize(bytes.len() + padding, 0);
                let start = bytes.len() as u64;
                bytes.extend(&second);
                check(&bytes, "gfx1151", &object);
                let archive = Archive::open(&bytes, "two").unwrap();
                assert_eq!(archive.members().map(|m| m.offset).collect::<Vec<_>>(), [0, start]);
            }
        }
        // The same of a plain first bundle.
        let mut bytes = first.clone();
        bytes.extend(&second);
        check(&bytes, "gfx1151", &object);
    }
}

#[test]
fn spellings_of_entry_ids() {
    let object = data("vadd-gfx906-v5.co");
    for id in [
        "hipv4-amdgcn-amd-amdhsa--gfx906",
        "hip-amdgcn-amd-amdhsa--gfx906",
        "hip-amdgcn-amd-amdhsa-gfx906",
        "openmp-amdgcn-amd-amdhsa--gfx906",
        "hipv4-amdgcn-amd-amdhsa-unknown-gfx906:xnack-",
        "hip-amdgcn-amd-amdhsa-gfx906+xnack",
    ] {
        for host in [
            "host-x86_64-unknown-linux--",
            "host-x86_64-unknown-linux-gnu-",
            "host-x86_64-unknown-linux",
        ] {
            let bytes = bundle(&[(host, b""), (id, &object)], 4096);
            let archive = Archive::open(&bytes, "bundle").unwrap();
            let entries = archive.entries().collect::<Vec<_>>();
            assert_eq!(entries[0].contents(), Contents::Host);
            assert!(entries[0].bytes().is_empty());
            // What the object says of itself counts: any XNACK.
            assert_eq!(entries[1].target(), Some(target("gfx906")), "{id}");
            check(&bytes, "gfx906:sramecc-:xnack+", &object);
        }
    }
}

#[test]
fn entries_that_are_no_code_objects() {
    let bytes = bundle(
        &[
            ("hip-amdgcn-amd-amdhsa--gfx1100", b"BC\xc0\xde\x35\x14"),
            ("hip-spirv64-amd-amdhsa--amdgcnspirv", b"\x03\x02\x23\x07"),
            ("hip-amdgcn-amd-amdhsa--gfx1151", b""),
        ],
        1,
    );
    let archive = Archive::open(&bytes, "k").unwrap();
    let contents = archive.entries().map(|e| e.contents()).collect::<Vec<_>>();
    assert_eq!(contents, [Contents::Bitcode, Contents::Other, Contents::Other]);
    assert_eq!(archive.code_objects().count(), 0);
    assert_eq!(
        archive.select(&target("gfx1151")).unwrap_err().to_string(),
        "k: device gfx1151; the file has gfx1100 (LLVM bitcode, compile it first), \
         hip-spirv64-amd-amdhsa--amdgcnspirv (not a code object), gfx1151 (not a code object); \
         only gfx11-generic would fit both"
    );
}

/// Exact processor before generic, fixed features before any.
#[test]
fn the_best_is_selected() {
    let (any, on) = (data("vadd-gfx906-v5.co"), data("vadd-gfx906-xnack+-v5.co"));
    let (exact, generic) = (data("vadd-gfx1151-v5.co"), data("vadd-gfx11-generic-v6.co"));
    let entries: [(&str, &[u8]); 4] = [
        ("hipv4-amdgcn-amd-amdhsa--gfx906", &any),
        ("hipv4-amdgcn-amd-amdhsa--gfx906:xnack+", &on),
        ("hipv4-amdgcn-amd-amdhsa--gfx11-generic", &generic),
        ("hipv4-amdgcn-amd-amdhsa--gfx1151", &exact),
    ];
    for turn in 0..4 {
        let mut entries = entries;
        entries.rotate_left(turn);
        let bytes = bundle(&entries, 8);
        check(&bytes, "gfx906:sramecc+:xnack+", &on);
        check(&bytes, "gfx906:sramecc+:xnack-", &any);
        check(&bytes, "gfx1151", &exact);
        check(&bytes, "gfx1103", &generic);
        let archive = Archive::open(&bytes, "bundle").unwrap();
        let chosen = archive.select_all(&target("gfx1151")).unwrap();
        assert_eq!(chosen.iter().map(|e| e.bytes()).collect::<Vec<_>>(), [exact.as_slice()]);
    }
}

#[test]
fn wrong_target_lists_what_there_is() {
    let bytes = data("plain.hipfb");
    let archive = Archive::open(&bytes, "k").unwrap();
    assert_eq!(
        archive.select(&target("gfx1103")).unwrap_err().to_string(),
        "k: device gfx1103; the file has gfx1100 (different processor), gfx1151 (different processor); \
         only gfx11-generic would fit both"
    );
    let object = data("vadd-gfx906-xnack+-v5.co");
    let archive = Archive::open(&object, "k").unwrap();
    assert_eq!(
        archive.select(&target("gfx906:sramecc-:xnack-")).unwrap_err().to_string(),
        "k: object gfx906:xnack+, device gfx906:sramecc-:xnack-: xnack is on in the object and off on the device"
    );
    let host_only = bundle(&[("host-x86_64-unknown-linux--", b"")], 1);
    let archive = Archive::open(&host_only, "k").unwrap();
    let text = archive.select(&target("gfx1151")).unwrap_err().to_string();
    assert_eq!(text, "k: no device code in it (device gfx1151)");
}

#[test]
fn hash_is_checked() {
    let plain = bundle(&[("hip-amdgcn-amd-amdhsa--gfx1151", b"x")], 1);
    for version in 1..=3 {
        let bytes = ccob(version, zlib(&plain), plain.len() as u64, hash(&plain) ^ 1);
        let error = Archive::open(&bytes, "k").unwrap_err();
        let CodeError::Hash { expected, actual, .. } = error else { panic!("{error}") };
        assert_eq!((expected, actual), (hash(&plain) ^ 1, hash(&plain)));
    }
}

#[test]
fn sizes_are_capped() {
    let plain = bundle(&[("hip-amdgcn-amd-amdhsa--gfx1151", &[0; 1 << 20])], 1);
    let size = plain.len() as u64;
    // A header that promises a tebibyte.
    let bytes = ccob(3, zlib(&plain), 1 << 40, hash(&plain));
    let error = Archive::open(&bytes, "k").unwrap_err();
    assert!(matches!(error, CodeError::TooLarge { got: 0x100_0000_0000, .. }), "{error}");
    // A payload that unpacks to more, or less, than the header says.
    for pack in [zlib, stored_zstd] {
        for wrong in [size - 1, size + 1, 0] {
            let bytes = ccob(3, pack(&plain), wrong, hash(&plain));
            let error = Archive::open(&bytes, "k").unwrap_err();
            assert!(matches!(error, CodeError::Compressed { .. }), "{error}");
        }
    }
    // The cap holds for all bundles of a file together.
    let mut two = compressed(3, &plain, zlib);
    two.extend(compressed(3, &plain, zlib));
    let with = |max_unpacked_bytes| Archive::open_with(&two, "k", Limits { max_unpacked_bytes });
    assert_eq!(with(2 * size).unwrap().entries().count(), 2);
    let error = with(2 * size - 1).unwrap_err();
    assert!(matches!(error, CodeError::TooLarge { .. }), "{error}");
}

#[test]
fn wrong_headers_are_named() {
    let plain = bundle(&[("hip-amdgcn-amd-amdhsa--gfx1151", b"x")], 1);
    let good = compressed(3, &plain, zlib);
    let refused = |bytes: &[u8]| Archive::open(bytes, "k").unwrap_err().to_string();
    let with = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        refused(&bytes)
    };
    let of = "of a compressed offload bundle at offset";
    assert_eq!(with(4, 4), format!("k: version {of} 0x4: needed 1, 2 or 3, got 4"));
    assert_eq!(with(6, 2), format!("k: method {of} 0x6: needed 0 (zlib) or 1 (zstd), got 2"));
    assert_eq!(with(8, 7), format!("k: file size {of} 0x8: needed at least the header's, got 7"));
    let mut followed = good.clone();
    followed.extend(b"junk");
    assert_eq!(
        refused(&followed),
        format!(
            "k: bytes after an offload bundle at offset {:#x}: needed zeros or another bundle, got bytes 6a 75 6e 6b",
            good.len()
        )
    );
    let nested = compressed(3, &good, zlib);
    assert!(
        refused(&nested).ends_with("it holds no offload bundle but bytes 43 43 4f 42 03 00 00 00")
    );
    let needed = "k: not device code: needed an ELF file, an offload bundle (`__CLANG_OFFLOAD_BUNDLE__`) or a \
                  compressed one (`CCOB`), got ";
    assert_eq!(refused(b"MZ\x90"), format!("{needed}a Windows program"));
    assert_eq!(refused(b""), format!("{needed}no bytes at all"));
}

#[test]
fn host_program_without_device_code() {
    let mut bytes = data("libhost.so");
    let at = bytes.windows(11).position(|w| w == b".hip_fatbin").unwrap();
    bytes[at + 1] = b'x';
    let text = Archive::open(&bytes, "k").unwrap_err().to_string();
    assert!(
        text.ends_with("got an ELF file for machine 62 without a section .hip_fatbin"),
        "{text}"
    );
}
