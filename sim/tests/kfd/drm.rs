//! The render node.

use crate::rig::{PAGE, Rig, ioctl, reserve};
use kfd::uapi::amdgpu::{self as uapi, GemDomain, GemVaFlags, drm_request as request};
use selvedge_sys::{Errno, System, drm};
use zerocopy::FromZeros;

impl Rig {
    fn drm<T>(&self, request: u32, args: &mut T) -> Result<(), Errno> {
        ioctl(&self.process, self.render, request, args)
    }

    pub(crate) fn info<T: FromZeros>(&self, mut info: uapi::Info) -> Result<T, Errno> {
        let mut answer = T::new_zeroed();
        info.return_pointer = (&raw mut answer).expose_provenance() as u64;
        info.return_size = size_of::<T>() as u32;
        self.drm(request::INFO, &mut info).map(|()| answer)
    }
}

#[test]
fn version_and_client() {
    let rig = Rig::new("gfx1151", 18);
    let mut name = [0u8; 4];
    let mut version = drm::Version {
        name_len: 4,
        name: name.as_mut_ptr().expose_provenance() as u64,
        ..Default::default()
    };
    rig.drm(drm::VERSION, &mut version).unwrap();
    assert_eq!((version.version_major, version.name_len, &name), (3, 6, b"amdg"));
    let mut client = drm::Client::default();
    rig.drm(drm::GET_CLIENT, &mut client).unwrap();
    assert_eq!((client.auth, client.pid), (1, u64::from(rig.process.pid())));
    client.idx = 1;
    assert_eq!(rig.drm(drm::GET_CLIENT, &mut client), Err(Errno::EINVAL));
    assert_eq!(rig.drm(kfd::uapi::request::GET_VERSION, &mut client), Err(Errno::ENOTTY));
}

#[test]
fn queries() {
    let rig = Rig::new("gfx1100", 18);
    assert_eq!(rig.info::<u32>(uapi::Info::new(uapi::INFO_ACCEL_WORKING)), Ok(1));
    let device: uapi::InfoDevice = rig.info(uapi::Info::new(uapi::INFO_DEV_INFO)).unwrap();
    assert_eq!((device.device_id, device.family, device.cu_active_number), (0x744c, 145, 96));
    assert_eq!(device.gpu_counter_freq, 100_000);
    let cus: u32 = device.cu_bitmap.iter().flatten().map(|map| map.count_ones()).sum();
    assert_eq!(cus, 96);
    let dma = uapi::Info::hw_ip(uapi::INFO_HW_IP_INFO, uapi::HW_IP_DMA, 0);
    let dma: uapi::InfoHwIp = rig.info(dma).unwrap();
    assert_eq!((dma.hw_ip_version_major, dma.available_rings), (6, 3));
    let memory: uapi::MemoryInfo = rig.info(uapi::Info::new(uapi::INFO_MEMORY)).unwrap();
    assert_eq!(memory.vram.total_heap_size, 24560 << 20);
    let firmware = uapi::Info::firmware(uapi::INFO_FW_GFX_MEC);
    let firmware: uapi::InfoFirmware = rig.info(firmware).unwrap();
    assert_eq!(firmware.ver, 2140);
    assert_eq!(rig.info::<u32>(uapi::Info::new(0x77)), Err(Errno::EINVAL), "there is none");
    assert_eq!(rig.info::<u32>(uapi::Info::new(0x1b)), Err(Errno::ENOSYS), "the VBIOS");
    assert_eq!(rig.info::<u64>(uapi::Info::new(0x18)), Ok(0), "evictions");
    assert_eq!(rig.info::<u32>(uapi::Info::new(1)), Err(Errno::EINVAL), "no display");
    assert_eq!(rig.drm(request::INFO, &mut uapi::Info::new(0)), Err(Errno::EINVAL));
}

fn create(rig: &Rig, bytes: u64) -> u32 {
    let mut args = uapi::GemCreate::default();
    args.in_.bo_size = bytes;
    args.in_.domains = GemDomain::GTT.bits();
    rig.drm(request::GEM_CREATE, &mut args).unwrap();
    args.out().handle
}

fn va(rig: &Rig, handle: u32, operation: u32, va_address: u64, map_size: u64) -> Result<(), Errno> {
    let flags = GemVaFlags::READABLE | GemVaFlags::WRITEABLE | GemVaFlags::EXECUTABLE;
    let mut args = uapi::GemVa {
        handle,
        operation,
        flags: flags.bits(),
        va_address,
        map_size,
        ..Default::default()
    };
    rig.drm(request::GEM_VA, &mut args)
}

