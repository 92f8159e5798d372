//! A system that answers from a script and writes down what it was asked.
#![expect(unsafe_code, reason = "plays the kernel behind ioctl and mmap")]

use kfd::uapi::{self, amdgpu, amdgpu::drm_request, request};
use selvedge_sys::uapi::{kind, number};
use selvedge_sys::{Errno, MapFlags, OpenMode, Protection, Readiness, System, drm};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::{OsString, c_void};
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub(crate) const GPU_ID: u32 = 0x1234;
pub(crate) const SECOND_GPU_ID: u32 = 0x2345;
pub(crate) const THIRD_GPU_ID: u32 = 0x3456;

type Waiter = Box<dyn FnOnce(&mut [uapi::EventData], &mut uapi::WaitEventsArgs) + Send>;

/// What the kernel knows and is told to answer.
#[derive(Default)]
pub(crate) struct Script {
    pub(crate) minor_version: u32,
    pub(crate) files: BTreeMap<PathBuf, Result<Vec<u8>, Errno>>,
    /// Reads of these files change the topology's generation, as often as is said.
    pub(crate) restless: usize,
    /// What was asked, in order.
    pub(crate) log: Vec<String>,
    /// Calls that fail: name, errno, how often.
    failures: Vec<(String, Errno, usize)>,
    /// The call of this number fails, counted down; with this errno.
    pub(crate) fail_at: Option<(usize, Errno)>,
    /// MAP and UNMAP stop after so many devices, with this errno, once each.
    pub(crate) partial: VecDeque<(u32, Errno)>,
    /// The devices that the last UNMAP named.
    pub(crate) unmapped_devices: Vec<u32>,
    pub(crate) waits: VecDeque<Waiter>,
    pub(crate) queues: Vec<uapi::CreateQueueArgs>,
    pub(crate) live_queues: BTreeSet<u32>,
    /// Where the next queues' doorbells lie in the process's slice, instead of one after another.
    pub(crate) doorbells: VecDeque<u64>,
    /// Where files were mapped, by their offsets.
    pub(crate) mapped: BTreeMap<u64, usize>,
    pub(crate) allocations: BTreeMap<u64, uapi::AllocMemoryOfGpuArgs>,
    pub(crate) events: BTreeSet<u32>,
    pub(crate) svm: Vec<(u32, Vec<uapi::SvmAttribute>)>,
    pub(crate) written: Vec<Vec<u8>>,
    pub(crate) readable: VecDeque<Vec<u8>>,
    pub(crate) open: BTreeMap<RawFd, PathBuf>,
    gpu_ids: Vec<u32>,
    vms: BTreeMap<u32, RawFd>,
    event_page: u64,
    runtime_enabled: bool,
    next: u32,
}

pub(crate) struct Scripted {
    script: Arc<Mutex<Script>>,
    owner: u32,
    is_running_kernel: bool,
}

impl std::fmt::Debug for Scripted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scripted")
    }
}

impl Scripted {
    /// Two gfx1151 GPUs on a kernel of the given version.
    pub(crate) fn new(minor_version: u32) -> Arc<Scripted> {
        let script = Script { minor_version, next: 1000, ..Script::default() };
        let script = Arc::new(Mutex::new(script));
        let system = Scripted { script, owner: std::process::id(), is_running_kernel: false };
        for (path, text) in [
            ("generation_id", "1\n"),
            ("system_properties", "platform_oem 1\nplatform_id 2\nplatform_rev 3\n"),
            ("nodes/0/gpu_id", "0\n"),
            ("nodes/0/name", "\n"),
            ("nodes/0/properties", "cpu_cores_count 16\n"),
        ] {
            system.file(path, text);
        }
        system.add_gpu(GPU_ID);
        system.add_gpu(SECOND_GPU_ID);
        Arc::new(system)
    }

