//! Target ids: table, text, and what runs where.

use proptest::prelude::*;
use selvedge::code::{AbiVersion, Feature, Mismatch, ParseTargetError, Processor, TargetId};

use super::text;

fn target(text: &str) -> TargetId {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// LLVM 22 knows all our processors by the same numbers and features, and we know all of its; but
/// for two that it has dropped.
#[test]
fn processors() {
    let list = text("processors.txt");
    let mut ours = Processor::all()
        .filter(|p| !matches!(p.name(), "gfx940" | "gfx941"))
        .map(|p| {
            let features = [(p.has_sramecc(), "sramecc"), (p.has_xnack(), "xnack")];
            let features = features.iter().filter(|(has, _)| *has).map(|(_, name)| *name);
            let features = features.collect::<Vec<_>>().join(",");
            let features = if features.is_empty() { "-".to_owned() } else { features };
            format!("{:#04x} {} {features}", p.mach(), p.name())
        })
        .collect::<Vec<_>>();
    ours.sort();
    assert_eq!(ours, list.lines().collect::<Vec<_>>());
}

#[test]
fn gfx_target_versions() {
    for (version, name) in [
        (90006, Some("gfx906")),
        (90010, Some("gfx90a")),
        (90012, Some("gfx90c")),
        (90402, Some("gfx942")),
        (100306, Some("gfx1036")),
        (110501, Some("gfx1151")),
        (120001, Some("gfx1201")),
        (0, None),
        (u32::MAX, None),
    ] {
        let processor = Processor::from_gfx_target_version(version);
        assert_eq!(processor.map(Processor::name), name, "{version}");
    }
}

#[test]
fn text_is_canonical() {
    for (given, canonical) in [
        ("gfx1151", "gfx1151"),
        ("gfx90a:xnack-:sramecc+", "gfx90a:sramecc+:xnack-"),
        ("gfx906:xnack+", "gfx906:xnack+"),
        ("gfx9-4-generic:xnack-", "gfx9-4-generic:xnack-"),
        ("gfx11-generic", "gfx11-generic"),
        // Entry ids of code object V3: what is not written is off.
        ("gfx906+xnack", "gfx906:sramecc-:xnack+"),
        ("gfx906+sram-ecc+xnack", "gfx906:sramecc+:xnack+"),
    ] {
        assert_eq!(target(given).to_string(), canonical);
    }
}

#[test]
fn wrong_text() {
    let parse = |text: &str| text.parse::<TargetId>().unwrap_err();
    assert_eq!(parse("gfx9999"), ParseTargetError::UnknownProcessor("gfx9999".to_owned()));
    assert_eq!(parse(""), ParseTargetError::UnknownProcessor(String::new()));
    assert_eq!(parse("gfx906:xnack+:xnack-"), ParseTargetError::RepeatedFeature("xnack"));
    for (text, feature) in [
        ("gfx906:xnack", "xnack"),
        ("gfx906:", ""),
        ("gfx906:xnack+:", ""),
        ("gfx906:+", "+"),
        ("gfx1151:xnack-", "xnack-"),
        ("gfx1010:sramecc+", "sramecc+"),
        ("gfx906:cumode+", "cumode+"),
    ] {
        let processor = Processor::from_name(&text[..text.find(':').unwrap()]).unwrap().name();
        let feature = feature.to_owned();
        assert_eq!(parse(text), ParseTargetError::UnknownFeature { processor, feature }, "{text}");
    }
}

/// Any fits both, on only on, off only off; nine settings of two features on four devices.
#[test]
fn features() {
    let settings = [("", None), ("+", Some(true)), ("-", Some(false))];
    for (sramecc_sign, sramecc) in settings {
        for (xnack_sign, xnack) in settings {
            let mut text = "gfx90a".to_owned();
            for (name, sign) in [("sramecc", sramecc_sign), ("xnack", xnack_sign)] {
                if !sign.is_empty() {
                    text += &format!(":{name}{sign}");
                }
            }
            let object = target(&text);
            assert_eq!(object.to_string(), text);
            // The same through e_flags of V4: XNACK in bits 9:8, SRAM ECC in 11:10.
            let bits = |setting| match setting {
                None => 1,
                Some(false) => 2,
                Some(true) => 3,
            };
            let e_flags = 0x3f | bits(xnack) << 8 | bits(sramecc) << 10;
            assert_eq!(TargetId::from_e_flags(e_flags, AbiVersion::V4), Ok(object));
            for device_sramecc in [false, true] {
                for device_xnack in [false, true] {
                    let device =
                        TargetId::of_device(object.processor, device_sramecc, device_xnack);
                    let fits = sramecc.is_none_or(|s| s == device_sramecc)
                        && xnack.is_none_or(|x| x == device_xnack);
                    assert_eq!(object.matches(&device).is_ok(), fits, "{object} on {device}");
                }
            }
        }
    }
}

#[test]
fn feature_that_differs_is_named() {
    let device = target("gfx90a:sramecc+:xnack-");
    let mismatch = target("gfx90a:xnack+").matches(&device).unwrap_err();
    let (object, on_device) = (Feature::On, Feature::Off);
    assert_eq!(mismatch, Mismatch::Feature { feature: "xnack", object, device: on_device });
    assert_eq!(mismatch.to_string(), "xnack is on in the object and off on the device");
}

#[test]
fn v3_flags_have_one_bit_a_feature() {
    let v3 = |flags| TargetId::from_e_flags(flags, AbiVersion::V3).unwrap().to_string();
    assert_eq!(v3(0x2f), "gfx906:sramecc-:xnack-");
    assert_eq!(v3(0x12f), "gfx906:sramecc-:xnack+");
    assert_eq!(v3(0x22f), "gfx906:sramecc+:xnack-");
    assert_eq!(v3(0x41), "gfx1100");
    assert_eq!(TargetId::from_e_flags(0x27, AbiVersion::V3), Err(0x27));
}

#[test]
fn generic_processors() {
    for (generic, members) in [
        ("gfx9-generic", "gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c"),
        ("gfx9-4-generic", "gfx940 gfx941 gfx942 gfx950"),
        ("gfx10-1-generic", "gfx1010 gfx1011 gfx1012 gfx1013"),
        ("gfx10-3-generic", "gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036"),
        ("gfx11-generic", "gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153"),
        ("gfx12-generic", "gfx1200 gfx1201"),
    ] {
        let object = target(generic);
        let mut covered = Processor::all()
            .filter(|p| !p.is_generic() && object.matches(&TargetId::new(*p)).is_ok())
            .map(Processor::name)
            .collect::<Vec<_>>();
        covered.sort_unstable();
        assert_eq!(covered.join(" "), members, "{generic}");
    }
    let device = target("gfx1151");
    let mut object = target("gfx11-generic");
    object.generic_version = Some(1);
    assert_eq!(object.matches(&device), Ok(()));
    object.generic_version = Some(0);
    let old = Mismatch::GenericVersion { object: 0, joined: 1 };
    assert_eq!(object.matches(&device), Err(old));
    // Not the other way round, and a generic one is not its relative.
    assert_eq!(device.matches(&target("gfx11-generic")), Err(Mismatch::Processor));
    assert_eq!(target("gfx1100").matches(&device), Err(Mismatch::Processor));
}

proptest! {
    #[test]
    fn display_and_parse_agree(flags in any::<u32>(), v4 in any::<bool>()) {
        let abi = if v4 { AbiVersion::V4 } else { AbiVersion::V3 };
        if let Ok(target) = TargetId::from_e_flags(flags, abi) {
            let text = target.to_string();
            if let Ok(again) = text.parse::<TargetId>() {
                prop_assert_eq!(again.to_string(), text);
            } else {
                // Only flags that set a feature which the processor lacks.
                prop_assert!(!target.processor.has_xnack() || !target.processor.has_sramecc());
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(gfx(90a|906|1151|11-generic))?[a-z0-9:+-]{0,24}") {
        if let Ok(target) = text.parse::<TargetId>() {
            prop_assert_eq!(target.to_string().parse::<TargetId>(), Ok(target));
        }
    }
}