#[test]
fn addresses_of_buffers() {
    let rig = Rig::new("gfx1151", 18);
    let handle = create(&rig, 2 * PAGE);
    let at = 0x20_0000;
    assert_eq!(va(&rig, handle, uapi::VA_OP_MAP, 0x1000, PAGE), Err(Errno::EINVAL), "reserved");
    assert_eq!(va(&rig, handle, uapi::VA_OP_MAP, 1 << 47, PAGE), Err(Errno::EINVAL), "the hole");
    assert_eq!(va(&rig, handle, uapi::VA_OP_MAP, at, 3 * PAGE), Err(Errno::EINVAL), "too long");
    assert_eq!(va(&rig, handle + 1, uapi::VA_OP_MAP, at, PAGE), Err(Errno::ENOENT));
    assert_eq!(va(&rig, handle, 9, at, PAGE), Err(Errno::EINVAL));
    va(&rig, handle, uapi::VA_OP_MAP, at, 2 * PAGE).unwrap();
    assert_eq!(va(&rig, handle, uapi::VA_OP_MAP, at + PAGE, PAGE), Err(Errno::EINVAL));
    assert_eq!(va(&rig, handle, uapi::VA_OP_UNMAP, at + PAGE, PAGE), Err(Errno::ENOENT));
    va(&rig, handle, uapi::VA_OP_UNMAP, at, 2 * PAGE).unwrap();
    va(&rig, handle, uapi::VA_OP_MAP, at, PAGE).unwrap();
    rig.drm(drm::GEM_CLOSE, &mut drm::GemClose { handle, pad: 0 }).unwrap();
    assert_eq!(rig.objects().gpu_mappings, 0, "closing a handle takes its mappings");
    assert_eq!(rig.drm(drm::GEM_CLOSE, &mut drm::GemClose { handle, pad: 0 }), Err(Errno::EINVAL));
    assert_eq!(rig.objects().buffers, 0);
}

/// What a KFD client does before ACQUIRE_VM, so that the page tables are made by the SDMA engine.
#[test]
fn a_nop_submission() {
    let rig = Rig::new("gfx1151", 18);
    let handle = create(&rig, PAGE);
    let mut mmap = uapi::GemMmap::new(handle);
    rig.drm(request::GEM_MMAP, &mut mmap).unwrap();
    let at = reserve(&rig.process, PAGE);
    rig.mmap(rig.render, at, PAGE, mmap.out.addr_ptr).unwrap();
    va(&rig, handle, uapi::VA_OP_MAP, at, PAGE).unwrap();
    let mut context = uapi::Ctx::new(uapi::CTX_OP_ALLOC_CTX, 0);
    rig.drm(request::CTX, &mut context).unwrap();
    let ctx_id = context.context();
    let mut entry = uapi::BoListEntry { bo_handle: handle, bo_priority: 0 };
    let mut list = uapi::BoList::default();
    list.in_.bo_number = 1;
    list.in_.bo_info_size = 8;
    list.in_.bo_info_ptr = (&raw mut entry).expose_provenance() as u64;
    rig.drm(request::BO_LIST, &mut list).unwrap();
    let mut ib = uapi::CsChunkIb {
        va_start: at,
        ib_bytes: 64,
        ip_type: uapi::HW_IP_DMA,
        ..Default::default()
    };
    let mut chunk = uapi::CsChunk {
        chunk_id: uapi::CHUNK_ID_IB,
        length_dw: size_of::<uapi::CsChunkIb>() as u32 / 4,
        chunk_data: (&raw mut ib).expose_provenance() as u64,
    };
    let mut chunks = (&raw mut chunk).expose_provenance() as u64;
    let mut submit = || {
        let mut cs = uapi::Cs::default();
        cs.in_.ctx_id = ctx_id;
        cs.in_.bo_list_handle = list.out().list_handle;
        cs.in_.num_chunks = 1;
        cs.in_.chunks = (&raw mut chunks).expose_provenance() as u64;
        rig.drm(request::CS, &mut cs).map(|()| cs.out().handle)
    };
    let sequence = submit().unwrap();
    let mut wait = uapi::WaitCs::default();
    wait.in_.handle = sequence;
    wait.in_.ip_type = uapi::HW_IP_DMA;
    wait.in_.ctx_id = ctx_id;
    rig.drm(request::WAIT_CS, &mut wait).unwrap();
    assert_eq!(wait.out().status, 0);
    // Anything but NOPs is refused.
    let word = std::ptr::with_exposed_provenance_mut::<u32>(at as usize);
    // SAFETY: the buffer is mapped there.
    unsafe { word.write_volatile(1) };
    assert_eq!(submit(), Err(Errno::ENOSYS));
    assert_eq!(rig.machine.refusals().len(), 1);
    rig.munmap(at, PAGE);
    rig.process.close(rig.render).unwrap();
    assert_eq!(rig.machine.objects().buffers, 1, "the kfd_process holds the file and its VM");
}

