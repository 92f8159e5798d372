; Two waves write LDS, and each reads what the other wrote, without a barrier.
v_and_b32 v0, 0x3ff, v0
v_lshlrev_b32 v1, 2, v0
ds_store_b32 v1, v0
s_waitcnt lgkmcnt(0)
v_xor_b32 v2, 0x80, v1
ds_load_b32 v3, v2
s_waitcnt lgkmcnt(0)
global_store_b32 v1, v3, s[0:1]
s_endpgm
