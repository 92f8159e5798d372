; 256 bytes of LDS: a load beyond gives 0, a store is dropped.
v_mov_b32 v1, 0x100
v_mov_b32 v2, 5
ds_store_b32 v1, v2
v_mov_b32 v3, 6
ds_load_b32 v3, v1
v_mov_b32 v4, 0
s_waitcnt lgkmcnt(0)
global_store_b32 v4, v3, s[0:1]
s_endpgm
