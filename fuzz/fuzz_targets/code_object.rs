//! Any bytes are a code object that can be loaded and whose kernels keep their promises, or an
//! error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use selvedge::code::CodeObject;

fuzz_target!(|bytes: &[u8]| {
    let Ok(object) = CodeObject::parse(bytes, "input") else { return };
    let image = object.image();
    // A few bytes may ask for gigabytes of zeros, which only take time.
    if image.size() <= 16 << 20 {
        let mut at = 0;
        let written = image.write(
            image.align(),
            |_| Some(1),
            |offset, bytes| {
                assert_eq!(offset, at);
                at += bytes.len() as u64;
            },
        );
        assert!(written.is_err() || at == image.size());
    }
    for kernel in object.kernels() {
        assert!(kernel.descriptor_offset() + 64 <= image.size());
        assert!(kernel.entry_offset() < image.size());
        assert!(kernel.explicit_size() <= kernel.kernarg_size());
        assert!(kernel.arguments().iter().all(|a| a.end() <= u64::from(kernel.kernarg_size())));
        assert!(kernel.arguments().is_sorted_by_key(|a| a.offset));
        assert!(object.kernel(kernel.symbol()).is_ok());
    }
    assert!(object.symbols().iter().all(|s| s.offset + s.size <= image.size()));
});
