//! A warm dispatch allocates nothing on the heap and asks Linux nothing.
#![expect(
    unsafe_code,
    reason = "counts allocations, forwards the seam, runs the repository's own kernel"
)]

use selvedge::{Argument, Device, Geometry};
use selvedge_sim::Machine;
use selvedge_sys::{Errno, MapFlags, OpenMode, Protection, Readiness, System};
use std::alloc::{GlobalAlloc, Layout, System as Heap};
use std::cell::Cell;
use std::ffi::{OsString, c_void};
use std::os::fd::RawFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: everything is forwarded to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are passed on.
        unsafe { Heap.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { Heap.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as above.
        unsafe { Heap.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Counts what passes the seam.
#[derive(Debug)]
struct Counted {
    system: Arc<dyn System>,
    calls: AtomicU64,
}

impl Counted {
    fn count(&self) -> &dyn System {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.system.as_ref()
    }
}

// SAFETY: every verb is the inner system's.
unsafe impl System for Counted {
    fn open(&self, path: &Path, mode: OpenMode) -> Result<RawFd, Errno> {
        self.count().open(path, mode)
    }
    fn close(&self, fd: RawFd) -> Result<(), Errno> {
        self.count().close(fd)
    }
    unsafe fn ioctl(&self, fd: RawFd, request: u32, argument: *mut c_void) -> Result<i32, Errno> {
        // SAFETY: the caller's promises are passed on.
        unsafe { self.count().ioctl(fd, request, argument) }
    }
    unsafe fn mmap(
        &self,
        address: *mut c_void,
        length: usize,
        protection: Protection,
        flags: MapFlags,
        fd: RawFd,
        offset: u64,
    ) -> Result<*mut c_void, Errno> {
        // SAFETY: the caller's promises are passed on.
        unsafe { self.count().mmap(address, length, protection, flags, fd, offset) }
    }
    unsafe fn munmap(&self, address: *mut c_void, length: usize) -> Result<(), Errno> {
        // SAFETY: the caller's promises are passed on.
        unsafe { self.count().munmap(address, length) }
    }
    unsafe fn keep_from_children(&self, address: *mut c_void, length: usize) -> Result<(), Errno> {
        // SAFETY: the caller's promises are passed on.
        unsafe { self.count().keep_from_children(address, length) }
    }
    fn poll(&self, fd: RawFd, timeout: Option<Duration>) -> Result<Readiness, Errno> {
        self.count().poll(fd, timeout)
    }
    fn read(&self, fd: RawFd, buffer: &mut [u8]) -> Result<usize, Errno> {
        self.count().read(fd, buffer)
    }
    fn read_file(&self, path: &Path) -> Result<Vec<u8>, Errno> {
        self.count().read_file(path)
    }
    fn list_directory(&self, path: &Path) -> Result<Vec<OsString>, Errno> {
        self.count().list_directory(path)
    }
    fn description(&self) -> String {
        self.system.description()
    }
    fn is_simulated(&self) -> bool {
        self.system.is_simulated()
    }
}

const CODE: &[u8] = include_bytes!("../kernels/objects/gfx1151/v5/wave32/k01_vadd.hsaco");

#[test]
fn a_warm_dispatch_allocates_nothing_and_calls_nobody() {
    let process = Machine::with_gpu("gfx1151").unwrap().process();
    let counted = Arc::new(Counted { system: process, calls: AtomicU64::new(0) });
    let device = Device::on(counted.clone()).unwrap();
    // SAFETY: the repository's own kernel.
    let executable = unsafe { device.load(CODE, "k01_vadd") }.unwrap();
    let kernel = executable.kernel("vadd").unwrap();
    let [a, b, c] = [1i32, 2, 0].map(|value| device.allocate_from(&[value; 64]).unwrap());
    let arguments: [Argument<'_>; 4] = [(&a).into(), (&b).into(), (&c).into(), 64u32.into()];
    let geometry = Geometry::linear(64, 64).unwrap();
    let stream = device.stream().unwrap();
    let burst = |count: u64| {
        for _ in 0..count {
            // SAFETY: the buffers have the 64 elements that the kernel uses.
            drop(unsafe { stream.dispatch(&kernel, &geometry, &arguments) }.unwrap());
        }
    };
    burst(1000);
    stream.synchronize(Duration::from_secs(60)).unwrap();

    let before = (ALLOCATIONS.get(), counted.calls.load(Ordering::Relaxed));
    assert!(before.0 > 0 && before.1 > 0, "the counters count");
    burst(1000);
    let after = (ALLOCATIONS.get(), counted.calls.load(Ordering::Relaxed));
    assert_eq!(after.0 - before.0, 0, "heap allocations in 1000 warm dispatches");
    assert_eq!(after.1 - before.1, 0, "calls through the seam in 1000 warm dispatches");
    stream.synchronize(Duration::from_secs(60)).unwrap();
    assert_eq!(c.read::<i32>().unwrap(), [3; 64]);
}
