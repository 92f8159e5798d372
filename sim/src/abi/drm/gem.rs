//! Buffer objects and their addresses (amdgpu_gem.c, amdgpu_vm.c).

use super::RenderFile;
use crate::abi::buffer::{Buffer, Domain, Metadata};
use crate::abi::kfd::{export_buffer, user_buffer};
use crate::abi::memory_type;
use crate::abi::process::Process;
use crate::abi::user;
use crate::board::{PAGE, Use};
use crate::count::Token;
use crate::memory::{MemoryType, Permissions};
use kfd::uapi::amdgpu::{self as uapi, GemCreateFlags, GemDomain, GemUserptrFlags, GemVaFlags};
use selvedge_sys::{Errno, drm};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A buffer by handle, with where this file mapped it.
#[derive(Debug)]
pub(super) struct Handle {
    buffer: Arc<Buffer>,
    /// By start: length, and the count it stands for.
    mapped: BTreeMap<u64, (u64, Token)>,
}

/// Memory types of a mapping ([`GemVaFlags::mtype`]).
const VM_MTYPE_CC: u32 = 3;
const VM_MTYPE_UC: u32 = 4;

/// Below this no buffer can be mapped (`AMDGPU_VA_RESERVED_BOTTOM`).
const VA_BOTTOM: u64 = 1 << 16;
/// Non-canonical addresses (`AMDGPU_GMC_HOLE_START`, `_END`, `_MASK`).
const HOLE: std::ops::Range<u64> = 1 << 47..0xffff_8000_0000_0000;
const HOLE_MASK: u64 = 0xffff_ffff_ffff;
/// Size of a VM without what the kernel reserves at its top (`AMDGPU_VA_RESERVED_TOP`).
pub(super) const VM_BYTES: u64 = (1 << 48) - ((2 << 20) + (2 << 20) + (1 << 16));

/// `amdgpu_vm_verify_parameters`, and that the range is the buffer's.
fn check_mapping(buffer: &Buffer, va: u64, size: u64, offset: u64) -> Result<(), Errno> {
    let inside = offset.checked_add(size).is_some_and(|end| end <= buffer.size);
    if !(va | size | offset).is_multiple_of(PAGE) || size == 0 || !inside {
        return Err(Errno::EINVAL);
    }
    Ok(())
}

impl RenderFile {
    pub(super) fn gem_create(&self, args: &mut uapi::GemCreate) -> Result<(), Errno> {
        let wanted = args.in_;
        let flags = GemCreateFlags::from_bits_retain(wanted.domain_flags);
        let valid = GemCreateFlags::CPU_ACCESS_REQUIRED
            | GemCreateFlags::NO_CPU_ACCESS
            | GemCreateFlags::CPU_GTT_USWC
            | GemCreateFlags::VRAM_CLEARED
            | GemCreateFlags::VM_ALWAYS_VALID
            | GemCreateFlags::EXPLICIT_SYNC
            | GemCreateFlags::GFX12_DCC
            | GemCreateFlags::DISCARDABLE;
        let domains = GemDomain::from_bits_retain(wanted.domains);
        let known = GemDomain::CPU | GemDomain::GTT | GemDomain::VRAM | GemDomain::GDS;
        let known = known | GemDomain::GWS | GemDomain::OA;
        if !valid.contains(flags) || !known.contains(domains) || wanted.bo_size == 0 {
            return Err(Errno::EINVAL);
        }
        if domains.intersects(GemDomain::GDS | GemDomain::GWS | GemDomain::OA) {
            return Err(self.machine.refuse("buffers in GDS, GWS or OA".into()));
        }
        let domain = if domains.contains(GemDomain::VRAM) { Domain::Vram } else { Domain::Gtt };
        let mut flags = flags;
        // What does not fit where the host sees it is tried for without that.
        if domain == Domain::Vram
            && wanted.bo_size > self.machine.gpus[self.gpu].board.visible_vram_bytes()
        {
            flags -= GemCreateFlags::CPU_ACCESS_REQUIRED;
        }
        if self.machine.kernel.vram_cleared {
            flags |= GemCreateFlags::VRAM_CLEARED;
        }
        let mut preferred = domains;
        let allocate = |domain| {
            let (bytes, flags) = (wanted.bo_size, flags.bits());
            Buffer::allocate(&self.machine, self.gpu, domain, bytes, flags, None)
        };
        let buffer = match allocate(domain) {
            // What does not fit VRAM pushes others out for a while, and goes to system memory.
            Err(_) if domain == Domain::Vram => {
                self.machine.make_room(self.gpu);
                preferred |= GemDomain::GTT;
                allocate(Domain::Gtt)?
            }
            other => other?,
        };
        buffer.prefer(preferred);
        // The kernel keeps it as an int, in whole pages.
        buffer.align(u64::from(wanted.alignment as u32).next_multiple_of(PAGE));
        args.set_out(&uapi::GemCreateOut { handle: self.add(buffer)?, _pad: 0 });
        Ok(())
    }

