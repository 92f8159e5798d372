//! Kernels, arguments, images and relocation by what the sources say.

use selvedge::code::{ArgumentKind, CodeError, CodeObject, TargetId};

use super::{LINKED, data};

fn object(name: &str) -> CodeObject {
    CodeObject::parse(&data(name), name).unwrap_or_else(|e| panic!("{e}"))
}

fn u64_at(bytes: &[u8], at: u64) -> u64 {
    u64::from_le_bytes(bytes[at as usize..at as usize + 8].try_into().unwrap())
}

#[test]
fn entries_are_the_functions() {
    for name in LINKED.iter().copied().chain(["vadd-gfx1151-v5.o"]) {
        let object = object(name);
        assert!(!object.kernels().is_empty(), "{name}");
        for kernel in object.kernels() {
            let function = kernel.symbol().strip_suffix(".kd").unwrap();
            let function = object.symbols().iter().find(|s| s.name == function).unwrap();
            assert_eq!(kernel.entry_offset(), function.offset, "{name}: {}", kernel.name());
        }
    }
}

#[test]
fn resources() {
    let object = object("vadd-gfx1151-v5.co");
    let vadd = object.kernel("vadd").unwrap();
    assert_eq!(vadd.wavefront_size(), 32);
    assert_eq!(vadd.metadata().unwrap().reqd_workgroup_size, Some([64, 2, 1]));
    assert_eq!(vadd.kernarg_align(), 64);
    assert_eq!((vadd.kernarg_size(), vadd.explicit_size()), (128, 128));
    let tiny = object.kernel("tiny.kd").unwrap();
    assert_eq!((tiny.group_size(), tiny.private_size()), (128, 0));
    assert_eq!(object.kernel("tiny").unwrap().name(), tiny.name());
    assert!(!tiny.uses_dynamic_stack());
    // The hidden block of code object V5 has 256 bytes, with the workgroup size at 12.
    assert_eq!((tiny.kernarg_size(), tiny.explicit_size()), (8 + 256, 8));
    let hidden = tiny.hidden(&ArgumentKind::HiddenGroupSizeX).unwrap();
    assert_eq!((hidden.offset, hidden.size), (8 + 12, 2));
    assert!(tiny.hidden(&ArgumentKind::HiddenQueuePtr).is_none());
}

/// A kernarg segment of 80 bytes of which the caller gives 24: the runtime allocates 80 and fills
/// the rest.
#[test]
fn caller_gives_less_than_the_segment() {
    let object = object("hidden-gfx90a-v4.co");
    let first = object.kernel("first").unwrap();
    assert_eq!((first.kernarg_size(), first.explicit_size()), (80, 24));
    let hidden = first.hidden_arguments().map(|a| (a.offset, a.kind.as_str())).collect::<Vec<_>>();
    assert_eq!(
        hidden,
        [
            (24, "hidden_global_offset_x"),
            (32, "hidden_global_offset_y"),
            (40, "hidden_global_offset_z"),
            (48, "hidden_none"),
            (56, "hidden_none"),
            (64, "hidden_none"),
            (72, "hidden_multigrid_sync_arg"),
        ]
    );
    assert_eq!(first.descriptor().preload().length(), 4);
    let image = first.explicit_arguments().last().unwrap();
    assert_eq!((&image.kind, image.access.as_deref()), (&ArgumentKind::Image, Some("write_only")));
}

/// One note a kernel; the second kernel's name is not its symbol's.
#[test]
fn several_notes_are_joined() {
    let object = object("hidden-gfx90a-v4.co");
    let second = object.kernel("the second").unwrap();
    assert_eq!(second.symbol(), "second.kd");
    assert_eq!(object.kernel("second").unwrap().descriptor_offset(), second.descriptor_offset());
    assert!(second.uses_dynamic_stack());
    assert_eq!(object.metadata().printf, ["1:1:4:%d\\n"]);
}

#[test]
fn no_metadata_and_a_long_name() {
    let object = object("lds-gfx1151-v4.co");
    let bare = object.kernel("bare").unwrap();
    assert!(bare.metadata().is_none());
    assert!(bare.arguments().is_empty());
    assert_eq!((bare.kernarg_size(), bare.explicit_size()), (24, 24));
    assert_eq!((bare.group_size(), bare.private_size(), bare.wavefront_size()), (512, 16, 32));
    assert_eq!(bare.kernarg_align(), 16);
    assert_eq!(object.kernel(&"n".repeat(3000)).unwrap().name().len(), 3000);
    assert!(object.symbols().iter().all(|s| s.name != "dynamic_lds" && s.name != "absent"));
    assert!(object.image().undefined().is_empty());
}

