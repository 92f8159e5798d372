; An unaligned dword load works, an unaligned atomic does not.
v_mov_b32 v1, 0
v_mov_b32 v2, 0x44332211
v_mov_b32 v3, 0x88776655
global_store_b64 v1, v[2:3], s[0:1]
global_load_b32 v4, v1, s[0:1] offset:3
s_waitcnt vmcnt(0)
global_store_b32 v1, v4, s[0:1] offset:8
v_mov_b32 v5, 1
global_atomic_add_u32 v1, v5, s[0:1] offset:2
s_endpgm
