// 32-bit and narrower integer arithmetic.
#define GID ((size_t)__builtin_amdgcn_workgroup_id_x()*__builtin_amdgcn_workgroup_size_x()+__builtin_amdgcn_workitem_id_x())
kernel void integer(global const uint *a, global const uint *b, global uint *o) {
  size_t i = GID; uint x = a[i], y = b[i], z = y | 1; int sx = (int)x, sy = (int)y;
  o[i*16+0] = x / z; o[i*16+1] = x % z; o[i*16+2] = (uint)(sx / (int)(z >> 1 | 1)); o[i*16+3] = (uint)(((ulong)x * y) >> 32);
  o[i*16+4] = (uint)(((long)sx * sy) >> 32); o[i*16+5] = (x >> (y & 7)) & 0x3ff; o[i*16+6] = (uint)((sx << 9) >> (9 + (y & 7)));
  o[i*16+7] = (x & y) | (~x & z); o[i*16+8] = __builtin_popcount(x); o[i*16+9] = y ? __builtin_ctz(y) : 32;
  o[i*16+10] = x << 13 | x >> 19; o[i*16+11] = (x < y ? x : y) + ((sx > sy) ? 3 : 5);
  o[i*16+12] = (uint)(ushort)(x * y) << 16 | (ushort)((ushort)x + (ushort)y); o[i*16+13] = (uint)((short)x >> (y & 15));
  o[i*16+14] = (uint)(uchar)(x - y) | (uint)(char)(x ^ y); o[i*16+15] = x + y < x;
}
