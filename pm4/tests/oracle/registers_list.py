"""Which registers registers.py prints, which of them are rows, and what of a value a field holds."""

PATTERNS = [
    r"COMPUTE_\w+",
    r"CP_HQD_(?!AQL_CONTROL_1)\w+",
    r"CP_MQD_(BASE_ADDR(_HI)?|CONTROL)",
    r"CP_MEC[12]_INSTR_PNTR",
    r"CP_MEC_(CNTL|ME[12]_HEADER_DUMP|DOORBELL_RANGE_(LOWER|UPPER)|RS64_(CNTL|INSTR_PNTR))",
    r"CP_CPC_(STATUS|BUSY_STAT2?|STALLED_STAT1)",
    r"CP_CPF_(STATUS|BUSY_STAT2?|STALLED_STAT1)",
    r"CP_COHER_\w+",
    r"CP_GPU_TIMESTAMP_OFFSET_(LO|HI)",
    r"CP_PERFMON_CNTL(_1)?",
    r"GCR_(GENERAL_CNTL|CMD_STATUS|PIO_CNTL|PIO_DATA)",
    r"GRBM_GFX_(INDEX|CNTL)",
    r"GRBM_PERFCOUNTER\d_\w+",
    r"GRBM_STATUS(2|3|_SE\d)?",
    r"RLC_PERFMON_\w+",
    r"RLC_SPM_(MC_CNTL|PERFMON_(CNTL|RING_BASE_LO|RING_BASE_HI|RING_SIZE|SEGMENT_SIZE))",
    r"RLC_(CAPTURE_)?GPU_CLOCK_COUNT\w*",
    r"SH_MEM_(BASES|CONFIG)",
    r"SPI_GDBG_(PER_VMID_CNTL|TRAP_CONFIG|WAVE_CNTL)",
    r"SQG?_PERFCOUNTER\w+",
    r"SQ_(CMD|IND_INDEX|IND_DATA)",
    r"SQ_SHADER_T[BM]A_(LO|HI)",
    r"SQ_THREAD_TRACE_(?!WORD_)\w+",
    r"TCP_WATCH\d_\w+",
]

# Equal registers that are told apart by a number or letter.
ROWS = [
    "COMPUTE_DIM_[XYZ]",
    "COMPUTE_START_[XYZ]",
    "COMPUTE_RESTART_[XYZ]",
    "COMPUTE_PRESCALED_DIM_[XYZ]",
    "COMPUTE_STATIC_THREAD_MGMT_SE[0to8]",
    "COMPUTE_DESTINATION_EN_SE[0to3]",
    "COMPUTE_USER_ACCUM_[0to3]",
    "COMPUTE_PREF_PRI_ACCUM_[0to3]",
    "COMPUTE_USER_DATA_[0to15]",
    "CP_MEC[1to2]_INSTR_PNTR",
    "CP_MEC_ME[1to2]_HEADER_DUMP",
    "GRBM_STATUS_SE[0to5]",
    "GRBM_PERFCOUNTER[0to1]_LO",
    "GRBM_PERFCOUNTER[0to1]_HI",
    "GRBM_PERFCOUNTER[0to1]_SELECT",
    "GRBM_PERFCOUNTER[0to1]_SELECT_HI",
    "SQ_PERFCOUNTER[0to15]_LO",
    "SQ_PERFCOUNTER[0to15]_HI",
    "SQ_PERFCOUNTER[0to15]_SELECT",
    "SQG_PERFCOUNTER[0to7]_LO",
    "SQG_PERFCOUNTER[0to7]_HI",
    "SQG_PERFCOUNTER[0to7]_SELECT",
    "SQ_THREAD_TRACE_USERDATA_[0to7]",
    "TCP_WATCH[0to3]_ADDR_H",
    "TCP_WATCH[0to3]_ADDR_L",
    "TCP_WATCH[0to3]_CNTL",
]


def fixed(bit):
    """The field's lowest bit is this bit of the value."""
    return lambda generation, mask: bit


def before_gfx11(old, new):
    """One bit to gfx10.3, another from gfx11 on."""
    return lambda generation, mask: new if generation[3:5] in ("11", "12") else old


def in_place(generation, mask):
    """The field's bits are where they are in the value: low bits that are always zero have no room in it."""
    return (mask & -mask).bit_length() - 1


# The other register has bits 31:0, as its mask shows.
HIGH_HALF = fixed(32)

