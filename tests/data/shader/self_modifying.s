; Executes an instruction, stores another in its place, and executes that after s_icache_inv: 1, then 2.
s_getpc_b64 s[4:5]
s_mov_b32 s7, 0
v_mov_b32 v0, 0
v_mov_b32 v1, 0xbe860082 ; s_mov_b32 s6, 2
again:
s_mov_b32 s6, 1
v_mov_b32 v2, s6
v_mov_b32 v3, s7
global_store_b32 v3, v2, s[0:1]
global_store_b32 v0, v1, s[4:5] offset:16
s_waitcnt_vscnt null, 0x0
s_icache_inv
s_add_u32 s7, s7, 4
s_cmp_lg_u32 s7, 8
s_cbranch_scc1 again
s_endpgm