#[test]
fn lists_of_buffers_are_read_before_they_are_looked_at() {
    let rig = Rig::new("gfx1151", 18);
    let handle = create(&rig, PAGE);
    let make = |entries: &[u64], number: u32, size: u32| {
        let mut list = uapi::BoList::default();
        list.in_.bo_number = number;
        list.in_.bo_info_size = size;
        list.in_.bo_info_ptr = entries.as_ptr().expose_provenance() as u64;
        rig.drm(request::BO_LIST, &mut list)
    };
    let entries = vec![u64::from(handle); 128 * 1024 + 1];
    assert_eq!(make(&entries, 128 * 1024, 8), Ok(()));
    assert_eq!(make(&entries, 128 * 1024 + 1, 8), Err(Errno::EINVAL));
    assert_eq!(make(&entries, 3, 16), Ok(()));
    // The first byte of each is the handle; of none the handle is 0.
    assert_eq!((make(&entries, 1, 1), make(&entries, 1, 0)), (Ok(()), Err(Errno::ENOENT)));
    assert_eq!(make(&[9, 9], 2, 8), Err(Errno::ENOENT));
    let end = reserve(&rig.process, PAGE) + PAGE - 8;
    assert_eq!(make(&[], 0, 8), Ok(()));
    let mut list = uapi::BoList::default();
    (list.in_.bo_number, list.in_.bo_info_size) = (2, 1 << 31);
    list.in_.bo_info_ptr = end;
    assert_eq!(rig.drm(request::BO_LIST, &mut list), Err(Errno::EFAULT));
    // Entries without end, of no size, were they all looked at.
    assert_eq!(make(&entries, u32::MAX, 0), Err(Errno::EINVAL));
}

#[test]
fn timelines() {
    let rig = Rig::new("gfx1151", 23);
    let handle = create(&rig, PAGE);
    let mut object = drm::SyncobjCreate::default();
    rig.drm(drm::SYNCOBJ_CREATE, &mut object).unwrap();
    let mut args = uapi::GemVa {
        handle,
        operation: uapi::VA_OP_MAP,
        flags: GemVaFlags::READABLE.bits(),
        va_address: 0x20_0000,
        map_size: PAGE,
        vm_timeline_point: 5,
        vm_timeline_syncobj_out: object.handle,
        ..Default::default()
    };
    rig.drm(request::GEM_VA, &mut args).unwrap();
    let wait = |point: u64| timeline_wait(&rig, &[object.handle], &[point], 0).map(|_| ());
    assert_eq!(wait(5), Ok(()));
    assert_eq!(wait(6), Err(Errno::EINVAL), "nobody has submitted it");
    let wait = |point: u64| timeline_wait(&rig, &[object.handle], &[point], FOR_SUBMIT).map(|_| ());
    assert_eq!(wait(5), Ok(()));
    assert_eq!(wait(6), Err(Errno::ETIME));
}

const ALL: u32 = 1;
const FOR_SUBMIT: u32 = 2;
const AVAILABLE: u32 = 4;

/// Waits until now; the index that it tells.
fn timeline_wait(rig: &Rig, handles: &[u32], points: &[u64], flags: u32) -> Result<u32, Errno> {
    let mut args = drm::SyncobjTimelineWait {
        handles: handles.as_ptr().expose_provenance() as u64,
        points: points.as_ptr().expose_provenance() as u64,
        count_handles: handles.len() as u32,
        flags,
        ..Default::default()
    };
    rig.drm(drm::SYNCOBJ_TIMELINE_WAIT, &mut args).map(|()| args.first_signaled)
}

#[test]
fn sync_objects() {
    let rig = Rig::new("gfx1151", 23);
    let create = |flags| {
        let mut args = drm::SyncobjCreate { flags, ..Default::default() };
        rig.drm(drm::SYNCOBJ_CREATE, &mut args).map(|()| args.handle)
    };
    let (empty, signaled) = (create(0).unwrap(), create(1).unwrap());
    assert_eq!(create(2), Err(Errno::EINVAL));
    let wait = |handles: &[u32], flags| timeline_wait(&rig, handles, &[0, 0], flags);
    assert_eq!(wait(&[empty], 0), Err(Errno::EINVAL), "without a fence not even point 0 is there");
    assert_eq!(wait(&[signaled], 0), Ok(0));
    assert_eq!(timeline_wait(&rig, &[signaled], &[1], 0), Err(Errno::EINVAL), "on no timeline");
    assert_eq!(wait(&[empty, signaled], 0), Err(Errno::EINVAL), "any of them");
    assert_eq!(wait(&[empty, signaled], FOR_SUBMIT), Ok(1));
    assert_eq!(wait(&[empty, signaled], FOR_SUBMIT | ALL), Err(Errno::ETIME));
    assert_eq!(wait(&[signaled, empty], AVAILABLE), Ok(0));
    assert_eq!(wait(&[signaled, signaled], ALL), Ok(0));
    assert_eq!(wait(&[signaled], 16), Err(Errno::EINVAL), "unknown flag");
    assert_eq!(wait(&[], 0), Ok(0));
    assert_eq!(wait(&[signaled, 99], FOR_SUBMIT), Err(Errno::ENOENT));
    let many = vec![signaled; 60_000];
    let points = vec![0; many.len()];
    assert_eq!(timeline_wait(&rig, &many, &points, 0), Err(Errno::ENOMEM));
    assert_eq!(timeline_wait(&rig, &many[..50_000], &points, ALL), Ok(0));
}

