; Workgroup 0 (s2) waits for a flag that workgroup 1 sets, then answers.
s_cmp_eq_u32 s2, 0
s_cbranch_scc0 setter
v_mov_b32 v1, 0
waiting:
global_load_b32 v2, v1, s[0:1] glc
s_waitcnt vmcnt(0)
v_cmp_eq_u32 vcc_lo, 7, v2
s_cbranch_vccz waiting
v_mov_b32 v3, 9
global_store_b32 v1, v3, s[0:1] offset:4
s_endpgm
setter:
v_mov_b32 v1, 0
v_mov_b32 v2, 7
global_store_b32 v1, v2, s[0:1]
s_endpgm
