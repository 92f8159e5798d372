; Each of 64 lanes: its number plus 64 times the number of lanes below it that are odd, by ballot and mbcnt.
v_and_b32 v1, 1, v0
v_cmp_eq_u32 vcc, 1, v1
v_mbcnt_lo_u32_b32 v2, vcc_lo, 0
v_mbcnt_hi_u32_b32 v2, vcc_hi, v2
v_lshl_add_u32 v2, v2, 6, v0
s_and_saveexec_b64 s[4:5], vcc
v_add_nc_u32 v2, 0x10000, v2
s_mov_b64 exec, s[4:5]
v_readlane_b32 s6, v0, 40
v_add_nc_u32 v2, s6, v2
v_lshlrev_b32 v3, 2, v0
global_store_b32 v3, v2, s[0:1]
s_endpgm