AMD = "linux/drivers/gpu/drm/amd/"
MQD = AMD + "amdkfd/kfd_mqd_manager_v9.c"
GFX = AMD + "amdgpu/amdgpu_amdkfd_gfx_v9.c"
TINY = "tinygrad/tinygrad/runtime/ops_amd.py"
MESA = "mesa/src/amd/common/ac_shader_util.c"
PGM = (TINY, r"COMPUTE_PGM_LO, \*data64_le\(\w+\.prog_addr >> 8\)")
SCRATCH = (TINY, r"COMPUTE_DISPATCH_SCRATCH_BASE_LO, \*data64_le\(scratch_base >> 8\)")
WAVESIZE = (MESA, r"size_shift = info->gfx_level >= GFX11 \? 8 : 10;")
TRACE9 = (TINY, r"SQ_THREAD_TRACE_BASE, addr=lo32\(\w+\[se\]\.va_addr >> 12\)")
TRACE9_HI = (TINY, r"SQ_THREAD_TRACE_BASE2, addr_hi=hi32\(\w+\[se\]\.va_addr >> 12\)")
TRACE = (TINY, r"buf0_lo, buf0_hi = data64_le\(\w+\[se\]\.va_addr >> 12\)")
TRACE_SIZE = (TINY, r"SIZE, (base_hi=buf0_hi, )?size=\w+\[se\]\.size >> 12\)")

