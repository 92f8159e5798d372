//! A GPU of several XCCs.

use super::*;
use aql::scratch::TmpringSize;
use aql::{Generation, Pm4Indirect};

/// Where workgroups leave a dword each.
const OUT: u64 = DATA + 256;
const GROUPS: u64 = 20;
/// The place of the first workgroup's XCC.
const FIRST: u32 = 3;
const XCCS: u32 = 8;

/// Each workgroup stores a scalar register: s_load_dwordx2 s[2:3], s[0:1], 0x0; s_getreg_b32 s5, hwreg(HW_REG_XCC_ID);
/// s_lshl_b32 s4, s4, 2; v_mov_b32 v1, s4; v_mov_b32 v2, s5 (flat_scratch_lo); s_waitcnt lgkmcnt(0);
/// global_store_dword v1, v2, s[2:3]; s_endpgm (llvm-mc-19 --arch=amdgcn --mcpu=gfx942 --show-encoding)
const fn stored(source: u32) -> [u32; 10] {
    [
        0xc006_0080,
        0x0000_0000,
        0xb885_f814,
        0x8e04_8204,
        0x7e02_0204,
        0x7e04_0200 | source,
        0xbf8c_c07f,
        0xdc70_8000,
        0x0002_0201,
        0xbf81_0000,
    ]
}
const XCC_ID: [u32; 10] = stored(5);
const SCRATCH: [u32; 10] = stored(0x66);

fn rig(kernel: &[u32]) -> Rig {
    let rig = Rig::of(Gpu {
        name: "gfx942",
        gfx_target_version: 90_402,
        compute_units: 304,
        xccs: XCCS,
        shader_engines: 4,
        ..gfx1151()
    });
    rig.load(kernel, |descriptor| {
        descriptor.compute_pgm_rsrc1 = 0;
        descriptor.kernel_code_properties =
            Properties::new().with_enable_sgpr_kernarg_segment_ptr(true).into_bits();
    });
    rig.write_u64(DATA, OUT);
    rig.signal(SIGNALS, 1, 0, 0);
    rig
}

fn start(rig: &Rig, kind: QueueKind) -> RingProcessor {
    rig.start_with(QueueConfiguration { xcc: FIRST, ..rig.configuration(0, kind) }, 0)
}

fn out(rig: &Rig) -> Vec<u32> {
    (0..GROUPS).map(|group| rig.read_u32(OUT + 4 * group)).collect()
}

/// The XCC of each workgroup.
fn round() -> Vec<u32> {
    (0..GROUPS as u32).map(|group| (FIRST + group) % XCCS).collect()
}

/// A dispatch in PM4 packets.
fn packets() -> Vec<u32> {
    let code = (CODE + 0x100) >> 8;
    vec![
        0xc002_7600,
        0x20c,
        code as u32,
        0,
        0xc002_7600,
        0x212,
        0,
        4 << 1 | 1 << 7,
        0xc002_7600,
        0x240,
        DATA as u32,
        0,
        0xc003_7600,
        0x207,
        64,
        1,
        1,
        0xc003_1500,
        GROUPS as u32,
        1,
        1,
        5,
    ]
}

fn indirect(rig: &Rig, words: &[u32]) {
    const BUFFER: u64 = DATA + 0x800;
    for (i, word) in words.iter().enumerate() {
        rig.write_u32(BUFFER + 4 * i as u64, *word);
    }
    let mut packet = Pm4Indirect::new(BUFFER, words.len() as u32);
    packet.completion_signal = SIGNALS;
    rig.submit(0, &packet.encode());
}

fn packet(items: u32) -> KernelDispatch {
    let mut packet = KernelDispatch::new(CODE, DATA, [items, 1, 1], [64, 1, 1]);
    packet.completion_signal = SIGNALS;
    packet
}

#[test]
fn workgroups_of_aql_queues_go_round() {
    let rig = rig(&XCC_ID);
    let queue = start(&rig, QueueKind::Aql);
    rig.submit(0, &packet(GROUPS as u32 * 64).encode());
    rig.wait_zero(SIGNALS);
    assert_eq!(out(&rig), round());
    assert_eq!(queue.statistics().waves, GROUPS);
}

