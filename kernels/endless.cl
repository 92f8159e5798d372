// Kernels that do not end by themselves.

// Never ends; `progress` counts the turns of each wave's first lane modulo 2^32.
kernel void endless(global volatile uint *progress) {
  for (uint turn = 0;; turn++)
    if (__builtin_amdgcn_workitem_id_x() == 0) *progress = turn;
}

// Ends when the host (or another dispatch) makes *flag nonzero; leaves what it saw in *seen.
kernel void wait_for_flag(global atomic_uint *flag, global uint *seen) {
  uint value;
  while (!(value = __opencl_atomic_load(flag, __ATOMIC_ACQUIRE, __OPENCL_MEMORY_SCOPE_ALL_SVM_DEVICES)))
    __builtin_amdgcn_s_sleep(1);
  if (__builtin_amdgcn_workitem_id_x() == 0) *seen = value;
}
