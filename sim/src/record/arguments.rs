//! What arguments of ioctls point to.

use kfd::uapi::{self, AllocMemFlags, amdgpu, request};
use selvedge_sys::drm;
use selvedge_sys::uapi::{Field, Layout, kind, number, size};

/// A pointer in an argument: the ioctl's name, the argument's struct, the pointer's field, and how many bytes are behind it: a
/// field, times that many eighths of a byte.
type Pointer = (&'static str, &'static str, &'static str, &'static str, usize);

/// Bits of a byte, as the table counts.
const BYTE: usize = 8;

/// Of the KFD (kfd_ioctl.h).
const KFD: [Pointer; 7] = [
    (
        "GET_PROCESS_APERTURES_NEW",
        "GetProcessAperturesNewArgs",
        "kfd_process_device_apertures_ptr",
        "num_of_nodes",
        size_of::<uapi::ProcessDeviceApertures>() * BYTE,
    ),
    (
        "WAIT_EVENTS",
        "WaitEventsArgs",
        "events_ptr",
        "num_events",
        size_of::<uapi::EventData>() * BYTE,
    ),
    ("MAP_MEMORY_TO_GPU", "MapMemoryToGpuArgs", "device_ids_array_ptr", "n_devices", 4 * BYTE),
    (
        "UNMAP_MEMORY_FROM_GPU",
        "UnmapMemoryFromGpuArgs",
        "device_ids_array_ptr",
        "n_devices",
        4 * BYTE,
    ),
    ("SET_CU_MASK", "SetCuMaskArgs", "cu_mask_ptr", "num_cu_mask", 1),
    ("GET_TILE_CONFIG", "GetTileConfigArgs", "tile_config_ptr", "num_tile_configs", 4 * BYTE),
    (
        "GET_TILE_CONFIG",
        "GetTileConfigArgs",
        "macro_tile_config_ptr",
        "num_macro_tile_configs",
        4 * BYTE,
    ),
];

/// Of DRM and amdgpu (drm.h, amdgpu_drm.h), by the request's number.
const DRM: [(u8, &str, &str, &str); 4] = [
    (0x00, "Version", "name", "name_len"),
    (0x00, "Version", "date", "date_len"),
    (0x00, "Version", "desc", "desc_len"),
    (0x45, "Info", "return_pointer", "return_size"),
];

/// The most bytes behind a pointer that are recorded.
const MOST: u64 = 1 << 20;

fn field(layout: &str, name: &str) -> Option<&'static Field> {
    let all = uapi::LAYOUTS.iter().chain(amdgpu::LAYOUTS).chain([&drm::LAYOUTS]);
    let layout: &Layout =
        all.flat_map(|module| module.iter()).find(|known| known.name == layout)?;
    layout.fields.iter().find(|field| field.name == name)
}

/// A field's value.
pub(super) fn value(argument: &[u8], field: &Field) -> Option<u64> {
    let bytes = argument.get(field.offset..field.offset + field.size).filter(|b| b.len() <= 8)?;
    Some(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}

/// The name of an ioctl of the KFD.
pub(super) fn kfd_name(request: u32) -> Option<&'static str> {
    if kind(request) != kind(request::GET_VERSION) {
        return None;
    }
    let known = request::ALL.iter().find(|known| number(known.request) == number(request))?;
    Some(known.name)
}

/// A field of a KFD ioctl's argument.
pub(super) fn kfd_value(request: u32, argument: &[u8], name: &str) -> Option<u64> {
    value(argument, kfd_field(request, name)?)
}

/// Where it is.
pub(super) fn kfd_field(request: u32, name: &str) -> Option<&'static Field> {
    let known = request::ALL.iter().find(|known| Some(known.name) == kfd_name(request))?;
    field(known.argument, name)
}

/// A field of an argument of DRM's PRIME ioctls.
pub(super) fn drm_field(request: u32, name: &str) -> Option<&'static Field> {
    let prime = kind(request) == drm::BASE && matches!(number(request), 0x2d | 0x2e);
    prime.then(|| field("PrimeHandle", name)).flatten()
}

/// The pointers of an argument: their offsets, where they lead, how many bytes are there.
pub(super) fn pointers(request: u32, argument: &[u8]) -> Vec<(usize, u64, usize)> {
    let mut found = Vec::new();
    let mut add = |layout: &str, pointer: &str, count: &str, bits: usize| {
        let (Some(pointer), Some(count)) = (field(layout, pointer), field(layout, count)) else {
            return;
        };
        if let (Some(address), Some(count)) = (value(argument, pointer), value(argument, count))
            && address != 0
        {
            let bytes = (count.min(MOST) * bits as u64).div_ceil(BYTE as u64).min(MOST);
            found.push((pointer.offset, address, bytes as usize));
        }
    };
    if let Some(name) = kfd_name(request) {
        let known = KFD.iter().filter(|known| known.0 == name);
        known.for_each(|(_, layout, pointer, count, bits)| add(layout, pointer, count, *bits));
    } else if kind(request) == drm::BASE {
        let known = DRM.iter().filter(|known| known.0 == number(request));
        known.for_each(|(_, layout, pointer, count)| add(layout, pointer, count, BYTE));
    }
    found
}

/// Memory of the process that an ioctl gives to devices: start and length.
pub(super) fn user_range(request: u32, argument: &[u8]) -> Option<(u64, u64)> {
    let field = |name| kfd_value(request, argument, name);
    match kfd_name(request)? {
        "ALLOC_MEMORY_OF_GPU" => {
            let userptr = field("flags")? & u64::from(AllocMemFlags::USERPTR.bits()) != 0;
            userptr.then_some((field("mmap_offset")?, field("size")?))
        }
        "SVM" => Some((field("start_addr")?, field("size")?)),
        _ => None,
    }
}

/// Bytes of an argument.
pub(super) fn length(request: u32) -> usize {
    size(request)
}
