//! Shared virtual memory: memory of the process by its own addresses (kfd_svm.c).
//!
//! Without page faults that can be retried, which gfx10 and later have not, a range is mapped where it
//! has access as soon as its attributes are set. Preferred locations are kept and have no effect; prefetches are in
//! `migrate`.

use super::migrate::Place;
use super::{Device, KfdProcess, State, user_memory};
use crate::abi::exchange::Call;
use crate::abi::user;
use crate::memory::Permissions;
use kfd::uapi::{self, SvmAttribute, SvmFlags};
use selvedge_sys::Errno;
use selvedge_sys::uapi::Direction::ReadWrite;
use std::collections::BTreeMap;
use std::sync::Arc;
use zerocopy::FromBytes;

const PAGE_MASK: u64 = 4095;
/// log2 of pages that migrate together (`DEFAULT_GRANULARITY`).
const DEFAULT_GRANULARITY: u32 = 9;
const MAX_GRANULARITY: u32 = 0x3f;

/// How a GPU may reach a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Access {
    #[default]
    None,
    Any,
    InPlace,
}

#[derive(Clone, Debug)]
pub(super) struct Attributes {
    pub(super) preferred: u32,
    pub(super) prefetch: u32,
    flags: SvmFlags,
    granularity: u32,
    /// By GPU.
    pub(super) access: Vec<Access>,
}

impl Attributes {
    /// `svm_range_set_default_attributes`; with XNACK on every GPU has access.
    fn default_for(gpus: usize, xnack: bool) -> Attributes {
        Attributes {
            preferred: uapi::SVM_LOCATION_UNDEFINED,
            prefetch: uapi::SVM_LOCATION_UNDEFINED,
            flags: SvmFlags::HOST_ACCESS | SvmFlags::COHERENT,
            granularity: DEFAULT_GRANULARITY,
            access: vec![if xnack { Access::Any } else { Access::None }; gpus],
        }
    }

    /// `svm_range_apply_attrs`
    fn apply(&mut self, attribute: &SvmAttribute, gpu: Option<usize>) {
        let value = attribute.value;
        let mut set = |access| {
            if let Some(slot) = gpu.and_then(|gpu| self.access.get_mut(gpu)) {
                *slot = access;
            }
        };
        match attribute.type_ {
            uapi::SVM_ATTR_PREFERRED_LOC => self.preferred = value,
            uapi::SVM_ATTR_PREFETCH_LOC => self.prefetch = value,
            uapi::SVM_ATTR_ACCESS => set(Access::Any),
            uapi::SVM_ATTR_ACCESS_IN_PLACE => set(Access::InPlace),
            uapi::SVM_ATTR_NO_ACCESS => set(Access::None),
            uapi::SVM_ATTR_SET_FLAGS => self.flags |= SvmFlags::from_bits_retain(value),
            uapi::SVM_ATTR_CLR_FLAGS => self.flags &= !SvmFlags::from_bits_retain(value),
            _ => self.granularity = value.min(MAX_GRANULARITY),
        }
    }

    fn permissions(&self) -> Permissions {
        let mut permissions = Permissions::READ;
        permissions.set(Permissions::WRITE, !self.flags.contains(SvmFlags::GPU_RO));
        permissions.set(Permissions::EXECUTE, self.flags.contains(SvmFlags::GPU_EXEC));
        permissions
    }
}

#[derive(Clone, Debug)]
pub(super) struct Range {
    pub(super) end: u64,
    pub(super) attributes: Attributes,
    /// By GPU.
    mapped: Vec<bool>,
    /// Where it is, if not in system memory.
    pub(super) place: Option<Place>,
}

/// A process's ranges by start. They do not overlap.
#[derive(Debug, Default)]
pub(super) struct Ranges(BTreeMap<u64, Range>);

impl Ranges {
    fn overlapping(&self, start: u64, end: u64) -> Vec<u64> {
        let before = self.0.range(..end).rev().take_while(|(_, r)| r.end > start);
        let mut starts: Vec<u64> = before.map(|(&at, _)| at).collect();
        starts.reverse();
        starts
    }

