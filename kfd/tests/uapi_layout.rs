//! The UAPI's layouts, request words and constants against the kernel's own headers.
//!
//! A C program, compiled against the headers in `tests/data/uapi`, prints what the compiler makes of
//! them. Its output is kept as golden data, and compared with the types here and with what the
//! compiler says now.

use kfd::uapi::{self, amdgpu, request};
use selvedge_sys::drm;
use selvedge_sys::uapi::Layout;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const KERNELS: [&str; 2] = ["linux-6.12.117", "linux-7.3.4"];
const HEADERS: [&str; 4] =
    ["drm/drm.h", "linux/kfd_ioctl.h", "linux/kfd_sysfs.h", "drm/amdgpu_drm.h"];

/// Fields whose C name is not theirs: storage of unions, members of nested structs, and padding that
/// C leaves implicit (no name).
const C_NAMES: &[(&str, &str, &str)] = &[
    ("EventData", "data", "memory_exception_data"),
    ("ProfilerArgs", "data", "pmc"),
    ("DbgTrapArgs", "data", "enable"),
    ("Info", "data", "read_mmr_reg"),
    ("MemoryExceptionFailure", "not_present", "NotPresent"),
    ("MemoryExceptionFailure", "read_only", "ReadOnly"),
    ("MemoryExceptionFailure", "no_execute", "NoExecute"),
    ("HsaMemoryExceptionData", "error_type", "ErrorType"),
    ("SvmAttribute", "type_", "type"),
    ("ContextSaveAreaHeader", "control_stack_offset", "wave_state.control_stack_offset"),
    ("ContextSaveAreaHeader", "control_stack_size", "wave_state.control_stack_size"),
    ("ContextSaveAreaHeader", "wave_state_offset", "wave_state.wave_state_offset"),
    ("ContextSaveAreaHeader", "wave_state_size", "wave_state.wave_state_size"),
    ("GemMetadata", "flags", "data.flags"),
    ("GemMetadata", "tiling_info", "data.tiling_info"),
    ("GemMetadata", "data_size_bytes", "data.data_size_bytes"),
    ("GemMetadata", "data", "data.data"),
    ("CriuArgs", "padding", ""),
    ("GemMetadata", "padding", ""),
    ("InfoHwIp", "padding", ""),
    ("Version", "padding", ""),
];

/// What Linux 7.3 made longer than Linux 6.12 had it: struct and size then.
const GROWN: &[(&str, usize)] = &[
    ("struct drm_amdgpu_gem_va", 40),
    ("struct drm_amdgpu_gem_op", 16),
    ("struct drm_amdgpu_info_hw_ip", 32),
    ("struct kfd_dbg_device_info_entry", 120),
];

macro_rules! constants {
    ($($c:ident $rust:expr;)*) => {
        fn constants() -> Vec<(&'static str, u64)> {
            vec![$((stringify!($c), $rust as u64),)*]
        }
    };
}

include!("uapi_layout/constants.rs");

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/uapi")
}

fn layouts() -> Vec<&'static Layout> {
    let all = uapi::LAYOUTS.iter().chain(amdgpu::LAYOUTS).copied().flatten();
    all.chain(drm::LAYOUTS).collect()
}

fn requests() -> Vec<(String, u32)> {
    let kfd = request::ALL.iter().map(|i| (format!("AMDKFD_IOC_{}", i.name), i.request));
    let amdgpu =
        amdgpu::drm_request::ALL.iter().map(|(n, r)| (format!("DRM_IOCTL_AMDGPU_{n}"), *r));
    let drm = drm::REQUESTS.iter().map(|(n, r, _)| (format!("DRM_IOCTL_{n}"), *r));
    kfd.chain(amdgpu).chain(drm).collect()
}

/// The field's name in C; `None` for padding that C leaves implicit.
fn c_name(layout: &Layout, field: &'static str) -> Option<&'static str> {
    match C_NAMES.iter().find(|(name, rust, _)| (*name, *rust) == (layout.name, field)) {
        Some((_, _, "")) => None,
        Some((_, _, c)) => Some(c),
        None => Some(match field {
            "in_" => "in",
            other => other,
        }),
    }
}

/// All headers of a kernel, in one text.
fn header_text(kernel: &str) -> String {
    HEADERS
        .iter()
        .map(|header| std::fs::read_to_string(data().join(kernel).join(header)).unwrap())
        .collect()
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|other| other == word)
}

/// The definition of a struct in the headers.
fn body<'a>(text: &'a str, c_name: &str) -> Option<&'a str> {
    let start = [format!("\n{c_name} {{"), format!("\n{c_name}  {{")]
        .iter()
        .find_map(|opening| text.find(opening.as_str()))?;
    let length = text[start..].find("\n}")?;
    Some(&text[start..start + length])
}

