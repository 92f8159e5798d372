//! What a process of the machine asks of the board, and how that crosses from one process of the host to another.

use super::passing::{Message, WORDS};
use crate::abi::kfd::Wanted;
use selvedge_sys::Errno;
use std::os::fd::OwnedFd;

/// What a piece of memory is, and which limit it counts against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// A GPU's own memory.
    Vram,
    /// System memory that the kernel gave for a buffer object.
    Gtt,
    /// Memory of the process's own that a GPU may reach; the board has no bytes for it.
    User,
    /// The kernel's own: doorbells, event pages, the remap page. Counts against nothing.
    Kernel,
}

impl Use {
    fn from_word(word: u64) -> Option<Use> {
        [Use::Vram, Use::Gtt, Use::User, Use::Kernel].into_iter().find(|&u| u as u64 == word)
    }
}

/// What is asked of the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// A process of the host comes to the board. Answer: its number, a bit for each GPU that hangs; the memory file.
    Join,
    /// This connection is the one on which that member hears of what others do to the machine.
    Listen {
        /// Its number.
        member: u64,
    },
    /// Whether the files of sysfs that change are to be written anew. No member needs to ask.
    Refresh,
    /// What sysfs shows of the processes. Answer: paths and texts, each with a zero byte at its end.
    Shown,
    /// Memory. Answer: the record's id and the offset in the memory file.
    Take {
        /// What for.
        what: Use,
        /// The GPU.
        gpu: usize,
        /// Bytes, whole pages.
        bytes: u64,
        /// `AMDGPU_GEM_CREATE_*`, kept for those who import it.
        flags: u64,
        /// Number of the kfd_process whose VRAM it counts as, or none (`pdd->vram_usage`).
        process: Option<u32>,
    },
    /// The member holds a record once less. There is no answer.
    Release {
        /// The record.
        id: u64,
    },
    /// A hardware queue of any kind. Answer: the record's id, and how many AQL queues there were before.
    Queue {
        /// The GPU.
        gpu: usize,
        /// Number of the kfd_process.
        process: u32,
        /// Its id there, type, and bytes of its ring.
        queue: (u32, u32, u32),
    },
    /// A queue of the SDMA engines. Answer: the record's id, and the words of its place.
    Sdma {
        /// The GPU.
        gpu: usize,
        /// Of which engine.
        wanted: Wanted,
    },
    /// A kfd_process. Answer: the record's id and the number, unique on the board.
    Process {
        /// Of which process.
        pid: u32,
        /// Whether it is the primary one.
        primary: bool,
    },
    /// How much is in use. Answer: system memory, then the VRAM of each GPU, as bytes of little-endian u64.
    Usage,
    /// A dma-buf of a buffer. Answer: a file that stands for it wherever it goes.
    Export {
        /// The buffer's record.
        id: u64,
    },
    /// The buffer that a file stands for; the member holds it from now on. Answer: id, use, GPU, bytes, flags, offset.
    Import {
        /// The device of the file's inode.
        device: u64,
        /// Its number.
        inode: u64,
    },
    /// Changes what AMDGPU_GEM_METADATA stores with a buffer.
    SetMetadata {
        /// The buffer's record.
        id: u64,
        /// Its flags.
        flags: u64,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// Changes its tiling flags, which are the driver's (`amdgpu_bo_set_tiling_flags`).
    SetTiling {
        /// The buffer's record.
        id: u64,
        /// `AMDGPU_TILING_*`
        tiling: u64,
    },
    /// How often a GPU was reset.
    Resets {
        /// Which.
        gpu: usize,
    },
    /// What is stored there. Answer: flags, tiling flags, and bytes.
    Metadata {
        /// The buffer's record.
        id: u64,
    },
    /// A GPU does nothing any more.
    Hang {
        /// Which.
        gpu: usize,
    },
    /// A GPU is reset: the contents of its VRAM are lost.
    Reset {
        /// Which.
        gpu: usize,
    },
}