# (first register of the row, field): which bit of the value its lowest one is, then where that is to be seen:
# a file and what has to be found in it.
JOINS = {
    ("COMPUTE_PGM_LO", "DATA"): (fixed(8), PGM),
    ("COMPUTE_PGM_HI", "DATA"): (fixed(40), PGM),
    ("COMPUTE_DISPATCH_SCRATCH_BASE_LO", "DATA"): (fixed(8), SCRATCH),
    ("COMPUTE_DISPATCH_SCRATCH_BASE_HI", "DATA"): (fixed(40), SCRATCH),
    ("COMPUTE_TMPRING_SIZE", "WAVESIZE"): (before_gfx11(10, 8), WAVESIZE),
    ("CP_COHER_BASE", "COHER_BASE_256B"): (fixed(8),),
    ("CP_COHER_BASE_HI", "COHER_BASE_HI_256B"): (fixed(40),),
    ("CP_COHER_SIZE", "COHER_SIZE_256B"): (fixed(8),),
    ("CP_COHER_SIZE_HI", "COHER_SIZE_HI_256B"): (fixed(40),),
    ("CP_GPU_TIMESTAMP_OFFSET_HI", "OFFSET_HI"): (HIGH_HALF,),
    ("CP_HQD_CNTL_STACK_OFFSET", "OFFSET"): (in_place, (MQD, r"cp_hqd_cntl_stack_offset = q->ctl_stack_size;")),
    ("CP_HQD_CNTL_STACK_SIZE", "SIZE"): (in_place, (MQD, r"cp_hqd_cntl_stack_size = q->ctl_stack_size;")),
    ("CP_HQD_CTX_SAVE_BASE_ADDR_LO", "ADDR"): (
        in_place,
        (MQD, r"ctx_save_base_addr_lo =\s+lower_32_bits\(q->ctx_save_restore_area_address\)"),
    ),
    ("CP_HQD_CTX_SAVE_BASE_ADDR_HI", "ADDR_HI"): (
        fixed(32),
        (MQD, r"ctx_save_base_addr_hi =\s+upper_32_bits\(q->ctx_save_restore_area_address\)"),
    ),
    ("CP_HQD_CTX_SAVE_SIZE", "SIZE"): (in_place, (MQD, r"cp_hqd_ctx_save_size = q->ctx_save_restore_area_size;")),
    ("CP_HQD_WG_STATE_OFFSET", "OFFSET"): (in_place, (MQD, r"cp_hqd_wg_state_offset = q->ctl_stack_size;")),
    ("CP_HQD_SUSPEND_CNTL_STACK_OFFSET", "OFFSET"): (in_place,),
    ("CP_HQD_SUSPEND_WG_STATE_OFFSET", "OFFSET"): (in_place,),
    ("CP_HQD_EOP_BASE_ADDR", "BASE_ADDR"): (
        fixed(8),
        (MQD, r"cp_hqd_eop_base_addr_lo =\s+lower_32_bits\(q->eop_ring_buffer_address >> 8\)"),
    ),
    ("CP_HQD_EOP_BASE_ADDR_HI", "BASE_ADDR_HI"): (
        fixed(40),
        (MQD, r"cp_hqd_eop_base_addr_hi =\s+upper_32_bits\(q->eop_ring_buffer_address >> 8\)"),
    ),
    ("CP_HQD_IB_BASE_ADDR", "IB_BASE_ADDR"): (in_place,),
    ("CP_HQD_IB_BASE_ADDR_HI", "IB_BASE_ADDR_HI"): (HIGH_HALF,),
    ("CP_HQD_PQ_BASE", "ADDR"): (
        fixed(8),
        (MQD, r"cp_hqd_pq_base_lo = lower_32_bits\(\(uint64_t\)q->queue_address >> 8\)"),
    ),
    ("CP_HQD_PQ_BASE_HI", "ADDR_HI"): (
        fixed(40),
        (MQD, r"cp_hqd_pq_base_hi = upper_32_bits\(\(uint64_t\)q->queue_address >> 8\)"),
    ),
    ("CP_HQD_PQ_DOORBELL_CONTROL", "DOORBELL_OFFSET"): (
        in_place,
        (MQD, r"q->doorbell_off <<\s+CP_HQD_PQ_DOORBELL_CONTROL__DOORBELL_OFFSET__SHIFT"),
        (AMD + "amdkfd/kfd_priv.h", r"doorbell_off"),
    ),
    ("CP_HQD_PQ_RPTR_REPORT_ADDR", "RPTR_REPORT_ADDR"): (
        in_place,
        (MQD, r"rptr_report_addr_lo = lower_32_bits\(\(uint64_t\)q->read_ptr\)"),
    ),
    ("CP_HQD_PQ_RPTR_REPORT_ADDR_HI", "RPTR_REPORT_ADDR_HI"): (
        fixed(32),
        (MQD, r"rptr_report_addr_hi = upper_32_bits\(\(uint64_t\)q->read_ptr\)"),
    ),
    ("CP_HQD_PQ_WPTR_HI", "DATA"): (HIGH_HALF,),
    ("CP_HQD_PQ_WPTR_POLL_ADDR", "WPTR_ADDR"): (
        in_place,
        (MQD, r"wptr_poll_addr_lo = lower_32_bits\(\(uint64_t\)q->write_ptr\)"),
    ),
    ("CP_HQD_PQ_WPTR_POLL_ADDR_HI", "WPTR_ADDR_HI"): (
        fixed(32),
        (MQD, r"wptr_poll_addr_hi = upper_32_bits\(\(uint64_t\)q->write_ptr\)"),
    ),
    ("CP_MEC_DOORBELL_RANGE_LOWER", "DOORBELL_RANGE_LOWER"): (
        in_place,
        (AMD + "amdgpu/gfx_v11_0.c", r"CP_MEC_DOORBELL_RANGE_LOWER,\s+\(adev->doorbell_index\.kiq \* 2\) << 2\)"),
    ),
    ("CP_MEC_DOORBELL_RANGE_UPPER", "DOORBELL_RANGE_UPPER"): (
        in_place,
        (AMD + "amdgpu/gfx_v11_0.c", r"CP_MEC_DOORBELL_RANGE_UPPER,\s+\(adev->doorbell_index\.\w+ \* 2\) << 2\)"),
    ),
    ("CP_MQD_BASE_ADDR", "BASE_ADDR"): (in_place, (MQD, r"cp_mqd_base_addr_lo\s+= lower_32_bits\(addr\)")),
    ("CP_MQD_BASE_ADDR_HI", "BASE_ADDR_HI"): (fixed(32), (MQD, r"cp_mqd_base_addr_hi\s+= upper_32_bits\(addr\)")),
    ("GRBM_PERFCOUNTER0_HI", "PERFCOUNTER_HI"): (HIGH_HALF,),
    ("RLC_GPU_CLOCK_COUNT_MSB", "GPU_CLOCKS_MSB"): (
        fixed(32),
        (AMD + "amdgpu/gfx_v9_0.c", r"GPU_CLOCK_COUNT_MSB\) << 32ULL"),
    ),
    ("RLC_GPU_CLOCK_COUNT_MSB_1", "GPU_CLOCKS_MSB"): (HIGH_HALF,),
    ("RLC_GPU_CLOCK_COUNT_MSB_2", "GPU_CLOCKS_MSB"): (HIGH_HALF,),
    ("RLC_GPU_CLOCK_COUNT_SPM_MSB", "GPU_CLOCKS_MSB"): (HIGH_HALF,),
    ("RLC_SPM_PERFMON_RING_BASE_HI", "RING_BASE_HI"): (HIGH_HALF,),
    ("SH_MEM_BASES", "PRIVATE_BASE"): (
        fixed(48),
        (AMD + "amdgpu/gfx_v9_0.c", r"PRIVATE_BASE,\s+\(adev->gmc\.private_aperture_start >> 48\)"),
    ),
    ("SH_MEM_BASES", "SHARED_BASE"): (
        fixed(48),
        (AMD + "amdgpu/gfx_v9_0.c", r"SHARED_BASE,\s+\(adev->gmc\.shared_aperture_start >> 48\)"),
    ),
    ("SQG_PERFCOUNTER0_HI", "PERFCOUNTER_HI"): (HIGH_HALF,),
    ("SQ_PERFCOUNTER0_HI", "PERFCOUNTER_HI"): (HIGH_HALF,),
    ("SQ_SHADER_TBA_LO", "ADDR_LO"): (fixed(8), (GFX, r"SQ_SHADER_TBA_LO,\s+lower_32_bits\(tba_addr >> 8\)")),
    ("SQ_SHADER_TBA_HI", "ADDR_HI"): (fixed(40), (GFX, r"SQ_SHADER_TBA_HI,\s+upper_32_bits\(tba_addr >> 8\)")),
    ("SQ_SHADER_TMA_LO", "ADDR_LO"): (fixed(8), (GFX, r"SQ_SHADER_TMA_LO,\s+lower_32_bits\(tma_addr >> 8\)")),
    ("SQ_SHADER_TMA_HI", "ADDR_HI"): (fixed(40), (GFX, r"SQ_SHADER_TMA_HI,\s+upper_32_bits\(tma_addr >> 8\)")),
    ("SQ_THREAD_TRACE_BASE", "ADDR"): (fixed(12), TRACE9),
    ("SQ_THREAD_TRACE_BASE2", "ADDR_HI"): (fixed(44), TRACE9_HI),
    ("SQ_THREAD_TRACE_SIZE", "SIZE"): (fixed(12), TRACE_SIZE),
    ("SQ_THREAD_TRACE_BUF0_BASE", "BASE_LO"): (fixed(12), TRACE),
    ("SQ_THREAD_TRACE_BUF0_BASE_LO", "BASE_LO"): (fixed(12), TRACE),
    ("SQ_THREAD_TRACE_BUF0_BASE_HI", "BASE_HI"): (fixed(44), TRACE),
    ("SQ_THREAD_TRACE_BUF0_SIZE", "BASE_HI"): (fixed(44), TRACE),
    ("SQ_THREAD_TRACE_BUF0_SIZE", "SIZE"): (fixed(12), TRACE_SIZE),
    ("SQ_THREAD_TRACE_BUF1_BASE", "BASE_LO"): (fixed(12), TRACE),
    ("SQ_THREAD_TRACE_BUF1_BASE_LO", "BASE_LO"): (fixed(12), TRACE),
    ("SQ_THREAD_TRACE_BUF1_BASE_HI", "BASE_HI"): (fixed(44), TRACE),
    ("SQ_THREAD_TRACE_BUF1_SIZE", "BASE_HI"): (fixed(44), TRACE),
    ("SQ_THREAD_TRACE_BUF1_SIZE", "SIZE"): (fixed(12), TRACE_SIZE),
    ("TCP_WATCH0_ADDR_H", "ADDR"): (fixed(32), (GFX, r"watch_address_high = upper_32_bits\(watch_address\) & 0xffff;")),
    ("TCP_WATCH0_ADDR_L", "ADDR"): (in_place, (GFX, r"watch_address_low = lower_32_bits\(watch_address\);")),
}

