//! A GPU with an AQL and an SDMA queue, through the seam.

use kfd::uapi::{self, AllocMemFlags, request};
use selvedge_sys::{MapFlags, OpenMode, Protection, System};
use std::hint::spin_loop;
use std::path::Path;
use std::ptr::{from_mut, with_exposed_provenance_mut};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

const PAGE: u64 = 4096;
const RING_BYTES: u64 = 4096;
/// Bytes of a process's doorbells on a GPU.
const DOORBELL_SLICE: u64 = 8192;
const NODE: &str = "/sys/devices/virtual/kfd/kfd/topology/nodes/1";
/// What is copied.
const COPY_BYTES: u64 = 1 << 20;
/// In the page of pointers: those of an `amd_queue_t` (hsa_amd_queue.h) for AQL; of SDMA anywhere.
const WRITE: u64 = 56;
const READ: u64 = 128;

/// Memory that host and GPU have at one address.
#[derive(Clone, Copy, Debug)]
struct Buffer(u64);

impl Buffer {
    fn dword(&self, at: u64) -> &AtomicU32 {
        // SAFETY: mapped until the process ends, and aligned.
        unsafe { AtomicU32::from_ptr(with_exposed_provenance_mut((self.0 + at) as usize)) }
    }

    fn qword(&self, at: u64) -> &AtomicU64 {
        // SAFETY: as above.
        unsafe { AtomicU64::from_ptr(with_exposed_provenance_mut((self.0 + at) as usize)) }
    }
}

/// A queue with its buffers.
#[derive(Debug)]
struct Queue {
    ring: Buffer,
    pointers: Buffer,
    doorbell: Buffer,
    /// What was written: packets or bytes.
    written: u64,
}

#[derive(Debug)]
pub(crate) struct Rig {
    system: Arc<dyn System>,
    kfd: i32,
    render: i32,
    gpu_id: u32,
    aql: Option<Queue>,
    sdma: Option<Queue>,
    kernel: Buffer,
    source: Buffer,
    destination: Buffer,
}

impl Rig {
    pub(crate) fn new(system: Arc<dyn System>) -> Rig {
        let open = |path| system.open(Path::new(path), OpenMode::ReadWrite).expect("a device");
        let (kfd, render) = (open("/dev/kfd"), open("/dev/dri/renderD128"));
        let id = system.read_file(Path::new(&format!("{NODE}/gpu_id"))).expect("the GPU's node");
        let gpu_id = String::from_utf8_lossy(&id).trim().parse().expect("an id");
        let nothing = Buffer(0);
        let (kernel, source, destination) = (nothing, nothing, nothing);
        let (aql, sdma) = (None, None);
        let mut rig = Rig { system, kfd, render, gpu_id, aql, sdma, kernel, source, destination };
        rig.ask(
            request::ACQUIRE_VM,
            &mut uapi::AcquireVmArgs { drm_fd: render.cast_unsigned(), gpu_id },
        );
        rig.kernel = rig.kernel();
        rig.source = rig.buffer(COPY_BYTES);
        rig.destination = rig.buffer(COPY_BYTES);
        for at in (0..COPY_BYTES).step_by(8) {
            rig.source.qword(at).store(at, Relaxed);
        }
        rig.aql = Some(rig.aql_queue());
        rig.sdma = Some(rig.queue(uapi::CreateQueueArgs {
            queue_type: uapi::QUEUE_TYPE_SDMA,
            ..Default::default()
        }));
        rig
    }

    fn ask<T>(&self, request: u32, args: &mut T) {
        // SAFETY: `args` is a live struct of the request's size.
        let result = unsafe { self.system.ioctl(self.kfd, request, from_mut(args).cast()) };
        result.expect("the driver agrees");
    }

    fn property(&self, name: &str) -> u64 {
        let text = self.system.read_file(Path::new(&format!("{NODE}/properties")));
        let text = String::from_utf8(text.expect("properties")).expect("text");
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        value.expect("the property is there")
    }

    fn map(&self, address: u64, size: u64, fd: i32, offset: u64, flags: MapFlags) -> u64 {
        let protection = Protection::READ | Protection::WRITE;
        let address = with_exposed_provenance_mut(address as usize);
        // SAFETY: a fixed address was reserved before.
        let pointer =
            unsafe { self.system.mmap(address, size as usize, protection, flags, fd, offset) };
        pointer.expect("a mapping").expose_provenance() as u64
    }

    fn buffer(&self, size: u64) -> Buffer {
        let anonymous = MapFlags::PRIVATE | MapFlags::ANONYMOUS | MapFlags::NORESERVE;
        let va = self.map(0, size, -1, 0, anonymous);
        let flags = AllocMemFlags::GTT
            | AllocMemFlags::WRITABLE
            | AllocMemFlags::EXECUTABLE
            | AllocMemFlags::COHERENT
            | AllocMemFlags::UNCACHED;
        let mut args = uapi::AllocMemoryOfGpuArgs {
            va_addr: va,
            size,
            gpu_id: self.gpu_id,
            flags: flags.bits(),
            ..Default::default()
        };
        self.ask(request::ALLOC_MEMORY_OF_GPU, &mut args);
        let mut id = self.gpu_id;
        let mut map = uapi::MapMemoryToGpuArgs {
            handle: args.handle,
            device_ids_array_ptr: (&raw mut id).expose_provenance() as u64,
            n_devices: 1,
            n_success: 0,
        };
        self.ask(request::MAP_MEMORY_TO_GPU, &mut map);
        self.map(va, size, self.render, args.mmap_offset, MapFlags::SHARED | MapFlags::FIXED);
        Buffer(va)
    }

