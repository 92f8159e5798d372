"""Which structure of which header is which form of a packet, and what the names in headers mean."""

GENERATIONS = ["gfx906", "gfx908", "gfx90a", "gfx94x", "gfx950", "gfx10.1", "gfx10.3", "gfx11", "gfx11.5", "gfx12"]

# Suffixes of sizes, opcodes and enumerators and names of structures in PAL that say where they are.
_ALWAYS = {"", "CORE"}
_GFX9 = _ALWAYS | {"GFX09", "GFX09_10", "GFX09_GFX10CORE", "HASCE", "NOTGFX10"}
_GFX10 = _ALWAYS | {"GFX10", "GFX101", "GFX10PLUS"}
_GFX103 = _GFX10 | {"GFX103PLUS"}
_GFX11 = _ALWAYS | {"GFX10PLUS", "GFX103PLUS", "GFX11"}
SUFFIXES = dict(zip(GENERATIONS, [_GFX9] * 5 + [_GFX10, _GFX103, _GFX11, _GFX11, _ALWAYS]))

# The same for opcodes, whose suffixes are finer: GFX101 is gfx10 as a whole, APU103 some of gfx10.3.
OPCODE_SUFFIXES = SUFFIXES | {
    "gfx10.1": _GFX10,
    "gfx10.3": _GFX103 | {"NV2X", "APU103"},
}

# Pieces that make up one value, beyond NAME_lo and NAME_hi: low piece: (high piece, shift of the low, of the high).
# Sizes and addresses of ACQUIRE_MEM are in units of 256 bytes (ROCr, amd_gpu_pm4.h).
JOINS = {
    "coher_size": ("coher_size_hi", 8, 40),
    "coher_base_lo": ("coher_base_hi", 8, 40),
    "imm_data": ("src_imm_data", 0, 32),
    "dst_32b_addr_lo": ("dst_addr_hi", 2, 32),
    "src_addr_lo_or_data": ("src_addr_hi", 0, 32),
    "address_lo_32b": ("address_hi", 2, 32),
    "reference": ("reference_hi", 0, 32),
    "mask": ("mask_hi", 0, 32),
    "atom_src0": ("atom_src0_u", 0, 32),
    "atom_src1": ("atom_src1_u", 0, 32),
}

_REGISTER_POLL = ["reg_poll_addr", "reg_write_addr1", "reg_write_addr2"]
_MEMORY_POLL = ["mem_poll_addr_lo", "mem_poll_addr_hi", "reg_write_addr1"]
_COPY_SOURCES = ["src_reg_offset", "src_reg_offset_lo", "src_reg_offset_hi", "src_32b_addr_lo", "src_64b_addr_lo",
                 "src_gds_addr_lo", "src_memtc_addr_hi", "dst_64b_addr_lo", "dst_gds_addr_lo"]

