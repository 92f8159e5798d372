// Two LDS buffers in turn, a barrier a round: each round every element becomes a mix of itself and its neighbours.
#define BAR() do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); } while (0)
kernel void pingpong(global const uint *in, global uint *out, uint rounds, local uint *s) {
  uint t = __builtin_amdgcn_workitem_id_x(), w = __builtin_amdgcn_workgroup_size_x(), g = __builtin_amdgcn_workgroup_id_x();
  s[t] = in[g * w + t];
  for (uint r = 0; r < rounds; r++) {
    local const uint *from = s + (r & 1) * w;
    local uint *to = s + (~r & 1) * w;
    BAR();
    to[t] = from[t] * 3 + from[t ? t - 1 : w - 1] + (from[t + 1 < w ? t + 1 : 0] ^ r);
  }
  out[g * w + t] = s[(rounds & 1) * w + t];
}
