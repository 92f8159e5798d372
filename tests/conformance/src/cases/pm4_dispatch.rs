//! Kernels that PM4 packets run.

use super::{arguments, case};
use crate::kernels::Code;
use crate::memory::Kind;
use crate::pm4_queue::Pm4Queue;
use crate::report::equal;
use crate::{Case, Result, Subject};
use pm4::packet::DispatchIndirect;
use pm4::register::ComputeDispatchInitiator;

pub(super) const CASES: &[Case] = &[
    case(
        "pm4.dispatch",
        "a kernel runs on every work-item before the fence behind it arrives",
        dispatch,
    ),
    case("pm4.partial", "the last workgroup of a dispatch may be partial", partial),
    case("pm4.lds", "workgroups have the LDS that RSRC2 says", lds),
    case("pm4.indirect", "the size of a grid is read from memory", indirect),
    case("pm4.user_data", "waves start with all sixteen dwords of user data", user_data),
];

fn dispatch(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = Pm4Queue::new(subject, 1024)?;
    for items in [64u32, 1000, 1 << 15] {
        let out = subject.memory(Kind::Shared, u64::from(items) * 4)?;
        let arguments = arguments![out.address(), 0x0777_0000u32, items];
        queue.launch(&code.kernel("store"), items.next_multiple_of(64), &arguments)?;
        queue.finish()?;
        out.check("the output", |i| if i < items { 0x0777_0000 + i } else { 0 })?;
    }
    Ok(())
}

fn partial(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = Pm4Queue::new(subject, 1024)?;
    for items in [1u32, 33, 65, 127] {
        let out = subject.memory(Kind::Shared, 4096)?;
        queue.launch(&code.kernel("store"), items, &arguments![out.address(), 7u32, 128u32])?;
        queue.finish()?;
        out.check("the output", |i| if i < items { 7 + i } else { 0 })?;
    }
    Ok(())
}

fn lds(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = Pm4Queue::new(subject, 1024)?;
    let data = subject.memory(Kind::Shared, 64 * 64 * 4)?;
    data.fill(|i| i)?;
    queue.launch(&code.kernel("reverse"), 64 * 64, &arguments![data.address()])?;
    queue.finish()?;
    data.check("the data", |i| i ^ 63)
}

/// The registers are those of the dispatch before.
fn indirect(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = Pm4Queue::new(subject, 1024)?;
    let memory = subject.memory(Kind::Shared, 4096)?;
    let kernel = code.kernel("add");
    let sum = |groups: u64| groups * 64 * (groups * 64 - 1) / 2;
    queue.launch(&kernel, 64, &arguments![memory.address()])?;
    queue.finish()?;
    let mut expected = sum(1);
    equal("the counter", memory.qword(0)?, expected)?;
    let initiator = ComputeDispatchInitiator {
        compute_shader_en: true,
        force_start_at_000: true,
        cs_w32_en: kernel.descriptor.wavefront_size(subject.generation()) == 32,
        ..ComputeDispatchInitiator::ZERO
    };
    let [dispatch_initiator] = initiator.encode(subject.generation());
    // Twelve bytes anywhere, between others that are not sizes.
    for (at, size) in [(64u64, [1u32, 1, 1]), (132, [5, 1, 1]), (200, [2, 3, 4]), (268, [1, 7, 1])]
    {
        memory.set_dword(at - 4, 1000)?;
        memory.set_dword(at + 12, 1000)?;
        for (dword, size) in (0u64..).zip(size) {
            memory.set_dword(at + 4 * dword, size)?;
        }
        let addr = memory.address() + at;
        queue.send(|to| {
            to.push(&DispatchIndirect { addr, dispatch_initiator, ..DispatchIndirect::ZERO })
        })?;
        queue.finish()?;
        let [x, y, z] = size.map(u64::from);
        expected += y * z * sum(x);
        equal(&format!("the counter after {x}, {y}, {z} workgroups"), memory.qword(0)?, expected)?;
    }
    Ok(())
}

/// The kernel's own user data are fewer; what is told of the rest is for it to find.
fn user_data(subject: &Subject) -> Result {
    let code = Code::load(subject)?;
    let mut queue = Pm4Queue::new(subject, 1024)?;
    let out = subject.memory(Kind::Shared, 4096)?;
    let mut kernel = code.kernel("user");
    let all = kernel.descriptor.rsrc2().with_user_sgpr_count(16);
    kernel.descriptor.compute_pgm_rsrc2 = all.into_bits();
    for round in 1..=3u32 {
        let word = |i: u32| round * 0x1_0000 + i * 0x0101;
        let mut words = kernel.user_data(subject.generation(), queue.arguments_address())?;
        words.extend((words.len() as u32..16).map(word));
        queue.launch_with(&kernel, 64, &arguments![out.address()], &words)?;
        queue.finish()?;
        for i in 8..16u32 {
            let what = format!("user data {i}");
            equal(&what, out.dword(u64::from(i - 8) * 4)?, word(i))?;
        }
    }
    Ok(())
}
