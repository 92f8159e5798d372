//! The process that has the books of a board which others share.
#![expect(unsafe_code, reason = "poll")]

use super::Memory;
use super::books::Books;
use super::member::News;
use super::passing;
use super::request::{Answer, Request};
use selvedge_sys::Errno;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Who does not send the rest of a message in this time, or take one, is disconnected.
const PATIENCE: Duration = Duration::from_secs(5);
/// So long a reset waits for all members to stop their queues. Those of a process that is stopped itself do not run.
const STOPPING: Duration = Duration::from_secs(1);

/// Who is at the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Nobody has said.
    Unknown,
    /// A member.
    Member(u64),
    /// A member, to hear news.
    Listener(u64),
}

#[derive(Debug)]
struct Peer {
    stream: UnixStream,
    role: Role,
}

/// The books of a board, and those who are on it.
#[derive(Debug)]
pub struct Keeper {
    books: Books,
    memory: Arc<Memory>,
    peers: BTreeMap<u64, Peer>,
    next: u64,
}

impl Keeper {
    pub(crate) fn new(memory: Arc<Memory>, books: Books) -> Keeper {
        Keeper { books, memory, peers: BTreeMap::new(), next: 1 }
    }

    /// Has the keeper that listens at `socket` write what sysfs shows of the processes.
    ///
    /// # Errors
    /// When there is none.
    pub fn refresh(socket: &Path) -> io::Result<()> {
        super::member::refresh(socket)
    }

    /// Serves those who connect, until the other end of `leave` is closed and no member is left. What sysfs shows of the
    /// processes is given to `write` when somebody is about to read it: paths and texts.
    ///
    /// # Errors
    /// When the host does not let it wait for connections.
    pub fn serve(
        mut self,
        listener: &UnixListener,
        leave: &UnixStream,
        mut write: impl FnMut(&BTreeMap<String, String>),
    ) -> io::Result<()> {
        let mut leaving = false;
        while !leaving || self.peers.values().any(|peer| matches!(peer.role, Role::Member(_))) {
            let numbers: Vec<u64> = self.peers.keys().copied().collect();
            let mut ends: Vec<BorrowedFd<'_>> = vec![listener.as_fd()];
            ends.extend(self.peers.values().map(|peer| peer.stream.as_fd()));
            // Last, and not at all any more once it is closed.
            ends.extend((!leaving).then(|| leave.as_fd()));
            let ready = wait(&ends, FOREVER)?;
            leaving |= !leaving && ready.last() == Some(&true);
            for (number, _) in numbers.iter().zip(&ready[1..]).filter(|(_, ready)| **ready) {
                if !self.attend(*number, &mut write) {
                    self.part(*number);
                }
            }
            if ready[0] {
                self.accept(listener);
            }
        }
        Ok(())
    }

    fn accept(&mut self, listener: &UnixListener) {
        // Who went away meanwhile, or found no descriptor left here, is not let in.
        let Ok((stream, _)) = listener.accept() else { return };
        let patient = stream.set_read_timeout(Some(PATIENCE)).is_ok()
            && stream.set_write_timeout(Some(PATIENCE)).is_ok();
        if patient {
            self.peers.insert(self.next, Peer { stream, role: Role::Unknown });
            self.next += 1;
        }
    }

    /// A connection is closed.
    fn part(&mut self, number: u64) {
        let Some(Peer { role: Role::Member(_), .. }) = self.peers.remove(&number) else { return };
        self.books.leave(number);
        // The thread that listens ends with it.
        self.peers.retain(|_, peer| peer.role != Role::Listener(number));
    }

    /// Does what a peer asks; false when it is gone or talks nonsense.
    fn attend(&mut self, number: u64, write: &mut impl FnMut(&BTreeMap<String, String>)) -> bool {
        // It may have parted, or been attended to, since somebody looked.
        let Some(peer) = self.peers.get_mut(&number) else { return true };
        if wait(&[peer.stream.as_fd()], NOW).is_ok_and(|ready| ready == [false]) {
            return true;
        }
        let Ok(message) = passing::receive(&peer.stream) else { return false };
        if matches!(peer.role, Role::Listener(_)) {
            // It heard of something that nobody waits for.
            return true;
        }
        let Some(request) = Request::decode(&message) else { return false };
        let looks = matches!(request, Request::Refresh | Request::Shown | Request::Usage);
        if looks || matches!(request, Request::Take { .. }) {
            self.settle(write);
        }
        let Some(peer) = self.peers.get_mut(&number) else { return true };
        let result = match (&request, peer.role) {
            (Request::Join, Role::Unknown) => {
                peer.role = Role::Member(number);
                let memory = self.memory.file.try_clone();
                memory.map_err(|_| Errno::EMFILE).map(|file| {
                    let words = [number, self.books.hanging()];
                    Answer { file: Some(file), ..Answer::of(&words) }
                })
            }
            (&Request::Listen { member }, Role::Unknown) => {
                peer.role = Role::Listener(member);
                Ok(Answer::default())
            }
            (Request::Refresh, _) => {
                write(&self.books.files());
                Ok(Answer::default())
            }
            (_, Role::Member(_)) => self.work(number, &request),
            _ => return false,
        };
        if matches!(request, Request::Release { .. }) {
            return true;
        }
        let Some(peer) = self.peers.get(&number) else { return true };
        passing::send(&peer.stream, &Answer::encode(result)).is_ok()
    }

