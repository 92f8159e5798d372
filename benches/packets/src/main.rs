//! What it costs to write packets, beside the plainest C that writes the same words (`plain.c`, -O2).
//!
//! Two streams, each written over and over into one buffer of 16 KiB: compute dispatches (five SET_SH_REG,
//! DISPATCH_DIRECT, RELEASE_MEM; gfx1151) and SDMA copies with a fence (6.1). Both sides write as many as fit; the
//! words are compared. CPU time of the one thread, both sides in turn, median of the rounds' ratios.
//!
//! ```text
//! cargo run --release -p packet-bench
//! ```

use pm4::Generation;
use pm4::layout::{WriteError, Writer};
use pm4::packet::{DataSelect, DispatchDirect, InterruptSelect, ReleaseMem, SetShReg};
use sdma::Version;
use sdma::packet::{CopyLinear, Fence, Mtype};
use std::time::Duration;

/// `struct dispatch` of plain.c.
#[derive(Clone, Copy)]
#[repr(C)]
struct Dispatch {
    code: u64,
    arguments: u64,
    fence: u64,
    value: u64,
    rsrc1: u32,
    rsrc2: u32,
    rsrc3: u32,
    threads: [u32; 3],
    groups: [u32; 3],
}

/// `struct copy` of plain.c.
#[derive(Clone, Copy)]
#[repr(C)]
struct Copy {
    from: u64,
    to: u64,
    fence: u64,
    bytes: u32,
    value: u32,
}

#[expect(unsafe_code, reason = "functions of plain.c")]
unsafe extern "C" {
    fn plain_dispatches(words: *mut u32, room: usize, dispatch: *mut Dispatch) -> usize;
    fn plain_copies(words: *mut u32, room: usize, copy: *mut Copy) -> usize;
}

#[expect(unsafe_code, reason = "calls plain.c")]
#[inline(never)]
fn c_dispatches(words: &mut [u32], dispatch: &mut Dispatch) -> usize {
    // SAFETY: the function writes at most `words.len()` words and reads and writes the struct, whose layout is C's.
    unsafe { plain_dispatches(words.as_mut_ptr(), words.len(), dispatch) }
}

#[expect(unsafe_code, reason = "calls plain.c")]
#[inline(never)]
fn c_copies(words: &mut [u32], copy: &mut Copy) -> usize {
    // SAFETY: the function writes at most `words.len()` words and reads and writes the struct, whose layout is C's.
    unsafe { plain_copies(words.as_mut_ptr(), words.len(), copy) }
}

/// Words of one dispatch.
const DISPATCH: usize = 33;
/// Words of one copy with its fence.
const COPY: usize = 11;

type Commands<'a, V> = Writer<&'a mut [u32], V>;

#[inline(always)]
fn dispatch(ib: &mut Commands<'_, Generation>, d: &Dispatch) -> Result<(), WriteError> {
    ib.push_with(&SetShReg::new(0x2e0c, 2), &[(d.code >> 8) as u32, (d.code >> 40) as u32])?;
    ib.push_with(&SetShReg::new(0x2e12, 2), &[d.rsrc1, d.rsrc2])?;
    ib.push_with(&SetShReg::new(0x2e28, 1), &[d.rsrc3])?;
    ib.push_with(&SetShReg::new(0x2e07, 3), &d.threads)?;
    ib.push_with(&SetShReg::new(0x2e40, 2), &[d.arguments as u32, (d.arguments >> 32) as u32])?;
    ib.push(&DispatchDirect::new(d.groups, 0x8021))?;
    ib.push(&ReleaseMem {
        gl2_wb: true,
        data_sel: DataSelect::SEND_64_BIT_DATA,
        int_sel: InterruptSelect::SEND_INTERRUPT_AFTER_WRITE_CONFIRM,
        address: d.fence,
        data: d.value,
        ..ReleaseMem::END_OF_PIPE
    })
}

#[inline(never)]
fn rust_dispatches(words: &mut [u32], d: &mut Dispatch) -> Result<usize, WriteError> {
    let mut ib = Writer::new(words, Generation::Gfx115);
    while ib.left() >= DISPATCH {
        dispatch(&mut ib, d)?;
        d.value += 1;
    }
    Ok(ib.written())
}

#[inline(never)]
fn rust_copies(words: &mut [u32], c: &mut Copy) -> Result<usize, WriteError> {
    let mut ring = Writer::new(words, Version::V6_1);
    while ring.left() >= COPY {
        ring.push(&CopyLinear {
            count: c.bytes,
            src_addr: c.from,
            dst_addr: c.to,
            ..CopyLinear::ZERO
        })?;
        ring.push(&Fence { mtype: Mtype::UC, addr: c.fence, data: c.value, ..Fence::ZERO })?;
        c.value = c.value.wrapping_add(1);
    }
    Ok(ring.written())
}

/// CPU time of the calling thread.
#[expect(unsafe_code, reason = "clock_gettime writes the struct it is given")]
fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// Nanoseconds of CPU time per packet group, `repeats` buffers of them.
fn cost(repeats: u32, groups: usize, mut fill: impl FnMut()) -> f64 {
    let start = thread_time();
    for _ in 0..repeats {
        fill();
    }
    (thread_time() - start).as_nanos() as f64 / f64::from(repeats) / groups as f64
}

/// Measures both sides in turn and prints the medians.
fn compare<T: std::marker::Copy>(
    name: &str,
    group: usize,
    value: T,
    ours: fn(&mut [u32], &mut T) -> Result<usize, WriteError>,
    plain: fn(&mut [u32], &mut T) -> usize,
) -> Result<(), WriteError> {
    let mut words = vec![0u32; 4096];
    let mut theirs = words.clone();
    let (mut a, mut b) = (value, value);
    let written = ours(&mut words, &mut a)?;
    assert_eq!(written, plain(&mut theirs, &mut b));
    assert_eq!(words, theirs, "{name}: the words differ");
    let groups = written / group;
    let (mut rust, mut c, mut ratio) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..101 {
        let r = cost(500, groups, || assert_eq!(ours(&mut words, &mut a), Ok(written)));
        let p = cost(500, groups, || assert_eq!(plain(&mut theirs, &mut b), written));
        rust.push(r);
        c.push(p);
        ratio.push(r / p);
    }
    println!(
        "{name}: {:.1} ns, plain C {:.1} ns, ratio {:.2} (goal: at most 1.2)",
        median(rust),
        median(c),
        median(ratio)
    );
    Ok(())
}

fn main() -> Result<(), WriteError> {
    let dispatch = Dispatch {
        code: 0x7f00_1234_5600,
        arguments: 0x7f00_0000_1000,
        fence: 0x7f00_0000_2000,
        value: 1,
        rsrc1: 0x60af_0041,
        rsrc2: 0x84,
        rsrc3: 0,
        threads: [64, 1, 1],
        groups: [1024, 1, 1],
    };
    let copy = Copy {
        from: 0x7f00_1000_0000,
        to: 0x7f00_2000_0000,
        fence: 0x7f00_0000_2000,
        bytes: 1 << 20,
        value: 1,
    };
    compare("dispatch", DISPATCH, dispatch, rust_dispatches, c_dispatches)?;
    compare("copy and fence", COPY, copy, rust_copies, c_copies)
}
