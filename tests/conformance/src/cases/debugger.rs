//! A process that debugs itself.
#![expect(unsafe_code, reason = "DBG_TRAP by its own descriptor")]

use super::primary;
use crate::aql_queue::AqlQueue;
use crate::report::{Outcome, equal};
use crate::{Case, Result, Subject};
use kfd::uapi::{self, DbgTrapArgs, DbgTrapData, exception, request};
use selvedge_sys::{Errno, File, OpenMode};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Duration;
use zerocopy::FromZeros;

pub(super) const CASES: &[Case] = &[
    primary("debug.attach", "a debugger attaches once, and lets go", attach),
    primary("debug.queues", "a debugger hears of queues, lists, suspends and resumes them", queues),
];

/// `EALREADY` (include/uapi/asm-generic/errno.h)
const EALREADY: Errno = Errno(114);

/// A debugger of this process, attached as long as it lives.
struct Debugger {
    file: File,
    _ear: std::io::PipeReader,
}

fn ioctl<T: DbgTrapData>(file: &File, data: &T) -> std::result::Result<(i32, T), Errno> {
    let mut args = DbgTrapArgs::new(std::process::id(), data);
    // SAFETY: the argument is the request's, and what it points to is the caller's.
    let answer =
        unsafe { file.system().ioctl(file.fd(), request::DBG_TRAP, (&raw mut args).cast())? };
    Ok((answer, args.data().unwrap_or_else(T::new_zeroed)))
}

impl Debugger {
    fn attach(subject: &Subject, exceptions: u64) -> Result<Debugger> {
        let system = subject.device().process().system();
        let file = File::open(system, Path::new("/dev/kfd"), OpenMode::ReadWrite)
            .map_err(|errno| Outcome::fail(format!("/dev/kfd: {errno}")))?;
        let pipe = std::io::pipe().map_err(|error| Outcome::fail(error.to_string()));
        let (_ear, mouth) = pipe?;
        let mut info = uapi::RuntimeInfo::default();
        let data = uapi::DbgTrapEnableArgs {
            exception_mask: exceptions,
            rinfo_ptr: (&raw mut info).expose_provenance() as u64,
            rinfo_size: size_of::<uapi::RuntimeInfo>() as u32,
            dbg_fd: mouth.as_raw_fd().cast_unsigned(),
        };
        match ioctl(&file, &data) {
            Ok(_) => {
                equal("the runtime's state", info.runtime_state, uapi::RUNTIME_STATE_ENABLED)?;
                Ok(Debugger { file, _ear })
            }
            // Schedulers without firmware, old devices, another debugger.
            Err(errno @ (Errno::EINVAL | Errno::ENODEV | Errno::EBUSY)) => {
                Err(Outcome::NotApplicable(format!("it cannot be debugged: {errno}")))
            }
            Err(errno) => Err(Outcome::fail(format!("attaching: {errno}"))),
        }
    }

    fn ask<T: DbgTrapData>(&self, data: &T) -> Result<(i32, T)> {
        ioctl(&self.file, data)
            .map_err(|errno| Outcome::fail(format!("operation {}: {errno}", T::OP)))
    }

    fn suspend(&self, ids: &mut [u32]) -> Result<i32> {
        let data = uapi::DbgTrapSuspendQueuesArgs {
            exception_mask: 0,
            queue_array_ptr: ids.as_mut_ptr().expose_provenance() as u64,
            num_queues: ids.len() as u32,
            grace_period: 0,
        };
        Ok(self.ask(&data)?.0)
    }
}

impl Drop for Debugger {
    fn drop(&mut self) {
        let mut args = DbgTrapArgs::disable(std::process::id());
        // SAFETY: the argument is the request's.
        let _ = unsafe {
            self.file.system().ioctl(self.file.fd(), request::DBG_TRAP, (&raw mut args).cast())
        };
    }
}

fn attach(subject: &Subject) -> Result {
    for _ in 0..3 {
        let debugger = Debugger::attach(subject, 0)?;
        let again = uapi::DbgTrapEnableArgs::new_zeroed();
        let answer = ioctl(&debugger.file, &again).err();
        equal("attaching again", answer, Some(EALREADY))?;
        let nothing = uapi::DbgTrapQueryDebugEventArgs::new_zeroed();
        equal("what happened", ioctl(&debugger.file, &nothing).err(), Some(Errno::EAGAIN))?;
    }
    Ok(())
}

fn queues(subject: &Subject) -> Result {
    let new = exception::mask(exception::QUEUE_NEW);
    let debugger = Debugger::attach(subject, new)?;
    let (mut first, mut second) = (AqlQueue::new(subject, 64)?, AqlQueue::new(subject, 64)?);
    let (_, event) = debugger.ask(&uapi::DbgTrapQueryDebugEventArgs::new_zeroed())?;
    equal("the event", event.exception_mask & new, new)?;
    equal("the event's GPU", event.gpu_id, subject.device().gpu_id())?;
    let mut entries = vec![uapi::QueueSnapshotEntry::new_zeroed(); 64];
    let snapshot = uapi::DbgTrapQueueSnapshotArgs {
        exception_mask: new,
        snapshot_buf_ptr: entries.as_mut_ptr().expose_provenance() as u64,
        num_queues: entries.len() as u32,
        entry_size: size_of::<uapi::QueueSnapshotEntry>() as u32,
    };
    let (_, listed) = debugger.ask(&snapshot)?;
    entries.truncate(listed.num_queues as usize);
    for queue in [&first, &second] {
        let entry = entries.iter().find(|entry| entry.queue_id == queue.kfd().id());
        let Some(entry) = entry else { return Err(Outcome::fail("a queue is not listed")) };
        equal("a queue's kind", entry.queue_type, uapi::QUEUE_TYPE_COMPUTE_AQL)?;
        equal("a queue's GPU", entry.gpu_id, subject.device().gpu_id())?;
    }
    let packet = second.barrier([0; 5])?;
    second.finish(packet)?;
    let mut ids = [second.kfd().id()];
    equal("the queues that were suspended", debugger.suspend(&mut ids)?, 1)?;
    equal("the queue's mark", ids, [second.kfd().id()])?;
    let waiting = second.barrier([0; 5])?;
    let other = first.barrier([0; 5])?;
    first.finish(other)?;
    std::thread::sleep(Duration::from_millis(30));
    equal("the signal of a suspended queue", second.signal(waiting)?, 1)?;
    let resume = uapi::DbgTrapResumeQueuesArgs {
        queue_array_ptr: ids.as_mut_ptr().expose_provenance() as u64,
        num_queues: 1,
        pad: 0,
    };
    equal("the queues that were resumed", debugger.ask(&resume)?.0, 1)?;
    second.finish(waiting)
}
