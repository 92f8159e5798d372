// The second-level trap handler of gfx12. It tells Linux what stopped a wave and halts the wave.
//
// Build: build.sh in this directory (llvm-mc-19 and llvm-objcopy-19); build.sh --check compares with gfx12.bin.
//
// Linux's own handler comes first (cwsr_trap_handler_gfx12.asm, L_FETCH_2ND_TRAP) and jumps here with
//   ttmp1:ttmp0    PC 47:0; trap id in ttmp1 31:28, 0 for an exception
//   ttmp11         bit 23: a debugger is attached
//   ttmp12         STATE_PRIV, to be written back
//   ttmp15:ttmp14  what SET_TRAP_HANDLER gave as data; nothing here
// and leaves ttmp2 to ttmp5 to us; the other TTMPs belong to the debugger's interface. All else is the wave's, but that
// the scheduling mode stays Linux's, the strictest.
//
// The interrupt message is gfx11's (kfd_device.c, kfd_device_info_set_event_interrupt_class): M0 9:0 the queue's
// doorbell, 23:10 a mask of 1 << (code - 1) of kfd_dbg_trap_exception_code (kfd_ioctl.h).

.set DOORBELL_MASK,             0x3ff
.set EXCEPTIONS,                10
.set WAVE_ABORT,                EXCEPTIONS + 0
.set WAVE_TRAP,                 EXCEPTIONS + 1
.set WAVE_MATH_ERROR,           EXCEPTIONS + 2
.set WAVE_ILLEGAL_INSTRUCTION,  EXCEPTIONS + 3
.set WAVE_MEMORY_VIOLATION,     EXCEPTIONS + 4
.set WAVE_APERTURE_VIOLATION,   EXCEPTIONS + 5

// LLVM's AMDGPUUsage document, "Trap Handler ABI".
.set TRAP_ABORT,                2
.set TRAP_DEBUG,                3

// cwsr_trap_handler_gfx12.asm and ROCr's trap_handler_gfx12.s, SQ_WAVE_STATE_PRIV_*, SQ_WAVE_EXCP_FLAG_PRIV_*,
// SQ_WAVE_TRAP_CTRL_*.
.set STATE_SCC,                 9
.set STATE_HALT,                14
.set STATE_POISON,              15
.set PRIV_MEM_VIOL,             4
.set PRIV_ILLEGAL_INST,         6
.set PRIV_HOST_TRAP,            7
.set PRIV_XNACK_ERROR,          12
.set MATH,                      0x7f

.set PC_HI_TRAP_ID,             28 | 4 << 16    // for s_bfe: offset, width
.set DEBUGGER_ATTACHED,         23

.text
.p2align 8
trap_handler:
	s_getreg_b32	ttmp3, hwreg(HW_REG_EXCP_FLAG_PRIV)
	s_bfe_u32	ttmp2, ttmp1, PC_HI_TRAP_ID
	s_cbranch_scc1	trap

	// Nobody here sends traps from the host.
	s_bitcmp1_b32	ttmp3, PRIV_HOST_TRAP
	s_cbranch_scc0	report
	s_setreg_imm32_b32 hwreg(HW_REG_EXCP_FLAG_PRIV, PRIV_HOST_TRAP, 1), 0
	s_branch	return

trap:
	// llvm.debugtrap does nothing without a debugger.
	s_cmp_eq_u32	ttmp2, TRAP_DEBUG
	s_cbranch_scc0	report
	s_bitcmp1_b32	ttmp11, DEBUGGER_ATTACHED
	s_cbranch_scc1	report
	s_add_co_u32	ttmp0, ttmp0, 4
	s_add_co_ci_u32	ttmp1, ttmp1, 0
	s_branch	return

report:
	// ttmp2: trap id. ttmp3: EXCP_FLAG_PRIV. ttmp4: the message. ttmp5: scratch.
	s_sendmsg_rtn_b32 ttmp4, sendmsg(MSG_RTN_GET_DOORBELL)
	s_wait_kmcnt	0
	s_and_b32	ttmp4, ttmp4, DOORBELL_MASK

	s_bitcmp1_b32	ttmp3, PRIV_ILLEGAL_INST
	s_cbranch_scc0	memory
	s_bitset1_b32	ttmp4, WAVE_ILLEGAL_INSTRUCTION

memory:
	// The page tables refused the access, or it was refused before it came to them.
	s_bitcmp1_b32	ttmp3, PRIV_XNACK_ERROR
	s_cbranch_scc0	aperture
	s_bitset1_b32	ttmp4, WAVE_MEMORY_VIOLATION
	s_branch	math
aperture:
	s_bitcmp1_b32	ttmp3, PRIV_MEM_VIOL
	s_cbranch_scc0	math
	s_bitset1_b32	ttmp4, WAVE_APERTURE_VIOLATION

math:
	// EXCP_FLAG_USER collects what happened, enabled or not.
	s_getreg_b32	ttmp5, hwreg(HW_REG_TRAP_CTRL)
	s_getreg_b32	ttmp3, hwreg(HW_REG_EXCP_FLAG_USER)
	s_and_b32	ttmp5, ttmp5, MATH
	s_and_b32	ttmp5, ttmp5, ttmp3
	s_cbranch_scc0	abort
	s_bitset1_b32	ttmp4, WAVE_MATH_ERROR

abort:
	s_cmp_eq_u32	ttmp2, TRAP_ABORT
	s_cbranch_scc0	other
	s_bitset1_b32	ttmp4, WAVE_ABORT

other:
	s_and_not1_b32	ttmp5, ttmp4, DOORBELL_MASK
	s_cbranch_scc1	send
	s_bitset1_b32	ttmp4, WAVE_TRAP

send:
	s_mov_b32	ttmp5, m0
	s_mov_b32	m0, ttmp4
	s_nop		0
	s_sendmsg	sendmsg(MSG_INTERRUPT)
	s_wait_kmcnt	0
	s_mov_b32	m0, ttmp5

	// The wave halts when it leaves. Should anything resume it, it comes back: the PC stays at s_trap, and
	// EXCP_FLAG_PRIV keeps its exceptions.
	s_bitset1_b32	ttmp12, STATE_HALT
	s_cmp_eq_u32	ttmp2, 0
	s_cbranch_scc0	return
	// A wave that is halted at s_endpgm cannot be saved, and the PC of an exception may point there. Linux's
	// handler steps back as far (L_NO_NEXT_TRAP).
	s_sub_co_u32	ttmp0, ttmp0, 8
	s_sub_co_ci_u32	ttmp1, ttmp1, 0

return:
	s_and_b32	ttmp1, ttmp1, 0xffff
	// EXECZ and VCCZ are not written with the rest.
	s_and_b64	exec, exec, exec
	s_and_b64	vcc, vcc, vcc
	// The barriers may have changed since it was read: only what a handler changes is written.
	s_lshr_b32	ttmp12, ttmp12, STATE_SCC
	s_setreg_b32	hwreg(HW_REG_STATE_PRIV, STATE_SCC, STATE_POISON - STATE_SCC + 1), ttmp12
	s_rfe_b64	ttmp[0:1]

	// What instruction prefetch reaches.
	.fill	64, 4, 0xbf9f0000	// s_code_end
