//! Addresses: offsets that extend without a sign, ends of buffers.

use super::*;

#[test]
fn offsets_beside_a_scalar_base_have_no_sign() {
    // global_load_b32 v0, v1, s[2:3]; global_load_b32 v0, v1, s[2:3] offset:-4
    for (word, offset) in [(0xdc52_0000, 0x8000_0000), (0xdc52_1ffc, 0x8000_0004)] {
        let mut rig = Rig::new(true);
        // The code is what is loaded.
        rig.wave.set_sgpr64(2, CODE - 0x8000_0000);
        assert_eq!(rig.vector(&[word, 0x0002_0001], &[offset]), word);
    }
}

#[test]
fn scalar_loads_end_where_the_buffer_ends() {
    // Stride and NUM_RECORDS; then the offset and what s_buffer_load_b64 s[8:9], s[0:3], s6 reads there.
    let words = [0xf424_0200, 0x0c00_0000, 2, 3, 4, 5];
    for (stride, records, offset, loaded) in [
        (0, 24, 16, [4, 5]),
        (0, 24, 20, [5, 0]),
        (0, 24, 24, [0, 0]),
        (0, 23, 20, [0, 0]),
        (8, 3, 16, [4, 5]),
        (8, 3, 20, [5, 0]),
        (8, 2, 12, [3, 0]),
        // Bits above the stride are SWIZZLE_ENABLE's.
        (0xc008, 2, 12, [3, 0]),
        (0, 0, 0, [0, 0]),
    ] {
        let mut rig = Rig::new(true);
        rig.wave.set_sgpr64(0, CODE | stride << 48);
        rig.wave.set_sgpr(2, records);
        rig.wave.set_sgpr(6, offset);
        rig.execute(&words).expect("no fault");
        let got = [rig.wave.sgpr(8), rig.wave.sgpr(9)];
        assert_eq!(got, loaded, "stride {stride}, {records} records, offset {offset}");
    }
}

/// OOB_SELECT of the descriptor (RDNA3 ISA document, "Buffer addressing": range checking).
#[test]
fn vector_loads_end_where_the_buffer_ends() {
    // buffer_load_b32 v0, v[1:2], s[0:3], 0 idxen offen
    let words = [0xe050_0000, 0x80c0_0001, 2, 3, 4, 5, 6, 7];
    // OOB_SELECT, stride, NUM_RECORDS, index, offset, dword or nothing.
    for (select, stride, records, index, offset, loaded) in [
        // Index, and offset in the stride.
        (0, 8, 4, 3, 4, Some(7)),
        (0, 8, 4, 4, 0, None),
        (0, 8, 4, 2, 8, None),
        (0, 8, 4, 2, 5, None),
        // Index alone.
        (1, 8, 4, 3, 4, Some(7)),
        (1, 8, 4, 4, 0, None),
        (1, 8, 3, 2, 12, Some(7)),
        // Whether there are any records.
        (2, 8, 1, 3, 4, Some(7)),
        (2, 8, 0, 0, 0, None),
        // Bytes.
        (3, 0, 32, 0, 28, Some(7)),
        (3, 0, 32, 0, 32, None),
        (3, 0, 31, 0, 28, None),
        (3, 0, 32, 0, 29, None),
    ] {
        let mut rig = Rig::new(true);
        rig.wave.set_sgpr64(0, CODE | stride << 48);
        rig.wave.set_sgpr64(2, (select << 28) << 32 | records);
        let got = rig.vector(&words, &[index, offset]);
        let expected = loaded.unwrap_or(0);
        assert_eq!(
            got, expected,
            "mode {select}: {records} of {stride} bytes, at {index}, {offset}"
        );
    }
}

/// gfx9 takes the scalar offset off NUM_RECORDS ("Vega 7nm" ISA document, "Range checking": raw buffers).
#[test]
fn scalar_offsets_shorten_buffers_of_gfx9() {
    // buffer_load_dword v0, v1, s[0:3], s4 offen
    let words = [0xe050_1000, 0x0400_0001, 2, 3, 4, 5, 6, 7];
    for (offset, loaded) in [(20, 7), (21, 0), (24, 0)] {
        let mut rig = Rig::on(Target::Gfx90a, false);
        rig.wave.set_sgpr64(0, CODE);
        rig.wave.set_sgpr64(2, 32);
        rig.wave.set_sgpr(4, 8);
        assert_eq!(rig.vector(&words, &[offset]), loaded, "{offset}");
    }
}

/// Dwords of a lane's scratch are as far apart as the lanes of a wave (LLVM's AMDGPUUsage document, "Private").
#[test]
fn halves_of_scratch_go_across_dwords_of_a_lane() {
    let mut rig = Rig::new(true);
    // SCRATCH_EN.
    rig.launch.rsrc2 = 1;
    rig.launch.scratch_bytes_per_wave = 1024;
    rig.launch.scratch_waves = 1;
    rig.wave.scratch = DATA;
    rig.wave.set_lane(1, 0, 0xbbaa);
    // scratch_store_b16 off, v1, off offset:3
    rig.execute(&[0xdc65_0003, 0x007c_0100]).expect("no fault");
    assert_eq!(rig.memory.load_u32(0), 0xaa00_0000);
    assert_eq!(rig.memory.load_u32(4), 0, "lane 1");
    assert_eq!(rig.memory.load_u32(4 * 32), 0xbb);
}

/// An address register that the wave does not have is a refusal, also where nothing else is a VGPR.
#[test]
fn addresses_in_registers_that_are_not_there() {
    // global_load_lds_b32 v[80:81], off; ds_dec_src2_u32 v42
    for (target, words) in [
        (Target::Gfx1151, [0xdcc6_0000, 0x007c_0050]),
        (Target::Gfx906, [0xd908_29df, 0x0020_482a]),
    ] {
        let mut rig = Rig::on(target, false);
        rig.launch.rsrc1 &= !0x3f;
        let error = rig.execute(&words).unwrap_err();
        let text = format!("{error:?}");
        assert!(text.contains("VGPR"), "{target}: {text}");
    }
}
