// Each kernel makes one access of one kind at the address in its argument, whatever that address is:
// unmapped, read-only, misaligned. Dispatch a single work-item.
#define RELAXED_SYSTEM __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_ALL_SVM_DEVICES

kernel void store_u8(ulong address, uint value) { *(global volatile uchar *)address = value; }
kernel void store_u16(ulong address, uint value) { *(global volatile ushort *)address = value; }
kernel void store_u32(ulong address, uint value) { *(global volatile uint *)address = value; }
kernel void store_u64(ulong address, ulong value) { *(global volatile ulong *)address = value; }
kernel void store_u128(ulong address, ulong low, ulong high) { *(global volatile ulong2 *)address = (ulong2)(low, high); }

kernel void load_u8(ulong address, global uint *out) { *out = *(global volatile uchar *)address; }
kernel void load_u16(ulong address, global uint *out) { *out = *(global volatile ushort *)address; }
kernel void load_u32(ulong address, global uint *out) { *out = *(global volatile uint *)address; }
kernel void load_u64(ulong address, global ulong *out) { *out = *(global volatile ulong *)address; }
kernel void load_u128(ulong address, global ulong2 *out) { *out = *(global volatile ulong2 *)address; }

// Not volatile and uniform: a scalar load (s_load_b32).
kernel void load_scalar(ulong address, global uint *out) { *out = *(constant uint *)address; }

// Through the flat aperture check: a generic pointer.
kernel void load_flat(ulong address, global uint *out) { *out = *(volatile uint *)address; }

kernel void atomic_add_u32(ulong address, uint value, global uint *before) {
  *before = __opencl_atomic_fetch_add((global atomic_uint *)address, value, RELAXED_SYSTEM);
}
kernel void atomic_add_u64(ulong address, ulong value, global ulong *before) {
  *before = __opencl_atomic_fetch_add((global atomic_ulong *)address, value, RELAXED_SYSTEM);
}
// Without the old value: the form of the instruction that returns nothing.
kernel void atomic_or_u32(ulong address, uint value) {
  __opencl_atomic_fetch_or((global atomic_uint *)address, value, RELAXED_SYSTEM);
}

// Work-item i stores to address + i * stride: one faulting lane among many that do not fault.
kernel void store_strided(ulong address, ulong stride) {
  *(global volatile uint *)(address + __builtin_amdgcn_workitem_id_x() * stride) = __builtin_amdgcn_workitem_id_x();
}
