//! The lines of a record.

use super::arguments::length;
use crate::cp::QueueAt;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use thiserror::Error;

/// What every line of a record begins with; other lines of the file are for people.
const MARK: &str = "@ ";
/// The version of the format.
pub const VERSION: u32 = 1;
/// The most bytes that a line may hold.
const MOST: usize = 1 << 28;

/// Bytes behind a pointer of an ioctl's argument: the pointer's offset in the argument, before, afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointed {
    /// Offset of the pointer in the argument.
    pub offset: usize,
    /// Before the call.
    pub before: Vec<u8>,
    /// After it.
    pub after: Vec<u8>,
}

/// Dwords from an address on, `count` times the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Address of the first.
    pub address: u64,
    /// The value.
    pub value: u32,
    /// How often.
    pub count: u32,
}

/// A line. Results are a number, or minus an errno.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Line {
    /// The first: the machine.
    Machine {
        /// Boards with commas, or `none`.
        boards: String,
        /// Minor version of the KFD.
        kfd_minor: u32,
        /// Whether the process had root's capabilities.
        privileged: bool,
    },
    /// A device was opened.
    Open {
        /// Its path.
        path: String,
        /// Whether for writing.
        write: bool,
        /// The descriptor.
        result: i64,
    },
    /// A descriptor was closed.
    Close {
        /// The descriptor.
        fd: i32,
    },
    /// A descriptor was duplicated.
    Duplicate {
        /// The descriptor.
        fd: i32,
        /// The new one.
        copy: i32,
    },
    /// An ioctl has returned.
    Ioctl {
        /// The descriptor.
        fd: i32,
        /// The request.
        request: u32,
        /// The result.
        result: i64,
        /// The argument before.
        before: Vec<u8>,
        /// The argument afterwards.
        after: Vec<u8>,
        /// What it points to.
        pointed: Vec<Pointed>,
    },
    /// A mapping of a device.
    Map {
        /// The descriptor.
        fd: i32,
        /// Length in bytes.
        length: u64,
        /// PROT_*.
        protection: i32,
        /// MAP_*.
        flags: i32,
        /// The offset.
        offset: u64,
        /// The address.
        result: i64,
    },
    /// Memory that a device may know was unmapped.
    Unmap {
        /// The address.
        address: u64,
        /// Length in bytes.
        length: u64,
    },
    /// What has changed in memory since the queue's last turn, before a turn of it begins or goes on.
    Memory {
        /// The queue whose address space it is.
        queue: QueueAt,
        /// What is there now.
        runs: Vec<Run>,
    },
    /// A queue begins to process a packet.
    Begin {
        /// The queue.
        queue: QueueAt,
        /// The packet's place.
        place: u64,
        /// The doorbell.
        rung: u64,
        /// The machine's counter, ticks.
        clock: u64,
        /// The packet.
        words: Vec<u32>,
    },
    /// What has changed in memory during a turn, before it pauses or ends.
    Result {
        /// The queue whose address space it is.
        queue: QueueAt,
        /// What is there now.
        runs: Vec<Run>,
    },
    /// The queue waits.
    Pause {
        /// The queue.
        queue: QueueAt,
        /// The machine's counter, ticks.
        clock: u64,
    },
    /// The queue looks again.
    Resume {
        /// The queue.
        queue: QueueAt,
        /// The machine's counter, ticks.
        clock: u64,
    },
    /// The packet is processed.
    End {
        /// The queue.
        queue: QueueAt,
        /// The machine's counter, ticks.
        clock: u64,
    },
}

/// Why a file is no record.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// A line that is not one of a record.
    #[error("line {line}: {what} is wrong or missing")]
    Line {
        /// Its number, from 1 on.
        line: usize,
        /// What is not there.
        what: &'static str,
    },
    /// A record of another version of the format.
    #[error("line {line}: a record of version {version}; {VERSION} can be read")]
    Version {
        /// Its number.
        line: usize,
        /// The version.
        version: u32,
    },
    /// There is no line of a machine.
    #[error("no record of a machine: no line begins with \"@ record\"")]
    NoRecord,
    /// A second machine: the record of another process, or of a second run that was appended.
    #[error("line {line}: a second machine; a record is of one process")]
    SecondMachine {
        /// Its number.
        line: usize,
    },
    /// The last line has no end: the record was cut off.
    #[error("line {line}: the record is cut off")]
    CutOff {
        /// Its number.
        line: usize,
    },
}

