//! Render nodes: DRM's core and amdgpu, as far as a KFD client needs them.
//!
//! - `info`: queries.
//! - `gem`: buffer objects and their addresses.
//! - `sync`: sync objects.
//! - `submit`: contexts and command submission.

mod gem;
mod info;
mod submit;
mod sync;

use super::buffer::Buffer;
use super::exchange::Call;
use super::handles::Handles;
use super::memory_type;
use super::process::{Mappable, Process};
use super::user;
use crate::count::Token;
use crate::machine::Shared;
use crate::memory::{AddressSpace, MemoryType};
use kfd::uapi::{SvmFlags, amdgpu as uapi};
use selvedge_sys::uapi::{kind, number};
use selvedge_sys::{Errno, drm};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zerocopy::IntoBytes;

/// Whether timestamps of displays are of the monotonic clock (`DRM_CAP_TIMESTAMP_MONOTONIC`).
const CAP_TIMESTAMP_MONOTONIC: u64 = 6;

/// What an open render node is (`struct amdgpu_fpriv`).
#[derive(Debug)]
pub(crate) struct RenderFile {
    machine: Arc<Shared>,
    pub(crate) gpu: usize,
    pub(crate) vm: Arc<AddressSpace>,
    /// Whether a kfd_process has the VM.
    compute: AtomicBool,
    /// Buffers that may be mapped through this file, by mmap offset, with how often they were allowed
    /// (`drm_vma_node_allow`).
    allowed: Mutex<BTreeMap<u64, (Arc<Buffer>, u32)>>,
    state: Mutex<State>,
    _token: Token,
}

/// Objects of a file by handle.
#[derive(Debug)]
struct State {
    buffers: Handles<gem::Handle>,
    contexts: Handles<submit::Context>,
    buffer_lists: Handles<()>,
    sync_objects: Handles<sync::SyncObject>,
}

impl Default for State {
    /// DRM's handles start at 1.
    fn default() -> State {
        State {
            buffers: Handles::starting_at(1),
            contexts: Handles::starting_at(1),
            buffer_lists: Handles::starting_at(1),
            sync_objects: Handles::starting_at(1),
        }
    }
}

impl RenderFile {
    pub(crate) fn new(machine: &Arc<Shared>, gpu: usize) -> Arc<RenderFile> {
        Arc::new(RenderFile {
            machine: machine.clone(),
            gpu,
            vm: machine.gpus[gpu].address_space(),
            compute: AtomicBool::new(false),
            allowed: Mutex::default(),
            state: Mutex::default(),
            _token: machine.counters.vms.token(),
        })
    }

    /// How a range of shared virtual memory is mapped on the GPU.
    pub(crate) fn memory_type_of_range(&self, flags: SvmFlags) -> MemoryType {
        memory_type::of_range(&self.machine, self.gpu, flags)
    }

