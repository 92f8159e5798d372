//! What a wave runs when it traps or raises an exception.
//!
//! Linux's own handler comes first. When the process has none of its own, it lets a wave that executed `s_trap`
//! go on, and halts a wave with an exception without telling anybody (amdkfd/cwsr_trap_handler_gfx10.asm and _gfx12.asm,
//! `L_NO_NEXT_TRAP`); the kernel would never complete. With one, it goes on there: ours (`trap_handler/gfx11.s`,
//! `gfx12.s`) sends Linux an interrupt, from which the queue gets its exceptions, and halts the wave.
//!
//! Not reported, as these processors run waves with PRIV set and never enter a handler (LLVM's AMDGPU backend,
//! `FeaturePrivEnabledTrap2NopBug`; amdkfd/kfd_debug.h, `kfd_dbg_has_cwsr_workaround`): exceptions on gfx1100 to
//! gfx1103. What compilers emit there for `llvm.trap` sends the interrupt itself.

use crate::Error;
use aql::Generation;
use kfd::{Allocation, AllocationFlags};
use selvedge_sys::fork;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// `gfx11.s` and `gfx12.s`, assembled by `build.sh`.
const GFX11: &[u8] = include_bytes!("trap_handler/gfx11.bin");
const GFX12: &[u8] = include_bytes!("trap_handler/gfx12.bin");

/// The handlers that are installed: where the device is in memory, and the handler, which keeps it there.
static INSTALLED: Mutex<Vec<(usize, Weak<TrapHandler>)>> = Mutex::new(Vec::new());

/// An installed trap handler. Queues of the device must not outlive it.
#[derive(Debug)]
pub(super) struct TrapHandler {
    code: Arc<Allocation>,
    fork_generation: u32,
}

impl Drop for TrapHandler {
    fn drop(&mut self) {
        // A forked child has nothing installed, and may find the lock taken for ever.
        if self.fork_generation != fork::generation() {
            return;
        }
        let device = self.code.device();
        let mut installed = lock();
        installed.retain(|(_, handler)| handler.strong_count() != 0);
        // Another one may have taken its place since the last owner went.
        if !installed.iter().any(|(at, _)| *at == Arc::as_ptr(device).addr()) {
            // The device's queues are gone, so nothing is lost when Linux refuses.
            let _ = device.set_trap_handler(0, 0);
        }
    }
}

fn lock() -> MutexGuard<'static, Vec<(usize, Weak<TrapHandler>)>> {
    INSTALLED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Installs the trap handler of a process on a device, before its first queue. While it is installed, this gives
/// the same one again.
///
/// `None` on gfx9 and gfx10, whose trap registers differ and for which no handler has been written. What
/// stops a wave is then not reported, and a wait for its kernel ends at the deadline.
///
/// # Errors
/// [`Error::Kfd`] when Linux gives no memory or refuses the handler.
pub(super) fn install(
    device: &Arc<kfd::Device>,
    generation: Generation,
) -> Result<Option<Arc<TrapHandler>>, Error> {
    let binary = match generation {
        Generation::Gfx11 | Generation::Gfx115 => GFX11,
        Generation::Gfx12 => GFX12,
        _ => return Ok(None),
    };
    let at = Arc::as_ptr(device).addr();
    let mut installed = lock();
    // Only this device's handler is taken hold of: the last hold on another must not end here, under the lock.
    let known = installed.iter().filter(|(other, _)| *other == at);
    if let Some(handler) = known.filter_map(|(_, handler)| handler.upgrade()).next() {
        return Ok(Some(handler));
    }
    // System memory, where Linux keeps its own (kfd_process.c, kfd_process_device_init_cwsr_dgpu).
    let flags = AllocationFlags::GTT
        | AllocationFlags::PUBLIC
        | AllocationFlags::EXECUTABLE
        | AllocationFlags::NO_SUBSTITUTE;
    let code = device.allocate(binary.len() as u64, flags)?;
    for (word, bytes) in code.words()?.iter().zip(binary.as_chunks().0) {
        word.store(u32::from_le_bytes(*bytes), Ordering::Relaxed);
    }
    device.set_trap_handler(code.address(), 0)?;
    let handler = Arc::new(TrapHandler { code, fork_generation: fork::generation() });
    installed.push((at, Arc::downgrade(&handler)));
    Ok(Some(handler))
}
