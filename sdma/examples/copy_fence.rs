//! Writes a copy and its fence for each version, and prints what was written.

use pm4::layout::Writer;
use sdma::{Packets, Version, sequence};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (src, dst, bytes) = (0x7f00_0000_0100, 0x7f00_4000_0100, (5 << 20) + 3);
    let (fence, value) = (0x7f00_8000_0000, 1);
    for version in Version::ALL {
        let mut words = [0; 64];
        let mut writer = Writer::new(&mut words[..], version);
        sequence::copy_fence(&mut writer, src, dst, bytes, fence, value)?;
        sequence::pad_submission(&mut writer)?;
        let written = writer.written();

        println!("{version}: {written} dwords");
        for packet in Packets::new(version, &words[..written]) {
            let packet = packet?;
            println!("  {:3}  {packet}", packet.offset);
        }
    }
    Ok(())
}
