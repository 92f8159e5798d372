//! The parts of a ring as streams: what was read, what is in flight, what was never written.

use super::report::{self, Hex, IN_FLIGHT, Inside, Stream, UNWRITTEN};
use super::stream::{self, Place, Source};
use super::{Engine, Request, Ring, RingError, RingRequest};
use std::borrow::Cow;

/// Decodes the input as a ring.
pub(super) fn ring(
    request: &Request,
    asked: RingRequest,
) -> Result<(report::Ring, Vec<Stream<'_>>), RingError> {
    let engine = request.engine;
    let ring = Ring::new(engine, request.words.len(), asked.pointers)?;
    let part = |kind, start, words| {
        let place = Place { base: request.base.unwrap_or(0), start, ring: Some(ring.dwords) };
        Source { kind, engine, words, place, depth: 0, skipped: 0 }
    };
    // What was never written: from the write pointer to the end of a ring that was not written around.
    let rest = ring.rest();
    let to_end = if ring.wrapped { 0 } else { ring.dwords - rest.start };
    let is_fresh =
        !ring.wrapped && request.words[ring.dwords - to_end..].iter().all(|word| *word == 0);
    let unwritten = if is_fresh { to_end } else { 0 };

    let mut sources = Vec::new();
    if asked.all && rest.len() > unwritten {
        let start = rest.start + unwritten;
        let words = ring.words(&request.words, start..rest.end);
        let leads = leads(request, &words);
        // Without a way to the read pointer, say where the first packet is wrong.
        let skipped = leads.iter().position(|leads| *leads).filter(|first| *first < words.len());
        let skipped = skipped.unwrap_or(0);
        let words = tail(words, skipped);
        sources.push(Source { skipped, ..part("read", start + skipped, words) });
    }
    let range = ring.in_flight();
    let words = ring.words(&request.words, range.clone());
    sources.push(part(IN_FLIGHT, range.start, words));
    if asked.all && unwritten > 0 {
        sources.push(part(UNWRITTEN, rest.start, Cow::default()));
    }

    let inside = inside(request, &ring, is_fresh.then_some(unwritten));
    let mut streams = stream::streams(request, sources);
    for stream in &mut streams {
        match (stream.kind, &mut stream.fault) {
            (UNWRITTEN, _) => stream.dwords = unwritten,
            (IN_FLIGHT, Some(fault)) if engine != Engine::Aql => {
                fault.problem += &match &inside {
                    None => "; or the read pointer is inside a packet".to_owned(),
                    Some(inside) => format!("; the read pointer seems to be {inside}"),
                };
            }
            _ => {}
        }
    }
    let unit = engine.unit_bytes();
    let described = report::Ring {
        unit: engine.unit(),
        size: 4 * ring.dwords as u64 / unit,
        read_pointer: Hex(asked.pointers.read),
        write_pointer: Hex(asked.pointers.write),
        read_offset: ring.read,
        write_offset: ring.write,
        in_flight: 4 * ring.in_flight as u64 / unit,
        inside,
    };
    Ok((described, streams))
}

/// Words without the first of them.
fn tail(words: Cow<'_, [u32]>, skipped: usize) -> Cow<'_, [u32]> {
    match words {
        Cow::Borrowed(words) => Cow::Borrowed(&words[skipped..]),
        Cow::Owned(mut words) => Cow::Owned(words.split_off(skipped)),
    }
}

/// From which dwords packet after packet leads to the end of the words; the end itself is the last.
fn leads(request: &Request, words: &[u32]) -> Vec<bool> {
    let mut leads = vec![false; words.len() + 1];
    leads[words.len()] = true;
    for start in (0..words.len()).rev() {
        let first = request.engine.first(request, &words[start..]);
        leads[start] = first.is_some_and(|first| leads[start + first.words().len()]);
    }
    leads
}

/// The packet that the read pointer is inside of, as far as the ring tells. `unwritten` is how much behind the write
/// pointer was never written, if the ring was not written around: then packets start at its first dword.
///
/// Else any dword may be a header, and the oldest ones may be the end of an overwritten packet. What counts there is
/// that packets lead over the read pointer to the write pointer, and none do from the read pointer itself.
fn inside(request: &Request, ring: &Ring, unwritten: Option<usize>) -> Option<Inside> {
    // Pointers of AQL count packets.
    if request.engine == Engine::Aql || ring.in_flight == 0 {
        return None;
    }
    let start = ring.rest().start + unwritten.unwrap_or(0);
    let read = ring.read + ring.dwords - start;
    let words = ring.words(&request.words, start..ring.rest().start + ring.dwords);
    let leads = leads(request, &words);
    let mut at = match unwritten {
        Some(_) => leads[0].then_some(0)?,
        None if leads[read] => return None,
        None => leads.iter().position(|leads| *leads)?,
    };
    while at < read {
        let packet = request.engine.first(request, &words[at..])?;
        let dwords = packet.words().len();
        if at + dwords > read {
            return Some(Inside {
                offset: (start + at) % ring.dwords,
                dwords,
                name: packet.packet().name,
                read: read - at,
            });
        }
        at += dwords;
    }
    None
}