#[test]
fn unknown_kernel_lists_the_known() {
    let error = object("vadd-gfx1151-v5.co").kernel("vsub").unwrap_err();
    assert_eq!(
        error.to_string(),
        "vadd-gfx1151-v5.co: no kernel `vsub`; the object has 2: `vadd`, `tiny`"
    );
}

#[test]
fn image_is_relocated() {
    let object = object("globals-gfx1151-v5.co");
    let image = object.image();
    let base = 0x7f12_3456_0000;
    let mut memory = Vec::new();
    let elsewhere = |name: &str| (name == "elsewhere").then_some(0xdead_0000);
    image
        .write(base, elsewhere, |offset, bytes| {
            assert_eq!(offset, memory.len() as u64);
            memory.extend_from_slice(bytes);
        })
        .unwrap();
    assert_eq!(memory.len() as u64, image.size());
    let find = |name: &str| object.variables().find(|v| v.name == name).unwrap();
    let value = |name: &str| u64_at(&memory, find(name).offset);
    // table + 2, &shared_counter, &elsewhere + 5 and the weak &perhaps of globals.c.
    assert_eq!(value("into_table"), base + find("table").offset + 8);
    assert_eq!(value("counter"), base + find("shared_counter").offset);
    assert_eq!(value("other"), 0xdead_0000 + 20);
    assert_eq!(value("maybe"), 0);
    assert_eq!(u64_at(&memory, find("table").offset), 2 << 32 | 1);
    // .bss: memory beyond the file, zeroed.
    let zeros = find("zeros");
    assert_eq!(zeros.size, 12000);
    assert!(image.bytes(zeros.offset, zeros.size).is_none());
    let end = zeros.offset + zeros.size;
    assert!(memory[zeros.offset as usize..end as usize].iter().all(|b| *b == 0));
    // Everything else is the file's.
    let places = image.relocations().iter().map(|r| r.place).collect::<Vec<_>>();
    for segment in image.segments() {
        for (at, byte) in (segment.offset..).zip(segment.contents()) {
            if !places.iter().any(|p| (*p..p + 8).contains(&at)) {
                assert_eq!(memory[at as usize], *byte);
            }
        }
    }
}

#[test]
fn undefined_symbols_are_named() {
    let error = object("globals-gfx1151-v5.co").image().load(0x10000).unwrap_err();
    let CodeError::UndefinedSymbol { symbol, .. } = &error else { panic!("{error}") };
    assert_eq!(symbol, "elsewhere");
}

#[test]
fn load_address_is_checked() {
    let object = object("vadd-gfx1151-v5.co");
    assert_eq!(object.image().align(), 4096);
    for base in [1, 0x800, u64::MAX - 0xfff] {
        let error = object.image().load(base).unwrap_err();
        assert!(matches!(error, CodeError::LoadAddress { .. }), "{error}");
    }
}

/// The descriptors of an unlinked object reach their entries by `R_AMDGPU_REL64`; once resolved
/// they are those of the linked object but for the distance.
#[test]
fn relocatable_object() {
    let (unlinked, linked) = (object("vadd-gfx1151-v5.o"), object("vadd-gfx1151-v5.co"));
    let memory = unlinked.image().load(0x1000_0000).unwrap();
    for kernel in unlinked.kernels() {
        let at = kernel.descriptor_offset();
        let bytes = memory[at as usize..at as usize + 64].first_chunk().unwrap();
        let mut loaded = aql::KernelDescriptor::decode(bytes);
        let entry = at.wrapping_add_signed(loaded.kernel_code_entry_byte_offset);
        assert_eq!(entry, kernel.entry_offset());
        assert_eq!(entry % 256, 0);
        let other = linked.kernel(kernel.name()).unwrap();
        loaded.kernel_code_entry_byte_offset = other.descriptor().kernel_code_entry_byte_offset;
        assert_eq!(&loaded, other.descriptor());
        let code = |object: &CodeObject, entry| {
            let size = object.symbols().iter().find(|s| s.offset == entry).unwrap().size;
            object.image().bytes(entry, size).unwrap().to_vec()
        };
        assert_eq!(code(&unlinked, entry), code(&linked, other.entry_offset()));
    }
}

#[test]
fn relocatable_object_that_needs_a_linker() {
    let name = "calls-gfx1151-v5.o";
    let error = CodeObject::parse(&data(name), name).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, CodeError::Relocatable { .. }), "{text}");
    assert!(text.starts_with("calls-gfx1151-v5.o: relocatable object: link it first"), "{text}");
    assert!(text.contains("R_AMDGPU_REL32_LO (type 10) at .text+0x"), "{text}");
}

