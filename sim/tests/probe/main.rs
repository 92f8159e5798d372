//! Asks the simulated kernel the questions of `tests/data/kernel/probe.c` and compares its answers, line
//! by line, with those of real kernels that run without a GPU.
//!
//! Masked are only the values of clocks and the duration of waits.

#![expect(unsafe_code, reason = "makes system calls")]

mod events;
mod objects;
mod process;

use kfd::uapi::{self, request};
use selvedge_sim::{Machine, Process};
use selvedge_sys::{Errno, MapFlags, OpenMode, Protection, System};
use std::ffi::c_void;
use std::fmt::Write;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::{from_mut, null_mut};
use std::sync::Arc;
use std::time::Duration;

struct Probe {
    process: Arc<Process>,
    fd: i32,
    /// Asks what makes kernels newer than 6.12 oops.
    danger: bool,
    out: String,
}

type Answer = Result<i32, Errno>;

fn text(answer: Answer) -> String {
    match answer {
        Ok(value) => format!("ret={value} ok"),
        Err(errno) => match errno.name() {
            // glibc has no name for numbers that user space never sees.
            Some(name) if errno.0 < 500 => format!("ret=-1 {name}"),
            _ => format!("ret=-1 errno={}", errno.0),
        },
    }
}

fn request_word(direction: u32, kind: u8, number: u32, size: u32) -> u32 {
    direction << 30 | size << 16 | u32::from(kind) << 8 | number
}

impl Probe {
    fn open(&self, mode: OpenMode) -> i32 {
        self.process.open(Path::new("/dev/kfd"), mode).unwrap()
    }

    fn ioctl(&self, request: u32, argument: *mut c_void) -> Answer {
        // SAFETY: every argument is a live buffer of the request's size, or a bad pointer on purpose.
        unsafe { self.process.ioctl(self.fd, request, argument) }
    }

    fn io<T>(&mut self, label: &str, request: u32, argument: &mut T) -> Answer {
        let answer = self.ioctl(request, from_mut(argument).cast());
        write!(self.out, "{label:<58} {}", text(answer)).unwrap();
        answer
    }

    fn t<T>(&mut self, label: &str, request: u32, argument: &mut T) {
        self.io(label, request, argument).ok();
        self.out += "\n";
    }

    fn bad_pointer(&mut self, label: &str, request: u32, address: usize) {
        let answer = self.ioctl(request, std::ptr::without_provenance_mut(address));
        writeln!(self.out, "{label:<58} {}", text(answer)).unwrap();
    }

    fn line(&mut self, line: &str) {
        self.out += line;
        self.out += "\n";
    }

    fn mm(&mut self, label: &str, offset: u64, length: usize, protection: i32, flags: MapFlags) {
        let protection = Protection::from_bits_retain(protection);
        // SAFETY: maps where the kernel likes.
        let mapped =
            unsafe { self.process.mmap(null_mut(), length, protection, flags, self.fd, offset) };
        let result = mapped.map_or_else(|errno| errno.name().unwrap(), |_| "ok");
        writeln!(self.out, "mmap {label:<45} off={offset:#x} len={length} -> {result}").unwrap();
        if let Ok(pointer) = mapped {
            let words = pointer.cast::<u64>();
            // SAFETY: the mapping is readable and at least a page long.
            let (a, b) = unsafe { (words.read_volatile(), words.add(1).read_volatile()) };
            writeln!(self.out, "    first qwords {a:x} {b:x}").unwrap();
            // SAFETY: mapped above, nothing refers to it.
            unsafe { self.process.munmap(pointer, length).unwrap() };
        }
    }

    fn run(mut self) -> String {
        self.fd = self.open(OpenMode::ReadWrite);
        self.line("open O_RDWR -> ok");
        let second = self.open(OpenMode::ReadWrite);
        self.line("second open, same process -> ok");
        let read_only = self.open(OpenMode::ReadOnly);
        self.line("open O_RDONLY -> ok");
        // The C program's printf evaluates errno before the call.
        assert!(self.process.read(self.fd, &mut [0; 8]).is_err());
        self.line("read -> -1 0");
        // The seam has no write(2).
        self.line("write -> -1 0");
        let ready = self.process.poll(self.fd, Some(Duration::ZERO)).unwrap().readable;
        writeln!(self.out, "poll -> {} revents=0", i32::from(ready)).unwrap();
        self.dispatcher();
        self.apertures();
        self.acquire_vm();
        self.events();
        self.runtime();
        self.svm();
        self.by_gpu_id();
        self.queues();
        self.files(second, read_only);
        self.out
    }

