//! Any dwords are an SDMA stream up to a fault, for any version; any values of packets are what they were when encoded
//! and decoded.
//!
//! The first byte picks the version, the second what is done: 0 a stream, else values and words of all packets.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pm4::layout::Layout;
use sdma::{Packets, Version, oss7};
use selvedge_fuzz::{assert_complete, dwords, each, pick, take};

/// Every packet; `init` asserts that none is missing.
macro_rules! packets {
    ($call:ident $($arguments:tt)?) => {
        each!($call $($arguments)?; sdma::packet:
            CopyLinear, CopyLinearMeta, CopyBroadcastLinear, CopyLinearBc, CopyLinearSubwin, CopyLinearSubwinBc,
            CopyLinearSubwinLarge, CopyDirtyPage, CopyPhysicalLinear, CopyPhysicalLinearMeta, CopyPageTransfer,
            CopyTiled, CopyL2tBroadcast, CopyTiledSubwin, CopyTiledSubwinMeta, CopyTiledSubwinCompressed, CopyT2t,
            CopyT2tMeta, CopyT2tCompressed, CopyStruct, CopyTiledBc, CopyTiledBcSlice, CopyTiledSubwinBc, CopyT2tBc,
            WriteUntiled, WriteTiled, WriteTiledBc, ConstantFill, DataFillMulti, ConstantFillPage,
            DecompressBltLinear, DecompressBltSubwin, Fence, FenceConditionalInterrupt, Trap, DummyTrapOld,
            DummyTrap, PollRegmem, PollRegWriteMem, PollRegWriteMemIndexed, PollDbitWriteMem, PollMemVerify,
            PollMemVerifyShort, Atomic, Semaphore, MemIncr, TimestampSet, TimestampGet, TimestampGetGlobal, Nop,
            Indirect, CondExe, PreExe, SrbmWrite, RegisterWrite, RegisterRmw, RegisterRmwIndexed, GcrReq, GcrUser,
            WriteIncr, PtepdeCopy, PtepdeRmw, PtepdeRmwMany, PtepdeCopyBackwards, GpuvmInv, VmInvalidation,
            Invalidation,
        )
    };
}

/// The AQL packets that SDMA engines read.
macro_rules! aql_packets {
    ($call:ident $($arguments:tt)?) => {
        each!($call $($arguments)?; sdma::packet: AqlCopyLinear, AqlBarrierOr)
    };
}

fn stream(version: Version, words: &[u32]) {
    let mut packets = Packets::new(version, words);
    let mut covered = 0;
    for packet in packets.by_ref() {
        match packet {
            Ok(packet) => {
                assert_eq!(packet.offset, covered);
                assert_eq!(packet.words, &words[covered..covered + packet.words.len()]);
                covered += packet.words.len();
                assert!(packet.name().is_some());
                assert!(packet.payload().len() < packet.words.len());
                assert!(!packet.to_string().is_empty());
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    assert_eq!(packets.offset(), covered);
    assert!(covered == words.len() || packets.next().is_none());
    assert!(oss7::dwords(words).is_none_or(|dwords| dwords > 0));
}

fuzz_target!(
    init: {
        let ours: &[&Layout] = &packets!(layouts);
        assert_complete(ours, sdma::packet::LAYOUTS);
        let ours: &[&Layout] = &aql_packets!(layouts);
        assert_complete(ours, sdma::packet::AQL_LAYOUTS);
    },
    |bytes: &[u8]| {
        let mut bytes = bytes;
        let version = pick(&Version::ALL, &mut bytes);
        match take(&mut bytes) {
            [0] => stream(version, &dwords(bytes)),
            _ => {
                packets!(round_trip(bytes, version.set(), version));
                aql_packets!(round_trip(bytes, version.set(), version));
                let words = dwords(bytes);
                packets!(any_words(&words, version));
                aql_packets!(any_words(&words, version));
            }
        }
    }
);
