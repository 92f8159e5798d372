//! Files as dwords.

use super::Error;
use std::io::{self, Read};

/// Bytes that are read at once.
const PIECE: u64 = 1 << 16;

/// Reads a file as [`words`] does. One whose first piece has a zero byte, which no text has, is made dwords piece by
/// piece, so that it is in memory once only.
///
/// # Errors
/// Of the reader; and as [`words`].
pub(super) fn read_words(name: &str, mut file: impl Read) -> io::Result<Result<Vec<u32>, Error>> {
    let mut piece = Vec::new();
    file.by_ref().take(PIECE).read_to_end(&mut piece)?;
    if !piece.contains(&0) {
        file.read_to_end(&mut piece)?;
        return Ok(words(name, &piece));
    }
    let mut words = Vec::new();
    while !piece.is_empty() {
        let (dwords, rest) = piece.as_chunks();
        words.extend(dwords.iter().map(|word| u32::from_le_bytes(*word)));
        if !rest.is_empty() {
            // All pieces but the last are whole.
            let bytes = 4 * words.len() + rest.len();
            return Ok(Err(Error::Length { name: name.to_owned(), bytes }));
        }
        piece.clear();
        file.by_ref().take(PIECE).read_to_end(&mut piece)?;
    }
    Ok(Ok(words))
}

/// Reads a file of little-endian dwords, or of text: hexadecimal words separated by white space or commas, with or
/// without 0x, and comments from `#` to the end of the line. It is text when it is nothing else.
///
/// # Errors
/// A word of text that is none, with line and column; bytes that are no whole dwords. Lines of printable characters
/// are text too, and their first word that is none is the error: no stream has only such bytes, since headers of
/// PM4 have bytes of 0xc0 and more and those of SDMA and AQL have zeros.
pub fn words(name: &str, bytes: &[u8]) -> Result<Vec<u32>, Error> {
    if is_text(bytes) || is_printable(bytes) {
        return text(name, bytes);
    }
    let (words, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err(Error::Length { name: name.to_owned(), bytes: bytes.len() });
    }
    Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

fn is_text(bytes: &[u8]) -> bool {
    bytes.split(|byte| *byte == b'\n').all(|line| {
        let mut parts = line.splitn(2, |byte| *byte == b'#');
        let words = parts.next().unwrap_or_default();
        let comment = parts.next().unwrap_or_default();
        words.iter().all(|byte| {
            byte.is_ascii_hexdigit() || byte.is_ascii_whitespace() || b",xX".contains(byte)
        }) && std::str::from_utf8(comment)
            .is_ok_and(|text| !text.contains(|c: char| c.is_control() && !"\t\r".contains(c)))
    })
}

/// Lines of printable characters, more than one word of them.
fn is_printable(bytes: &[u8]) -> bool {
    bytes.iter().any(u8::is_ascii_whitespace)
        && bytes.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
}

fn text(name: &str, bytes: &[u8]) -> Result<Vec<u32>, Error> {
    let mut words = Vec::new();
    for (line_index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let line = line.split(|byte| *byte == b'#').next().unwrap_or_default();
        let mut column = 1;
        for token in line.split(|byte| byte.is_ascii_whitespace() || *byte == b',') {
            if !token.is_empty() {
                words.push(word(token).map_err(|problem| Error::Text {
                    name: name.to_owned(),
                    line: line_index + 1,
                    column,
                    word: String::from_utf8_lossy(token).chars().take(40).collect(),
                    problem,
                })?);
            }
            column += token.len() + 1;
        }
    }
    Ok(words)
}

fn word(token: &[u8]) -> Result<u32, &'static str> {
    let digits = token.strip_prefix(b"0x").or(token.strip_prefix(b"0X")).unwrap_or(token);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
        return Err("needed hexadecimal digits, with or without 0x before them");
    }
    if digits.len() > 8 {
        return Err("needed at most 8 digits: one dword; split longer values, the low dword first");
    }
    // Eight ASCII digits at most: no error is possible.
    Ok(digits
        .iter()
        .fold(0, |value, &digit| value << 4 | char::from(digit).to_digit(16).unwrap_or_default()))
}

