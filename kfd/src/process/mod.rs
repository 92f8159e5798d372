//! The kernel's state for this process, and who owns it.

mod primary;

use crate::bootstrap::Bootstrap;
use crate::driver::Driver;
use crate::event::EventPage;
use crate::owner::Owner;
use crate::render::RenderFile;
use crate::topology::{self, Node, Topology};
use crate::uapi::{self, ProcessDeviceApertures, RuntimeMode};
use crate::{Device, Error, Result, holder};
use selvedge_sys::{Errno, File, OpenMode, System};
use std::fmt;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A version of the KFD's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Major version, 1.
    pub major: u32,
    /// Minor version.
    pub minor: u32,
}

impl Version {
    /// The oldest version that is supported: waits have event ages since.
    pub const MINIMUM: Version = Version { major: 1, minor: 14 };
    /// The first with secondary contexts.
    pub const SECONDARY: Version = Version { major: 1, minor: 19 };
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// How long the kernel's state lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lifetime {
    /// The primary context: one for the Linux process, shared with every library in it, kept until
    /// the process ends. User pointers and SVM need it. Another runtime (ROCr, HIP) that starts later
    /// in the same Linux process finds its page tables and event page taken.
    Process,
    /// A secondary context that dies with its [`Process`] value; KFD 1.19. No user pointers, no SVM.
    Instance,
    /// A secondary context where the kernel has them, else the primary one.
    #[default]
    Auto,
}

/// The kernel's kfd_process: the context that all objects of this crate live in.
///
/// The primary one exists once for a Linux process and machine ([`System::identity`]); opening it
/// again gives the same value. /dev/kfd and one render file for each GPU are opened once, and those
/// of the primary context stay open until the Linux process ends, because the kernel ties a GPU's
/// page tables to one open file for good. Fork while no other thread opens or drops a process: the
/// child could not open one.
pub struct Process {
    system: Arc<dyn System>,
    driver: ManuallyDrop<Driver>,
    owner: Owner,
    is_primary: bool,
    description: Description,
    state: Mutex<State>,
    quarantined: AtomicUsize,
}

/// What the kernel says once and for all.
#[derive(Debug)]
struct Description {
    version: Version,
    topology: Topology,
    apertures: Vec<ProcessDeviceApertures>,
}

impl Description {
    fn read(system: &Arc<dyn System>, driver: &Driver) -> Result<Description> {
        let version = Process::check_version(driver)?;
        let topology = Topology::read(&**system, Path::new(topology::ROOT))?;
        let apertures = driver.apertures().map_err(|errno| Error::Apertures { errno })?;
        Ok(Description { version, topology, apertures })
    }
}

/// What changes.
#[derive(Debug, Default)]
struct State {
    /// By gpu_id: the file whose page tables are the process's.
    render_files: Vec<(u32, Arc<RenderFile>)>,
    devices: Vec<(u32, Weak<Device>)>,
    event_page: Option<EventPage>,
    runtime_enabled: bool,
}

