//! Sync objects (drm_syncobj.c).
//!
//! Everything that signals one does so before its call returns: a fence that is there has signalled.

use super::RenderFile;
use crate::abi::process::Process;
use crate::abi::user;
use selvedge_sys::{Errno, drm};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Flags of SYNCOBJ_CREATE and SYNCOBJ_TIMELINE_WAIT (include/uapi/drm/drm.h).
const CREATE_SIGNALED: u32 = 1 << 0;
const WAIT_ALL: u32 = 1 << 0;
const WAIT_FOR_SUBMIT: u32 = 1 << 1;
const WAIT_AVAILABLE: u32 = 1 << 2;
const WAIT_DEADLINE: u32 = 1 << 3;

/// The most that kcalloc gives (`KMALLOC_MAX_SIZE`), and the size of a `struct syncobj_wait_entry`, which is the
/// largest that a wait needs for each object.
const KMALLOC_MAX: u64 = 4 << 20;
const ENTRY_BYTES: u64 = 72;

/// How often a wait looks.
const STEP: Duration = Duration::from_millis(1);

/// A sync object: the highest point of its timeline, 0 for a fence that is on none; nothing when it has no fence.
#[derive(Clone, Debug, Default)]
pub(super) struct SyncObject(Arc<Mutex<Option<u64>>>);

impl SyncObject {
    /// A fence that has signalled: at a point of the timeline (`drm_syncobj_add_point`, which never goes back), or
    /// in place of it when the point is 0 (`drm_syncobj_replace_fence`).
    pub(super) fn signal(&self, point: u64) {
        let mut fence = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *fence = Some(if point == 0 { 0 } else { fence.unwrap_or(0).max(point) });
    }

    /// Its fence, if any, is gone.
    fn reset(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The highest point; 0 without a timeline.
    fn point(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or(0)
    }

    /// Whether there is a fence for the point (`dma_fence_chain_find_seqno`).
    fn has(&self, point: u64) -> bool {
        let fence = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        fence.is_some_and(|highest| highest >= point)
    }
}

impl RenderFile {
    pub(super) fn syncobj(&self, handle: u32) -> Option<SyncObject> {
        self.state().sync_objects.get(&handle).cloned()
    }

    pub(super) fn syncobj_create(&self, args: &mut drm::SyncobjCreate) -> Result<(), Errno> {
        if args.flags & !CREATE_SIGNALED != 0 {
            return Err(Errno::EINVAL);
        }
        let object = SyncObject::default();
        if args.flags & CREATE_SIGNALED != 0 {
            object.signal(0);
        }
        args.handle = self.state().sync_objects.insert(object).ok_or(Errno::ENOSPC)?;
        Ok(())
    }

    pub(super) fn syncobj_destroy(&self, handle: u32) -> Result<(), Errno> {
        self.state().sync_objects.remove(handle).map(drop).ok_or(Errno::EINVAL)
    }

    /// `drm_syncobj_timeline_wait_ioctl`. Only a fence that is not there yet is waited for, when a flag asks for it:
    /// another thread brings it or nobody does.
    pub(super) fn syncobj_timeline_wait(
        &self,
        linux: &Process,
        args: &mut drm::SyncobjTimelineWait,
    ) -> Result<(), Errno> {
        if args.flags & !(WAIT_ALL | WAIT_FOR_SUBMIT | WAIT_AVAILABLE | WAIT_DEADLINE) != 0 {
            return Err(Errno::EINVAL);
        }
        if args.count_handles == 0 {
            return Ok(());
        }
        let points = self.points(args.handles, args.points, args.count_handles)?;
        let all = args.flags & WAIT_ALL != 0;
        let mut first_look = true;
        let mut first = u32::MAX;
        loop {
            let reached: Vec<bool> =
                points.iter().map(|(object, point)| object.has(*point)).collect();
            let count = reached.iter().filter(|&&reached| reached).count();
            let submitted = args.flags & (WAIT_FOR_SUBMIT | WAIT_AVAILABLE) == 0;
            if first_look && submitted && count < points.len() {
                return Err(Errno::EINVAL);
            }
            // Waiting for all, only the first look says which one came first.
            if (first_look || !all)
                && let Some(index) = reached.iter().position(|&reached| reached)
            {
                first = index as u32;
            }
            if count == points.len() || count > 0 && !all {
                args.first_signaled = first;
                return Ok(());
            }
            // The deadline is on the monotonic clock.
            if args.timeout_nsec <= crate::clock::monotonic_ns() {
                return Err(Errno::ETIME);
            }
            if linux.has_exited() {
                return Err(Errno::EINTR);
            }
            first_look = false;
            std::thread::sleep(STEP);
        }
    }

