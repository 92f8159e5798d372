//! Any 64 bytes are an AQL packet that encodes to itself, any bytes and indices a ring or an error; any values of
//! packets are what they were when encoded and decoded.
//!
//! The first byte says what is done: 0 packets, 1 a ring between two indices, else values of all packets.
#![no_main]

use aql::{Header, Packet, packets as ring};
use libfuzzer_sys::fuzz_target;
use pm4::layout::{Layout, Variants};
use selvedge_fuzz::{assert_complete, dwords, each, take};

/// Every packet; `init` asserts that none is missing.
macro_rules! packets {
    ($call:ident $($arguments:tt)?) => {
        each!($call $($arguments)?; aql:
            KernelDispatch, AgentDispatch, BarrierAnd, BarrierOr, Pm4Indirect, BarrierValue, ExtKernelDispatch,
        )
    };
}

/// The records of the metadata ring.
macro_rules! records {
    ($call:ident $($arguments:tt)?) => {
        each!($call $($arguments)?; aql::metadata:
            MetadataHeader, MetadataKernelDispatch, MetadataBarrier, LaunchDescriptor, DataPrefetch,
        )
    };
}

fn one(words: &[u32; 16]) {
    let packet = Packet::decode(words);
    assert_eq!(packet.encode(), *words);
    assert_eq!(packet.header(), Header::from_word(words[0]));
    assert!(!packet.to_string().is_empty());
}

fuzz_target!(
    init: {
        let ours: &[&Layout] = &packets!(layouts);
        assert_complete(ours, aql::LAYOUTS);
        let ours: &[&Layout] = &records!(layouts);
        assert_complete(ours, aql::metadata::LAYOUTS);
    },
    |bytes: &[u8]| {
        let mut bytes = bytes;
        match take(&mut bytes) {
            [0] => dwords(bytes).as_chunks().0.iter().for_each(one),
            [1] => {
                let [read, in_flight] = [(); 2].map(|()| u64::from_le_bytes(take(&mut bytes)));
                let words = dwords(bytes);
                match ring(&words, read, read.wrapping_add(in_flight % 64)) {
                    Ok(slots) => assert_eq!(slots.count(), words.len() / 16),
                    Err(error) => assert!(!error.to_string().is_empty()),
                }
            }
            _ => {
                packets!(round_trip(bytes, Variants::ALL, ()));
                records!(round_trip(bytes, Variants::ALL, ()));
                let words = dwords(bytes);
                packets!(any_words(&words, ()));
                records!(any_words(&words, ()));
            }
        }
    }
);