/// A panic in another thread leaves the guarded data whole: it is changed in single steps.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Process {
    /// Opens the KFD.
    ///
    /// # Errors
    /// When /dev/kfd cannot be opened, is too old, or has no context of the lifetime asked for; when
    /// the topology cannot be read.
    pub fn open(system: Arc<dyn System>, lifetime: Lifetime) -> Result<Arc<Process>> {
        if lifetime == Lifetime::Process {
            return primary::open(system, None);
        }
        let driver = Process::open_driver(&system)?;
        let version = Process::check_version(&driver)?;
        if version >= Version::SECONDARY {
            driver.create_process().map_err(|errno| Error::CreateProcess { errno })?;
            let description = Description::read(&system, &driver)?;
            return Ok(Process::build(system, driver, description, false, State::default()));
        }
        if lifetime == Lifetime::Instance {
            return Err(Error::NeedsVersion {
                what: "a secondary context",
                needed: Version::SECONDARY,
                present: version,
            });
        }
        primary::open(system, Some(driver))
    }

    fn open_driver(system: &Arc<dyn System>) -> Result<Driver> {
        Driver::open(system).map_err(|errno| Error::OpenDriver { errno })
    }

    fn check_version(driver: &Driver) -> Result<Version> {
        let version = driver.get_version().map_err(|errno| Error::GetVersion { errno })?;
        let present = Version { major: version.major_version, minor: version.minor_version };
        if present.major == Version::MINIMUM.major && present >= Version::MINIMUM {
            return Ok(present);
        }
        Err(Error::NeedsVersion { what: "this driver", needed: Version::MINIMUM, present })
    }

    fn build(
        system: Arc<dyn System>,
        driver: Driver,
        description: Description,
        is_primary: bool,
        state: State,
    ) -> Arc<Process> {
        Arc::new(Process {
            system,
            driver: ManuallyDrop::new(driver),
            owner: Owner::current(),
            is_primary,
            description,
            state: Mutex::new(state),
            quarantined: AtomicUsize::new(0),
        })
    }

    /// The system that is driven.
    pub fn system(&self) -> &Arc<dyn System> {
        &self.system
    }

    /// The kernel's version of the interface.
    pub fn version(&self) -> Version {
        self.description.version
    }

    /// Whether this is the Linux process's primary context.
    pub fn is_primary(&self) -> bool {
        self.is_primary
    }

    /// The machine, as it was when the process was opened.
    pub fn topology(&self) -> &Topology {
        &self.description.topology
    }

    /// The nodes with a GPU.
    pub fn gpus(&self) -> impl Iterator<Item = &Node> {
        self.description.topology.gpus()
    }

    /// How many kernel objects could not be released and are left alone.
    pub fn quarantined(&self) -> usize {
        self.quarantined.load(Ordering::Relaxed)
    }

    /// Counts an object that could not be released.
    pub(crate) fn quarantine(&self) {
        self.quarantined.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn driver(&self) -> &Driver {
        &self.driver
    }

    /// Whether the calling process is the one that opened this, and not its child.
    pub(crate) fn is_here(&self) -> bool {
        self.owner.is_current()
    }

    /// Fails in a forked child, where locks may be held by threads that do not exist.
    fn check_here(&self) -> Result<()> {
        if self.is_here() { Ok(()) } else { Err(Error::Forked) }
    }

    /// Fails unless the kernel's version is at least 1.`minor`.
    pub(crate) fn need_version(&self, what: &'static str, minor: u32) -> Result<()> {
        let needed = Version { major: 1, minor };
        if self.description.version >= needed {
            return Ok(());
        }
        Err(Error::NeedsVersion { what, needed, present: self.description.version })
    }

    /// Fails unless this is the primary context.
    pub(crate) fn need_primary(&self, what: &'static str) -> Result<()> {
        if self.is_primary { Ok(()) } else { Err(Error::NeedsPrimary { what }) }
    }

    /// The GPU of a node, its page tables acquired; the same value as long as someone holds it.
    ///
    /// # Errors
    /// [`Error::Forked`]; [`Error::NoSuchGpu`] for a node that is no GPU of this process;
    /// [`Error::OpenRenderNode`], [`Error::Bootstrap`], [`Error::AcquireVm`],
    /// [`Error::HeldByAnother`], [`Error::MemoryPolicy`]; [`Error::Map`] when the event page cannot be
    /// mapped to the device.
    pub fn device(self: &Arc<Process>, node: &Node) -> Result<Arc<Device>> {
        let gpu_id = node.gpu_id;
        let apertures =
            self.description.apertures.iter().find(|a| a.gpu_id == gpu_id && gpu_id != 0);
        let Some(&apertures) = apertures else {
            let known = self.description.apertures.iter().map(|a| a.gpu_id).collect();
            return Err(Error::NoSuchGpu { gpu_id, known });
        };
        self.check_here()?;
        let mut state = lock(&self.state);
        state.devices.retain(|(_, device)| device.strong_count() != 0);
        let known = state.devices.iter().find(|(id, _)| *id == gpu_id);
        if let Some(device) = known.and_then(|(_, device)| device.upgrade()) {
            return Ok(device);
        }
        let render_file = match state.render_files.iter().find(|(id, _)| *id == gpu_id) {
            Some((_, file)) => file.clone(),
            None => {
                let file = Arc::new(self.acquire_vm(node)?);
                // From here on it is the process's, whatever happens next.
                state.render_files.push((gpu_id, file.clone()));
                file
            }
        };
        self.set_memory_policy(gpu_id)?;
        let device = Arc::new(Device::new(self.clone(), node.clone(), render_file, apertures));
        if let Some(page) = &mut state.event_page {
            page.map_to(self, gpu_id)?;
        }
        state.devices.push((gpu_id, Arc::downgrade(&device)));
        Ok(device)
    }

    fn acquire_vm(&self, node: &Node) -> Result<RenderFile> {
        let gpu_id = node.gpu_id;
        let path = PathBuf::from(node.render_node());
        let file = File::open(&self.system, &path, OpenMode::ReadWrite)
            .map_err(|errno| Error::OpenRenderNode { path, errno })?;
        let file = RenderFile::new(file);
        let bootstrap = Bootstrap::run(&file, node)?;
        let acquired = self.driver.acquire_vm(file.fd(), gpu_id);
        drop(bootstrap);
        match acquired {
            Ok(()) => Ok(file),
            Err(errno @ Errno::EBUSY) => {
                drop(file);
                holder::join(&self.system, &self.driver, gpu_id).map(RenderFile::new).ok_or_else(
                    || Error::HeldByAnother {
                        what: "the GPU's page tables",
                        holder: holder::name(&*self.system),
                        errno,
                    },
                )
            }
            Err(errno) => Err(Error::AcquireVm { gpu_id, errno }),
        }
    }

    /// Memory is not coherent unless an allocation asks for it, as in every other runtime.
    fn set_memory_policy(&self, gpu_id: u32) -> Result<()> {
        self.driver
            .set_memory_policy(uapi::SetMemoryPolicyArgs {
                gpu_id,
                default_policy: uapi::CACHE_POLICY_NONCOHERENT,
                alternate_policy: uapi::CACHE_POLICY_COHERENT,
                ..uapi::SetMemoryPolicyArgs::default()
            })
            .map_err(|errno| Error::MemoryPolicy { gpu_id, errno })
    }

    /// Sees to it that queue errors reach this process, before its first queue. Whoever enabled the
    /// runtime already (EBUSY: another library of this process) did it for all.
    pub(crate) fn enable_runtime(&self) -> Result<()> {
        self.check_here()?;
        let mut state = lock(&self.state);
        if !state.runtime_enabled {
            match self.driver.runtime_enable(RuntimeMode::ENABLE) {
                Ok(()) | Err(Errno::EBUSY) => state.runtime_enabled = true,
                Err(errno) => return Err(Error::RuntimeEnable { errno }),
            }
        }
        Ok(())
    }

    /// Runs `use_page` with the event page, which `device`'s memory becomes when there is none yet.
    pub(crate) fn with_event_page<T>(
        &self,
        device: &Device,
        use_page: impl FnOnce(&EventPage) -> Result<T>,
    ) -> Result<T> {
        self.check_here()?;
        let mut state = lock(&self.state);
        let State { event_page, render_files, .. } = &mut *state;
        let page = match event_page {
            Some(page) => page,
            none => none.insert(EventPage::create(self, device)?),
        };
        for (gpu_id, _) in render_files {
            page.map_to(self, *gpu_id)?;
        }
        use_page(page)
    }

    /// The XNACK mode: whether waves can be retried after a page fault.
    ///
    /// A kernel built without SVM does not tell (EPERM; kfd_chardev.c, `kfd_ioctl_set_xnack_mode`). It
    /// is on there when amdgpu was loaded with `noretry=0` and every GPU is a gfx9 (kfd_process.c,
    /// `kfd_process_xnack_mode`).
    ///
    /// # Errors
    /// [`Error::Xnack`].
    pub fn xnack(&self) -> Result<bool> {
        match self.driver.xnack_mode(-1) {
            Ok(mode) => Ok(mode != 0),
            Err(Errno::EPERM) => {
                let parameter = Path::new("/sys/module/amdgpu/parameters/noretry");
                let retries = self.system.read_file(parameter).is_ok_and(|text| text == b"0\n");
                Ok(retries && self.gpus().all(|node| node.target().major == 9))
            }
            Err(errno) => Err(Error::Xnack { mode: -1, errno }),
        }
    }

    /// Chooses the XNACK mode, before the first queue.
    ///
    /// # Errors
    /// [`Error::Xnack`]: EBUSY when there are queues, EPERM when a device cannot do it.
    pub fn set_xnack(&self, enabled: bool) -> Result<()> {
        let mode = enabled.into();
        self.driver.xnack_mode(mode).map(drop).map_err(|errno| Error::Xnack { mode, errno })
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process")
            .field("system", &self.system)
            .field("version", &self.description.version)
            .field("is_primary", &self.is_primary)
            .field("quarantined", &self.quarantined())
            .finish_non_exhaustive()
    }
}