/// Joins two halves to a word.
fn pair(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn halves(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}

impl Request {
    /// As it crosses.
    pub(super) fn encode(&self) -> Message {
        let (first, rest, bytes): (u64, Vec<u64>, &[u8]) = match self {
            Request::Join => (0, vec![], &[]),
            &Request::Listen { member } => (1, vec![member], &[]),
            Request::Refresh => (2, vec![], &[]),
            &Request::Take { what, gpu, bytes, flags, process } => {
                let process = process.map_or(u64::MAX, u64::from);
                (3, vec![what as u64, gpu as u64, bytes, flags, process], &[])
            }
            &Request::Release { id } => (4, vec![id], &[]),
            &Request::Queue { gpu, process, queue: (id, kind, ring) } => {
                (5, vec![gpu as u64, process.into(), pair(id, kind), ring.into()], &[])
            }
            &Request::Sdma { gpu, wanted } => {
                let wanted = match wanted {
                    Wanted::Any => 0,
                    Wanted::Link => 1,
                    Wanted::Engine(number) => pair(number, 2),
                };
                (6, vec![gpu as u64, wanted], &[])
            }
            &Request::Process { pid, primary } => (7, vec![pid.into(), primary.into()], &[]),
            Request::Usage => (8, vec![], &[]),
            &Request::Export { id } => (9, vec![id], &[]),
            &Request::Import { device, inode } => (10, vec![device, inode], &[]),
            Request::SetMetadata { id, flags, bytes } => (11, vec![*id, *flags], bytes),
            &Request::Metadata { id } => (12, vec![id], &[]),
            &Request::Hang { gpu } => (13, vec![gpu as u64], &[]),
            &Request::Reset { gpu } => (14, vec![gpu as u64], &[]),
            Request::Shown => (15, vec![], &[]),
            &Request::SetTiling { id, tiling } => (16, vec![id, tiling], &[]),
            &Request::Resets { gpu } => (17, vec![gpu as u64], &[]),
        };
        let mut words = [0; WORDS];
        words[0] = first;
        words[1..=rest.len()].copy_from_slice(&rest);
        Message { words, bytes: bytes.to_vec(), file: None }
    }

    /// What a message asks; `None` when it is none of ours.
    pub(super) fn decode(message: &Message) -> Option<Request> {
        let [first, a, b, c, d, e, ..] = message.words;
        let gpu = |word: u64| usize::try_from(word).ok();
        Some(match first {
            0 => Request::Join,
            1 => Request::Listen { member: a },
            2 => Request::Refresh,
            3 => Request::Take {
                what: Use::from_word(a)?,
                gpu: gpu(b)?,
                bytes: c,
                flags: d,
                process: u32::try_from(e).ok(),
            },
            4 => Request::Release { id: a },
            5 => {
                let (id, kind) = halves(c);
                let queue = (id, kind, u32::try_from(d).ok()?);
                Request::Queue { gpu: gpu(a)?, process: u32::try_from(b).ok()?, queue }
            }
            6 => {
                let wanted = match halves(b) {
                    (0, 0) => Wanted::Any,
                    (0, 1) => Wanted::Link,
                    (number, 2) => Wanted::Engine(number),
                    _ => return None,
                };
                Request::Sdma { gpu: gpu(a)?, wanted }
            }
            7 => Request::Process { pid: u32::try_from(a).ok()?, primary: b != 0 },
            8 => Request::Usage,
            9 => Request::Export { id: a },
            10 => Request::Import { device: a, inode: b },
            11 => Request::SetMetadata { id: a, flags: b, bytes: message.bytes.clone() },
            12 => Request::Metadata { id: a },
            13 => Request::Hang { gpu: gpu(a)? },
            14 => Request::Reset { gpu: gpu(a)? },
            15 => Request::Shown,
            16 => Request::SetTiling { id: a, tiling: b },
            17 => Request::Resets { gpu: gpu(a)? },
            _ => return None,
        })
    }
}

/// What the board answers.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// As the request says.
    pub(crate) words: [u64; WORDS - 1],
    /// As the request says.
    pub(crate) bytes: Vec<u8>,
    /// As the request says.
    pub(crate) file: Option<OwnedFd>,
}

impl Answer {
    /// One of some words.
    pub(super) fn of(words: &[u64]) -> Answer {
        let mut answer = Answer::default();
        answer.words[..words.len()].copy_from_slice(words);
        answer
    }

    /// As it crosses, an error too.
    pub(super) fn encode(result: Result<Answer, Errno>) -> Message {
        let mut words = [0; WORDS];
        match result {
            Ok(Answer { words: rest, bytes, file }) => {
                words[1..].copy_from_slice(&rest);
                Message { words, bytes, file }
            }
            Err(errno) => {
                words[0] = errno.0.unsigned_abs().into();
                Message { words, bytes: Vec::new(), file: None }
            }
        }
    }

    /// What a message answers.
    pub(super) fn decode(message: Message) -> Result<Answer, Errno> {
        let Message { words: [errno, rest @ ..], bytes, file } = message;
        match i32::try_from(errno) {
            Ok(0) => Ok(Answer { words: rest, bytes, file }),
            Ok(errno) => Err(Errno(errno)),
            Err(_) => Err(Errno::EIO),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_cross() {
        let id = 0x1234_5678_9abc;
        let all = [
            Request::Join,
            Request::Listen { member: 3 },
            Request::Refresh,
            Request::Take { what: Use::Gtt, gpu: 1, bytes: 4096, flags: 5, process: Some(6) },
            Request::Take { what: Use::Vram, gpu: 0, bytes: 1 << 40, flags: 0, process: None },
            Request::Release { id },
            Request::Queue { gpu: 1, process: 2, queue: (3, 4, 5) },
            Request::Sdma { gpu: 1, wanted: Wanted::Any },
            Request::Sdma { gpu: 1, wanted: Wanted::Link },
            Request::Sdma { gpu: 1, wanted: Wanted::Engine(9) },
            Request::Process { pid: 77, primary: true },
            Request::Usage,
            Request::Shown,
            Request::Export { id },
            Request::Import { device: 1, inode: 2 },
            Request::SetMetadata { id, flags: 8, bytes: vec![1, 2, 3] },
            Request::SetTiling { id, tiling: 9 },
            Request::Resets { gpu: 2 },
            Request::Metadata { id },
            Request::Hang { gpu: 0 },
            Request::Reset { gpu: 1 },
        ];
        for request in all {
            assert_eq!(Request::decode(&request.encode()), Some(request));
        }
        let unknown = Message { words: [99; WORDS], bytes: Vec::new(), file: None };
        assert_eq!(Request::decode(&unknown), None);
    }

    #[test]
    fn answers_cross() {
        let answer = Answer::decode(Answer::encode(Ok(Answer::of(&[1, 2])))).unwrap();
        assert_eq!(answer.words[..3], [1, 2, 0]);
        let error = Answer::decode(Answer::encode(Err(Errno::ENOMEM))).unwrap_err();
        assert_eq!(error, Errno::ENOMEM);
    }
}