    fn queue(&self, args: uapi::CreateQueueArgs) -> Queue {
        let (ring, pointers) = (self.buffer(RING_BYTES), self.buffer(PAGE));
        for slot in (0..RING_BYTES).step_by(64) {
            // INVALID, to AQL.
            ring.dword(slot).store(1, Relaxed);
        }
        // read_dispatch_id_field_base_byte_offset of amd_queue_t
        pointers.dword(136).store(128, Relaxed);
        let mut args = uapi::CreateQueueArgs {
            ring_base_address: ring.0,
            write_pointer_address: pointers.0 + WRITE,
            read_pointer_address: pointers.0 + READ,
            ring_size: RING_BYTES as u32,
            gpu_id: self.gpu_id,
            queue_percentage: 100,
            queue_priority: 7,
            ..args
        };
        self.ask(request::CREATE_QUEUE, &mut args);
        let offset = args.doorbell_offset & !(DOORBELL_SLICE - 1);
        let doorbells = self.map(0, DOORBELL_SLICE, self.kfd, offset, MapFlags::SHARED);
        let doorbell = Buffer(doorbells + (args.doorbell_offset & (DOORBELL_SLICE - 1)));
        Queue { ring, pointers, doorbell, written: 0 }
    }

    fn aql_queue(&self) -> Queue {
        let [save, stack] = ["cwsr_size", "ctl_stack_size"].map(|name| self.property(name));
        // kfd_queue.c, `kfd_queue_ctx_save_restore_size`.
        let units = self.property("simd_count") / self.property("simd_per_cu");
        let area = (save + (units * 32 * 32).next_multiple_of(64)).next_multiple_of(PAGE);
        let (end_of_pipe, area) = (self.buffer(PAGE), self.buffer(area));
        self.queue(uapi::CreateQueueArgs {
            queue_type: uapi::QUEUE_TYPE_COMPUTE_AQL,
            eop_buffer_address: end_of_pipe.0,
            eop_buffer_size: PAGE,
            ctx_save_restore_address: area.0,
            ctx_save_restore_size: save as u32,
            ctl_stack_size: stack as u32,
            ..Default::default()
        })
    }

    pub(crate) fn version(&mut self) {
        self.ask(request::GET_VERSION, &mut uapi::GetVersionArgs::default());
    }

    /// A kernel that ends at once, on one wave: its descriptor (llvm.org, AMDGPUUsage, "Kernel Descriptor"), and
    /// 256 bytes behind it the code.
    fn kernel(&self) -> Buffer {
        /// s_endpgm of gfx11 (SOPP, opcode 48).
        const END: u32 = 0xbfb0_0000;
        /// COMPUTE_PGM_RSRC1: MEM_ORDERED.
        const RSRC1: u32 = 1 << 30;
        /// ENABLE_WAVEFRONT_SIZE32
        const PROPERTIES: u32 = 1 << 10;
        let kernel = self.buffer(PAGE);
        kernel.qword(16).store(256, Relaxed);
        kernel.dword(48).store(RSRC1, Relaxed);
        kernel.dword(56).store(PROPERTIES, Relaxed);
        kernel.dword(256).store(END, Relaxed);
        kernel
    }

    /// A dispatch of a wave that does nothing, from the doorbell until the read index has moved.
    pub(crate) fn dispatch(&mut self) {
        /// Kernel dispatch with the barrier bit, system scope acquire and release, one dimension.
        const HEADER: u32 = 2 | 1 << 8 | 2 << 9 | 2 << 11 | 1 << 16;
        let kernel = [self.kernel.0 as u32, (self.kernel.0 >> 32) as u32];
        // Workgroup and grid of 32 work-items.
        let words = [32 | 1 << 16, 1, 32, 1, 1, 0, 0, kernel[0], kernel[1], 0, 0, 0, 0, 0, 0];
        let queue = self.aql.as_mut().expect("made in `new`");
        let index = queue.written;
        queue.written += 1;
        let slot = index * 64 % RING_BYTES;
        for (at, word) in (slot + 4..).step_by(4).zip(words) {
            queue.ring.dword(at).store(word, Relaxed);
        }
        queue.ring.dword(slot).store(HEADER, Release);
        queue.pointers.qword(WRITE).store(queue.written, Release);
        queue.doorbell.qword(0).store(index, Release);
        while queue.pointers.qword(READ).load(Acquire) != queue.written {
            spin_loop();
        }
    }

    /// COPY_LINEAR of all, until the read pointer has moved.
    pub(crate) fn copy(&mut self) {
        let (from, to) = (self.source.0, self.destination.0);
        let queue = self.sdma.as_mut().expect("made in `new`");
        let words = [
            1,
            COPY_BYTES as u32 - 1,
            0,
            from as u32,
            (from >> 32) as u32,
            to as u32,
            (to >> 32) as u32,
        ];
        for word in words {
            queue.ring.dword(queue.written % RING_BYTES).store(word, Relaxed);
            queue.written += 4;
        }
        queue.pointers.qword(WRITE).store(queue.written, Release);
        queue.doorbell.qword(0).store(queue.written, Release);
        while queue.pointers.qword(READ).load(Acquire) != queue.written {
            spin_loop();
        }
    }

    pub(crate) fn check_copy(&self) {
        let equal = |at| self.destination.qword(at).load(Relaxed) == at;
        assert!((0..COPY_BYTES).step_by(8).all(equal), "the copy is not what was copied");
    }
}
