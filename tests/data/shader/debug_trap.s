// Sets SCC and stores it and EXEC after a trap that the handler returns from.
s_cmp_eq_u32 0, 0
s_trap 3
s_cselect_b32 s4, 1, 0
v_mov_b32 v1, 0
v_mov_b32 v2, s4
global_store_b32 v1, v2, s[0:1]
v_mov_b32 v2, m0
global_store_b32 v1, v2, s[0:1] offset:4
s_endpgm
