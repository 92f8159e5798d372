//! Registers: what packets write, what a dump of a queue or of hung hardware shows.
//!
//! A register is a layout of one dword with addresses. Equal registers that AMD tells apart by a number or by X, Y
//! and Z are one *row*: one layout, several addresses ([`ComputeUserData`] is sixteen registers). Addresses are in
//! dwords, absolute: what AMD's headers give relative to a segment (`*_BASE_IDX`) has the segment's base added, as
//! `*_ip_offset.h` of Linux and the IP discovery table of newer hardware tell it (0x2000 and 0xa000 to gfx950,
//! 0x1260 and 0xa000 from gfx10.1 on).
//!
//! Fields that AMD calls reserved or unused are not declared: they are part of `reserved`. Of many registers AMD
//! publishes names and positions alone; a meaning that is only the name in words is marked so ("by its name").

use crate::generation::Generation;
use crate::layout::{Layout, Variants};
use core::fmt;

/// First register that SET_SH_REG reaches, in dwords (PACKET3_SET_SH_REG_START of Linux, soc15d.h and nvd.h).
pub const SH_BASE: u32 = 0x2c00;
/// First dword behind those (PACKET3_SET_SH_REG_END).
pub const SH_END: u32 = 0x3000;
/// First register that SET_CONTEXT_REG reaches, in dwords (PACKET3_SET_CONTEXT_REG_START).
pub const CONTEXT_BASE: u32 = 0xa000;
/// First register that SET_UCONFIG_REG reaches, in dwords (PACKET3_SET_UCONFIG_REG_START).
pub const UCONFIG_BASE: u32 = 0xc000;
/// First dword behind those: UCONFIG_SPACE_END of PAL plus one, CIK_UCONFIG_REG_END of Mesa. Linux says 0xc400
/// (PACKET3_SET_UCONFIG_REG_END), below the performance counters that PAL and Mesa write with this packet.
pub const UCONFIG_END: u32 = 0x1_0000;
/// First register that SET_CONFIG_REG reaches, in dwords (PACKET3_SET_CONFIG_REG_START).
pub const CONFIG_BASE: u32 = 0x2000;
/// First dword behind those (PACKET3_SET_CONFIG_REG_END).
pub const CONFIG_END: u32 = 0x2c00;

/// A register, or a row of equal ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Name and fields; of a row, the name of its first register.
    pub layout: &'static Layout,
    /// Where it is. A row that is not in one piece in a generation has several places there.
    pub places: &'static [Place],
}

/// Where registers of a row are in some generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The generations.
    pub generations: Variants,
    /// Address of the first in dwords.
    pub address: u32,
    /// How many there are.
    pub count: u32,
    /// Dwords from one to the next.
    pub step: u32,
    /// Which of the row the first one is.
    pub first: u32,
}

impl Place {
    /// Which register of the row has this address.
    const fn index(&self, address: u32) -> Option<u32> {
        let distance = address.wrapping_sub(self.address);
        match (distance.checked_div(self.step), distance.checked_rem(self.step)) {
            (Some(steps), Some(0)) if steps < self.count => Some(self.first.wrapping_add(steps)),
            _ => None,
        }
    }
}

impl Register {
    /// The address in dwords in a generation, of a row that of its first register; `None` when the generation has no
    /// such register.
    pub const fn address(&self, generation: Generation) -> Option<u32> {
        self.address_at(0, generation)
    }

    /// The address in dwords of register `index` of the row; `None` when the generation has no such register.
    pub const fn address_at(&self, index: u32, generation: Generation) -> Option<u32> {
        let mut i = 0;
        while i < self.places.len() {
            let place = &self.places[i];
            let steps = index.wrapping_sub(place.first);
            if generation.is_in(place.generations) && steps < place.count {
                return Some(place.address.wrapping_add(steps.wrapping_mul(place.step)));
            }
            i += 1;
        }
        None
    }

    /// Which register of the row has this address in a generation; `None` when none has.
    pub const fn index_at(&self, address: u32, generation: Generation) -> Option<u32> {
        let mut i = 0;
        while i < self.places.len() {
            if generation.is_in(self.places[i].generations)
                && let Some(index) = self.places[i].index(address)
            {
                return Some(index);
            }
            i += 1;
        }
        None
    }

    /// How long the row is where it is longest; 1 for a register that is alone.
    pub const fn row(&self) -> u32 {
        let (mut i, mut row) = (0, 0);
        while i < self.places.len() {
            let end = self.places[i].first.saturating_add(self.places[i].count);
            if end > row {
                row = end;
            }
            i += 1;
        }
        row
    }

