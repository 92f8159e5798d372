// Private memory: arrays that are indexed at run time and therefore live in scratch.
#define GID ((uint)(__builtin_amdgcn_workgroup_id_x()*__builtin_amdgcn_workgroup_size_x()+__builtin_amdgcn_workitem_id_x()))

// Sorts 32 values by counting positions, in scratch.
kernel void private_sort(global const uint *in, global uint *out) {
  uint sorted[32];
  uint base = GID * 32;
  for (uint i = 0; i < 32; i++) {
    uint value = in[base + i], at = 0;
    for (uint j = 0; j < 32; j++) at += in[base + j] < value || (in[base + j] == value && j < i);
    sorted[at] = value;
  }
  for (uint i = 0; i < 32; i++) out[base + i] = sorted[i];
}

// 4 KiB a work-item, of bytes, halves and words at run-time indices.
kernel void private_large(global const uint *in, global uint *out, uint rounds) {
  uint words[768];
  ushort halves[256];
  uchar bytes[512];
  uint i = GID, x = in[i];
  for (uint k = 0; k < 768; k++) words[k] = k * 0x9E3779B1u;
  for (uint k = 0; k < 256; k++) halves[k] = (ushort)(k * 40503u);
  for (uint k = 0; k < 512; k++) bytes[k] = (uchar)(k * 167u);
  for (uint k = 0; k < rounds; k++) {
    words[x % 768] ^= x + halves[(x >> 7) & 255];
    halves[x & 255] += bytes[(x >> 11) & 511];
    bytes[(x >> 3) & 511] = (uchar)(x >> 9);
    x = x * 1664525u + words[(x >> 5) % 768];
  }
  out[i] = x;
}
