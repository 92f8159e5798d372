; Workgroups store to the same dword.
v_mov_b32 v1, 0
v_mov_b32 v2, s2
global_store_b32 v1, v2, s[0:1]
s_endpgm
