; Two waves load into LDS, and each reads what the other loaded, without a barrier (gfx942).
v_and_b32 v0, 0x3ff, v0
v_lshlrev_b32 v1, 2, v0
v_xor_b32 v2, 0x100, v1
v_mov_b32 v0, v9
v_readfirstlane_b32 s5, v1
s_mov_b32 m0, s5
s_nop 0
global_load_lds_dword v1, s[0:1]
s_waitcnt vmcnt(0)
ds_read_b32 v3, v1
ds_read_b32 v4, v2
s_waitcnt lgkmcnt(0)
global_store_dword v1, v3, s[0:1]
global_store_dword v1, v0, s[0:1] offset:512
s_endpgm
