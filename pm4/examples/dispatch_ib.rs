//! Builds an indirect buffer that runs a kernel, and prints what is in it.
//!
//! `cargo run -p pm4 --example dispatch_ib -- gfx942` says it for another processor.

use pm4::layout::Writer;
use pm4::sequence::{self, Dispatch, Grid, Scope};
use pm4::{Generation, Packets};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap_or("gfx1151".to_owned());
    let generation =
        Generation::from_name(&name).ok_or(format!("{name} is no processor of ours"))?;

    let mut buffer = [0; 128];
    let mut packets = Writer::new(&mut buffer[..], generation);
    sequence::acquire(&mut packets, Scope::System)?;
    let grid = Grid::new([1000, 1, 1], [256, 1, 1]).ok_or("a workgroup is empty")?;
    let kernel = Dispatch {
        code: 0x7f00_0001_0000,
        rsrc1: 0x60af_0000,
        rsrc2: 0x0000_0084,
        user_data: &[0x2000, 0x7f00],
        grid,
        wave32: generation.has_wave32(),
        ..Dispatch::ZERO
    };
    sequence::dispatch(&mut packets, &kernel)?;
    sequence::fence(&mut packets, Scope::System, 0x7f00_0003_0000, 1)?;
    let written = packets.written();

    for packet in Packets::new(generation, buffer.get(..written).unwrap_or_default()) {
        println!("{}", packet?);
    }
    Ok(())
}
