//! Debugger, checkpoints and profiler (kfd_chardev.c, kfd_debug.c).

use super::KfdProcess;
use super::smi::EvictionTrigger;
use crate::abi::process::Process;
use crate::abi::user;
use kfd::uapi;
use selvedge_sys::Errno;
use zerocopy::IntoBytes;

/// `EALREADY`
const EALREADY: Errno = Errno(libc::EALREADY);

impl KfdProcess {
    /// DBG_TRAP. A process may debug itself: attaching, detaching and sending exceptions to its own runtime
    /// are modelled, the rest is not.
    pub(super) fn debug_trap(
        &self,
        linux: &Process,
        args: &mut uapi::DbgTrapArgs,
    ) -> Result<(), Errno> {
        if !self.is_primary {
            return Err(Errno::EOPNOTSUPP);
        }
        // Without ptrace there is nobody else to debug. The process may know itself by the host's id.
        if args.pid != self.pid && args.pid != std::process::id() {
            return Err(Errno::ESRCH);
        }
        let mut state = self.lock();
        if args.op != uapi::DBG_TRAP_ENABLE && !state.debug_enabled {
            // Detaching from nothing is the error of every other operation too.
            return Err(Errno::EINVAL);
        }
        match args.op {
            uapi::DBG_TRAP_ENABLE => {
                let mut enable: uapi::DbgTrapEnableArgs = args.data().ok_or(Errno::EINVAL)?;
                if state.debug_enabled {
                    return Err(EALREADY);
                }
                if !is_open(enable.dbg_fd.cast_signed())
                    && linux.file(enable.dbg_fd.cast_signed()).is_none()
                {
                    return Err(Errno::EBADF);
                }
                let info = uapi::RuntimeInfo {
                    r_debug: 0,
                    runtime_state: u32::from(state.runtime_enabled),
                    ttmp_setup: 0,
                };
                let size = size_of::<uapi::RuntimeInfo>();
                let copy = size.min(enable.rinfo_size as usize);
                enable.rinfo_size = size as u32;
                args.set_data(&enable);
                user::write(enable.rinfo_ptr, &info.as_bytes()[..copy])?;
                state.debug_enabled = true;
                Ok(())
            }
            uapi::DBG_TRAP_DISABLE => {
                state.debug_enabled = false;
                Ok(())
            }
            operation => Err(self.machine.refuse(format!("debugger operation {operation}"))),
        }
    }

    /// CRIU_OP
    pub(super) fn criu(&self, args: &mut uapi::CriuArgs) -> Result<(), Errno> {
        match args.op {
            uapi::CRIU_OP_PROCESS_INFO => {
                if self.machine.gpus.is_empty() {
                    return Err(Errno::ENODEV);
                }
                self.pause(true)?;
                args.pid = self.pid;
                args.num_devices = self.machine.gpus.len() as u32;
                args.num_bos = self.buffer_count();
                args.num_objects = 0;
                Ok(())
            }
            uapi::CRIU_OP_UNPAUSE => self.pause(false),
            uapi::CRIU_OP_CHECKPOINT
                if args.devices == 0 || args.bos == 0 || args.priv_data == 0 =>
            {
                Err(Errno::EINVAL)
            }
            uapi::CRIU_OP_RESTORE
                if args.devices == 0 || args.priv_data == 0 || args.priv_data_size == 0 =>
            {
                Err(Errno::EINVAL)
            }
            uapi::CRIU_OP_RESUME if args.pid != self.pid => Err(Errno::ESRCH),
            uapi::CRIU_OP_CHECKPOINT | uapi::CRIU_OP_RESTORE | uapi::CRIU_OP_RESUME => {
                Err(self.machine.refuse("checkpoint and restore".into()))
            }
            _ => Err(Errno::EINVAL),
        }
    }

    /// Stops or continues all queues.
    fn pause(&self, pause: bool) -> Result<(), Errno> {
        let mut state = self.lock();
        if !pause && !state.queues_paused {
            return Err(Errno::EINVAL);
        }
        state.queues_paused = pause;
        if pause {
            self.tell_of_eviction(&state, EvictionTrigger::Checkpoint);
        } else {
            self.tell_of_restore(&state);
        }
        state
            .queues
            .iter()
            .try_for_each(|(&id, queue)| self.signals.set_running(id, !pause && queue.is_active()))
    }

    /// PROFILER (Linux 7, `kfd_ioctl_profiler`)
    pub(super) fn profiler(&self, args: &mut uapi::ProfilerArgs) -> Result<(), Errno> {
        match args.op {
            uapi::PROFILER_VERSION => {
                args.data[0] = uapi::PROFILER_VERSION_NUM;
                Ok(())
            }
            uapi::PROFILER_PMC | uapi::PROFILER_PTL_CONTROL => {
                let gpu_id = args.data[0];
                self.gpu(gpu_id)?;
                Err(self.machine.refuse("performance counters".into()))
            }
            _ => Err(Errno::EINVAL),
        }
    }
}

/// Whether a descriptor of the host process is open.
fn is_open(fd: i32) -> bool {
    std::fs::symlink_metadata(format!("/proc/self/fd/{fd}")).is_ok()
}
