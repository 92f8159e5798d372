//! Agent dispatch packet: a call of a host agent's function. GPUs do not execute it.

use crate::header::FenceScope;

packet! {
    /// Calls a function of an agent.
    pub struct AgentDispatch: "AGENT_DISPATCH" = 4 in 0xff;
    source "hsa.h, hsa_agent_dispatch_packet_t";
    /// The function (`type` in hsa.h); the application's from 0x8000 on.
    function: u16 = 0[31:16] as type;
    /// Where the result is stored; 0 for nowhere.
    return_address: u64 = 2[31:0] as return_address_lo | 3[31:0] << 32 as return_address_hi;
    /// First argument.
    arg_0: u64 = 4[31:0] as arg_0_lo | 5[31:0] << 32 as arg_0_hi;
    /// Second argument.
    arg_1: u64 = 6[31:0] as arg_1_lo | 7[31:0] << 32 as arg_1_hi;
    /// Third argument.
    arg_2: u64 = 8[31:0] as arg_2_lo | 9[31:0] << 32 as arg_2_hi;
    /// Fourth argument.
    arg_3: u64 = 10[31:0] as arg_3_lo | 11[31:0] << 32 as arg_3_hi;
}

impl AgentDispatch {
    /// A call fenced as [`AgentDispatch::SYSTEM`], without a signal.
    pub const fn new(function: u16, return_address: u64, arguments: [u64; 4]) -> AgentDispatch {
        let [arg_0, arg_1, arg_2, arg_3] = arguments;
        AgentDispatch {
            function,
            return_address,
            arg_0,
            arg_1,
            arg_2,
            arg_3,
            ..AgentDispatch::SYSTEM
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    #[test]
    fn reads_well() {
        assert_eq!(
            AgentDispatch::new(0x8001, 0x40, [1, 2, 3, 4]).to_string(),
            "AGENT_DISPATCH barrier acquire=SYSTEM release=SYSTEM function=0x8001 \
             return_address=0x40 arg_0=1 arg_1=2 arg_2=3 arg_3=4 completion_signal=0"
        );
    }

    proptest! {
        #[test]
        fn round_trip(mut words: [u32; 16]) {
            words[0] = words[0] & !0xff | 4;
            prop_assert_eq!(AgentDispatch::decode(&words).unwrap().encode(), words);
        }
    }
}
