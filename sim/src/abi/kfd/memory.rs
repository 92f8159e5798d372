//! Allocation, mapping and sharing of buffers (kfd_chardev.c, amdgpu_amdkfd_gpuvm.c).

use super::smi::{EvictionTrigger, SmiEvent, UnmapTrigger};
use super::{DOORBELL_SLICE, KfdProcess, MMAP_TYPE_MMIO, mmap_offset, split_handle, user_memory};
use crate::abi::buffer::{Buffer, Domain};
use crate::abi::drm::RenderFile;
use crate::abi::file::{Node, set_close_on_exec};
use crate::abi::handles::Handles;
use crate::abi::memory_type;
use crate::abi::process::Process;
use crate::abi::user;
use crate::board::{Held, PAGE, Use};
use crate::count::Token;
use crate::machine::Shared;
use crate::memory::{AddressSpace, MemoryType, Permissions};
use kfd::uapi::{self, AllocMemFlags};
use selvedge_sys::{Errno, OpenMode};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The most that kmalloc_array gives.
const KMALLOC_MAX: u64 = 4 << 20;
/// Page frame numbers of a 48-bit VM end here (`vm_manager.max_pfn`).
const VM_END: u64 = 1 << 48;

/// A buffer as the process has it (`struct kgd_mem`).
#[derive(Debug)]
pub(super) struct Allocation {
    pub(super) buffer: Arc<Buffer>,
    pub(super) va: u64,
    permissions: Permissions,
    /// Appears twice in a row (`AQL_QUEUE_MEM`, for gfx7 and gfx8).
    doubled: bool,
    is_vram: bool,
    imported: bool,
    /// The file through which it may be mapped.
    render: Arc<RenderFile>,
    /// GPUs it is mapped on, with their address spaces.
    mapped: BTreeMap<usize, Attachment>,
}

#[derive(Debug)]
struct Attachment {
    vm: Arc<AddressSpace>,
    _token: Token,
}

/// Where buffers are the process's own memory, for those who look by address.
#[derive(Debug, Default)]
pub(super) struct UserMemory {
    /// Start, GPU, and low half of the handle. Ranges may overlap.
    starts: BTreeSet<(u64, usize, u32)>,
    /// Bytes of the longest there has been.
    longest: u64,
}

impl UserMemory {
    fn insert(&mut self, gpu: usize, index: u32, buffer: &Buffer) {
        self.starts.insert((buffer.backing.host_address() as u64, gpu, index));
        self.longest = self.longest.max(buffer.size);
    }

    fn remove(&mut self, gpu: usize, index: u32, buffer: &Buffer) {
        self.starts.remove(&(buffer.backing.host_address() as u64, gpu, index));
    }

    /// GPU and handle of all buffers that may overlap `start..end`.
    fn near(&self, start: u64, end: u64) -> impl Iterator<Item = (usize, u32)> {
        let first = start.saturating_sub(self.longest);
        self.starts.range((first, 0, 0)..(end, 0, 0)).map(|&(_, gpu, index)| (gpu, index))
    }
}

impl Allocation {
    fn places(&self) -> impl Iterator<Item = u64> {
        let size = self.buffer.size;
        let va = self.va;
        (0..=u64::from(self.doubled)).map(move |copy| va.wrapping_add(copy * size))
    }

    /// `amdgpu_amdkfd_gpuvm_map_memory_to_gpu`: mapping again what is mapped does nothing.
    fn map(
        &mut self,
        gpu: usize,
        memory_type: MemoryType,
        vm: Arc<AddressSpace>,
        token: Token,
    ) -> Result<(), Errno> {
        if self.va == 0 {
            return Err(Errno::EINVAL);
        }
        if self.mapped.contains_key(&gpu) {
            return Ok(());
        }
        let size = self.buffer.size;
        let mut done = Vec::new();
        for va in self.places() {
            let end = va.checked_add(size);
            let fits = va.is_multiple_of(PAGE) && end.is_some_and(|end| end <= VM_END);
            let backing = self.buffer.backing.clone();
            let range = (va, size);
            if !fits || !vm.map_as(memory_type, range, backing, 0, self.permissions) {
                done.into_iter().for_each(|va| {
                    vm.unmap(va);
                });
                return Err(Errno::EINVAL);
            }
            done.push(va);
        }
        self.mapped.insert(gpu, Attachment { vm, _token: token });
        Ok(())
    }