    /// AMD's name of register `index` of the row.
    pub const fn name_at(&self, index: u32) -> Name {
        Name { name: self.layout.name, index }
    }

    /// Which register of the row has this name; `None` when none has.
    pub fn index_of(&self, name: &str) -> Option<u32> {
        (0..self.row()).find(|index| self.name_at(*index).is(name))
    }
}

/// The name of one register of a row: that of the first with the number counted up that is its last, or with the X
/// at the end become Y or Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    name: &'static str,
    index: u32,
}

impl Name {
    /// What is before the number or letter that tells the register, that number or letter, and what is behind it.
    fn parts(&self) -> (&'static str, u32, &'static str) {
        let name = self.name;
        let end = name.rfind(|c: char| c.is_ascii_digit()).map_or(0, |last| last + 1);
        let (head, tail) = name.split_at_checked(end).unwrap_or((name, ""));
        let stem = head.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = head.get(stem.len()..).and_then(|digits| digits.parse().ok()).unwrap_or(0);
        (stem, number, tail)
    }

    fn is(&self, name: &str) -> bool {
        struct Rest<'a>(&'a str);
        impl fmt::Write for Rest<'_> {
            fn write_str(&mut self, part: &str) -> fmt::Result {
                self.0 = self.0.strip_prefix(part).ok_or(fmt::Error)?;
                Ok(())
            }
        }
        let mut rest = Rest(name);
        fmt::write(&mut rest, format_args!("{self}")).is_ok() && rest.0.is_empty()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.index == 0 {
            return f.write_str(self.name);
        }
        match self.name.strip_suffix("_X") {
            Some(stem) => match self.index {
                1 => write!(f, "{stem}_Y"),
                2 => write!(f, "{stem}_Z"),
                index => write!(f, "{stem}_X+{index}"),
            },
            None => {
                let (stem, number, tail) = self.parts();
                write!(f, "{stem}{}{tail}", u64::from(number) + u64::from(self.index))
            }
        }
    }
}

/// The register at an address in dwords, and which of its row it is.
///
/// Some registers have several names; this is the one that comes first in [`REGISTERS`].
pub fn at(generation: Generation, address: u32) -> Option<(&'static Register, u32)> {
    REGISTERS.iter().find_map(|register| Some((*register, register.index_at(address, generation)?)))
}

/// The register with AMD's name, be it any of a row ([`Register::index_of`] says which).
pub fn named(name: &str) -> Option<&'static Register> {
    REGISTERS.iter().copied().find(|register| register.index_of(name).is_some())
}

/// Declares a register for [`layout!`](crate::layout!): one dword without fixed bits, and its addresses in dwords.
/// `at 0x2e40 * 16 in GFX9` is a row of 16, `step 2` says that they are two dwords apart, `from 2` that the first
/// one there is number 2 of the row.
macro_rules! register {
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $Name:ident: $amd:literal
            at $($address:literal $(* $count:literal)? $(step $step:literal)? $(from $first:literal)? in $set:expr),+;
        source $source:literal;
        $($fields:tt)*
    ) => {
        $crate::layout! {
            $(#[doc = $doc])*
            $vis struct $Name: $amd, 1 dwords of Generation in $crate::layout::Variants(0 $(| $set.0)+);
            source $source;
            fixed 0x0 = 0x0;
            $($fields)*
        }

        impl $Name {
            /// What the register holds; bits that no field covers are in `reserved`.
            #[inline]
            pub const fn decode_word(word: u32, generation: Generation) -> $Name {
                match $Name::decode(&[word], generation) {
                    Ok(register) => register,
                    Err(_) => $Name::ZERO, // no word is another packet's, or too short
                }
            }

            /// The register: its layout and addresses.
            pub const REGISTER: &'static $crate::register::Register = &$crate::register::Register {
                layout: $Name::LAYOUT,
                places: &[$($crate::register::Place {
                    generations: $set,
                    address: $address,
                    count: register!(@or 1 $($count)?),
                    step: register!(@or 1 $($step)?),
                    first: register!(@or 0 $($first)?),
                }),+],
            };
        }
    };
    (@or $default:literal) => { $default };
    (@or $default:literal $given:literal) => { $given };
}

mod compute;
mod memory;
mod perf;
mod queue;
mod status;
mod timing;
mod trace;
mod wave;

