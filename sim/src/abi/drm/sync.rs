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
        let points = self.points(args)?;
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

    /// `drm_syncobj_array_find`, with the points: 0 when the caller has none.
    fn points(&self, args: &drm::SyncobjTimelineWait) -> Result<Vec<(SyncObject, u64)>, Errno> {
        if u64::from(args.count_handles) * ENTRY_BYTES > KMALLOC_MAX {
            return Err(Errno::ENOMEM);
        }
        let count = args.count_handles as usize;
        let (mut handles, mut points) = (vec![0u8; count * 4], vec![0u8; count * 8]);
        user::read(args.handles, &mut handles)?;
        let (handles, _) = handles.as_chunks();
        let objects: Vec<SyncObject> = handles
            .iter()
            .map(|&handle| self.syncobj(u32::from_le_bytes(handle)).ok_or(Errno::ENOENT))
            .collect::<Result<_, _>>()?;
        if args.points != 0 {
            user::read(args.points, &mut points)?;
        }
        let points = points.as_chunks().0.iter().map(|&point| u64::from_le_bytes(point));
        Ok(objects.into_iter().zip(points).collect())
    }
}
