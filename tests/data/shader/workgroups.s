; Work-item ids (v0: x | y << 10 | z << 20) and workgroup ids (s2, s3, s4) of a 3D grid: one atomic add a work-item.
v_bfe_u32 v1, v0, 10, 10
v_bfe_u32 v2, v0, 20, 10
v_and_b32 v0, 0x3ff, v0
v_mad_u32_u24 v0, s2, 4, v0
v_mad_u32_u24 v1, s3, 2, v1
v_mad_u32_u24 v2, s4, 3, v2
v_mad_u32_u24 v0, v1, 10, v0
v_mul_u32_u24 v2, 50, v2
v_add_lshl_u32 v0, v0, v2, 2
v_mov_b32 v1, 1
global_atomic_add_u32 v0, v1, s[0:1]
s_endpgm
