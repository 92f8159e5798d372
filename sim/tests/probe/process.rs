//! Questions about what a process has once: runtime, shared virtual memory, files.

use crate::Probe;
use kfd::uapi::{self, request};
use selvedge_sys::{MapFlags, OpenMode, Protection, System};
use std::fmt::Write;
use std::ptr::null_mut;

impl Probe {
    pub(super) fn runtime(&mut self) {
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

    pub(super) fn svm(&mut self) {
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

    /// The program forks for the first questions. The simulated machine's own fork is the same: a
    /// process that inherits the descriptors and has another id.
    pub(super) fn files(&mut self, second: i32, read_only: i32) {
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