    fn add(&self, buffer: Arc<Buffer>) -> Result<u32, Errno> {
        let named = Handle { buffer: buffer.clone(), mapped: BTreeMap::new() };
        self.allow(&buffer);
        let handle = self.state().buffers.insert(named);
        handle.ok_or_else(|| {
            self.disallow(&buffer);
            Errno::ENOSPC
        })
    }

    fn buffer(&self, handle: u32) -> Result<Arc<Buffer>, Errno> {
        self.state().buffers.get(&handle).map(|h| h.buffer.clone()).ok_or(Errno::ENOENT)
    }

    pub(super) fn gem_close(&self, handle: u32) -> Result<(), Errno> {
        let closed = self.state().buffers.remove(handle).ok_or(Errno::EINVAL)?;
        for &start in closed.mapped.keys() {
            self.vm.unmap(start);
        }
        self.disallow(&closed.buffer);
        Ok(())
    }

    pub(super) fn gem_mmap(&self, args: &mut uapi::GemMmap) -> Result<(), Errno> {
        let buffer = self.buffer(args.input().handle)?;
        let flags = GemCreateFlags::from_bits_retain(buffer.flags);
        if flags.contains(GemCreateFlags::NO_CPU_ACCESS) || buffer.domain == Domain::User {
            return Err(Errno::EPERM);
        }
        args.out = uapi::GemMmapOut { addr_ptr: buffer.offset };
        Ok(())
    }

    pub(super) fn gem_wait_idle(&self, args: &mut uapi::GemWaitIdle) -> Result<(), Errno> {
        self.buffer(args.in_.handle)?;
        // Submissions end before the call that makes them returns. The domain is never told.
        args.set_out(&uapi::GemWaitIdleOut { status: 0, domain: 0 });
        Ok(())
    }

    pub(super) fn gem_va(&self, args: &uapi::GemVa) -> Result<(), Errno> {
        let flags = GemVaFlags::from_bits_retain(args.flags);
        if args.va_address < VA_BOTTOM || HOLE.contains(&args.va_address) {
            return Err(Errno::EINVAL);
        }
        let va = args.va_address & HOLE_MASK;
        let size = args.map_size;
        let end = va.checked_add(size).filter(|&end| end <= VM_BYTES).ok_or(Errno::EINVAL)?;
        let valid = GemVaFlags::DELAY_UPDATE
            | GemVaFlags::READABLE
            | GemVaFlags::WRITEABLE
            | GemVaFlags::EXECUTABLE
            | GemVaFlags::NOALLOC;
        if !valid.contains(flags & !GemVaFlags::empty().with_mtype(0xf)) {
            if flags.contains(GemVaFlags::PRT) {
                return Err(self.machine.refuse("partially resident mappings".into()));
            }
            return Err(Errno::EINVAL);
        }
        match args.operation {
            uapi::VA_OP_MAP => self.va_map(args, va, size, flags)?,
            uapi::VA_OP_UNMAP => self.va_unmap(args.handle, va)?,
            uapi::VA_OP_CLEAR | uapi::VA_OP_REPLACE => {
                // What is wrong leaves the mappings as they are.
                if args.operation == uapi::VA_OP_REPLACE {
                    let buffer = self.buffer(args.handle)?;
                    check_mapping(&buffer, va, size, args.offset_in_bo)?;
                }
                self.va_clear(va, end)?;
                if args.operation == uapi::VA_OP_REPLACE {
                    self.va_map(args, va, size, flags)?;
                }
            }
            _ => return Err(Errno::EINVAL),
        }
        if args.vm_timeline_syncobj_out != 0 {
            let object = self.syncobj(args.vm_timeline_syncobj_out).ok_or(Errno::EINVAL)?;
            object.signal(args.vm_timeline_point);
        }
        Ok(())
    }

