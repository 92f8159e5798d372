// LDS and global memory in every access width: 8, 16, 32, 64, 96, 128 bits, signed and unsigned.
#define BAR() do { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); } while (0)
kernel void lds_widths(global const uint4 *in, global uint4 *out) {
  local uint4 quads[64];
  uint t = __builtin_amdgcn_workitem_id_x(), i = __builtin_amdgcn_workgroup_id_x() * 64 + t;
  local char *bytes = (local char *)quads;
  local short *halves = (local short *)quads;
  local ulong *pairs = (local ulong *)quads;
  quads[t] = in[i];
  BAR();
  uint4 r;
  r.x = (uint)(int)bytes[t * 7] + (uint)((local uchar *)bytes)[t * 13];
  r.y = (uint)(int)halves[t * 5] + (uint)((local ushort *)halves)[t * 3];
  ulong pair = pairs[(t * 11) & 127];
  r.z = (uint)pair ^ (uint)(pair >> 32);
  r.w = quads[63 - t].y;
  BAR();
  bytes[t * 16 + 3] = (char)r.x;
  halves[t * 8 + 3] = (short)r.y;
  pairs[t * 2 + 1] = pair;
  BAR();
  out[i] = r ^ quads[t ^ 1];
}
kernel void bytes_and_halves(global const uchar *a, global const short *b, global uchar *c, global short *d, uint n) {
  uint i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
  if (i >= n) return;
  c[i] = a[i] + (uchar)b[i];
  d[i] = (short)(b[i] * (char)a[i]);
}
