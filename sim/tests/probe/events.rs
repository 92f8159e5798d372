//! Questions about events.

use crate::{Probe, text};
use kfd::uapi::{self, request};
use selvedge_sys::{MapFlags, System};
use std::fmt::Write;
use std::ptr::from_mut;
use std::time::{Duration, Instant};

impl Probe {
    pub(super) fn create(&mut self, label: &str, kind: u32, auto_reset: u32) -> u32 {
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

    pub(super) fn wait(&mut self, label: &str, ids: &[u32], all: u32, timeout: u32) {
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

    /// Runs `act` on another thread after 200 ms, while this one waits.
    pub(super) fn meanwhile(
        &mut self,
        name: &str,
        request: u32,
        id: u32,
        wait: impl FnOnce(&mut Probe),
    ) {
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

    pub(super) fn events(&mut self) {
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
    }

    pub(super) fn event(&mut self, label: &str, request: u32, event_id: u32) {
        self.t(label, request, &mut uapi::SetEventArgs { event_id, pad: 0 });
    }

    pub(super) fn set_and_wait(&mut self, [e1, e2, hardware, memory]: [u32; 4]) {
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

    pub(super) fn wait_with_others(&mut self, e1: u32) {
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

    pub(super) fn destroy(&mut self, e1: u32) {
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
}
