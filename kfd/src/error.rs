//! What can go wrong: one variant for each operation.

use crate::process::Version;
use crate::topology::TopologyError;
use crate::uapi::AllocMemFlags;
use selvedge_sys::Errno;
use std::path::PathBuf;

/// An operation on the KFD failed. Every variant names the object and the values, and where there is
/// something to be done about it, says what.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// /dev/kfd cannot be opened.
    #[error("cannot open /dev/kfd: {errno}{}", open_remedy(*errno))]
    OpenDriver {
        /// Why.
        errno: Errno,
    },
    /// The value was made by another process, before fork.
    #[error("the KFD was opened by another process: after fork, the child must open it again")]
    Forked,
    /// GET_VERSION failed.
    #[error("the KFD does not tell its version: {errno}{}", fork_remedy(*errno))]
    GetVersion {
        /// Why.
        errno: Errno,
    },
    /// The kernel is too old, or too new to be known, for something.
    #[error(
        "{what} needs KFD {needed}, this kernel has {present}; use a newer Linux or amdgpu driver"
    )]
    NeedsVersion {
        /// What was asked for.
        what: &'static str,
        /// What it needs.
        needed: Version,
        /// What there is.
        present: Version,
    },
    /// CREATE_PROCESS failed.
    #[error("cannot create a secondary KFD context: {errno}; use Lifetime::Process")]
    CreateProcess {
        /// Why.
        errno: Errno,
    },
    /// Something that only the primary context of a process can do.
    #[error("{what} needs the process's primary KFD context; open with Lifetime::Process")]
    NeedsPrimary {
        /// What was asked for.
        what: &'static str,
    },
    /// The topology cannot be read.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// GET_PROCESS_APERTURES_NEW failed.
    #[error("cannot ask for the devices' apertures: {errno}{}", fork_remedy(*errno))]
    Apertures {
        /// Why.
        errno: Errno,
    },
    /// There is no such GPU for this process.
    #[error("gpu_id {gpu_id} is none of the GPUs the KFD shows this process ({})", list(known))]
    NoSuchGpu {
        /// What was asked for.
        gpu_id: u32,
        /// What there is.
        known: Vec<u32>,
    },
    /// The render node cannot be opened.
    #[error("cannot open {}: {errno}{}", path.display(), render_remedy(*errno))]
    OpenRenderNode {
        /// Its path.
        path: PathBuf,
        /// Why.
        errno: Errno,
    },
    /// Preparing the page tables before ACQUIRE_VM failed.
    #[error("gpu_id {gpu_id}: {step} failed while preparing the page tables: {errno}")]
    Bootstrap {
        /// The device.
        gpu_id: u32,
        /// The DRM call.
        step: &'static str,
        /// Why.
        errno: Errno,
    },
    /// ACQUIRE_VM failed.
    #[error("cannot acquire the page tables of gpu_id {gpu_id}: {errno}{}", fork_remedy(*errno))]
    AcquireVm {
        /// The device.
        gpu_id: u32,
        /// Why.
        errno: Errno,
    },
    /// Someone else in this process owns what a process has only once, and it could not be shared.
    #[error(
        "{what} is already held in this process by {holder} ({errno}); open with Lifetime::Instance \
         (KFD 1.19), or let only one of the two drive the GPU"
    )]
    HeldByAnother {
        /// What.
        what: &'static str,
        /// By whom, as far as can be told.
        holder: String,
        /// The kernel's answer.
        errno: Errno,
    },
    /// SET_MEMORY_POLICY failed.
    #[error("cannot set the memory policy of gpu_id {gpu_id}: {errno}")]
    MemoryPolicy {
        /// The device.
        gpu_id: u32,
        /// Why.
        errno: Errno,
    },
    /// RUNTIME_ENABLE failed.
    #[error("cannot enable the runtime: {errno}{}", runtime_remedy(*errno))]
    RuntimeEnable {
        /// Why.
        errno: Errno,
    },
    /// GET_CLOCK_COUNTERS failed.
    #[error("cannot read the clocks of gpu_id {gpu_id}: {errno}{}", fork_remedy(*errno))]
    ClockCounters {
        /// The device.
        gpu_id: u32,
        /// Why.
        errno: Errno,
    },
    /// AVAILABLE_MEMORY failed.
    #[error("cannot ask for the available memory of gpu_id {gpu_id}: {errno}")]
    AvailableMemory {
        /// The device.
        gpu_id: u32,
        /// Why.
        errno: Errno,
    },
    /// SET_SCRATCH_BACKING_VA failed.
    #[error("cannot set the scratch backing of gpu_id {gpu_id} to {address:#x}: {errno}")]
    ScratchBacking {
        /// The device.
        gpu_id: u32,
        /// The address.
        address: u64,
        /// Why.
        errno: Errno,
    },
    /// SET_TRAP_HANDLER failed.
    #[error("cannot set the trap handler of gpu_id {gpu_id} to {handler:#x}: {errno}")]
    TrapHandler {
        /// The device.
        gpu_id: u32,
        /// The handler's address.
        handler: u64,
        /// Why.
        errno: Errno,
    },
    /// SET_XNACK_MODE failed.
    #[error("cannot set XNACK mode {mode} (1 on, 0 off, −1 ask): {errno}{}", xnack_remedy(*errno))]
    Xnack {
        /// The mode.
        mode: i32,
        /// Why.
        errno: Errno,
    },
    /// No address space, or a bad size or alignment.
    #[error("cannot reserve {length} bytes of address space aligned to {alignment}: {errno}")]
    Reserve {
        /// Bytes.
        length: u64,
        /// Bytes.
        alignment: u64,
        /// Why.
        errno: Errno,
    },
    /// The range does not lie where the device can map memory.
    #[error(
        "{address:#x}..{:#x} is outside the addresses gpu_id {gpu_id} can map, {base:#x}..={limit:#x}",
        address.saturating_add(*length)
    )]
    OutsideAperture {
        /// The device.
        gpu_id: u32,
        /// The range's address.
        address: u64,
        /// The range's length, bytes.
        length: u64,
        /// The device's first address.
        base: u64,
        /// The device's last address.
        limit: u64,
    },
    /// ALLOC_MEMORY_OF_GPU failed.
    #[error(
        "cannot allocate {size} bytes of {flags:?} on gpu_id {gpu_id} at {address:#x}: {errno}{}",
        allocate_remedy(*errno, *flags)
    )]
    Allocate {
        /// The device.
        gpu_id: u32,
        /// Bytes.
        size: u64,
        /// Kind and attributes.
        flags: AllocMemFlags,
        /// Where.
        address: u64,
        /// Why.
        errno: Errno,
    },
    /// The CPU cannot map the memory.
    #[error("cannot map {size} bytes at {address:#x} for the CPU: {errno}")]
    MapForCpu {
        /// Where.
        address: u64,
        /// Bytes.
        size: u64,
        /// Why.
        errno: Errno,
    },
    /// MAP_MEMORY_TO_GPU failed.
    #[error(
        "cannot map {address:#x} (handle {handle:#x}) to devices {}: {done} done, then {errno}",
        list(devices)
    )]
    Map {
        /// The memory's address.
        address: u64,
        /// Its handle.
        handle: u64,
        /// The devices.
        devices: Vec<u32>,
        /// How many of them are mapped.
        done: usize,
        /// Why.
        errno: Errno,
    },
    /// UNMAP_MEMORY_FROM_GPU failed.
    #[error(
        "cannot unmap {address:#x} (handle {handle:#x}) from devices {}: {done} done, then {errno}",
        list(devices)
    )]
    Unmap {
        /// The memory's address.
        address: u64,
        /// Its handle.
        handle: u64,
        /// The devices.
        devices: Vec<u32>,
        /// How many of them are unmapped.
        done: usize,
        /// Why.
        errno: Errno,
    },
    /// FREE_MEMORY_OF_GPU failed.
    #[error("cannot free {address:#x} (handle {handle:#x}): {errno}")]
    Free {
        /// The memory's address.
        address: u64,
        /// Its handle.
        handle: u64,
        /// Why.
        errno: Errno,
    },
    /// An access past the end of an allocation, or one that is not aligned.
    #[error(
        "{length} bytes at offset {offset:#x} are not an aligned part of the {size} bytes at {address:#x}"
    )]
    OutOfBounds {
        /// The memory's address.
        address: u64,
        /// Its size, bytes.
        size: u64,
        /// The access's offset.
        offset: u64,
        /// The access's length.
        length: u64,
    },
    /// The CPU has no mapping of the memory.
    #[error("the CPU cannot see the memory at {address:#x}; allocate it with HOST_ACCESS")]
    NoHostAccess {
        /// The memory's address.
        address: u64,
    },
    /// What was given for a queue cannot work; the kernel was not asked, because a queue that fails
    /// late hangs the device's scheduler.
    #[error("a queue cannot work like this: {problem}")]
    QueueShape {
        /// What is wrong, with the values.
        problem: String,
    },
    /// CREATE_QUEUE failed.
    #[error(
        "cannot create {} queue on gpu_id {gpu_id} (ring {ring:#x}, {ring_size} bytes): {errno}{}",
        queue_kind(*queue_type),
        queue_remedy(*errno)
    )]
    CreateQueue {
        /// The device.
        gpu_id: u32,
        /// `QUEUE_TYPE_*`.
        queue_type: u32,
        /// The ring's address.
        ring: u64,
        /// The ring's size, bytes.
        ring_size: u32,
        /// Why.
        errno: Errno,
    },
    /// The doorbells cannot be mapped.
    #[error("cannot map the doorbells of gpu_id {gpu_id} (offset {offset:#x}): {errno}")]
    MapDoorbells {
        /// The device.
        gpu_id: u32,
        /// mmap offset on /dev/kfd.
        offset: u64,
        /// Why.
        errno: Errno,
    },
    /// UPDATE_QUEUE failed.
    #[error("cannot update queue {queue_id} of gpu_id {gpu_id}: {errno}")]
    UpdateQueue {
        /// The device.
        gpu_id: u32,
        /// The queue.
        queue_id: u32,
        /// Why.
        errno: Errno,
    },
    /// SET_CU_MASK failed.
    #[error("cannot restrict queue {queue_id} to compute units {mask:08x?}: {errno}")]
    CuMask {
        /// The queue.
        queue_id: u32,
        /// The mask.
        mask: Vec<u32>,
        /// Why.
        errno: Errno,
    },
    /// GET_QUEUE_WAVE_STATE failed.
    #[error(
        "cannot read the wave state of queue {queue_id}: {errno}; stop the queue first (percentage 0)"
    )]
    WaveState {
        /// The queue.
        queue_id: u32,
        /// Why.
        errno: Errno,
    },
    /// ALLOC_QUEUE_GWS failed.
    #[error("cannot give queue {queue_id} {count} global wave sync resources: {errno}")]
    QueueGws {
        /// The queue.
        queue_id: u32,
        /// How many.
        count: u32,
        /// Why.
        errno: Errno,
    },
    /// DESTROY_QUEUE failed. The queue's memory stays allocated.
    #[error(
        "cannot destroy queue {queue_id} of gpu_id {gpu_id}: {errno}; its memory is quarantined"
    )]
    DestroyQueue {
        /// The device.
        gpu_id: u32,
        /// The queue.
        queue_id: u32,
        /// Why.
        errno: Errno,
    },
    /// CREATE_EVENT failed.
    #[error("cannot create an event of type {event_type}: {errno}{}", fork_remedy(*errno))]
    CreateEvent {
        /// `EVENT_*`.
        event_type: u32,
        /// Why.
        errno: Errno,
    },
    /// All slots of the event page are in use.
    #[error("all {slots} slots for signal events are in use; share events or poll memory")]
    EventSlotsExhausted {
        /// How many there are.
        slots: usize,
    },
    /// SET_EVENT failed.
    #[error("cannot set event {event_id:#x}: {errno}")]
    SetEvent {
        /// The event.
        event_id: u32,
        /// Why.
        errno: Errno,
    },
    /// RESET_EVENT failed.
    #[error("cannot reset event {event_id:#x}: {errno}")]
    ResetEvent {
        /// The event.
        event_id: u32,
        /// Why.
        errno: Errno,
    },
    /// DESTROY_EVENT failed.
    #[error("cannot destroy event {event_id:#x}: {errno}")]
    DestroyEvent {
        /// The event.
        event_id: u32,
        /// Why.
        errno: Errno,
    },
    /// WAIT_EVENTS failed.
    #[error("cannot wait for {count} events: {errno}{}", fork_remedy(*errno))]
    Wait {
        /// How many.
        count: usize,
        /// Why.
        errno: Errno,
    },
    /// EXPORT_DMABUF failed.
    #[error("cannot export {address:#x} (handle {handle:#x}) as a dma-buf: {errno}")]
    ExportDmabuf {
        /// The memory's address.
        address: u64,
        /// Its handle.
        handle: u64,
        /// Why.
        errno: Errno,
    },
    /// IMPORT_DMABUF failed.
    #[error("gpu_id {gpu_id} cannot import dma-buf {fd} at {address:#x}: {errno}")]
    ImportDmabuf {
        /// The device.
        gpu_id: u32,
        /// The descriptor.
        fd: i32,
        /// Where.
        address: u64,
        /// Why.
        errno: Errno,
    },
    /// GET_DMABUF_INFO failed.
    #[error("cannot tell what dma-buf {fd} is: {errno}")]
    DmabufInfo {
        /// The descriptor.
        fd: i32,
        /// Why.
        errno: Errno,
    },
    /// SVM failed.
    #[error("cannot {operation} SVM attributes of {size} bytes at {address:#x}: {errno}{}", svm_remedy(*errno))]
    Svm {
        /// `set` or `read`.
        operation: &'static str,
        /// The range's address.
        address: u64,
        /// Its size, bytes.
        size: u64,
        /// Why.
        errno: Errno,
    },
    /// SMI_EVENTS, or reading them, failed.
    #[error("cannot {operation} system management events of gpu_id {gpu_id}: {errno}")]
    Smi {
        /// What was tried.
        operation: &'static str,
        /// The device.
        gpu_id: u32,
        /// Why.
        errno: Errno,
    },
}

