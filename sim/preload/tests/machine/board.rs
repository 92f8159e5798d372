//! Several processes on one board.

use crate::{check, errno, ioctl, on_machine, open};
use kfd::uapi::{
    AcquireVmArgs, AllocMemFlags, AllocMemoryOfGpuArgs, ExportDmabufArgs, FreeMemoryOfGpuArgs,
    GetAvailableMemoryArgs, GetDmabufInfoArgs, ImportDmabufArgs, request,
};
use libc::{MAP_SHARED, O_CLOEXEC, O_RDWR};
use selvedge_sys::drm::{PRIME_FD_TO_HANDLE, PrimeHandle};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdout, Command, Stdio};

const SIZE: u64 = 2 << 20;
const ADDRESS: u64 = 0x10_0000_0000;
/// Tells a process that a test starts what to be.
const ROLE: &str = "BOARD_TEST_ROLE";

/// The device, opened.
struct Opened {
    kfd: RawFd,
    render: RawFd,
    gpu_id: u32,
}

impl Opened {
    fn new() -> Opened {
        let kfd = open(c"/dev/kfd", O_RDWR | O_CLOEXEC).unwrap();
        let render = open(c"/dev/dri/renderD128", O_RDWR | O_CLOEXEC).unwrap();
        let id = std::fs::read_to_string("/sys/class/kfd/kfd/topology/nodes/1/gpu_id").unwrap();
        let gpu_id = id.trim().parse().unwrap();
        let mut vm = AcquireVmArgs { drm_fd: render.cast_unsigned(), gpu_id };
        ioctl(kfd, request::ACQUIRE_VM, &mut vm).unwrap();
        Opened { kfd, render, gpu_id }
    }

    fn allocate(&self, size: u64) -> Result<AllocMemoryOfGpuArgs, i32> {
        let flags = AllocMemFlags::VRAM | AllocMemFlags::WRITABLE | AllocMemFlags::PUBLIC;
        let mut args = AllocMemoryOfGpuArgs {
            va_addr: ADDRESS,
            size,
            gpu_id: self.gpu_id,
            flags: flags.bits(),
            ..AllocMemoryOfGpuArgs::default()
        };
        ioctl(self.kfd, request::ALLOC_MEMORY_OF_GPU, &mut args)?;
        Ok(args)
    }

    fn free(&self, handle: u64) {
        ioctl(self.kfd, request::FREE_MEMORY_OF_GPU, &mut FreeMemoryOfGpuArgs { handle }).unwrap();
    }

    fn export(&self, handle: u64) -> OwnedFd {
        let mut args = ExportDmabufArgs { handle, ..ExportDmabufArgs::default() };
        ioctl(self.kfd, request::EXPORT_DMABUF, &mut args).unwrap();
        // SAFETY: just made, and owned by nobody else.
        unsafe { OwnedFd::from_raw_fd(args.dmabuf_fd.cast_signed()) }
    }

    fn available(&self) -> u64 {
        let mut args = GetAvailableMemoryArgs { gpu_id: self.gpu_id, ..Default::default() };
        ioctl(self.kfd, request::AVAILABLE_MEMORY, &mut args).unwrap();
        args.available
    }
}

/// The first dword of a mapping.
fn word(fd: RawFd, offset: u64) -> &'static std::sync::atomic::AtomicU32 {
    // SAFETY: where the kernel likes; never unmapped.
    unsafe {
        let pointer = libc::mmap(
            std::ptr::null_mut(),
            SIZE as usize,
            libc::PROT_READ | libc::PROT_WRITE,
            MAP_SHARED,
            fd,
            offset.cast_signed(),
        );
        assert_ne!(pointer, libc::MAP_FAILED, "{}", errno());
        std::sync::atomic::AtomicU32::from_ptr(pointer.cast())
    }
}

/// What the GPU's processes have of its memory.
fn vram_used() -> u64 {
    let path = "/sys/class/drm/renderD128/device/mem_info_vram_used";
    std::fs::read_to_string(path).unwrap().trim().parse().unwrap()
}

/// The pids whose kfd_processes sysfs shows.
fn shown() -> Vec<u32> {
    let entries = std::fs::read_dir("/sys/class/kfd/kfd/proc").unwrap();
    let pid = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.unwrap().file_name().to_str().unwrap().parse().unwrap()
    };
    entries.map(pid).collect()
}

