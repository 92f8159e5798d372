//! Buffers: formats, swizzled addresses, loads into LDS.

use super::*;

/// A rig whose buffer, in s[0:3], is its code: data begins in the third dword.
fn rig(target: Target, words: [u32; 3]) -> Rig {
    let mut rig = Rig::on(target, false);
    rig.wave.set_sgpr(0, CODE as u32);
    rig.wave.set_sgpr(1, (CODE >> 32) as u32 | words[0]);
    rig.wave.set_sgpr(2, words[1]);
    rig.wave.set_sgpr(3, words[2]);
    rig
}

/// DST_SEL of all components in order.
const IN_ORDER: u32 = 4 | 5 << 3 | 6 << 6 | 7 << 9;
/// OOB_SELECT of gfx10 and later: offsets from NUM_RECORDS on are outside.
const RAW: u32 = 3 << 28;

#[test]
fn formats_of_the_descriptor() {
    let one = 1f32.to_bits();
    let f = |value: f32| value.to_bits();
    // buffer_load_format_xyzw v[0:3], off, s[0:3], 0 offset:8
    let gfx11 = [0xe00c_0008, 0x8000_0000];
    let gfx9 = [0xe00c_0008, 0x8000_0000];
    let gfx12 = [0xc400_c07c, 0x0080_0000, 0x0800];
    for (format11, format9, data, components) in [
        // GFX11_FORMAT_*; data format and number format: 8_8_8_8_UNORM, 10_11_11_FLOAT, 2_10_10_10_SNORM,
        // 10_10_10_2_UINT, 16_16_SSCALED, 8_UINT, 16_FLOAT, 32_FLOAT, 8_8_SNORM
        (42, (10, 0), 0xff80_0033, [f(0.2), 0, f(128.0 / 255.0), one]),
        (30, (6, 7), 0x7800_03c0 | 0x400 << 11, [one, f(2.0), one, one]),
        (37, (9, 1), 0x4000_0200 | 0x1ff << 10, [f(-1.0), one, 0, one]),
        (34, (8, 4), 0x0040_0ffe | 3 << 22, [2, 0x3ff, 0, 3]),
        (26, (5, 3), 0x8000_0007, [f(7.0), f(-32768.0), 0, one]),
        (5, (1, 4), 0x1234_56fe, [0xfe, 0, 0, 1]),
        (13, (2, 7), 0xffff_c000, [f(-2.0), 0, 0, one]),
        (22, (4, 7), 0x7f80_0001, [0x7f80_0001, 0, 0, one]),
        (15, (3, 1), 0x0000_8081, [f(-1.0), f(-1.0), 0, one]),
    ] {
        for (target, words, format) in [
            (Target::Gfx1151, &gfx11[..], format11 << 12 | RAW),
            (Target::Gfx1201, &gfx12[..], format11 << 12 | RAW),
            (Target::Gfx906, &gfx9[..], format9.0 << 15 | format9.1 << 12),
        ] {
            let at = words.len() * 4;
            let words: Vec<u32> = words.iter().copied().chain([data]).collect();
            let mut rig = rig(target, [0, 64, format | IN_ORDER]);
            // gfx12's offset is where the words end.
            let mut words = words;
            if at == 12 {
                words[2] = 0x0c00;
            }
            rig.execute(&words).unwrap();
            let loaded = [0, 1, 2, 3].map(|register| rig.wave.lane(register, 0));
            assert_eq!(loaded, components, "{target:?} {format11}");
            // Beyond the end.
            rig.wave.set_sgpr(2, 8);
            rig.execute(&words).unwrap();
            assert_eq!(rig.wave.lane(3, 0), 0);
        }
    }
    // DST_SEL: W, 1, 0, X
    let mut rig = rig(Target::Gfx1151, [0, 64, 47 << 12 | RAW | 7 | 1 << 3 | 4 << 9]);
    rig.execute(&[gfx11[0], gfx11[1], 0x8000_0003]).unwrap();
    assert_eq!([0, 1, 2, 3].map(|register| rig.wave.lane(register, 0)), [0xffff_ff80, 1, 0, 3]);
}

#[test]
fn formats_of_gfx10_have_more_numbers() {
    // GFX10_FORMAT_32_FLOAT 22, 2_10_10_10_UINT 54, 32_32_32_32_UINT 75
    for (format, components) in [(22, [0xc, 0, 0, 1f32.to_bits()]), (54, [0xc, 0, 0, 0])] {
        let mut rig = rig(Target::Gfx1030, [0, 64, format << 12 | RAW | IN_ORDER]);
        rig.execute(&[0xe00c_0008, 0x8000_0000, 0xc]).unwrap();
        assert_eq!([0, 1, 2, 3].map(|register| rig.wave.lane(register, 0)), components);
    }
}

#[test]
fn formats_of_the_instruction() {
    // tbuffer_load_format_xy v[0:1], off, s[0:3], 0 offset:8, gfx12 null offset:12, of 8_8_SINT
    let data = 0x0000_7f80;
    for (target, words) in [
        (Target::Gfx906, &[0xea98_8008, 0x8000_0000, data][..]),
        (Target::Gfx1030, &[0xe899_0008, 0x8000_0000, data]),
        (Target::Gfx1151, &[0xe898_8008, 0x8000_0000, data]),
        (Target::Gfx1201, &[0xc420_407c, 0x0980_0000, 0x0c00, data]),
    ] {
        let mut rig = rig(target, [0, 64, RAW]);
        rig.execute(words).unwrap();
        let loaded = [0, 1].map(|register| rig.wave.lane(register, 0));
        assert_eq!(loaded, [0xffff_ff80, 0x7f], "{target:?}");
    }
}