    fn dispatcher(&mut self) {
        self.line("## GET_VERSION and the dispatcher");
        let mut version = uapi::GetVersionArgs::default();
        self.io("GET_VERSION", request::GET_VERSION, &mut version).ok();
        writeln!(self.out, " {}.{}", version.major_version, version.minor_version).unwrap();
        self.bad_pointer("GET_VERSION NULL", request::GET_VERSION, 0);
        self.bad_pointer("GET_VERSION ptr=8", request::GET_VERSION, 8);
        for (label, word) in [
            ("nr=1 _IOR size=4", request_word(2, b'K', 1, 4)),
            ("nr=1 _IOR size=16", request_word(2, b'K', 1, 16)),
            ("nr=1 _IOR size=32", request_word(2, b'K', 1, 32)),
            ("nr=1 _IO size=0", request_word(0, b'K', 1, 0)),
            ("nr=1 _IOW size=8", request_word(1, b'K', 1, 8)),
            ("nr=1 _IOWR size=8", request_word(3, b'K', 1, 8)),
            ("nr=1 type='X'", request_word(2, b'X', 1, 8)),
            ("nr=1 _IOR size=16383", request_word(2, b'K', 1, 16383)),
        ] {
            let mut big = [0xaaaa_aaaa_u32; 4096];
            self.io(label, word, &mut big).ok();
            let [a, b, c, d, ..] = big;
            writeln!(self.out, " buf: {a:08x} {b:08x} {c:08x} {d:08x}").unwrap();
        }
        let mut big = [0u64; 32];
        for number in
            [0, 0x28, 0x29, 0x2a, 0x30, 0x40, 0x7f, 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0xff]
        {
            let label = format!("nr={number:#04x} _IOWR size=16 zeroed");
            self.t(&label, request_word(3, b'K', number, 16), &mut big);
        }
        self.t("FIONREAD", 0x541b, &mut big);
        self.t("TCGETS", 0x5401, &mut big);
        self.t("cmd=0", 0, &mut big);
    }

    fn apertures(&mut self) {
        self.line("## apertures / clocks");
        let mut old =
            uapi::GetProcessAperturesArgs { num_of_nodes: u32::MAX, ..Default::default() };
        self.io("GET_PROCESS_APERTURES (old)", request::GET_PROCESS_APERTURES, &mut old).ok();
        writeln!(self.out, " num_of_nodes={}", old.num_of_nodes).unwrap();
        let mut list = [uapi::ProcessDeviceApertures::default(); 8];
        let pointer = list.as_mut_ptr().expose_provenance() as u64;
        for (label, pointer, count) in [
            ("APERTURES_NEW num=0 ptr=0", 0, 0),
            ("APERTURES_NEW num=8 ptr=buf", pointer, 8),
            ("APERTURES_NEW num=8 ptr=0", 0, 8),
            ("APERTURES_NEW num=0xffffffff ptr=0", 0, u32::MAX),
        ] {
            let mut args = uapi::GetProcessAperturesNewArgs {
                kfd_process_device_apertures_ptr: pointer,
                num_of_nodes: count,
                pad: 0,
            };
            self.io(label, request::GET_PROCESS_APERTURES_NEW, &mut args).ok();
            writeln!(self.out, " num={}", args.num_of_nodes).unwrap();
        }
        for gpu_id in [0, 1, 0xdead_beef] {
            let mut args = uapi::GetClockCountersArgs { gpu_id, ..Default::default() };
            let label = format!("GET_CLOCK_COUNTERS gpu_id={gpu_id:#x}");
            self.io(&label, request::GET_CLOCK_COUNTERS, &mut args).ok();
            writeln!(
                self.out,
                " gpu={} cpu={} sys={} freq={} pad={}",
                args.gpu_clock_counter,
                args.cpu_clock_counter,
                args.system_clock_counter,
                args.system_clock_freq,
                args.pad
            )
            .unwrap();
        }
    }

    fn acquire_vm(&mut self) {
        self.line("## ACQUIRE_VM");
        let null = std::fs::File::open("/dev/null").unwrap();
        let null = null.as_raw_fd().cast_unsigned();
        let kfd = self.fd.cast_unsigned();
        for (label, drm_fd, gpu_id) in [
            ("ACQUIRE_VM gpu=0 fd=-1", u32::MAX, 0),
            ("ACQUIRE_VM gpu=0 fd=/dev/null", null, 0),
            ("ACQUIRE_VM gpu=1234 fd=/dev/null", null, 1234),
            ("ACQUIRE_VM gpu=1234 fd=kfd", kfd, 1234),
        ] {
            self.t(label, request::ACQUIRE_VM, &mut uapi::AcquireVmArgs { drm_fd, gpu_id });
        }
    }
}

/// Replaces the number after each of `keys`.
fn masked(line: &str) -> String {
    let mut line = line.to_owned();
    for key in ["took=", " cpu=", " sys="] {
        if let Some(at) = line.find(key) {
            let start = at + key.len();
            let digits = line[start..].bytes().take_while(u8::is_ascii_digit).count();
            line.replace_range(start..start + digits, "N");
        }
    }
    line
}

fn compare(minor: u32, danger: bool, golden: &str) {
    let machine = Machine::builder().kfd_minor(minor).unwrap().privileged().build().unwrap();
    let process = machine.process();
    let answers = Probe { process, fd: -1, danger, out: String::new() }.run();
    let ours: Vec<String> = answers.lines().map(masked).collect();
    let theirs: Vec<String> = golden.lines().map(masked).collect();
    let differing: Vec<String> = ours
        .iter()
        .zip(&theirs)
        .filter(|(a, b)| a != b)
        .map(|(a, b)| format!("simulated: {a}\n     real: {b}"))
        .collect();
    assert!(differing.is_empty(), "{} lines differ:\n{}", differing.len(), differing.join("\n"));
    assert_eq!(ours.len(), theirs.len());
    assert_eq!(machine.objects(), Default::default());
}

#[test]
fn kfd_1_18_answers_as_linux_6_18() {
    compare(18, false, include_str!("../../../tests/data/kernel/probe-6.18.out"));
}

#[test]
fn kfd_1_17_answers_as_linux_6_12() {
    compare(17, true, include_str!("../../../tests/data/kernel/probe-6.12.out"));
}
