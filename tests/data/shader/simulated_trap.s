// What clang 19 emits for __builtin_trap() on gfx1100.
s_mov_b32 ttmp2, m0
s_trap 2
s_sendmsg_rtn_b32 s0, sendmsg(MSG_RTN_GET_DOORBELL)
s_waitcnt lgkmcnt(0)
s_and_b32 s0, s0, 0x3ff
s_bitset1_b32 s0, 10
s_mov_b32 m0, s0
s_sendmsg sendmsg(MSG_INTERRUPT)
s_mov_b32 m0, ttmp2
halt:
s_sethalt 5
s_branch halt