#[test]
fn header_fields_are_named() {
    let good = data("vadd-gfx1151-v5.co");
    for (at, value, expected) in [
        (4, 1, "EI_CLASS at offset 0x4: needed 2 (64-bit), got 1"),
        (5, 2, "EI_DATA at offset 0x5: needed 1 (little-endian), got 2"),
        (7, 0, "EI_OSABI at offset 0x7: needed 64 (ELFOSABI_AMDGPU_HSA), got 0"),
        (8, 0, "EI_ABIVERSION at offset 0x8: needed 1 to 4 (code object V3 to V6), got 0"),
        (8, 5, "EI_ABIVERSION at offset 0x8: needed 1 to 4 (code object V3 to V6), got 5"),
        (16, 2, "e_type at offset 0x10: needed 3 (ET_DYN) or 1 (ET_REL), got 2"),
        (18, 62, "e_machine at offset 0x12: needed 224 (EM_AMDGPU), got 62"),
        (48, 0x27, "EF_AMDGPU_MACH of e_flags at offset 0x30: needed a known processor, got 0x27"),
    ] {
        let mut bytes = good.clone();
        bytes[at] = value;
        let error = CodeObject::parse(&bytes, "k.co").unwrap_err();
        assert_eq!(error.to_string(), format!("k.co: {expected}"));
    }
}

/// One object with the processor in its header changed.
#[test]
fn wrong_processor() {
    let mut bytes = data("vadd-gfx1151-v5.co");
    bytes[48] = 0x41;
    let object = CodeObject::parse(&bytes, "k.co").unwrap();
    let check = |device: &str| object.check_target(&device.parse::<TargetId>().unwrap());
    assert_eq!(check("gfx1100"), Ok(()));
    assert_eq!(
        check("gfx1151").unwrap_err().to_string(),
        "k.co: object gfx1100, device gfx1151: different processor; only gfx11-generic would fit both"
    );
    assert_eq!(
        check("gfx1201").unwrap_err().to_string(),
        "k.co: object gfx1100, device gfx1201: different processor"
    );
}

#[test]
fn arguments_beyond_the_segment_are_refused() {
    // .kernarg_segment_size: 80 in both notes, as MessagePack's positive fixint.
    let name = "hidden-gfx90a-v4.co";
    let mut bytes = data(name);
    let key = b".kernarg_segment_size\x50";
    let at = bytes.windows(key.len()).position(|w| w == key).unwrap() + key.len() - 1;
    bytes[at] = 79;
    let error = CodeObject::parse(&bytes, name).unwrap_err();
    assert_eq!(
        error.to_string(),
        "hidden-gfx90a-v4.co: kernel `first`: argument 9 (``, hidden_multigrid_sync_arg) ends at byte 80 of a kernarg \
         segment of 79 bytes"
    );
}

#[test]
fn every_kind_of_argument_has_its_text() {
    let object = object("vadd-gfx1151-v6.co");
    let kinds = object.kernel("tiny").unwrap().arguments().iter().map(|a| &a.kind);
    for kind in kinds {
        assert!(!matches!(kind, ArgumentKind::Other(_)), "{kind}");
        assert_eq!(kind.is_hidden(), kind.to_string().starts_with("hidden_"));
    }
}

/// `R_AMDGPU_ABS64` and `R_AMDGPU_REL64` in the data of an unlinked object, and its `.bss`.
#[test]
fn relocatable_object_with_data() {
    let object = object("table-gfx1151-v4.o");
    let image = object.image();
    let base = 0x2_0000_0000;
    let mut memory = Vec::new();
    let elsewhere = |name: &str| (name == "elsewhere").then_some(0x5000);
    image.write(base, elsewhere, |_, bytes| memory.extend_from_slice(bytes)).unwrap();
    assert_eq!(memory.len() as u64, image.size());
    let find = |name: &str| object.variables().find(|v| v.name == name).unwrap().offset;
    let entry = object.kernel("nop").unwrap().entry_offset();
    let (table, room) = (find("table"), find("room"));
    let values = [1, base + table + 8, 0x5004, entry.wrapping_sub(table + 24)];
    for (at, value) in (table..).step_by(8).zip(values) {
        assert_eq!(u64_at(&memory, at), value);
    }
    assert_eq!((room % 4096, &memory[room as usize..]), (0, [0; 100].as_slice()));
    assert!(image.segments().iter().any(|s| s.offset == table && s.write && !s.execute));
}
