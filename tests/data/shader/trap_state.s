// A trap handler that stores what it finds at s[0:1] (SCC first, as all else may change it), clears the exceptions
// and returns behind the instruction.
s_cselect_b32 ttmp4, 1, 0
v_mov_b32 v10, 0
v_mov_b32 v11, ttmp0
global_store_b32 v10, v11, s[0:1]
v_mov_b32 v11, ttmp1
global_store_b32 v10, v11, s[0:1] offset:4
v_mov_b32 v11, ttmp12
global_store_b32 v10, v11, s[0:1] offset:8
v_mov_b32 v11, ttmp14
global_store_b32 v10, v11, s[0:1] offset:12
v_mov_b32 v11, ttmp15
global_store_b32 v10, v11, s[0:1] offset:16
s_getreg_b32 ttmp5, hwreg(HW_REG_TRAPSTS)
v_mov_b32 v11, ttmp5
global_store_b32 v10, v11, s[0:1] offset:20
v_mov_b32 v11, ttmp4
global_store_b32 v10, v11, s[0:1] offset:24
s_mov_b32 ttmp5, 0
s_setreg_b32 hwreg(HW_REG_TRAPSTS), ttmp5
s_add_u32 ttmp0, ttmp0, 4
s_addc_u32 ttmp1, ttmp1, 0
s_and_b32 ttmp1, ttmp1, 0xffff
s_setreg_b32 hwreg(HW_REG_STATUS), ttmp12
s_rfe_b64 ttmp[0:1]
