//! A process with the device open, and buffers and queues in it.

use kfd::uapi::{self, AllocMemFlags, request};
use selvedge_sim::{Machine, Objects, Process};
use selvedge_sys::{Errno, MapFlags, OpenMode, Protection, System};
use std::path::Path;
use std::ptr::{from_mut, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};

pub(crate) const PAGE: u64 = 4096;

/// Flags of memory that host and device use together.
pub(crate) fn gtt() -> AllocMemFlags {
    AllocMemFlags::GTT
        | AllocMemFlags::WRITABLE
        | AllocMemFlags::EXECUTABLE
        | AllocMemFlags::COHERENT
        | AllocMemFlags::UNCACHED
}

#[derive(Debug)]
pub(crate) struct Rig {
    pub(crate) machine: Machine,
    pub(crate) process: Arc<Process>,
    pub(crate) kfd: i32,
    pub(crate) render: i32,
    pub(crate) gpu_id: u32,
}

/// A buffer mapped on the GPU and, at the same address, here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer {
    pub(crate) va: u64,
    pub(crate) size: u64,
    pub(crate) handle: u64,
    pub(crate) offset: u64,
}

impl Buffer {
    pub(crate) fn dword(&self, at: u64) -> &AtomicU32 {
        assert!(at + 4 <= self.size);
        let pointer = std::ptr::with_exposed_provenance_mut((self.va + at) as usize);
        // SAFETY: in the mapping, which lives as long as the rig's process.
        unsafe { AtomicU32::from_ptr(pointer) }
    }

    pub(crate) fn qword(&self, at: u64) -> &AtomicU64 {
        assert!(at + 8 <= self.size);
        let pointer = std::ptr::with_exposed_provenance_mut((self.va + at) as usize);
        // SAFETY: as above.
        unsafe { AtomicU64::from_ptr(pointer) }
    }
}

/// ioctl(2) with a struct.
pub(crate) fn ioctl<T>(
    process: &Process,
    fd: i32,
    request: u32,
    args: &mut T,
) -> Result<(), Errno> {
    // SAFETY: `args` is a live struct of the request's size.
    unsafe { process.ioctl(fd, request, from_mut(args).cast()) }.map(drop)
}

pub(crate) fn machine(name: &str, minor: u32) -> Machine {
    Machine::builder().gpu(name).unwrap().kfd_minor(minor).unwrap().build().unwrap()
}

/// Reserves address space.
pub(crate) fn reserve(process: &Process, size: u64) -> u64 {
    let flags = MapFlags::PRIVATE | MapFlags::ANONYMOUS | MapFlags::NORESERVE;
    // SAFETY: maps where the kernel likes.
    let pointer = unsafe {
        process.mmap(null_mut(), size as usize, Protection::empty(), flags, -1, 0).unwrap()
    };
    pointer.expose_provenance() as u64
}

/// Anonymous memory of the process.
pub(crate) fn anonymous(process: &Process, size: u64) -> u64 {
    let flags = MapFlags::PRIVATE | MapFlags::ANONYMOUS;
    let protection = Protection::READ | Protection::WRITE;
    // SAFETY: maps where the kernel likes.
    let pointer =
        unsafe { process.mmap(null_mut(), size as usize, protection, flags, -1, 0).unwrap() };
    pointer.expose_provenance() as u64
}

impl Rig {
    pub(crate) fn new(name: &str, minor: u32) -> Rig {
        Rig::on(machine(name, minor))
    }

    pub(crate) fn on(machine: Machine) -> Rig {
        let process = machine.process();
        let kfd = process.open(Path::new("/dev/kfd"), OpenMode::ReadWrite).unwrap();
        Rig::with(machine, process, kfd)
    }

    /// Acquires the VM of a new render node file for the context behind `kfd`.
    pub(crate) fn with(machine: Machine, process: Arc<Process>, kfd: i32) -> Rig {
        let render = process.open(Path::new("/dev/dri/renderD128"), OpenMode::ReadWrite).unwrap();
        let id = process
            .read_file(Path::new("/sys/devices/virtual/kfd/kfd/topology/nodes/1/gpu_id"))
            .unwrap();
        let gpu_id = String::from_utf8(id).unwrap().trim().parse().unwrap();
        let rig = Rig { machine, process, kfd, render, gpu_id };
        let mut args = uapi::AcquireVmArgs { drm_fd: render.cast_unsigned(), gpu_id };
        rig.ask(request::ACQUIRE_VM, &mut args).unwrap();
        rig
    }

    pub(crate) fn ask<T>(&self, request: u32, args: &mut T) -> Result<(), Errno> {
        ioctl(&self.process, self.kfd, request, args)
    }

    pub(crate) fn objects(&self) -> Objects {
        self.machine.objects()
    }

