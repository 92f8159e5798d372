//! Messages between processes of the host, with a file where one goes along.
//!
//! By system calls: libc's functions of these names are cancellation points, and the callers hold locks.
#![expect(unsafe_code, reason = "sendmsg and recvmsg")]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

/// Words of every message.
pub(super) const WORDS: usize = 8;
/// More bytes than this come with no message.
const MAX_BYTES: usize = 1 << 24;
const HEADER: usize = 8 * (WORDS + 1);

/// A message.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) words: [u64; WORDS],
    pub(super) bytes: Vec<u8>,
    pub(super) file: Option<OwnedFd>,
}

/// Room for one descriptor that goes along (`CMSG_SPACE(sizeof(int))`), aligned.
type Control = [u64; 3];

fn retried(mut call: impl FnMut() -> i64) -> io::Result<usize> {
    loop {
        match usize::try_from(call()) {
            Ok(count) => return Ok(count),
            Err(_) => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}

fn send_some(stream: RawFd, bytes: &[u8], file: Option<RawFd>) -> io::Result<usize> {
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let mut control: Control = [0; 3];
    // SAFETY: all zeros are a header of nothing.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    (header.msg_iov, header.msg_iovlen) = (&raw mut part, 1);
    if let Some(file) = file {
        header.msg_control = control.as_mut_ptr().cast();
        header.msg_controllen = size_of::<Control>();
        // SAFETY: there is room for one header and one descriptor.
        unsafe {
            let first = libc::CMSG_FIRSTHDR(&raw const header);
            (*first).cmsg_level = libc::SOL_SOCKET;
            (*first).cmsg_type = libc::SCM_RIGHTS;
            (*first).cmsg_len = libc::CMSG_LEN(4) as usize;
            libc::CMSG_DATA(first).cast::<RawFd>().write_unaligned(file);
        }
    }
    // SAFETY: the header describes memory that lives as long as the call.
    retried(|| unsafe {
        libc::syscall(libc::SYS_sendmsg, stream, &raw const header, libc::MSG_NOSIGNAL)
    })
}

fn receive_some(stream: RawFd, bytes: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let mut control: Control = [0; 3];
    // SAFETY: all zeros are a header of nothing.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    (header.msg_iov, header.msg_iovlen) = (&raw mut part, 1);
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = size_of::<Control>();
    // SAFETY: the header describes memory that lives as long as the call.
    let count = retried(|| unsafe {
        libc::syscall(libc::SYS_recvmsg, stream, &raw mut header, libc::MSG_CMSG_CLOEXEC)
    })?;
    // SAFETY: the kernel has filled the header in; a descriptor in it is ours from now on.
    let file = unsafe {
        let first = libc::CMSG_FIRSTHDR(&raw const header);
        let carries = !first.is_null()
            && (*first).cmsg_level == libc::SOL_SOCKET
            && (*first).cmsg_type == libc::SCM_RIGHTS;
        carries
            .then(|| OwnedFd::from_raw_fd(libc::CMSG_DATA(first).cast::<RawFd>().read_unaligned()))
    };
    Ok((count, file))
}

/// Sends a message.
///
/// # Errors
/// Those of sendmsg(2).
pub(super) fn send(stream: &UnixStream, message: &Message) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(HEADER + message.bytes.len());
    message.words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    bytes.extend((message.bytes.len() as u64).to_le_bytes());
    bytes.extend(&message.bytes);
    let mut file = message.file.as_ref().map(AsRawFd::as_raw_fd);
    let mut done = 0;
    while done < bytes.len() {
        done += send_some(stream.as_raw_fd(), &bytes[done..], file.take())?;
    }
    Ok(())
}

/// Waits for a message.
///
/// # Errors
/// Those of recvmsg(2); `UnexpectedEof` when the other end is closed.
pub(super) fn receive(stream: &UnixStream) -> io::Result<Message> {
    let mut file = None;
    let mut header = [0; HEADER];
    fill(stream, &mut header, &mut file)?;
    let mut words = [0; WORDS];
    let (chunks, _) = header.as_chunks::<8>();
    for (word, chunk) in words.iter_mut().zip(chunks) {
        *word = u64::from_le_bytes(*chunk);
    }
    let length = usize::try_from(u64::from_le_bytes(chunks[WORDS])).unwrap_or(usize::MAX);
    if length > MAX_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; length];
    fill(stream, &mut bytes, &mut file)?;
    Ok(Message { words, bytes, file })
}

fn fill(stream: &UnixStream, bytes: &mut [u8], file: &mut Option<OwnedFd>) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        let (count, came) = receive_some(stream.as_raw_fd(), &mut bytes[done..])?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        done += count;
        *file = came.or(file.take());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn a_file_goes_along() {
        let (here, there) = UnixStream::pair().unwrap();
        let file = crate::board::memfd(c"test").unwrap();
        std::io::Write::write_all(&mut std::fs::File::from(file.try_clone().unwrap()), b"text")
            .unwrap();
        let words = [1, 2, 3, 4, 5, 6, 7, u64::MAX];
        for file in [Some(file), None] {
            let has_file = file.is_some();
            send(&here, &Message { words, bytes: vec![9; 1000], file }).unwrap();
            let message = receive(&there).unwrap();
            assert_eq!((message.words, message.bytes.len()), (words, 1000));
            assert_eq!(message.file.is_some(), has_file);
            if let Some(file) = message.file {
                use std::os::unix::fs::FileExt as _;
                let mut text = [0; 4];
                std::fs::File::from(file).read_exact_at(&mut text, 0).unwrap();
                assert_eq!(&text, b"text");
            }
        }
        drop(here);
        assert_eq!(receive(&there).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!((&there).read(&mut [0]).unwrap(), 0);
    }
}
