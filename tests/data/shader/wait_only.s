; A barrier that nobody signals (gfx1201).
s_barrier_wait -1
s_endpgm