    fn unmap(&mut self, gpu: usize) -> Result<(), Errno> {
        let attachment = self.mapped.remove(&gpu).ok_or(Errno::EINVAL)?;
        self.places().for_each(|va| {
            attachment.vm.unmap(va);
        });
        Ok(())
    }

    /// Whether it is mapped in `start..end` of an address space, or is the process's own memory there.
    pub(super) fn overlaps(&self, start: u64, end: u64) -> bool {
        let in_vm = !self.mapped.is_empty()
            && self.places().any(|va| va < end && va.saturating_add(self.buffer.size) > start);
        let own = self.buffer.backing.host_address() as u64;
        let in_own =
            self.buffer.domain == Domain::User && own < end && own + self.buffer.size > start;
        in_vm || in_own
    }

    /// Whether it takes a GPU's own memory.
    pub(super) fn is_in_vram(&self) -> bool {
        self.buffer.domain == Domain::Vram
    }

    /// Whether a GPU has it.
    pub(super) fn is_mapped_on(&self, gpu: usize) -> bool {
        self.mapped.contains_key(&gpu)
    }

    /// The process unmapped `start..end` of its memory: what shows it on a GPU shows nothing any
    /// more, and accesses fault (amdgpu_amdkfd_gpuvm.c, `update_invalid_user_pages`).
    /// Whether any did.
    fn forget_user_memory(&self, start: u64, end: u64) -> bool {
        let own = self.buffer.backing.host_address() as u64;
        if self.buffer.domain == Domain::User && own < end && own + self.buffer.size > start {
            for attachment in self.mapped.values() {
                self.places().for_each(|va| {
                    attachment.vm.unmap(va);
                });
            }
            return !self.mapped.is_empty();
        }
        false
    }

    /// Unmaps it everywhere, as when the process ends.
    pub(super) fn release(mut self) {
        for gpu in self.mapped.keys().copied().collect::<Vec<_>>() {
            let _ = self.unmap(gpu);
        }
        self.render.disallow(&self.buffer);
    }
}

fn permissions(flags: AllocMemFlags) -> Permissions {
    let mut permissions = Permissions::READ;
    permissions.set(Permissions::WRITE, flags.contains(AllocMemFlags::WRITABLE));
    permissions.set(Permissions::EXECUTE, flags.contains(AllocMemFlags::EXECUTABLE));
    permissions
}

impl KfdProcess {
    pub(super) fn alloc_memory(&self, args: &mut uapi::AllocMemoryOfGpuArgs) -> Result<(), Errno> {
        let flags = AllocMemFlags::from_bits_retain(args.flags);
        if args.size == 0 {
            return Err(Errno::EINVAL);
        }
        let mut state = self.lock();
        let vram = flags.contains(AllocMemFlags::VRAM);
        let userptr = flags.contains(AllocMemFlags::USERPTR);
        let without_va = args.va_addr == 0 && vram;
        if (!without_va && state.svm.overlaps(args.va_addr, args.size))
            || (userptr && state.svm.overlaps(args.mmap_offset, args.size))
        {
            return Err(Errno::EADDRINUSE);
        }
        let gpu = self.gpu(args.gpu_id)?;
        // Memory that the host sees is not to be had with a small BAR (`kfd_ioctl_alloc_memory_of_gpu`).
        if vram
            && flags.contains(AllocMemFlags::PUBLIC)
            && !self.machine.gpus[gpu].board.has_large_bar()
        {
            return Err(Errno::EINVAL);
        }
        let device = &mut state.devices[gpu];
        let render = device.render().cloned().ok_or(Errno::ENODEV)?;
        if flags.contains(AllocMemFlags::DOORBELL) {
            if args.size != DOORBELL_SLICE {
                return Err(Errno::EINVAL);
            }
        } else if flags.contains(AllocMemFlags::MMIO_REMAP) && args.size != PAGE {
            return Err(Errno::EINVAL);
        }
        let doubled = flags.contains(AllocMemFlags::AQL_QUEUE_MEM);
        let size = if doubled { args.size / 2 } else { args.size };
        if size == 0 {
            return Err(Errno::EINVAL);
        }
        let size = size.checked_next_multiple_of(PAGE).ok_or(Errno::ENOMEM)?;
        let machine = &self.machine;
        let board = &machine.gpus[gpu].board;
        let create = memory_type::create_flags(flags);
        let buffer = if vram {
            let domain =
                if board.vram_is_gtt(&machine.kernel) { Domain::Gtt } else { Domain::Vram };
            Buffer::allocate(machine, gpu, domain, size, create, Some(self.number))?
        } else if flags.contains(AllocMemFlags::GTT) {
            Buffer::allocate(machine, gpu, Domain::Gtt, size, create, None)?
        } else if userptr {
            self.user_buffer(gpu, args.mmap_offset, size, flags)?
        } else if flags.contains(AllocMemFlags::DOORBELL) {
            let pages = self.doorbells(gpu, device)?.pages.backing.clone();
            Buffer::over(machine, gpu, Domain::Registers, pages, 0, None)
        } else if flags.contains(AllocMemFlags::MMIO_REMAP) {
            Buffer::over(machine, gpu, Domain::Registers, machine.remap_page(gpu).1, 0, None)
        } else {
            return Err(Errno::EINVAL);
        };
        render.allow(&buffer);
        args.mmap_offset = if flags.contains(AllocMemFlags::MMIO_REMAP) {
            mmap_offset(MMAP_TYPE_MMIO, args.gpu_id)
        } else {
            buffer.offset
        };
        let allocation = Allocation {
            buffer,
            va: args.va_addr,
            permissions: permissions(flags),
            doubled,
            is_vram: vram,
            imported: false,
            render,
            mapped: BTreeMap::new(),
        };
        let is_user = allocation.buffer.domain == Domain::User;
        let buffer = allocation.buffer.clone();
        let index = insert(&mut device.buffers, allocation)?;
        if is_user {
            state.user_memory.insert(gpu, index, &buffer);
        }
        args.handle = handle(args.gpu_id, index);
        Ok(())
    }

