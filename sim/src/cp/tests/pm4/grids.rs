//! Which workgroups run, and what they start with. Kernels are of gfx1151, by llvm-mc-19.

use super::dispatch::{TINYGRAD, dispatch, from, rig};
use super::*;

/// Index of RSRC1's value in [`dispatch`], behind which RSRC2's is.
const RSRC1: usize = 14;

/// Every lane adds 1 to the dword with number x + 8 y + 32 z, by its workgroup's place:
/// s_load_b64 s[2:3], s[0:1], 0x0; s_lshl_b32 s7, s5, 3; s_lshl_b32 s8, s6, 5; s_add_i32 s7, s7, s8;
/// s_add_i32 s7, s7, s4; s_lshl_b32 s7, s7, 2; v_mov_b32 v1, s7; v_mov_b32 v2, 1; s_waitcnt lgkmcnt(0);
/// global_atomic_add_u32 v1, v2, s[2:3]; s_waitcnt_vscnt null, 0x0; s_endpgm
#[rustfmt::skip]
const PLACES: &[u32] = &[
    0xf404_0080, 0xf800_0000, 0x8407_8305, 0x8408_8506, 0x8107_0807, 0x8107_0407, 0x8407_8207, 0x7e02_0207,
    0x7e04_0281, 0xbf89_fc07, 0xdcd6_0000, 0x0002_0201, 0xbc7c_0000, 0xbfb0_0000,
];

/// The same dispatch with numbers of workgroups in all dimensions behind four user SGPRs.
fn with_places(mut words: Vec<u32>) -> Vec<u32> {
    words[RSRC1 + 1] = 4 << 1 | 7 << 7;
    words
}

/// Where workgroups of 32 work-items ran, one each.
fn places(pm4: &Pm4) -> Vec<[u64; 3]> {
    let mut places = Vec::new();
    for number in 0..128 {
        match pm4.rig.read_u32(DATA + 256 + 4 * number) {
            0 => {}
            32 => places.push([number % 8, number / 8 % 4, number / 32]),
            count => panic!("{count} work-items at {number}"),
        }
    }
    places
}

/// The places of a box, in the order of [`places`].
fn all(first: [u64; 3], end: [u64; 3]) -> Vec<[u64; 3]> {
    let [xs, ys, zs] = [0, 1, 2].map(|i| first[i]..end[i]);
    let rows = zs.flat_map(|z| ys.clone().map(move |y| (y, z)));
    rows.flat_map(|(y, z)| xs.clone().map(move |x| [x, y, z])).collect()
}

/// As PAL writes vkCmdDispatchBase (gfx9ComputeCmdBuffer.cpp, `CmdDispatchOffset`): where the grid starts, and where it
/// ends. With FORCE_START_AT_000 it is the whole grid.
#[test]
fn grids_that_start_elsewhere() {
    for (first, initiator, expected) in [
        ([3, 1, 2], TINYGRAD & !4, all([3, 1, 2], [5, 4, 3])),
        ([0, 3, 0], TINYGRAD & !4, all([0, 3, 0], [5, 4, 3])),
        ([3, 1, 2], TINYGRAD, all([0; 3], [5, 4, 3])),
        // It ends before it starts.
        ([5, 0, 0], TINYGRAD & !4, vec![]),
    ] {
        let mut pm4 = Pm4::on(rig(PLACES));
        pm4.run(&with_places(from(first, initiator)));
        assert_eq!(places(&pm4), expected, "{first:?}");
    }
}

/// DISPATCH_INDIRECT has its size in memory: x, then y, then z, whatever COMPUTE_DIM or the packet before it said.
#[test]
fn sizes_from_memory_are_in_order() {
    let mut pm4 = Pm4::on(rig(PLACES));
    let size = DATA + 36;
    pm4.buffer(size - 4, &[1, 6, 2, 3, 1]);
    let mut words = with_places(dispatch([0, 1, 1], [32, 1, 1], TINYGRAD));
    words.extend([0xc002_1600, low(size), high(size), TINYGRAD]);
    // COPY_DATA of the register COMPUTE_DIM_Y to memory.
    words.extend([0xc004_4000, 2 << 8, 0x2e02, 0, low(DATA), 0]);
    pm4.run(&words);
    assert_eq!(places(&pm4), all([0; 3], [6, 2, 3]));
    assert_eq!(pm4.rig.read_u32(DATA), 2);
    // In work-items, and from an indirect buffer.
    let mut pm4 = Pm4::on(rig(PLACES));
    pm4.buffer(size, &[64, 4, 1]);
    pm4.buffer(BUFFERS, &[0xc002_1600, low(size), high(size), TINYGRAD | 0x20]);
    pm4.run(&with_places(dispatch([0, 1, 1], [32, 1, 1], TINYGRAD)));
    pm4.run(&call(BUFFERS, 4));
    assert_eq!(places(&pm4), all([0; 3], [2, 4, 1]));
}

/// Stores its sixteen user SGPRs to the address in the last two: v_mov_b32 v0, 0; v_mov_b32 v4, s0 to v19, s15;
/// global_store_b128 v0, v[4:7], s[14:15] and three more; s_waitcnt_vscnt null, 0x0; s_endpgm
#[rustfmt::skip]
const USER_DATA: &[u32] = &[
    0x7e00_0280, 0x7e08_0200, 0x7e0a_0201, 0x7e0c_0202, 0x7e0e_0203, 0x7e10_0204, 0x7e12_0205, 0x7e14_0206,
    0x7e16_0207, 0x7e18_0208, 0x7e1a_0209, 0x7e1c_020a, 0x7e1e_020b, 0x7e20_020c, 0x7e22_020d, 0x7e24_020e,
    0x7e26_020f, 0xdc76_0000, 0x000e_0400, 0xdc76_0010, 0x000e_0800, 0xdc76_0020, 0x000e_0c00, 0xdc76_0030,
    0x000e_1000, 0xbc7c_0000, 0xbfb0_0000,
];

/// COMPUTE_USER_DATA_0 to 15 are the first SGPRs, as many as RSRC2 says.
#[test]
fn sixteen_user_sgprs() {
    let mut pm4 = Pm4::on(rig(USER_DATA));
    let mut words = dispatch([1, 1, 1], [1, 1, 1], TINYGRAD);
    // 24 VGPRs.
    words[RSRC1] |= 2;
    words[RSRC1 + 1] = 16 << 1;
    let at = words.len() - 7;
    let mut set = vec![0xc010_7600, 0x240];
    set.extend((0..14).map(|register| 0x100 + register));
    set.extend([low(DATA + 256), high(DATA)]);
    let expected = set[2..].to_vec();
    words.splice(at..at, set);
    pm4.run(&words);
    let stored: Vec<u32> = (0..16).map(|at| pm4.rig.read_u32(DATA + 256 + 4 * at)).collect();
    assert_eq!(stored, expected);
}
