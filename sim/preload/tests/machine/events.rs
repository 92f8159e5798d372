//! Management events: a descriptor that is read, written and polled.

use crate::{check, errno, ioctl, on_machine, open};
use kfd::uapi::{self, SmiEventsArgs, request};
use libc::{EAGAIN, EFAULT, EINVAL, O_RDWR, POLLIN, pollfd};

fn gpu_id() -> u32 {
    let id = std::fs::read_to_string("/sys/class/kfd/kfd/topology/nodes/1/gpu_id").unwrap();
    id.trim().parse().unwrap()
}

fn write(fd: i32, bytes: &[u8]) -> Result<isize, i32> {
    // SAFETY: the bytes are the slice's.
    let count = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
    if count < 0 { Err(errno()) } else { Ok(count) }
}

fn read(fd: i32, bytes: &mut [u8]) -> Result<usize, i32> {
    // SAFETY: the room is the slice's.
    let count = unsafe { libc::read(fd, bytes.as_mut_ptr().cast(), bytes.len()) };
    usize::try_from(count).map_err(|_| errno())
}

fn is_readable(fd: i32, timeout: i32) -> bool {
    let mut entry = pollfd { fd, events: POLLIN, revents: 0 };
    // SAFETY: one entry.
    check(unsafe { libc::poll(&raw mut entry, 1, timeout) }).unwrap() == 1
}

fn management_events() {
    let kfd = open(c"/dev/kfd", O_RDWR).unwrap();
    let mut args = SmiEventsArgs { gpuid: gpu_id(), anon_fd: 0 };
    ioctl(kfd, request::SMI_EVENTS, &mut args).unwrap();
    let fd = args.anon_fd.cast_signed();
    assert_eq!(write(fd, &[0; 4]), Err(EFAULT));
    let mask = uapi::smi_event_mask(uapi::SMI_EVENT_PROCESS_START);
    assert_eq!(write(fd, &mask.to_ne_bytes()), Ok(8));
    assert_eq!(write(kfd, &mask.to_ne_bytes()), Err(EINVAL));
    let mut line = [0; 96];
    assert_eq!(read(fd, &mut line), Err(EAGAIN));
    assert!(!is_readable(fd, 0));
    let waiting = std::thread::spawn(move || is_readable(fd, 10_000));
    std::thread::sleep(std::time::Duration::from_millis(20));
    let render = open(c"/dev/dri/renderD128", O_RDWR).unwrap();
    let mut args = uapi::AcquireVmArgs { drm_fd: render.cast_unsigned(), gpu_id: gpu_id() };
    ioctl(kfd, request::ACQUIRE_VM, &mut args).unwrap();
    assert!(waiting.join().unwrap(), "who waits hears of it");
    let count = read(fd, &mut line).unwrap();
    let text = std::str::from_utf8(&line[..count]).unwrap();
    assert!(text.starts_with(&format!("c {:x} ", std::process::id())), "{text}");
    assert!(!is_readable(fd, 0));
}

#[test]
fn a_descriptor_of_management_events() {
    on_machine("gfx1151", "events::a_descriptor_of_management_events", management_events);
}
