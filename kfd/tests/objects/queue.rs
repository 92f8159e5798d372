//! Queues.

use crate::process::device;
use crate::scripted::{GPU_ID, Scripted, in_child, only};
use kfd::topology::{Node, NodeProperties};
use kfd::uapi::ContextSaveAreaHeader;
use kfd::{
    Allocation, AllocationFlags, Device, Error, Event, EventKind, ExceptionReport, Location, Queue,
    QueueKind, QueueOptions, SaveAreaSizes,
};
use selvedge_sys::Errno;
use std::mem::offset_of;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// What an AQL queue with a ring of 64 KiB is made of.
fn options(device: &Arc<Device>, kind: QueueKind) -> kfd::Result<QueueOptions> {
    let flags = AllocationFlags::GTT | AllocationFlags::WRITABLE | AllocationFlags::PUBLIC;
    let ring = device.allocate(1 << 16, flags)?;
    let page = device.allocate(4096, flags)?;
    let at = |offset| Location { allocation: page.clone(), offset };
    Ok(QueueOptions::new(kind, ring, at(0x38), at(0x80)))
}

pub(crate) fn aql(device: &Arc<Device>) -> kfd::Result<Queue> {
    device.create_queue(options(device, QueueKind::Aql)?)
}

#[test]
fn the_kernel_gets_what_it_checks() {
    let system = Scripted::new(17);
    let device = device(&system);
    let mut options = options(&device, QueueKind::Aql).unwrap();
    let event = Arc::new(Event::create(&device, EventKind::Signal, true).unwrap());
    let payload = Location { allocation: options.read_pointer.allocation.clone(), offset: 0x100 };
    options.exceptions = Some(ExceptionReport { payload: payload.clone(), event: event.clone() });
    let (ring, page) = (options.ring.address(), payload.allocation.address());
    let queue = device.create_queue(options).unwrap();
    let args = system.script().queues[0];
    assert_eq!((args.ring_base_address, args.ring_size), (ring, 1 << 16));
    assert_eq!((args.write_pointer_address, args.read_pointer_address), (page + 0x38, page + 0x80));
    assert_eq!((args.queue_type, args.queue_percentage, args.queue_priority), (2, 100, 7));
    assert_eq!(args.eop_buffer_size, 4096);
    // 40 compute units of gfx1151 without sizes in sysfs: kfd_queue.c's formula by hand.
    let stack = (40_u32 + 40 * 32 * 12 + 8).next_multiple_of(4096);
    let state = 40 * (0x60000 + 0x4000 + 0x10000 + 0x1000);
    assert_eq!((args.ctl_stack_size, args.ctx_save_restore_size), (stack, stack + state));
    let (area, sizes) = queue.save_area().unwrap();
    assert_eq!(area.address(), args.ctx_save_restore_address);
    let debug = 40 * 32 * 32;
    assert_eq!(area.len(), u64::from(stack + state + debug).next_multiple_of(4096));
    assert_eq!(sizes.debug, debug);

    // Kinds of memory as in libhsakmt (queues.c, `handle_concrete_asic`): the end-of-pipe buffer in
    // device memory, the save area in system memory that may be executed.
    let allocated = |address| {
        let script = system.script();
        let mut all = script.allocations.values();
        all.find(|args| args.va_addr == address).map(|args| (args.gpu_id, args.size, args.flags))
    };
    const { assert!(AllocationFlags::VRAM.bits() == 1 && AllocationFlags::GTT.bits() == 2) };
    let end_of_pipe = AllocationFlags::VRAM | AllocationFlags::WRITABLE;
    assert_eq!(allocated(args.eop_buffer_address), Some((GPU_ID, 4096, end_of_pipe.bits())));
    let save_area = AllocationFlags::GTT
        | AllocationFlags::WRITABLE
        | AllocationFlags::EXECUTABLE
        | AllocationFlags::PUBLIC
        | AllocationFlags::COHERENT
        | AllocationFlags::UNCACHED
        | AllocationFlags::NO_SUBSTITUTE;
    assert_eq!(allocated(area.address()), Some((GPU_ID, area.len(), save_area.bits())));

    let word = |offset: usize| area.word(offset as u64).unwrap().load(Relaxed);
    assert_eq!(word(offset_of!(ContextSaveAreaHeader, debug_offset)), stack + state);
    assert_eq!(word(offset_of!(ContextSaveAreaHeader, debug_size)), debug);
    assert_eq!(word(offset_of!(ContextSaveAreaHeader, err_event_id)), event.id());
    let address = area.long(offset_of!(ContextSaveAreaHeader, err_payload_addr) as u64).unwrap();
    assert_eq!(address.load(Relaxed), payload.address());
}

