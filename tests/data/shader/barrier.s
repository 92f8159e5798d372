; Two waves of 32: each stores its lane number + 100*wave to LDS, waits, and writes the other wave's value.
v_lshlrev_b32 v1, 2, v0
v_add_nc_u32 v2, 100, v0
ds_store_b32 v1, v2
s_waitcnt lgkmcnt(0)
s_barrier
v_xor_b32 v3, 0x80, v1
ds_load_b32 v4, v3
s_waitcnt lgkmcnt(0)
global_store_b32 v1, v4, s[0:1]
s_endpgm