    /// Another value for the same kernel, which counts as the running one.
    pub(crate) fn running(&self) -> Arc<Scripted> {
        let script = self.script.clone();
        Arc::new(Scripted { script, owner: self.owner, is_running_kernel: true })
    }

    /// One more gfx1151.
    pub(crate) fn add_gpu(&self, gpu_id: u32) {
        let mut script = self.script();
        script.gpu_ids.push(gpu_id);
        let index = script.gpu_ids.len();
        drop(script);
        self.file(&format!("nodes/{index}/gpu_id"), &format!("{gpu_id}\n"));
        self.file(&format!("nodes/{index}/name"), "ip discovery\n");
        let text = format!(
            "simd_count 80\nsimd_per_cu 2\narray_count 4\nsimd_arrays_per_engine 2\n\
             gfx_target_version 110501\ndrm_render_minor {}\nnum_xcc 1\n",
            127 + index
        );
        self.file(&format!("nodes/{index}/properties"), &text);
    }

    /// The script, also after a test has failed while it answered: destructors still need it.
    pub(crate) fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a file into the topology.
    pub(crate) fn file(&self, path: &str, text: &str) {
        let path = Path::new(kfd::topology::ROOT).join(path);
        self.script().files.insert(path, Ok(text.as_bytes().to_vec()));
    }

    /// Makes a call fail, `times` times.
    pub(crate) fn fail(&self, call: &str, errno: Errno, times: usize) {
        self.script().failures.push((call.to_owned(), errno, times));
    }

    /// Lets another file of this process hold a GPU's page tables.
    pub(crate) fn hold_vm(&self, gpu_id: u32, fd: RawFd) {
        self.script().vms.insert(gpu_id, fd);
    }

    /// What was asked since the last time.
    pub(crate) fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut self.script().log)
    }
}

/// Lines of a log that begin with one of the words.
pub(crate) fn only(log: &[String], words: &[&str]) -> Vec<String> {
    log.iter().filter(|line| words.contains(&line.split(' ').next().unwrap())).cloned().collect()
}

/// Runs a test in a forked child and says how it went.
pub(crate) fn in_child(test: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child only runs the test and leaves without running anything of its parent's.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            let passed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(test));
            libc::_exit(i32::from(!passed.unwrap_or(false)));
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
        libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
    }
}