    pub(crate) fn alloc(
        &self,
        flags: AllocMemFlags,
        size: u64,
        va_addr: u64,
    ) -> Result<uapi::AllocMemoryOfGpuArgs, Errno> {
        let mut args = uapi::AllocMemoryOfGpuArgs {
            va_addr,
            size,
            gpu_id: self.gpu_id,
            flags: flags.bits(),
            ..Default::default()
        };
        self.ask(request::ALLOC_MEMORY_OF_GPU, &mut args).map(|()| args)
    }

    pub(crate) fn map(&self, handle: u64) -> Result<(), Errno> {
        let mut id = self.gpu_id;
        let mut args = uapi::MapMemoryToGpuArgs {
            handle,
            device_ids_array_ptr: (&raw mut id).expose_provenance() as u64,
            n_devices: 1,
            n_success: 0,
        };
        self.ask(request::MAP_MEMORY_TO_GPU, &mut args)
    }

    pub(crate) fn unmap(&self, handle: u64) -> Result<(), Errno> {
        let mut id = self.gpu_id;
        let mut args = uapi::UnmapMemoryFromGpuArgs {
            handle,
            device_ids_array_ptr: (&raw mut id).expose_provenance() as u64,
            n_devices: 1,
            n_success: 0,
        };
        self.ask(request::UNMAP_MEMORY_FROM_GPU, &mut args)
    }

    pub(crate) fn free(&self, handle: u64) -> Result<(), Errno> {
        self.ask(request::FREE_MEMORY_OF_GPU, &mut uapi::FreeMemoryOfGpuArgs { handle })
    }

    pub(crate) fn mmap(&self, fd: i32, address: u64, size: u64, offset: u64) -> Result<u64, Errno> {
        let fixed = if address == 0 { MapFlags::empty() } else { MapFlags::FIXED };
        let protection = Protection::READ | Protection::WRITE;
        let address = std::ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: a fixed range was reserved by `reserve`.
        let pointer = unsafe {
            let flags = MapFlags::SHARED | fixed;
            self.process.mmap(address, size as usize, protection, flags, fd, offset)?
        };
        Ok(pointer.expose_provenance() as u64)
    }

    pub(crate) fn munmap(&self, address: u64, size: u64) {
        let address = std::ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: the range was mapped by `mmap` or `reserve`, and the tests refer to it no more.
        unsafe { self.process.munmap(address, size as usize).unwrap() };
    }

    /// A buffer at the same address on GPU and host.
    pub(crate) fn buffer(&self, flags: AllocMemFlags, size: u64) -> Buffer {
        let va = reserve(&self.process, size.next_multiple_of(PAGE));
        let args = self.alloc(flags, size, va).unwrap();
        self.map(args.handle).unwrap();
        self.mmap(self.render, va, size, args.mmap_offset).unwrap();
        Buffer { va, size, handle: args.handle, offset: args.mmap_offset }
    }

    pub(crate) fn release(&self, buffer: Buffer) {
        self.unmap(buffer.handle).unwrap();
        self.free(buffer.handle).unwrap();
        self.munmap(buffer.va, buffer.size);
    }

    pub(crate) fn create_event(&self, event_type: u32, auto_reset: u32) -> u32 {
        let mut args = uapi::CreateEventArgs { event_type, auto_reset, ..Default::default() };
        self.ask(request::CREATE_EVENT, &mut args).unwrap();
        args.event_id
    }

    /// Waits for one event; its data and the result.
    pub(crate) fn wait(&self, event: uapi::EventData, timeout: u32) -> (uapi::EventData, u32) {
        let mut data = event;
        let mut args = uapi::WaitEventsArgs {
            events_ptr: (&raw mut data).expose_provenance() as u64,
            num_events: 1,
            timeout,
            ..Default::default()
        };
        self.ask(request::WAIT_EVENTS, &mut args).unwrap();
        (data, args.wait_result)
    }

    pub(crate) fn runtime_enable(&self, mode_mask: u32) -> Result<(), Errno> {
        let mut args = uapi::RuntimeEnableArgs { mode_mask, ..Default::default() };
        self.ask(request::RUNTIME_ENABLE, &mut args)
    }

    /// A number from the GPU node's properties.
    pub(crate) fn property(&self, name: &str) -> Option<u64> {
        let path = "/sys/devices/virtual/kfd/kfd/topology/nodes/1/properties";
        let text = String::from_utf8(self.process.read_file(Path::new(path)).unwrap()).unwrap();
        text.lines().find_map(|line| line.strip_prefix(&format!("{name} "))?.parse().ok())
    }
}

/// A queue with all its buffers: of AQL, unless its arguments are changed.
#[derive(Debug)]
pub(crate) struct Queue {
    pub(crate) args: uapi::CreateQueueArgs,
    pub(crate) ring: Buffer,
    /// The page of the `amd_queue_t`.
    pub(crate) pointers: Buffer,
    pub(crate) eop: Buffer,
    pub(crate) save_area: Buffer,
    doorbells: u64,
}

const RING_BYTES: u64 = 4096;
/// Bytes of a process's doorbells on a GPU.
pub(crate) const DOORBELL_SLICE: u64 = 8192;

