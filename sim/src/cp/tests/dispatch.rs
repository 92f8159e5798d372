//! What a dispatch hands to the shader.

use super::*;
use crate::cp::QueueError;
use crate::cp::dispatch::{Dispatch, Surroundings};
use crate::cp::hqd::Halt;
use crate::shader::Launch;
use aql::Generation;
use aql::descriptor::KernargPreload;
use aql::scratch::{TmpringSize, resource_descriptor};
use proptest::prelude::*;

const PACKET: u64 = RING + 3 * PACKET_BYTES as u64;

fn launch(rig: &Rig, packet: &KernelDispatch, trap: Option<(u64, u64)>) -> Result<Launch, Halt> {
    let mut memory = view(&rig.space);
    let surroundings = Surroundings {
        gpu: &rig.gpu,
        queue: QUEUE,
        packet: PACKET,
        index: 0x1_0000_0003,
        trap_handler: trap,
        xccs: Default::default(),
    };
    Ok(Dispatch::new(packet, &surroundings, &mut memory)?.launch(&mut memory)?)
}

fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

fn all_user_sgprs(descriptor: &mut KernelDescriptor) {
    descriptor.kernel_code_properties |= Properties::new()
        .with_enable_sgpr_dispatch_ptr(true)
        .with_enable_sgpr_queue_ptr(true)
        .with_enable_sgpr_kernarg_segment_ptr(true)
        .with_enable_sgpr_dispatch_id(true)
        .with_enable_sgpr_private_segment_size(true)
        .into_bits();
    descriptor.compute_pgm_rsrc2 =
        Rsrc2::from_bits(descriptor.compute_pgm_rsrc2).with_user_sgpr_count(15).into_bits();
}

fn give_scratch(rig: &Rig, waves: u32, wave_bytes: u32, lane_bytes: u32, generation: Generation) {
    let tmpring = TmpringSize { waves, wave_bytes }.encode(generation).unwrap();
    rig.write_field(queue::offset::COMPUTE_TMPRING_SIZE, tmpring);
    rig.write_field(queue::offset::SCRATCH_WAVE64_LANE_BYTE_SIZE, lane_bytes);
    rig.write_u64(QUEUE + queue::offset::SCRATCH_BACKING_MEMORY_LOCATION, 0x7_0000_0000);
}

#[test]
fn user_sgprs_of_gfx11() {
    let rig = Rig::new();
    let mut packet = rig.dispatch(kernel::END);
    rig.load(kernel::END, all_user_sgprs);
    packet.private_segment_size = 5;
    give_scratch(&rig, 640, 512, 8, Generation::Gfx11);
    let launch = launch(&rig, &packet, None).unwrap();
    let expected = [halves(PACKET), halves(QUEUE), halves(DATA), halves(0x1_0000_0003), [8, 0]];
    assert_eq!(launch.user_data[..10], expected.concat());
    assert_eq!(launch.user_data[10..], [0; 22]);
    assert_eq!(launch.program, CODE + 0x100);
    assert!(launch.wave32);
    assert_eq!(launch.scratch_base, 0x7_0000_0000);
    assert_eq!(launch.scratch_bytes_per_wave, 512);
    assert_eq!(launch.scratch_waves, 1280, "WAVES counts those of one of two shader engines");
    assert_eq!((launch.shared_aperture_hi, launch.private_aperture_hi), (0x1_0000, 0x2_0000));
}