impl Script {
    fn check(&mut self, name: &str, line: String) -> Result<(), Errno> {
        self.log.push(line);
        match &mut self.fail_at {
            // mmap is never interrupted.
            Some((_, Errno::EINTR)) if name.starts_with("mmap") => {}
            Some((0, errno)) => {
                let errno = *errno;
                self.fail_at = None;
                return Err(errno);
            }
            Some((left, _)) => *left -= 1,
            None => {}
        }
        match self.failures.iter_mut().find(|(call, _, times)| call == name && *times > 0) {
            Some((_, errno, times)) => {
                *times -= 1;
                Err(*errno)
            }
            None => Ok(()),
        }
    }

    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// # Safety
    /// `argument` goes with `word`.
    unsafe fn kfd(&mut self, word: u32, argument: *mut c_void) -> Result<i32, Errno> {
        let ioctl = request::by_number(number(word)).ok_or(Errno::ENOTTY)?;
        macro_rules! args {
            ($type:ty) => {
                // SAFETY: the request's argument.
                unsafe { &mut *argument.cast::<$type>() }
            };
        }
        let line = match ioctl.request {
            request::FREE_MEMORY_OF_GPU => {
                format!("FREE_MEMORY_OF_GPU {:#x}", args!(uapi::FreeMemoryOfGpuArgs).handle)
            }
            request::MAP_MEMORY_TO_GPU | request::UNMAP_MEMORY_FROM_GPU => {
                let args = args!(uapi::MapMemoryToGpuArgs);
                format!("{} {:#x} {}+{}", ioctl.name, args.handle, args.n_success, args.n_devices)
            }
            request::DESTROY_QUEUE => {
                format!("DESTROY_QUEUE {}", args!(uapi::DestroyQueueArgs).queue_id)
            }
            request::DESTROY_EVENT => {
                format!("DESTROY_EVENT {:#x}", args!(uapi::DestroyEventArgs).event_id)
            }
            request::RUNTIME_ENABLE => {
                format!("RUNTIME_ENABLE {}", args!(uapi::RuntimeEnableArgs).mode_mask)
            }
            _ => ioctl.name.to_owned(),
        };
        self.check(ioctl.name, line)?;
        match ioctl.request {
            request::GET_VERSION => {
                *args!(uapi::GetVersionArgs) =
                    uapi::GetVersionArgs { major_version: 1, minor_version: self.minor_version };
            }
            request::GET_PROCESS_APERTURES_NEW => {
                let args = args!(uapi::GetProcessAperturesNewArgs);
                let ids = self.gpu_ids.iter().enumerate();
                for (index, &gpu_id) in ids.take(args.num_of_nodes as usize) {
                    let entry =
                        args.kfd_process_device_apertures_ptr as *mut uapi::ProcessDeviceApertures;
                    // SAFETY: the array has `num_of_nodes` entries.
                    let entry = unsafe { &mut *entry.add(index) };
                    *entry = uapi::ProcessDeviceApertures {
                        gpu_id,
                        gpuvm_base: 0x1_0000,
                        gpuvm_limit: (1 << 47) - 1,
                        ..uapi::ProcessDeviceApertures::default()
                    };
                }
                args.num_of_nodes = u32::try_from(self.gpu_ids.len()).unwrap();
            }
            request::ACQUIRE_VM => {
                let args = args!(uapi::AcquireVmArgs);
                let drm_fd = args.drm_fd.cast_signed();
                if *self.vms.entry(args.gpu_id).or_insert(drm_fd) != drm_fd {
                    return Err(Errno::EBUSY);
                }
            }
            request::RUNTIME_ENABLE => {
                let was_enabled = std::mem::replace(&mut self.runtime_enabled, true);
                return if was_enabled { Err(Errno::EBUSY) } else { Ok(0) };
            }
            request::GET_CLOCK_COUNTERS => {
                let args = args!(uapi::GetClockCountersArgs);
                (args.gpu_clock_counter, args.cpu_clock_counter) = (1, 2);
                (args.system_clock_counter, args.system_clock_freq) = (3, 1_000_000_000);
            }
            request::AVAILABLE_MEMORY => args!(uapi::GetAvailableMemoryArgs).available = 1 << 30,
            request::SET_XNACK_MODE => args!(uapi::SetXnackModeArgs).xnack_enabled = 0,
            request::ALLOC_MEMORY_OF_GPU => {
                let number = u64::from(self.number());
                let args = args!(uapi::AllocMemoryOfGpuArgs);
                args.handle = u64::from(args.gpu_id) << 32 | number;
                self.allocations.insert(args.handle, *args);
                args.mmap_offset = number << 12;
            }
            request::FREE_MEMORY_OF_GPU => {
                let handle = args!(uapi::FreeMemoryOfGpuArgs).handle;
                self.allocations.remove(&handle).ok_or(Errno::EINVAL)?;
            }
            request::MAP_MEMORY_TO_GPU | request::UNMAP_MEMORY_FROM_GPU => {
                let args = args!(uapi::MapMemoryToGpuArgs);
                if ioctl.request == request::UNMAP_MEMORY_FROM_GPU {
                    let (first, count) = (args.device_ids_array_ptr, args.n_devices as usize);
                    // SAFETY: the array has `n_devices` entries.
                    let ids = unsafe { std::slice::from_raw_parts(first as *const u32, count) };
                    self.unmapped_devices = ids.to_vec();
                }
                if let Some((done, errno)) = self.partial.pop_front() {
                    args.n_success = done;
                    return Err(errno);
                }
                args.n_success = args.n_devices;
            }
            request::CREATE_QUEUE => {
                let queue_id = u32::try_from(self.queues.len()).unwrap();
                let args = args!(uapi::CreateQueueArgs);
                args.queue_id = queue_id;
                let place = self.doorbells.pop_front().unwrap_or(u64::from(queue_id * 8 + 64));
                args.doorbell_offset = 3 << 62 | u64::from(args.gpu_id) << 46 | place;
                self.queues.push(*args);
                self.live_queues.insert(queue_id);
            }
            request::DESTROY_QUEUE => {
                let id = args!(uapi::DestroyQueueArgs).queue_id;
                self.live_queues.take(&id).ok_or(Errno::EINVAL)?;
            }
            request::GET_QUEUE_WAVE_STATE => {
                let args = args!(uapi::GetQueueWaveStateArgs);
                (args.ctl_stack_used_size, args.save_area_used_size) = (16, 32);
            }
            request::CREATE_EVENT => {
                let args = args!(uapi::CreateEventArgs);
                if args.event_page_offset != 0 {
                    if self.event_page != 0 {
                        return Err(Errno::EINVAL);
                    }
                    self.event_page = args.event_page_offset;
                }
                let first = match args.event_type {
                    uapi::EVENT_SIGNAL => 0,
                    _ => 0x4000_0000,
                };
                let id = (first..).find(|id| !self.events.contains(id)).unwrap();
                self.events.insert(id);
                (args.event_id, args.event_slot_index) = (id, id);
            }
            request::DESTROY_EVENT => {
                let id = args!(uapi::DestroyEventArgs).event_id;
                self.events.take(&id).ok_or(Errno::EINVAL)?;
            }
            request::WAIT_EVENTS => {
                let args = args!(uapi::WaitEventsArgs);
                // SAFETY: the array has `num_events` entries.
                let events = unsafe {
                    std::slice::from_raw_parts_mut(
                        args.events_ptr as *mut uapi::EventData,
                        args.num_events as usize,
                    )
                };
                args.wait_result = uapi::WAIT_RESULT_TIMEOUT;
                if let Some(wait) = self.waits.pop_front() {
                    wait(events, args);
                }
            }
            request::EXPORT_DMABUF => {
                let fd = self.number();
                args!(uapi::ExportDmabufArgs).dmabuf_fd = fd;
                self.open.insert(fd.cast_signed(), "dma-buf".into());
            }
            request::GET_DMABUF_INFO => {
                let args = args!(uapi::GetDmabufInfoArgs);
                (args.size, args.gpu_id, args.metadata_size) = (8192, GPU_ID, 4);
                args.flags = uapi::AllocMemFlags::VRAM.bits();
                if args.metadata_ptr != 0 {
                    // SAFETY: the room is four bytes at least.
                    unsafe { (args.metadata_ptr as *mut [u8; 4]).write(*b"meta") };
                }
            }
            request::IMPORT_DMABUF => {
                let number = u64::from(self.number());
                let args = args!(uapi::ImportDmabufArgs);
                args.handle = u64::from(args.gpu_id) << 32 | number;
                self.allocations.insert(args.handle, uapi::AllocMemoryOfGpuArgs::default());
            }
            request::SMI_EVENTS => {
                let fd = self.number();
                args!(uapi::SmiEventsArgs).anon_fd = fd;
                self.open.insert(fd.cast_signed(), "smi".into());
            }
            request::SVM => {
                let args = args!(uapi::SvmArgs);
                let count = args.nattr as usize;
                assert_eq!(word, request::svm(count).unwrap());
                // SAFETY: `nattr` attributes follow the argument.
                let attributes = unsafe {
                    let first = std::ptr::from_mut(args).add(1).cast::<uapi::SvmAttribute>();
                    std::slice::from_raw_parts_mut(first, count)
                };
                self.svm.push((args.op, attributes.to_vec()));
                if args.op == uapi::SVM_OP_GET_ATTR {
                    for attribute in attributes {
                        match attribute.type_ {
                            uapi::SVM_ATTR_ACCESS => attribute.type_ = uapi::SVM_ATTR_NO_ACCESS,
                            uapi::SVM_ATTR_SET_FLAGS => attribute.value = 0x11,
                            uapi::SVM_ATTR_GRANULARITY => attribute.value = 9,
                            _ => attribute.value = uapi::SVM_LOCATION_UNDEFINED,
                        }
                    }
                }
            }
            _ => {}
        }
        Ok(0)
    }