impl Rig {
    /// Buffers and arguments of a queue that CREATE_QUEUE accepts.
    pub(crate) fn queue_buffers(&self) -> Queue {
        let cwsr = self.property("cwsr_size").unwrap_or(PAGE);
        let stack = self.property("ctl_stack_size").unwrap_or(PAGE);
        let number = |name| self.property(name).unwrap();
        let xccs = number("num_xcc");
        let units = number("simd_count") / number("simd_per_cu") / xccs;
        // kfd_queue.c, `kfd_queue_ctx_save_restore_size`.
        let waves = if number("gfx_target_version") < 100_100 {
            let engines = number("array_count") / number("simd_arrays_per_engine");
            (units * 40).min(engines * 512)
        } else {
            units * 32
        };
        let one = cwsr + (waves * 32).next_multiple_of(64);
        let area = (one * xccs).next_multiple_of(PAGE);
        let (ring, pointers) = (self.buffer(gtt(), RING_BYTES), self.buffer(gtt(), PAGE));
        let (eop, save_area) = (self.buffer(gtt(), PAGE), self.buffer(gtt(), area));
        for slot in (0..RING_BYTES).step_by(64) {
            // INVALID
            ring.dword(slot).store(1, std::sync::atomic::Ordering::Relaxed);
        }
        // read_dispatch_id_field_base_byte_offset of amd_queue_t
        pointers.dword(136).store(128, std::sync::atomic::Ordering::Relaxed);
        let args = uapi::CreateQueueArgs {
            ring_base_address: ring.va,
            write_pointer_address: pointers.va + 56,
            read_pointer_address: pointers.va + 128,
            ring_size: RING_BYTES as u32,
            gpu_id: self.gpu_id,
            queue_type: uapi::QUEUE_TYPE_COMPUTE_AQL,
            queue_percentage: 100,
            queue_priority: 7,
            eop_buffer_address: eop.va,
            eop_buffer_size: PAGE,
            ctx_save_restore_address: save_area.va,
            ctx_save_restore_size: cwsr as u32,
            ctl_stack_size: stack as u32,
            ..Default::default()
        };
        Queue { args, ring, pointers, eop, save_area, doorbells: 0 }
    }

    pub(crate) fn start(&self, queue: &mut Queue) -> Result<(), Errno> {
        self.ask(request::CREATE_QUEUE, &mut queue.args)?;
        let offset = queue.args.doorbell_offset & !(DOORBELL_SLICE - 1);
        queue.doorbells = self.mmap(self.kfd, 0, DOORBELL_SLICE, offset).unwrap();
        Ok(())
    }

    pub(crate) fn queue(&self) -> Queue {
        let mut queue = self.queue_buffers();
        self.start(&mut queue).unwrap();
        queue
    }

    pub(crate) fn destroy(&self, queue: Queue) {
        let mut args = uapi::DestroyQueueArgs { queue_id: queue.args.queue_id, pad: 0 };
        self.ask(request::DESTROY_QUEUE, &mut args).unwrap();
        self.munmap(queue.doorbells, DOORBELL_SLICE);
        self.release_buffers(queue);
    }

    pub(crate) fn release_buffers(&self, queue: Queue) {
        for buffer in [queue.ring, queue.pointers, queue.eop, queue.save_area] {
            self.release(buffer);
        }
    }
}

impl Queue {
    /// Puts a barrier packet with this completion signal at `index`, and rings the doorbell.
    pub(crate) fn submit_barrier(&self, index: u64, completion_signal: u64) {
        /// Barrier-AND, system scope acquire and release.
        const HEADER: u32 = 3 | 1 << 8 | 2 << 9 | 2 << 11;
        let mut words = [0; 16];
        words[0] = HEADER;
        words[14] = completion_signal as u32;
        words[15] = (completion_signal >> 32) as u32;
        self.submit(index, &words);
    }

    /// Puts a packet at `index`, and rings the doorbell.
    pub(crate) fn submit(&self, index: u64, words: &[u32; 16]) {
        use std::sync::atomic::Ordering::{Release, SeqCst};
        let slot = index * 64 % RING_BYTES;
        for (at, &word) in (slot..).step_by(4).zip(words).skip(1) {
            self.ring.dword(at).store(word, SeqCst);
        }
        self.ring.dword(slot).store(words[0], Release);
        self.pointers.qword(56).store(index + 1, SeqCst);
        self.ring_doorbell(index);
    }

    pub(crate) fn ring_doorbell(&self, value: u64) {
        let byte = self.args.doorbell_offset & (DOORBELL_SLICE - 1);
        let doorbell = std::ptr::with_exposed_provenance_mut((self.doorbells + byte) as usize);
        // SAFETY: the doorbells are mapped as long as the queue lives.
        unsafe { AtomicU64::from_ptr(doorbell) }.store(value, std::sync::atomic::Ordering::SeqCst);
    }
}

/// Waits until `condition` holds, at most ten seconds.
pub(crate) fn eventually(what: &str, condition: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !condition() {
        assert!(start.elapsed().as_secs() < 10, "{what} never came true");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