    /// Whether a range lies in `address..address + size`, in whole pages.
    pub(super) fn overlaps(&self, address: u64, size: u64) -> bool {
        let end = address.saturating_add(size).saturating_add(PAGE_MASK) & !PAGE_MASK;
        !self.overlapping(address & !PAGE_MASK, end).is_empty()
    }

    /// `kfd_queue_buffer_svm_get`: whether all of it is registered, mapped on the GPU, and to stay so.
    pub(super) fn is_always_mapped(&self, address: u64, size: u64, gpu: usize) -> bool {
        let Some(end) = address.checked_add(size) else { return false };
        let mut at = address;
        for (&start, range) in &self.0 {
            let pinned = range.attributes.flags.contains(SvmFlags::GPU_ALWAYS_MAPPED);
            if start <= at && at < range.end && pinned && range.mapped.get(gpu) == Some(&true) {
                at = range.end;
            }
        }
        size > 0 && at >= end
    }

    /// Splits whatever crosses `at`. Its parts have to be mapped again.
    fn split(&mut self, at: u64) {
        if let Some((_, range)) = self.0.range_mut(..at).next_back()
            && range.end > at
        {
            let tail = range.clone();
            range.end = at;
            self.0.insert(at, tail);
        }
    }

    /// Makes ranges with these attributes where there are none.
    fn fill(&mut self, start: u64, end: u64, attributes: &Attributes) {
        let mut at = start;
        while at < end {
            let next = self.0.range(at..end).next().map(|(&start, range)| (start, range.end));
            let (gap_end, resume) = next.unwrap_or((end, end));
            if gap_end > at {
                let mapped = vec![false; attributes.access.len()];
                let attributes = attributes.clone();
                self.0.insert(at, Range { end: gap_end, attributes, mapped, place: None });
            }
            at = resume;
        }
    }

    /// Takes mappings away.
    fn unmap(&mut self, starts: &[u64], devices: &[Device]) {
        for start in starts {
            let Some(range) = self.0.get_mut(start) else { continue };
            for (device, mapped) in devices.iter().zip(&mut range.mapped) {
                if *mapped && let Ok(vm) = device.vm() {
                    vm.unmap(*start);
                }
                *mapped = false;
            }
        }
    }

    /// Maps every range from `start` to one that starts at `end`, where it has access and is not mapped.
    fn map(&mut self, start: u64, end: u64, devices: &[Device]) -> Result<(), Errno> {
        self.0.range_mut(start..=end).try_for_each(|(&at, range)| map_range(at, range, devices))
    }

    /// What of `start..end` is mapped on which GPU.
    pub(super) fn mapped_in(&self, start: u64, end: u64) -> Vec<(usize, u64, u64)> {
        let mut parts = Vec::new();
        for at in self.overlapping(start, end) {
            let range = &self.0[&at];
            let gpus = range.mapped.iter().enumerate().filter(|(_, mapped)| **mapped);
            parts.extend(gpus.map(|(gpu, _)| (gpu, at.max(start), range.end.min(end))));
        }
        parts
    }

    /// The process unmaps `start..end`: ranges there are gone.
    pub(super) fn forget(&mut self, start: u64, end: u64, devices: &[Device]) {
        let touched = self.overlapping(start, end);
        let Some(&first) = touched.first() else { return };
        self.unmap(&touched, devices);
        self.split(start);
        self.split(end);
        let gone: Vec<u64> = self.0.range(start..end).map(|(&at, _)| at).collect();
        gone.iter().for_each(|at| {
            self.0.remove(at);
        });
        // What cannot be mapped again faults when the device touches it.
        let _ = self.map(first, end, devices);
    }

    /// Takes all mappings away, as when the process ends.
    pub(super) fn unmap_all(&mut self, devices: &[Device]) {
        let all: Vec<u64> = self.0.keys().copied().collect();
        self.unmap(&all, devices);
    }
}

