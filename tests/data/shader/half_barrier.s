// Of two waves, the first comes to no instruction, and the second waits for it.
v_cmp_gt_u32 vcc_lo, 32, v0
s_cbranch_vccz second
.long 0xbfff0000
second:
s_barrier
s_endpgm