/// The argument is copied only in directions that both the caller and the kernel name.
#[test]
fn directions_are_the_callers() {
    let rig = Rig::new("gfx1151", 18);
    let with = |direction: u32| drm::SYNCOBJ_CREATE & !(3 << 30) | direction << 30;
    let mut args = drm::SyncobjCreate { flags: 2, handle: 77 };
    assert_eq!(rig.drm(with(3), &mut args), Err(Errno::EINVAL));
    // Out only: the kernel sees no flags.
    rig.drm(with(2), &mut args).unwrap();
    assert_eq!((args.flags, args.handle), (0, 1));
    // In only: no answer.
    args = drm::SyncobjCreate { flags: 1, handle: 77 };
    rig.drm(with(1), &mut args).unwrap();
    assert_eq!(args.handle, 77);
    assert_eq!(timeline_wait(&rig, &[2], &[0], 0), Ok(0));
    // The KFD goes by its own table.
    let mut version = kfd::uapi::GetVersionArgs::default();
    let request = kfd::uapi::request::GET_VERSION & !(3 << 30);
    ioctl(&rig.process, rig.kfd, request, &mut version).unwrap();
    assert_eq!(version.major_version, 1);
}

#[test]
fn handles_are_the_lowest_free() {
    let rig = Rig::new("gfx1151", 18);
    let handles = [(); 3].map(|()| create(&rig, PAGE));
    assert_eq!(handles, [1, 2, 3]);
    for handle in [3, 1] {
        rig.drm(drm::GEM_CLOSE, &mut drm::GemClose { handle, pad: 0 }).unwrap();
    }
    assert_eq!([(); 3].map(|()| create(&rig, PAGE)), [1, 3, 4]);
}

/// `amdgpu_vm_bo_clear_mappings`: what is left of a mapping keeps its bytes.
#[test]
fn mappings_are_cut() {
    let rig = Rig::new("gfx1151", 18);
    let handle = create(&rig, 8 * PAGE);
    let other = create(&rig, 2 * PAGE);
    let at = 0x20_0000;
    va(&rig, handle, uapi::VA_OP_MAP, at, 8 * PAGE).unwrap();
    assert_eq!(va(&rig, other, uapi::VA_OP_MAP, at + 2 * PAGE, PAGE), Err(Errno::EINVAL));
    va(&rig, other, uapi::VA_OP_REPLACE, at + 2 * PAGE, 2 * PAGE).unwrap();
    assert_eq!(rig.objects().gpu_mappings, 3);
    va(&rig, 0, uapi::VA_OP_CLEAR, at + 7 * PAGE, 4 * PAGE).unwrap();
    assert_eq!(rig.objects().gpu_mappings, 3, "the last part is shorter");
    assert_eq!(va(&rig, 0, uapi::VA_OP_CLEAR, at + 8, PAGE), Err(Errno::EINVAL));
    va(&rig, handle, uapi::VA_OP_UNMAP, at, 0).unwrap();
    va(&rig, handle, uapi::VA_OP_UNMAP, at + 4 * PAGE, 0).unwrap();
    assert_eq!(va(&rig, handle, uapi::VA_OP_UNMAP, at + 7 * PAGE, 0), Err(Errno::ENOENT));
    va(&rig, 0, uapi::VA_OP_CLEAR, at, 8 * PAGE).unwrap();
    assert_eq!(rig.objects().gpu_mappings, 0);
}

#[test]
fn memory_of_the_process_as_a_buffer() {
    let rig = Rig::new("gfx1151", 18);
    let memory = crate::rig::anonymous(&rig.process, 2 * PAGE);
    let ask = |addr: u64, size: u64, flags: u32| {
        let mut args = uapi::GemUserptr { addr, size, flags, handle: 0 };
        rig.drm(request::GEM_USERPTR, &mut args).map(|()| args.handle)
    };
    let register = uapi::GemUserptrFlags::REGISTER.bits();
    assert_eq!(ask(memory + 8, PAGE, register), Err(Errno::EINVAL));
    assert_eq!(ask(memory, PAGE, 0x10), Err(Errno::EINVAL));
    assert_eq!(ask(memory, PAGE, 0), Err(Errno::EACCES), "writing needs a notifier");
    assert_eq!(ask(0x2_0000, PAGE, register | 4), Err(Errno::EFAULT));
    let handle = ask(memory, 2 * PAGE, register | 4).unwrap();
    va(&rig, handle, uapi::VA_OP_MAP, 0x20_0000, 2 * PAGE).unwrap();
    let mut prime = drm::PrimeHandle { handle, flags: 0, fd: -1 };
    assert_eq!(rig.drm(drm::PRIME_HANDLE_TO_FD, &mut prime), Err(Errno::EPERM));
    rig.munmap(memory, 2 * PAGE);
    rig.drm(drm::GEM_CLOSE, &mut drm::GemClose { handle, pad: 0 }).unwrap();
    assert_eq!(rig.objects().buffers, 0);
}

