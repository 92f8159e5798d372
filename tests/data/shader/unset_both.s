; An address and the data that is stored there, then an address and the LDS there that nothing has set.
global_store_b32 v5, v6, s[0:1]
ds_load_b32 v1, v5
s_endpgm
