//! What we read is what `llvm-readelf` reads.

use selvedge::code::{
    CodeObject, KernelMetadata, RelocationKind, RelocationTarget, Segment, SymbolKind,
};

use super::{LINKED, data, text};

fn object(name: &str) -> CodeObject {
    CodeObject::parse(&data(name), name).unwrap_or_else(|e| panic!("{e}"))
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn header() {
    for name in LINKED {
        let (object, listing) = (object(name), text(&format!("{name}.txt")));
        let line = |key: &str| {
            let line = listing.lines().find_map(|l| l.trim().strip_prefix(key)).unwrap();
            line.trim().to_owned()
        };
        assert_eq!(line("ABI Version:"), (object.abi() as u8 - 2).to_string(), "{name}");
        let flags = line("Flags:");
        let (bits, names) = flags.split_once(", ").unwrap();
        let target = object.target();
        assert_eq!(hex(bits) & 0xff, u64::from(target.processor.mach()), "{name}");
        let mut names = names.split(", ");
        assert_eq!(names.next(), Some(target.processor.name()), "{name}");
        let named = |key: &str| {
            names.clone().find(|n| n.starts_with(key)).map(|n| n[key.len()..].to_owned())
        };
        for (key, feature) in [("xnack", target.xnack), ("sramecc", target.sramecc)] {
            // V3 names a feature only when it is on; later "xnack" alone is "any".
            let expected = match named(key).as_deref() {
                Some("+") => "On",
                Some("-") => "Off",
                Some("") if object.abi() as u8 == 3 => "On",
                Some("") => "Any",
                None if object.abi() as u8 == 3 && target.processor.has_xnack() => "Off",
                None => "Unsupported",
                Some(other) => panic!("{name}: {key}{other}"),
            };
            assert_eq!(format!("{feature:?}"), expected, "{name}: {key}");
        }
        if target.processor.is_generic() {
            assert_eq!(named("generic_v"), target.generic_version.map(|v| v.to_string()), "{name}");
        }
    }
}

#[test]
fn segments() {
    for name in LINKED {
        let object = object(name);
        let listing = text(&format!("{name}.txt"));
        let bytes = data(name);
        let loads = listing.lines().filter(|l| l.trim_start().starts_with("LOAD "));
        let expected = loads.collect::<Vec<_>>();
        let segments = object.image().segments();
        assert_eq!(segments.len(), expected.len(), "{name}");
        for (segment, line) in segments.iter().zip(expected) {
            let words = line.split_whitespace().collect::<Vec<_>>();
            let (offset, address) = (hex(words[1]), hex(words[2]));
            let (in_file, in_memory) = (hex(words[4]), hex(words[5]));
            let flags = words[6..words.len() - 1].join("");
            assert_eq!(object.image().origin() + segment.offset, address, "{name}");
            assert_eq!(segment.size, in_memory, "{name}");
            assert_eq!(segment.contents(), &bytes[offset as usize..(offset + in_file) as usize]);
            let Segment { read, write, execute, .. } = *segment;
            let letters = [(read, 'R'), (write, 'W'), (execute, 'E')];
            let letters = letters.iter().filter(|(on, _)| *on).map(|(_, c)| *c).collect::<String>();
            assert_eq!(letters, flags, "{name}");
            assert!(object.image().align() >= hex(words[words.len() - 1]), "{name}");
        }
    }
}

#[test]
fn symbols() {
    for name in LINKED.iter().copied().filter(|n| *n != "globals-stripped.co") {
        let object = object(name);
        let listing = text(&format!("{name}.txt"));
        let mut expected = std::collections::BTreeSet::new();
        for line in listing.lines() {
            let words = line.split_whitespace().collect::<Vec<_>>();
            let [number, value, size, kind, .., section, symbol] = words.as_slice() else {
                continue;
            };
            let numbered = number.strip_suffix(':').is_some_and(|n| n.parse::<u32>().is_ok());
            let size = size.parse::<u64>().unwrap_or(0);
            if !numbered || size == 0 || section.parse::<u32>().is_err() {
                continue;
            }
            let kind = match *kind {
                "FUNC" => SymbolKind::Function,
                "OBJECT" if symbol.ends_with(".kd") => SymbolKind::Descriptor,
                "OBJECT" => SymbolKind::Variable,
                other => panic!("{name}: {other}"),
            };
            expected.insert((symbol.to_string(), hex(value), size, format!("{kind:?}")));
        }
        let origin = object.image().origin();
        let ours = object
            .symbols()
            .iter()
            .map(|s| (s.name.clone(), origin + s.offset, s.size, format!("{:?}", s.kind)))
            .collect::<std::collections::BTreeSet<_>>();
        assert_eq!(ours, expected, "{name}");
    }
}

#[test]
fn symbols_without_section_headers() {
    // The dynamic symbols alone, through PT_DYNAMIC and DT_HASH.
    let (whole, stripped) = (object("globals-gfx1151-v5.co"), object("globals-stripped.co"));
    let kernel = stripped.kernel("gather").unwrap();
    assert_eq!(kernel.descriptor(), whole.kernel("gather").unwrap().descriptor());
    assert_eq!(stripped.image().relocations(), whole.image().relocations());
    for name in ["shared_counter", "zeros", "into_table", "counter", "other", "maybe", "table"] {
        let find = |o: &CodeObject| o.variables().find(|v| v.name == name).cloned();
        assert_eq!(find(&stripped), find(&whole), "{name}");
        assert!(find(&whole).is_some(), "{name}");
    }
}

#[test]
fn relocations() {
    let names = LINKED.iter().copied().filter(|n| *n != "globals-stripped.co");
    for name in names.chain(["vadd-gfx1151-v5.o"]) {
        let object = object(name);
        let image = object.image();
        let listing = text(&format!("{name}.txt"));
        let mut expected = 0;
        for line in listing.lines() {
            let words = line.split_whitespace().collect::<Vec<_>>();
            let Some(kind) = words.get(2).filter(|w| w.starts_with("R_AMDGPU_")) else { continue };
            expected += 1;
            // In an unlinked object all these relocations are in .rodata, which starts where its
            // descriptors do.
            let relocatable = name.ends_with(".o");
            let start = object.kernels().iter().map(|k| k.descriptor_offset()).min().unwrap();
            let place =
                if relocatable { start + hex(words[0]) } else { hex(words[0]) - image.origin() };
            let ours = image.relocations().iter().find(|r| r.place == place).unwrap();
            match *kind {
                "R_AMDGPU_RELATIVE64" => {
                    assert_eq!(ours.kind, RelocationKind::Absolute64);
                    assert_eq!(ours.target, RelocationTarget::Image);
                    assert_eq!(ours.addend, hex(words[3]) - image.origin());
                }
                "R_AMDGPU_ABS64" => {
                    assert_eq!(ours.kind, RelocationKind::Absolute64);
                    let (value, addend) = (hex(words[3]), hex(words[6]));
                    match ours.target {
                        RelocationTarget::Image => {
                            assert_eq!(ours.addend, value + addend - image.origin());
                        }
                        RelocationTarget::Undefined(index) => {
                            assert_eq!((value, ours.addend), (0, addend));
                            assert_eq!(image.undefined()[index].name, words[4]);
                        }
                        other => panic!("{name}: {other:?}"),
                    }
                }
                "R_AMDGPU_REL64" => {
                    assert_eq!(ours.kind, RelocationKind::Relative64);
                    let function = object.symbols().iter().find(|s| s.name == words[4]).unwrap();
                    assert_eq!(ours.addend, function.offset + hex(words[6]));
                }
                other => panic!("{name}: {other}"),
            }
        }
        assert_eq!(image.relocations().len(), expected, "{name}");
    }
}

/// `path = value` of every scalar in the metadata that llvm-readelf prints, with list indices.
fn flatten(listing: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let (mut kernel, mut argument) = (0usize, 0usize);
    let (mut list, mut item) = (String::new(), 0);
    let mut inside = false;
    for line in listing.lines() {
        match line.trim() {
            "---" => {
                inside = true;
                continue;
            }
            "..." => inside = false,
            _ => {}
        }
        if !inside {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let mut rest = line.trim_start();
        let dashed = rest.starts_with("- ");
        rest = rest.strip_prefix("- ").unwrap_or(rest).trim_start();
        let is_key = rest.starts_with(['.', 'a']) && rest.contains(':') && !rest.starts_with('\'');
        if !is_key {
            assert!(dashed, "{line}");
            all.push((format!("{list}[{item}]"), rest.trim_matches('\'').to_owned()));
            item += 1;
            continue;
        }
        let (key, value) = rest.split_once(':').unwrap();
        let depth = if dashed { indent + 2 } else { indent };
        let path = match depth {
            0 => key.to_owned(),
            4 => {
                if dashed {
                    kernel += 1;
                    argument = 0;
                }
                format!("kernel[{}]{key}", kernel - 1)
            }
            8 => {
                argument += usize::from(dashed);
                format!("kernel[{}].args[{}]{key}", kernel - 1, argument - 1)
            }
            other => panic!("depth {other}: {line}"),
        };
        match value.trim() {
            "" => (list, item) = (path, 0),
            value => all.push((path, value.trim_matches('\'').to_owned())),
        }
    }
    all
}

/// The value at `path` in what we have read, as LLVM would print it.
fn ours(object: &CodeObject, path: &str) -> String {
    let metadata = object.metadata();
    let index = |text: &str| {
        let (before, rest) = text.split_once('[')?;
        let (number, after) = rest.split_once(']')?;
        Some((before.to_owned(), number.parse::<usize>().unwrap(), after.to_owned()))
    };
    let (head, number, rest) = match index(path) {
        Some(parts) => parts,
        None => (path.to_owned(), 0, String::new()),
    };
    match head.as_str() {
        "amdhsa.target" => return metadata.target.clone().unwrap(),
        "amdhsa.version" => return metadata.version.unwrap()[number].to_string(),
        "amdhsa.printf" => return metadata.printf[number].replace('\n', "\\n"),
        "kernel" => {}
        other => panic!("{other}"),
    }
    let kernel = &metadata.kernels[number];
    if let Some((head, number, key)) = index(&rest) {
        return match head.as_str() {
            ".args" => argument(kernel, number, &key),
            ".language_version" => kernel.language_version.unwrap()[number].to_string(),
            ".reqd_workgroup_size" => kernel.reqd_workgroup_size.unwrap()[number].to_string(),
            other => panic!("{other}"),
        };
    }
    let bit = |flag: bool| u8::from(flag).to_string();
    match rest.as_str() {
        ".name" => kernel.name.clone(),
        ".symbol" => kernel.symbol.clone(),
        ".language" => kernel.language.clone().unwrap(),
        ".group_segment_fixed_size" => kernel.group_segment_fixed_size.to_string(),
        ".private_segment_fixed_size" => kernel.private_segment_fixed_size.to_string(),
        ".kernarg_segment_size" => kernel.kernarg_segment_size.to_string(),
        ".kernarg_segment_align" => kernel.kernarg_segment_align.to_string(),
        ".wavefront_size" => kernel.wavefront_size.to_string(),
        ".max_flat_workgroup_size" => kernel.max_flat_workgroup_size.to_string(),
        ".sgpr_count" => kernel.sgpr_count.to_string(),
        ".vgpr_count" => kernel.vgpr_count.to_string(),
        ".agpr_count" => kernel.agpr_count.unwrap().to_string(),
        ".sgpr_spill_count" => kernel.sgpr_spill_count.unwrap().to_string(),
        ".vgpr_spill_count" => kernel.vgpr_spill_count.unwrap().to_string(),
        ".uses_dynamic_stack" => kernel.uses_dynamic_stack.to_string(),
        ".workgroup_processor_mode" => bit(kernel.workgroup_processor_mode.unwrap()),
        ".uniform_work_group_size" => bit(kernel.uniform_work_group_size),
        other => panic!("{other}"),
    }
}

fn argument(kernel: &KernelMetadata, number: usize, key: &str) -> String {
    let argument = &kernel.arguments[number];
    match key {
        ".name" => argument.name.clone().unwrap(),
        ".type_name" => argument.type_name.clone().unwrap(),
        ".offset" => argument.offset.to_string(),
        ".size" => argument.size.to_string(),
        ".value_kind" => argument.kind.to_string(),
        ".address_space" => argument.address_space.clone().unwrap(),
        ".access" => argument.access.clone().unwrap(),
        ".actual_access" => argument.actual_access.clone().unwrap(),
        ".pointee_align" => argument.pointee_align.unwrap().to_string(),
        ".is_const" => argument.is_const.to_string(),
        ".is_restrict" => argument.is_restrict.to_string(),
        ".is_volatile" => argument.is_volatile.to_string(),
        other => panic!("{other}"),
    }
}

#[test]
fn metadata() {
    for name in LINKED.iter().copied().chain(["vadd-gfx1151-v5.o"]) {
        let object = object(name);
        let expected = flatten(&text(&format!("{name}.txt")));
        for (path, value) in &expected {
            assert_eq!(&ours(&object, path), value, "{name}: {path}");
        }
        let count = |end: &str| expected.iter().filter(|(path, _)| path.ends_with(end)).count();
        let metadata = object.metadata();
        assert_eq!(metadata.kernels.len(), count(".symbol"), "{name}");
        let arguments = metadata.kernels.iter().map(|k| k.arguments.len()).sum::<usize>();
        assert_eq!(arguments, count(".value_kind"), "{name}");
        assert_eq!(object.metadata().kernels.is_empty(), name.starts_with("lds"), "{name}");
    }
}
