// Static LDS of exactly 64 KiB, the most a workgroup can have.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void lds_64k(global const uint *in, global uint *out) {
  local uint s[16384];
  uint t = __builtin_amdgcn_workitem_id_x();
  for (uint i = t; i < 16384; i += 256) s[i] = in[i];
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); __builtin_amdgcn_s_barrier();
  for (uint i = t; i < 16384; i += 256) out[i] = s[16383 - i] + s[i ^ 0x155];
}
