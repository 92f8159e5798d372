//! Request words, and which KFD has which ioctl.

use super::*;
use selvedge_sys::uapi::{Direction, request};

/// The type letter of the KFD's ioctls (`AMDKFD_IOCTL_BASE`).
pub const BASE: u8 = b'K';

/// What there is to know about an ioctl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ioctl {
    /// The kernel's name without `AMDKFD_IOC_`.
    pub name: &'static str,
    /// The request word.
    pub request: u32,
    /// The argument struct's name in this module, or empty.
    pub argument: &'static str,
    /// The KFD minor version that introduced it. The header's history begins with 1.1, so 1 means
    /// "from the beginning".
    pub minor_version: u32,
}

macro_rules! ioctls {
    ($($name:ident $direction:ident $number:literal $argument:ident $minor:literal;)*) => {
        $(
            #[doc = concat!("`AMDKFD_IOC_", stringify!($name), "`: [`", stringify!($argument), "`], KFD 1.", $minor, ".")]
            pub const $name: u32 =
                request(Direction::$direction, BASE, $number, size_of::<$argument>());
        )*

        /// All ioctls with an argument, in the order of their numbers; and CREATE_PROCESS.
        pub const ALL: &[Ioctl] = &[
            $(Ioctl {
                name: stringify!($name),
                request: $name,
                argument: stringify!($argument),
                minor_version: $minor,
            },)*
            Ioctl { name: "CREATE_PROCESS", request: CREATE_PROCESS, argument: "", minor_version: 19 },
        ];
    };
}

/// `AMDKFD_IOC_CREATE_PROCESS`: no argument, KFD 1.19.
pub const CREATE_PROCESS: u32 = request(Direction::None, BASE, 0x27, 0);

ioctls! {
    GET_VERSION               Read      0x01 GetVersionArgs             1;
    CREATE_QUEUE              ReadWrite 0x02 CreateQueueArgs            1;
    DESTROY_QUEUE             ReadWrite 0x03 DestroyQueueArgs           1;
    SET_MEMORY_POLICY         Write     0x04 SetMemoryPolicyArgs        1;
    GET_CLOCK_COUNTERS        ReadWrite 0x05 GetClockCountersArgs       1;
    GET_PROCESS_APERTURES     Read      0x06 GetProcessAperturesArgs    1;
    UPDATE_QUEUE              Write     0x07 UpdateQueueArgs            1;
    CREATE_EVENT              ReadWrite 0x08 CreateEventArgs            1;
    DESTROY_EVENT             Write     0x09 DestroyEventArgs           1;
    SET_EVENT                 Write     0x0a SetEventArgs               1;
    RESET_EVENT               Write     0x0b ResetEventArgs             1;
    WAIT_EVENTS               ReadWrite 0x0c WaitEventsArgs             1;
    DBG_REGISTER_DEPRECATED   Write     0x0d DbgRegisterArgs            1;
    DBG_UNREGISTER_DEPRECATED Write     0x0e DbgUnregisterArgs          1;
    DBG_ADDRESS_WATCH_DEPRECATED Write  0x0f DbgAddressWatchArgs        1;
    DBG_WAVE_CONTROL_DEPRECATED Write   0x10 DbgWaveControlArgs         1;
    SET_SCRATCH_BACKING_VA    ReadWrite 0x11 SetScratchBackingVaArgs    1;
    GET_TILE_CONFIG           ReadWrite 0x12 GetTileConfigArgs          1;
    SET_TRAP_HANDLER          Write     0x13 SetTrapHandlerArgs         1;
    GET_PROCESS_APERTURES_NEW ReadWrite 0x14 GetProcessAperturesNewArgs 1;
    ACQUIRE_VM                Write     0x15 AcquireVmArgs              1;
    ALLOC_MEMORY_OF_GPU       ReadWrite 0x16 AllocMemoryOfGpuArgs       1;
    FREE_MEMORY_OF_GPU        Write     0x17 FreeMemoryOfGpuArgs        1;
    MAP_MEMORY_TO_GPU         ReadWrite 0x18 MapMemoryToGpuArgs         1;
    UNMAP_MEMORY_FROM_GPU     ReadWrite 0x19 UnmapMemoryFromGpuArgs     1;
    SET_CU_MASK               Write     0x1a SetCuMaskArgs              1;
    GET_QUEUE_WAVE_STATE      ReadWrite 0x1b GetQueueWaveStateArgs      1;
    GET_DMABUF_INFO           ReadWrite 0x1c GetDmabufInfoArgs          1;
    IMPORT_DMABUF             ReadWrite 0x1d ImportDmabufArgs           1;
    ALLOC_QUEUE_GWS           ReadWrite 0x1e AllocQueueGwsArgs          1;
    SMI_EVENTS                ReadWrite 0x1f SmiEventsArgs              3;
    SVM                       ReadWrite 0x20 SvmArgs                    5;
    SET_XNACK_MODE            ReadWrite 0x21 SetXnackModeArgs           5;
    CRIU_OP                   ReadWrite 0x22 CriuArgs                   7;
    AVAILABLE_MEMORY          ReadWrite 0x23 GetAvailableMemoryArgs     9;
    EXPORT_DMABUF             ReadWrite 0x24 ExportDmabufArgs           12;
    RUNTIME_ENABLE            ReadWrite 0x25 RuntimeEnableArgs          13;
    DBG_TRAP                  ReadWrite 0x26 DbgTrapArgs                13;
    PROFILER                  ReadWrite 0x28 ProfilerArgs               23;
}

/// The request word of SVM with `attributes` attributes: the size field counts them.
/// `None` when they do not fit into it (more than 2,044).
pub const fn svm(attributes: usize) -> Option<u32> {
    match attributes.checked_mul(size_of::<SvmAttribute>()) {
        Some(tail) if size_of::<SvmArgs>() + tail < 1 << 14 => {
            Some(request(Direction::ReadWrite, BASE, 0x20, size_of::<SvmArgs>() + tail))
        }
        _ => None,
    }
}

/// The ioctl of a number, when it is one described here.
pub fn by_number(number: u8) -> Option<&'static Ioctl> {
    ALL.iter().find(|ioctl| selvedge_sys::uapi::number(ioctl.request) == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn svm_counts_its_attributes() {
        assert_eq!(svm(0), Some(SVM));
        assert_eq!(svm(3), Some(SVM + (24 << 16)));
        assert_eq!(svm(2044).map(selvedge_sys::uapi::size), Some(16_376));
        assert_eq!(svm(2045), None);
        assert_eq!(svm(usize::MAX), None);
    }

    #[test]
    fn every_number_from_1_to_0x28_is_described_once() {
        let mut numbers: Vec<u8> =
            ALL.iter().map(|i| selvedge_sys::uapi::number(i.request)).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=0x28).collect::<Vec<u8>>());
    }
}
