; As race_lds.s, with barriers, twice.
v_and_b32 v0, 0x3ff, v0
v_lshlrev_b32 v1, 2, v0
v_xor_b32 v2, 0x80, v1
s_mov_b32 s5, 2
again:
ds_store_b32 v1, v0
s_waitcnt lgkmcnt(0)
s_barrier
ds_load_b32 v3, v2
s_waitcnt lgkmcnt(0)
s_barrier
s_sub_u32 s5, s5, 1
s_cmp_lg_u32 s5, 0
s_cbranch_scc1 again
global_store_b32 v1, v3, s[0:1]
s_endpgm