    fn allowed(&self) -> MutexGuard<'_, BTreeMap<u64, (Arc<Buffer>, u32)>> {
        self.allowed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `amdgpu_amdkfd_gpuvm_acquire_process_vm`: false when a kfd_process has it already.
    pub(crate) fn acquire_compute(&self) -> bool {
        !self.compute.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn release_compute(&self) {
        self.compute.store(false, Ordering::Release);
    }

    pub(crate) fn allow(&self, buffer: &Arc<Buffer>) {
        if buffer.offset != 0 {
            self.allowed().entry(buffer.offset).or_insert_with(|| (buffer.clone(), 0)).1 += 1;
        }
    }

    pub(crate) fn disallow(&self, buffer: &Arc<Buffer>) {
        let mut allowed = self.allowed();
        if let Some((_, count)) = allowed.get_mut(&buffer.offset) {
            *count -= 1;
            if *count == 0 {
                allowed.remove(&buffer.offset);
            }
        }
    }

    /// `drm_gem_mmap`: the offset must be a buffer's start, the length at most its size. Of VRAM beyond a small BAR, too:
    /// when the host looks at it, Linux moves it behind the BAR or to system memory (`amdgpu_bo_fault_reserve_notify`),
    /// which nobody sees but by its time.
    pub(crate) fn mmap(&self, offset: u64, length: u64, cow: bool) -> Result<Mappable, Errno> {
        let allowed = self.allowed();
        let (buffer, _) = allowed.get(&offset).ok_or(Errno::EINVAL)?;
        // Device memory cannot be copied on write (ttm_bo_vm.c, `ttm_bo_mmap_obj`).
        if length > buffer.size || cow {
            return Err(Errno::EINVAL);
        }
        Ok((buffer.offset, buffer.backing.clone()))
    }
}

/// `drm_ioctl`: as to the KFD's dispatcher, the number says what is called; but the argument is copied only in the
/// directions that the caller declares, too. A bad type is ENOTTY, a bad number EINVAL.
pub(crate) fn ioctl(linux: &Process, file: &Arc<RenderFile>, call: Call) -> Result<i32, Errno> {
    use selvedge_sys::uapi::Direction::{ReadWrite, Write};
    if kind(call.request) != drm::BASE {
        return Err(Errno::ENOTTY);
    }
    let call = call.as_declared();
    let nr = number(call.request);
    let gem_va_bytes =
        if file.machine.kernel.has_timelines() { size_of::<uapi::GemVa>() } else { 40 };
    match nr {
        0x00 => call.exchange(ReadWrite, |args| file.version(args)),
        0x05 => call.exchange(ReadWrite, |args| client(linux, args)),
        0x09 => call.exchange(Write, |args: &mut drm::GemClose| file.gem_close(args.handle)),
        0x0c => call.exchange(ReadWrite, |args| file.get_cap(args)),
        0x2d => call.exchange(ReadWrite, |args| file.prime_export(linux, args)),
        0x2e => call.exchange(ReadWrite, |args| file.prime_import(linux, args)),
        0xbf => call.exchange(ReadWrite, |args| file.syncobj_create(args)),
        0xc0 => call.exchange(ReadWrite, |args: &mut drm::SyncobjDestroy| {
            file.syncobj_destroy(args.handle)
        }),
        0xc3 => call.exchange(ReadWrite, |args| file.syncobj_wait(linux, args)),
        0xc4 => call.exchange(ReadWrite, |args| file.syncobj_reset(args)),
        0xc5 => call.exchange(ReadWrite, |args| file.syncobj_signal(args)),
        0xca => call.exchange(ReadWrite, |args| file.syncobj_timeline_wait(linux, args)),
        0xcb => call.exchange(ReadWrite, |args| file.syncobj_query(args)),
        0xcc => call.exchange(ReadWrite, |args| file.syncobj_transfer(args)),
        0xcd => call.exchange(ReadWrite, |args| file.syncobj_timeline_signal(args)),
        _ => match nr.wrapping_sub(drm::COMMAND_BASE) {
            0x00 => call.exchange(ReadWrite, |args| file.gem_create(args)),
            0x01 => call.exchange(ReadWrite, |args| file.gem_mmap(args)),
            0x02 => call.exchange(ReadWrite, |args| file.context(args)),
            0x03 => call.exchange(ReadWrite, |args| file.bo_list(args)),
            0x04 => call.exchange(ReadWrite, |args| file.submit(args)),
            0x05 => call.exchange(Write, |args| file.info(args)),
            0x06 => call.exchange(ReadWrite, |args| file.gem_metadata(args)),
            0x07 => call.exchange(ReadWrite, |args| file.gem_wait_idle(args)),
            0x08 => call.bytes(Write, gem_va_bytes, |bytes, user_size| {
                let mut args = uapi::GemVa::default();
                let length = user_size.min(gem_va_bytes);
                args.as_mut_bytes()[..length].copy_from_slice(&bytes[..length]);
                file.gem_va(&args)
            }),
            0x09 => call.exchange(ReadWrite, |args| file.wait_submission(args)),
            0x10 => call.exchange(ReadWrite, |args| file.gem_op(args)),
            0x11 => call.exchange(ReadWrite, |args| file.gem_userptr(args)),
            0x13 => call.exchange(ReadWrite, reserve_vmid),
            // SCHED is the master's (`drm_ioctl_permit`).
            0x15 => Err(Errno::EACCES),
            number @ (0x0a..=0x0f | 0x12 | 0x14 | 0x16..=0x1f) => {
                Err(file.machine.refuse(format!("amdgpu DRM ioctl {number:#04x}")))
            }
            _ if is_for_primaries(nr) => Err(Errno::EACCES),
            _ if matches!(nr, 0xc1 | 0xc2 | 0xcf) => {
                Err(file.machine.refuse(format!("DRM ioctl {nr:#04x}")))
            }
            _ => Err(Errno::EINVAL),
        },
    }
}

/// Whether DRM's core has a call that is not for render nodes (drm_ioctl.c, `drm_ioctls` without `DRM_RENDER_ALLOW`;
/// `drm_ioctl_permit`): of authentication, leases and displays. Numbers of calls that Linux 6.8 took away count as
/// unknown.
fn is_for_primaries(nr: u8) -> bool {
    matches!(
        nr,
        0x01 | 0x02 | 0x06..=0x08 | 0x0a | 0x0b | 0x0d | 0x10..=0x13 | 0x1e | 0x1f | 0x27 | 0x28 | 0x2c
            | 0x3a..=0x3c | 0x3f | 0xa0..=0xbe | 0xc6..=0xc9 | 0xce | 0xd0
    )
}

/// VM (`amdgpu_vm_ioctl`): a VMID is reserved, or free again. The argument is operation and flags.
fn reserve_vmid(args: &mut u64) -> Result<(), Errno> {
    const RESERVE: u32 = 1;
    const UNRESERVE: u32 = 2;
    let (operation, flags) = (*args as u32, (*args >> 32) as u32);
    if flags != 0 || !matches!(operation, RESERVE | UNRESERVE) {
        return Err(Errno::EINVAL);
    }
    Ok(())
}

/// GET_CLIENT: only the caller's own file can be asked for; a render node's client is authenticated.
fn client(linux: &Process, args: &mut drm::Client) -> Result<(), Errno> {
    if args.idx != 0 {
        return Err(Errno::EINVAL);
    }
    // `overflowuid`
    let uid = 65534;
    *args = drm::Client { auth: 1, pid: u64::from(linux.pid()), uid, ..drm::Client::default() };
    Ok(())
}

impl RenderFile {
    /// VERSION: amdgpu 3.x. Strings are cut to the space given, and their true lengths returned.
    fn version(&self, args: &mut drm::Version) -> Result<(), Errno> {
        let kernel = &self.machine.kernel;
        (args.version_major, args.version_minor) = (3, kernel.amdgpu_minor);
        args.version_patchlevel = 0;
        for (length, address, text) in [
            (&mut args.name_len, args.name, "amdgpu"),
            // Since 6.14 no driver says a date (drm_ioctl.c, `drm_version`).
            (&mut args.date_len, args.date, if kernel.minor >= 18 { "0" } else { "20150101" }),
            (&mut args.desc_len, args.desc, "AMD GPU"),
        ] {
            let copy = (*length as usize).min(text.len());
            *length = text.len() as u64;
            if address != 0 {
                user::write(address, &text.as_bytes()[..copy])?;
            }
        }
        Ok(())
    }

    fn get_cap(&self, args: &mut drm::GetCap) -> Result<(), Errno> {
        args.value = match args.capability {
            // Import and export.
            drm::CAP_PRIME => 3,
            drm::CAP_SYNCOBJ | drm::CAP_SYNCOBJ_TIMELINE | CAP_TIMESTAMP_MONOTONIC => 1,
            // What remains concerns displays.
            _ => return Err(Errno::EOPNOTSUPP),
        };
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RenderFile {
    fn drop(&mut self) {
        let handles: Vec<u32> = self.state().buffers.keys().copied().collect();
        for handle in handles {
            let _ = self.gem_close(handle);
        }
    }
}
