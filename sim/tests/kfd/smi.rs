//! Management events.

use crate::rig::{PAGE, Rig, anonymous, ioctl};
use kfd::uapi::{self, AllocMemFlags, SvmAttribute, request, smi_event_mask};
use selvedge_sim::Machine;
use selvedge_sys::{Errno, System};
use std::time::Duration;

fn open(rig: &Rig, events: &[u32]) -> i32 {
    let mut args = uapi::SmiEventsArgs { gpuid: rig.gpu_id, anon_fd: 0 };
    rig.ask(request::SMI_EVENTS, &mut args).unwrap();
    let fd = args.anon_fd.cast_signed();
    let mask = events.iter().fold(0, |mask, &event| mask | smi_event_mask(event));
    assert_eq!(rig.process.write(fd, &mask.to_ne_bytes()), Ok(8));
    fd
}

/// What there is to read, with time stamps as 0.
fn lines(rig: &Rig, fd: i32) -> Vec<String> {
    let mut buffer = [0; 1024];
    let count = match rig.process.read(fd, &mut buffer) {
        Ok(count) => count,
        Err(errno) => {
            assert_eq!(errno, Errno::EAGAIN);
            0
        }
    };
    let text = std::str::from_utf8(&buffer[..count]).unwrap();
    let stamped = |line: &str| {
        let mut words: Vec<&str> = line.split(' ').collect();
        if words.get(2).is_some_and(|word| word.starts_with('-')) {
            assert!(words[1].parse::<u64>().unwrap() > 0);
            words[1] = "0";
        }
        words.join(" ")
    };
    text.lines().map(stamped).collect()
}

fn is_readable(rig: &Rig, fd: i32) -> bool {
    rig.process.poll(fd, Some(Duration::ZERO)).unwrap().readable
}

/// The formats of Linux 6.5, 6.12 and 6.18 (`KFD_EVENT_FMT_UPDATE_GPU_RESET`).
#[test]
fn resets() {
    for (name, minor, expected) in [
        ("gfx1151", 14, ["3 1", "4 1"]),
        ("gfx1151", 17, ["3 1 MES hang", "4 1 "]),
        ("gfx90a", 18, ["3 1 HWS hang", "4 1 "]),
    ] {
        let rig = Rig::new(name, minor);
        let fd = open(&rig, &[uapi::SMI_EVENT_GPU_PRE_RESET, uapi::SMI_EVENT_GPU_POST_RESET]);
        let deaf = open(&rig, &[uapi::SMI_EVENT_VMFAULT]);
        assert!(!is_readable(&rig, fd));
        rig.machine.reset_gpu(0);
        assert!(is_readable(&rig, fd) && !is_readable(&rig, deaf));
        assert_eq!(lines(&rig, fd), expected);
        assert!(!is_readable(&rig, fd));
        rig.machine.reset_gpu(0);
        assert!(lines(&rig, fd)[0].starts_with("3 2"), "resets are counted");
    }
}

#[test]
fn a_mask_is_eight_bytes_and_replaces_the_last() {
    let rig = Rig::new("gfx1151", 18);
    let fd = open(&rig, &[uapi::SMI_EVENT_GPU_PRE_RESET]);
    assert_eq!(rig.process.write(fd, &[0; 7]), Err(Errno::EFAULT));
    assert_eq!(rig.process.write(fd, &[0; 16]), Ok(8));
    rig.machine.reset_gpu(0);
    assert_eq!(lines(&rig, fd), [""; 0]);
    for fd in [rig.kfd, rig.render] {
        assert_eq!(rig.process.write(fd, &[0; 8]), Err(Errno::EINVAL));
    }
}

/// A line that finds no room is lost; those before it stay (`add_event_to_kfifo`).
#[test]
fn what_nobody_reads_is_lost() {
    let rig = Rig::new("gfx90a", 18);
    let fd = open(&rig, &[uapi::SMI_EVENT_GPU_PRE_RESET]);
    for _ in 0..100 {
        rig.machine.reset_gpu(0);
    }
    let got = lines(&rig, fd);
    // 13 bytes up to number f, then 14.
    assert_eq!(got.len(), 15 + (1024 - 15 * 13) / 14);
    assert_eq!(got[0], "3 1 HWS hang");
}