/// `amdgpu_ctx_query`, `amdgpu_ctx_query2`.
#[test]
fn contexts_know_of_resets() {
    let rig = Rig::new("gfx1151", 18);
    let context = |op: u32, id: u32| {
        let mut args = uapi::Ctx::new(op, id);
        rig.drm(request::CTX, &mut args).map(|()| args)
    };
    let old = context(uapi::CTX_OP_ALLOC_CTX, 0).unwrap().context();
    let flags = |id| context(uapi::CTX_OP_QUERY_STATE2, id).unwrap().state_flags();
    let status = |id| context(uapi::CTX_OP_QUERY_STATE, id).unwrap().reset_status();
    assert_eq!((flags(old), status(old)), (0, 0));
    rig.machine.reset_gpu(0);
    let new = context(uapi::CTX_OP_ALLOC_CTX, 0).unwrap().context();
    let lost = uapi::CTX_QUERY2_RESET | uapi::CTX_QUERY2_VRAMLOST;
    assert_eq!((flags(old), status(old), status(old)), (lost, 3, 0));
    assert_eq!((flags(new), status(new)), (0, 0));
    assert_eq!(rig.info::<u32>(uapi::Info::new(uapi::INFO_VRAM_LOST_COUNTER)), Ok(1));
    let mut vm = [1u32, 0];
    // SAFETY: the argument is the request's.
    let ask = |vm: &mut [u32; 2]| unsafe {
        let request = 0xc008_0000 | 0x64 << 8 | 0x53;
        rig.process.ioctl(rig.render, request, vm.as_mut_ptr().cast())
    };
    assert_eq!(ask(&mut vm), Ok(0));
    assert_eq!(ask(&mut [3, 0]), Err(Errno::EINVAL));
    assert_eq!(ask(&mut [1, 1]), Err(Errno::EINVAL));
}

/// drm_syncobj.c.
#[test]
fn sync_objects_are_signalled_and_reset() {
    let rig = Rig::new("gfx1151", 18);
    let create = |flags| {
        let mut object = drm::SyncobjCreate { handle: 0, flags };
        rig.drm(drm::SYNCOBJ_CREATE, &mut object).unwrap();
        object.handle
    };
    let mut handles = [create(1), create(0)];
    let array = |handles: &mut [u32]| drm::SyncobjArray {
        handles: handles.as_mut_ptr().expose_provenance() as u64,
        count_handles: handles.len() as u32,
        pad: 0,
    };
    let wait = |handles: &mut [u32], flags: u32| {
        let mut args = drm::SyncobjWait {
            handles: handles.as_mut_ptr().expose_provenance() as u64,
            count_handles: handles.len() as u32,
            flags,
            first_signaled: 9,
            ..Default::default()
        };
        rig.drm(drm::SYNCOBJ_WAIT, &mut args).map(|()| args.first_signaled)
    };
    assert_eq!(wait(&mut handles[..1], 0), Ok(0));
    assert_eq!(wait(&mut handles, 1), Err(Errno::EINVAL), "nobody has submitted the second");
    assert_eq!(wait(&mut handles, 1 | FOR_SUBMIT), Err(Errno::ETIME));
    assert_eq!(wait(&mut handles, 4), Err(Errno::EINVAL), "of timelines");
    rig.drm(drm::SYNCOBJ_SIGNAL, &mut array(&mut handles[1..])).unwrap();
    assert_eq!(wait(&mut handles, 1), Ok(0));
    rig.drm(drm::SYNCOBJ_RESET, &mut array(&mut handles)).unwrap();
    assert_eq!(wait(&mut handles, FOR_SUBMIT), Err(Errno::ETIME));
    assert_eq!(rig.drm(drm::SYNCOBJ_RESET, &mut array(&mut [])), Err(Errno::EINVAL));
    assert_eq!(rig.drm(drm::SYNCOBJ_RESET, &mut array(&mut [77])), Err(Errno::ENOENT));
    let mut points = [7u64, 9];
    let mut timeline = drm::SyncobjTimelineArray {
        handles: handles.as_mut_ptr().expose_provenance() as u64,
        points: points.as_mut_ptr().expose_provenance() as u64,
        count_handles: 2,
        flags: 0,
    };
    rig.drm(drm::SYNCOBJ_TIMELINE_SIGNAL, &mut timeline).unwrap();
    points = [0; 2];
    rig.drm(drm::SYNCOBJ_QUERY, &mut timeline).unwrap();
    assert_eq!(points, [7, 9]);
    let mut transfer = drm::SyncobjTransfer {
        src_handle: handles[0],
        dst_handle: handles[1],
        src_point: 7,
        dst_point: 12,
        ..Default::default()
    };
    rig.drm(drm::SYNCOBJ_TRANSFER, &mut transfer).unwrap();
    rig.drm(drm::SYNCOBJ_QUERY, &mut timeline).unwrap();
    assert_eq!(points, [7, 12]);
    transfer.src_point = 8;
    assert_eq!(rig.drm(drm::SYNCOBJ_TRANSFER, &mut transfer), Err(Errno::EINVAL));
}