# Layout, engine, structure, dwords (None: all), whether dwords follow, members of unions that the form does not use.
FORMS = [
    ("NOP", "MEC", "NOP", 1, True, []),
    ("NOP.header", "MEC", "NOP", 1, False, []),
    ("ACQUIRE_MEM", "MEC", "ACQUIRE_MEM", 8, False, ["gcr_cntl"]),
    ("ACQUIRE_MEM.gfx9", "MEC", "ACQUIRE_MEM", 7, False, ["coher_cntl"]),
    ("ATOMIC_GDS", "MEC", "ATOMIC_GDS", None, False, []),
    ("ATOMIC_MEM", "MEC", "ATOMIC_MEM", None, False, []),
    ("COND_EXEC", "MEC", "COND_EXEC", None, False, []),
    ("COND_INDIRECT_BUFFER", "MEC", "COND_INDIRECT_BUFFER", None, False, []),
    ("COND_WRITE", "MEC", "COND_WRITE", None, False, []),
    ("COPY_DATA", "MEC", "COPY_DATA", None, False,
     _COPY_SOURCES + ["dst_reg_offset", "dst_reg_offset_lo", "dst_reg_offset_hi"]),
    ("COPY_DATA.register", "MEC", "COPY_DATA", None, False, _COPY_SOURCES + ["dst_32b_addr_lo", "dst_addr_hi"]),
    ("DISPATCH_DIRECT", "MEC", "DISPATCH_DIRECT", None, False, []),
    ("DISPATCH_INDIRECT", "MEC", "DISPATCH_INDIRECT", None, False, []),
    ("DISPATCH_INDIRECT.offset", "ME", "DISPATCH_INDIRECT", None, False, []),
    ("DISPATCH_TASK_STATE_INIT", "MEC", "DISPATCH_TASK_STATE_INIT", None, False, []),
    ("DISPATCH_TASKMESH_DIRECT_ACE", "MEC", "DISPATCH_TASKMESH_DIRECT_ACE", None, False, []),
    ("DISPATCH_TASKMESH_INDIRECT_MULTI_ACE", "MEC", "DISPATCH_TASKMESH_INDIRECT_MULTI_ACE", None, False, []),
    ("DMA_DATA", "MEC", "DMA_DATA", None, False, []),
    ("DMA_DATA_FILL_MULTI", "MEC", "DMA_DATA_FILL_MULTI", None, False, []),
    ("EVENT_WRITE", "MEC", "EVENT_WRITE", 2, False, []),
    ("EVENT_WRITE.address", "MEC", "EVENT_WRITE", None, False, []),
    ("EXECUTE_INDIRECT_V2", "MEC", "EXECUTE_INDIRECT_V2", None, True, []),
    ("HDP_FLUSH", "MEC", "HDP_FLUSH", None, False, []),
    ("INDIRECT_BUFFER", "MEC", "INDIRECT_BUFFER", None, False, []),
    ("INDIRECT_BUFFER_PASID", "MEC", "INDIRECT_BUFFER_PASID", None, False, []),
    ("INVALIDATE_TLBS", "MEC", "INVALIDATE_TLBS", None, False, []),
    ("LOAD_SH_REG_INDEX", "MEC", "LOAD_SH_REG_INDEX", None, False, []),
    ("MEM_SEMAPHORE", "MEC", "MEM_SEMAPHORE", None, False, []),
    ("PERFMON_CONTROL", "MEC", "PERFMON_CONTROL", None, False, []),
    ("PERF_COUNTER_WINDOW", "MEC", "PERF_COUNTER_WINDOW", None, False, []),
    ("PFP_SYNC_ME", "ME", "PFP_SYNC_ME", None, False, []),
    ("PRED_EXEC", "PFP", "PRED_EXEC", None, False, []),
    ("PRIME_UTCL2", "MEC", "PRIME_UTCL2", None, False, []),
    ("RELEASE_MEM", "MEC", "RELEASE_MEM", None, False,
     ["gcr_cntl", "address_lo_64b", "cmp_data_lo", "cmp_data_hi", "dw_offset", "num_dwords"]),
    ("REWIND", "MEC", "REWIND", None, False, []),
    ("SET_BASE", "MEC", "SET_BASE", None, False, []),
    ("SET_CONFIG_REG", "MEC", "SET_CONFIG_REG", None, True, []),
    ("SET_QUEUE_REG", "MEC", "SET_QUEUE_REG", None, True, []),
    ("SET_SH_REG", "MEC", "SET_SH_REG", None, True, []),
    ("SET_SH_REG_INDEX", "MEC", "SET_SH_REG_INDEX", None, True, []),
    ("SET_SH_REG_PAIRS", "MEC", "SET_SH_REG_PAIRS", 1, True, []),
    ("SET_SH_REG_PAIRS_PACKED", "MEC", "SET_SH_REG_PAIRS_PACKED", 2, True, []),
    ("SET_SH_REG_PAIRS_PACKED.gfx12", "MEC", "SET_SH_REG_PAIRS_PACKED", 2, True, []),
    ("SET_SH_REG_PAIRS_PACKED_N", "MEC", "SET_SH_REG_PAIRS_PACKED_N", 2, True, []),
    ("SET_UCONFIG_REG", "MEC", "SET_UCONFIG_REG", None, True, []),
    ("SET_UCONFIG_REG_PAIRS", "MEC", "SET_UCONFIG_REG_PAIRS", 1, True, []),
    ("TIMESTAMP", "MEC", "TIMESTAMP", None, False, []),
    ("WAIT_REG_MEM", "MEC", "WAIT_REG_MEM", None, False, _REGISTER_POLL),
    ("WAIT_REG_MEM.register", "MEC", "WAIT_REG_MEM", None, False, _MEMORY_POLL),
    ("WAIT_REG_MEM64", "MEC", "WAIT_REG_MEM64", None, False, _REGISTER_POLL),
    ("WAIT_REG_MEM64.register", "MEC", "WAIT_REG_MEM64", None, False, _MEMORY_POLL),
    ("WRITE_DATA", "MEC", "WRITE_DATA", None, True,
     ["dst_mmreg_addr", "dst_gds_addr", "dst_mmreg_addr_lo", "dst_mmreg_addr_hi"]),
    ("WRITE_DATA.register", "MEC", "WRITE_DATA", None, True, ["dst_gds_addr", "dst_mem_addr_lo", "dst_mem_addr_hi"]),
]