/// Others' events are for the superuser.
#[test]
fn events_of_other_processes() {
    for privileged in [false, true] {
        let builder = Machine::builder().gpu("gfx1151").unwrap();
        let builder = if privileged { builder.privileged() } else { builder };
        let rig = Rig::on(builder.build().unwrap());
        let start = uapi::SMI_EVENT_PROCESS_START;
        let all = open(&rig, &[start, uapi::SMI_EVENT_PROCESS_END, uapi::SMI_EVENT_ALL_PROCESS]);
        let own = open(&rig, &[start]);
        let pid = {
            let other = Rig::on(rig.machine.clone());
            other.process.pid()
        };
        let told = lines(&rig, all);
        let kinds: Vec<&str> = told.iter().map(|line| line.split(' ').next().unwrap()).collect();
        if privileged {
            assert_eq!(kinds, ["c", "d"]);
            assert_eq!(told[0].split(' ').nth(1), Some(format!("{pid:x}").as_str()));
        } else {
            assert_eq!(kinds, [""; 0]);
        }
        assert_eq!(lines(&rig, own), [""; 0]);
    }
}

/// kfd_int_process_v10.c tells of none.
#[test]
fn a_page_fault_is_told() {
    for (name, count) in [("gfx1100", 1), ("gfx90a", 1), ("gfx1030", 0)] {
        let rig = Rig::new(name, 18);
        let fd = open(&rig, &[uapi::SMI_EVENT_VMFAULT]);
        let event = rig.create_event(uapi::EVENT_MEMORY, 0);
        let queue = rig.queue();
        queue.submit_barrier(0, 0x7000_0000_0000);
        let (_, result) = rig.wait(uapi::EventData::new(event, 0), 10_000);
        assert_eq!(result, uapi::WAIT_RESULT_COMPLETE);
        let told = lines(&rig, fd);
        assert_eq!(told.len(), count, "{name}");
        let start = format!("1 {:x}:", rig.process.pid());
        assert!(told.iter().all(|line| line.starts_with(&start)), "{told:?}");
    }
}

#[test]
fn user_memory_that_goes() {
    let rig = Rig::new("gfx1100", 18);
    let fd = open(&rig, &[uapi::SMI_EVENT_QUEUE_EVICTION, uapi::SMI_EVENT_QUEUE_RESTORE]);
    let memory = anonymous(&rig.process, PAGE);
    let mut args = uapi::AllocMemoryOfGpuArgs {
        va_addr: memory,
        size: PAGE,
        mmap_offset: memory,
        gpu_id: rig.gpu_id,
        flags: (AllocMemFlags::USERPTR | AllocMemFlags::WRITABLE).bits(),
        ..Default::default()
    };
    rig.ask(request::ALLOC_MEMORY_OF_GPU, &mut args).unwrap();
    rig.map(args.handle).unwrap();
    assert_eq!(lines(&rig, fd), [""; 0]);
    rig.munmap(memory, PAGE);
    let (pid, gpu) = (rig.process.pid(), rig.gpu_id);
    assert_eq!(lines(&rig, fd), [format!("9 0 -{pid} {gpu:x} 1"), format!("a 0 -{pid} {gpu:x} 0")]);
}

#[repr(C)]
struct Args {
    head: uapi::SvmArgs,
    attribute: SvmAttribute,
}

fn set(rig: &Rig, start: u64, size: u64, (type_, value): (u32, u32)) {
    let head = uapi::SvmArgs { start_addr: start, size, op: uapi::SVM_OP_SET_ATTR, nattr: 1 };
    let mut args = Args { head, attribute: SvmAttribute { type_, value } };
    rig.ask(request::svm(1).unwrap(), &mut args).unwrap();
}

