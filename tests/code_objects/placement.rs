//! Where an image may go: origin, alignment and size, on objects made here byte by byte (System V ABI,
//! "Object Files" and "Program Loading"), since linkers put the first segment of code objects at 0.

use selvedge::code::{CodeError, CodeObject, Image, MAX_IMAGE_BYTES, RelocationTarget};

/// One `PT_LOAD`.
struct Load {
    address: u64,
    memory: u64,
    align: u64,
}

/// Bytes of each segment in the file.
const IN_FILE: usize = 0x200;
/// Where the first segment has the relocations.
const RELOCATIONS: usize = 0x100;
/// `R_AMDGPU_RELATIVE64`.
const RELATIVE64: u64 = 13;

/// A code object V5 for gfx1151 with these segments, whose bytes count up from 1, and relocations of
/// type `R_AMDGPU_RELATIVE64`: address of the field and addend.
fn linked(loads: &[Load], relocations: &[(u64, u64)]) -> Vec<u8> {
    let header_count = loads.len() + 1;
    let dynamic_at = 64 + 56 * header_count;
    let rela = (loads[0].address + RELOCATIONS as u64, 24 * relocations.len() as u64);
    // DT_RELA, DT_RELASZ, DT_RELAENT, DT_NULL.
    let dynamic = [[7, rela.0], [8, rela.1], [9, 24], [0, 0]].concat();

    let mut file = b"\x7fELF\x02\x01\x01\x40\x03".to_vec(); // 64-bit, little-endian, AMDHSA, V5
    file.resize(16, 0);
    file.extend([3_u16, 224].map(u16::to_le_bytes).concat()); // ET_DYN, EM_AMDGPU
    file.extend(1_u32.to_le_bytes());
    file.extend([0_u64, 64, 0].map(u64::to_le_bytes).concat()); // entry, program and section headers
    file.extend(0x4a_u32.to_le_bytes()); // EF_AMDGPU_MACH_AMDGCN_GFX1151
    let counts = [64, 56, u16::try_from(header_count).unwrap(), 0, 0, 0];
    file.extend(counts.map(u16::to_le_bytes).concat());
    let mut header = |kind: u32, offset: usize, address: u64, in_file: u64, memory: u64, align| {
        file.extend([kind, 6].map(u32::to_le_bytes).concat()); // readable and writable
        let fields = [offset as u64, address, address, in_file, memory, align];
        file.extend(fields.map(u64::to_le_bytes).concat());
    };
    let contents_at = dynamic_at + 8 * dynamic.len();
    for (index, load) in loads.iter().enumerate() {
        let offset = contents_at + index * IN_FILE;
        header(1, offset, load.address, IN_FILE as u64, load.memory, load.align);
    }
    header(2, dynamic_at, 0, 8 * dynamic.len() as u64, 0, 8);
    file.extend(dynamic.iter().flat_map(|word| word.to_le_bytes()));
    for _ in loads {
        file.extend((1..=IN_FILE).map(|byte| byte as u8));
    }
    let table = relocations.iter().flat_map(|&(place, addend)| [place, RELATIVE64, addend]);
    let table: Vec<u8> = table.flat_map(u64::to_le_bytes).collect();
    file[contents_at + RELOCATIONS..][..table.len()].copy_from_slice(&table);
    file
}

fn image(loads: &[Load], relocations: &[(u64, u64)]) -> Result<Image, CodeError> {
    let object = CodeObject::parse(&linked(loads, relocations), "k")?;
    Ok(object.image().clone())
}

fn long(memory: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(memory[offset..offset + 8].try_into().unwrap())
}

#[test]
fn relocations_count_from_the_origin() {
    let load = Load { address: 0x1_0000, memory: 0x300, align: 0x1000 };
    // The addend is an ELF address: in the image, at its start, and below it.
    let fields = [(0x1_0008, 0x1_0080), (0x1_0010, 0x1_0000), (0x1_0018, 0x8000)];
    let image = image(&[load], &fields).unwrap();
    assert_eq!((image.origin(), image.size(), image.align()), (0x1_0000, 0x300, 0x1000));
    let first = image.relocations()[0];
    assert_eq!((first.place, first.target), (8, RelocationTarget::Image));
    assert_eq!(first.addend, 0x80);
    for base in [0x1000, 0x7000_0000_0000, 0x7f12_3456_7000] {
        let memory = image.load(base).unwrap();
        assert_eq!(memory.len(), 0x300);
        assert_eq!(memory[..8], [1, 2, 3, 4, 5, 6, 7, 8]);
        for (place, addend) in fields {
            let expected = base.wrapping_add(addend).wrapping_sub(0x1_0000);
            assert_eq!(long(&memory, place as usize - 0x1_0000), expected, "{base:#x}");
        }
        assert_eq!(memory[0x20], 0x21);
        assert!(memory[IN_FILE..].iter().all(|&byte| byte == 0));
    }
}

#[test]
fn a_segments_alignment_is_the_images() {
    let loads = [
        Load { address: 0x1_8100, memory: 0x200, align: 0x1000 },
        Load { address: 0x2_0000, memory: 0x200, align: 0x1_0000 },
    ];
    let image = image(&loads, &[(0x1_8140, 0x2_0000)]).unwrap();
    assert_eq!(image.align(), 0x1_0000);
    assert_eq!(image.origin(), 0x1_0000, "rounded down");
    assert_eq!(image.size(), 0x1_0200);
    let offsets: Vec<u64> = image.segments().iter().map(|segment| segment.offset).collect();
    assert_eq!(offsets, [0x8100, 0x1_0000]);

    for base in [0x7000_0000_1000, 0x7000_0000_8000] {
        let error = image.load(base).unwrap_err();
        assert!(matches!(error, CodeError::LoadAddress { .. }), "{error}");
        assert!(error.to_string().contains("0x10000"), "{error}");
    }
    let base = 0x7000_0001_0000;
    let memory = image.load(base).unwrap();
    assert!(memory[..0x8100].iter().all(|&byte| byte == 0));
    assert_eq!(memory[0x8100..0x8104], [1, 2, 3, 4]);
    assert_eq!(long(&memory, 0x8140), base + 0x1_0000);
    assert_eq!(memory[0x1_0000..0x1_0004], [1, 2, 3, 4]);
}

#[test]
fn images_have_a_largest_size() {
    let page = 0x1000;
    let with = |address, memory, align| image(&[Load { address, memory, align }], &[]);
    let largest = with(0x1_0000, MAX_IMAGE_BYTES, page).unwrap();
    assert_eq!((largest.size(), MAX_IMAGE_BYTES), (1 << 30, 1 << 30));
    let error = with(0x1_0000, MAX_IMAGE_BYTES + 1, page).unwrap_err();
    let CodeError::TooLarge { got, limit, .. } = error else { panic!("{error}") };
    assert_eq!((got, limit), ((1 << 30) + 1, 1 << 30));
    let text = error.to_string();
    for part in ["k", "PT_LOAD", "1073741825", "1073741824"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // What rounding the origin down adds counts, too, and no end wraps around.
    for (address, memory, align) in [
        (0x1_8000, MAX_IMAGE_BYTES, 0x1_0000),
        (MAX_IMAGE_BYTES - page, 2 * page, MAX_IMAGE_BYTES * 2),
        (MAX_IMAGE_BYTES - page, MAX_IMAGE_BYTES - page, MAX_IMAGE_BYTES),
        (u64::MAX - 0xffff, 0x2_0000, page),
    ] {
        let result = with(address, memory, align);
        assert!(result.is_err(), "{address:#x} {memory:#x} {align:#x}");
    }
}
