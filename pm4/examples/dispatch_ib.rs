//! Builds an indirect buffer that runs a kernel, and prints what is in it.
//!
//! `cargo run -p pm4 --example dispatch_ib -- gfx942` says it for another processor.

use pm4::layout::{Writer, show};
use pm4::packet::{layout, opcode_name};
use pm4::sequence::{self, Dispatch, Grid, Scope};
use pm4::{Generation, Header};
use std::error::Error;
use std::fmt;

/// A packet on one line.
struct Line<'a>(&'a [u32], Generation);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Line(words, generation) = *self;
        match layout(generation, words) {
            Some(layout) => {
                show(f, layout, words, generation.set())?;
                for value in words.iter().skip(layout.dwords) {
                    write!(f, " {value:#x}")?;
                }
                Ok(())
            }
            None => {
                let opcode = words.first().map_or(0, |word| Header(*word).opcode());
                f.write_str(opcode_name(opcode, generation).unwrap_or("?"))
            }
        }
    }
}

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

    let mut rest = buffer.get(..written).unwrap_or_default();
    while let Some(dwords) = rest.first().and_then(|word| Header(*word).dwords()) {
        let (packet, behind) = rest.split_at_checked(dwords).ok_or("the last packet is cut off")?;
        println!("{}", Line(packet, generation));
        rest = behind;
    }
    Ok(())
}
