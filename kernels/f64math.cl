// f64 and f32 arithmetic whose results IEEE 754 fixes to the bit.
#define GID ((size_t)__builtin_amdgcn_workgroup_id_x()*__builtin_amdgcn_workgroup_size_x()+__builtin_amdgcn_workitem_id_x())
kernel void f64math(global const double *a, global const double *b, global double *o) {
  size_t i = GID;
  double x = a[i], y = b[i];
  o[i*8+0] = x + y; o[i*8+1] = x - y; o[i*8+2] = x * y; o[i*8+3] = x / y;
  o[i*8+4] = __builtin_sqrt(__builtin_fabs(x)); o[i*8+5] = __builtin_fma(x, y, x);
  o[i*8+6] = __builtin_floor(x * 16); o[i*8+7] = x < y ? __builtin_trunc(y * 1000) : __builtin_rint(x * 1000);
}
kernel void f32math(global const float *a, global const float *b, global float *o) {
  size_t i = GID;
  float x = a[i], y = b[i];
  o[i*8+0] = x - y; o[i*8+1] = x * y; o[i*8+2] = x / y; o[i*8+3] = __builtin_sqrtf(__builtin_fabsf(x));
  o[i*8+4] = __builtin_fmaf(x, y, -x); o[i*8+5] = __builtin_ceilf(x * 16); o[i*8+6] = __builtin_rintf(y * 1000);
  o[i*8+7] = x < y ? x : __builtin_copysignf(y, x);
}
// Conversions, all in range.
kernel void convert(global const double *a, global const long *b, global ulong *o) {
  size_t i = GID;
  double x = a[i]; long n = b[i];
  o[i*8+0] = (ulong)(long)(x * 0x1p40); o[i*8+1] = (ulong)(__builtin_fabs(x) * 0x1p60);
  o[i*8+2] = (ulong)(uint)(int)(x * 0x1p20); o[i*8+3] = as_ulong((double)n);
  o[i*8+4] = as_ulong((double)(ulong)n); o[i*8+5] = as_uint((float)n);
  o[i*8+6] = as_uint((float)(int)n) | (ulong)as_uint((float)(uint)n) << 32; o[i*8+7] = as_uint((float)x) | (ulong)as_uint((float)(ulong)n) << 32;
}