/// A number of the command line: decimal, or hexadecimal with 0x.
///
/// # Errors
/// What is wrong with it.
pub fn number(text: &str) -> Result<u64, String> {
    let hexadecimal = text.strip_prefix("0x").or(text.strip_prefix("0X"));
    let (digits, radix) = hexadecimal.map_or((text, 10), |digits| (digits, 16));
    match u64::from_str_radix(digits, radix) {
        // A sign is no digit, though Rust takes it.
        Ok(number) if !digits.starts_with('+') => Ok(number),
        Ok(_) => Err(format!("{text:?}: needed a number without a sign")),
        Err(error) => Err(format!("{text:?}: {error}; needed a number, hexadecimal with 0x")),
    }
}

/// FILE@ADDRESS of the command line.
///
/// # Errors
/// What is wrong with it.
pub fn file_at(text: &str) -> Result<(String, u64), String> {
    let (file, address) = text
        .rsplit_once('@')
        .filter(|(file, _)| !file.is_empty())
        .ok_or_else(|| format!("{text:?}: needed FILE@ADDRESS, such as ib.bin@0x800004000"))?;
    let address = number(address)?;
    if address % 4 != 0 {
        return Err(format!("{text:?}: needed an address that is a multiple of 4"));
    }
    Ok((file.to_owned(), address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_and_binary() {
        let read = |bytes: &[u8]| words("f", bytes).map_err(|error| error.to_string());
        assert_eq!(read(b""), Ok(vec![]));
        assert_eq!(read(b"# nothing\n"), Ok(vec![]));
        assert_eq!(
            read(b"C0032200,0xc0053C00\n# a header:\r\n\t7 # seven\n0X8"),
            Ok(vec![0xc003_2200, 0xc005_3c00, 7, 8])
        );
        assert_eq!(read(&[0x00, 0x10, 0xff, 0xff]), Ok(vec![0xffff_1000]));
        assert_eq!(read(b"0123"), Ok(vec![0x123]), "four digits are text");
        assert_eq!(read(b"012g"), Ok(vec![0x6732_3130]), "g is no digit: binary");
        assert_eq!(
            read(b"0\n  1,c00522001\n").unwrap_err(),
            "f, line 2, column 5: word \"c00522001\": needed at most 8 digits: one dword; split longer values, \
             the low dword first"
        );
        assert_eq!(
            read(b"0x").unwrap_err(),
            "f, line 1, column 1: word \"0x\": needed hexadecimal digits, with or without 0x before them"
        );
        assert!(read(b"1x2").unwrap_err().contains("column 1"));
        assert_eq!(
            read(b"c0027600 20c\n<pgm lo> |\n").unwrap_err(),
            "f, line 2, column 1: word \"<pgm\": needed hexadecimal digits, with or without 0x before them"
        );
        assert_eq!(
            read(b"\x01\x02\x03\x04\x05").unwrap_err(),
            "f: 5 bytes are no whole dwords (5 mod 4 = 1): needed little-endian dwords, or text of hexadecimal \
             words; was the file cut off, or is it another dump?"
        );
    }

    #[test]
    fn numbers() {
        assert_eq!(number("12"), Ok(12));
        assert_eq!(number("0xFfffffffffffffff"), Ok(u64::MAX));
        for wrong in ["", "0x", "-1", "0x+1", "1g", "0x10000000000000000"] {
            assert!(number(wrong).is_err(), "{wrong}");
        }
        assert_eq!(file_at("a@b@0x10"), Ok(("a@b".to_owned(), 16)));
        for wrong in ["", "a", "a@", "@4", "a@2", "a@x"] {
            assert!(file_at(wrong).unwrap_err().contains("needed"), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(words: Vec<u32>, prefix: bool) {
            let text: String = words
                .iter()
                .map(|word| if prefix { format!("{word:#x}, ") } else { format!("{word:08X}\n") })
                .collect();
            prop_assert_eq!(&super::words("f", text.as_bytes()).unwrap(), &words);
            prop_assert_eq!(&read_words("f", text.as_bytes()).unwrap().unwrap(), &words);
        }

        #[test]
        fn a_file_in_pieces_is_the_same(bytes: Vec<u8>, length in 0usize..200_000) {
            let file: Vec<u8> = bytes.iter().copied().cycle().take(length).collect();
            prop_assert_eq!(read_words("f", &file[..]).unwrap(), words("f", &file));
        }
    }
}
