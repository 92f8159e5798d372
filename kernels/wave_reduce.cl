// A sum over each wave, by cross-lane operations; wave32 and wave64 give different results.
#define GID ((uint)(__builtin_amdgcn_workgroup_id_x()*__builtin_amdgcn_workgroup_size_x()+__builtin_amdgcn_workitem_id_x()))
#define LANE __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0))

// out[i] = sum of the wave of work-item i. ds_bpermute within 32 lanes, then the halves by readlane.
kernel void wave_sum(global const uint *in, global uint *out) {
  uint i = GID, lane = LANE, v = in[i];
  for (uint d = 1; d < 32; d <<= 1) v += __builtin_amdgcn_ds_bpermute((lane ^ d) << 2, v);
  uint sum = __builtin_amdgcn_readlane(v, 0);
  if (__builtin_amdgcn_wavefrontsize() == 64) sum += __builtin_amdgcn_readlane(v, 32);
  out[i] = sum;
}

// out[i] = how many lanes of the wave below this one have an odd value.
kernel void wave_rank(global const uint *in, global uint *out) {
  uint i = GID, odd = in[i] & 1;
  ulong mask = __builtin_amdgcn_uicmp(odd, 0u, 33);
  out[i] = __builtin_amdgcn_mbcnt_hi((uint)(mask >> 32), __builtin_amdgcn_mbcnt_lo((uint)mask, 0));
}