impl Error {
    /// The kernel's answer, where there was one.
    pub fn errno(&self) -> Option<Errno> {
        use Error::*;
        match self {
            OpenDriver { errno }
            | GetVersion { errno }
            | CreateProcess { errno }
            | Apertures { errno }
            | OpenRenderNode { errno, .. }
            | Bootstrap { errno, .. }
            | AcquireVm { errno, .. }
            | HeldByAnother { errno, .. }
            | MemoryPolicy { errno, .. }
            | RuntimeEnable { errno }
            | ClockCounters { errno, .. }
            | AvailableMemory { errno, .. }
            | ScratchBacking { errno, .. }
            | TrapHandler { errno, .. }
            | Xnack { errno, .. }
            | Reserve { errno, .. }
            | Allocate { errno, .. }
            | MapForCpu { errno, .. }
            | Map { errno, .. }
            | Unmap { errno, .. }
            | Free { errno, .. }
            | CreateQueue { errno, .. }
            | MapDoorbells { errno, .. }
            | UpdateQueue { errno, .. }
            | CuMask { errno, .. }
            | WaveState { errno, .. }
            | QueueGws { errno, .. }
            | DestroyQueue { errno, .. }
            | CreateEvent { errno, .. }
            | SetEvent { errno, .. }
            | ResetEvent { errno, .. }
            | DestroyEvent { errno, .. }
            | Wait { errno, .. }
            | ExportDmabuf { errno, .. }
            | ImportDmabuf { errno, .. }
            | DmabufInfo { errno, .. }
            | Svm { errno, .. }
            | Smi { errno, .. }
            | Topology(TopologyError::Read { errno, .. }) => Some(*errno),
            EventSlotsExhausted { .. } => Some(Errno::ENOSPC),
            Forked => Some(Errno::EBADF),
            NeedsVersion { .. }
            | NeedsPrimary { .. }
            | Topology(_)
            | NoSuchGpu { .. }
            | OutsideAperture { .. }
            | OutOfBounds { .. }
            | NoHostAccess { .. }
            | QueueShape { .. } => None,
        }
    }
}

