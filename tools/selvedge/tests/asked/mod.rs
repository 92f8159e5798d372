//! What the tests of `selvedge decode` ask.

use pm4::Generation;
use sdma::Version;
use selvedge_cli::decode::report::{Packet, Report};
use selvedge_cli::decode::{Engine, Limits, Request};

pub(crate) fn request(engine: Engine, gfx: &str, words: Vec<u32>) -> Request {
    let generation = Generation::from_name(gfx).unwrap();
    Request {
        engine,
        gfx: gfx.to_owned(),
        generation,
        sdma: Version::for_generation(generation),
        name: "input".to_owned(),
        words,
        base: None,
        ring: None,
        memory: Vec::new(),
        limits: Limits::DEFAULT,
    }
}

pub(crate) fn packets(report: &Report<'_>, stream: usize) -> Vec<Packet> {
    report.streams[stream].packets.iter().collect()
}
