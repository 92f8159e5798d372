//! Machines by a line of text: what is wrong with some, and what a GPU of several XCCs asks for.

use crate::rig::{PAGE, Rig, gtt};
use crate::topology::{ROOT, list, read};
use kfd::uapi::{self, AllocMemFlags, request};
use selvedge_sim::{Machine, Process};
use selvedge_sys::{Errno, OpenMode, System};
use std::path::Path;
use std::sync::Arc;

fn machine(description: &str) -> Machine {
    Machine::described(description).unwrap().build().unwrap()
}

fn process(description: &str) -> Arc<Process> {
    machine(description).process()
}

fn open(process: &Process, path: &str) -> Result<(), Errno> {
    process.open(Path::new(path), OpenMode::ReadWrite).map(drop)
}

#[test]
fn a_line_of_text() {
    for (text, description) in [
        ("", "simulated gfx1151"),
        ("no-permission", "simulated gfx1151"),
        ("none", "simulated machine without a GPU"),
        ("none+no-permission", "simulated machine without a GPU"),
        ("gfx90a,gfx942", "simulated gfx90a, gfx942"),
        ("gfx1101+no-firmware,gfx1103", "simulated gfx1103"),
        ("two-cpus,gfx1100", "simulated gfx1100"),
    ] {
        assert_eq!(process(text).description(), description, "{text:?}");
    }
}

/// Two GPUs of a kind differ in place and id.
#[test]
fn twins() {
    let process = process("gfx942,gfx942");
    let of = |node: u32, key: &str| {
        let text = read(&*process, &format!("{ROOT}/nodes/{node}/properties")).unwrap();
        text.lines().find_map(|line| line.strip_prefix(key).map(str::to_owned)).unwrap()
    };
    for key in ["location_id ", "unique_id ", "drm_render_minor ", "simd_id_base "] {
        assert_ne!(of(1, key), of(2, key), "{key}");
    }
    assert_ne!(of(1, "hive_id "), " 0");
    assert_eq!(of(1, "hive_id "), of(2, "hive_id "));
}

#[test]
fn without_permission() {
    let (kfd, render) = ("/dev/kfd", "/dev/dri/renderD128");
    for (text, of_kfd, of_render) in [
        ("gfx1100", Ok(()), Ok(())),
        ("gfx1100+no-permission", Err(Errno::EACCES), Err(Errno::EACCES)),
        ("gfx1100+no-kfd-permission", Err(Errno::EACCES), Ok(())),
        ("gfx1100+no-render-permission", Ok(()), Err(Errno::EACCES)),
    ] {
        let process = process(text);
        assert_eq!((open(&process, kfd), open(&process, render)), (of_kfd, of_render), "{text}");
        // What is there is to be seen by all.
        assert_eq!(list(&*process, &format!("{ROOT}/nodes")).unwrap(), ["0", "1"]);
    }
}

/// The driver gives the GPU up: there is a PCI device, and nothing of the driver's.
#[test]
fn without_firmware() {
    let process = process("gfx1100+no-firmware");
    assert_eq!(list(&*process, &format!("{ROOT}/nodes")).unwrap(), ["0"]);
    open(&process, "/dev/kfd").unwrap();
    assert_eq!(open(&process, "/dev/dri/renderD128"), Err(Errno::ENOENT));
    let device = "/sys/bus/pci/devices/0000:86:00.0";
    assert_eq!(read(&*process, &format!("{device}/device")).unwrap(), "0x744c\n");
    assert!(!read(&*process, &format!("{device}/uevent")).unwrap().contains("DRIVER"));
    assert_eq!(list(&*process, &format!("{device}/driver")), Err(Errno::ENOENT));
    assert_eq!(list(&*process, "/sys/bus/pci/drivers/amdgpu").unwrap(), ["uevent"]);
    assert_eq!(read(&*process, "/sys/module/amdgpu/initstate").unwrap(), "live\n");
}

#[test]
fn without_the_driver() {
    let process = process("gfx1100+no-driver");
    assert_eq!(open(&process, "/dev/kfd"), Err(Errno::ENOENT));
    assert_eq!(open(&process, "/dev/dri/renderD128"), Err(Errno::ENOENT));
    assert_eq!(list(&*process, ROOT), Err(Errno::ENOENT));
    assert_eq!(list(&*process, "/sys/module/amdgpu"), Err(Errno::ENOENT));
    assert_eq!(read(&*process, "/proc/modules").unwrap(), "");
    let vendor = "/sys/bus/pci/devices/0000:86:00.0/vendor";
    assert_eq!(read(&*process, vendor).unwrap(), "0x1002\n");
}

#[test]
fn save_areas_that_the_topology_does_not_tell() {
    for text in ["gfx1151+no-cwsr-fields", "no-cwsr-fields"] {
        let machine = Machine::described(text).unwrap().kfd_minor(17).unwrap().build().unwrap();
        let rig = Rig::on(machine);
        assert_eq!(rig.property("cwsr_size"), None);
        assert_eq!(rig.property("ctl_stack_size"), None);
    }
}

