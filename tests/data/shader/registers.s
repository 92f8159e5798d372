v_mov_b32 v100, 0
s_endpgm