PERFMON = ("CP_PERFMON_STATE", "CP_PERFMON_STATE_")
STREAM = ("SPM_PERFMON_STATE", "STRM_PERFMON_STATE_")
ENABLE = ("CP_PERFMON_ENABLE_MODE", "CP_PERFMON_ENABLE_MODE_")

# Linux puts what it is asked for into the register (kgd_gfx_v9_set_address_watch).
WATCH = ("kfd_dbg_trap_address_watch_mode", "KFD_DBG_TRAP_ADDRESS_WATCH_MODE_")

# (first register of the row, field): AMD's enumeration and what its constants start with.
NAMES = {
    ("CP_PERFMON_CNTL", "PERFMON_STATE"): PERFMON,
    ("CP_PERFMON_CNTL", "SPM_PERFMON_STATE"): STREAM,
    ("CP_PERFMON_CNTL", "PERFMON_ENABLE_MODE"): ENABLE,
    ("CP_PERFMON_CNTL_1", "PERFMON_STATE"): PERFMON,
    ("CP_PERFMON_CNTL_1", "SPM_PERFMON_STATE"): STREAM,
    ("CP_PERFMON_CNTL_1", "PERFMON_ENABLE_MODE"): ENABLE,
    ("SH_MEM_CONFIG", "ADDRESS_MODE"): ("SH_MEM_ADDRESS_MODE", "SH_MEM_ADDRESS_"),
    ("SH_MEM_CONFIG", "ALIGNMENT_MODE"): ("SH_MEM_ALIGNMENT_MODE", "SH_MEM_ALIGNMENT_MODE_"),
    ("SQ_CMD", "CMD"): ("SQ_IND_CMD_CMD", "SQ_IND_CMD_CMD_"),
    ("SQ_CMD", "MODE"): ("SQ_IND_CMD_MODE", "SQ_IND_CMD_MODE_"),
    ("TCP_WATCH0_CNTL", "MODE"): WATCH,
}
