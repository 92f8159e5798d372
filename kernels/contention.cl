// Many work-items on few words. What is stored does not depend on their order.
#define DEVICE __OPENCL_MEMORY_SCOPE_DEVICE

// Each work-item takes a ticket and stamps it: all stamps end as 1, and the counter as the number of work-items.
kernel void tickets(global atomic_uint *counter, global atomic_uint *stamps) {
  uint ticket = __opencl_atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED, DEVICE);
  __opencl_atomic_fetch_add(stamps + ticket, 1u, __ATOMIC_RELAXED, DEVICE);
}

// A float sum by compare-and-exchange; exact, as every partial sum of small integers is.
kernel void float_sum(global atomic_uint *sum, global const uint *in, uint n) {
  for (uint i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
       i < n; i += __builtin_amdgcn_grid_size_x()) {
    uint old = __opencl_atomic_load(sum, __ATOMIC_RELAXED, DEVICE), next;
    do next = as_uint(as_float(old) + (float)(in[i] & 255));
    while (!__opencl_atomic_compare_exchange_strong(sum, &old, next, __ATOMIC_RELAXED, __ATOMIC_RELAXED, DEVICE));
  }
}

// 64-bit atomics, then the same in LDS, one result a workgroup.
kernel void wide(global atomic_ulong *words, global const ulong *in, global ulong *out) {
  local atomic_ulong s[4];
  uint t = __builtin_amdgcn_workitem_id_x(), g = __builtin_amdgcn_workgroup_id_x();
  ulong v = in[g * __builtin_amdgcn_workgroup_size_x() + t];
  if (t < 4) __opencl_atomic_init(s + t, t == 2 ? ~0ul : 0ul);
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  __opencl_atomic_fetch_add(words, v, __ATOMIC_RELAXED, DEVICE);
  __opencl_atomic_fetch_xor(words + 1, v, __ATOMIC_RELAXED, DEVICE);
  __opencl_atomic_fetch_min(words + 2, v, __ATOMIC_RELAXED, DEVICE);
  __opencl_atomic_fetch_max(words + 3, v, __ATOMIC_RELAXED, DEVICE);
  __opencl_atomic_fetch_add(s, v, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
  __opencl_atomic_fetch_xor(s + 1, v, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
  __opencl_atomic_fetch_min(s + 2, v, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
  __opencl_atomic_fetch_max(s + 3, v, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  if (t < 4) out[g * 4 + t] = __opencl_atomic_load(s + t, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
}
