; Stores a literal, which is the third dword.
v_mov_b32 v0, 0
v_mov_b32 v1, 0x11111111
global_store_b32 v0, v1, s[0:1]
s_endpgm