/// drm_ioctl.c: what render nodes may not, and what all may ask.
#[test]
fn calls_of_the_core() {
    let rig = Rig::new("gfx1151", 18);
    let mut argument = [0u64; 32];
    for number in [0x01, 0x0d, 0x3a, 0xa0, 0xb2, 0xc6] {
        let request = drm::VERSION & !0xff | number;
        assert_eq!(rig.drm(request, &mut argument), Err(Errno::EACCES), "{number:#x}");
    }
    for number in [0x3e, 0xd8, 0xff] {
        let request = drm::VERSION & !0xff | number;
        assert_eq!(rig.drm(request, &mut argument), Err(Errno::EINVAL), "{number:#x}");
    }
    assert_eq!(rig.machine.refusals().len(), 0);
    let mut monotonic = drm::GetCap { capability: 6, value: 0 };
    rig.drm(drm::GET_CAP, &mut monotonic).unwrap();
    assert_eq!(monotonic.value, 1);
    let mut client = drm::Client::default();
    rig.drm(drm::GET_CLIENT, &mut client).unwrap();
    assert_eq!(client.uid, 65534);
    for (minor, date) in [(17, "20150101"), (18, "0")] {
        let rig = Rig::new("gfx1151", minor);
        let mut version = drm::Version::default();
        rig.drm(drm::VERSION, &mut version).unwrap();
        assert_eq!(version.date_len, date.len() as u64);
    }
}

/// `amdgpu_info_ioctl`, `amdgpu_hw_ip_info`, `amdgpu_firmware_info`.
#[test]
fn queries_of_blocks() {
    let count =
        |rig: &Rig, kind| rig.info::<u32>(uapi::Info::hw_ip(uapi::INFO_HW_IP_COUNT, kind, 0));
    let rig = Rig::new("gfx942", 17);
    assert_eq!((count(&rig, uapi::HW_IP_GFX), count(&rig, uapi::HW_IP_DMA)), (Ok(8), Ok(16)));
    assert_eq!((count(&rig, 3), count(&rig, 10)), (Err(Errno::EINVAL), Err(Errno::EINVAL)));
    let block = |rig: &Rig, kind, instance| {
        rig.info::<uapi::InfoHwIp>(uapi::Info::hw_ip(uapi::INFO_HW_IP_INFO, kind, instance))
    };
    let shown = |rig: &Rig, kind| {
        let ip = block(rig, kind, 0).unwrap();
        (ip.hw_ip_version_major, ip.hw_ip_version_minor, ip.available_rings)
    };
    assert_eq!(
        (shown(&rig, 0), shown(&rig, 1), shown(&rig, 2)),
        ((9, 4, 0), (9, 4, 15), (4, 4, 3))
    );
    assert_eq!(shown(&rig, 3), (0, 0, 0));
    assert_eq!(block(&rig, 0, 1).map(drop), Err(Errno::EINVAL));
    assert_eq!(block(&rig, 10, 0).map(drop), Err(Errno::EINVAL));
    let old = Rig::new("gfx1100", 14);
    assert_eq!((count(&old, uapi::HW_IP_DMA), count(&old, 3)), (Ok(1), Ok(0)));
    assert_eq!((shown(&old, 0), shown(&old, 2)), ((11, 0, 1), (6, 0, 3)));
    let strix = Rig::new("gfx1151", 18);
    assert_eq!(shown(&strix, 0), (11, 0, 1));
    let firmware = |data: [u32; 3]| {
        let mut info = uapi::Info::firmware(data[0]);
        info.data[..3].copy_from_slice(&data);
        rig.info::<uapi::InfoFirmware>(info).map(drop)
    };
    assert_eq!(firmware([uapi::INFO_FW_GFX_MEC, 0, 1]), Ok(()));
    for data in [
        [uapi::INFO_FW_GFX_MEC, 1, 0],
        [uapi::INFO_FW_GFX_MEC, 0, 2],
        [uapi::INFO_FW_SDMA, 0, 16],
        [0x1d, 0, 0],
    ] {
        assert_eq!(firmware(data), Err(Errno::EINVAL), "{data:?}");
    }
    let register = |instance: u32| {
        let mut info = uapi::Info::new(uapi::INFO_READ_MMR_REG);
        info.data = [0x2004, 1, instance, 0];
        rig.info::<u32>(info).map(drop)
    };
    assert_eq!((register(0xffff), register(0x103)), (Ok(()), Ok(())));
    assert_eq!((register(4), register(0x200)), (Err(Errno::EINVAL), Err(Errno::EINVAL)));
    let device: uapi::InfoDevice = rig.info(uapi::Info::new(uapi::INFO_DEV_INFO)).unwrap();
    assert_eq!((device.virtual_address_offset, device.virtual_address_max), (1 << 16, 1 << 47));
    assert_eq!(device.high_va_offset, 0xffff_8000_0000_0000);
    assert_eq!(device.high_va_max, 0xffff_ffff_ffff_ffff - 0x41_0000 + 1);
}

