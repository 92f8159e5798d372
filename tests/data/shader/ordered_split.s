; As ordered_lds.s, with split barriers (gfx1201).
v_and_b32 v0, 0x3ff, v0
v_lshlrev_b32 v1, 2, v0
v_xor_b32 v2, 0x80, v1
ds_store_b32 v1, v0
s_wait_dscnt 0
s_barrier_signal -1
s_barrier_wait -1
ds_load_b32 v3, v2
s_wait_dscnt 0
global_store_b32 v1, v3, s[0:1]
s_endpgm
