//! Layouts and encodings of AMD's headers; see `data/headers/SOURCE`.

use aql::header::{FenceScope, Header};
use aql::scratch::{TmpringSize, resource_descriptor};
use aql::vendor::{Condition, Format};
use aql::{
    AgentDispatch, BarrierAnd, BarrierOr, BarrierValue, Generation, KernelDispatch, Packet,
    Pm4Indirect, Signed,
};
use aql::{queue, signal};
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

const DATA: &str = include_str!("data/headers/encodings.txt");

/// A packet or register: its fields by name, and its dwords.
struct Sample {
    fields: HashMap<&'static str, u64>,
    words: Vec<u32>,
}

impl Sample {
    fn all(kind: &str) -> Vec<Sample> {
        let samples: Vec<Sample> = DATA
            .lines()
            .filter_map(|line| {
                let (fields, words) =
                    line.strip_prefix(kind)?.strip_prefix(' ')?.split_once(':')?;
                let hex = |text| u64::from_str_radix(text, 16).unwrap();
                let field = |text: &'static str| {
                    let (name, value) = text.split_once('=').unwrap();
                    (name, hex(value))
                };
                Some(Sample {
                    fields: fields.split_whitespace().map(field).collect(),
                    words: words.split_whitespace().map(|word| hex(word) as u32).collect(),
                })
            })
            .collect();
        assert_eq!(samples.len(), 8, "{kind}");
        samples
    }

    fn get<T: TryFrom<u64>>(&self, name: &str) -> T {
        let value = self.fields[name];
        T::try_from(value).unwrap_or_else(|_| panic!("{name}={value:#x} fits its field"))
    }

    fn barrier(&self) -> bool {
        self.get::<u8>("barrier") == 1
    }

    fn acquire(&self) -> FenceScope {
        FenceScope(self.get("acquire"))
    }

    fn release(&self) -> FenceScope {
        FenceScope(self.get("release"))
    }

    /// Reserved fields, each with the dword and the bit where it starts; those of 8 bytes are in two dwords.
    fn reserved(&self, fields: &[(&str, usize, u32)]) -> [u32; 16] {
        let mut reserved = [0; 16];
        for &(name, dword, bit) in fields {
            let value = self.get::<u64>(name) << bit;
            reserved[dword] |= value as u32;
            reserved[dword + 1] |= (value >> 32) as u32;
        }
        reserved
    }

    /// Both ways: the packet encodes to the dwords, and these decode to the packet.
    fn check(&self, packet: Packet) {
        assert_eq!(packet.encode()[..], self.words);
        assert_eq!(Packet::decode(&packet.encode()), packet);
    }
}

#[test]
fn kernel_dispatch() {
    for sample in Sample::all("kernel_dispatch") {
        sample.check(Packet::KernelDispatch(KernelDispatch {
            barrier: sample.barrier(),
            acquire: sample.acquire(),
            release: sample.release(),
            dimensions: sample.get("dimensions"),
            workgroup_size_x: sample.get("workgroup_size_x"),
            workgroup_size_y: sample.get("workgroup_size_y"),
            workgroup_size_z: sample.get("workgroup_size_z"),
            grid_size_x: sample.get("grid_size_x"),
            grid_size_y: sample.get("grid_size_y"),
            grid_size_z: sample.get("grid_size_z"),
            private_segment_size: sample.get("private_segment_size"),
            group_segment_size: sample.get("group_segment_size"),
            kernel_object: sample.get("kernel_object"),
            kernarg_address: sample.get("kernarg_address"),
            completion_signal: sample.get("completion_signal"),
            reserved: sample.reserved(&[("reserved0", 2, 16), ("reserved2", 12, 0)]),
        }));
    }
}

#[test]
fn agent_dispatch() {
    for sample in Sample::all("agent_dispatch") {
        sample.check(Packet::AgentDispatch(AgentDispatch {
            barrier: sample.barrier(),
            acquire: sample.acquire(),
            release: sample.release(),
            function: sample.get("type"),
            return_address: sample.get("return_address"),
            arg_0: sample.get("arg0"),
            arg_1: sample.get("arg1"),
            arg_2: sample.get("arg2"),
            arg_3: sample.get("arg3"),
            completion_signal: sample.get("completion_signal"),
            reserved: sample.reserved(&[("reserved0", 1, 0), ("reserved2", 12, 0)]),
        }));
    }
}