/// A prefetch moves a range to a discrete GPU and back; an APU has nowhere to move it to.
#[test]
fn prefetches_move_ranges() {
    const SIZE: u64 = 16 * PAGE;
    for (name, minor, moves) in
        [("gfx1100", 18, true), ("gfx1100", 14, true), ("gfx1151", 18, false)]
    {
        let rig = Rig::new(name, minor);
        let fd = open(&rig, &[5, 6, 9, 10, 11]);
        let memory = anonymous(&rig.process, SIZE);
        let used = |rig: &Rig| {
            let mut args =
                uapi::GetAvailableMemoryArgs { gpu_id: rig.gpu_id, ..Default::default() };
            ioctl(&rig.process, rig.kfd, request::AVAILABLE_MEMORY, &mut args).unwrap();
            args.available
        };
        let before = used(&rig);
        let gpu = rig.gpu_id;
        set(&rig, memory, SIZE, (uapi::SVM_ATTR_ACCESS, gpu));
        assert_eq!(lines(&rig, fd), [""; 0]);
        set(&rig, memory, SIZE, (uapi::SVM_ATTR_PREFETCH_LOC, gpu));
        let pid = rig.process.pid();
        let (at, size) = (memory / PAGE, SIZE / PAGE);
        let end = if minor >= 18 { " 0" } else { "" };
        let mut expected = vec![
            format!("5 0 -{pid} @{at:x}({size:x}) 0->{gpu:x} {gpu:x}:ffffffff 0"),
            format!("6 0 -{pid} @{at:x}({size:x}) 0->{gpu:x} 0{end}"),
            format!("9 0 -{pid} {gpu:x} 0"),
            format!("a 0 -{pid} {gpu:x} 0"),
        ];
        if !moves {
            expected.clear();
        }
        assert_eq!(lines(&rig, fd), expected, "{name}");
        // What is available is told in steps of 2 MiB.
        assert_eq!(used(&rig) < before, moves);
        set(&rig, memory, SIZE, (uapi::SVM_ATTR_PREFETCH_LOC, 0));
        let back = lines(&rig, fd);
        assert_eq!(back.len(), expected.len());
        if moves {
            let text = format!("5 0 -{pid} @{at:x}({size:x}) {gpu:x}->0 0:ffffffff 0");
            assert_eq!(back[0], text);
            assert_eq!(used(&rig), before);
        }
        rig.munmap(memory, SIZE);
        assert_eq!(lines(&rig, fd), [format!("b 0 -{pid} @{at:x}({size:x}) {gpu:x} 2")]);
    }
}

#[test]
fn a_gpu_without_room_leaves_a_range_where_it_is() {
    let rig = Rig::new("gfx1100", 18);
    let fd = open(&rig, &[5, 6]);
    let mut args = uapi::GetAvailableMemoryArgs { gpu_id: rig.gpu_id, ..Default::default() };
    rig.ask(request::AVAILABLE_MEMORY, &mut args).unwrap();
    let all = rig.alloc(AllocMemFlags::VRAM, args.available, 0).unwrap();
    let memory = anonymous(&rig.process, 4 << 20);
    let gpu = rig.gpu_id;
    set(&rig, memory, 4 << 20, (uapi::SVM_ATTR_PREFETCH_LOC, gpu));
    assert_eq!(lines(&rig, fd), [""; 0]);
    rig.free(all.handle).unwrap();
    set(&rig, memory, 4 << 20, (uapi::SVM_ATTR_PREFETCH_LOC, gpu));
    assert_eq!(lines(&rig, fd).len(), 2);
}

/// A render node's buffer that wants VRAM which the process fills (KFDEvictTest).
#[test]
fn buffers_make_room() {
    use kfd::uapi::amdgpu::{GemCreate, GemDomain, drm_request};
    let rig = Rig::new("gfx1100", 18);
    let fd = open(&rig, &[uapi::SMI_EVENT_QUEUE_EVICTION, uapi::SMI_EVENT_QUEUE_RESTORE]);
    let create = |bo_size: u64| {
        let mut args = GemCreate::default();
        args.in_.bo_size = bo_size;
        args.in_.domains = GemDomain::VRAM.bits();
        ioctl(&rig.process, rig.render, drm_request::GEM_CREATE, &mut args).unwrap();
    };
    create(1 << 30);
    assert_eq!(lines(&rig, fd), [""; 0]);
    let mut args = uapi::GetAvailableMemoryArgs { gpu_id: rig.gpu_id, ..Default::default() };
    rig.ask(request::AVAILABLE_MEMORY, &mut args).unwrap();
    rig.alloc(AllocMemFlags::VRAM, args.available, 0).unwrap();
    create(1 << 30);
    let (pid, gpu) = (rig.process.pid(), rig.gpu_id);
    assert_eq!(lines(&rig, fd), [format!("9 0 -{pid} {gpu:x} 2"), format!("a 0 -{pid} {gpu:x} 0")]);
    rig.ask(request::AVAILABLE_MEMORY, &mut args).unwrap();
    assert!(args.available < 2 << 20);
}
