//! A process's connection to the keeper of its board.
#![expect(unsafe_code, reason = "fcntl, and close in a forked child")]

use super::passing::{self, Message, WORDS};
use super::request::{Answer, Request};
use selvedge_sys::Errno;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// Descriptors from here on are out of the way of programs that count on getting small ones.
const HIGH: RawFd = 900;

/// Descriptors of connections, for forked children to close: while one of them is open, the keeper takes the process
/// for alive.
static CONNECTIONS: [AtomicI32; 32] = [const { AtomicI32::new(-1) }; 32];

extern "C" fn forked() {
    for connection in &CONNECTIONS {
        let fd = connection.swap(-1, Ordering::Relaxed);
        if fd >= 0 {
            // SAFETY: the number is the simulator's own, and nobody uses it in the child.
            unsafe { libc::syscall(libc::SYS_close, fd) };
        }
    }
}

/// A connection that is closed on exec.
#[derive(Debug)]
struct Connection(UnixStream);

impl Connection {
    /// Sockets have short addresses, the machine's folder may have a long path.
    fn new(socket: &Path) -> io::Result<Connection> {
        let folder = socket.parent().filter(|folder| !folder.as_os_str().is_empty());
        let flags = libc::O_PATH | libc::O_DIRECTORY;
        let folder = File::options()
            .read(true)
            .custom_flags(flags)
            .open(folder.unwrap_or(Path::new(".")))?;
        let name = socket.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let short = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
        let stream = UnixStream::connect(short)?;
        // SAFETY: makes a descriptor.
        let high = unsafe { libc::fcntl(stream.as_raw_fd(), libc::F_DUPFD_CLOEXEC, HIGH) };
        Ok(Connection(if high < 0 {
            stream
        } else {
            // SAFETY: just made, and owned by nobody else.
            UnixStream::from(unsafe { OwnedFd::from_raw_fd(high) })
        }))
    }

    /// From now on a forked child closes it.
    fn keep_from_children(&self) -> io::Result<()> {
        static REGISTERED: Once = Once::new();
        // SAFETY: the handler does what a forked child may.
        REGISTERED.call_once(|| unsafe {
            libc::pthread_atfork(None, None, Some(forked));
        });
        let fd = self.0.as_raw_fd();
        let note = |slot: &AtomicI32| {
            slot.compare_exchange(-1, fd, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        };
        let noted = CONNECTIONS.iter().any(note);
        noted.then_some(()).ok_or_else(|| io::Error::other("too many machines in one process"))
    }

    fn ask(&self, request: &Request) -> Result<Answer, Errno> {
        passing::send(&self.0, &request.encode())
            .and_then(|()| passing::receive(&self.0))
            .map_err(|_| Errno::ENODEV)
            .and_then(Answer::decode)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let fd = self.0.as_raw_fd();
        for slot in &CONNECTIONS {
            let _ = slot.compare_exchange(fd, -1, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

/// The connection. While it is open, what the process holds is its.
#[derive(Debug)]
pub(crate) struct Member(Mutex<Connection>);

/// The connection on which the process hears of what others do to the machine.
#[derive(Debug)]
pub(crate) struct Listener(Connection);

/// What others did to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// A GPU does nothing any more.
    Hang(usize),
    /// A GPU was reset.
    Reset(usize),
}

impl News {
    /// As it crosses.
    pub(super) fn encode(self) -> Message {
        let mut words = [0; WORDS];
        (words[0], words[1]) = match self {
            News::Hang(gpu) => (0, gpu as u64),
            News::Reset(gpu) => (1, gpu as u64),
        };
        Message { words, bytes: Vec::new(), file: None }
    }

    fn decode(message: &Message) -> Option<News> {
        let [kind, gpu, ..] = message.words;
        let gpu = usize::try_from(gpu).ok()?;
        match kind {
            0 => Some(News::Hang(gpu)),
            1 => Some(News::Reset(gpu)),
            _ => None,
        }
    }
}

/// What a process that comes to the board gets.
#[derive(Debug)]
pub(crate) struct Joined {
    pub(crate) member: Member,
    pub(crate) listener: Listener,
    /// The memory file.
    pub(crate) memory: OwnedFd,
    /// A bit for each GPU that hangs.
    pub(crate) hanging: u64,
}

impl Member {
    /// Comes to the board whose keeper listens at `socket`.
    ///
    /// # Errors
    /// When there is none, or it does not answer.
    pub(crate) fn join(socket: &Path) -> io::Result<Joined> {
        let failed = |errno: Errno| io::Error::from_raw_os_error(errno.0);
        let connection = Connection::new(socket)?;
        connection.keep_from_children()?;
        let Answer { words: [number, hanging, ..], file, .. } =
            connection.ask(&Request::Join).map_err(failed)?;
        let memory = file.ok_or(io::ErrorKind::InvalidData)?;
        let listener = Connection::new(socket)?;
        listener.keep_from_children()?;
        listener.ask(&Request::Listen { member: number }).map_err(failed)?;
        let member = Member(Mutex::new(connection));
        Ok(Joined { member, listener: Listener(listener), memory, hanging })
    }

    /// Asks for something.
    ///
    /// # Errors
    /// What the request says; ENODEV when there is no keeper any more.
    pub(super) fn ask(&self, request: &Request) -> Result<Answer, Errno> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).ask(request)
    }

    /// Says what has no answer.
    pub(super) fn tell(&self, request: &Request) {
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Without a keeper there is nobody to hear it.
        let _ = passing::send(&connection.0, &request.encode());
    }
}

impl Listener {
    /// Tells `hear` of everything, until the member leaves. The keeper waits for its return from a hang.
    pub(crate) fn listen(self, mut hear: impl FnMut(News)) {
        while let Ok(message) = passing::receive(&self.0.0) {
            if let Some(news) = News::decode(&message) {
                hear(news);
            }
            if passing::send(&self.0.0, &message).is_err() {
                break;
            }
        }
    }
}

/// Has the keeper at `socket` write the files of sysfs that change.
///
/// # Errors
/// When there is none.
pub(super) fn refresh(socket: &Path) -> io::Result<()> {
    let answer = Connection::new(socket)?.ask(&Request::Refresh);
    answer.map(drop).map_err(|errno| io::Error::from_raw_os_error(errno.0))
}