/// Memory is the GPU's own: the CPU has no link to it, and what the host is to see is refused.
#[test]
fn a_small_bar() {
    let rig = Rig::on(machine("gfx1100+small-bar"));
    let bank = read(&*rig.process, &format!("{ROOT}/nodes/1/mem_banks/0/properties")).unwrap();
    assert!(
        bank.starts_with(&format!("heap_type 2\nsize_in_bytes {}\n", 24560u64 << 20)),
        "{bank}"
    );
    assert_eq!(list(&*rig.process, &format!("{ROOT}/nodes/0/io_links")).unwrap(), [""; 0]);
    assert_eq!(list(&*rig.process, &format!("{ROOT}/nodes/1/io_links")).unwrap(), ["0"]);
    let visible = "/sys/class/drm/renderD128/device/mem_info_vis_vram_total";
    assert_eq!(read(&*rig.process, visible).unwrap(), "268435456\n");
    let vram = AllocMemFlags::VRAM | AllocMemFlags::WRITABLE;
    let public = rig.alloc(vram | AllocMemFlags::PUBLIC, PAGE, 0x1000_0000);
    assert_eq!(public.map(drop), Err(Errno::EINVAL));
    let private = rig.alloc(vram, PAGE, 0x1000_0000).unwrap();
    rig.map(private.handle).unwrap();
    assert_eq!(rig.machine.refusals(), [""; 0]);
    // Linux moves it behind the BAR (`amdgpu_bo_fault_reserve_notify`).
    rig.mmap(rig.render, 0, PAGE, private.mmap_offset).unwrap();
}

/// The save area is for all XCCs together, though its arguments are those of one (kfd_queue.c,
/// `kfd_queue_acquire_buffers`).
#[test]
fn save_areas_of_eight_xccs() {
    let rig = Rig::on(machine("gfx942"));
    let mut queue = rig.queue_buffers();
    let whole = queue.args.ctx_save_restore_address;
    let area = u64::from(queue.args.ctx_save_restore_size) + 48640;
    let of_one = rig.buffer(gtt(), area.next_multiple_of(PAGE));
    queue.args.ctx_save_restore_address = of_one.va;
    assert_eq!(rig.ask(request::CREATE_QUEUE, &mut queue.args), Err(Errno::EINVAL));
    queue.args.ctx_save_restore_address = whole;
    rig.start(&mut queue).unwrap();
    rig.destroy(queue);
}

/// Where the hardware could, the simulator says that it cannot.
#[test]
fn retried_page_faults() {
    for (description, errno) in [
        ("gfx942", Errno::ENOSYS),
        ("gfx90a,gfx942", Errno::ENOSYS),
        ("gfx90a,gfx1100", Errno::EPERM),
        ("gfx906", Errno::EPERM),
    ] {
        let rig = Rig::on(machine(description));
        let mut args = uapi::SetXnackModeArgs { xnack_enabled: 1 };
        assert_eq!(rig.ask(request::SET_XNACK_MODE, &mut args), Err(errno), "{description}");
        args.xnack_enabled = -1;
        rig.ask(request::SET_XNACK_MODE, &mut args).unwrap();
        assert_eq!(args.xnack_enabled, 0);
    }
}

#[test]
fn pm4_queues_name_their_xcc() {
    let rig = Rig::on(machine("gfx942"));
    for (target, answer) in [(0, Ok(())), (7, Ok(())), (8, Err(Errno::ENOSYS))] {
        let mut queue = rig.queue_buffers();
        queue.args.queue_type = uapi::QUEUE_TYPE_COMPUTE;
        queue.args.queue_percentage = 100 | target << 8;
        assert_eq!(rig.start(&mut queue), answer, "{target}");
    }
    assert_eq!(rig.machine.refusals(), ["a PM4 queue on XCC 8"]);
}

/// The tree in a folder is what processes on the machine see.
#[test]
fn the_tree_in_a_folder() {
    let machine = machine("gfx90a,gfx90a+no-permission");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tree");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    machine.write_files(&folder).unwrap();
    let process = machine.process();
    let link = "sys/class/drm/renderD129/device/vendor";
    assert_eq!(std::fs::read_to_string(folder.join(link)).unwrap(), "0x1002\n");
    let mut files = 0;
    for path in machine.files().keys().filter(|path| path.ends_with("/properties")) {
        let written = std::fs::read_to_string(folder.join(path.trim_start_matches('/'))).unwrap();
        assert_eq!(written, read(&*process, path).unwrap());
        files += 1;
    }
    assert!(files > 400, "{files}");
    use std::os::unix::fs::PermissionsExt;
    let kfd = std::fs::metadata(folder.join("dev/kfd")).unwrap();
    assert_eq!(kfd.permissions().mode() & 0o777, 0o660);
}