    /// `amdgpu_vm_bo_map`
    fn va_map(
        &self,
        args: &uapi::GemVa,
        va: u64,
        size: u64,
        flags: GemVaFlags,
    ) -> Result<(), Errno> {
        let mut state = self.state();
        let handle = state.buffers.get_mut(args.handle).ok_or(Errno::ENOENT)?;
        check_mapping(&handle.buffer, va, size, args.offset_in_bo)?;
        let mut permissions = Permissions::empty();
        permissions.set(Permissions::READ, flags.contains(GemVaFlags::READABLE));
        permissions.set(Permissions::WRITE, flags.contains(GemVaFlags::WRITEABLE));
        permissions.set(Permissions::EXECUTE, flags.contains(GemVaFlags::EXECUTABLE));
        let backing = handle.buffer.backing.clone();
        let memory_type = match flags.mtype() {
            VM_MTYPE_CC | VM_MTYPE_UC => MemoryType::Coherent,
            _ => memory_type::of_buffer(&self.machine, self.gpu, &handle.buffer),
        };
        let offset = args.offset_in_bo;
        if !self.vm.map_as(memory_type, (va, size), backing, offset, permissions) {
            return Err(Errno::EINVAL);
        }
        handle.mapped.insert(va, (size, self.machine.counters.gpu_mappings.token()));
        Ok(())
    }

    /// `amdgpu_vm_bo_unmap`: the whole mapping that starts there.
    fn va_unmap(&self, handle: u32, va: u64) -> Result<(), Errno> {
        let mut state = self.state();
        let handle = state.buffers.get_mut(handle).ok_or(Errno::ENOENT)?;
        handle.mapped.remove(&va).ok_or(Errno::ENOENT)?;
        self.vm.unmap(va);
        Ok(())
    }

    /// `amdgpu_vm_bo_clear_mappings`: what reaches out of the range is cut.
    fn va_clear(&self, start: u64, end: u64) -> Result<(), Errno> {
        if !(start | end).is_multiple_of(PAGE) || start == end {
            return Err(Errno::EINVAL);
        }
        let mut state = self.state();
        for handle in state.buffers.values_mut() {
            let hit: Vec<(u64, u64)> = handle
                .mapped
                .iter()
                .map(|(&at, &(size, _))| (at, at + size))
                .filter(|&(from, to)| from < end && to > start)
                .collect();
            for (from, to) in hit {
                handle.mapped.remove(&from);
                let parts = [(from, start.max(from)), (end.min(to), to)];
                for (from, to) in parts.into_iter().filter(|(from, to)| from < to) {
                    let token = self.machine.counters.gpu_mappings.token();
                    handle.mapped.insert(from, (to - from, token));
                }
            }
        }
        self.vm.clear(start, end);
        Ok(())
    }

    /// `amdgpu_gem_userptr_ioctl`: memory of the process as a buffer.
    pub(super) fn gem_userptr(&self, args: &mut uapi::GemUserptr) -> Result<(), Errno> {
        let flags = GemUserptrFlags::from_bits_retain(args.flags);
        let known = GemUserptrFlags::READONLY
            | GemUserptrFlags::ANONONLY
            | GemUserptrFlags::VALIDATE
            | GemUserptrFlags::REGISTER;
        if !(args.addr | args.size).is_multiple_of(PAGE) || !known.contains(flags) {
            return Err(Errno::EINVAL);
        }
        if !flags.intersects(GemUserptrFlags::READONLY | GemUserptrFlags::REGISTER) {
            return Err(Errno::EACCES);
        }
        if args.size == 0 {
            return Err(Errno::EINVAL);
        }
        // Pages that are not there now would be looked for by each submission.
        if !user::present(args.addr, args.size, !flags.contains(GemUserptrFlags::READONLY)) {
            return Err(Errno::EFAULT);
        }
        let reservation = self.machine.reserve(Use::User, self.gpu, args.size)?;
        let range = (args.addr, args.size);
        let buffer = user_buffer(&self.machine, self.gpu, range, 0, reservation);
        args.handle = self.add(buffer)?;
        Ok(())
    }

