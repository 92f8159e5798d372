//! Shared virtual memory.

use crate::rig::{PAGE, Rig, anonymous, reserve};
use kfd::uapi::{self, SvmAttribute, SvmFlags, request};
use selvedge_sys::Errno;

#[repr(C)]
struct Args {
    head: uapi::SvmArgs,
    attributes: [SvmAttribute; 2],
}

fn svm(
    rig: &Rig,
    op: u32,
    range: (u64, u64),
    attributes: &mut [SvmAttribute; 2],
) -> Result<(), Errno> {
    let head = uapi::SvmArgs { start_addr: range.0, size: range.1, op, nattr: 2 };
    let mut args = Args { head, attributes: *attributes };
    let answer = rig.ask(request::svm(2).unwrap(), &mut args);
    *attributes = args.attributes;
    answer
}

fn attributes(pairs: [(u32, u32); 2]) -> [SvmAttribute; 2] {
    pairs.map(|(type_, value)| SvmAttribute { type_, value })
}

#[test]
fn ranges_are_split_and_joined_in_answers() {
    let rig = Rig::new("gfx1151", 18);
    let memory = anonymous(&rig.process, 16 * PAGE);
    let access = [(uapi::SVM_ATTR_ACCESS, rig.gpu_id), (uapi::SVM_ATTR_SET_FLAGS, 0x10)];
    svm(&rig, uapi::SVM_OP_SET_ATTR, (memory, 16 * PAGE), &mut attributes(access)).unwrap();
    let none = [(uapi::SVM_ATTR_NO_ACCESS, rig.gpu_id), (uapi::SVM_ATTR_GRANULARITY, 3)];
    svm(&rig, uapi::SVM_OP_SET_ATTR, (memory + 4 * PAGE, PAGE), &mut attributes(none)).unwrap();
    let get = |start, size| {
        let mut asked =
            attributes([(uapi::SVM_ATTR_ACCESS, rig.gpu_id), (uapi::SVM_ATTR_GRANULARITY, 0)]);
        svm(&rig, uapi::SVM_OP_GET_ATTR, (start, size), &mut asked).unwrap();
        (asked[0].type_, asked[1].value)
    };
    assert_eq!(get(memory, 4 * PAGE), (uapi::SVM_ATTR_ACCESS, 9));
    assert_eq!(get(memory + 4 * PAGE, PAGE), (uapi::SVM_ATTR_NO_ACCESS, 3));
    assert_eq!(get(memory + 5 * PAGE, 11 * PAGE), (uapi::SVM_ATTR_ACCESS, 9));
    assert_eq!(get(memory, 16 * PAGE), (uapi::SVM_ATTR_NO_ACCESS, 3));
    let taken = rig.alloc(uapi::AllocMemFlags::GTT, PAGE, memory + PAGE);
    assert_eq!(taken.err(), Some(Errno::EADDRINUSE));
    let hole = reserve(&rig.process, 2 * PAGE);
    rig.munmap(hole, 2 * PAGE);
    let nothing = svm(&rig, uapi::SVM_OP_SET_ATTR, (hole, PAGE), &mut attributes(access));
    assert_eq!(nothing, Err(Errno::EFAULT));
    let elsewhere = [(uapi::SVM_ATTR_ACCESS, 1), (uapi::SVM_ATTR_SET_FLAGS, 0)];
    let nobody = svm(&rig, uapi::SVM_OP_SET_ATTR, (memory, PAGE), &mut attributes(elsewhere));
    assert_eq!(nobody, Err(Errno::EINVAL));
}

/// Memory that the process unmaps is gone for the GPU too.
#[test]
fn unmapping_ends_registrations() {
    let rig = Rig::new("gfx1151", 18);
    let memory = anonymous(&rig.process, 3 * PAGE);
    let access = [(uapi::SVM_ATTR_ACCESS, rig.gpu_id), (uapi::SVM_ATTR_SET_FLAGS, 0x10)];
    svm(&rig, uapi::SVM_OP_SET_ATTR, (memory, 3 * PAGE), &mut attributes(access)).unwrap();
    rig.munmap(memory + PAGE, PAGE);
    let buffer = rig.alloc(uapi::AllocMemFlags::GTT, PAGE, memory + PAGE).unwrap();
    rig.map(buffer.handle).unwrap();
    let kept = rig.alloc(uapi::AllocMemFlags::GTT, PAGE, memory + 2 * PAGE);
    assert_eq!(kept.err(), Some(Errno::EADDRINUSE));
}

/// Only the save area may be: the rest of a queue is looked for among buffers.
#[test]
fn rings_are_buffers() {
    let rig = Rig::new("gfx1151", 18);
    let mut queue = rig.queue_buffers();
    let memory = anonymous(&rig.process, PAGE);
    let pinned = SvmFlags::GPU_ALWAYS_MAPPED.bits();
    let access = [(uapi::SVM_ATTR_ACCESS, rig.gpu_id), (uapi::SVM_ATTR_SET_FLAGS, pinned)];
    svm(&rig, uapi::SVM_OP_SET_ATTR, (memory, PAGE), &mut attributes(access)).unwrap();
    let ring = std::mem::replace(&mut queue.args.ring_base_address, memory);
    assert_eq!(rig.start(&mut queue), Err(Errno::EINVAL));
    queue.args.ring_base_address = ring;
    rig.start(&mut queue).unwrap();
    rig.destroy(queue);
}

/// A context save area may be shared virtual memory, when it is to stay mapped.
#[test]
fn save_areas_may_be_shared_memory() {
    let rig = Rig::new("gfx1151", 18);
    let mut queue = rig.queue_buffers();
    let size = queue.save_area.size;
    let memory = anonymous(&rig.process, size);
    queue.args.ctx_save_restore_address = memory;
    let flags = (SvmFlags::HOST_ACCESS | SvmFlags::GPU_EXEC).bits();
    let access = [(uapi::SVM_ATTR_ACCESS_IN_PLACE, rig.gpu_id), (uapi::SVM_ATTR_SET_FLAGS, flags)];
    svm(&rig, uapi::SVM_OP_SET_ATTR, (memory, size), &mut attributes(access)).unwrap();
    assert_eq!(rig.start(&mut queue), Err(Errno::EINVAL), "it may be unmapped");
    let pinned = SvmFlags::GPU_ALWAYS_MAPPED.bits();
    let access = [(uapi::SVM_ATTR_ACCESS_IN_PLACE, rig.gpu_id), (uapi::SVM_ATTR_SET_FLAGS, pinned)];
    svm(&rig, uapi::SVM_OP_SET_ATTR, (memory, size), &mut attributes(access)).unwrap();
    rig.start(&mut queue).unwrap();
    rig.destroy(queue);
}