impl KfdProcess {
    /// SVM, whose argument has a tail of attributes.
    pub(super) fn svm(&self, call: Call) -> Result<i32, Errno> {
        const HEAD: usize = size_of::<uapi::SvmArgs>();
        call.bytes(ReadWrite, HEAD, |buffer, user_size| {
            let (head, tail) = buffer.split_at_mut(HEAD);
            let head = uapi::SvmArgs::read_from_bytes(head).map_err(|_| Errno::EINVAL)?;
            // `kfd_ioctl_svm_validate`
            let bytes = (head.nattr as usize)
                .checked_mul(size_of::<SvmAttribute>())
                .ok_or(Errno::EINVAL)?;
            if bytes.checked_add(HEAD).is_none_or(|needed| user_size < needed) {
                return Err(Errno::EINVAL);
            }
            if !self.machine.kernel.svm {
                return Err(Errno::EPERM);
            }
            if !self.is_primary {
                return Err(Errno::EOPNOTSUPP);
            }
            if (head.start_addr | head.size) & PAGE_MASK != 0
                || head.start_addr == 0
                || head.size == 0
            {
                return Err(Errno::EINVAL);
            }
            let attributes =
                <[SvmAttribute]>::mut_from_bytes(&mut tail[..bytes]).map_err(|_| Errno::EINVAL)?;
            match head.op {
                uapi::SVM_OP_SET_ATTR => self.svm_set(head.start_addr, head.size, attributes),
                uapi::SVM_OP_GET_ATTR => self.svm_get(head.start_addr, head.size, attributes),
                _ => Err(Errno::EINVAL),
            }
        })
    }

    /// `svm_range_check_attr`: the GPU each attribute names.
    fn svm_check(&self, attributes: &[SvmAttribute]) -> Result<Vec<Option<usize>>, Errno> {
        let named = |attribute: &SvmAttribute| {
            let value = attribute.value;
            match attribute.type_ {
                uapi::SVM_ATTR_PREFERRED_LOC
                    if matches!(
                        value,
                        uapi::SVM_LOCATION_SYSMEM | uapi::SVM_LOCATION_UNDEFINED
                    ) =>
                {
                    Ok(None)
                }
                uapi::SVM_ATTR_PREFETCH_LOC if value == uapi::SVM_LOCATION_SYSMEM => Ok(None),
                uapi::SVM_ATTR_PREFERRED_LOC..=uapi::SVM_ATTR_NO_ACCESS => {
                    self.gpu(value).map(Some)
                }
                uapi::SVM_ATTR_SET_FLAGS..=uapi::SVM_ATTR_GRANULARITY => Ok(None),
                _ => Err(Errno::EINVAL),
            }
        };
        attributes.iter().map(named).collect()
    }

    /// `svm_range_is_valid`
    fn svm_valid(state: &State, start: u64, size: u64) -> Result<u64, Errno> {
        let end = start.checked_add(size).ok_or(Errno::EOVERFLOW)?;
        if !user::access_ok(start, size) || !user_memory::is_mapped(start, size) {
            return Err(Errno::EFAULT);
        }
        let buffers = state.devices.iter().flat_map(|device| device.buffers.values());
        if buffers.into_iter().any(|buffer| buffer.overlaps(start, end)) {
            return Err(Errno::EADDRINUSE);
        }
        Ok(end)
    }

    fn svm_set(&self, start: u64, size: u64, attributes: &[SvmAttribute]) -> Result<(), Errno> {
        let named = self.svm_check(attributes)?;
        let mut guard = self.lock();
        let state = &mut *guard;
        // Without any VM there is no process info.
        if state.devices.iter().all(|device| device.render.is_none()) {
            return Err(Errno::EINVAL);
        }
        let end = Self::svm_valid(state, start, size)?;
        let ranges = &mut state.svm;
        // Whatever is touched is mapped again below, the parts outside as they were.
        let touched = ranges.overlapping(start, end);
        let was_mapped = !ranges.mapped_in(start, end).is_empty();
        ranges.unmap(&touched, &state.devices);
        ranges.split(start);
        ranges.split(end);
        let default = Attributes::default_for(self.machine.gpus.len(), state.xnack != 0);
        ranges.fill(start, end, &default);
        let mut moved = false;
        for (&at, range) in ranges.0.range_mut(start..end) {
            for (attribute, gpu) in attributes.iter().zip(&named) {
                range.attributes.apply(attribute, *gpu);
            }
            moved |= self.migrate(at, range);
        }
        let first = touched.first().map_or(start, |&first| first.min(start));
        let mapped = ranges.map(first, end, &state.devices);
        if moved && was_mapped {
            self.tell_of_moved_ranges(state);
        }
        mapped
    }