/// Another process: this test again, in a role.
struct Other {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Other {
    fn new(test: &str, role: &str) -> Other {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(ROLE, role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Other { process, output }
    }

    /// Waits until it says that word.
    fn expect(&mut self, word: &str) {
        let mut said = String::new();
        while !said.ends_with(&format!("{word}\n")) {
            assert_ne!(
                self.output.read_line(&mut said).unwrap(),
                0,
                "it never said {word}: {said}"
            );
        }
    }

    fn tell(&mut self) {
        self.process.stdin.as_mut().unwrap().write_all(b"x").unwrap();
    }

    fn ends_well(mut self) {
        drop(self.process.stdin.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        assert!(self.process.wait().unwrap().success(), "{rest}");
    }

    fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// Says a word to who started this process.
fn say(word: &str) {
    // The harness has not ended its line.
    println!("\n{word}");
    std::io::stdout().flush().unwrap();
}

/// Waits for a word of who started this process, or for its end.
fn hear() {
    let _ = std::io::stdin().read(&mut [0]).unwrap();
}

const ACCOUNTS: &str = "board::what_others_use_counts";

fn accounts() {
    if std::env::var_os(ROLE).is_some() {
        let device = Opened::new();
        device.allocate(3 * SIZE).unwrap();
        say("allocated");
        hear();
        return;
    }
    assert_eq!((vram_used(), shown()), (0, vec![]));
    let device = Opened::new();
    let all = device.available();
    let own = device.allocate(SIZE).unwrap();
    assert_eq!((vram_used(), device.available()), (SIZE, all - SIZE));
    for killed in [false, true] {
        let mut other = Other::new(ACCOUNTS, "other");
        other.expect("allocated");
        let pid = other.process.id();
        assert_eq!((vram_used(), device.available()), (4 * SIZE, all - 4 * SIZE));
        assert!(device.allocate(all - 2 * SIZE).is_err());
        let mut pids = shown();
        pids.sort_unstable();
        let mut expected = [std::process::id(), pid];
        expected.sort_unstable();
        assert_eq!(pids, expected);
        let folder = format!("/sys/class/kfd/kfd/proc/{pid}");
        let vram = std::fs::read_to_string(format!("{folder}/vram_{}", device.gpu_id)).unwrap();
        assert_eq!(vram, format!("{}\n", 3 * SIZE));
        if killed {
            other.kill()
        } else {
            other.ends_well()
        }
        // Whoever knows of its end finds all of it gone.
        let left = (vram_used(), device.available(), shown());
        assert_eq!(left, (SIZE, all - SIZE, vec![std::process::id()]));
        assert!(std::fs::metadata(folder).is_err());
    }
    // All of it can be had again.
    device.free(own.handle);
    let whole = device.allocate(all).unwrap();
    device.free(whole.handle);
    assert_eq!(vram_used(), 0);
}

#[test]
fn what_others_use_counts() {
    on_machine("gfx1100", ACCOUNTS, accounts);
}

/// Sends a descriptor, or receives one.
fn pass(socket: &UnixStream, fd: Option<RawFd>) -> Option<OwnedFd> {
    let mut byte = 0u8;
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let mut control = [0u64; 3];
    // SAFETY: one byte and room for one descriptor, which is this process's own when it was received.
    unsafe {
        let mut header: libc::msghdr = std::mem::zeroed();
        (header.msg_iov, header.msg_iovlen) = (&raw mut part, 1);
        (header.msg_control, header.msg_controllen) = (control.as_mut_ptr().cast(), 24);
        let first = libc::CMSG_FIRSTHDR(&raw const header);
        let Some(fd) = fd else {
            assert_eq!(libc::recvmsg(socket.as_raw_fd(), &raw mut header, 0), 1);
            let received = libc::CMSG_DATA(first).cast::<RawFd>().read_unaligned();
            return Some(OwnedFd::from_raw_fd(received));
        };
        (*first).cmsg_level = libc::SOL_SOCKET;
        (*first).cmsg_type = libc::SCM_RIGHTS;
        (*first).cmsg_len = libc::CMSG_LEN(4) as usize;
        libc::CMSG_DATA(first).cast::<RawFd>().write_unaligned(fd);
        assert_eq!(libc::sendmsg(socket.as_raw_fd(), &raw const header, 0), 1);
    }
    None
}

const DMA_BUFS: &str = "board::a_dma_buf_is_the_same_everywhere";

fn dma_bufs() {
    use std::sync::atomic::Ordering::SeqCst;
    if let Some(role) = std::env::var_os(ROLE) {
        let socket: RawFd = role.to_str().unwrap().parse().unwrap();
        // SAFETY: inherited for this.
        let socket = unsafe { UnixStream::from_raw_fd(socket) };
        let file = pass(&socket, None).unwrap();
        // Mapped before this process has to do with the machine, and after.
        let seen = word(file.as_raw_fd(), 0);
        assert_eq!(seen.load(SeqCst), 0x1234);
        let device = Opened::new();
        let mut info = GetDmabufInfoArgs {
            dmabuf_fd: file.as_raw_fd().cast_unsigned(),
            ..GetDmabufInfoArgs::default()
        };
        ioctl(device.kfd, request::GET_DMABUF_INFO, &mut info).unwrap();
        assert_eq!((info.size, info.gpu_id), (SIZE, device.gpu_id));
        let import = || {
            let mut import = ImportDmabufArgs {
                va_addr: ADDRESS,
                gpu_id: device.gpu_id,
                dmabuf_fd: file.as_raw_fd().cast_unsigned(),
                ..ImportDmabufArgs::default()
            };
            ioctl(device.kfd, request::IMPORT_DMABUF, &mut import).unwrap();
            import.handle
        };
        let first = import();
        device.free(first);
        import();
        // Through DRM, where a buffer has one handle in a file.
        let handles = [(); 2].map(|()| {
            let mut prime = PrimeHandle { fd: file.as_raw_fd(), handle: 0, flags: 0 };
            ioctl(device.render, PRIME_FD_TO_HANDLE, &mut prime).unwrap();
            prime.handle
        });
        assert_eq!(handles, [1, 1]);
        seen.store(0x5678, SeqCst);
        drop(file);
        say("imported");
        hear();
        assert_eq!(seen.load(SeqCst), 0x9abc);
        return;
    }
    let device = Opened::new();
    let buffer = device.allocate(SIZE).unwrap();
    let seen = word(device.render, buffer.mmap_offset);
    seen.store(0x1234, SeqCst);
    let file = device.export(buffer.handle);
    let (here, there) = UnixStream::pair().unwrap();
    // SAFETY: the child inherits it.
    check(unsafe { libc::fcntl(there.as_raw_fd(), libc::F_SETFD, 0) }).unwrap();
    pass(&here, Some(file.as_raw_fd()));
    let mut other = Other::new(DMA_BUFS, &there.as_raw_fd().to_string());
    other.expect("imported");
    assert_eq!((seen.load(SeqCst), vram_used()), (0x5678, SIZE));
    seen.store(0x9abc, SeqCst);
    // The other process alone has it.
    drop(file);
    device.free(buffer.handle);
    assert_eq!(vram_used(), SIZE);
    other.tell();
    other.ends_well();
    // SAFETY: mapped above, and not used any more.
    unsafe { libc::munmap(seen.as_ptr().cast(), SIZE as usize) };
    assert_eq!(vram_used(), 0);

    // One that is nowhere but on its way.
    let buffer = device.allocate(SIZE).unwrap();
    let file = device.export(buffer.handle);
    pass(&here, Some(file.as_raw_fd()));
    drop(file);
    device.free(buffer.handle);
    assert_eq!(vram_used(), SIZE);
    let came = pass(&there, None).unwrap();
    let seen = word(came.as_raw_fd(), 0);
    seen.store(1, SeqCst);
    assert_eq!(word(came.as_raw_fd(), 0).load(SeqCst), 1);
    drop(came);
    // The mappings have it still.
    assert_eq!(vram_used(), SIZE);

    // A child by fork has the descriptor, too.
    let buffer = device.allocate(SIZE).unwrap();
    word(device.render, buffer.mmap_offset).store(77, SeqCst);
    let file = device.export(buffer.handle);
    // SAFETY: the child makes system calls and leaves.
    unsafe {
        let child = check(libc::fork()).unwrap();
        if child == 0 {
            libc::alarm(20);
            let seen = word(file.as_raw_fd(), 0).load(SeqCst);
            libc::_exit(i32::from(seen != 77));
        }
        let mut status = -1;
        assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
        assert_eq!(status, 0);
    }
}

#[test]
fn a_dma_buf_is_the_same_everywhere() {
    on_machine("gfx1100", DMA_BUFS, dma_bufs);
}

const EXEC: &str = "board::a_program_that_is_executed_has_nothing";

/// The program is replaced by another, which is the same process.
fn executed() {
    if std::env::var_os(ROLE).is_none() {
        let device = Opened::new();
        device.allocate(SIZE).unwrap();
        assert_eq!(vram_used(), SIZE);
        // A child that lives on does not stand for its parent, once it runs.
        let mut pipe = [0; 2];
        // SAFETY: room for two descriptors; the child says that it runs, sleeps and leaves.
        unsafe {
            check(libc::pipe(pipe.as_mut_ptr())).unwrap();
            let mut byte = 0u8;
            if check(libc::fork()).unwrap() == 0 {
                libc::write(pipe[1], (&raw const byte).cast(), 1);
                libc::sleep(1);
                libc::_exit(0);
            }
            assert_eq!(libc::read(pipe[0], (&raw mut byte).cast(), 1), 1);
        }
        use std::os::unix::process::CommandExt as _;
        let mut again = Command::new(std::env::current_exe().unwrap());
        let error = again.args(["--exact", EXEC, "--nocapture"]).env(ROLE, "executed").exec();
        panic!("{error}");
    }
    assert_eq!((vram_used(), shown()), (0, vec![]));
    Opened::new().allocate(SIZE).unwrap();
    assert_eq!(vram_used(), SIZE);
}

#[test]
fn a_program_that_is_executed_has_nothing() {
    on_machine("gfx1100", EXEC, executed);
}