#[test]
fn barriers() {
    let signals = |sample: &Sample| {
        ["dep0", "dep1", "dep2", "dep3", "dep4"].map(|name| sample.get::<u64>(name))
    };
    let reserved = [("reserved0", 0, 16), ("reserved1", 1, 0), ("reserved2", 12, 0)];
    for sample in Sample::all("barrier_and") {
        sample.check(Packet::BarrierAnd(BarrierAnd {
            barrier: sample.barrier(),
            acquire: sample.acquire(),
            release: sample.release(),
            completion_signal: sample.get("completion_signal"),
            reserved: sample.reserved(&reserved),
            ..BarrierAnd::new(signals(&sample))
        }));
    }
    for sample in Sample::all("barrier_or") {
        sample.check(Packet::BarrierOr(BarrierOr {
            barrier: sample.barrier(),
            acquire: sample.acquire(),
            release: sample.release(),
            completion_signal: sample.get("completion_signal"),
            reserved: sample.reserved(&reserved),
            ..BarrierOr::new(signals(&sample))
        }));
    }
}

#[test]
fn barrier_value() {
    for sample in Sample::all("barrier_value") {
        sample.check(Packet::BarrierValue(BarrierValue {
            barrier: sample.barrier(),
            acquire: sample.acquire(),
            release: sample.release(),
            signal: sample.get("signal"),
            value: Signed(sample.get::<u64>("value").cast_signed()),
            mask: sample.get("mask"),
            cond: Condition(sample.get("cond")),
            completion_signal: sample.get("completion_signal"),
            reserved: sample.reserved(&[
                ("reserved", 0, 24),
                ("reserved0", 1, 0),
                ("reserved1", 9, 0),
                ("reserved2", 10, 0),
                ("reserved3", 12, 0),
            ]),
        }));
    }
}

#[test]
fn indirect_buffer() {
    for sample in Sample::all("indirect_buffer") {
        let packet = Pm4Indirect::new(sample.get("address"), sample.get("dwords"));
        assert_eq!(packet.encode()[1..5], sample.words);
        assert_eq!(packet.check(), Ok(()));
    }
}

#[test]
fn tmpring_size() {
    for (kind, generation) in [
        ("tmpring_gfx9", Generation::Gfx906),
        ("tmpring_gfx9", Generation::Gfx94x),
        ("tmpring_gfx10", Generation::Gfx103),
        ("tmpring_gfx11", Generation::Gfx11),
        ("tmpring_gfx12", Generation::Gfx12),
    ] {
        for sample in Sample::all(kind) {
            let size =
                TmpringSize { waves: sample.get("waves"), wave_bytes: sample.get("wave_bytes") };
            assert_eq!(size.encode(generation), Ok(sample.words[0]), "{generation}");
            assert_eq!(TmpringSize::decode(sample.words[0], generation), size);
        }
    }
}

#[test]
fn scratch_resource_descriptor() {
    for (kind, generation) in [
        ("srd_gfx9", Generation::Gfx906),
        ("srd_gfx9", Generation::Gfx90a),
        ("srd_gfx10", Generation::Gfx103),
        ("srd_gfx11", Generation::Gfx11),
        ("srd_gfx12", Generation::Gfx12),
    ] {
        for sample in Sample::all(kind) {
            let words = resource_descriptor(generation, sample.get("base"), sample.get("size"));
            assert_eq!(words[..], sample.words, "{generation}");
        }
    }
}

