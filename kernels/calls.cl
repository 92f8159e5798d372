// Function calls. (Recursion and calls through pointers are in calls_c.c: OpenCL C has neither.)
#define GID ((uint)(__builtin_amdgcn_workgroup_id_x()*__builtin_amdgcn_workgroup_size_x()+__builtin_amdgcn_workitem_id_x()))
#define NOINLINE __attribute__((noinline))

NOINLINE static uint rotate_add(uint x, uint by) { return ((x << (by & 31)) | (x >> (-by & 31))) + by; }

kernel void call_direct(global const uint *in, global uint *out) {
  uint i = GID, x = in[i];
  for (uint k = 0; k < 4; k++) x = rotate_add(x, x >> 27);
  out[i] = x;
}

// The callee has a frame of its own, which the caller's array is behind.
NOINLINE static uint permute(private uint *table, uint x) {
  uint seen[16];
  for (uint k = 0; k < 16; k++) seen[(k * 5 + x) & 15] = table[k] + k;
  for (uint k = 0; k < 16; k++) table[k] = seen[k] ^ x;
  return seen[x & 15];
}
kernel void call_with_stack(global const uint *in, global uint *out) {
  uint table[16], i = GID, x = in[i];
  for (uint k = 0; k < 16; k++) table[k] = x * k;
  for (uint k = 0; k < 3; k++) x += permute(table, x);
  out[i] = x + table[x & 15];
}
