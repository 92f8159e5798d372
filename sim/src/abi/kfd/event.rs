//! Events: the slots that queues signal, and the calls that wait on them (kfd_events.c).

use super::bell::Bell;
use crate::abi::handles::Numbers;
use crate::abi::user;
use crate::board::Extent;
use crate::count::{Counter, Token};
use crate::memory::{Backing, FaultReason, MemoryFault};
use kfd::uapi::{
    EVENT_DEBUG_EVENT, EVENT_HW_EXCEPTION, EVENT_MEMORY, EVENT_SIGNAL, EventData,
    HW_EXCEPTION_GPU_HANG, HsaHwExceptionData, HsaMemoryExceptionData, SIGNAL_EVENT_LIMIT,
    WAIT_INFINITE, WAIT_RESULT_COMPLETE, WAIT_RESULT_FAIL, WAIT_RESULT_TIMEOUT,
};
use selvedge_sys::Errno;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A slot that nobody has signalled.
const UNSIGNALED: u64 = u64::MAX;
/// Bytes of the event page.
pub(crate) const PAGE_BYTES: u64 = SIGNAL_EVENT_LIMIT as u64 * 8;
/// Slots that the oldest user space expects, before it maps the page.
const DEFAULT_MAPPED: u64 = 256 * 8;
/// Ids of events that no queue signals start here (`KFD_FIRST_NONSIGNAL_EVENT_ID`).
const FIRST_NONSIGNAL: u32 = 1 << 30;
/// The most that kcalloc gives (`KMALLOC_MAX_SIZE`), and the size of a `struct kfd_event_waiter`.
const KMALLOC_MAX: u64 = 4 << 20;
const WAITER_BYTES: u64 = 56;
/// From this many signal events on, the exhaustive search goes over slots and not over events.
const MANY_EVENTS: u64 = SIGNAL_EVENT_LIMIT as u64 / 64;

#[derive(Debug)]
struct Event {
    kind: u32,
    auto_reset: bool,
    signaled: bool,
    age: u64,
    memory: HsaMemoryExceptionData,
    hardware: HsaHwExceptionData,
    /// Who waits: the wait and the place in it.
    waiters: Vec<(u64, usize)>,
    _token: Token,
}

impl Event {
    fn is_gpu_signaled(&self) -> bool {
        matches!(self.kind, EVENT_SIGNAL | EVENT_DEBUG_EVENT)
    }
}

/// One event of one wait.
#[derive(Debug)]
struct Waiter {
    /// `None` when it was destroyed meanwhile.
    event: Option<u32>,
    activated: bool,
    age_enabled: bool,
}

/// A call that waits.
#[derive(Debug, Default)]
struct Wait {
    waiters: Vec<Waiter>,
    /// Whether its thread sleeps. A wake-up takes a waiter off its event's list only if it wakes the
    /// thread (`autoremove_wake_function`, kernel/sched/wait.c).
    asleep: bool,
}

/// The page of slots.
#[derive(Debug)]
struct Page {
    backing: Arc<Backing>,
    /// Where mmap finds it.
    offset: u64,
    _extent: Option<Extent>,
}

#[derive(Debug)]
struct Table {
    events: BTreeMap<u32, Event>,
    signal_ids: Numbers,
    other_ids: Numbers,
    waits: HashMap<u64, Wait>,
    next_wait: u64,
    page: Option<Page>,
    mapped_bytes: u64,
    /// Starts at 1: id 0 is never handed out.
    signal_events: u64,
    /// The process ends: nobody waits any more.
    closing: bool,
}

/// A process's events.
#[derive(Debug)]
pub(crate) struct Events {
    table: Mutex<Table>,
    changed: Bell,
    counter: Counter,
}

/// What CREATE_EVENT returns.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Created {
    pub(crate) id: u32,
    /// The slot, when it is an event that queues signal.
    pub(crate) slot: Option<u32>,
}

impl Table {
    fn set(&mut self, id: u32) {
        let Some(event) = self.events.get_mut(&id) else { return };
        event.signaled = !event.auto_reset || event.waiters.is_empty();
        event.age = event.age.checked_add(1).unwrap_or(2);
        let waits = &mut self.waits;
        event.waiters.retain(|&(wait, place)| {
            let Some(wait) = waits.get_mut(&wait) else { return false };
            if let Some(waiter) = wait.waiters.get_mut(place) {
                waiter.activated = true;
            }
            !std::mem::take(&mut wait.asleep)
        });
    }

