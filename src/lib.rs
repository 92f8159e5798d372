//! AMD GPUs and NPUs from Rust.