    fn svm_get(&self, start: u64, size: u64, attributes: &mut [SvmAttribute]) -> Result<(), Errno> {
        let state = self.lock();
        let end = Self::svm_valid(&state, start, size)?;
        let gettable = |type_| {
            !matches!(type_, uapi::SVM_ATTR_ACCESS_IN_PLACE | uapi::SVM_ATTR_NO_ACCESS)
                && type_ <= uapi::SVM_ATTR_GRANULARITY
        };
        if !attributes.iter().all(|attribute| gettable(attribute.type_)) {
            return Err(Errno::EINVAL);
        }
        let mut found: Vec<Attributes> = state
            .svm
            .overlapping(start, end)
            .iter()
            .map(|at| state.svm.0[at].attributes.clone())
            .collect();
        if found.is_empty() {
            found.push(Attributes::default_for(self.machine.gpus.len(), state.xnack != 0));
        }
        let common = |get: fn(&Attributes) -> u32| {
            let first = get(&found[0]);
            if found.iter().all(|a| get(a) == first) { first } else { uapi::SVM_LOCATION_UNDEFINED }
        };
        for attribute in attributes {
            match attribute.type_ {
                uapi::SVM_ATTR_PREFERRED_LOC => attribute.value = common(|a| a.preferred),
                uapi::SVM_ATTR_PREFETCH_LOC => attribute.value = common(|a| a.prefetch),
                uapi::SVM_ATTR_ACCESS => {
                    let gpu = self.gpu(attribute.value)?;
                    let all = |access| found.iter().all(|a| a.access[gpu] == access);
                    attribute.type_ = if all(Access::Any) {
                        uapi::SVM_ATTR_ACCESS
                    } else if all(Access::InPlace) {
                        uapi::SVM_ATTR_ACCESS_IN_PLACE
                    } else {
                        uapi::SVM_ATTR_NO_ACCESS
                    };
                }
                uapi::SVM_ATTR_SET_FLAGS => {
                    attribute.value = found.iter().fold(u32::MAX, |all, a| all & a.flags.bits());
                }
                uapi::SVM_ATTR_CLR_FLAGS => {
                    attribute.value = !found.iter().fold(0, |any, a| any | a.flags.bits());
                }
                _ => {
                    let finest = found.iter().map(|a| a.granularity).min();
                    attribute.value = finest.unwrap_or(DEFAULT_GRANULARITY);
                }
            }
        }
        Ok(())
    }
}

/// `svm_range_validate_and_map`
fn map_range(start: u64, range: &mut Range, devices: &[Device]) -> Result<(), Errno> {
    let size = range.end - start;
    for (gpu, device) in devices.iter().enumerate() {
        let wanted = range.attributes.access[gpu] != Access::None;
        let Some(render) = device.render() else { continue };
        if !wanted || range.mapped[gpu] {
            continue;
        }
        let permissions = range.attributes.permissions();
        if !user::present(start, size, permissions.contains(Permissions::WRITE)) {
            return Err(Errno::EFAULT);
        }
        let backing = Arc::new(user_memory::backing(start, size));
        let memory_type = render.memory_type_of_range(range.attributes.flags);
        if !render.vm.map_as(memory_type, (start, size), backing, 0, permissions) {
            return Err(Errno::EINVAL);
        }
        range.mapped[gpu] = true;
    }
    Ok(())
}