    /// # Safety
    /// `argument` goes with `word`.
    unsafe fn drm(&mut self, word: u32, argument: *mut c_void) -> Result<i32, Errno> {
        let core = drm::REQUESTS.iter().map(|&(name, request, _)| (name, request));
        let mut known = drm_request::ALL.iter().copied().chain(core);
        let name = known.find(|(_, other)| number(*other) == number(word)).unwrap().0;
        self.check(name, name.to_owned())?;
        macro_rules! args {
            ($type:ty) => {
                // SAFETY: the request's argument.
                unsafe { &mut *argument.cast::<$type>() }
            };
        }
        match word {
            drm_request::INFO => {
                let args = args!(amdgpu::Info);
                match args.query {
                    amdgpu::INFO_HW_IP_INFO => {
                        let answer = amdgpu::InfoHwIp {
                            hw_ip_version_major: 6,
                            available_rings: 0b10,
                            ib_start_alignment: 256,
                            ib_size_alignment: 4,
                            ..amdgpu::InfoHwIp::default()
                        };
                        // SAFETY: there is room for the answer.
                        unsafe { (args.return_pointer as *mut amdgpu::InfoHwIp).write(answer) };
                    }
                    // SAFETY: there is room for the answer.
                    amdgpu::INFO_TIMESTAMP => unsafe {
                        (args.return_pointer as *mut u64).write(77);
                    },
                    _ => return Err(Errno::EINVAL),
                }
            }
            drm_request::CTX => args!(amdgpu::Ctx).set_context(5),
            drm_request::GEM_CREATE => {
                args!(amdgpu::GemCreate).set_out(&amdgpu::GemCreateOut { handle: 6, _pad: 0 });
            }
            drm_request::GEM_MMAP => args!(amdgpu::GemMmap).out.addr_ptr = 0x1_0000,
            drm_request::CS => args!(amdgpu::Cs).set_out(&amdgpu::CsOut { handle: 9 }),
            drm_request::WAIT_CS => {
                args!(amdgpu::WaitCs).set_out(&amdgpu::WaitCsOut { status: 0 });
            }
            drm::VERSION => {
                let args = args!(drm::Version);
                if args.name != 0 {
                    // SAFETY: there is room for six bytes, as the first answer asked for.
                    unsafe { (args.name as *mut [u8; 6]).write(*b"amdgpu") };
                }
                (args.version_major, args.version_minor, args.name_len) = (3, 57, 6);
            }
            _ => {}
        }
        Ok(0)
    }
}