#[test]
fn sizes_come_from_sysfs_where_it_has_them() {
    let system = Scripted::new(17);
    system.file(
        "nodes/1/properties",
        "simd_count 304\nsimd_per_cu 4\narray_count 8\nsimd_arrays_per_engine 1\n\
         gfx_target_version 90402\nnum_xcc 2\ncwsr_size 1000\nctl_stack_size 200\n\
         drm_render_minor 128\n",
    );
    let device = device(&system);
    let sizes = SaveAreaSizes::of(device.node()).unwrap();
    // min(40 × 38, 8 × 512) waves of 32 bytes.
    let debug = 40 * 38 * 32;
    assert_eq!(sizes, SaveAreaSizes { context: 1000, control_stack: 200, debug, xcc_count: 2 });
    let queue = aql(&device).unwrap();
    let (area, _) = queue.save_area().unwrap();
    assert_eq!(area.len(), u64::from(2 * (1000 + debug)).next_multiple_of(4096));
    // Each XCC has a header; its debugger's memory begins behind all contexts.
    let word = |offset: usize| area.word(offset as u64).unwrap().load(Relaxed);
    let debug_offset = offset_of!(ContextSaveAreaHeader, debug_offset);
    assert_eq!((word(debug_offset), word(1000 + debug_offset)), (2000, 1000));
    assert_eq!(word(offset_of!(ContextSaveAreaHeader, debug_size)), 2 * debug);
}

#[test]
fn sizes_are_those_the_kernel_computes() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/topology/save_area.txt");
    let text = std::fs::read_to_string(file).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines.len(), 15);
    for line in lines {
        let (name, numbers) = line.split_once(' ').unwrap();
        let numbers: Vec<u32> = numbers.split(' ').map(|n| n.parse().unwrap()).collect();
        let [
            version,
            simds,
            simds_per_cu,
            arrays,
            arrays_per_engine,
            xccs,
            context,
            stack,
            debug,
            _,
        ] = numbers[..]
        else {
            panic!("{line}")
        };
        let node = Node {
            index: 1,
            gpu_id: 1,
            name: name.to_owned(),
            properties: NodeProperties {
                gfx_target_version: version,
                simd_count: simds,
                simd_per_cu: simds_per_cu,
                array_count: arrays,
                simd_arrays_per_engine: arrays_per_engine,
                num_xcc: Some(xccs),
                ..NodeProperties::default()
            },
            memory_banks: Vec::new(),
            caches: Vec::new(),
            io_links: Vec::new(),
            p2p_links: Vec::new(),
        };
        let sizes = SaveAreaSizes { context, control_stack: stack, debug, xcc_count: xccs };
        assert_eq!(SaveAreaSizes::of(&node), Some(sizes), "{line}");
    }
}

#[test]
fn doorbells_are_one_mapping_and_one_store() {
    let system = Scripted::new(17);
    let device = device(&system);
    let (one, two) = (aql(&device).unwrap(), aql(&device).unwrap());
    let maps = system.take_log();
    let gpu_id = u64::from(device.gpu_id());
    let line = format!("mmap /dev/kfd {:#x} 8192", 3 << 62 | gpu_id << 46);
    assert_eq!(maps.iter().filter(|other| **other == line).count(), 1, "{maps:?}");
    one.doorbell().ring(5);
    two.doorbell().ring(6);
    let (first, second) = (one.doorbell().word(), two.doorbell().word());
    assert_eq!((first.load(Relaxed), second.load(Relaxed)), (5, 6));
    assert_eq!(std::ptr::from_ref(second) as usize - std::ptr::from_ref(first) as usize, 8);
}

#[test]
fn doorbells_lie_anywhere_in_both_pages() {
    let system = Scripted::new(17);
    let device = device(&system);
    let places = [0x1008, 0, 0xff8, 0x1ff8];
    system.script().doorbells.extend(places);
    let queues = places.map(|_| aql(&device).unwrap());
    let slice = system.script().mapped[&(3 << 62 | u64::from(GPU_ID) << 46)];
    for (queue, place) in queues.iter().zip(places) {
        let word = std::ptr::from_ref(queue.doorbell().word()) as usize;
        assert_eq!(word, slice + place as usize, "{place:#x}");
    }
}

