; A load of LDS that nothing has written.
v_mov_b32 v1, 8
ds_store_b32 v1, v1
ds_load_b64 v[2:3], v1
s_endpgm
