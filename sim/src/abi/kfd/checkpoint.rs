//! Checkpoints and profiler (kfd_chardev.c).

use super::KfdProcess;
use super::smi::EvictionTrigger;
use kfd::uapi;
use selvedge_sys::Errno;

impl KfdProcess {
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