/// The number in the line that starts so.
fn number(start: &str) -> i64 {
    let line = DATA.lines().find_map(|line| line.strip_prefix(start)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{start}")).parse().unwrap()
}

/// A name in the data, and our number.
type Named = (&'static str, i64);

/// Lines that speak of names in a table and of another number, names of which no line speaks, and lines of this kind
/// that the table does not have.
fn differences(kind: &str, structures: &[&str], table: &[Named]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut named = vec![false; table.len()];
    for line in DATA.lines().filter_map(|line| line.strip_prefix(kind)) {
        let (name, golden) = line.trim().split_once(' ').unwrap();
        let Some(field) = structures.iter().find_map(|structure| name.strip_prefix(structure))
        else {
            continue;
        };
        match table.iter().position(|(known, _)| *known == field) {
            Some(index) if golden.parse() == Ok(table[index].1) => named[index] = true,
            _ => wrong.push(line.to_owned()),
        }
    }
    let missing = table.iter().zip(named).filter(|(_, named)| !named);
    wrong.extend(missing.map(|((name, value), _)| format!("nothing says that {name} is {value}")));
    wrong
}

/// Holds a table against the data, and sees that any other number in it would be noticed.
fn compare(kind: &str, structures: &[&str], table: &[Named]) {
    assert_eq!(differences(kind, structures, table), [""; 0]);
    for index in 0..table.len() {
        for bit in 0..64 {
            let mut mutant = table.to_vec();
            mutant[index].1 ^= 1 << bit;
            assert_ne!(differences(kind, structures, &mutant), [""; 0], "{} {bit}", table[index].0);
        }
    }
}

#[test]
fn signal_layout() {
    use signal::offset;
    assert_eq!(number("size amd_signal_t"), size_of::<aql::Signal>() as i64);
    let table = [
        ("kind", offset::KIND),
        ("value", offset::VALUE),
        ("event_mailbox_ptr", offset::EVENT_MAILBOX_PTR),
        ("event_id", offset::EVENT_ID),
        ("start_ts", offset::START_TS),
        ("end_ts", offset::END_TS),
        ("queue_ptr", offset::QUEUE_PTR),
    ];
    compare("offset", &["amd_signal_t."], &table.map(|(name, offset)| (name, offset as i64)));
}

#[test]
fn queue_layout() {
    use queue::offset;
    assert_eq!(number("size amd_queue_t"), size_of::<aql::Queue>() as i64);
    assert_eq!(number("size amd_queue_v2_t"), size_of::<aql::QueueV2>() as i64);
    let table = [
        ("hsa_queue.type", offset::TYPE),
        ("hsa_queue.features", offset::FEATURES),
        ("hsa_queue.base_address", offset::BASE_ADDRESS),
        ("hsa_queue.doorbell_signal", offset::DOORBELL_SIGNAL),
        ("hsa_queue.size", offset::SIZE),
        ("hsa_queue.id", offset::ID),
        ("caps", offset::CAPS),
        ("write_dispatch_id", offset::WRITE_DISPATCH_ID),
        ("group_segment_aperture_base_hi", offset::GROUP_SEGMENT_APERTURE_BASE_HI),
        ("private_segment_aperture_base_hi", offset::PRIVATE_SEGMENT_APERTURE_BASE_HI),
        ("max_cu_id", offset::MAX_CU_ID),
        ("max_wave_id", offset::MAX_WAVE_ID),
        ("max_legacy_doorbell_dispatch_id_plus_1", offset::MAX_LEGACY_DOORBELL_DISPATCH_ID_PLUS_1),
        ("legacy_doorbell_lock", offset::LEGACY_DOORBELL_LOCK),
        ("read_dispatch_id", offset::READ_DISPATCH_ID),
        (
            "read_dispatch_id_field_base_byte_offset",
            offset::READ_DISPATCH_ID_FIELD_BASE_BYTE_OFFSET,
        ),
        ("compute_tmpring_size", offset::COMPUTE_TMPRING_SIZE),
        ("scratch_resource_descriptor", offset::SCRATCH_RESOURCE_DESCRIPTOR),
        ("scratch_backing_memory_location", offset::SCRATCH_BACKING_MEMORY_LOCATION),
        ("scratch_backing_memory_byte_size", offset::SCRATCH_BACKING_MEMORY_BYTE_SIZE),
        ("scratch_wave64_lane_byte_size", offset::SCRATCH_WAVE64_LANE_BYTE_SIZE),
        ("queue_properties", offset::QUEUE_PROPERTIES),
        ("scratch_max_use_index", offset::SCRATCH_MAX_USE_INDEX),
        ("queue_inactive_signal", offset::QUEUE_INACTIVE_SIGNAL),
        ("alt_scratch_max_use_index", offset::ALT_SCRATCH_MAX_USE_INDEX),
        ("alt_scratch_resource_descriptor", offset::ALT_SCRATCH_RESOURCE_DESCRIPTOR),
        ("alt_scratch_backing_memory_location", offset::ALT_SCRATCH_BACKING_MEMORY_LOCATION),
        ("alt_scratch_dispatch_limit_x", offset::ALT_SCRATCH_DISPATCH_LIMIT),
        ("alt_scratch_dispatch_limit_y", offset::ALT_SCRATCH_DISPATCH_LIMIT + 4),
        ("alt_scratch_dispatch_limit_z", offset::ALT_SCRATCH_DISPATCH_LIMIT + 8),
        ("alt_scratch_wave64_lane_byte_size", offset::ALT_SCRATCH_WAVE64_LANE_BYTE_SIZE),
        ("alt_compute_tmpring_size", offset::ALT_COMPUTE_TMPRING_SIZE),
        ("scratch_last_used_index", offset::SCRATCH_LAST_USED_INDEX),
    ];
    let table = table.map(|(name, offset)| (name, offset as i64));
    compare("offset", &["amd_queue_t.", "amd_queue_v2_t."], &table);
}

#[test]
fn constants() {
    use aql::queue::{Capabilities, Properties};
    let properties = Properties::new;
    let table = [
        ("AMD_SIGNAL_ALIGN_BYTES", signal::ALIGNMENT as i64),
        ("AMD_QUEUE_ALIGN_BYTES", queue::ALIGNMENT as i64),
        ("MAX_NUM_XCC", queue::MAX_XCCS as i64),
        ("AMD_SIGNAL_KIND_INVALID", signal::KIND_INVALID),
        ("AMD_SIGNAL_KIND_USER", signal::KIND_USER),
        ("AMD_SIGNAL_KIND_DOORBELL", signal::KIND_DOORBELL),
        ("AMD_SIGNAL_KIND_LEGACY_DOORBELL", signal::KIND_LEGACY_DOORBELL),
        ("HSA_QUEUE_TYPE_MULTI", queue::TYPE_MULTI.into()),
        ("HSA_QUEUE_TYPE_SINGLE", queue::TYPE_SINGLE.into()),
        ("HSA_QUEUE_FEATURE_KERNEL_DISPATCH", queue::FEATURE_KERNEL_DISPATCH.into()),
        ("HSA_QUEUE_FEATURE_AGENT_DISPATCH", queue::FEATURE_AGENT_DISPATCH.into()),
        (
            "AMD_QUEUE_PROPERTIES_ENABLE_TRAP_HANDLER",
            properties().with_enable_trap_handler(true).into_bits().into(),
        ),
        ("AMD_QUEUE_PROPERTIES_IS_PTR64", properties().with_is_ptr64(true).into_bits().into()),
        (
            "AMD_QUEUE_PROPERTIES_ENABLE_TRAP_HANDLER_DEBUG_SGPRS",
            properties().with_enable_trap_handler_debug_sgprs(true).into_bits().into(),
        ),
        (
            "AMD_QUEUE_PROPERTIES_ENABLE_PROFILING",
            properties().with_enable_profiling(true).into_bits().into(),
        ),
        (
            "AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE",
            properties().with_use_scratch_once(true).into_bits().into(),
        ),
        (
            "AMD_QUEUE_CAPS_CP_ASYNC_RECLAIM",
            Capabilities::new().with_cp_async_reclaim(true).into_bits().into(),
        ),
        (
            "AMD_QUEUE_CAPS_SW_ASYNC_RECLAIM",
            Capabilities::new().with_sw_async_reclaim(true).into_bits().into(),
        ),
        ("HSA_PACKET_TYPE_INVALID", Header::INVALID.into_bits().into()),
        ("HSA_AMD_PACKET_TYPE_BARRIER_VALUE", Format::BARRIER_VALUE.0.into()),
        ("HSA_AMD_PACKET_TYPE_AIE_ERT", Format::AIE_ERT.0.into()),
        ("AMD_AQL_FORMAT_INTERCEPT_MARKER", Format::INTERCEPT_MARKER.0.into()),
    ];
    compare("constant", &[""], &table);
}

/// What is stored is what the generator prints of the sources that `SELVEDGE_ORACLE` names (see SOURCE).
#[test]
#[ignore = "needs the sources that SELVEDGE_ORACLE names"]
fn the_headers_still_give_this() {
    let oracle = std::env::var_os("SELVEDGE_ORACLE").expect("SELVEDGE_ORACLE names the sources");
    let runtime = Path::new(&oracle).join("rocm-systems/projects/rocr-runtime/runtime/hsa-runtime");
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "clang++-19".into());
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/headers/generate.cpp");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("generate");
    let mut command = Command::new(compiler);
    for include in ["", "inc", "core/inc"] {
        command.arg("-I").arg(runtime.join(include));
    }
    let compiled = command.args(["-std=c++17", "-w", source, "-o"]).arg(&program).status();
    assert!(compiled.unwrap().success());
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), DATA);
}