# Which of the forms that differ by generation alone are where.
ONLY = {
    "ACQUIRE_MEM": GENERATIONS[5:],
    "ACQUIRE_MEM.gfx9": GENERATIONS[:5],
    "SET_SH_REG_PAIRS_PACKED": GENERATIONS[:9],
    "SET_SH_REG_PAIRS_PACKED.gfx12": GENERATIONS[9:],
}

_DOORBELLS = ["doorbell_offset0", "doorbell_offset1", "doorbell_offset2", "doorbell_offset3"]
_ALDEBARAN = GENERATIONS[2:5]
_OTHERS = [g for g in GENERATIONS if g not in _ALDEBARAN]

# Layout, header, structure, opcode (None: a second opinion on pieces), generations, members that the form does not use.
KFD_FORMS = [
    ("SET_RESOURCES", "ai", "pm4_mes_set_resources", "SET_RESOURCES", GENERATIONS, []),
    ("RUN_LIST", "ai", "pm4_mes_runlist", "RUN_LIST", GENERATIONS, []),
    ("MAP_PROCESS", "ai", "pm4_mes_map_process", "MAP_PROCESS", _OTHERS, []),
    ("MAP_PROCESS.debug", "aldebaran", "pm4_mes_map_process_aldebaran", "MAP_PROCESS", _ALDEBARAN, []),
    ("MAP_PROCESS_VM", "ai", "PM4_MES_MAP_PROCESS_VM", "MAP_PROCESS_VM", GENERATIONS, []),
    ("MAP_QUEUES", "ai", "pm4_mes_map_queues", "MAP_QUEUES", GENERATIONS, []),
    ("UNMAP_QUEUES", "ai", "pm4_mes_unmap_queues", "UNMAP_QUEUES", GENERATIONS, ["pasid"]),
    ("UNMAP_QUEUES.process", "ai", "pm4_mes_unmap_queues", "UNMAP_QUEUES", GENERATIONS, _DOORBELLS),
    ("QUERY_STATUS", "ai", "pm4_mes_query_status", "QUERY_STATUS", GENERATIONS, ["pasid"]),
    ("QUERY_STATUS.process", "ai", "pm4_mes_query_status", "QUERY_STATUS", GENERATIONS,
     ["doorbell_offset", "engine_sel"]),
    ("RELEASE_MEM", "ai", "pm4_mec_release_mem", None, GENERATIONS[:5],
     ["address_lo_64b", "cmp_data_lo", "cmp_data_hi", "dw_offset", "num_dwords"]),
]
