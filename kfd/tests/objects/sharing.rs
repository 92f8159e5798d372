//! dma-bufs, shared virtual memory and system management events.

use crate::process::device;
use crate::scripted::{GPU_ID, SECOND_GPU_ID, Scripted};
use kfd::uapi::{self, SvmFlags};
use kfd::{Allocation, AllocationFlags, Error, SmiEvents, SvmAccess, SvmLocation, SvmSetting};
use selvedge_sys::Errno;
use std::time::Duration;

#[test]
fn a_dmabuf_goes_out_and_comes_in() {
    let system = Scripted::new(17);
    let device = device(&system);
    let memory = device.allocate(8192, AllocationFlags::VRAM).unwrap();
    let file = memory.export_dmabuf().unwrap();
    let info = device.process().dmabuf_info(file.fd()).unwrap();
    assert_eq!((info.size, info.gpu_id, info.flags), (8192, GPU_ID, AllocationFlags::VRAM));
    assert_eq!(info.metadata, b"meta");
    let copy = Allocation::import_dmabuf(&device, file.fd()).unwrap();
    assert_eq!((copy.len(), copy.mapped_to()), (8192, vec![GPU_ID]));
    assert_ne!(copy.address(), memory.address());
    drop((copy, memory, file));
    assert!(system.script().allocations.is_empty());
    assert!(system.take_log().contains(&"close dma-buf".to_owned()));
    system.fail("GET_DMABUF_INFO", Errno::EINVAL, 1);
    let error = Allocation::import_dmabuf(&device, 3).unwrap_err();
    assert_eq!(error, Error::DmabufInfo { fd: 3, errno: Errno::EINVAL });
}

#[test]
#[expect(unsafe_code, reason = "gives a device access to nothing")]
fn svm_attributes_are_typed() {
    let system = Scripted::new(17);
    let device = device(&system);
    let process = device.process();
    let settings = [
        SvmSetting::Preferred(SvmLocation::Device(GPU_ID)),
        SvmSetting::Access(SECOND_GPU_ID, SvmAccess::InPlace),
        SvmSetting::Set(SvmFlags::GPU_EXEC),
    ];
    // SAFETY: the scripted kernel has no device.
    unsafe { process.set_svm(1 << 20, 8192, &settings) }.unwrap();
    let (operation, attributes) = system.script().svm.pop().unwrap();
    let pairs: Vec<_> = attributes.iter().map(|a| (a.type_, a.value)).collect();
    assert_eq!(operation, uapi::SVM_OP_SET_ATTR);
    assert_eq!(pairs, [(0, GPU_ID), (3, SECOND_GPU_ID), (5, 0x10)]);

    let read = process.svm(1 << 20, 8192, &[GPU_ID]).unwrap();
    assert_eq!(read.preferred, SvmLocation::Undefined);
    assert_eq!(read.set, SvmFlags::HOST_ACCESS | SvmFlags::GPU_EXEC);
    assert_eq!((read.granularity, read.access), (9, vec![SvmAccess::None]));
    system.fail("SVM", Errno::EOPNOTSUPP, 1);
    let error = process.svm(4096, 4096, &[]).unwrap_err();
    assert!(error.to_string().contains("no SVM"), "{error}");
}

#[test]
fn system_management_events_are_lines() {
    let system = Scripted::new(17);
    let device = device(&system);
    let wanted = [uapi::SMI_EVENT_VMFAULT, uapi::SMI_EVENT_GPU_PRE_RESET];
    let mut events = SmiEvents::subscribe(&device, &wanted).unwrap();
    assert_eq!(system.script().written, [0b101_u64.to_ne_bytes()]);
    assert_eq!(events.wait(Some(Duration::ZERO)).unwrap(), []);
    for bytes in ["1 2a:pro", "g\n3 5 cause\n4 5", "\n"] {
        system.script().readable.push_back(bytes.as_bytes().to_vec());
    }
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.extend(events.wait(None).unwrap().into_iter().map(|e| (e.event, e.message)));
    }
    assert_eq!(seen, [(1, "2a:prog".to_owned()), (3, "5 cause".to_owned()), (4, "5".to_owned())]);
}
