//! Any bytes are a file with device code from which one object can be selected, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use selvedge::code::{Archive, Contents, Limits, TargetId};

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { max_unpacked_bytes: 1 << 20 };
    let Ok(archive) = Archive::open_with(bytes, "input", limits) else { return };
    for entry in archive.entries() {
        assert!(entry.member().offset < bytes.len() as u64);
        if let Contents::CodeObject(target) = entry.contents() {
            assert_eq!(entry.target(), Some(target));
            if let Ok(object) = entry.parse() {
                assert_eq!(*object.target(), target);
            }
        }
    }
    let device = TargetId::new("gfx1151".parse::<TargetId>().expect("a known processor").processor);
    match archive.select(&device) {
        Ok(entry) => {
            let target = entry.target().expect("only code objects are selected");
            assert_eq!(target.matches(&device), Ok(()));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