// SAFETY: memory comes from the real mmap; the ioctls write what the UAPI says.
unsafe impl System for Scripted {
    fn open(&self, path: &Path, _: OpenMode) -> Result<RawFd, Errno> {
        let mut script = self.script();
        let name = format!("open {}", path.display());
        script.check(&name, name.clone())?;
        let fd = script.number().cast_signed();
        script.open.insert(fd, path.to_owned());
        Ok(fd)
    }

    fn close(&self, fd: RawFd) -> Result<(), Errno> {
        let mut script = self.script();
        let path = script.open.remove(&fd).ok_or(Errno::EBADF)?;
        script.log.push(format!("close {}", path.display()));
        Ok(())
    }

    unsafe fn ioctl(&self, fd: RawFd, word: u32, argument: *mut c_void) -> Result<i32, Errno> {
        let mut script = self.script();
        if !script.open.contains_key(&fd) || std::process::id() != self.owner {
            script.log.push("EBADF".to_owned());
            return Err(Errno::EBADF);
        }
        match kind(word) {
            // SAFETY: the caller's promise.
            request::BASE => unsafe { script.kfd(word, argument) },
            // SAFETY: the caller's promise.
            _ => unsafe { script.drm(word, argument) },
        }
    }

    unsafe fn mmap(
        &self,
        address: *mut c_void,
        length: usize,
        protection: Protection,
        flags: MapFlags,
        fd: RawFd,
        offset: u64,
    ) -> Result<*mut c_void, Errno> {
        let mut flags = flags.bits();
        if fd >= 0 {
            let mut script = self.script();
            let path = script.open.get(&fd).ok_or(Errno::EBADF)?.display().to_string();
            let line = format!("mmap {path} {offset:#x} {length}");
            script.check(&format!("mmap {path}"), line)?;
            flags = flags & !libc::MAP_SHARED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        }
        // SAFETY: the caller owns the range.
        let pointer = unsafe { libc::mmap(address, length, protection.bits(), flags, -1, 0) };
        if pointer == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        if fd >= 0 {
            self.script().mapped.insert(offset, pointer as usize);
        }
        Ok(pointer)
    }

