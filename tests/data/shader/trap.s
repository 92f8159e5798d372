s_nop 0
s_trap 2
s_endpgm