#[test]
fn a_forked_child_cannot_ring() {
    let system = Scripted::new(17);
    let device = device(&system);
    let queue = aql(&device).unwrap();
    let doorbell = queue.doorbell().clone();
    doorbell.ring(5);
    // The doorbells are not there in the child: a store to them would end it.
    assert!(in_child(|| {
        doorbell.ring(6);
        queue.doorbell().ring(7);
        true
    }));
    doorbell.ring(8);
    assert_eq!(queue.doorbell().word().load(Relaxed), 8);
}

#[test]
fn memory_outlives_the_queue_in_the_kernel() {
    let system = Scripted::new(17);
    let device = device(&system);
    let queue = aql(&device).unwrap();
    system.take_log();
    drop(queue);
    let log = only(&system.take_log(), &["DESTROY_QUEUE", "FREE_MEMORY_OF_GPU"]);
    assert_eq!(log[0], "DESTROY_QUEUE 0");
    // Ring, pointers, end-of-pipe buffer, save area.
    assert_eq!(log.len(), 5, "{log:?}");
    assert!(system.script().allocations.is_empty());
}

#[test]
fn a_queue_that_cannot_be_destroyed_keeps_its_memory() {
    let system = Scripted::new(17);
    let device = device(&system);
    let queue = aql(&device).unwrap();
    system.fail("DESTROY_QUEUE", Errno::ETIME, 1);
    system.take_log();
    let error = queue.destroy().unwrap_err();
    let gpu_id = device.gpu_id();
    assert_eq!(error, Error::DestroyQueue { gpu_id, queue_id: 0, errno: Errno::ETIME });
    let log = system.take_log();
    assert_eq!(log, ["DESTROY_QUEUE 0"], "tried once, and nothing freed or unmapped");
    assert_eq!(device.process().quarantined(), 1);
    assert_eq!(system.script().allocations.len(), 4);
}

#[test]
fn failures_of_creation_free_what_was_made() {
    for (call, errno) in [
        ("CREATE_QUEUE", Errno::ENOSPC),
        ("ALLOC_MEMORY_OF_GPU", Errno::ENOMEM),
        ("mmap /dev/kfd", Errno::ENOMEM),
        ("RUNTIME_ENABLE", Errno::ENOMEM),
    ] {
        let system = Scripted::new(17);
        let device = device(&system);
        let options = options(&device, QueueKind::Aql).unwrap();
        system.fail(call, errno, 1);
        let error = device.create_queue(options).unwrap_err();
        assert_eq!(error.errno(), Some(errno), "{call}: {error}");
        assert!(system.script().allocations.is_empty(), "{call}");
        let log = system.take_log();
        let destroyed = only(&log, &["DESTROY_QUEUE"]).len();
        assert_eq!(destroyed, usize::from(call == "mmap /dev/kfd"), "{call}");
    }
}

#[test]
fn shapes_that_cannot_work_never_reach_the_kernel() {
    type Change = fn(&Arc<Device>, &mut QueueOptions);
    let changes: [(&str, Change); 7] = [
        ("power of two", |device, options| {
            options.ring = device.allocate(12288, AllocationFlags::GTT).unwrap();
        }),
        ("one page", |device, options| {
            options.write_pointer.allocation = device.allocate(8192, AllocationFlags::GTT).unwrap();
        }),
        ("read pointer's offset", |_, options| options.read_pointer.offset = 4095),
        ("percentage 101", |_, options| options.percentage = 101),
        ("priority 16", |_, options| options.priority = 16),
        ("not mapped", |device, options| options.ring.unmap_from(&[device]).unwrap()),
        ("another process", |_, options| {
            let other = crate::process::device(&Scripted::new(17));
            options.ring = other.allocate(1 << 16, AllocationFlags::GTT).unwrap();
        }),
    ];
    for (problem, change) in changes {
        let system = Scripted::new(17);
        let device = device(&system);
        let mut options = options(&device, QueueKind::Aql).unwrap();
        change(&device, &mut options);
        let error = device.create_queue(options).unwrap_err();
        assert!(error.to_string().contains(problem), "{error}");
        assert!(system.script().queues.is_empty());
    }
}