#[test]
fn user_sgprs_of_gfx10() {
    let rig = Rig::of(Gpu { name: "gfx1030", gfx_target_version: 100_300, ..gfx1151() });
    let mut packet = rig.dispatch(kernel::END);
    rig.load(kernel::END, |descriptor| {
        all_user_sgprs(descriptor);
        descriptor.kernel_code_properties |= Properties::new()
            .with_enable_sgpr_private_segment_buffer(true)
            .with_enable_sgpr_flat_scratch_init(true)
            .into_bits();
    });
    packet.private_segment_size = 16;
    give_scratch(&rig, 640, 1024, 16, Generation::Gfx103);
    let srd = resource_descriptor(Generation::Gfx103, 0x7_0000_0000, 640 << 10);
    for (i, word) in srd.into_iter().enumerate() {
        rig.write_field(queue::offset::SCRATCH_RESOURCE_DESCRIPTOR + 4 * i as u64, word);
    }
    let launch = launch(&rig, &packet, None).unwrap();
    // INDEX_STRIDE of 32 for wave32.
    assert_eq!(launch.user_data[..4], [srd[0], srd[1], srd[2], srd[3] | 2 << 21]);
    assert_eq!(launch.user_data[4..6], halves(PACKET));
    assert_eq!(launch.user_data[12..15], [0, 7, 16]);
    assert_eq!(launch.scratch_waves, 640);
}

#[test]
fn preloaded_arguments() {
    for (name, gfx_target_version) in [("gfx90a", 90_010), ("gfx942", 90_402)] {
        preload(Rig::of(Gpu { name, gfx_target_version, ..gfx1151() }));
    }
}

fn preload(rig: Rig) {
    let packet = rig.dispatch(kernel::END);
    rig.load(kernel::END, |descriptor| {
        descriptor.compute_pgm_rsrc1 = 0;
        descriptor.compute_pgm_rsrc2 = Rsrc2::new().with_user_sgpr_count(5).into_bits();
        descriptor.kernel_code_properties =
            Properties::new().with_enable_sgpr_kernarg_segment_ptr(true).into_bits();
        descriptor.kernarg_preload =
            KernargPreload::new().with_length(3).with_offset(1).into_bits();
    });
    for i in 0..5 {
        rig.write_u32(DATA + 4 * i, 0x100 + i as u32);
    }
    let launch = launch(&rig, &packet, None).unwrap();
    assert_eq!(launch.user_data[2..6], [0x101, 0x102, 0x103, 0]);
    assert_eq!(launch.program, CODE + 0x200, "behind the prologue");
    assert!(!launch.wave32);
}

#[test]
fn registers_are_filled_in() {
    let rig = Rig::new();
    let mut packet = rig.dispatch(kernel::END);
    packet.group_segment_size = 513;
    (packet.grid_size_x, packet.grid_size_y, packet.grid_size_z) = (100, 7, 3);
    (packet.workgroup_size_x, packet.workgroup_size_y) = (16, 2);
    let launched = launch(&rig, &packet, Some((0x1000, 0x2000))).unwrap();
    let rsrc2 = Rsrc2::from_bits(launched.rsrc2);
    assert_eq!(rsrc2.granulated_lds_size(), 2);
    assert!(rsrc2.enable_trap_handler());
    assert!(rsrc2.enable_sgpr_workgroup_id_x());
    assert_eq!(launched.lds_bytes, 1024);
    assert_eq!(launched.grid, [100, 7, 3]);
    assert_eq!(launched.workgroup, [16, 2, 1]);
    assert_eq!(launched.trap_handler, Some((0x1000, 0x2000)));
    // Linux has a handler of its own.
    let launched = launch(&rig, &packet, None).unwrap();
    assert!(Rsrc2::from_bits(launched.rsrc2).enable_trap_handler());
    assert_eq!(launched.rsrc1 >> 20 & 1, 0);
}

#[test]
fn gfx1100_runs_waves_with_privilege() {
    let rig = Rig::of(Gpu { name: "gfx1100", gfx_target_version: 110_000, ..gfx1151() });
    let packet = rig.dispatch(kernel::END);
    assert_eq!(launch(&rig, &packet, None).unwrap().rsrc1 >> 20 & 1, 1);
}

