//! Ioctls that are made again.
#![expect(unsafe_code, reason = "makes ioctls with recorded arguments")]

use super::{Replay, outcome};
use crate::abi::user;
use crate::record::arguments::{
    drm_field, kfd_field, kfd_name, kfd_value, length, pointers, user_range, value,
};
use crate::record::format::Pointed;
use kfd::uapi::WAIT_RESULT_TIMEOUT;
use selvedge_sys::System;
use selvedge_sys::uapi::Field;
use std::time::Duration;

/// An ioctl of the record.
pub(super) struct Ioctl<'a> {
    pub(super) request: u32,
    pub(super) before: &'a [u8],
    pub(super) after: &'a [u8],
    pub(super) pointed: &'a [Pointed],
}

impl Ioctl<'_> {
    fn named(&self, names: &[&str]) -> Vec<&'static Field> {
        names.iter().filter_map(|name| kfd_field(self.request, name)).collect()
    }

    /// Fields that are descriptors which the caller gives.
    fn descriptors_in(&self) -> Vec<&'static Field> {
        match kfd_name(self.request) {
            Some("ACQUIRE_VM") => self.named(&["drm_fd"]),
            Some("GET_DMABUF_INFO" | "IMPORT_DMABUF") => self.named(&["dmabuf_fd"]),
            Some(_) => Vec::new(),
            None if selvedge_sys::uapi::number(self.request) == 0x2e => {
                drm_field(self.request, "fd").into_iter().collect()
            }
            None => Vec::new(),
        }
    }

    /// Fields that are descriptors which the kernel makes.
    fn descriptors_out(&self) -> Vec<&'static Field> {
        match kfd_name(self.request) {
            Some("EXPORT_DMABUF") => self.named(&["dmabuf_fd"]),
            Some("SMI_EVENTS") => self.named(&["anon_fd"]),
            Some(_) => Vec::new(),
            None if selvedge_sys::uapi::number(self.request) == 0x2d => {
                drm_field(self.request, "fd").into_iter().collect()
            }
            None => Vec::new(),
        }
    }

    /// A wait that nothing came of in the record.
    fn timed_out(&self) -> bool {
        self.has_timed_out(self.after)
    }

    fn has_timed_out(&self, answer: &[u8]) -> bool {
        kfd_name(self.request) == Some("WAIT_EVENTS")
            && kfd_value(self.request, answer, "wait_result") == Some(WAIT_RESULT_TIMEOUT.into())
    }

    /// Bytes of the answer that are not compared: offsets and sizes.
    fn masked(&self) -> Vec<(usize, usize)> {
        let clocks = ["gpu_clock_counter", "cpu_clock_counter", "system_clock_counter"];
        let mut fields = match kfd_name(self.request) {
            Some("GET_CLOCK_COUNTERS") => self.named(&clocks),
            Some("WAIT_EVENTS") if self.timed_out() => self.named(&["timeout", "wait_result"]),
            Some("WAIT_EVENTS") => self.named(&["timeout"]),
            _ => Vec::new(),
        };
        fields.extend(self.descriptors_in());
        fields.extend(self.descriptors_out());
        let fields = fields.into_iter().map(|field| (field.offset, field.size));
        fields.chain(self.pointed.iter().map(|pointed| (pointed.offset, 8))).collect()
    }
}

/// Words that are aligned as structs of the kernel are.
fn aligned(bytes: &[u8]) -> Vec<u64> {
    let whole = bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    });
    // Never empty, so that there is an address.
    whole.chain([0]).collect()
}

fn bytes_of(words: &[u64], length: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    bytes.truncate(length);
    bytes
}

fn put(bytes: &mut [u8], offset: usize, value: &[u8]) {
    let end = offset.checked_add(value.len());
    if let Some(place) = end.and_then(|end| bytes.get_mut(offset..end)) {
        place.copy_from_slice(value);
    }
}

impl Replay {
    pub(super) fn ioctl(
        &mut self,
        line: usize,
        fd: i32,
        result: i64,
        call: &Ioctl<'_>,
        patience: Duration,
    ) -> bool {
        if let Some((start, length)) = user_range(call.request, call.before) {
            self.addresses.open(start, length);
        }
        let mut argument = call.before.to_vec();
        for field in call.descriptors_in() {
            let recorded = value(call.before, field).unwrap_or(0) as u32;
            put(&mut argument, field.offset, &self.fd(recorded.cast_signed()).to_ne_bytes());
        }
        let timed_out = call.timed_out();
        if let Some(field) = kfd_field(call.request, "timeout") {
            let timeout = if timed_out { 0 } else { patience.as_millis() as u32 };
            put(&mut argument, field.offset, &timeout.to_ne_bytes());
        }
        let mut behind: Vec<Vec<u64>> =
            call.pointed.iter().map(|pointed| aligned(&pointed.before)).collect();
        for (offset, _, length) in pointers(call.request, call.before) {
            // What could not be read in the record led nowhere, and does so here.
            let mut pointed = call.pointed.iter().zip(&mut behind);
            let address = pointed
                .find(|(pointed, _)| pointed.offset == offset && pointed.before.len() == length)
                .map_or(0, |(_, words)| words.as_mut_ptr().expose_provenance() as u64);
            put(&mut argument, offset, &address.to_ne_bytes());
        }
        let mut words = aligned(&argument);
        let pointer = match call.before.is_empty() && length(call.request) != 0 {
            true => std::ptr::null_mut(),
            false => words.as_mut_ptr().cast(),
        };
        // An address that was not replaced is the recorded process's: nothing of it is here but what was reserved.
        let own = std::iter::once(&words).chain(&behind).map(|words| {
            let start = words.as_ptr().expose_provenance() as u64;
            start..start + 8 * words.len() as u64
        });
        let reach = own.chain(self.addresses.all()).collect();
        let fd = self.fd(fd);
        // SAFETY: the argument is empty or has the request's size, as `parse` sees to, and so has what it points to; what
        // else there are addresses of is not reached.
        let here = user::within(reach, || unsafe { self.process.ioctl(fd, call.request, pointer) });
        let mut now = bytes_of(&words, call.after.len());
        if !timed_out && result == 0 && call.has_timed_out(&now) {
            return false;
        }
        let name = kfd_name(call.request)
            .map_or_else(|| format!("ioctl {:#x}", call.request), str::to_owned);
        self.result(line, &name, result, outcome(here.map(i64::from)));
        // Of a call that failed the field is the record's.
        for field in call.descriptors_out().into_iter().filter(|_| here.is_ok()) {
            if let (Some(here), Some(recorded)) = (value(&now, field), value(call.after, field)) {
                let (here, recorded) = (here as u32, recorded as u32);
                self.descriptors.insert(recorded.cast_signed(), here.cast_signed());
            }
        }
        for (offset, size) in call.masked() {
            let recorded = offset.checked_add(size).and_then(|end| call.after.get(offset..end));
            let recorded = recorded.unwrap_or_default().to_vec();
            put(&mut now, offset, &recorded);
        }
        if now != call.after {
            let then = call.after;
            self.differs(line, format_args!("{name} answered {then:02x?}, and here {now:02x?}"));
        }
        // Events have ages, and what is in them beyond the one waited for is nobody's promise.
        if kfd_name(call.request) == Some("WAIT_EVENTS") {
            return true;
        }
        for (Pointed { after, .. }, words) in call.pointed.iter().zip(&behind) {
            if bytes_of(words, after.len()) != *after {
                self.differs(line, format_args!("what {name} points to differs"));
            }
        }
        true
    }
}
