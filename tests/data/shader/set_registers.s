; What compilers do with registers that nothing has set, and rightly.
v_mov_b32 v1, 0
; SGPRs of a caller kept in lanes of a VGPR, and that in scratch with all lanes.
v_writelane_b32 v10, s40, 0
v_writelane_b32 v10, s0, 1
s_or_saveexec_b32 s5, -1
scratch_store_b32 off, v10, off
s_waitcnt_vscnt null, 0
scratch_load_b32 v11, off, off
s_waitcnt vmcnt(0)
s_mov_b32 exec_lo, s5
v_readlane_b32 s40, v10, 0
v_readlane_b32 s8, v10, 1
s_mov_b32 s9, s1
; A mask of which only the active lanes' bits matter.
s_mov_b32 s6, exec_lo
v_and_b32 v12, 31, v0
v_cmp_gt_u32 vcc_lo, 16, v12
s_and_saveexec_b32 s7, vcc_lo
v_mov_b32 v2, 5
s_and_not1_b32 s10, s30, exec_lo
s_and_b32 s11, vcc_lo, exec_lo
s_or_b32 s10, s10, s11
s_and_saveexec_b32 s12, s10
global_store_b32 v1, v2, s[8:9]
; Such a mask, kept in a lane of a VGPR.
s_and_not1_b32 s10, s31, exec_lo
v_writelane_b32 v10, s10, 2
v_readlane_b32 s13, v10, 2
s_or_b32 exec_lo, exec_lo, s13
s_mov_b32 exec_lo, s6
; Halves and bytes.
v_mov_b32 v3, 0x1234
v_perm_b32 v4, v20, v3, 0x1000100
v_and_or_b32 v4, v4, 1, v3
v_pack_b32_f16 v4, v3, v21
global_store_b32 v1, v4, s[8:9] offset:4
; A select of which the other side is not set.
v_cmp_eq_u32 vcc_lo, 0, v1
v_cndmask_b32 v5, v22, v3, vcc_lo
global_store_b32 v1, v5, s[8:9] offset:8
; A product of 64 bits of which the low half is used.
v_mad_u64_u32 v[6:7], null, s8, 4, v[0:1]
v_mad_u64_u32 v[8:9], null, s8, 0, v[24:25]
v_mov_b32 v24, 12
v_mad_u64_u32 v[8:9], null, s8, 0, v[24:25]
global_store_b32 v8, v3, s[0:1]
s_cbranch_vccz end
end:
s_endpgm