#[test]
fn halves_of_formats() {
    // buffer_load_d16_format_xy v0, off, s[0:3], 0 offset:8 of 8_8_8_8_UNORM
    let mut rig = rig(Target::Gfx1151, [0, 64, 42 << 12 | RAW | IN_ORDER]);
    rig.execute(&[0xe024_0008, 0x8000_0000, 0x0000_00ff]).unwrap();
    assert_eq!(rig.wave.lane(0, 0), 0x3c00);
    // buffer_load_d16_hi_format_x v0
    rig.execute(&[0xe098_0008, 0x8000_0000, 0x0000_00ff]).unwrap();
    assert_eq!(rig.wave.lane(0, 0), 0x3c00_3c00);
}

#[test]
fn stores_that_nothing_describes_are_refused() {
    // buffer_store_format_x v0, off, s[0:3], 0
    let words = [0xe010_0000, 0x8000_0000];
    for (format, value, text) in [
        (5, 0x100, "0x100 stored in 8 bits of a buffer's format"),
        (3, 0, "BUFFER_STORE_FORMAT_X of Uscaled components of [8] bits is not modelled"),
        (14, 0, "BUFFER_STORE_FORMAT_X of Unorm components of [8, 8] bits is not modelled"),
        (0, 0, "BUFFER_STORE_FORMAT_X of a buffer's format that is not modelled"),
    ] {
        let mut rig = rig(Target::Gfx1151, [0, 64, format << 12 | RAW]);
        rig.wave.set_lane(0, 0, value);
        assert_eq!(rig.refusal(&words), text);
    }
}

/// Element e of record r of a buffer with stride 32 and eight records in a group: groups of eight, in them elements
/// (RDNA3 ISA document, "Swizzled buffer addressing").
#[test]
fn swizzled_elements() {
    let data: Vec<u32> = (2..200).collect();
    // buffer_load_b32 v0, v[1:2], s[0:3], 0 idxen offen
    for (target, words, enabled, element) in [
        (Target::Gfx1151, [0xe050_0000, 0x80c0_0001], 1 << 30, 4),
        (Target::Gfx1151, [0xe050_0000, 0x80c0_0001], 2 << 30, 8),
        (Target::Gfx1151, [0xe050_0000, 0x80c0_0001], 3u32 << 30, 16),
        (Target::Gfx906, [0xe050_3000, 0x8000_0001], 1 << 31, 4),
    ] {
        for (index, offset) in [(0, 0), (3, 4), (9, 20), (15, 28)] {
            let mut rig = rig(target, [32 << 16 | enabled, 1000, RAW]);
            let words: Vec<u32> = words.iter().chain(&data).copied().collect();
            let value = rig.vector(&words, &[index, offset]);
            let at = ((index / 8 * 32 + offset / element * element) * 8)
                + index % 8 * element
                + offset % element;
            assert_eq!(value, words[at as usize / 4], "{target:?} {index} {offset} {element}");
        }
    }
}

#[test]
fn the_lane_adds_to_the_index() {
    let data: Vec<u32> = (2..200).collect();
    // buffer_load_b32 v0, off, s[0:3], 0
    let mut rig = rig(Target::Gfx1151, [8 << 16, 1000, 1 << 23 | RAW]);
    rig.wave.set_mask(EXEC, u64::MAX);
    let words: Vec<u32> = [0xe050_0000, 0x8000_0000].into_iter().chain(data).collect();
    rig.execute(&words).unwrap();
    for lane in [0, 5, 40] {
        assert_eq!(rig.wave.lane(0, lane), words[2 * lane]);
    }
}

/// AMD "Instinct MI300" ISA document, 9.1.9 and 10.3: M0, the instruction's offset, four bytes a lane; 16 of loads of
/// three dwords and more ("CDNA4" ISA document, the same).
#[test]
fn loads_into_lds() {
    let loaded = |target, words: &[u32], m0: u32| {
        let mut rig = rig(target, [0, 4096, 4 << 15 | 4 << 12]);
        rig.lds.reset(1024, 0);
        rig.wave.set_sgpr(M0, m0);
        rig.wave.set_mask(EXEC, 1 << 1 | 1 << 33);
        for lane in [1, 33] {
            rig.wave.set_lane(1, lane, 4 * lane as u32);
            rig.wave.set_lane(2, lane, CODE as u32 + 4 * lane as u32);
            rig.wave.set_lane(3, lane, (CODE >> 32) as u32);
        }
        let words: Vec<u32> = words.iter().copied().chain(words.len() as u32..64).collect();
        rig.execute(&words).unwrap();
        move |at| rig.lds.load32(at)
    };
    // buffer_load_dword v1, s[0:3], 0 offen offset:8 lds
    let lds = loaded(Target::Gfx90a, &[0xe051_1008, 0x8000_0001], 0x1_0012);
    assert_eq!([0x1e, 0x1e + 128, 0x1a].map(lds), [3, 35, 0]);
    // global_load_lds_dword v[2:3], off offset:8; two bits of M0 do not count
    let lds = loaded(Target::Gfx942, &[0xdca8_8008, 0x007f_0002], 0x13);
    assert_eq!([0x1c, 0x1c + 128, 0x18].map(lds), [3, 35, 0]);
    // global_load_lds_dwordx3 v[2:3], off offset:8
    let lds = loaded(Target::Gfx950, &[0xddf8_8008, 0x007f_0002], 0x10);
    assert_eq!([0x28, 0x2c, 0x30, 0x34, 0x228].map(lds), [3, 4, 5, 0, 35]);
}