    /// Does what all have asked for so far: who gives something back or ends, and then has another look, or a third, finds
    /// it gone, though they come by other connections. Nobody whose request is being worked on asks for more.
    fn settle(&mut self, write: &mut impl FnMut(&BTreeMap<String, String>)) {
        loop {
            let ends: Vec<BorrowedFd<'_>> =
                self.peers.values().map(|peer| peer.stream.as_fd()).collect();
            let Ok(ready) = wait(&ends, NOW) else { return };
            let numbers = self.peers.keys().zip(ready).filter(|(_, ready)| *ready);
            let numbers: Vec<u64> = numbers.map(|(&number, _)| number).collect();
            if numbers.is_empty() {
                return;
            }
            for number in numbers {
                if !self.attend(number, write) {
                    self.part(number);
                }
            }
        }
    }

    fn work(&mut self, number: u64, request: &Request) -> Result<Answer, Errno> {
        match *request {
            Request::Hang { gpu } => {
                let answer = self.books.handle(number, request)?;
                self.tell_others(number, News::Hang(gpu));
                Ok(answer)
            }
            Request::Reset { gpu } => {
                self.books.handle(number, &Request::Hang { gpu })?;
                // Nobody writes to VRAM any more when it is overwritten.
                self.tell_others(number, News::Hang(gpu));
                let answer = self.books.handle(number, request)?;
                self.tell_others(number, News::Reset(gpu));
                Ok(answer)
            }
            _ => self.books.handle(number, request),
        }
    }

    /// Tells all members but one, and waits until they have heard.
    fn tell_others(&mut self, number: u64, news: News) {
        let others = self.peers.values().filter(|peer| match peer.role {
            Role::Listener(member) => member != number,
            _ => false,
        });
        let told: Vec<&Peer> =
            others.filter(|peer| passing::send(&peer.stream, &news.encode()).is_ok()).collect();
        let end = Instant::now() + STOPPING;
        for peer in told {
            let left = end.saturating_duration_since(Instant::now()).as_millis() as i32;
            // Who does not answer in time does so later, when nobody waits for it.
            if wait(&[peer.stream.as_fd()], left).is_ok_and(|ready| ready == [true]) {
                let _ = passing::receive(&peer.stream);
            }
        }
    }
}

impl AsFd for Keeper {
    /// The memory file, the one descriptor that it has from the start.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.memory.file.as_fd()
    }
}

/// Times of poll(2).
const NOW: i32 = 0;
const FOREVER: i32 = -1;

/// Waits until some of the descriptors can be read or are closed at the other end, and says which.
fn wait(ends: &[BorrowedFd<'_>], time: i32) -> io::Result<Vec<bool>> {
    let entry = |end: &BorrowedFd<'_>| libc::pollfd {
        fd: end.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let mut entries: Vec<libc::pollfd> = ends.iter().map(entry).collect();
    loop {
        // SAFETY: the entries are as many as is said.
        let count = unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as u64, time) };
        if count >= 0 {
            return Ok(entries.iter().map(|entry| entry.revents != 0).collect());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_are_stopped_are_waited_for_together() {
        let memory = Arc::new(Memory::new(4096).unwrap());
        let mut keeper = Keeper::new(memory.clone(), Books::new(memory, Vec::new(), 0, true));
        let mut ends = Vec::new();
        for number in 0..10 {
            let (stream, end) = UnixStream::pair().unwrap();
            let role = Role::Listener(number);
            keeper.peers.insert(number, Peer { stream, role });
            ends.push(end);
        }
        // Nobody hears but the last, and the one who tells is not told.
        let last = ends.pop().unwrap();
        let hears = std::thread::spawn(move || {
            let message = passing::receive(&last).unwrap();
            passing::send(&last, &message).unwrap();
        });
        let start = Instant::now();
        keeper.tell_others(0, News::Hang(0));
        assert!(start.elapsed() < 5 * STOPPING);
        hears.join().unwrap();
        assert!(wait(&[ends[0].as_fd(), ends[1].as_fd()], NOW).unwrap() == [false, true]);
    }
}
