//! The decoder and disassembler against `llvm-objdump` on compiled code: data made by `listings.py`.

use amdgpu_isa::{Instructions, Target, disassemble};

/// Decodes each object of a listing as one stream of bytes; every instruction's offset and text must be
/// LLVM's. Returns how many there are.
fn compare(listing: &str, target: Target, wave32: bool) -> usize {
    let mut instructions = 0;
    for object in listing.split("# ").filter(|object| !object.is_empty()) {
        let (name, lines) = object.split_once('\n').expect("a name, then instructions");
        let mut bytes = Vec::new();
        let mut expected = Vec::new();
        for line in lines.lines() {
            let (hex, text) = line.split_once('\t').expect("dwords, a tab, text");
            expected.push((bytes.len(), text));
            for word in hex.split(' ') {
                let word = u32::from_str_radix(word, 16).expect("a dword in hex");
                bytes.extend_from_slice(&word.to_le_bytes());
            }
        }
        let mut decoded = Instructions::new(target, &bytes);
        for (offset, text) in expected {
            let (at, result) = decoded.next().expect("as many instructions as LLVM finds");
            if text.starts_with(".long") {
                assert!(result.is_err(), "{name}: LLVM knows no instruction here: {result:?}");
                continue;
            }
            let instruction =
                result.unwrap_or_else(|error| panic!("{name}+{offset:#x}: {text}: {error}"));
            assert_eq!(at, offset, "{name}: {text}");
            assert_eq!(
                disassemble(&instruction, target, wave32).to_string(),
                text,
                "{name}+{offset:#x}"
            );
            instructions += 1;
        }
        assert!(decoded.next().is_none(), "{name}: bytes left over");
    }
    assert!(instructions > 500, "the listing has only {instructions} instructions");
    instructions
}

#[test]
fn kernels_gfx1151_wave32() {
    compare(include_str!("data/kernels.gfx1151.wave32.listing.txt"), Target::Gfx1151, true);
}

#[test]
fn kernels_gfx1151_wave64() {
    compare(include_str!("data/kernels.gfx1151.wave64.listing.txt"), Target::Gfx1151, false);
}

#[test]
fn kernels_gfx1100_wave32() {
    compare(include_str!("data/kernels.gfx1100.wave32.listing.txt"), Target::Gfx1100, true);
}

#[test]
fn builtins_gfx1151_wave32() {
    compare(include_str!("data/builtins.gfx1151.wave32.listing.txt"), Target::Gfx1151, true);
}

#[test]
fn builtins_gfx1151_wave64() {
    compare(include_str!("data/builtins.gfx1151.wave64.listing.txt"), Target::Gfx1151, false);
}

#[test]
fn kernels_gfx1201_wave32() {
    compare(include_str!("data/kernels.gfx1201.wave32.listing.txt"), Target::Gfx1201, true);
}

#[test]
fn kernels_gfx1201_wave64() {
    compare(include_str!("data/kernels.gfx1201.wave64.listing.txt"), Target::Gfx1201, false);
}

#[test]
fn builtins_gfx1201_wave32() {
    compare(include_str!("data/builtins.gfx1201.wave32.listing.txt"), Target::Gfx1201, true);
}

#[test]
fn builtins_gfx1201_wave64() {
    compare(include_str!("data/builtins.gfx1201.wave64.listing.txt"), Target::Gfx1201, false);
}

/// Listings made elsewhere by the same program: every `NAME.<target>.wave<size>.listing.txt` in the directory
/// that `SELVEDGE_LISTINGS` names.
#[test]
fn further_listings() {
    let Some(directory) = std::env::var_os("SELVEDGE_LISTINGS") else { return };
    let mut total = 0;
    for entry in std::fs::read_dir(directory).expect("SELVEDGE_LISTINGS is a directory") {
        let path = entry.expect("a directory entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(stem) = name.strip_suffix(".listing.txt") else { continue };
        let mut parts = stem.rsplit('.');
        let (wave, target) = (parts.next(), parts.next());
        let target = target.and_then(Target::from_name).expect("a target in the name");
        let listing = std::fs::read_to_string(&path).expect("a readable listing");
        total += compare(&listing, target, wave == Some("wave32"));
    }
    println!("listings: {total} instructions");
}