fn list(ids: &[u32]) -> String {
    match ids {
        [] => "none".to_owned(),
        _ => ids.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
    }
}

fn queue_kind(queue_type: u32) -> &'static str {
    match queue_type {
        crate::uapi::QUEUE_TYPE_COMPUTE => "a PM4",
        crate::uapi::QUEUE_TYPE_COMPUTE_AQL => "an AQL",
        _ => "an SDMA",
    }
}

fn open_remedy(errno: Errno) -> &'static str {
    match errno {
        Errno::ENOENT | Errno::ENODEV | Errno::ENXIO => {
            "; load the driver (modprobe amdgpu), and in a container pass --device /dev/kfd"
        }
        Errno::EACCES | Errno::EPERM => {
            "; add the user to the group that owns it (render), and in a container pass --device \
             /dev/kfd"
        }
        _ => "",
    }
}

fn render_remedy(errno: Errno) -> &'static str {
    match errno {
        Errno::EACCES | Errno::EPERM => "; add the user to the group that owns it (render)",
        Errno::ENOENT => "; in a container pass --device /dev/dri",
        _ => "",
    }
}

fn fork_remedy(errno: Errno) -> &'static str {
    match errno {
        Errno::EBADF => "; after fork, the child must open the device again",
        _ => "",
    }
}