/// Also of many workgroups, which several threads share.
#[test]
fn no_workgroup_is_lost() {
    let rig = rig(&XCC_ID);
    let queue = start(&rig, QueueKind::Aql);
    // They store to 32 dwords, by their number: s_and_b32 s4, s4, 31 before s_lshl_b32.
    let code = [0x8604_9f04, 0x8e04_8204];
    for (i, word) in XCC_ID[..3].iter().chain(&code).chain(&XCC_ID[4..]).enumerate() {
        rig.write_u32(CODE + 0x100 + 4 * i as u64, *word);
    }
    rig.submit(0, &packet(4096 * 64).encode());
    rig.wait_zero(SIGNALS);
    assert_eq!(out(&rig), round());
    assert_eq!(queue.statistics().waves, 4096);
}

#[test]
fn a_pm4_queue_has_one() {
    let rig = rig(&XCC_ID);
    let queue = start(&rig, QueueKind::Pm4);
    let words = packets();
    for (i, word) in words.iter().enumerate() {
        rig.write_u32(RING + 4 * i as u64, *word);
    }
    rig.ring_doorbell(0, words.len() as u64);
    wait_for("the dispatch", || queue.statistics().dispatches == 1);
    assert_eq!(out(&rig), [FIRST; GROUPS as usize]);
}

/// Each XCC takes all packets of an indirect buffer, runs its own share of a dispatch, and skips what is for others.
#[test]
fn indirect_buffers_are_for_all() {
    let rig = rig(&XCC_ID);
    let queue = start(&rig, QueueKind::Aql);
    let counter = DATA + 16;
    let count = |address: u64| [0xc007_1e00, 47, address as u32, 0, 1, 0, 0, 0, 0];
    let mut words = packets();
    words.extend(count(counter));
    for xccs in [1 << 2, 1 << 7 | 1] {
        words.extend([0xc000_2300, xccs << 24 | 9]);
        words.extend(count(counter + 8));
    }
    indirect(&rig, &words);
    rig.wait_zero(SIGNALS);
    assert_eq!(out(&rig), round());
    assert_eq!((rig.read_u64(counter), rig.read_u64(counter + 8)), (8, 3));
    assert_eq!(queue.statistics().waves, GROUPS);
}

/// They are executed one after the other: none but the last can wait.
#[test]
fn xccs_that_wait_for_others_are_refused() {
    let rig = rig(&XCC_ID);
    let queue = start(&rig, QueueKind::Aql);
    let wait = [0xc005_3c00, 0x13, DATA as u32 + 16, 0, 1, 0xffff_ffff, 4];
    rig.write_u32(DATA + 16, 1);
    indirect(&rig, &wait);
    rig.wait_zero(SIGNALS);
    rig.write_u32(DATA + 16, 0);
    indirect(&rig, &wait);
    wait_for("the refusal", || queue.fault().is_some());
    let text = queue.fault().unwrap().error.to_string();
    assert!(text.starts_with("not modelled: XCCs of an AQL queue that wait"), "{text}");
}

/// COMPUTE_TMPRING_SIZE.WAVES counts those of an XCC, and each has its own part of the memory.
#[test]
fn scratch_of_each() {
    const BASE: u64 = 0x7_0000_0000;
    const WAVES: u32 = 64;
    const BYTES: u32 = 1024;
    let rig = rig(&SCRATCH);
    let _queue = start(&rig, QueueKind::Aql);
    let size = TmpringSize { waves: WAVES, wave_bytes: BYTES }.encode(Generation::Gfx94x).unwrap();
    rig.write_field(queue::offset::COMPUTE_TMPRING_SIZE, size);
    rig.write_field(queue::offset::SCRATCH_WAVE64_LANE_BYTE_SIZE, BYTES / 64);
    rig.write_field(queue::offset::SCRATCH_BACKING_MEMORY_LOCATION, BASE as u32);
    rig.write_field(queue::offset::SCRATCH_BACKING_MEMORY_LOCATION + 4, (BASE >> 32) as u32);
    let mut packet = packet(XCCS * 64);
    packet.private_segment_size = BYTES / 64;
    rig.submit(0, &packet.encode());
    rig.wait_zero(SIGNALS);
    let starts: Vec<u32> = (0..XCCS).map(|group| (FIRST + group) % XCCS * WAVES * BYTES).collect();
    assert_eq!(out(&rig)[..8], starts.iter().map(|start| BASE as u32 + start).collect::<Vec<_>>());
}