/// Writes the C program for what a kernel's headers define.
fn program(kernel: &str) -> String {
    let text = header_text(kernel);
    let mut c = String::new();
    c.push_str("#include <stdio.h>\n#include <stddef.h>\n#include <stdint.h>\n");
    for header in HEADERS {
        writeln!(c, "#include <{header}>").unwrap();
    }
    c.push_str("#define MEMBER(t, f) printf(\"  %s %zu %zu\\n\", #f, offsetof(t, f), sizeof(((t *)0)->f))\n");
    c.push_str("int main(void) {\n");
    for layout in layouts() {
        let name = layout.c_name;
        let Some(body) = body(&text, name) else { continue };
        writeln!(c, "printf(\"%s %zu\\n\", \"{name}\", sizeof({name}));").unwrap();
        for field in layout.fields {
            let Some(path) = c_name(layout, field.name) else { continue };
            if has_word(body, path.rsplit('.').next().unwrap()) {
                writeln!(c, "MEMBER({name}, {path});").unwrap();
            }
        }
    }
    for (name, _) in requests() {
        if has_word(&text, &name) {
            writeln!(c, "printf(\"request {name} 0x%08x\\n\", (unsigned)({name}));").unwrap();
        }
    }
    for (name, _) in constants() {
        if has_word(&text, name) {
            writeln!(
                c,
                "printf(\"constant {name} %llu\\n\", (unsigned long long)(sizeof({name}) == 4 ? \
                 (uint32_t)({name}) : (uint64_t)({name})));"
            )
            .unwrap();
        }
    }
    c.push_str("return 0; }\n");
    c
}

/// What the C compiler says; `None` without one, which is an error where everything must be checked.
fn compiled(kernel: &str) -> Option<String> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("uapi-{kernel}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let source = directory.join("layout.c");
    let binary = directory.join("layout");
    std::fs::write(&source, program(kernel)).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let output = Command::new(&compiler)
        .args(["-O0", "-w", "-D__counted_by(x)=", "-I"])
        .arg(data().join("compat"))
        .arg("-I")
        .arg(data().join(kernel))
        .arg("-o")
        .args([&binary, &source])
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) if std::env::var_os("CI").is_none() => {
            eprintln!("not compiled, only compared with golden data: {compiler}: {error}");
            return None;
        }
        Err(error) => panic!("no C compiler ({compiler}): {error}"),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = Command::new(&binary).output().unwrap().stdout;
    std::fs::remove_dir_all(&directory).unwrap();
    Some(String::from_utf8(text).unwrap())
}

fn golden(kernel: &str) -> String {
    std::fs::read_to_string(data().join(kernel).join("layout.txt")).unwrap()
}

#[test]
fn golden_data_is_what_the_compiler_says() {
    for kernel in KERNELS {
        let Some(text) = compiled(kernel) else { continue };
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(data().join(kernel).join("layout.txt"), &text).unwrap();
        }
        assert!(text == golden(kernel), "{kernel}/layout.txt differs from the compiler's answer");
    }
}

/// A golden file, taken apart.
#[derive(Default)]
struct Golden {
    sizes: BTreeMap<String, usize>,
    fields: BTreeMap<(String, String), (usize, usize)>,
    requests: BTreeMap<String, u32>,
    constants: BTreeMap<String, u64>,
}

fn parse(text: &str) -> Golden {
    let mut golden = Golden::default();
    let mut current = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["request", name, value] => {
                let value = u32::from_str_radix(value.strip_prefix("0x").unwrap(), 16).unwrap();
                golden.requests.insert(name.to_owned(), value);
            }
            ["constant", name, value] => {
                golden.constants.insert(name.to_owned(), value.parse().unwrap());
            }
            [kind @ ("struct" | "union"), name, size] => {
                current = format!("{kind} {name}");
                golden.sizes.insert(current.clone(), size.parse().unwrap());
            }
            [field, offset, size] => {
                let place = (offset.parse().unwrap(), size.parse().unwrap());
                golden.fields.insert((current.clone(), field.to_owned()), place);
            }
            _ => panic!("{line:?}"),
        }
    }
    golden
}

#[test]
fn structs_lie_as_in_c() {
    for kernel in KERNELS {
        let golden = parse(&golden(kernel));
        let newest = kernel == KERNELS[1];
        for layout in layouts() {
            let Some(&size) = golden.sizes.get(layout.c_name) else {
                assert!(!newest, "{} is not in {kernel}", layout.c_name);
                continue;
            };
            let grown = GROWN.iter().find(|(name, _)| *name == layout.c_name && !newest);
            assert_eq!(grown.map_or(layout.size, |(_, size)| *size), size, "{}", layout.c_name);
            let mut end = 0;
            for field in layout.fields {
                assert_eq!(field.offset, end, "{}.{}", layout.name, field.name);
                end += field.size;
                let Some(path) = c_name(layout, field.name) else { continue };
                let key = (layout.c_name.to_owned(), path.to_owned());
                match golden.fields.get(&key) {
                    Some(&place) => {
                        assert_eq!((field.offset, field.size), place, "{key:?} in {kernel}");
                    }
                    None => assert!(!newest, "{key:?} is not in {kernel}"),
                }
            }
            assert_eq!(end, layout.size, "{} has bytes without a name", layout.name);
        }
    }
}

