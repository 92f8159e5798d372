//! Compiles the C that is measured against.

fn main() {
    println!("cargo::rerun-if-changed=src/plain.c");
    cc::Build::new().file("src/plain.c").opt_level(2).compile("plain");
}
