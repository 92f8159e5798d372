//! Ends of register files, and texts of which encodings have several forms: LLVM 19's.

use amdgpu_isa::{Target, decode, disassemble};

fn text(words: &[u32]) -> Option<String> {
    let instruction = decode(Target::Gfx1151, words).ok()?;
    Some(disassemble(&instruction, Target::Gfx1151, true).to_string())
}

#[test]
fn tuples_end_at_the_last_register() {
    let load = |register: u32| text(&[0xdc5e_0000, 0x007c_0000 | register << 24]);
    let last = "global_load_b128 v[252:255], v[0:1], off";
    assert_eq!(load(252).as_deref(), Some(last));
    for register in 253..256 {
        assert_eq!(load(register), None, "v{register}");
    }
}

#[test]
fn whole_hardware_registers_have_no_range() {
    for (word, expected) in [
        (0xb880_f801, "s_getreg_b32 s0, hwreg(HW_REG_MODE)"),
        (0xb880_1801, "s_getreg_b32 s0, hwreg(HW_REG_MODE, 0, 4)"),
        (0xb880_f901, "s_getreg_b32 s0, hwreg(HW_REG_MODE, 4, 32)"),
        (0xb900_0001, "s_setreg_b32 hwreg(HW_REG_MODE, 0, 1), s0"),
    ] {
        assert_eq!(text(&[word]).as_deref(), Some(expected));
    }
}

#[test]
fn swizzles_have_the_most_telling_form() {
    for (offset, expected) in [
        (0x0000, ""),
        (0x001e, " offset:swizzle(BROADCAST,2,0)"),
        (0x003e, " offset:swizzle(BROADCAST,2,1)"),
        (0x0078, " offset:swizzle(BROADCAST,8,3)"),
        (0x03e0, " offset:swizzle(BROADCAST,32,31)"),
        (0x041f, " offset:swizzle(SWAP,1)"),
        (0x401f, " offset:swizzle(SWAP,16)"),
        (0x7c1f, " offset:swizzle(REVERSE,32)"),
        (0x001f, " offset:swizzle(BITMASK_PERM,\"ppppp\")"),
        (0x0021, " offset:swizzle(BITMASK_PERM,\"00001\")"),
        (0x0064, " offset:swizzle(BITMASK_PERM,\"00p11\")"),
        (0x0074, " offset:swizzle(BITMASK_PERM,\"p0p11\")"),
        (0x80e4, " offset:swizzle(QUAD_PERM,0,1,2,3)"),
        (0x801b, " offset:swizzle(QUAD_PERM,3,2,1,0)"),
        (0x8001, " offset:swizzle(QUAD_PERM,1,0,0,0)"),
        (0xc020, " offset:49184"),
    ] {
        let expected = format!("ds_swizzle_b32 v0, v1{expected}");
        assert_eq!(text(&[0xd8d4_0000 | offset, 1]), Some(expected), "{offset:#x}");
    }
}

/// Bits that gfx9 has no use for change nothing; of the reserved values of its fields there is no instruction.
#[test]
fn fields_of_gfx9() {
    let text = |words: &[u32]| {
        let instruction = decode(Target::Gfx906, words).ok()?;
        Some(disassemble(&instruction, Target::Gfx906, false).to_string())
    };
    // v_mov_b32_dpp v0, v1 row_shl:1 row_mask:0xf bank_mask:0xf; bit 18 is FI from gfx10 on.
    let dpp = text(&[0x7e00_02fa, 0xff01_0101]);
    assert!(dpp.is_some());
    assert_eq!(text(&[0x7e00_02fa, 0xff05_0101]), dpp);
    let moved = |control| match decode(Target::Gfx906, &[0x7e00_02fa, control]) {
        Ok(instruction) => instruction.fields,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(moved(0xff05_0101), moved(0xff01_0101));
    // v_mov_b32_sdwa v0, v1 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD; DST_UNUSED 3 is reserved.
    assert!(text(&[0x7e00_02f9, 0x0006_1101]).is_some());
    assert_eq!(text(&[0x7e00_02f9, 0x0006_1901]), None);
    // s_load_dword s5, s[2:3], s7: the register has seven bits.
    assert_eq!(text(&[0xc000_0141, 7]).as_deref(), Some("s_load_dword s5, s[2:3], s7"));
    assert_eq!(text(&[0xc000_0141, 0x87]), text(&[0xc000_0141, 7]));
}
