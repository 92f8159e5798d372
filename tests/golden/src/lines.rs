//! Golden lines.

use std::collections::BTreeMap;

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The bits of dword 0 that make it this packet: mask and value.
    Head {
        /// The bits.
        mask: u32,
        /// What they are.
        value: u32,
    },
    /// The words when the bits of this name are all set and nothing else is.
    Piece {
        /// The name.
        name: String,
        /// The words.
        words: Vec<u32>,
    },
    /// Pieces that make up one value, each with the value's bit that its lowest one is.
    Join(Vec<(String, u8)>),
    /// A piece that stores its value less a number, and that number.
    Bias {
        /// The piece.
        name: String,
        /// What is subtracted before storing.
        bias: u64,
    },
    /// Names of a piece's values.
    Names {
        /// The piece.
        name: String,
        /// The names, in capitals, and their values.
        values: Vec<(String, u32)>,
    },
    /// A whole packet: pieces as stored, and all its words.
    Whole {
        /// The pieces.
        values: Vec<(String, u32)>,
        /// The words.
        words: Vec<u32>,
    },
}

/// A line, for some variants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Names of the variants.
    pub variants: Vec<String>,
    /// What it says.
    pub what: What,
}

/// The lines of a file, by packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Golden {
    /// The lines of each packet.
    pub packets: BTreeMap<String, Vec<Line>>,
}

fn hex(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text, 16).map_err(|error| format!("{text:?}: {error}"))
}

impl Golden {
    /// Reads lines.
    ///
    /// # Errors
    /// The first line that is not of the form described at the top.
    pub fn parse(text: &str) -> Result<Golden, String> {
        let mut golden = Golden::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (packet, line) =
                parse_line(line).map_err(|error| format!("line {}: {error}", index + 1))?;
            golden.packets.entry(packet).or_default().push(line);
        }
        Ok(golden)
    }

    /// Adds the lines of another file.
    pub fn extend(&mut self, other: Golden) {
        for (packet, lines) in other.packets {
            self.packets.entry(packet).or_default().extend(lines);
        }
    }

    /// What is said of a packet for a variant.
    pub fn of<'a>(&'a self, packet: &str, variant: &'a str) -> impl Iterator<Item = &'a What> {
        let lines = self.packets.get(packet).map_or(&[][..], |lines| lines);
        lines
            .iter()
            .filter(move |line| line.variants.iter().any(|name| name == variant))
            .map(|line| &line.what)
    }
}

fn parse_line(line: &str) -> Result<(String, Line), String> {
    let (said, words) = match line.split_once(" : ") {
        Some((said, words)) => {
            (said, words.split_whitespace().map(hex).collect::<Result<Vec<_>, _>>()?)
        }
        None => (line, Vec::new()),
    };
    let mut said = said.split_whitespace();
    let mut next = || said.next().ok_or("too short");
    let (kind, packet, variants) = (next()?, next()?.to_owned(), next()?);
    let variants = variants.split(',').map(str::to_owned).collect();
    fn equations<'a>(said: impl Iterator<Item = &'a str>) -> Result<Vec<(String, u32)>, String> {
        said.map(|value| {
            let (name, value) = value.split_once('=').ok_or("needed NAME=VALUE")?;
            Ok((name.to_owned(), hex(value)?))
        })
        .collect()
    }
    let what = match kind {
        "head" => match words[..] {
            [mask, value] => What::Head { mask, value },
            _ => return Err("head needs mask and value".to_owned()),
        },
        "piece" => What::Piece { name: next()?.to_owned(), words },
        "join" => What::Join(
            said.by_ref()
                .map(|piece| {
                    let (name, shift) = piece.split_once('@').ok_or("needed NAME@SHIFT")?;
                    Ok((
                        name.to_owned(),
                        shift.parse().map_err(|error| format!("{piece}: {error}"))?,
                    ))
                })
                .collect::<Result<_, String>>()?,
        ),
        "bias" => {
            let name = next()?.to_owned();
            What::Bias { name, bias: hex(next()?)?.into() }
        }
        "names" => {
            let name = next()?.to_owned();
            What::Names { name, values: equations(said.by_ref())? }
        }
        "whole" => What::Whole { values: equations(said.by_ref())?, words },
        _ => return Err(format!("unknown kind {kind:?}")),
    };
    match said.next() {
        Some(extra) => Err(format!("{extra:?} at the end")),
        None => Ok((packet, Line { variants, what })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let golden = Golden::parse(
            "# of nothing\nhead A x,y : ff 1\npiece A x lo : 0 ff\njoin A x lo@0 hi@32\nbias A z lo 1\nnames A z lo ON=1 OFF=0\nwhole A y lo=1 : 1 1\n",
        )
        .unwrap();
        let x: Vec<_> = golden.of("A", "x").collect();
        assert_eq!(x.len(), 3);
        assert_eq!(x[2], &What::Join(vec![("lo".to_owned(), 0), ("hi".to_owned(), 32)]));
        let y: Vec<_> = golden.of("A", "y").collect();
        assert_eq!(y[1], &What::Whole { values: vec![("lo".to_owned(), 1)], words: vec![1, 1] });
        let z: Vec<_> = golden.of("A", "z").collect();
        assert_eq!(z[0], &What::Bias { name: "lo".to_owned(), bias: 1 });
        let values = vec![("ON".to_owned(), 1), ("OFF".to_owned(), 0)];
        assert_eq!(z[1], &What::Names { name: "lo".to_owned(), values });
        for wrong in [
            "piece A",
            "head A x : 1",
            "piece A x n m : 0",
            "join A x lo",
            "what A x",
            "piece A x n : g",
        ] {
            assert!(Golden::parse(wrong).is_err(), "{wrong}");
        }
    }
}