fn runtime_remedy(errno: Errno) -> &'static str {
    match errno {
        Errno::EEXIST => {
            "; another library of this process has queues already: open the device first"
        }
        _ => "",
    }
}

fn xnack_remedy(errno: Errno) -> &'static str {
    match errno {
        Errno::EBUSY => "; choose it before the first queue",
        Errno::EPERM => "; no device of this machine can change it",
        _ => "",
    }
}

fn allocate_remedy(errno: Errno, flags: AllocMemFlags) -> &'static str {
    match errno {
        Errno::ENOMEM => "; the memory is in use or the system's limit for devices is reached",
        Errno::EINVAL if flags.contains(AllocMemFlags::VRAM | AllocMemFlags::PUBLIC) => {
            "; without a large BAR the CPU cannot see device memory"
        }
        Errno::EADDRINUSE => "; the range has SVM attributes",
        _ => "",
    }
}

fn queue_remedy(errno: Errno) -> &'static str {
    match errno {
        Errno::ENOSPC | Errno::ENOMEM => "; destroy queues that are not needed",
        Errno::EBUSY => "; all doorbells are in use",
        Errno::EINVAL => "; the kernel refused one of its buffers or sizes",
        _ => "",
    }
}

fn svm_remedy(errno: Errno) -> &'static str {
    match errno {
        Errno::EOPNOTSUPP => "; this kernel or device has no SVM",
        Errno::EPERM => "; SVM needs the primary context",
        _ => "",
    }
}
