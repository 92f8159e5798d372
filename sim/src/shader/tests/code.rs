//! Instructions at the end of what is mapped.

use super::*;
use crate::shader::code::decode_at;

/// What comes of an instruction behind which nothing is mapped, from the cache and without it.
fn at_the_end(target: Target, words: &[u32]) -> [Result<(), WaveFaultKind>; 2] {
    let space = Arc::new(AddressSpace::new());
    let backing = Arc::new(Backing::zeroed(4096));
    let start = 4096 - 4 * words.len() as u64;
    for (offset, &word) in (start..).step_by(4).zip(words) {
        backing.store_u32(offset, word);
    }
    assert!(space.map(CODE, 4096, backing, 0, Permissions::READ | Permissions::EXECUTE));
    let mut memory = View::new(space);
    let launch = Rig::whole(target, !target.has_wave32()).launch;
    let cache = InstructionCache::default();
    let mut code = Code::new(target, &launch, &cache);
    let kind = |stop| match stop {
        Stop::Fault(kind) => *kind,
        other => panic!("{other:?}"),
    };
    let cached = code.at(CODE + start, &mut memory).map(|_| ()).map_err(kind);
    [cached, decode_at(target, CODE + start, &mut memory).map(|_| ()).map_err(kind)]
}

#[test]
fn an_instruction_that_is_cut_off_is_a_page_fault() {
    for (target, words) in [
        // buffer_load_b32 v0, off, s[8:11], null
        (Target::Gfx1201, &[0xc405_007c, 0x0080_1000, 0][..]),
        // v_fma_f32 v0, v1, v2, 0x12345678
        (Target::Gfx1151, &[0xd613_0000, 0x03fe_0501, 0x1234_5678]),
        // s_mov_b32 s0, 0x12345678
        (Target::Gfx906, &[0xbe80_00ff, 0x1234_5678]),
        // v_mfma_scale_f32_16x16x128_f8f6f4 v[16:19], v[62:67], v[40:45], v[56:59], v83, v35, of which the first two
        // dwords are an instruction, too
        (Target::Gfx950, &[0xd3ac_0000, 0x0002_4753, 0xd3ad_0b10, 0x64e2_513e]),
    ] {
        assert_eq!(at_the_end(target, words), [Ok(()), Ok(())]);
        let shortest = if target == Target::Gfx950 { 3 } else { 1 };
        for length in shortest..words.len() {
            for result in at_the_end(target, &words[..length]) {
                let Err(WaveFaultKind::Memory(fault)) = result else { panic!("{result:?}") };
                assert_eq!((fault.address, fault.access), (CODE + 4096, Access::Execute));
            }
        }
    }
}

#[test]
fn an_illegal_dword_is_illegal_wherever_it_is() {
    for (target, word) in [(Target::Gfx1151, 0xbe80_ff80u32), (Target::Gfx906, 0xbe80_ff80)] {
        for result in at_the_end(target, &[word]) {
            assert!(matches!(result, Err(WaveFaultKind::IllegalInstruction(_))), "{result:?}");
        }
    }
}
