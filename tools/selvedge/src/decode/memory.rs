//! What is in memory: images, and the input where its address is known.

use super::report::Call;
use super::{Error, Request};
use std::fmt;

/// What is in memory at an address.
#[derive(Clone, Debug)]
pub struct Image {
    /// Its name, for messages.
    pub name: String,
    /// Address of the first dword.
    pub address: u64,
    /// What is there.
    pub words: Vec<u32>,
}

/// A named range of memory, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The file.
    pub name: String,
    /// Its first byte.
    pub first: u64,
    /// Its last byte.
    pub last: u64,
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:#x} to {:#x})", self.name, self.first, self.last)
    }
}

/// Name, address and dwords of all that is in memory.
fn images(request: &Request) -> impl Iterator<Item = (&str, u64, &[u32])> {
    let input = request.base.map(|base| (request.name.as_str(), base, request.words.as_slice()));
    let given = request.memory.iter();
    input
        .into_iter()
        .chain(given.map(|image| (image.name.as_str(), image.address, &image.words[..])))
}

/// Whether what is said to be in memory can be.
pub(super) fn check(request: &Request) -> Result<(), Error> {
    let mut extents = Vec::new();
    for (name, address, words) in images(request).filter(|(_, _, words)| !words.is_empty()) {
        let name = name.to_owned();
        let bytes = 4 * words.len() as u64;
        match address.checked_add(bytes - 1) {
            Some(last) => extents.push(Extent { name, first: address, last }),
            None => return Err(Error::Wrap { name, address, bytes }),
        }
    }
    extents.sort_by_key(|extent| extent.first);
    match extents.windows(2).find(|pair| pair[1].first <= pair[0].last) {
        Some(pair) => Err(Error::Overlap { first: pair[0].clone(), second: pair[1].clone() }),
        None => Ok(()),
    }
}

/// The words of a called buffer, or how many of them are known.
pub(super) fn buffer<'a>(request: &'a Request, call: &Call) -> Result<&'a [u32], usize> {
    let found = images(request).find_map(|(_, address, words)| {
        let distance = call.address.0.checked_sub(address)?;
        let words = words.get(usize::try_from(distance / 4).ok()?..)?;
        (distance % 4 == 0 && !words.is_empty()).then_some(words)
    });
    let words = found.unwrap_or_default();
    words.get(..call.dwords).ok_or(words.len())
}
