; Stores of three floats as four dwords, as clang stores a float3; then of one dword behind an unset one, and of none.
v_and_b32 v0, 0x3ff, v0
v_lshlrev_b32 v1, 4, v0
v_mov_b32 v2, 1.0
v_mov_b32 v3, 1.0
v_mov_b32 v4, 1.0
global_store_b128 v1, v[2:5], s[0:1]
global_store_b64 v1, v[4:5], s[0:1]
v_mov_b32 v6, 1.0
global_store_b64 v1, v[5:6], s[0:1]
global_store_b64 v1, v[8:9], s[0:1]
s_endpgm