    /// The process is about to unmap `start..end` of its memory: what shows it on the GPU shows nothing any more.
    pub(crate) fn forget_user_memory(&self, start: u64, end: u64) {
        let state = self.state();
        for handle in state.buffers.values().filter(|h| h.buffer.domain == Domain::User) {
            let own = handle.buffer.backing.host_address() as u64;
            if own < end && own + handle.buffer.size > start {
                for (&at, &(size, _)) in &handle.mapped {
                    self.vm.clear(at, at + size);
                }
            }
        }
    }

    pub(super) fn gem_metadata(&self, args: &mut uapi::GemMetadata) -> Result<(), Errno> {
        let buffer = self.buffer(args.handle)?;
        let room = size_of_val(&args.data);
        match args.op {
            uapi::GEM_METADATA_OP_SET => {
                let size = args.data_size_bytes as usize;
                if size > room {
                    return Err(Errno::EINVAL);
                }
                let bytes = zerocopy::IntoBytes::as_bytes(&args.data)[..size].to_vec();
                let (flags, tiling) = (args.flags, args.tiling_info);
                buffer.set_metadata(Metadata { flags, tiling, bytes })?;
            }
            uapi::GEM_METADATA_OP_GET => {
                let metadata = buffer.metadata()?;
                args.flags = metadata.flags;
                args.tiling_info = metadata.tiling;
                args.data_size_bytes = metadata.bytes.len() as u32;
                let bytes = zerocopy::IntoBytes::as_mut_bytes(&mut args.data);
                bytes[..metadata.bytes.len()].copy_from_slice(&metadata.bytes);
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn gem_op(&self, args: &mut uapi::GemOp) -> Result<(), Errno> {
        let buffer = self.buffer(args.handle)?;
        match args.op {
            uapi::GEM_OP_GET_GEM_CREATE_INFO => {
                let info = uapi::GemCreateIn {
                    bo_size: buffer.size,
                    alignment: buffer.alignment(),
                    domains: buffer.preferred().bits(),
                    domain_flags: buffer.flags,
                };
                user::put(args.value, &info)
            }
            uapi::GEM_OP_SET_PLACEMENT if buffer.domain == Domain::User => Err(Errno::EPERM),
            // It says where the buffer goes should it move, which here it does not.
            uapi::GEM_OP_SET_PLACEMENT => {
                let places = GemDomain::CPU | GemDomain::GTT | GemDomain::VRAM;
                buffer.prefer(GemDomain::from_bits_retain(args.value) & places);
                Ok(())
            }
            uapi::GEM_OP_GET_MAPPING_INFO if self.machine.kernel.minor >= 18 => {
                Err(self.machine.refuse("GEM_OP of mappings".into()))
            }
            _ => Err(Errno::EINVAL),
        }
    }

    pub(super) fn prime_export(
        &self,
        linux: &Process,
        args: &mut drm::PrimeHandle,
    ) -> Result<(), Errno> {
        // `DRM_CLOEXEC` and `DRM_RDWR` (drm_prime.c, `drm_prime_handle_to_fd_ioctl`).
        let flags = args.flags.cast_signed();
        if flags & !(libc::O_CLOEXEC | libc::O_RDWR) != 0 {
            return Err(Errno::EINVAL);
        }
        let buffer = self.buffer(args.handle)?;
        // amdgpu_dma_buf.c, `amdgpu_gem_prime_export`.
        if buffer.flags & GemCreateFlags::VM_ALWAYS_VALID.bits() != 0 {
            return Err(Errno::EPERM);
        }
        let writable = flags & libc::O_RDWR != 0;
        args.fd = export_buffer(linux, buffer, writable, flags)?.cast_signed();
        Ok(())
    }

    pub(super) fn prime_import(
        &self,
        linux: &Process,
        args: &mut drm::PrimeHandle,
    ) -> Result<(), Errno> {
        let buffer = linux.dma_buf(args.fd)?;
        let known = {
            let state = self.state();
            state
                .buffers
                .iter()
                .find(|(_, h)| Arc::ptr_eq(&h.buffer, &buffer))
                .map(|(&handle, _)| handle)
        };
        args.handle = match known {
            Some(handle) => handle,
            None => self.add(buffer)?,
        };
        Ok(())
    }
}