/// Reads a record: each line with its number.
///
/// # Errors
/// When it is none, with the number of the line.
pub fn parse(text: &str) -> Result<Vec<(usize, Line)>, FormatError> {
    let mut lines = Vec::new();
    for (line, whole) in (1..).zip(text.split_inclusive('\n')) {
        let Some(body) = whole.strip_prefix(MARK) else { continue };
        let Some(body) = body.strip_suffix('\n') else { return Err(FormatError::CutOff { line }) };
        let parsed = Words::new(body, line).line()?;
        match (&parsed, lines.is_empty()) {
            (Line::Machine { .. }, false) => return Err(FormatError::SecondMachine { line }),
            (Line::Machine { .. }, true) | (_, false) => lines.push((line, parsed)),
            (_, true) => return Err(FormatError::NoRecord),
        }
    }
    if lines.is_empty() { Err(FormatError::NoRecord) } else { Ok(lines) }
}

/// The words of a line.
struct Words<'a> {
    words: std::str::Split<'a, char>,
    line: usize,
}

impl<'a> Words<'a> {
    fn new(body: &'a str, line: usize) -> Words<'a> {
        Words { words: body.split(' '), line }
    }

    fn word(&mut self, what: &'static str) -> Result<&'a str, FormatError> {
        self.words.next().ok_or(FormatError::Line { line: self.line, what })
    }

    /// All words that are left, as one.
    fn rest(&mut self, what: &'static str) -> Result<String, FormatError> {
        let first = self.word(what)?.to_owned();
        Ok(self.words.by_ref().fold(first, |rest, word| rest + " " + word))
    }

    fn number<T: FromStr>(&mut self, what: &'static str) -> Result<T, FormatError> {
        let line = self.line;
        self.word(what)?.parse().map_err(|_| FormatError::Line { line, what })
    }

    fn hex(&mut self, what: &'static str) -> Result<u64, FormatError> {
        let line = self.line;
        u64::from_str_radix(self.word(what)?, 16).map_err(|_| FormatError::Line { line, what })
    }

    fn queue(&mut self) -> Result<QueueAt, FormatError> {
        let process = self.number("the process")?;
        Ok(QueueAt { process, gpu: self.number("the GPU")?, queue: self.number("the queue")? })
    }

    fn bytes(&mut self, what: &'static str) -> Result<Vec<u8>, FormatError> {
        let wrong = FormatError::Line { line: self.line, what };
        let text = self.word(what)?.strip_prefix('=').ok_or(wrong.clone())?;
        if !text.len().is_multiple_of(2) || !text.is_ascii() {
            return Err(wrong);
        }
        let digits = (0..text.len()).step_by(2).map(|at| &text[at..at + 2]);
        digits.map(|two| u8::from_str_radix(two, 16).map_err(|_| wrong.clone())).collect()
    }

    fn runs(&mut self) -> Result<Vec<Run>, FormatError> {
        let wrong = FormatError::Line { line: self.line, what: "dwords" };
        let mut runs = Vec::new();
        for word in self.words.by_ref() {
            let run = (|| {
                let (address, value) = word.split_once('=')?;
                let (value, count) = value.split_once('*').unwrap_or((value, "1"));
                let address = u64::from_str_radix(address, 16).ok()?;
                let count: u32 = count.parse().ok().filter(|&count| (count as usize) < MOST)?;
                address.checked_add(4 * u64::from(count))?;
                Some(Run { address, value: u32::from_str_radix(value, 16).ok()?, count })
            })();
            runs.push(run.ok_or(wrong.clone())?);
        }
        Ok(runs)
    }

    fn line(&mut self) -> Result<Line, FormatError> {
        let line = self.line;
        let parsed = match self.word("the kind")? {
            "record" => {
                let version = self.number("the version")?;
                if version != VERSION {
                    return Err(FormatError::Version { line, version });
                }
                Line::Machine {
                    kfd_minor: self.number("the KFD's version")?,
                    privileged: self.number::<u8>("the privilege")? != 0,
                    boards: self.rest("the boards")?,
                }
            }
            "open" => Line::Open {
                result: self.number("the result")?,
                write: self.number::<u8>("the mode")? != 0,
                path: self.word("the path")?.to_owned(),
            },
            "close" => Line::Close { fd: self.number("the descriptor")? },
            "dup" => Line::Duplicate {
                fd: self.number("the descriptor")?,
                copy: self.number("the copy")?,
            },
            "ioctl" => {
                let fd = self.number("the descriptor")?;
                let request = self.hex("the request")?;
                let request = u32::try_from(request)
                    .map_err(|_| FormatError::Line { line, what: "the request" })?;
                let result = self.number("the result")?;
                let what = "the argument";
                let (before, after) = (self.bytes(what)?, self.bytes(what)?);
                // Empty where nothing could be read.
                let is = |bytes: &[u8], length| bytes.is_empty() || bytes.len() == length;
                if !is(&before, length(request)) || !is(&after, before.len()) {
                    return Err(FormatError::Line { line, what });
                }
                let mut pointed = Vec::new();
                for _ in 0..self.number::<u8>("the number of pointers")? {
                    let what = "a pointer's offset";
                    let offset: usize = self.number(what)?;
                    if offset.checked_add(8).is_none_or(|end| end > before.len()) {
                        return Err(FormatError::Line { line, what });
                    }
                    let (before, after) =
                        (self.bytes("what it points to")?, self.bytes("what it points to")?);
                    pointed.push(Pointed { offset, before, after });
                }
                Line::Ioctl { fd, request, result, before, after, pointed }
            }
            "mmap" => Line::Map {
                fd: self.number("the descriptor")?,
                length: self.hex("the length")?,
                protection: self.number("the protection")?,
                flags: self.number("the flags")?,
                offset: self.hex("the offset")?,
                result: self.number("the result")?,
            },
            "munmap" => {
                Line::Unmap { address: self.hex("the address")?, length: self.hex("the length")? }
            }
            "memory" => Line::Memory { queue: self.queue()?, runs: self.runs()? },
            "result" => Line::Result { queue: self.queue()?, runs: self.runs()? },
            "begin" => {
                let queue = self.queue()?;
                let place = self.number("the place")?;
                let (rung, clock) = (self.hex("the doorbell")?, self.number("the clock")?);
                let what = "the packet";
                let words = self.words.by_ref().map(|word| u32::from_str_radix(word, 16));
                let words = words
                    .collect::<Result<_, _>>()
                    .map_err(|_| FormatError::Line { line, what })?;
                Line::Begin { queue, place, rung, clock, words }
            }
            "pause" => Line::Pause { queue: self.queue()?, clock: self.number("the clock")? },
            "resume" => Line::Resume { queue: self.queue()?, clock: self.number("the clock")? },
            "end" => Line::End { queue: self.queue()?, clock: self.number("the clock")? },
            _ => return Err(FormatError::Line { line, what: "the kind" }),
        };
        match self.words.next() {
            None => Ok(parsed),
            Some(_) => Err(FormatError::Line { line, what: "the end" }),
        }
    }
}

struct Bytes<'a>(&'a [u8]);

impl Display for Bytes<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("=")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

fn queue_line(f: &mut Formatter<'_>, kind: &str, queue: &QueueAt) -> fmt::Result {
    write!(f, "{kind} {} {} {}", queue.process, queue.gpu, queue.queue)
}

impl Display for Line {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(MARK)?;
        match self {
            Line::Machine { boards, kfd_minor, privileged } => {
                write!(f, "record {VERSION} {kfd_minor} {} {boards}", u8::from(*privileged))
            }
            Line::Open { path, write, result } => {
                write!(f, "open {result} {} {path}", u8::from(*write))
            }
            Line::Close { fd } => write!(f, "close {fd}"),
            Line::Duplicate { fd, copy } => write!(f, "dup {fd} {copy}"),
            Line::Ioctl { fd, request, result, before, after, pointed } => {
                write!(f, "ioctl {fd} {request:x} {result} {} {}", Bytes(before), Bytes(after))?;
                write!(f, " {}", pointed.len())?;
                pointed.iter().try_for_each(|Pointed { offset, before, after }| {
                    write!(f, " {offset} {} {}", Bytes(before), Bytes(after))
                })
            }
            Line::Map { fd, length, protection, flags, offset, result } => {
                write!(f, "mmap {fd} {length:x} {protection} {flags} {offset:x} {result}")
            }
            Line::Unmap { address, length } => write!(f, "munmap {address:x} {length:x}"),
            Line::Memory { queue, runs } | Line::Result { queue, runs } => {
                let kind = if matches!(self, Line::Memory { .. }) { "memory" } else { "result" };
                queue_line(f, kind, queue)?;
                runs.iter().try_for_each(|Run { address, value, count }| {
                    write!(f, " {address:x}={value:x}")?;
                    if *count == 1 { Ok(()) } else { write!(f, "*{count}") }
                })
            }
            Line::Begin { queue, place, rung, clock, words } => {
                queue_line(f, "begin", queue)?;
                write!(f, " {place} {rung:x} {clock}")?;
                words.iter().try_for_each(|word| write!(f, " {word:08x}"))
            }
            Line::Pause { queue, clock } => {
                queue_line(f, "pause", queue)?;
                write!(f, " {clock}")
            }
            Line::Resume { queue, clock } => {
                queue_line(f, "resume", queue)?;
                write!(f, " {clock}")
            }
            Line::End { queue, clock } => {
                queue_line(f, "end", queue)?;
                write!(f, " {clock}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const QUEUE: QueueAt = QueueAt { process: 0, gpu: 1, queue: 2 };

    fn lines() -> Vec<Line> {
        let runs = vec![
            Run { address: 0x1000, value: 7, count: 1 },
            Run { address: 8, value: 0, count: 9 },
        ];
        let pointed = vec![Pointed { offset: 0, before: vec![], after: vec![1, 255] }];
        let machine = Line::Machine {
            boards: "/a folder/of gfx1030".into(),
            kfd_minor: 18,
            privileged: true,
        };
        vec![
            machine,
            Line::Open { path: "/dev/kfd".into(), write: true, result: -13 },
            Line::Close { fd: 3 },
            Line::Duplicate { fd: 3, copy: 9 },
            Line::Ioctl {
                fd: 3,
                request: 0x8008_4b01,
                result: 0,
                before: vec![7; 8],
                after: vec![9; 8],
                pointed,
            },
            Line::Map {
                fd: 3,
                length: 4096,
                protection: 3,
                flags: 17,
                offset: 1 << 62,
                result: 0x7f00,
            },
            Line::Unmap { address: 0x7f00, length: 1 },
            Line::Memory { queue: QUEUE, runs: runs.clone() },
            Line::Begin { queue: QUEUE, place: 3, rung: u64::MAX, clock: 5, words: vec![1, 2] },
            Line::Pause { queue: QUEUE, clock: 6 },
            Line::Resume { queue: QUEUE, clock: 7 },
            Line::Result { queue: QUEUE, runs },
            Line::End { queue: QUEUE, clock: 8 },
        ]
    }

    fn text() -> String {
        lines().iter().map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn lines_read_as_they_are_written() {
        let text = format!("1.1 for people\n{}", text());
        let read: Vec<Line> = parse(&text).unwrap().into_iter().map(|(_, line)| line).collect();
        assert_eq!(read, lines());
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let machine = "@ record 1 18 0 gfx1030\n";
        let error = |more: &str| parse(&format!("{machine}{more}")).unwrap_err();
        assert_eq!(parse(""), Err(FormatError::NoRecord));
        assert_eq!(parse("@ close 3\n"), Err(FormatError::NoRecord));
        assert_eq!(
            parse("@ record 2 18 0 gfx1030\n"),
            Err(FormatError::Version { line: 1, version: 2 })
        );
        assert_eq!(error("@ close 3"), FormatError::CutOff { line: 2 });
        assert_eq!(error("@ close x\n"), FormatError::Line { line: 2, what: "the descriptor" });
        assert_eq!(error("1.1 close\n@ shut 3\n"), FormatError::Line { line: 3, what: "the kind" });
        assert_eq!(error("@ close 3 4\n"), FormatError::Line { line: 2, what: "the end" });
        assert_eq!(error(machine), FormatError::SecondMachine { line: 2 });
        for what in ["=00 = 0", "= =0000000000000000 0", "=0000000000000000 =00 0"] {
            let line = format!("@ ioctl 3 80084b01 0 {what}\n");
            assert_eq!(error(&line), FormatError::Line { line: 2, what: "the argument" });
        }
        let line = "@ ioctl 3 80084b01 0 =0000000000000000 = 1 1 = =\n";
        assert_eq!(error(line), FormatError::Line { line: 2, what: "a pointer's offset" });
        assert_eq!(error("@ memory 0 0 0 10=1*x\n"), FormatError::Line { line: 2, what: "dwords" });
    }

    proptest! {
        /// Cut off anywhere, or with any byte changed, it is read or refused.
        #[test]
        fn damaged_records_are_refused(at in 0usize..600, byte: u8, cut: bool) {
            let mut bytes = text().into_bytes();
            let at = at % bytes.len();
            if cut { bytes.truncate(at) } else { bytes[at] = byte }
            let _ = parse(&String::from_utf8_lossy(&bytes));
        }
    }
}
