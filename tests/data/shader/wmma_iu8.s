; A and B from the buffer (16 rows of 16 signed bytes each), C zero, D to offset 1024 as the registers lie.
v_and_b32 v1, 15, v0
v_lshlrev_b32 v1, 4, v1
global_load_b128 v[4:7], v1, s[0:1]
global_load_b128 v[8:11], v1, s[0:1] offset:256
s_waitcnt vmcnt(0)
v_wmma_i32_16x16x16_iu8 v[12:19], v[4:7], v[8:11], 0 neg_lo:[1,1,0]
v_lshlrev_b32 v2, 2, v0
global_store_b32 v2, v12, s[0:1] offset:1024
global_store_b32 v2, v13, s[0:1] offset:1152
global_store_b32 v2, v14, s[0:1] offset:1280
global_store_b32 v2, v15, s[0:1] offset:1408
global_store_b32 v2, v16, s[0:1] offset:1536
global_store_b32 v2, v17, s[0:1] offset:1664
global_store_b32 v2, v18, s[0:1] offset:1792
global_store_b32 v2, v19, s[0:1] offset:1920
s_endpgm
