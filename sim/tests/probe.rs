//! Asks the simulated kernel the questions of `tests/data/kernel/probe.c` and compares its answers, line
//! by line, with those of real kernels that run without a GPU.
//!
//! Masked are only the values of clocks and the duration of waits.

#![expect(unsafe_code, reason = "makes system calls")]

use kfd::uapi::{self, request};
use selvedge_sim::{Machine, Process};
use selvedge_sys::{Errno, MapFlags, OpenMode, Protection, System};
use std::ffi::c_void;
use std::fmt::Write;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::{from_mut, null_mut};
use std::sync::Arc;
use std::time::{Duration, Instant};

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

    fn create(&mut self, label: &str, kind: u32, auto_reset: u32) -> u32 {
        let mut args = uapi::CreateEventArgs { event_type: kind, auto_reset, ..Default::default() };
        self.io(label, request::CREATE_EVENT, &mut args).ok();
        writeln!(
            self.out,
            " page_offset={:#x} trigger_data={:#x} event_id={} slot={}",
            args.event_page_offset, args.event_trigger_data, args.event_id, args.event_slot_index
        )
        .unwrap();
        args.event_id
    }

    fn wait(&mut self, label: &str, ids: &[u32], all: u32, timeout: u32) {
        let mut data = [uapi::EventData::default(); 8];
        for (entry, &id) in data.iter_mut().zip(ids) {
            entry.event_id = id;
        }
        let mut args = uapi::WaitEventsArgs {
            events_ptr: data.as_mut_ptr().addr() as u64,
            num_events: ids.len() as u32,
            wait_for_all: all,
            timeout,
            wait_result: 0xdead,
        };
        data.as_mut_ptr().expose_provenance();
        let start = Instant::now();
        self.io(label, request::WAIT_EVENTS, &mut args).ok();
        write!(
            self.out,
            " wait_result={} timeout_out={} took={}ms ages=",
            args.wait_result,
            args.timeout,
            start.elapsed().as_millis()
        )
        .unwrap();
        for entry in data.iter().take(ids.len()) {
            write!(self.out, "{},", entry.signal().last_event_age).unwrap();
        }
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

    /// Runs `act` on another thread after 200 ms, while this one waits.
    fn meanwhile(&mut self, name: &str, request: u32, id: u32, wait: impl FnOnce(&mut Probe)) {
        let (process, fd) = (self.process.clone(), self.fd);
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            let mut args = uapi::SetEventArgs { event_id: id, pad: 0 };
            // SAFETY: SET_EVENT and DESTROY_EVENT take the same eight bytes.
            unsafe { process.ioctl(fd, request, from_mut(&mut args).cast()) }
        });
        let before = self.out.len();
        wait(self);
        let answer = thread.join().unwrap();
        let waited = self.out.split_off(before);
        writeln!(self.out, "  [thread] {name} ret={}", answer.unwrap_or(-1)).unwrap();
        self.out += &waited;
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
        let full = self.events();
        self.runtime(full);
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

    /// Returns the offset of the event page.
    fn events(&mut self) -> u64 {
        const SHARED: MapFlags = MapFlags::SHARED;
        const EVENTS: u64 = 1 << 63;
        self.line("## events");
        self.mm("EVENTS before any event", EVENTS, 0, 0, MapFlags::empty());
        let e1 = self.create("CREATE_EVENT SIGNAL auto_reset=1", uapi::EVENT_SIGNAL, 1);
        let e2 = self.create("CREATE_EVENT SIGNAL auto_reset=0", uapi::EVENT_SIGNAL, 0);
        let hardware = self.create("CREATE_EVENT HW_EXCEPTION", uapi::EVENT_HW_EXCEPTION, 0);
        let memory = self.create("CREATE_EVENT MEMORY", uapi::EVENT_MEMORY, 0);
        for kind in [1, 2, 4, 5, 6, 7, 9] {
            self.create(&format!("CREATE_EVENT type={kind}"), kind, 0);
        }
        self.create("CREATE_EVENT type=99", 99, 0);
        self.create("CREATE_EVENT type=0xffffffff", u32::MAX, 0);
        let mut args = uapi::CreateEventArgs {
            event_page_offset: 0x1234_5678_0000_0000,
            ..Default::default()
        };
        self.t("CREATE_EVENT page_offset set nonzero (2nd page)", request::CREATE_EVENT, &mut args);
        let mut args = uapi::CreateEventArgs { node_id: 99, ..Default::default() };
        self.io("CREATE_EVENT node_id=99", request::CREATE_EVENT, &mut args).ok();
        writeln!(self.out, " id={}", args.event_id).unwrap();
        let mut args = uapi::CreateEventArgs::default();
        self.ioctl(request::CREATE_EVENT, from_mut(&mut args).cast()).unwrap();
        let page = args.event_page_offset;
        self.mm("EVENTS 32768 rw shared", page, 32768, 3, SHARED);
        self.mm("EVENTS 4096", page, 4096, 3, SHARED);
        self.mm("EVENTS 65536", page, 65536, 3, SHARED);
        self.mm("EVENTS 32768 private", page, 32768, 3, MapFlags::PRIVATE);
        self.mm("EVENTS 32768 read-only", page, 32768, 1, SHARED);
        self.mm("offset 0", 0, 4096, 3, SHARED);
        self.mm("type DOORBELL(3)<<62 gpu 0", 3 << 62, 8192, 3, SHARED);
        self.mm("type 1<<62 (reserved mem)", 1 << 62, 4096, 3, SHARED);
        self.mm("type 0<<62 MMIO", 4096, 4096, 3, SHARED);
        self.set_and_wait([e1, e2, hardware, memory]);
        self.wait_with_others(e1);
        self.destroy(e1);
        self.mm("EVENTS when full", page, 32768, 3, SHARED);
        page
    }

    fn event(&mut self, label: &str, request: u32, event_id: u32) {
        self.t(label, request, &mut uapi::SetEventArgs { event_id, pad: 0 });
    }

    fn set_and_wait(&mut self, [e1, e2, hardware, memory]: [u32; 4]) {
        const BAD: u32 = 0xfffff;
        let (set, reset) = (request::SET_EVENT, request::RESET_EVENT);
        self.wait("WAIT e1 unset timeout=0", &[e1], 0, 0);
        self.wait("WAIT e1 unset timeout=50", &[e1], 0, 50);
        self.event("SET_EVENT e1", set, e1);
        self.wait("WAIT e1 set timeout=0", &[e1], 0, 0);
        self.wait("WAIT e1 again (auto-reset)", &[e1], 0, 0);
        self.event("SET_EVENT e2 (manual)", set, e2);
        self.wait("WAIT e2 set", &[e2], 0, 0);
        self.wait("WAIT e2 again (manual, still set)", &[e2], 0, 0);
        self.event("RESET_EVENT e2", reset, e2);
        self.wait("WAIT e2 after reset", &[e2], 0, 0);
        self.event("SET_EVENT e2", set, e2);
        self.wait("WAIT any {e1,e2} e2 set", &[e1, e2], 0, 0);
        self.wait("WAIT all {e1,e2} e2 set t=30", &[e1, e2], 1, 30);
        self.event("SET_EVENT on HW_EXCEPTION", set, hardware);
        self.event("RESET_EVENT on HW_EXCEPTION", reset, hardware);
        self.event("SET_EVENT on MEMORY", set, memory);
        self.wait("WAIT HW_EXCEPTION t=20", &[hardware], 0, 20);
        self.wait("WAIT MEMORY t=20", &[memory], 0, 20);
        self.event("SET_EVENT bad id", set, BAD);
        self.event("RESET_EVENT bad id", reset, BAD);
        self.wait("WAIT bad id t=0", &[BAD], 0, 0);
        self.wait("WAIT {e1,bad} t=0", &[e1, BAD], 0, 0);
        self.event("SET_EVENT id=0", set, 0);
        self.wait("WAIT num=0 any t=20", &[], 0, 20);
        self.wait("WAIT num=0 all t=20", &[], 1, 20);
        self.wait("WAIT same event twice, all", &[e2, e2], 1, 0);
        for (label, count, shows_result) in [
            ("WAIT ptr=NULL num=1", 1, true),
            ("WAIT num=0xffffffff", u32::MAX, true),
            ("WAIT num=100000 ptr=NULL", 100_000, false),
        ] {
            let mut args = uapi::WaitEventsArgs { num_events: count, ..Default::default() };
            self.io(label, request::WAIT_EVENTS, &mut args).ok();
            if shows_result {
                write!(self.out, " wait_result={}", args.wait_result).unwrap();
            }
            self.out += "\n";
        }
    }

    fn wait_with_others(&mut self, e1: u32) {
        let mut args = uapi::SetEventArgs { event_id: e1, pad: 0 };
        self.ioctl(request::RESET_EVENT, from_mut(&mut args).cast()).unwrap();
        let set = request::SET_EVENT;
        self.meanwhile("SET_EVENT", set, e1, |probe| {
            probe.wait("WAIT e1 t=2000, other thread sets after 200ms", &[e1], 0, 2000);
        });
        self.meanwhile("SET_EVENT", set, e1, |probe| {
            probe.wait("WAIT e1 t=0xffffffff, set after 200ms", &[e1], 0, u32::MAX);
        });
        let doomed = self.create("CREATE_EVENT to destroy while waited", uapi::EVENT_SIGNAL, 1);
        self.meanwhile("DESTROY_EVENT", request::DESTROY_EVENT, doomed, |probe| {
            probe.wait("WAIT t=2000, destroyed after 200ms", &[doomed], 0, 2000);
        });
        let mut data = uapi::EventData::new(e1, 1);
        let pointer = (&raw mut data).expose_provenance() as u64;
        for label in ["WAIT e1 last_event_age=1 (stale) t=30", "WAIT e1 with returned age t=30"] {
            let mut args = uapi::WaitEventsArgs {
                events_ptr: pointer,
                num_events: 1,
                timeout: 30,
                ..Default::default()
            };
            self.io(label, request::WAIT_EVENTS, &mut args).ok();
            let age = data.signal().last_event_age;
            writeln!(self.out, " wait_result={} age={age}", args.wait_result).unwrap();
        }
    }

    fn destroy(&mut self, e1: u32) {
        let destroy = request::DESTROY_EVENT;
        self.event("DESTROY_EVENT e1", destroy, e1);
        self.event("DESTROY_EVENT e1 again", destroy, e1);
        self.event("DESTROY_EVENT 0", destroy, 0);
        self.wait("WAIT destroyed id", &[e1], 0, 0);
        let mut ids = Vec::new();
        let failure = loop {
            let mut args = uapi::CreateEventArgs::default();
            match self.ioctl(request::CREATE_EVENT, from_mut(&mut args).cast()) {
                Ok(_) => ids.push(args.event_id),
                Err(errno) => break errno,
            }
        };
        writeln!(
            self.out,
            "CREATE_EVENT SIGNAL until failure: {} more created, first new id {}, last id {}, then {failure:?}",
            ids.len(),
            ids[0],
            ids[ids.len() - 1]
        )
        .unwrap();
        let mut args = uapi::CreateEventArgs { event_type: 3, ..Default::default() };
        let answer = self.ioctl(request::CREATE_EVENT, from_mut(&mut args).cast());
        writeln!(self.out, "then HW_EXCEPTION: {} id={}", text(answer), args.event_id).unwrap();
    }

    fn runtime(&mut self, _page: u64) {
        self.line("## runtime / xnack / smi / profiler / criu / dbg");
        let mut debug = [0u8; 64];
        let r_debug = debug.as_mut_ptr().expose_provenance() as u64;
        // Label, mode, whether r_debug is given, which outputs the program prints.
        for (label, mode_mask, given, prints) in [
            ("RUNTIME_ENABLE mode=1", 1, true, 2),
            ("RUNTIME_ENABLE mode=1 again", 1, true, 1),
            ("RUNTIME_ENABLE mode=0 (disable)", 0, true, 0),
            ("RUNTIME_ENABLE mode=0 again", 0, true, 0),
            ("RUNTIME_ENABLE mode=3 (ttmp save)", 3, true, 1),
            ("RUNTIME_ENABLE disable", 0, true, 0),
            ("RUNTIME_ENABLE mode=2", 2, true, 0),
            ("RUNTIME_ENABLE mode=0xffffffff", u32::MAX, true, 0),
            ("RUNTIME_ENABLE disable", 0, true, 0),
            ("RUNTIME_ENABLE mode=1 r_debug=0", 1, false, 0),
            ("RUNTIME_ENABLE disable", 0, false, 0),
        ] {
            let r_debug = if given { r_debug } else { 0 };
            let mut args = uapi::RuntimeEnableArgs { r_debug, mode_mask, capabilities_mask: 0 };
            self.io(label, request::RUNTIME_ENABLE, &mut args).ok();
            if prints == 2 {
                write!(self.out, " mode={:#x}", args.mode_mask).unwrap();
            }
            if prints > 0 {
                write!(self.out, " caps={:#x}", args.capabilities_mask).unwrap();
            }
            self.out += "\n";
        }
        for mode in [-1, 0, 1, 2] {
            let mut args = uapi::SetXnackModeArgs { xnack_enabled: mode };
            self.io(&format!("SET_XNACK_MODE {mode}"), request::SET_XNACK_MODE, &mut args).ok();
            writeln!(self.out, " out={}", args.xnack_enabled).unwrap();
        }
        let mut args = uapi::SmiEventsArgs { gpuid: 0, anon_fd: 77 };
        self.io("SMI_EVENTS gpuid=0", request::SMI_EVENTS, &mut args).ok();
        writeln!(self.out, " fd={}", args.anon_fd).unwrap();
        args.gpuid = 1234;
        self.t("SMI_EVENTS gpuid=1234", request::SMI_EVENTS, &mut args);
        for op in 0..6 {
            let mut args = uapi::ProfilerArgs { op, data: [0; 3] };
            self.io(&format!("PROFILER op={op}"), request::PROFILER, &mut args).ok();
            writeln!(self.out, " version={}", args.version()).unwrap();
        }
        for op in [0, 1, 2, 3, 5, 6, 7] {
            let mut args = uapi::CriuArgs { op, ..Default::default() };
            self.io(&format!("CRIU_OP op={op} self"), request::CRIU_OP, &mut args).ok();
            writeln!(
                self.out,
                " pid={} bos={} devices={} objects={} priv={}",
                args.pid, args.num_bos, args.num_devices, args.num_objects, args.priv_data_size
            )
            .unwrap();
        }
        let own = self.process.pid();
        for op in 0..18 {
            let mut args = uapi::DbgTrapArgs { pid: own, op, data: [0; 3] };
            self.t(&format!("DBG_TRAP op={op} pid=self"), request::DBG_TRAP, &mut args);
        }
        for pid in [0, 1, 999_999] {
            let mut args = uapi::DbgTrapArgs { pid, op: 0, data: [0; 3] };
            self.t(&format!("DBG_TRAP enable pid={pid}"), request::DBG_TRAP, &mut args);
        }
        let mut zero = [0u64; 8];
        self.t("DBG_REGISTER_DEPRECATED", request::DBG_REGISTER_DEPRECATED, &mut zero);
        self.t("DBG_UNREGISTER_DEPRECATED", request::DBG_UNREGISTER_DEPRECATED, &mut zero);
        self.t("DBG_ADDRESS_WATCH_DEPRECATED", request::DBG_ADDRESS_WATCH_DEPRECATED, &mut zero);
        self.t("DBG_WAVE_CONTROL_DEPRECATED", request::DBG_WAVE_CONTROL_DEPRECATED, &mut zero);
    }

    fn svm(&mut self) {
        #[repr(C)]
        #[derive(Default)]
        struct Args {
            head: uapi::SvmArgs,
            attributes: [uapi::SvmAttribute; 4],
        }
        const BYTES: usize = 1 << 20;
        self.line("## svm");
        let flags = MapFlags::PRIVATE | MapFlags::ANONYMOUS;
        let protection = Protection::READ | Protection::WRITE;
        // SAFETY: maps where the kernel likes.
        let memory =
            unsafe { self.process.mmap(null_mut(), BYTES, protection, flags, -1, 0).unwrap() };
        let word = request::svm(2).unwrap();
        let head = uapi::SvmArgs {
            start_addr: memory as u64,
            size: BYTES as u64,
            op: uapi::SVM_OP_GET_ATTR,
            nattr: 2,
        };
        let mut args = Args { head, ..Args::default() };
        args.attributes[0].type_ = uapi::SVM_ATTR_PREFERRED_LOC;
        args.attributes[1].type_ = uapi::SVM_ATTR_SET_FLAGS;
        self.io("SVM GET_ATTR 1MiB anon, nattr=2", word, &mut args).ok();
        let values = |args: &Args| {
            format!(" loc={:#x} flags={:#x}\n", args.attributes[0].value, args.attributes[1].value)
        };
        self.out += &values(&args);
        args.head.op = uapi::SVM_OP_SET_ATTR;
        args.attributes[0].value = 0;
        args.attributes[1].value = uapi::SvmFlags::COHERENT.bits();
        if self.danger {
            self.t("SVM SET_ATTR loc=sysmem flags=COHERENT", word, &mut args);
        }
        args.head.op = uapi::SVM_OP_GET_ATTR;
        args.attributes[0].value = 0;
        args.attributes[1].value = 0;
        self.io("SVM GET_ATTR after set", word, &mut args).ok();
        self.out += &values(&args);
        args.head.op = 9;
        self.t("SVM op=9", word, &mut args);
        args.head.op = 1;
        args.head.start_addr = memory as u64 + 1;
        self.t("SVM GET unaligned", word, &mut args);
        (args.head.start_addr, args.head.size) = (0, 0);
        self.t("SVM GET 0,0", word, &mut args);
        (args.head.start_addr, args.head.size) = (0x10000, 4096);
        self.t("SVM GET unmapped", word, &mut args);
        (args.head.start_addr, args.head.size) = (memory as u64, BYTES as u64);
        args.head.nattr = 4000;
        self.t("SVM GET nattr=4000 size field for 2", word, &mut args);
        args.head.nattr = 1;
        args.attributes[0].type_ = 99;
        self.t("SVM GET attr type=99", word, &mut args);
        if self.danger {
            args.head.op = uapi::SVM_OP_SET_ATTR;
            self.t("SVM SET attr type=99", word, &mut args);
            for (label, type_, value) in [
                ("SVM SET ACCESS gpu 1234", uapi::SVM_ATTR_ACCESS, 1234),
                ("SVM SET PREFERRED_LOC 1234", uapi::SVM_ATTR_PREFERRED_LOC, 1234),
                ("SVM SET GRANULARITY 9", uapi::SVM_ATTR_GRANULARITY, 1234),
            ] {
                args.attributes[0] = uapi::SvmAttribute { type_, value };
                self.t(label, word, &mut args);
            }
        }
        // SAFETY: mapped above, nothing refers to it.
        unsafe { self.process.munmap(memory, BYTES).unwrap() };
    }

    fn by_gpu_id(&mut self) {
        self.line("## memory, queues and the rest, gpu_id 0 then 1234");
        for gpu in [0u32, 1234] {
            macro_rules! ask {
                ($($name:ident $args:ident;)*) => {$(
                    let mut args = uapi::$args { gpu_id: gpu, ..Default::default() };
                    self.t(&format!("{} gpu={gpu}", stringify!($name)), request::$name, &mut args);
                )*};
            }
            ask! {
                CREATE_QUEUE CreateQueueArgs;
                SET_MEMORY_POLICY SetMemoryPolicyArgs;
                SET_SCRATCH_BACKING_VA SetScratchBackingVaArgs;
                GET_TILE_CONFIG GetTileConfigArgs;
                SET_TRAP_HANDLER SetTrapHandlerArgs;
                ALLOC_MEMORY_OF_GPU AllocMemoryOfGpuArgs;
                GET_DMABUF_INFO GetDmabufInfoArgs;
                IMPORT_DMABUF ImportDmabufArgs;
                AVAILABLE_MEMORY GetAvailableMemoryArgs;
            }
            let mut args = uapi::AllocMemoryOfGpuArgs {
                gpu_id: gpu,
                size: 4096,
                va_addr: 0x1000_0000,
                flags: (uapi::AllocMemFlags::GTT | uapi::AllocMemFlags::WRITABLE).bits(),
                ..Default::default()
            };
            self.t("ALLOC_MEMORY_OF_GPU GTT 4096", request::ALLOC_MEMORY_OF_GPU, &mut args);
            let handle = u64::from(gpu) << 32 | 1;
            let mut args = uapi::FreeMemoryOfGpuArgs { handle };
            self.t("FREE_MEMORY_OF_GPU", request::FREE_MEMORY_OF_GPU, &mut args);
            self.map_and_unmap(gpu, handle);
            let mut args = uapi::ExportDmabufArgs { handle, ..Default::default() };
            self.t("EXPORT_DMABUF", request::EXPORT_DMABUF, &mut args);
            self.by_queue_id(gpu);
        }
    }

    fn map_and_unmap(&mut self, gpu: u32, handle: u64) {
        let mut id = gpu;
        let ids = (&raw mut id).expose_provenance() as u64;
        let (map, unmap) = (request::MAP_MEMORY_TO_GPU, request::UNMAP_MEMORY_FROM_GPU);
        for (label, request, n_devices, ids, n_success) in [
            ("MAP_MEMORY n=0", map, 0, 0, 0),
            ("MAP_MEMORY n=1", map, 1, ids, 0),
            ("MAP_MEMORY n=1 NULL", map, 1, 0, 0),
            ("MAP_MEMORY n=1 n_success=2", map, 1, ids, 2),
            ("UNMAP_MEMORY n=1", unmap, 1, ids, 0),
            ("UNMAP_MEMORY n=0", unmap, 0, ids, 0),
        ] {
            let mut args = uapi::MapMemoryToGpuArgs {
                handle,
                device_ids_array_ptr: ids,
                n_devices,
                n_success,
            };
            self.t(label, request, &mut args);
        }
    }

    fn by_queue_id(&mut self, queue_id: u32) {
        self.t(
            "DESTROY_QUEUE",
            request::DESTROY_QUEUE,
            &mut uapi::DestroyQueueArgs { queue_id, pad: 0 },
        );
        for (label, queue_percentage, queue_priority) in [
            ("UPDATE_QUEUE zeroed", 0, 0),
            ("UPDATE_QUEUE pct=101", 101, 0),
            ("UPDATE_QUEUE prio=16", 100, 16),
        ] {
            let mut args = uapi::UpdateQueueArgs {
                queue_id,
                queue_percentage,
                queue_priority,
                ..Default::default()
            };
            self.t(label, request::UPDATE_QUEUE, &mut args);
        }
        let mut mask = [1u32, 0, 0, 0];
        let mask = mask.as_mut_ptr().expose_provenance() as u64;
        for (label, num_cu_mask, cu_mask_ptr) in [
            ("SET_CU_MASK num=0", 0, 0),
            ("SET_CU_MASK num=33", 33, 0),
            ("SET_CU_MASK num=32", 32, mask),
            ("SET_CU_MASK num=32 NULL", 32, 0),
        ] {
            let mut args = uapi::SetCuMaskArgs { queue_id, num_cu_mask, cu_mask_ptr };
            self.t(label, request::SET_CU_MASK, &mut args);
        }
        let mut args = uapi::GetQueueWaveStateArgs { queue_id, ..Default::default() };
        self.t("GET_QUEUE_WAVE_STATE", request::GET_QUEUE_WAVE_STATE, &mut args);
        let mut args = uapi::AllocQueueGwsArgs { queue_id, ..Default::default() };
        self.t("ALLOC_QUEUE_GWS", request::ALLOC_QUEUE_GWS, &mut args);
    }

    fn queues(&mut self) {
        const KERNEL: u64 = 0xffff_8000_0000_0000;
        let mut memory = [0u64; 2];
        let memory = memory.as_mut_ptr().expose_provenance() as u64;
        let good = uapi::CreateQueueArgs {
            ring_base_address: memory & !0xffff,
            ring_size: 4096,
            read_pointer_address: memory,
            write_pointer_address: memory + 8,
            gpu_id: 1234,
            queue_percentage: 100,
            queue_priority: 7,
            queue_type: uapi::QUEUE_TYPE_COMPUTE_AQL,
            ..Default::default()
        };
        for (label, mut args) in [
            ("CREATE_QUEUE good but gpu 1234", good),
            ("CREATE_QUEUE pct=101", uapi::CreateQueueArgs { queue_percentage: 101, ..good }),
            ("CREATE_QUEUE prio=16", uapi::CreateQueueArgs { queue_priority: 16, ..good }),
            ("CREATE_QUEUE ring 3000", uapi::CreateQueueArgs { ring_size: 3000, ..good }),
            ("CREATE_QUEUE ring 512", uapi::CreateQueueArgs { ring_size: 512, ..good }),
            ("CREATE_QUEUE type 77", uapi::CreateQueueArgs { queue_type: 77, ..good }),
            (
                "CREATE_QUEUE kernel ring ptr",
                uapi::CreateQueueArgs { ring_base_address: KERNEL, ..good },
            ),
            (
                "CREATE_QUEUE kernel rptr",
                uapi::CreateQueueArgs { read_pointer_address: KERNEL, ..good },
            ),
            ("CREATE_QUEUE ring NULL", uapi::CreateQueueArgs { ring_base_address: 0, ..good }),
        ] {
            self.t(label, request::CREATE_QUEUE, &mut args);
        }
    }

    /// The program forks for the first questions. The simulated machine's own fork is the same: a
    /// process that inherits the descriptors and has another id.
    fn files(&mut self, second: i32, read_only: i32) {
        self.line("## fork, O_RDONLY fd, CREATE_PROCESS");
        let (parent, first) = (self.process.clone(), self.fd);
        self.process = parent.fork();
        let mut version = uapi::GetVersionArgs::default();
        self.t("child, inherited fd: GET_VERSION", request::GET_VERSION, &mut version);
        self.mm("child, inherited fd: EVENTS", 1 << 63, 32768, 3, MapFlags::SHARED);
        self.fd = self.open(OpenMode::ReadWrite);
        self.line("child, own open -> ok");
        self.t("child, own fd: GET_VERSION", request::GET_VERSION, &mut version);
        self.process = parent;
        self.fd = read_only;
        self.t("O_RDONLY fd: GET_VERSION", request::GET_VERSION, &mut version);
        let mut event = uapi::CreateEventArgs::default();
        self.t("O_RDONLY fd: CREATE_EVENT (table full)", request::CREATE_EVENT, &mut event);
        self.process.close(first).unwrap();
        self.fd = second;
        let kept = "after closing 1st fd, 2nd fd: SET_EVENT id=2 (events kept?)";
        self.event(kept, request::SET_EVENT, 2);
        self.bad_pointer("CREATE_PROCESS on 2nd fd", request::CREATE_PROCESS, 0);
        self.bad_pointer("CREATE_PROCESS again on 2nd fd", request::CREATE_PROCESS, 0);
        self.fd = read_only;
        self.bad_pointer("CREATE_PROCESS on 3rd fd (RDONLY)", request::CREATE_PROCESS, 0);
        self.process.close(second).unwrap();
        self.process.close(read_only).unwrap();
        self.fd = self.open(OpenMode::ReadWrite);
        self.line("reopen after closing all -> ok");
        self.event("reopened: SET_EVENT id=2 (events kept?)", request::SET_EVENT, 2);
        let mut event = uapi::CreateEventArgs::default();
        self.io("reopened: CREATE_EVENT", request::CREATE_EVENT, &mut event).ok();
        writeln!(self.out, " id={}", event.event_id).unwrap();
        self.line("PROBE DONE");
        self.process.close(self.fd).unwrap();
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
    compare(18, false, include_str!("../../tests/data/kernel/probe-6.18.out"));
}

#[test]
fn kfd_1_17_answers_as_linux_6_12() {
    compare(17, true, include_str!("../../tests/data/kernel/probe-6.12.out"));
}