/// `amdgpu_gem_create_ioctl`, `amdgpu_gem_op_ioctl`, `amdgpu_bo_set_metadata`.
#[test]
fn what_buffers_remember() {
    let rig = Rig::new("gfx1100", 18);
    let mut args = uapi::GemCreate::default();
    args.in_.bo_size = 3 * PAGE;
    args.in_.alignment = 0x1_0001;
    args.in_.domains = (GemDomain::GTT | GemDomain::VRAM).bits();
    rig.drm(request::GEM_CREATE, &mut args).unwrap();
    let handle = args.out().handle;
    let op = |op: u32, value: u64, handle| {
        let mut args = uapi::GemOp { handle, op, value, ..Default::default() };
        rig.drm(request::GEM_OP, &mut args)
    };
    let created = || {
        let mut info = uapi::GemCreateIn::default();
        op(uapi::GEM_OP_GET_GEM_CREATE_INFO, (&raw mut info).expose_provenance() as u64, handle)
            .unwrap();
        (info.bo_size, info.alignment, info.domains, info.domain_flags)
    };
    let cleared = uapi::GemCreateFlags::VRAM_CLEARED.bits();
    assert_eq!(created(), (3 * PAGE, 0x1_1000, 6, cleared));
    op(uapi::GEM_OP_SET_PLACEMENT, 0xff, handle).unwrap();
    assert_eq!(created().2, 7);
    assert_eq!(op(9, 0, handle), Err(Errno::EINVAL));
    let mut wait = uapi::GemWaitIdle::default();
    wait.in_.handle = handle;
    rig.drm(request::GEM_WAIT_IDLE, &mut wait).unwrap();
    assert_eq!((wait.out().status, wait.out().domain), (0, 0));
    let metadata = |op, flags, tiling_info, data_size_bytes| {
        let mut args = uapi::GemMetadata {
            handle,
            op,
            flags,
            tiling_info,
            data_size_bytes,
            ..Default::default()
        };
        rig.drm(request::GEM_METADATA, &mut args).unwrap();
        (args.flags, args.tiling_info, args.data_size_bytes)
    };
    let (set, get) = (uapi::GEM_METADATA_OP_SET, uapi::GEM_METADATA_OP_GET);
    metadata(set, 5, 0x1_0000_0009, 8);
    assert_eq!(metadata(get, 0, 0, 0), (5, 0x1_0000_0009, 8));
    metadata(set, 6, 7, 0);
    assert_eq!(metadata(get, 0, 0, 0), (5, 7, 0), "without bytes there are no flags");
    // One that can be of this file's VM alone.
    args.in_ = uapi::GemCreateIn {
        bo_size: PAGE,
        alignment: 0,
        domains: GemDomain::GTT.bits(),
        domain_flags: uapi::GemCreateFlags::VM_ALWAYS_VALID.bits(),
    };
    rig.drm(request::GEM_CREATE, &mut args).unwrap();
    let export = |handle, flags: i32| {
        let mut prime = drm::PrimeHandle { handle, flags: flags as u32, fd: -1 };
        rig.drm(drm::PRIME_HANDLE_TO_FD, &mut prime).map(|()| prime.fd)
    };
    assert_eq!(export(args.out().handle, 0), Err(Errno::EPERM));
    assert_eq!(export(handle, libc::O_NONBLOCK), Err(Errno::EINVAL));
    // SAFETY: asks for the flags of a descriptor.
    let closed = |fd| unsafe { libc::fcntl(fd, libc::F_GETFD) };
    let (plain, both) =
        (export(handle, 0).unwrap(), export(handle, libc::O_CLOEXEC | libc::O_RDWR).unwrap());
    assert_eq!((closed(plain), closed(both)), (0, libc::FD_CLOEXEC));
    let at = reserve(&rig.process, PAGE);
    assert_eq!(rig.mmap(plain, at, PAGE, 0).map(drop), Err(Errno::EACCES), "it is read-only");
    assert!(rig.mmap(both, at, PAGE, 0).is_ok());
    rig.munmap(at, PAGE);
}