#[test]
fn request_words_and_constants_are_those_of_c() {
    for kernel in KERNELS {
        let golden = parse(&golden(kernel));
        let newest = kernel == KERNELS[1];
        for (name, word) in requests() {
            let expected = match (name.as_str(), newest) {
                ("DRM_IOCTL_AMDGPU_GEM_VA", false) => amdgpu::GEM_VA_40,
                ("DRM_IOCTL_AMDGPU_GEM_OP", false) => amdgpu::GEM_OP_16,
                _ => word,
            };
            match golden.requests.get(&name) {
                Some(&value) => assert_eq!(expected, value, "{name} in {kernel}"),
                None => assert!(!newest, "{name} is not in {kernel}"),
            }
        }
        for (name, value) in constants() {
            match golden.constants.get(name) {
                Some(&other) => assert_eq!(value, other, "{name} in {kernel}"),
                None => assert!(!newest, "{name} is not in {kernel}"),
            }
        }
    }
}

#[test]
fn every_ioctl_and_struct_of_the_kfd_is_here() {
    let list = std::fs::read_to_string(data().join("linux-7.3.4/ioctls.txt")).unwrap();
    let kfd = list.split("\n== ").find(|part| part.starts_with("linux/kfd_ioctl.h"));
    let (mut ioctls, mut structs) = (0, 0);
    for line in kfd.unwrap().lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["sizeof", kind, name, size] => {
                let c_name = format!("{kind} {name}");
                let found = uapi::LAYOUTS.iter().copied().flatten().find(|l| l.c_name == c_name);
                let layout = found.unwrap_or_else(|| panic!("{c_name} is missing"));
                assert_eq!(layout.size.to_string(), size, "{c_name}");
                structs += 1;
            }
            [name, "type=K", .., word] => {
                let name = name.strip_prefix("AMDKFD_IOC_").unwrap();
                let found = request::ALL.iter().find(|ioctl| ioctl.name == name);
                let ioctl = found.unwrap_or_else(|| panic!("{name} is missing"));
                assert_eq!(format!("request={:#010x}", ioctl.request), word, "{name}");
                ioctls += 1;
            }
            _ => {}
        }
    }
    assert_eq!((ioctls, structs), (40, uapi::LAYOUTS.iter().map(|l| l.len()).sum()));
}

#[test]
fn union_members_share_their_storage() {
    let mut event = uapi::EventData::new(7, 0x1_0000_0002);
    assert_eq!(event.signal().last_event_age, 0x1_0000_0002);
    // The first dwords of the other members.
    assert_eq!(event.memory_exception().failure.not_present, 2);
    assert_eq!(event.hw_exception().reset_cause, 1);
    let exception = uapi::HsaMemoryExceptionData {
        va: 1 << 47,
        gpu_id: 3,
        error_type: 1,
        ..Default::default()
    };
    event.set_memory_exception(&exception);
    assert_eq!((event.memory_exception(), event.data[2]), (exception, 1 << 47));
    event.set_hw_exception(&uapi::HsaHwExceptionData { gpu_id: 9, ..Default::default() });
    assert_eq!(event.hw_exception().gpu_id, 9);
    assert_eq!(event.data[2], 1 << 47, "what lies past a member is left alone");

    let watch = uapi::DbgTrapSetNodeAddressWatchArgs { address: 5, id: 6, ..Default::default() };
    let mut trap = uapi::DbgTrapArgs::new(42, &watch);
    assert_eq!((trap.pid, trap.op), (42, uapi::DBG_TRAP_SET_NODE_ADDRESS_WATCH));
    assert_eq!(trap.data(), Some(watch));
    assert_eq!(trap.data::<uapi::DbgTrapEnableArgs>(), None, "of another operation");
    trap.set_data(&uapi::DbgTrapSetFlagsArgs { flags: 2, pad: 0 });
    assert_eq!((trap.op, trap.data[0]), (uapi::DBG_TRAP_SET_FLAGS, 2));
    assert_eq!(uapi::DbgTrapArgs::disable(1).op, uapi::DBG_TRAP_DISABLE);

    let pmc = uapi::PmcSettings { gpu_id: 1, lock: 2, perfcount_enable: 3 };
    let profiler = uapi::ProfilerArgs::set_pmc(&pmc);
    assert_eq!((profiler.pmc(), profiler.version(), profiler.ptl().enable), (pmc, 1, 2));

    let mut context = amdgpu::Ctx::new(amdgpu::CTX_OP_ALLOC_CTX, 0);
    context.set_context(77);
    assert_eq!((context.context(), context.in_.op), (77, 77));
}
