// Included before a kernel's source when it is compiled for x86-64: each builtin of the amdgcn target that our kernels
// use becomes a call into lockstep.c. Everything else (arithmetic, control flow, memory, atomics, LDS variables, which
// clang makes static variables) is what clang generates for x86-64 from the unchanged source.
#ifdef __OPENCL_C_VERSION__
#define LOCKSTEP_CONSTANT constant
#define LOCKSTEP_PRIVATE private
#else // C
#define LOCKSTEP_CONSTANT
#define LOCKSTEP_PRIVATE
#define amdgpu_kernel noinline // __attribute__((amdgpu_kernel))
#define address_space(n) unused // __attribute__((address_space(1)))
#endif

// Identity. axis: 0 x, 1 y, 2 z.
unsigned lockstep_workitem_id(unsigned axis);
unsigned lockstep_workgroup_id(unsigned axis);
unsigned lockstep_workgroup_size(unsigned axis);
unsigned lockstep_grid_size(unsigned axis);
unsigned lockstep_wave_size(void);
LOCKSTEP_CONSTANT void *lockstep_implicit_arguments(void);
LOCKSTEP_CONSTANT void *lockstep_dispatch_packet(void);
#define __builtin_amdgcn_workitem_id_x() lockstep_workitem_id(0)
#define __builtin_amdgcn_workitem_id_y() lockstep_workitem_id(1)
#define __builtin_amdgcn_workitem_id_z() lockstep_workitem_id(2)
#define __builtin_amdgcn_workgroup_id_x() lockstep_workgroup_id(0)
#define __builtin_amdgcn_workgroup_id_y() lockstep_workgroup_id(1)
#define __builtin_amdgcn_workgroup_id_z() lockstep_workgroup_id(2)
#define __builtin_amdgcn_workgroup_size_x() ((unsigned short)lockstep_workgroup_size(0))
#define __builtin_amdgcn_workgroup_size_y() ((unsigned short)lockstep_workgroup_size(1))
#define __builtin_amdgcn_workgroup_size_z() ((unsigned short)lockstep_workgroup_size(2))
#define __builtin_amdgcn_grid_size_x() lockstep_grid_size(0)
#define __builtin_amdgcn_wavefrontsize() lockstep_wave_size()
#define __builtin_amdgcn_implicitarg_ptr() lockstep_implicit_arguments()
#define __builtin_amdgcn_dispatch_ptr() lockstep_dispatch_packet()

// Meetings of work-items.
void lockstep_barrier(void);
void lockstep_yield(void);
#define __builtin_amdgcn_fence(order, scope) ((void)0) // one thread runs everything, in program order
#define __builtin_amdgcn_s_barrier() lockstep_barrier()
#define __builtin_amdgcn_s_sleep(n) lockstep_yield()

// Cross-lane operations.
unsigned lockstep_mbcnt(unsigned mask, unsigned base, unsigned first_lane);
unsigned lockstep_readfirstlane(unsigned value);
unsigned lockstep_readlane(unsigned value, unsigned lane);
unsigned lockstep_bpermute(unsigned byte_address, unsigned value);
unsigned lockstep_swizzle(unsigned value, unsigned pattern);
unsigned lockstep_dpp_zero(unsigned value, unsigned control);
unsigned long lockstep_ballot(unsigned value);
void lockstep_wmma_f32_16x16x16_f16(LOCKSTEP_PRIVATE const void *a, LOCKSTEP_PRIVATE const void *b, LOCKSTEP_PRIVATE void *c);
#define __builtin_amdgcn_mbcnt_lo(mask, base) lockstep_mbcnt(mask, base, 0)
#define __builtin_amdgcn_mbcnt_hi(mask, base) lockstep_mbcnt(mask, base, 32)
#define __builtin_amdgcn_readfirstlane(value) lockstep_readfirstlane(value)
#define __builtin_amdgcn_readlane(value, lane) lockstep_readlane(value, lane)
#define __builtin_amdgcn_ds_bpermute(address, value) lockstep_bpermute(address, value)
#define __builtin_amdgcn_ds_swizzle(value, pattern) lockstep_swizzle(value, pattern)
// Only the form our kernels use: old value 0, all rows and banks, bound_ctrl (a lane without a source reads 0).
#define __builtin_amdgcn_update_dpp(old, value, control, rows, banks, bound)                                            \
  lockstep_dpp_zero(value, (control) | ((old) == 0 && (rows) == 15 && (banks) == 15 && (bound) ? 0u : ~0u))
#define __builtin_amdgcn_uicmp(a, b, predicate) lockstep_ballot((predicate) == 33 ? (a) != (b) : ~0u)

#ifdef __gfx1151__ // the WMMA kernel's branch
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef half lockstep_v16h __attribute__((ext_vector_type(16)));
typedef float lockstep_v8f __attribute__((ext_vector_type(8)));
static lockstep_v8f lockstep_wmma(lockstep_v16h a, lockstep_v16h b, lockstep_v8f c) {
  lockstep_wmma_f32_16x16x16_f16(&a, &b, &c);
  return c;
}
#define __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c) lockstep_wmma(a, b, c)
#endif
