//! Any bytes are a metadata note, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use selvedge::code::Metadata;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(metadata) = Metadata::parse("input", bytes) {
        // Each kernel and argument takes bytes of the note: nothing is made up.
        let arguments = metadata.kernels.iter().map(|k| k.arguments.len()).sum::<usize>();
        assert!(metadata.kernels.len() + arguments <= bytes.len());
    }
});
