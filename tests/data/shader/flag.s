; As message.s, by an atomic store and atomic loads, which compilers make plain stores and loads with GLC.
v_mov_b32 v1, 0
v_mov_b32 v2, 1
s_cmp_lg_u32 s2, 0
s_cbranch_scc1 reader
global_store_b32 v1, v2, s[0:1]
s_waitcnt_vscnt null, 0
global_store_b32 v1, v2, s[0:1] offset:128
s_endpgm
reader:
global_load_b32 v3, v1, s[0:1] offset:128 glc
s_waitcnt vmcnt(0)
v_readfirstlane_b32 s5, v3
s_cmp_eq_u32 s5, 0
s_cbranch_scc1 reader
global_load_b32 v3, v1, s[0:1]
s_waitcnt vmcnt(0)
global_store_b32 v1, v3, s[0:1] offset:256
s_endpgm