/// What is wrong with a mapping that is to replace others leaves them there.
#[test]
fn replacing_fails_as_a_whole() {
    let rig = Rig::new("gfx1151", 18);
    let (old, new) = (create(&rig, 2 * PAGE), create(&rig, PAGE));
    let at = 0x20_0000;
    va(&rig, old, uapi::VA_OP_MAP, at, 2 * PAGE).unwrap();
    assert_eq!(va(&rig, new, uapi::VA_OP_REPLACE, at, 2 * PAGE), Err(Errno::EINVAL));
    assert_eq!(va(&rig, old, uapi::VA_OP_UNMAP, at, 0), Ok(()));
}

/// `amdgpu_ctx_ioctl`, `amdgpu_bo_list_ioctl`, `amdgpu_cs_wait_ioctl`.
#[test]
fn contexts_and_lists_are_checked() {
    let rig = Rig::new("gfx1151", 18);
    let context = |op: u32, ctx_id: u32, flags: u32, priority: i32| {
        let mut args = uapi::Ctx::new(op, ctx_id);
        (args.in_.flags, args.in_.priority) = (flags, priority);
        rig.drm(request::CTX, &mut args).map(|()| args)
    };
    let alloc = |flags, priority| {
        context(uapi::CTX_OP_ALLOC_CTX, 0, flags, priority).map(|context| context.context())
    };
    assert_eq!((alloc(1, 0), alloc(0, 512)), (Err(Errno::EINVAL), Err(Errno::EACCES)));
    assert_eq!((alloc(0, -1023), alloc(0, 77)), (Ok(1), Ok(2)));
    assert_eq!(context(9, 1, 0, 0).map(drop), Err(Errno::EINVAL));
    assert_eq!(context(uapi::CTX_OP_FREE_CTX, 1, 1, 0).map(drop), Err(Errno::EINVAL));
    let state = context(uapi::CTX_OP_GET_STABLE_PSTATE, 1, 0, 0).unwrap().state_flags();
    assert_eq!(state, 0);
    assert_eq!(context(uapi::CTX_OP_SET_STABLE_PSTATE, 1, 5, 0).map(drop), Err(Errno::EINVAL));
    for _ in 2..4095 {
        alloc(0, 0).unwrap();
    }
    assert_eq!(alloc(0, 0), Err(Errno::ENOSPC));
    let list = |operation: u32, bo_number: u32, bo_info_size: u32, bo_info_ptr: u64| {
        let in_ =
            uapi::BoListIn { operation, list_handle: 1, bo_number, bo_info_size, bo_info_ptr };
        rig.drm(request::BO_LIST, &mut uapi::BoList { in_ })
    };
    let unknown = [77u32, 0];
    let at = unknown.as_ptr().expose_provenance() as u64;
    let destroy = uapi::BO_LIST_OP_DESTROY;
    assert_eq!(list(uapi::BO_LIST_OP_CREATE, 1, 8, at), Err(Errno::ENOENT));
    assert_eq!(list(9, 1, 8, at), Err(Errno::EINVAL));
    assert_eq!(list(destroy, 1, 8, 8), Err(Errno::EFAULT));
    assert_eq!(list(destroy, (128 << 10) + 1, 0, at), Err(Errno::EINVAL));
    assert_eq!(list(destroy, 1, 8, at), Ok(()));
    assert_eq!(list(uapi::BO_LIST_OP_CREATE, 1, 1, at), Err(Errno::ENOENT));
    let wait = |ip_type, ip_instance, ring, handle| {
        let mut wait = uapi::WaitCs::default();
        (wait.in_.ip_type, wait.in_.ip_instance, wait.in_.ring) = (ip_type, ip_instance, ring);
        (wait.in_.ctx_id, wait.in_.handle) = (1, handle);
        rig.drm(request::WAIT_CS, &mut wait)
    };
    assert_eq!(wait(uapi::HW_IP_DMA, 0, 1, 0), Ok(()));
    for (kind, instance, ring) in [(10, 0, 0), (uapi::HW_IP_DMA, 1, 0), (uapi::HW_IP_DMA, 0, 2)] {
        assert_eq!(wait(kind, instance, ring, 0), Err(Errno::EINVAL));
    }
    assert_eq!(wait(uapi::HW_IP_DMA, 0, 0, 1), Err(Errno::EINVAL), "nothing was submitted");
}