    /// `drm_syncobj_wait_ioctl`: as a wait for a timeline's, at no points.
    pub(super) fn syncobj_wait(
        &self,
        linux: &Process,
        args: &mut drm::SyncobjWait,
    ) -> Result<(), Errno> {
        if args.flags & WAIT_AVAILABLE != 0 {
            return Err(Errno::EINVAL);
        }
        let mut wait = drm::SyncobjTimelineWait {
            handles: args.handles,
            timeout_nsec: args.timeout_nsec,
            count_handles: args.count_handles,
            flags: args.flags,
            first_signaled: args.first_signaled,
            ..drm::SyncobjTimelineWait::default()
        };
        let result = self.syncobj_timeline_wait(linux, &mut wait);
        args.first_signaled = wait.first_signaled;
        result
    }

    /// The objects of an array that is not empty.
    fn objects(&self, args: &drm::SyncobjArray) -> Result<Vec<(SyncObject, u64)>, Errno> {
        if args.pad != 0 || args.count_handles == 0 {
            return Err(Errno::EINVAL);
        }
        self.points(args.handles, 0, args.count_handles)
    }

    pub(super) fn syncobj_reset(&self, args: &drm::SyncobjArray) -> Result<(), Errno> {
        self.objects(args)?.iter().for_each(|(object, _)| object.reset());
        Ok(())
    }

    pub(super) fn syncobj_signal(&self, args: &drm::SyncobjArray) -> Result<(), Errno> {
        self.objects(args)?.iter().for_each(|(object, _)| object.signal(0));
        Ok(())
    }

    pub(super) fn syncobj_timeline_signal(
        &self,
        args: &drm::SyncobjTimelineArray,
    ) -> Result<(), Errno> {
        if args.flags != 0 || args.count_handles == 0 {
            return Err(Errno::EINVAL);
        }
        let points = self.points(args.handles, args.points, args.count_handles)?;
        points.iter().for_each(|(object, point)| object.signal(*point));
        Ok(())
    }

    /// `drm_syncobj_query_ioctl`. What was submitted has signalled.
    pub(super) fn syncobj_query(&self, args: &drm::SyncobjTimelineArray) -> Result<(), Errno> {
        const LAST_SUBMITTED: u32 = 1;
        if args.flags & !LAST_SUBMITTED != 0 || args.count_handles == 0 {
            return Err(Errno::EINVAL);
        }
        let objects = self.points(args.handles, 0, args.count_handles)?;
        (0u64..).zip(objects).try_for_each(|(i, (object, _))| {
            user::put(args.points.wrapping_add(i * 8), &object.point())
        })
    }

    /// `drm_syncobj_transfer_ioctl`: to a point of a timeline, or in place of a fence.
    pub(super) fn syncobj_transfer(&self, args: &drm::SyncobjTransfer) -> Result<(), Errno> {
        if args.pad != 0 {
            return Err(Errno::EINVAL);
        }
        let (to, from) = (self.syncobj(args.dst_handle), self.syncobj(args.src_handle));
        let (to, from) = (to.ok_or(Errno::ENOENT)?, from.ok_or(Errno::ENOENT)?);
        if !from.has(args.src_point) {
            // Waiting for one to come is another thread's business.
            return Err(match args.flags & WAIT_FOR_SUBMIT {
                0 => Errno::EINVAL,
                _ => self.machine.refuse("SYNCOBJ_TRANSFER that waits".into()),
            });
        }
        to.signal(args.dst_point);
        Ok(())
    }

    /// `drm_syncobj_array_find`, with the points: 0 when the caller has none.
    fn points(
        &self,
        handles_at: u64,
        points_at: u64,
        count: u32,
    ) -> Result<Vec<(SyncObject, u64)>, Errno> {
        if u64::from(count) * ENTRY_BYTES > KMALLOC_MAX {
            return Err(Errno::ENOMEM);
        }
        let count = count as usize;
        let (mut handles, mut points) = (vec![0u8; count * 4], vec![0u8; count * 8]);
        user::read(handles_at, &mut handles)?;
        let (handles, _) = handles.as_chunks();
        let objects: Vec<SyncObject> = handles
            .iter()
            .map(|&handle| self.syncobj(u32::from_le_bytes(handle)).ok_or(Errno::ENOENT))
            .collect::<Result<_, _>>()?;
        if points_at != 0 {
            user::read(points_at, &mut points)?;
        }
        let points = points.as_chunks().0.iter().map(|&point| u64::from_le_bytes(point));
        Ok(objects.into_iter().zip(points).collect())
    }
}
