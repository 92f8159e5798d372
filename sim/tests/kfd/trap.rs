//! Trap handlers, and the interrupts that waves send.

use crate::rig::{DOORBELL_SLICE, PAGE, Queue, Rig, eventually, gtt};
use aql::descriptor::{Properties, Rsrc1Gfx10, Rsrc2};
use aql::{KernelDescriptor, KernelDispatch};
use kfd::uapi::{self, EventData, request};
use std::sync::atomic::Ordering::SeqCst;

/// A trap handler that sends the low half of its data and goes on behind `s_trap` (llvm-mc-19 --arch=amdgcn
/// --mcpu=gfx1151):
/// s_mov_b32 m0, ttmp14; s_nop 0; s_sendmsg sendmsg(MSG_INTERRUPT); s_add_u32 ttmp0, ttmp0, 4;
/// s_addc_u32 ttmp1, ttmp1, 0; s_and_b32 ttmp1, ttmp1, 0xffff; s_setreg_b32 hwreg(HW_REG_STATUS), ttmp12;
/// s_rfe_b64 ttmp[0:1]
const SEND_DATA: &[u32] = &[
    0xbefd_007a,
    0xbf80_0000,
    0xbfb6_0001,
    0x806c_846c,
    0x826d_806d,
    0x8b6d_ff6d,
    0x0000_ffff,
    0xb978_f802,
    0xbe80_4a6c,
];
/// s_trap 1; s_endpgm
const TRAP: &[u32] = &[0xbf90_0001, 0xbfb0_0000];
/// Sends the first argument itself: s_load_b32 s2, s[0:1], null; s_waitcnt lgkmcnt(0); s_mov_b32 m0, s2; s_nop 0;
/// s_sendmsg sendmsg(MSG_INTERRUPT); s_endpgm
const SEND_ARGUMENT: &[u32] =
    &[0xf400_0080, 0xf800_0000, 0xbf89_fc07, 0xbefd_0002, 0xbf80_0000, 0xbfb6_0001, 0xbfb0_0000];

/// Bit of `KFD_CTXID0_TRAP_CODE_MASK` (0xfffc00) for exception code 1.
const ABORT: u32 = 0x400;

/// A queue whose exceptions go to `reason` and `event`, and code to run on it.
struct Bench {
    rig: Rig,
    queue: Queue,
    code: crate::rig::Buffer,
    reason: crate::rig::Buffer,
    /// The event page.
    slots: crate::rig::Buffer,
    event: u32,
    packets: std::cell::Cell<u64>,
}

/// Offsets in `code`.
const KERNEL: u64 = 0;
const HANDLER: u64 = 0x400;
const ARGUMENT: u64 = 0x800;
const SIGNAL: u64 = 0x840;

impl Bench {
    fn new(runtime_enabled: bool) -> Bench {
        let rig = Rig::new("gfx1151", 18);
        if runtime_enabled {
            rig.runtime_enable(1).unwrap();
        }
        let (code, reason) = (rig.buffer(gtt(), PAGE), rig.buffer(gtt(), PAGE));
        let slots = rig.buffer(gtt(), 32768);
        let mut args = uapi::CreateEventArgs {
            event_page_offset: slots.handle,
            auto_reset: 1,
            ..Default::default()
        };
        rig.ask(request::CREATE_EVENT, &mut args).unwrap();
        let event = args.event_id;
        // A queue before, so that the doorbell's number is not 0.
        rig.queue();
        let queue = rig.queue();
        queue.save_area.qword(24).store(reason.va, SeqCst);
        queue.save_area.dword(32).store(event, SeqCst);
        let descriptor = KernelDescriptor {
            kernel_code_entry_byte_offset: 0x100,
            compute_pgm_rsrc1: Rsrc1Gfx10::new().with_mem_ordered(true).into_bits(),
            compute_pgm_rsrc2: Rsrc2::new().with_user_sgpr_count(2).into_bits(),
            kernel_code_properties: Properties::new()
                .with_enable_sgpr_kernarg_segment_ptr(true)
                .with_enable_wavefront_size32(true)
                .into_bits(),
            ..KernelDescriptor::default()
        };
        for (at, word) in (KERNEL..).step_by(4).zip(descriptor.encode().as_chunks().0) {
            code.dword(at).store(u32::from_le_bytes(*word), SeqCst);
        }
        for (at, &word) in (HANDLER..).step_by(4).zip(SEND_DATA) {
            code.dword(at).store(word, SeqCst);
        }
        Bench { rig, queue, code, reason, slots, event, packets: Default::default() }
    }

