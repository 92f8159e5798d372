// A kernel of the conformance suite that may find its arguments in SGPRs.

// Each work-item's three arguments.
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void preloaded(global ulong *out, uint narrow, ulong wide, ushort half_) {
  uint at = (__builtin_amdgcn_workgroup_id_x() * 64u + __builtin_amdgcn_workitem_id_x()) * 3u;
  out[at] = narrow, out[at + 1] = wide, out[at + 2] = half_;
}
