// Workgroup g waits until the one before it has passed the baton: workgroups must make progress independently.
kernel void relay(global atomic_uint *baton, global uint *order) {
  uint t = __builtin_amdgcn_workitem_id_x(), g = __builtin_amdgcn_workgroup_id_x();
  while (__opencl_atomic_load(baton, __ATOMIC_ACQUIRE, __OPENCL_MEMORY_SCOPE_DEVICE) != g) __builtin_amdgcn_s_sleep(1);
  if (t == 0) order[g] = (g ? order[g - 1] * 5 : 0) + g + 1;
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); __builtin_amdgcn_s_barrier();
  if (t == 0) __opencl_atomic_store(baton, g + 1, __ATOMIC_RELEASE, __OPENCL_MEMORY_SCOPE_DEVICE);
}
