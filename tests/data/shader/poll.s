; Says that it runs, then reads a dword of the page behind the buffer's until it cannot.
s_add_u32 s4, s0, 0x10000
s_addc_u32 s5, s1, 0
v_mov_b32 v0, 0
v_mov_b32 v1, 1
global_store_b32 v0, v1, s[0:1]
again:
global_load_b32 v2, v0, s[4:5]
s_waitcnt vmcnt(0)
s_branch again