    /// `init_user_pages`: memory of the process, which must be there.
    fn user_buffer(
        &self,
        gpu: usize,
        address: u64,
        size: u64,
        flags: AllocMemFlags,
    ) -> Result<Arc<Buffer>, Errno> {
        if address == 0 {
            return Err(Errno::EINVAL);
        }
        // Whole pages are mapped, from the one that `address` lies in on (`amdgpu_hmm_range_get_pages`).
        let address = address & !(PAGE - 1);
        // Only the primary's life is tied to that of the address space.
        if !self.is_primary {
            return Err(Errno::EOPNOTSUPP);
        }
        let reservation = self.machine.reserve(Use::User, gpu, size)?;
        let writable = flags.contains(AllocMemFlags::WRITABLE);
        if !user::present(address, size, writable) {
            return Err(Errno::EFAULT);
        }
        let create = memory_type::create_flags(flags);
        Ok(user_buffer(&self.machine, gpu, (address, size), create, reservation))
    }

    pub(super) fn free_memory(&self, args: &mut uapi::FreeMemoryOfGpuArgs) -> Result<(), Errno> {
        let mut state = self.lock();
        if state.signal_handle == Some(args.handle) {
            return Err(Errno::EPERM);
        }
        let (gpu_id, index) = split_handle(args.handle);
        let gpu = self.gpu(gpu_id)?;
        let state = &mut *state;
        let buffers = &mut state.devices[gpu].buffers;
        if !buffers.get(&index).ok_or(Errno::EINVAL)?.mapped.is_empty() {
            return Err(Errno::EBUSY);
        }
        if let Some(allocation) = buffers.remove(index) {
            state.user_memory.remove(gpu, index, &allocation.buffer);
            allocation.release();
        }
        Ok(())
    }

    pub(super) fn map_memory(&self, args: &mut uapi::MapMemoryToGpuArgs) -> Result<(), Errno> {
        let ids = device_ids(args.device_ids_array_ptr, args.n_devices, args.n_success)?;
        let mut state = self.lock();
        let (gpu_id, index) = split_handle(args.handle);
        let home = self.gpu(gpu_id)?;
        state.devices[home].vm()?;
        if !state.devices[home].buffers.contains_key(&index) {
            return Err(Errno::ENOMEM);
        }
        for (place, &id) in ids.iter().enumerate().skip(args.n_success as usize) {
            let gpu = self.gpu(id)?;
            let vm = state.devices[gpu].vm()?;
            let token = self.machine.counters.gpu_mappings.token();
            let allocation = state.devices[home].buffers.get_mut(index).ok_or(Errno::ENOMEM)?;
            if !self.reaches(gpu, allocation) {
                return Err(Errno::EINVAL);
            }
            let memory_type = memory_type::of_buffer(&self.machine, gpu, &allocation.buffer);
            allocation.map(gpu, memory_type, vm, token)?;
            args.n_success = place as u32 + 1;
        }
        Ok(())
    }

