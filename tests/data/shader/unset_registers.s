; Values that nothing has set decide what memory holds, an address, a branch and which lanes are active.
v_mov_b32 v1, 0
v_add_nc_u32 v2, v5, v1
v_mul_lo_u32 v2, v2, v2
global_store_b32 v1, v2, s[0:1]
v_mov_b32 v3, v6
global_load_b32 v4, v3, s[0:1]
s_add_u32 s5, s20, 1
s_cmp_eq_u32 s5, 0
s_cbranch_scc1 next
next:
v_cmp_eq_u32 vcc_lo, v7, v1
s_and_saveexec_b32 s6, vcc_lo
s_endpgm