#[test]
fn a_runtime_may_use_the_last_reserved_field() {
    let rig = Rig::new();
    let mut packet = rig.dispatch(kernel::END);
    packet.reserved[12] = 77;
    assert!(launch(&rig, &packet, None).is_ok());
}

#[test]
fn scratch_must_be_there() {
    let needs = |rig: &Rig, packet: &KernelDispatch| match launch(rig, packet, None) {
        Err(Halt::Queue(error @ QueueError::Scratch { .. })) => {
            Some((error.inactive_value(), error.to_string()))
        }
        Ok(_) => None,
        Err(other) => panic!("{other:?}"),
    };
    let rig = Rig::new();
    let mut packet = rig.dispatch(kernel::END);
    packet.private_segment_size = 17;
    let message = "640 bytes of scratch for each wave of 32 lanes: the queue has 0".to_owned();
    assert_eq!(needs(&rig, &packet), Some((0x400, message)));
    give_scratch(&rig, 640, 768, 10, Generation::Gfx11);
    assert_eq!(needs(&rig, &packet), None);
    give_scratch(&rig, 640, 768, 9, Generation::Gfx11);
    assert!(needs(&rig, &packet).is_some(), "the firmware's number is too small");
    give_scratch(&rig, 640, 512, 10, Generation::Gfx11);
    assert!(needs(&rig, &packet).is_some(), "the hardware's number is too small");
    give_scratch(&rig, 0, 768, 10, Generation::Gfx11);
    assert!(needs(&rig, &packet).is_some(), "no wave may have scratch");

    give_scratch(&rig, 640, 768, 10, Generation::Gfx11);
    rig.load(kernel::END, |descriptor| descriptor.kernel_code_properties = 8);
    let (value, _) = needs(&rig, &packet).unwrap();
    assert_eq!(value, 1, "wave64 needs twice as much");
}

/// What a program can leave in memory for the processor.
fn hostile(rig: &Rig, packet: &KernelDispatch, descriptor: &[u8; 64], structure: &[u8]) {
    let mut memory = view(&rig.space);
    memory.write_bytes(CODE, descriptor).unwrap();
    memory.write_bytes(QUEUE, structure).unwrap();
    // Whatever comes of it, it is a value.
    let _ = launch(rig, packet, None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn no_dispatch_panics(
        mut words: [u32; 16],
        descriptor in prop::array::uniform32(any::<[u8; 2]>()),
        structure in prop::collection::vec(any::<u8>(), 256),
        plausible: bool,
        target in prop::sample::select(vec![90_006, 90_010, 90_402, 100_300, 110_501, 120_001, 1]),
    ) {
        let rig = Rig::of(Gpu { gfx_target_version: target, ..gfx1151() });
        words[0] = words[0] & !0xff | 2;
        let mut packet = KernelDispatch::decode(&words).unwrap();
        let mut descriptor: [u8; 64] = zerocopy::transmute!(descriptor);
        if plausible {
            packet.reserved[..12].fill(0);
            packet.dimensions = 3;
            packet.workgroup_size_x = packet.workgroup_size_x % 12 + 1;
            packet.workgroup_size_y = packet.workgroup_size_y % 12 + 1;
            packet.workgroup_size_z = packet.workgroup_size_z % 12 + 1;
            packet.group_segment_size %= 65_536;
            packet.private_segment_size %= 1024;
            packet.kernel_object = CODE;
            // Everything reserved on some generation is clear.
            descriptor[12..16].fill(0);
            descriptor[24..48].fill(0);
            descriptor[16] = 0;
            descriptor[49] &= !0x0c;
            descriptor[50] &= !0x50;
            descriptor[51] &= !0x1b;
            descriptor[52] &= !0x40;
            descriptor[53] &= !0xe0;
            descriptor[54] = 0;
            descriptor[55] &= !0x80;
            descriptor[57] &= 0x0c;
            descriptor[58..64].fill(0);
        }
        hostile(&rig, &packet, &descriptor, &structure);
    }
}
