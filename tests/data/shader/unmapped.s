v_mov_b32 v2, 0x1000
v_mov_b32 v3, 0x77
global_load_b32 v1, v[2:3], off
s_endpgm
