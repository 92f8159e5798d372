; Dwords of a lane's scratch through SCRATCH, then the same through FLAT and the aperture; LDS through FLAT.
v_lshlrev_b32 v1, 2, v0
v_add_nc_u32 v2, 1000, v0
scratch_store_b32 off, v2, off offset:4
s_mov_b64 s[4:5], src_private_base
v_mov_b32 v4, 4
v_mov_b32 v5, s5
flat_load_b32 v6, v[4:5]
s_waitcnt vmcnt(0) lgkmcnt(0)
global_store_b32 v1, v6, s[0:1]
s_mov_b64 s[4:5], src_shared_base
v_mov_b32 v5, s5
v_mov_b32 v4, v1
v_add_nc_u32 v7, 2000, v0
flat_store_b32 v[4:5], v7
s_waitcnt lgkmcnt(0)
ds_load_b32 v8, v1
s_waitcnt lgkmcnt(0)
global_store_b32 v1, v8, s[0:1] offset:256
s_endpgm
