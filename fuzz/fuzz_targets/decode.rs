//! `selvedge decode` of any file, with any memory images and ring pointers: a report that prints as text and is JSON, or
//! an error that says why; never a panic, never without end.
//!
//! Input: 8 bytes of choices, two pointers, an address, a length; then the memory image of that length in bytes; the
//! rest is the file, text or binary.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pm4::Generation;
use sdma::Version;
use selvedge_cli::decode::{
    Engine, Image, Limits, Pointers, Request, RingRequest, decode, file_at, number, words,
};
use selvedge_fuzz::{dwords, pick, take};

/// Where the file is.
#[derive(Clone, Copy)]
enum Place {
    Unknown,
    BehindImage,
    AtImage,
}

fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    let engine = pick(&[Engine::Pm4, Engine::Aql, Engine::Sdma], &mut rest);
    let generation = pick(&Generation::ALL, &mut rest);
    let sdma = pick(&Version::ALL, &mut rest);
    let is_ring = pick(&[false, true], &mut rest);
    let all = pick(&[false, true], &mut rest);
    let [depth, buffers] = [(); 2].map(|()| usize::from(take::<1>(&mut rest)[0] % 8));
    let place = pick(&[Place::Unknown, Place::BehindImage, Place::AtImage], &mut rest);
    let mut number64 = || u64::from_le_bytes(take(&mut rest));
    let pointers = Pointers { read: number64(), write: number64() };
    let address = number64() & !3;
    let length = usize::from(u16::from_le_bytes(take(&mut rest)));
    let (image, file) = rest.split_at(length.min(rest.len()));

    if let Ok(text) = str::from_utf8(file) {
        for error in [number(text).err(), file_at(text).err()].into_iter().flatten() {
            assert!(!error.is_empty());
        }
    }
    let words = match words("input", file) {
        Ok(words) => words,
        Err(error) => return assert!(error.to_string().starts_with("input")),
    };
    let image = Image { name: "image".to_owned(), address, words: dwords(image) };
    let base = match place {
        Place::Unknown => None,
        Place::BehindImage => Some(address.wrapping_add(4 * image.words.len() as u64)),
        Place::AtImage => Some(address),
    };
    let request = Request {
        engine,
        gfx: "any".to_owned(),
        generation,
        sdma,
        name: "input".to_owned(),
        words,
        base,
        ring: is_ring.then_some(RingRequest { pointers, all }),
        memory: vec![image],
        limits: Limits { depth, buffers, dwords: 1 << 12 },
    };
    match decode(&request) {
        Ok(report) => {
            assert!(report.streams.len() <= buffers + 3);
            let found = report.streams.iter().filter(|stream| stream.kind != "indirect buffer");
            let dwords: usize = found.map(|stream| stream.skipped + stream.dwords).sum();
            assert!(dwords <= request.words.len());
            for stream in &report.streams {
                let covered: usize = stream.packets.iter().map(|packet| packet.words.len()).sum();
                let left = stream.fault.as_ref().map_or(0, |fault| fault.got);
                assert!(stream.fault.iter().all(|fault| fault.words.len() == fault.got.min(64)));
                assert!(stream.kind == "unwritten" || covered + left == stream.dwords);
            }
            assert!(report.to_string().starts_with("input: "));
            let json = serde_json::to_string(&report).expect("a report is JSON");
            let value: serde_json::Value = serde_json::from_str(&json).expect("JSON is read");
            assert_eq!(value["schema"], 1);
            assert_eq!(
                report.faults().is_empty(),
                report.streams.iter().all(|s| s.fault.is_none())
            );
        }
        Err(error) => {
            let text = error.to_string();
            assert!(text.starts_with("input") || text.starts_with("image"), "{text}");
        }
    }
});