    /// Whether a GPU can be given a buffer: of other GPUs it must reach the VRAM, and for their doorbells and registers the bus
    /// must do (amdgpu_amdkfd_gpuvm.c, `kfd_mem_attach`).
    fn reaches(&self, gpu: usize, allocation: &Allocation) -> bool {
        let buffer = &allocation.buffer;
        if buffer.gpu == gpu || self.machine.gpus[gpu].board.vram_is_gtt(&self.machine.kernel) {
            return true;
        }
        let link = self.machine.link(gpu, buffer.gpu);
        match buffer.domain {
            Domain::Gtt | Domain::User => true,
            Domain::Vram => link.is_some(),
            // Whether or not there are links of their own.
            Domain::Registers => {
                self.machine.host.pcie_peers && self.machine.gpus[buffer.gpu].board.has_large_bar()
            }
        }
    }

    pub(super) fn unmap_memory(
        &self,
        args: &mut uapi::UnmapMemoryFromGpuArgs,
    ) -> Result<(), Errno> {
        let ids = device_ids(args.device_ids_array_ptr, args.n_devices, args.n_success)?;
        let mut state = self.lock();
        let (gpu_id, index) = split_handle(args.handle);
        let home = self.gpu(gpu_id)?;
        if !state.devices[home].buffers.contains_key(&index) {
            return Err(Errno::ENOMEM);
        }
        for (place, &id) in ids.iter().enumerate().skip(args.n_success as usize) {
            let gpu = self.gpu(id)?;
            let allocation = state.devices[home].buffers.get(&index).ok_or(Errno::ENOMEM)?;
            let in_use = |va| state.devices[gpu].queue_references.contains_key(&va);
            if allocation.mapped.contains_key(&gpu) && allocation.places().any(in_use) {
                return Err(Errno::EBUSY);
            }
            let allocation = state.devices[home].buffers.get_mut(index).ok_or(Errno::ENOMEM)?;
            allocation.unmap(gpu)?;
            args.n_success = place as u32 + 1;
        }
        Ok(())
    }

    pub(super) fn export_dmabuf(
        &self,
        linux: &Process,
        args: &mut uapi::ExportDmabufArgs,
    ) -> Result<(), Errno> {
        let (gpu_id, index) = split_handle(args.handle);
        let gpu = self.gpu(gpu_id)?;
        let state = self.lock();
        let allocation = state.devices[gpu].buffers.get(&index).ok_or(Errno::EINVAL)?;
        let (buffer, permissions) = (allocation.buffer.clone(), allocation.permissions);
        drop(state);
        // amdgpu_amdkfd_gpuvm.c, `kfd_mem_export_dmabuf`.
        let writable = permissions.contains(Permissions::WRITE);
        args.dmabuf_fd = export(linux, buffer, writable, args.flags.cast_signed())?;
        Ok(())
    }

    pub(super) fn import_dmabuf(
        &self,
        linux: &Process,
        args: &mut uapi::ImportDmabufArgs,
    ) -> Result<(), Errno> {
        let gpu = self.gpu(args.gpu_id)?;
        let mut state = self.lock();
        let device = &mut state.devices[gpu];
        let render = device.render().cloned().ok_or(Errno::ENODEV)?;
        let buffer = linux.dma_buf(args.dmabuf_fd.cast_signed())?;
        render.allow(&buffer);
        let allocation = Allocation {
            is_vram: buffer.domain == Domain::Vram,
            buffer,
            va: args.va_addr,
            permissions: Permissions::all(),
            doubled: false,
            imported: true,
            render,
            mapped: BTreeMap::new(),
        };
        args.handle = handle(args.gpu_id, insert(&mut device.buffers, allocation)?);
        Ok(())
    }

