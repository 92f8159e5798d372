//! Packets made with Linux's own macros (`data/SOURCE`): every field in its place.

use pm4::{AcquireMem, AcquireMemGfx9, CacheControl, CoherControl};
use proptest::prelude::*;

const GOLDEN: &str = include_str!("data/acquire_mem.txt");

fn control(field: &str) -> CacheControl {
    let none = CacheControl::new();
    match field {
        "GLI_INV" => none.with_gli_inv(3),
        "GL1_RANGE" => none.with_gl1_range(3),
        "GLM_WB" => none.with_glm_wb(true),
        "GLM_INV" => none.with_glm_inv(true),
        "GLK_WB" => none.with_glk_wb(true),
        "GLK_INV" => none.with_glk_inv(true),
        "GLV_INV" => none.with_glv_inv(true),
        "GL1_INV" => none.with_gl1_inv(true),
        "GL2_US" => none.with_gl2_us(true),
        "GL2_RANGE" => none.with_gl2_range(3),
        "GL2_DISCARD" => none.with_gl2_discard(true),
        "GL2_INV" => none.with_gl2_inv(true),
        "GL2_WB" => none.with_gl2_wb(true),
        "SEQ" => none.with_seq(3),
        "RANGE_IS_PA" => none.with_range_is_pa(true),
        other => panic!("{other} is no field of GCR_CNTL"),
    }
}

fn coherence(field: &str) -> CoherControl {
    let none = CoherControl::new();
    match field {
        "TC_NC_ACTION_ENA" => none.with_tc_nc_action(true),
        "TC_WC_ACTION_ENA" => none.with_tc_wc_action(true),
        "TC_INV_METADATA_ACTION_ENA" => none.with_tc_inv_metadata_action(true),
        "TCL1_VOL_ACTION_ENA" => none.with_tcl1_vol_action(true),
        "TC_WB_ACTION_ENA" => none.with_tc_wb_action(true),
        "TCL1_ACTION_ENA" => none.with_tcl1_action(true),
        "TC_ACTION_ENA" => none.with_tc_action(true),
        "CB_ACTION_ENA" => none.with_cb_action(true),
        "DB_ACTION_ENA" => none.with_db_action(true),
        "SH_KCACHE_ACTION_ENA" => none.with_sh_kcache_action(true),
        "SH_KCACHE_VOL_ACTION_ENA" => none.with_sh_kcache_vol_action(true),
        "SH_ICACHE_ACTION_ENA" => none.with_sh_icache_action(true),
        "SH_KCACHE_WB_ACTION_ENA" => none.with_sh_kcache_wb_action(true),
        "ENGINE_SEL" => none.with_engine_sel(true),
        other => panic!("{other} is no field of COHER_CNTL"),
    }
}

#[test]
fn linux_makes_the_same_words() {
    let (base, size, poll_interval) = (0x12_3456_789a_bcde, 0x89_abcd_ef01, 0x4321);
    let mut lines = [0; 2];
    for line in GOLDEN.lines() {
        let mut parts = line.split_whitespace();
        let (generation, field) = (parts.next().unwrap(), parts.next().unwrap());
        let words: Vec<u32> = parts.map(|word| u32::from_str_radix(word, 16).unwrap()).collect();
        if generation == "gfx10" {
            lines[0] += 1;
            let packet =
                AcquireMem { engine: 0, base, size, poll_interval, control: control(field) };
            assert_eq!(packet.encode()[..], words, "{line}");
            assert_eq!(AcquireMem::decode(words[..].try_into().unwrap()), Ok(packet), "{line}");
        } else {
            lines[1] += 1;
            let packet = AcquireMemGfx9 { control: coherence(field), base, size, poll_interval };
            assert_eq!(packet.encode()[..], words, "{line}");
            assert_eq!(AcquireMemGfx9::decode(words[..].try_into().unwrap()), Ok(packet), "{line}");
        }
    }
    assert_eq!(lines, [15, 14], "a line for every field");
}

#[test]
fn what_rocr_sends_after_loading_code() {
    // GpuAgent::InvalidateCodeCaches: sizes all ones, GCR_CNTL = GLI_INV(1) | GLK | GLV | GL1 | GL2_INV.
    let words = AcquireMem::everywhere(CacheControl::NEW_CODE).encode();
    assert_eq!(words, [0xc006_5800, 0, 0xffff_ffff, 0xff, 0, 0, 0, 0x4381]);
    assert_eq!(CacheControl::NEW_CODE_GFX12.into_bits(), 0x4181);
    // On gfx9: SH_ICACHE | SH_KCACHE | TC | TC_WB.
    let words = AcquireMemGfx9::everywhere(CoherControl::NEW_CODE).encode();
    assert_eq!(words, [0xc005_5800, 0x2884_0000, 0xffff_ffff, 0xff, 0, 0, 0]);
}

proptest! {
    #[test]
    fn words_survive(words in any::<[u32; 8]>()) {
        let mut words = words;
        words[0] = 0xc006_5800;
        prop_assert_eq!(AcquireMem::decode(&words).unwrap().encode(), words);
        let mut short: [u32; 7] = words[..7].try_into().unwrap();
        short[0] = 0xc005_5800;
        prop_assert_eq!(AcquireMemGfx9::decode(&short).unwrap().encode(), short);
    }

    #[test]
    fn other_packets_are_refused(header in any::<u32>()) {
        prop_assume!(header & 0xffff_ff00 != 0xc006_5800);
        let error = AcquireMem::decode(&[header, 0, 0, 0, 0, 0, 0, 0]).unwrap_err();
        prop_assert_eq!(error.got.0, header);
    }
}