    fn slot(&self, id: u32) -> Option<u64> {
        let page = self.page.as_ref()?;
        (u64::from(id) * 8 + 8 <= page.backing.len())
            .then(|| page.backing.load_u64(u64::from(id) * 8))
    }

    fn is_signaled_slot(&self, id: u32) -> bool {
        self.slot(id).is_some_and(|value| value != UNSIGNALED)
    }

    fn set_from_interrupt(&mut self, id: u32) {
        if !self.events.get(&id).is_some_and(Event::is_gpu_signaled) {
            return;
        }
        if let Some(page) = &self.page {
            page.backing.store_u64(u64::from(id) * 8, UNSIGNALED);
        }
        self.set(id);
    }

    /// `test_event_condition`
    fn condition(&self, wait: u64, all: bool) -> u32 {
        let waiters = self.waits.get(&wait).map_or(&[][..], |wait| wait.waiters.as_slice());
        let mut activated = 0;
        for waiter in waiters {
            if waiter.event.is_none() {
                return WAIT_RESULT_FAIL;
            }
            if waiter.activated {
                if !all {
                    return WAIT_RESULT_COMPLETE;
                }
                activated += 1;
            }
        }
        if activated == waiters.len() { WAIT_RESULT_COMPLETE } else { WAIT_RESULT_TIMEOUT }
    }