    pub(super) fn get_dmabuf_info(
        &self,
        linux: &Process,
        args: &mut uapi::GetDmabufInfoArgs,
    ) -> Result<(), Errno> {
        if self.machine.gpus.is_empty() {
            return Err(Errno::EINVAL);
        }
        let buffer = linux.dma_buf(args.dmabuf_fd.cast_signed())?;
        let metadata = buffer.metadata()?;
        let room = args.metadata_size;
        args.size = buffer.size;
        args.metadata_size = metadata.bytes.len() as u32;
        args.gpu_id = self.machine.gpus[buffer.gpu].id;
        let mut flags = match buffer.domain {
            Domain::Vram => AllocMemFlags::VRAM,
            _ => AllocMemFlags::GTT,
        };
        flags.set(AllocMemFlags::PUBLIC, buffer.domain == Domain::Vram);
        args.flags = flags.bits();
        if !metadata.bytes.is_empty() && room < metadata.bytes.len() as u32 {
            return Err(Errno::EINVAL);
        }
        if args.metadata_ptr != 0 && room != 0 {
            user::write(args.metadata_ptr, &metadata.bytes)?;
        }
        Ok(())
    }

    /// The process is about to unmap `start..end` of its address space (the MMU notifiers of
    /// amdgpu_hmm.c and kfd_svm.c).
    pub(crate) fn forget_user_memory(&self, start: u64, end: u64) {
        let mut guard = self.lock();
        let state = &mut *guard;
        let mut moved = false;
        for (gpu, index) in state.user_memory.near(start, end) {
            if let Some(buffer) = state.devices[gpu].buffers.get(&index) {
                moved |= buffer.forget_user_memory(start, end);
            }
        }
        for (gpu, first, last) in state.svm.mapped_in(start, end) {
            let (start, end) = (first / PAGE, last / PAGE);
            let trigger = UnmapTrigger::UnmapFromCpu;
            self.machine.tell(gpu, self.pid, &SmiEvent::UnmapFromGpu { start, end, trigger });
        }
        state.svm.forget(start, end, &state.devices);
        if moved {
            // Queues leave the hardware until the pages are looked for again
            // (`amdgpu_amdkfd_evict_userptr`, `amdgpu_amdkfd_restore_userptr_worker`).
            self.tell_of_eviction(state, EvictionTrigger::UserMemory);
            self.tell_of_restore(state);
        }
    }

    /// How many buffers of its own the process has.
    pub(super) fn buffer_count(&self) -> u32 {
        let state = self.lock();
        let own = |a: &&Allocation| !a.imported || a.is_vram;
        state.devices.iter().map(|d| d.buffers.values().filter(own).count() as u32).sum()
    }
}

/// A buffer of the process's own pages.
pub(crate) fn user_buffer(
    machine: &Arc<Shared>,
    gpu: usize,
    (address, size): (u64, u64),
    flags: u64,
    reservation: Held,
) -> Arc<Buffer> {
    let backing = Arc::new(user_memory::backing(address, size));
    Buffer::over(machine, gpu, Domain::User, backing, flags, Some(reservation))
}

/// A dma-buf file of a buffer. Of the flags only `O_CLOEXEC` counts (drivers/dma-buf/dma-buf.c, `dma_buf_fd`).
pub(crate) fn export(
    linux: &Process,
    buffer: Arc<Buffer>,
    writable: bool,
    flags: i32,
) -> Result<u32, Errno> {
    let file = buffer.export()?;
    set_close_on_exec(&file, flags & libc::O_CLOEXEC != 0)?;
    let mode = if writable { OpenMode::ReadWrite } else { OpenMode::ReadOnly };
    let fd = linux.install(file, Node::DmaBuf(buffer), mode);
    Ok(fd.cast_unsigned())
}

/// The low half of an allocation's handle.
fn insert(buffers: &mut Handles<Allocation>, allocation: Allocation) -> Result<u32, Errno> {
    buffers.insert(allocation).ok_or(Errno::ENOMEM)
}

/// `MAKE_HANDLE`
fn handle(gpu_id: u32, index: u32) -> u64 {
    u64::from(gpu_id) << 32 | u64::from(index)
}

fn device_ids(address: u64, count: u32, done: u32) -> Result<Vec<u32>, Errno> {
    if count == 0 || done > count {
        return Err(Errno::EINVAL);
    }
    if u64::from(count) * 4 > KMALLOC_MAX {
        return Err(Errno::ENOMEM);
    }
    let mut bytes = vec![0; count as usize * 4];
    user::read(address, &mut bytes)?;
    Ok(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
}