    fn doorbell(&self) -> u32 {
        let id = (self.queue.args.doorbell_offset & (DOORBELL_SLICE - 1)) / 8;
        assert_ne!(id, 0);
        id as u32
    }

    fn set_trap_handler(&self, tba_addr: u64, tma_addr: u64) {
        let gpu_id = self.rig.gpu_id;
        let mut args = uapi::SetTrapHandlerArgs { tba_addr, tma_addr, gpu_id, pad: 0 };
        self.rig.ask(request::SET_TRAP_HANDLER, &mut args).unwrap();
    }

    fn dispatch(&self, code: &[u32]) {
        for (at, &word) in (KERNEL + 0x100..).step_by(4).zip(code) {
            self.code.dword(at).store(word, SeqCst);
        }
        self.code.qword(SIGNAL + 8).store(1, SeqCst);
        let (kernel, argument) = (self.code.va + KERNEL, self.code.va + ARGUMENT);
        let mut packet = KernelDispatch::new(kernel, argument, [32, 1, 1], [32, 1, 1]);
        packet.completion_signal = self.code.va + SIGNAL;
        let index = self.packets.get();
        self.packets.set(index + 1);
        self.queue.submit(index, &packet.encode());
    }

    /// Runs code and returns the queue's exceptions and whether their event was set.
    fn exceptions_after(&self, code: &[u32]) -> (u64, bool) {
        self.dispatch(code);
        eventually("the end", || self.code.qword(SIGNAL + 8).load(SeqCst) == 0);
        let (_, result) = self.rig.wait(EventData::new(self.event, 0), 0);
        (self.reason.qword(0).swap(0, SeqCst), result == uapi::WAIT_RESULT_COMPLETE)
    }

    /// Sends a message from a trap handler.
    fn after_message(&self, message: u32) -> (u64, bool) {
        self.set_trap_handler(self.code.va + HANDLER, message.into());
        self.exceptions_after(TRAP)
    }
}

/// kfd_int_process_v11.c, event_interrupt_wq_v11; kfd_debug.c, kfd_set_dbg_ev_from_interrupt.
#[test]
fn a_handler_s_message_is_exceptions_of_the_queue() {
    let bench = Bench::new(true);
    let own = bench.doorbell();
    assert_eq!(bench.after_message(own | ABORT), (1, true));
    assert_eq!(bench.after_message(own | 0xfc00), (0x3f, true));
    // Codes that waves do not have are told along with those they have, and alone they are not.
    assert_eq!(bench.after_message(own | 1 << 17), (0, false));
    assert_eq!(bench.after_message(own | 1 << 17 | ABORT), (0x81, true));
    assert_eq!(bench.after_message(own), (0, false));
    // No queue.
    assert_eq!(bench.after_message((own + 1) | ABORT), (0, false));
    // The trap handler may go: Linux's lets traps pass.
    bench.set_trap_handler(0, 0);
    assert_eq!(bench.exceptions_after(TRAP), (0, false));
}

#[test]
fn a_kernel_s_own_message_is_no_exception() {
    let bench = Bench::new(true);
    bench.code.dword(ARGUMENT).store(bench.doorbell() | ABORT, SeqCst);
    assert_eq!(bench.exceptions_after(SEND_ARGUMENT), (0, false));
}

#[test]
fn without_the_runtime_there_are_no_exceptions() {
    let bench = Bench::new(false);
    assert_eq!(bench.after_message(bench.doorbell() | ABORT), (0, false));
}

/// Messages that are no exceptions mean an event, by its number.
#[test]
fn other_messages_set_events() {
    let bench = Bench::new(true);
    bench.slots.qword(u64::from(bench.event) * 8).store(1, SeqCst);
    bench.code.dword(ARGUMENT).store(bench.event, SeqCst);
    assert_eq!(bench.exceptions_after(SEND_ARGUMENT), (0, true));
}

/// An exception without a handler: the kernel never ends and nobody is told; the queue can be destroyed.
#[test]
fn an_exception_without_a_handler_hangs_its_queue() {
    let bench = Bench::new(true);
    bench.dispatch(&[0xbfff_0000]);
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(bench.code.qword(SIGNAL + 8).load(SeqCst), 1);
    assert_eq!(bench.reason.qword(0).load(SeqCst), 0);
    let before = bench.rig.objects().queues;
    let mut args = uapi::DestroyQueueArgs { queue_id: bench.queue.args.queue_id, pad: 0 };
    bench.rig.ask(request::DESTROY_QUEUE, &mut args).unwrap();
    assert_eq!(bench.rig.objects().queues, before - 1);
}