    /// `copy_signaled_event_data`
    fn copy_data(&self, wait: u64, events: u64) -> Result<(), Errno> {
        for (waiter, address) in self.waits[&wait].waiters.iter().zip(addresses(events)) {
            let event = waiter.event.and_then(|id| self.events.get(&id)).ok_or(Errno::EINVAL)?;
            if !waiter.activated {
                continue;
            }
            match event.kind {
                EVENT_MEMORY => user::put(address, &event.memory)?,
                EVENT_HW_EXCEPTION => user::put(address, &event.hardware)?,
                EVENT_SIGNAL if waiter.age_enabled => user::put(address, &event.age)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// `init_event_waiter`
    fn add_waiter(&mut self, wait: u64, data: &EventData) -> Result<(), Errno> {
        let event = self.events.get_mut(&data.event_id).ok_or(Errno::EINVAL)?;
        let mut activated = event.signaled;
        event.signaled = event.signaled && !event.auto_reset;
        let age = data.signal().last_event_age;
        let age_enabled = event.kind == EVENT_SIGNAL && age != 0;
        activated |= age_enabled && age != event.age;
        let waiters = &mut self.waits.entry(wait).or_default().waiters;
        if !activated {
            event.waiters.push((wait, waiters.len()));
        }
        waiters.push(Waiter { event: Some(data.event_id), activated, age_enabled });
        Ok(())
    }

    /// What a wait that was interrupted has taken of events is theirs again (`free_waiters`, `undo_auto_reset`).
    fn undo_auto_reset(&mut self, wait: u64) {
        let taken: Vec<u32> = self.waits.get(&wait).map_or_else(Vec::new, |wait| {
            wait.waiters.iter().filter(|w| w.activated).filter_map(|w| w.event).collect()
        });
        for id in taken {
            if self.events.get(&id).is_some_and(|event| event.auto_reset) {
                self.set(id);
            }
        }
    }

    /// `free_waiters`
    fn remove_wait(&mut self, wait: u64) {
        for waiter in self.waits.remove(&wait).unwrap_or_default().waiters {
            if let Some(event) = waiter.event.and_then(|id| self.events.get_mut(&id)) {
                event.waiters.retain(|&(w, _)| w != wait);
            }
        }
    }
}

impl Events {
    pub(crate) fn new(counter: Counter) -> Events {
        Events {
            table: Mutex::new(Table {
                events: BTreeMap::new(),
                signal_ids: Numbers::new(1..FIRST_NONSIGNAL),
                other_ids: Numbers::new(FIRST_NONSIGNAL..1 << 31),
                waits: HashMap::new(),
                next_wait: 0,
                page: None,
                mapped_bytes: 0,
                signal_events: 1,
                closing: false,
            }),
            changed: Bell::default(),
            counter,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the process has an event page.
    pub(crate) fn has_page(&self) -> bool {
        self.lock().page.is_some()
    }

    /// `kfd_event_page_set`: user space gives a buffer for the slots, at `offset` of the board's file.
    pub(crate) fn set_page(&self, backing: Arc<Backing>, offset: u64) -> Result<(), Errno> {
        let mut table = self.lock();
        if table.page.is_some() {
            return Err(Errno::EBUSY);
        }
        if backing.len() < PAGE_BYTES {
            return Err(Errno::EINVAL);
        }
        fill_unsignaled(&backing);
        table.mapped_bytes = backing.len();
        table.page = Some(Page { backing, offset, _extent: None });
        Ok(())
    }

    /// `kfd_event_create`
    pub(crate) fn create(
        &self,
        kind: u32,
        auto_reset: bool,
        new_page: impl FnOnce() -> Result<Extent, Errno>,
    ) -> Result<Created, Errno> {
        let mut table = self.lock();
        let id = if matches!(kind, EVENT_SIGNAL | EVENT_DEBUG_EVENT) {
            if table.mapped_bytes != 0 && table.signal_events == table.mapped_bytes / 8 {
                return Err(Errno::ENOSPC);
            }
            if table.page.is_none() {
                let extent = new_page()?;
                fill_unsignaled(&extent.backing);
                let (backing, offset) = (extent.backing.clone(), extent.offset);
                table.page = Some(Page { backing, offset, _extent: Some(extent) });
                table.mapped_bytes = DEFAULT_MAPPED;
            }
            let end = u32::try_from(table.mapped_bytes / 8).unwrap_or(u32::MAX);
            let id = table.signal_ids.take_below(end).ok_or(Errno::ENOSPC)?;
            if let Some(page) = &table.page {
                page.backing.store_u64(u64::from(id) * 8, UNSIGNALED);
            }
            table.signal_events += 1;
            id
        } else {
            table.other_ids.take().ok_or(Errno::ENOSPC)?
        };
        let event = Event {
            kind,
            auto_reset,
            signaled: false,
            age: 1,
            memory: HsaMemoryExceptionData::default(),
            hardware: HsaHwExceptionData::default(),
            waiters: Vec::new(),
            _token: self.counter.token(),
        };
        let slot = event.is_gpu_signaled().then_some(id);
        table.events.insert(id, event);
        Ok(Created { id, slot })
    }

    /// `kfd_event_destroy`
    pub(crate) fn destroy(&self, id: u32) -> Result<(), Errno> {
        let mut table = self.lock();
        let event = table.events.remove(&id).ok_or(Errno::EINVAL)?;
        if event.is_gpu_signaled() {
            table.signal_events -= 1;
            table.signal_ids.give_back(id);
        } else {
            table.other_ids.give_back(id);
        }
        for (wait, place) in event.waiters {
            let waiters = table.waits.get_mut(&wait).map(|wait| &mut wait.waiters);
            if let Some(waiter) = waiters.and_then(|waiters| waiters.get_mut(place)) {
                waiter.event = None;
            }
        }
        self.changed.ring();
        Ok(())
    }

    /// The process ends: whoever waits is interrupted.
    pub(crate) fn close(&self) {
        self.lock().closing = true;
        self.changed.ring();
    }

    /// Whether [`close`](Events::close) was called.
    pub(crate) fn is_closing(&self) -> bool {
        self.lock().closing
    }

    /// `kfd_set_event`
    pub(crate) fn set(&self, id: u32) -> Result<(), Errno> {
        let mut table = self.lock();
        if table.events.get(&id).ok_or(Errno::EINVAL)?.kind != EVENT_SIGNAL {
            return Err(Errno::EINVAL);
        }
        table.set(id);
        self.changed.ring();
        Ok(())
    }

    /// `kfd_reset_event`
    pub(crate) fn reset(&self, id: u32) -> Result<(), Errno> {
        let mut table = self.lock();
        let event = table.events.get_mut(&id).ok_or(Errno::EINVAL)?;
        if event.kind != EVENT_SIGNAL {
            return Err(Errno::EINVAL);
        }
        event.signaled = false;
        Ok(())
    }

    /// `kfd_signal_event_interrupt`, with an id of 32 valid bits as gfx9 and later send at the end of the pipe.
    pub(crate) fn interrupt(&self, id: u32) {
        let mut table = self.lock();
        let limit = SIGNAL_EVENT_LIMIT as u32;
        if id < limit && table.is_signaled_slot(id) && table.events.contains_key(&id) {
            table.set_from_interrupt(id);
        } else if table.page.is_some() {
            // The id led nowhere: look at all of them.
            let candidates: Vec<u32> = if table.signal_events < MANY_EVENTS {
                table.events.range(..limit).map(|(&id, _)| id).collect()
            } else {
                (1..limit).collect()
            };
            for id in candidates {
                if table.is_signaled_slot(id) {
                    table.set_from_interrupt(id);
                }
            }
        }
        self.changed.ring();
    }

    /// `kfd_signal_vm_fault_event`
    pub(crate) fn memory_fault(&self, data: HsaMemoryExceptionData) {
        self.signal_all(EVENT_MEMORY, |event| event.memory = data);
    }

    /// `kfd_signal_reset_event`: the whole GPU was reset because it hung, and its memory is lost.
    pub(crate) fn gpu_reset(&self, gpu_id: u32) {
        let data = HsaHwExceptionData {
            reset_cause: HW_EXCEPTION_GPU_HANG,
            memory_lost: 1,
            gpu_id,
            ..HsaHwExceptionData::default()
        };
        self.signal_all(EVENT_HW_EXCEPTION, |event| event.hardware = data);
    }

    fn signal_all(&self, kind: u32, update: impl Fn(&mut Event)) {
        let mut table = self.lock();
        let ids: Vec<u32> = table
            .events
            .range(FIRST_NONSIGNAL..)
            .filter(|(_, e)| e.kind == kind)
            .map(|(&id, _)| id)
            .collect();
        for id in ids {
            if let Some(event) = table.events.get_mut(&id) {
                update(event);
            }
            table.set(id);
        }
        self.changed.ring();
    }

    /// `kfd_wait_on_events`: the call's result and its `wait_result`. A signal leaves in `timeout_ms` what is left of it.
    pub(crate) fn wait(
        &self,
        events: u64,
        count: u32,
        all: bool,
        timeout_ms: &mut u32,
    ) -> (Result<(), Errno>, u32) {
        if u64::from(count) * WAITER_BYTES > KMALLOC_MAX {
            return (Err(Errno::ENOMEM), WAIT_RESULT_FAIL);
        }
        let deadline = (*timeout_ms != WAIT_INFINITE).then(|| {
            Instant::now() + Duration::from_millis(u64::from((*timeout_ms).min(i32::MAX as u32)))
        });
        let mut table = self.lock();
        let wait = table.next_wait;
        table.next_wait += 1;
        let mut result = table.begin(wait, events, count);
        let mut outcome = WAIT_RESULT_FAIL;
        if result.is_ok() {
            loop {
                outcome = table.condition(wait, all);
                if outcome != WAIT_RESULT_TIMEOUT {
                    break;
                }
                if table.closing {
                    result = Err(Errno::EINTR);
                    break;
                }
                if let Some(wait) = table.waits.get_mut(&wait) {
                    wait.asleep = true;
                }
                if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    break;
                }
                let interrupted;
                (table, interrupted) = self.changed.sleep(&self.table, table, deadline);
                if let Some(wait) = table.waits.get_mut(&wait) {
                    wait.asleep = false;
                }
                if interrupted {
                    if let Some(deadline) = deadline {
                        let left = deadline.saturating_duration_since(Instant::now());
                        *timeout_ms = u32::try_from(left.as_millis()).unwrap_or(u32::MAX);
                    }
                    result = Err(Errno::EINTR);
                    table.undo_auto_reset(wait);
                    break;
                }
            }
            if result.is_ok() && outcome == WAIT_RESULT_COMPLETE {
                result = table.copy_data(wait, events);
            }
        }
        table.remove_wait(wait);
        match (result, outcome) {
            (Err(errno), _) => (Err(errno), WAIT_RESULT_FAIL),
            (Ok(()), WAIT_RESULT_FAIL) => (Err(Errno::EIO), WAIT_RESULT_FAIL),
            (Ok(()), outcome) => (Ok(()), outcome),
        }
    }

    /// `kfd_event_mmap`: where in the board's file the page is.
    pub(crate) fn map(&self, length: u64) -> Result<(u64, Arc<Backing>), Errno> {
        // The kernel compares orders of pages; that of the limit is a power of two.
        if length > PAGE_BYTES {
            return Err(Errno::EINVAL);
        }
        let table = self.lock();
        let page = table.page.as_ref().ok_or(Errno::EINVAL)?;
        Ok((page.offset, page.backing.clone()))
    }

    /// The page is mapped with this length, which [`map`](Events::map) allowed: only then events may use the
    /// slots in it.
    pub(crate) fn mapped(&self, length: u64) {
        self.lock().mapped_bytes = length;
    }
}

/// The elements of an array of the caller's. Addresses wrap as the kernel's pointers do: nothing is readable at
/// the end of the address space, so that nobody gets there.
fn addresses(events: u64) -> impl Iterator<Item = u64> {
    (0..).map(move |i: u64| events.wrapping_add(i * size_of::<EventData>() as u64))
}

impl Table {
    fn begin(&mut self, wait: u64, events: u64, count: u32) -> Result<(), Errno> {
        self.waits.insert(wait, Wait::default());
        for address in addresses(events).take(count as usize) {
            let data: EventData = user::get(address)?;
            self.add_waiter(wait, &data)?;
        }
        Ok(())
    }
}

fn fill_unsignaled(backing: &Backing) {
    (0..PAGE_BYTES).step_by(8).for_each(|at| backing.store_u64(at, UNSIGNALED));
}

/// The data of a page fault as the kernel passes it on from gfx11 (kfd_int_process_v11.c,
/// `event_interrupt_wq_v11`): the page's address, and never `NoExecute`, whose bit it does not read.
pub(crate) fn fault_data(gpu_id: u32, fault: &MemoryFault) -> HsaMemoryExceptionData {
    let mut data = HsaMemoryExceptionData {
        va: fault.address & !0xfff,
        gpu_id,
        ..HsaMemoryExceptionData::default()
    };
    match fault.reason {
        FaultReason::NotPresent => data.failure.not_present = 1,
        FaultReason::ReadOnly => data.failure.read_only = 1,
        FaultReason::NoExecute | FaultReason::NoRead | FaultReason::Misaligned => {}
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(events: &Events, ids: &[u32], timeout_ms: u32) -> u32 {
        let mut data: Vec<EventData> = ids.iter().map(|&id| EventData::new(id, 0)).collect();
        let address = data.as_mut_ptr().expose_provenance() as u64;
        let (result, outcome) = events.wait(address, ids.len() as u32, false, &mut { timeout_ms });
        assert_eq!(result, Ok(()));
        outcome
    }

    /// What signals make of a thread that sleeps in a wait, as long as it has not run again: it was woken once.
    #[test]
    fn signals_before_the_thread_runs() {
        let events = Events::new(Counter::default());
        events.set_page(Arc::new(Backing::zeroed(PAGE_BYTES)), 0).unwrap();
        let create = || events.create(EVENT_SIGNAL, true, || Err(Errno::ENOMEM)).unwrap().id;
        let ids = [create(), create()];
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| wait(&events, &ids, 60_000));
            while !events.lock().waits.values().any(|wait| wait.asleep) {
                std::thread::yield_now();
            }
            let mut table = events.lock();
            for id in [ids[0], ids[0], ids[1], ids[1]] {
                table.set(id);
            }
            drop(table);
            events.changed.ring();
            assert_eq!(waiter.join().unwrap(), WAIT_RESULT_COMPLETE);
        });
        // The first event's second signal found nobody. The other's found the waiter listed: only waking takes it off.
        assert_eq!(wait(&events, &ids[..1], 0), WAIT_RESULT_COMPLETE);
        assert_eq!(wait(&events, &ids[1..], 0), WAIT_RESULT_TIMEOUT);
    }
}
