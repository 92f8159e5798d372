//! Any bytes are a properties file of the KFD's topology, or an error that names the line.
#![no_main]

use std::path::Path;

use kfd::topology::{
    CacheProperties, IoLinkProperties, MemoryBankProperties, NodeProperties, Properties,
    SystemProperties, TopologyError, parse_properties,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let lines = bytes.split(|b| *b == b'\n').count();
    let check = |result: Result<(), TopologyError>| {
        if let Err(TopologyError::Malformed { line, .. }) = result {
            assert!((1..=lines).contains(&line));
        }
    };
    let properties = match parse_properties(bytes, Path::new("properties")) {
        Ok(properties) => properties,
        Err(error) => return check(Err(error)),
    };
    assert!(properties.lines().len() <= lines);
    let read: [fn(Properties) -> Result<(), TopologyError>; 5] = [
        |p| SystemProperties::from_properties(p).map(drop),
        |p| NodeProperties::from_properties(p).map(drop),
        |p| MemoryBankProperties::from_properties(p).map(drop),
        |p| CacheProperties::from_properties(p).map(drop),
        |p| IoLinkProperties::from_properties(p).map(drop),
    ];
    for read in read {
        check(read(properties.clone()));
    }
});
