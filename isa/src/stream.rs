//! Walking a code section.

use core::iter::FusedIterator;

use crate::{DecodeError, Instruction, Target, decode};

/// Instructions of a byte range, each with its offset in bytes. What does not decode is reported and
/// skipped one dword at a time, so that data between functions does not end the walk.
#[derive(Clone, Debug)]
pub struct Instructions<'a> {
    target: Target,
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Instructions<'a> {
    /// Instructions for `target` in `bytes`, little-endian, from offset 0.
    pub fn new(target: Target, bytes: &'a [u8]) -> Self {
        Instructions { target, bytes, offset: 0 }
    }
}

impl Iterator for Instructions<'_> {
    type Item = (usize, Result<Instruction, DecodeError>);

    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.offset;
        let rest = self.bytes.get(offset..).filter(|rest| !rest.is_empty())?;
        let mut words = [0; 4];
        let mut count = 0;
        for (word, bytes) in words.iter_mut().zip(rest.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
            count += 1;
        }
        let result = match decode(self.target, &words[..count]) {
            Err(DecodeError::Truncated { format, needed, .. }) => {
                Err(DecodeError::Truncated { format, needed, got: rest.len() })
            }
            other => other,
        };
        self.offset += match result {
            Ok(instruction) => instruction.size.into(),
            Err(_) => rest.len().min(4),
        };
        Some((offset, result))
    }
}

impl FusedIterator for Instructions<'_> {}