/// Calls a macro with every register type, by module: `registers!(name arguments)` is
/// `name!(arguments; compute { ComputePgmLo, ... } ... wave { ... } [WaveCommand, ...] ...)`, in brackets the types of
/// values.
#[doc(hidden)]
#[macro_export]
macro_rules! registers {
    ($name:ident $($arguments:tt)*) => {
        $name! { $($arguments)*;
            compute {
                ComputePgmLo, ComputePgmHi, ComputePgmRsrc1, ComputePgmRsrc2, ComputePgmRsrc3,
                ComputeUserData, ComputeVmid, ComputeShaderChksum, ComputeUserAccum, ComputePrefPriAccum,
                ComputeDispatchInitiator, ComputeDim, ComputeStart, ComputeNumThreadX, ComputeNumThreadY,
                ComputeNumThreadZ, ComputePrescaledDim, ComputeDispatchInterleave, ComputeDispatchTunnel,
                ComputeDispatchPktAddrLo, ComputeDispatchPktAddrHi, ComputeDispatchId, ComputeThreadgroupId,
                ComputeDdidIndex, ComputeTgChunkSize, ComputeDispatchEnd, ComputeNowhere,
                ComputeResourceLimits, ComputeStaticThreadMgmt, ComputeDestinationEn, ComputeReqCtrl,
                ComputeTmpringSize, ComputeDispatchScratchBaseLo, ComputeDispatchScratchBaseHi,
                ComputeRestart, ComputeRestartX2, ComputeRestartY2, ComputeRestartZ2, ComputeRelaunch,
                ComputeRelaunch2, ComputeWaveRestoreAddrLo, ComputeWaveRestoreAddrHi, ComputeMiscReserved,
                ComputePipelinestatEnable, ComputePerfcountEnable, ComputeThreadTraceEnable,
            }
            queue {
                CpHqdPqBase, CpHqdPqBaseHi, CpHqdPqRptr, CpHqdPqRptrReportAddr, CpHqdPqRptrReportAddrHi,
                CpHqdPqWptrLo, CpHqdPqWptrHi, CpHqdPqWptrPollAddr, CpHqdPqWptrPollAddrHi,
                CpHqdPqDoorbellControl, CpHqdPqControl, CpHqdAqlControl, CpHqdAqlDispatchId,
                CpHqdAqlDispatchIdHi, CpMqdBaseAddr, CpMqdBaseAddrHi, CpMqdControl, CpHqdActive, CpHqdVmid,
                CpHqdPersistentState, CpHqdPipePriority, CpHqdQueuePriority, CpHqdQuantum,
                CpHqdDequeueRequest, CpHqdDequeueStatus, CpHqdError, CpHqdOffload, CpHqdDmaOffload,
                CpHqdSemaCmd, CpHqdMsgType, CpHqdGdsResourceState, CpHqdGfxControl, CpHqdGfxStatus,
                CpHqdAtomic0PreopLo, CpHqdAtomic0PreopHi, CpHqdAtomic1PreopLo, CpHqdAtomic1PreopHi,
                CpHqdDdidRptr, CpHqdDdidWptr, CpHqdDdidInflightCount, CpHqdDdidDeltaRptCount,
                CpHqdHqStatus0, CpHqdHqScheduler0, CpHqdHqStatus1, CpHqdHqControl0, CpHqdHqScheduler1,
                CpHqdHqControl1, CpHqdIbBaseAddr, CpHqdIbBaseAddrHi, CpHqdIbRptr, CpHqdIbControl,
                CpHqdIqTimer, CpHqdIqRptr, CpHqdEopBaseAddr, CpHqdEopBaseAddrHi, CpHqdEopControl,
                CpHqdEopRptr, CpHqdEopWptr, CpHqdEopWptrMem, CpHqdEopEvents, CpHqdCtxSaveBaseAddrLo,
                CpHqdCtxSaveBaseAddrHi, CpHqdCtxSaveControl, CpHqdCtxSaveSize, CpHqdCntlStackOffset,
                CpHqdCntlStackSize, CpHqdWgStateOffset, CpHqdSuspendCntlStackOffset,
                CpHqdSuspendCntlStackDwCnt, CpHqdSuspendWgStateOffset,
            }
            perf {
                CpPerfmonCntl, CpPerfmonCntl1, RlcPerfmonCntl, RlcPerfmonClkCntl, RlcPerfmonClkCntlUcode,
                RlcSpmPerfmonCntl, RlcSpmPerfmonRingBaseLo, RlcSpmPerfmonRingBaseHi, RlcSpmPerfmonRingSize,
                RlcSpmPerfmonSegmentSize, RlcSpmMcCntl, SqPerfcounterSelect, SqPerfcounterLo,
                SqPerfcounterHi, SqPerfcounterCtrl, SqPerfcounterCtrl2, SqPerfcounterMask,
                SqgPerfcounterSelect, SqgPerfcounterLo, SqgPerfcounterHi, SqgPerfcounterCtrl,
                SqgPerfcounterCtrl2, GrbmPerfcounterSelect, GrbmPerfcounterSelectHi, GrbmPerfcounterLo,
                GrbmPerfcounterHi,
            } [
                PerfmonState, PerfmonEnableMode,
            ]
            trace {
                SqThreadTraceBase, SqThreadTraceBase2, SqThreadTraceSize, SqThreadTraceBuf0Base,
                SqThreadTraceBuf0Size, SqThreadTraceBuf0BaseLo, SqThreadTraceBuf0BaseHi,
                SqThreadTraceBuf1Base, SqThreadTraceBuf1Size, SqThreadTraceBuf1BaseLo,
                SqThreadTraceBuf1BaseHi, SqThreadTraceWptr, SqThreadTraceHiwater, SqThreadTraceUserdata,
                SqThreadTraceCtrl, SqThreadTraceMask, SqThreadTraceTokenMask, SqThreadTraceTokenMask2,
                SqThreadTracePerfMask, SqThreadTraceMode, SqThreadTraceStatus, SqThreadTraceStatus2,
                SqThreadTraceCntr, SqThreadTraceDroppedCntr, SqThreadTraceGfxDrawCntr,
                SqThreadTraceGfxMarkerCntr, SqThreadTraceHp3dDrawCntr, SqThreadTraceHp3dMarkerCntr,
                SqThreadTraceHalt, SqThreadTracePoweroffRestore1, SqThreadTraceFinishDoneDebug,
            }
            status {
                GrbmStatus, GrbmStatus2, GrbmStatus3, GrbmStatusSe, CpCpcStatus, CpCpcBusyStat,
                CpCpcBusyStat2, CpCpcStalledStat1, CpCpfStatus, CpCpfBusyStat, CpCpfBusyStat2,
                CpCpfStalledStat1, CpMecCntl, CpMecRs64Cntl, CpMecInstrPntr, CpMecRs64InstrPntr,
                CpMecMeHeaderDump, CpMecDoorbellRangeLower, CpMecDoorbellRangeUpper,
            }
            memory {
                ShMemBases, ShMemConfig, CpCoherCntl, CpCoherBase, CpCoherBaseHi, CpCoherSize,
                CpCoherSizeHi, CpCoherStartDelay, CpCoherStatus, GcrGeneralCntl, GcrCmdStatus, GcrPioCntl,
                GcrPioData, SqShaderTbaLo, SqShaderTbaHi, SqShaderTmaLo, SqShaderTmaHi, SpiGdbgPerVmidCntl,
                SpiGdbgTrapConfig, SpiGdbgWaveCntl, TcpWatchAddrH, TcpWatchAddrL, TcpWatchCntl,
            } [
                ShMemAddressMode, ShMemAlignmentMode, WatchMode,
            ]
            wave {
                GrbmGfxIndex, GrbmGfxCntl, SqCmd, SqIndIndex, SqIndData,
            } [
                WaveCommand, WaveSelection,
            ]
            timing {
                RlcCaptureGpuClockCount, RlcGpuClockCountLsb, RlcGpuClockCountMsb, RlcCaptureGpuClockCount1,
                RlcGpuClockCountLsb1, RlcGpuClockCountMsb1, RlcCaptureGpuClockCount2, RlcGpuClockCountLsb2,
                RlcGpuClockCountMsb2, RlcGpuClockCountSpmLsb, RlcGpuClockCountSpmMsb,
                CpGpuTimestampOffsetLo, CpGpuTimestampOffsetHi,
            }
        }
    };
}

/// Makes the modules' registers public, and the list of them all.
macro_rules! declare {
    (; $($module:ident { $($Register:ident),+ $(,)? } $([$($Value:ident),+ $(,)?])?)+) => {
        $(
            pub use $module::{$($Register),+};
            $(pub use $module::{$($Value),+};)?
        )+

        /// Every register that there is a layout of.
        pub const REGISTERS: &[&Register] = &[$($($Register::REGISTER),+),+];
    };
}

registers!(declare);
