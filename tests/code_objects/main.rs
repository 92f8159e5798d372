//! Code objects, offload bundles and target ids, against what LLVM's tools say of the same bytes.

mod bundles;
mod golden;
mod hostile;
mod kernels;
mod packing;
mod placement;
mod targets;

/// Bytes of a file in `tests/data/code`.
fn data(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/data/code/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Text of a file in `tests/data/code`.
fn text(name: &str) -> String {
    String::from_utf8(data(name)).unwrap()
}

/// Every linked object with a golden listing.
const LINKED: &[&str] = &[
    "globals-gfx1151-v5.co",
    "globals-stripped.co",
    "hidden-gfx90a-v4.co",
    "lds-gfx1151-v4.co",
    "store-gfx906-v3.co",
    "store-gfx906-xnack--v3.co",
    "vadd-gfx11-generic-v6.co",
    "vadd-gfx1100-v5.co",
    "vadd-gfx1151-v4.co",
    "vadd-gfx1151-v5.co",
    "vadd-gfx1151-v6.co",
    "vadd-gfx906-v5.co",
    "vadd-gfx906-xnack+-v5.co",
    "vadd-gfx90a-sramecc+xnack--v4.co",
];

/// A xorshift generator (Marsaglia, "Xorshift RNGs"): the same numbers in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}
