//! Global wave sync (KFDGWSTest asks so, too).

use crate::rig::{Buffer, PAGE, Queue, Rig, eventually, gtt};
use aql::descriptor::{Properties, Rsrc2};
use aql::{KernelDescriptor, KernelDispatch};
use kfd::uapi::{self, request};
use std::sync::atomic::Ordering::SeqCst;

/// s_mov_b32 m0, 0; v_mov_b32 v0, 7; ds_gws_init v0 gds; s_waitcnt 0; s_endpgm
const INIT_BARRIER: &[u32] =
    &[0xbefc0080, 0x7e000287, 0xd9330000, 0x00000000, 0xbf8c0000, 0xbf810000];
/// Adds 1 to what s[4:5] points to, waits at the barrier of eight waves, and stores what is there then, by workgroup, 64
/// bytes on: s_load_dwordx2 s[4:5], s[0:1], 0x0; s_mov_b32 m0, 0; s_lshl_b32 s3, s2, 2; v_mov_b32 v0, 0; v_mov_b32 v1, 1;
/// v_mov_b32 v4, 7; v_mov_b32 v3, s3; s_mov_b64 exec, 1; s_waitcnt lgkmcnt(0); global_atomic_add v0, v1, s[4:5];
/// s_waitcnt vmcnt(0); ds_gws_barrier v4 gds; s_waitcnt lgkmcnt(0); global_load_dword v2, v0, s[4:5] glc;
/// s_waitcnt vmcnt(0); global_store_dword v3, v2, s[4:5] offset:64; s_endpgm
const MEET: &[u32] = &[
    0xc0060100, 0x00000000, 0xbefc0080, 0x8e038202, 0x7e000280, 0x7e020281, 0x7e080287, 0x7e060203,
    0xbefe0181, 0xbf8cc07f, 0xdd088000, 0x00040100, 0xbf8c0f70, 0xd93b0000, 0x00000004, 0xbf8cc07f,
    0xdc518000, 0x02040000, 0xbf8c0f70, 0xdc708040, 0x00040203, 0xbf810000,
];
/// s_mov_b32 m0, 0; v_mov_b32 v0, 1; ds_gws_init v0 offset:1 gds; s_endpgm
const INIT_SEMAPHORE: &[u32] = &[0xbefc0080, 0x7e000281, 0xd9330001, 0x00000000, 0xbf810000];
/// Adds 1 to what s[4:5] points to by a load and a store, between P and V of the semaphore: s_load_dwordx2 s[4:5], s[0:1], 0x0;
/// s_mov_b32 m0, 0; v_mov_b32 v0, 0; s_mov_b64 exec, 1; s_waitcnt lgkmcnt(0); ds_gws_sema_p offset:1 gds; s_waitcnt
/// lgkmcnt(0); global_load_dword v2, v0, s[4:5] glc; s_waitcnt vmcnt(0); v_add_u32 v2, 1, v2; global_store_dword v0, v2,
/// s[4:5]; s_waitcnt vmcnt(0); ds_gws_sema_v offset:1 gds; s_endpgm
const INCREASE: &[u32] = &[
    0xc0060100, 0x00000000, 0xbefc0080, 0x7e000280, 0xbefe0181, 0xbf8cc07f, 0xd9390001, 0x00000000,
    0xbf8cc07f, 0xdc518000, 0x02040000, 0xbf8c0f70, 0x68040481, 0xdc708000, 0x00040200, 0xbf8c0f70,
    0xd9350001, 0x00000000, 0xbf810000,
];

/// Where in the page arguments, signal and data are.
const ARGUMENT: u64 = 0x800;
const SIGNAL: u64 = 0x840;
const DATA: u64 = 0x900;

fn run(queue: &Queue, index: u64, page: &Buffer, code: &[u32], workgroups: u32) {
    let descriptor = KernelDescriptor {
        kernel_code_entry_byte_offset: 0x100,
        // 8 VGPRs, and as many for accumulation.
        compute_pgm_rsrc1: 1,
        compute_pgm_rsrc3: 1,
        compute_pgm_rsrc2: Rsrc2::new()
            .with_user_sgpr_count(2)
            .with_enable_sgpr_workgroup_id_x(true)
            .into_bits(),
        kernel_code_properties: Properties::new()
            .with_enable_sgpr_kernarg_segment_ptr(true)
            .into_bits(),
        ..KernelDescriptor::default()
    };
    for (at, word) in (0..).step_by(4).zip(descriptor.encode().as_chunks().0) {
        page.dword(at).store(u32::from_le_bytes(*word), SeqCst);
    }
    for (at, &word) in (0x100..).step_by(4).zip(code) {
        page.dword(at).store(word, SeqCst);
    }
    page.qword(ARGUMENT).store(page.va + DATA, SeqCst);
    page.qword(SIGNAL + 8).store(1, SeqCst);
    let mut packet =
        KernelDispatch::new(page.va, page.va + ARGUMENT, [64 * workgroups, 1, 1], [64, 1, 1]);
    packet.completion_signal = page.va + SIGNAL;
    queue.submit(index, &packet.encode());
    eventually("the kernel's end", || page.qword(SIGNAL + 8).load(SeqCst) == 0);
}

#[test]
fn waves_of_a_queue_meet_and_take_turns() {
    let rig = Rig::new("gfx90a", 18);
    let queue = rig.queue();
    let page = rig.buffer(gtt(), PAGE);
    let mut args =
        uapi::AllocQueueGwsArgs { queue_id: queue.args.queue_id, num_gws: 1, ..Default::default() };
    rig.ask(request::ALLOC_QUEUE_GWS, &mut args).unwrap();
    run(&queue, 0, &page, INIT_BARRIER, 1);
    for round in 1..=3u32 {
        run(&queue, round.into(), &page, MEET, 8);
        for group in 0..8 {
            // None goes on before all have come.
            assert_eq!(page.dword(DATA + 64 + 4 * group).load(SeqCst), 8 * round);
        }
    }
    page.dword(DATA).store(0, SeqCst);
    run(&queue, 4, &page, INIT_SEMAPHORE, 1);
    run(&queue, 5, &page, INCREASE, 256);
    assert_eq!(page.dword(DATA).load(SeqCst), 256);
    rig.destroy(queue);
    assert_eq!(rig.machine.refusals(), [""; 0]);
}