/// A kernel that counts in memory for ever stands still while its queue has no percentage, and then goes on
/// (KFDCWSRTest BasicTest asks so).
#[test]
fn a_kernel_stands_still_while_its_queue_is_stopped() {
    // s_load_b64 s[2:3], s[0:1], null; s_waitcnt lgkmcnt(0); v_mov_b32 v0, 0; v_mov_b32 v1, 1;
    // global_atomic_add_u32 v0, v1, s[2:3]; s_branch -3
    const COUNT: &[u32] = &[
        0xf404_0080,
        0xf800_0000,
        0xbf89_fc07,
        0x7e00_0280,
        0x7e02_0281,
        0xdcd6_0000,
        0x0002_0100,
        0xbfa0_fffd,
    ];
    const COUNTER: u64 = 0x900;
    let bench = Bench::new(false);
    bench.code.qword(ARGUMENT).store(bench.code.va + COUNTER, SeqCst);
    bench.dispatch(COUNT);
    let count = || bench.code.dword(COUNTER).load(SeqCst);
    eventually("the kernel's start", || count() != 0);
    let update = |queue_percentage| {
        let mut args = uapi::UpdateQueueArgs {
            ring_base_address: bench.queue.args.ring_base_address,
            queue_id: bench.queue.args.queue_id,
            ring_size: bench.queue.args.ring_size,
            queue_percentage,
            queue_priority: 7,
        };
        bench.rig.ask(request::UPDATE_QUEUE, &mut args)
    };
    for _ in 0..3 {
        update(0).unwrap();
        let stopped = count();
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert_eq!(count(), stopped);
        update(100).unwrap();
        eventually("more", || count() != stopped);
    }
    update(0).unwrap();
    // What waves would have saved is not modelled.
    let mut state = uapi::GetQueueWaveStateArgs {
        queue_id: bench.queue.args.queue_id,
        ctl_stack_address: bench.queue.save_area.va,
        ..Default::default()
    };
    let answer = bench.rig.ask(request::GET_QUEUE_WAVE_STATE, &mut state);
    assert_eq!(answer, Err(selvedge_sys::Errno::ENOSYS));
    let mut args = uapi::DestroyQueueArgs { queue_id: bench.queue.args.queue_id, pad: 0 };
    bench.rig.ask(request::DESTROY_QUEUE, &mut args).unwrap();
}

/// Workgroups run where the mask of their queue says (KFDQMTest BasicCuMasking*).
#[test]
fn workgroups_run_where_the_mask_says() {
    // s_load_b64 s[2:3], s[0:1], null; s_getreg_b32 s4, hwreg(HW_REG_HW_ID1); s_waitcnt lgkmcnt(0);
    // v_mov_b32 v0, 0; v_mov_b32 v1, s4; global_store_b32 v0, v1, s[2:3]; s_endpgm
    const WHERE: &[u32] = &[
        0xf404_0080,
        0xf800_0000,
        0xb884_f817,
        0xbf89_fc07,
        0x7e00_0280,
        0x7e02_0204,
        0xdc6a_0000,
        0x0002_0100,
        0xbfb0_0000,
    ];
    const PLACE: u64 = 0x900;
    let bench = Bench::new(false);
    bench.code.qword(ARGUMENT).store(bench.code.va + PLACE, SeqCst);
    let run = || {
        bench.code.dword(PLACE).store(u32::MAX, SeqCst);
        bench.exceptions_after(WHERE);
        bench.code.dword(PLACE).load(SeqCst)
    };
    assert_eq!(run(), 0, "the first workgroup is on the first unit");
    // Engine, array and workgroup processor: gfx1151 has 2 engines of 2 arrays.
    for (pair, [engine, array, processor]) in [(1, [1, 0, 0]), (2, [0, 1, 0]), (5, [1, 0, 1])] {
        let mut mask = 0b11u32 << (2 * pair);
        let mut args = uapi::SetCuMaskArgs {
            queue_id: bench.queue.args.queue_id,
            num_cu_mask: 32,
            cu_mask_ptr: (&raw mut mask).expose_provenance() as u64,
        };
        bench.rig.ask(request::SET_CU_MASK, &mut args).unwrap();
        assert_eq!(run(), engine << 18 | array << 16 | processor << 10);
    }
}