#[test]
fn sdma_queues_have_no_save_area() {
    let system = Scripted::new(17);
    let device = device(&system);
    for (kind, number) in
        [(QueueKind::Sdma, 1), (QueueKind::SdmaXgmi, 3), (QueueKind::SdmaEngine(1), 4)]
    {
        let queue = device.create_queue(options(&device, kind).unwrap()).unwrap();
        let args = *system.script().queues.last().unwrap();
        assert_eq!((args.queue_type, args.eop_buffer_address), (number, 0));
        assert_eq!((args.ctx_save_restore_address, args.ctl_stack_size), (0, 0));
        assert_eq!(args.sdma_engine_id, u32::from(number == 4));
        assert!(queue.save_area().is_none());
    }
    let old = crate::process::device(&Scripted::new(16));
    let by_engine = options(&old, QueueKind::SdmaEngine(0)).unwrap();
    assert!(matches!(old.create_queue(by_engine), Err(Error::NeedsVersion { .. })));
}

#[test]
fn update_mask_wave_state_and_wave_sync() {
    let system = Scripted::new(17);
    let device = device(&system);
    let queue = aql(&device).unwrap();
    queue.update(0, 15).unwrap();
    queue.set_cu_mask(&[0xff, 0xff]).unwrap();
    queue.set_global_wave_sync(1).unwrap();
    let state = queue.wave_state().unwrap();
    assert_eq!((state.control_stack_used, state.save_area_used), (16, 32));
    let (_, sizes) = queue.save_area().unwrap();
    assert_eq!(state.control_stack.len(), sizes.control_stack as usize);
    let ring = device.allocate(1 << 12, AllocationFlags::GTT).unwrap();
    queue.set_ring(Some(ring)).unwrap();
    queue.set_ring(None).unwrap();
    for (call, errno) in [("UPDATE_QUEUE", Errno::EFAULT), ("SET_CU_MASK", Errno::EINVAL)] {
        system.fail(call, errno, 1);
    }
    assert!(matches!(queue.update(100, 7), Err(Error::UpdateQueue { queue_id: 0, .. })));
    assert!(matches!(queue.set_cu_mask(&[1]), Err(Error::CuMask { queue_id: 0, .. })));
}

#[test]
fn a_ring_is_replaced_only_by_one_that_a_new_queue_could_have() {
    type Make = fn(&Arc<Device>) -> Arc<Allocation>;
    let rings: [(&str, Make); 3] = [
        ("power of two", |device| device.allocate(12288, AllocationFlags::GTT).unwrap()),
        ("not mapped", |device| {
            let ring = device.allocate(4096, AllocationFlags::GTT).unwrap();
            ring.unmap_from(&[device]).unwrap();
            ring
        }),
        ("another process", |_| {
            let other = crate::process::device(&Scripted::new(17));
            other.allocate(4096, AllocationFlags::GTT).unwrap()
        }),
    ];
    let system = Scripted::new(17);
    let device = device(&system);
    let options = options(&device, QueueKind::Aql).unwrap();
    let old = Arc::downgrade(&options.ring);
    let queue = device.create_queue(options).unwrap();
    for (problem, make) in rings {
        let ring = make(&device);
        system.take_log();
        let error = queue.set_ring(Some(ring)).unwrap_err();
        assert!(matches!(error, Error::QueueShape { .. }), "{error}");
        assert!(error.to_string().contains(problem), "{error}");
        let log = system.take_log();
        assert_eq!(only(&log, &["UPDATE_QUEUE"]), [""; 0], "{problem}: the kernel is not asked");
        assert!(old.upgrade().is_some(), "{problem}: the old ring stays");
    }
    for (problem, percentage, priority) in [("percentage 101", 101, 7), ("priority 16", 100, 16)] {
        let error = queue.update(percentage, priority).unwrap_err();
        assert!(error.to_string().contains(problem), "{error}");
    }
    // The ring that it has may be gone for the device by the time it is to run again.
    queue.update(0, 7).unwrap();
    old.upgrade().unwrap().unmap_from(&[&device]).unwrap();
    system.take_log();
    let error = queue.update(100, 7).unwrap_err();
    assert!(error.to_string().contains("not mapped"), "{error}");
    assert_eq!(only(&system.take_log(), &["UPDATE_QUEUE"]), [""; 0]);
    old.upgrade().unwrap().map_to(&[&device]).unwrap();
    queue.update(100, 7).unwrap();
}