    unsafe fn munmap(&self, address: *mut c_void, length: usize) -> Result<(), Errno> {
        self.script().log.push(format!("munmap {length}"));
        // SAFETY: the caller owns the range.
        match unsafe { libc::munmap(address, length) } {
            0 => Ok(()),
            _ => Err(Errno::last()),
        }
    }

    unsafe fn keep_from_children(&self, address: *mut c_void, length: usize) -> Result<(), Errno> {
        // SAFETY: the caller owns the range.
        match unsafe { libc::madvise(address, length, libc::MADV_DONTFORK) } {
            0 => Ok(()),
            _ => Err(Errno::last()),
        }
    }

    fn poll(&self, _: RawFd, _: Option<Duration>) -> Result<Readiness, Errno> {
        Ok(Readiness { readable: !self.script().readable.is_empty(), error: false })
    }

    fn read(&self, _: RawFd, buffer: &mut [u8]) -> Result<usize, Errno> {
        let bytes = self.script().readable.pop_front().ok_or(Errno::EAGAIN)?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    fn write(&self, _: RawFd, buffer: &[u8]) -> Result<usize, Errno> {
        self.script().written.push(buffer.to_vec());
        Ok(buffer.len())
    }

    fn read_file(&self, path: &Path) -> Result<Vec<u8>, Errno> {
        let mut script = self.script();
        if script.restless > 0 && path.ends_with("system_properties") {
            script.restless -= 1;
            let generation = script.restless.to_string().into_bytes();
            let path = Path::new(kfd::topology::ROOT).join("generation_id");
            script.files.insert(path, Ok([b"1", &*generation].concat()));
        }
        script.files.get(path).cloned().unwrap_or(Err(Errno::ENOENT))
    }

    fn list_directory(&self, path: &Path) -> Result<Vec<OsString>, Errno> {
        let script = self.script();
        if path == Path::new("/proc/self/fd") {
            return Ok(script.open.keys().map(|fd| fd.to_string().into()).collect());
        }
        let children = script.files.keys().filter_map(|file| file.strip_prefix(path).ok());
        let names: BTreeSet<OsString> =
            children.filter_map(|rest| Some(rest.iter().next()?.to_owned())).collect();
        if names.is_empty() { Err(Errno::ENOENT) } else { Ok(names.into_iter().collect()) }
    }

    fn identity(&self) -> usize {
        if self.is_running_kernel { 0 } else { std::ptr::from_ref(self) as usize }
    }

    fn description(&self) -> String {
        "scripted".to_owned()
    }

    fn is_simulated(&self) -> bool {
        true
    }
}
