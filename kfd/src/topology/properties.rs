//! `key value` files.

use super::TopologyError;
use std::path::{Path, PathBuf};

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The key.
    pub key: String,
    /// The rest of the line.
    pub value: String,
    /// The line's number, from 1.
    pub line: usize,
}

/// A file of `key value` lines, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    file: PathBuf,
    lines: Vec<Property>,
}

/// Reads a file of `key value` lines. Empty lines are ignored; of a key that is there twice, the
/// last one counts.
///
/// # Errors
/// [`TopologyError::Malformed`] names the file and the first line that is not UTF-8 or has no value.
pub fn parse_properties(text: &[u8], file: &Path) -> Result<Properties, TopologyError> {
    let mut lines = Vec::new();
    for (number, bytes) in text.split(|&byte| byte == b'\n').enumerate() {
        let malformed = |needed| TopologyError::Malformed {
            file: file.to_owned(),
            line: number + 1,
            text: String::from_utf8_lossy(bytes).into_owned(),
            needed,
        };
        let line = str::from_utf8(bytes).map_err(|_| malformed("UTF-8 text"))?.trim();
        if line.is_empty() {
            continue;
        }
        let (key, value) =
            line.split_once(' ').ok_or_else(|| malformed("a key, a space and a value"))?;
        lines.push(Property {
            key: key.to_owned(),
            value: value.trim().to_owned(),
            line: number + 1,
        });
    }
    Ok(Properties { file: file.to_owned(), lines })
}

/// Reads a file that holds one decimal number.
pub(super) fn parse_number(text: &[u8], file: &Path) -> Result<u64, TopologyError> {
    let text = String::from_utf8_lossy(text);
    let text = text.trim();
    text.parse().map_err(|_| TopologyError::Malformed {
        file: file.to_owned(),
        line: 1,
        text: text.to_owned(),
        needed: "a decimal number",
    })
}

impl Properties {
    /// The lines, in order.
    pub fn lines(&self) -> &[Property] {
        &self.lines
    }

    /// Removes a key and parses its value.
    pub(super) fn take<T: Value>(&mut self, key: &str) -> Result<T, TopologyError> {
        let mut found = None;
        self.lines.retain(|property| {
            let matches = property.key == key;
            if matches {
                found = Some(property.clone());
            }
            !matches
        });
        let Some(property) = found else { return Ok(T::ABSENT) };
        T::parse(&property.value).ok_or_else(|| TopologyError::Malformed {
            file: self.file.clone(),
            line: property.line,
            text: format!("{} {}", property.key, property.value),
            needed: T::NEEDED,
        })
    }

    /// What is left.
    pub(super) fn into_unknown(self) -> Vec<(String, String)> {
        self.lines.into_iter().map(|property| (property.key, property.value)).collect()
    }
}

/// What a key's value can be.
pub(super) trait Value: Sized {
    /// What it is when the kernel does not print the key.
    const ABSENT: Self;
    /// What it should look like.
    const NEEDED: &'static str;
    /// Reads it.
    fn parse(text: &str) -> Option<Self>;
}

impl Value for u32 {
    const ABSENT: u32 = 0;
    const NEEDED: &'static str = "a decimal number of 32 bits";

    fn parse(text: &str) -> Option<u32> {
        text.parse().ok()
    }
}

impl Value for u64 {
    const ABSENT: u64 = 0;
    const NEEDED: &'static str = "a decimal number of 64 bits";

    fn parse(text: &str) -> Option<u64> {
        text.parse().ok()
    }
}

impl<T: Value> Value for Option<T> {
    const ABSENT: Option<T> = None;
    const NEEDED: &'static str = T::NEEDED;

    fn parse(text: &str) -> Option<Option<T>> {
        T::parse(text).map(Some)
    }
}

/// A list of bits, `1,0,1`.
impl Value for Vec<bool> {
    const ABSENT: Vec<bool> = Vec::new();
    const NEEDED: &'static str = "a list of 0 and 1, separated by commas";

    fn parse(text: &str) -> Option<Vec<bool>> {
        text.split(',')
            .map(|bit| match bit {
                "0" => Some(false),
                "1" => Some(true),
                _ => None,
            })
            .collect()
    }
}
