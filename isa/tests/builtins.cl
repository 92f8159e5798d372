// OpenCL C's built-in functions, one kernel each, for what a compiler makes of them: `listings.py`.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// libclc's own id functions are for another operating system.
#define LANE ((int)__builtin_amdgcn_workitem_id_x())

#define UNARY(T, F) \
    kernel void F##_##T(global T *out, global const T *a) { int i = LANE; out[i] = F(a[i]); }
#define BINARY(T, F) \
    kernel void F##_##T(global T *out, global const T *a, global const T *b) { int i = LANE; out[i] = F(a[i], b[i]); }
#define TERNARY(T, F) \
    kernel void F##_##T(global T *out, global const T *a, global const T *b, global const T *c) { int i = LANE; out[i] = F(a[i], b[i], c[i]); }
#define CONVERT(T, U) \
    kernel void convert_##T##_##U(global U *out, global const T *a) { int i = LANE; out[i] = (U)a[i]; } \
    kernel void convert2_##T##_##U(global U##2 *out, global const T##2 *a) { int i = LANE; out[i] = convert_##U##2(a[i]); }

#define FLOATS(T) \
    UNARY(T, sqrt) UNARY(T, floor) UNARY(T, ceil) UNARY(T, trunc) UNARY(T, rint) UNARY(T, round) UNARY(T, fabs) \
    BINARY(T, fmin) BINARY(T, fmax) BINARY(T, copysign) TERNARY(T, fma) TERNARY(T, mix) TERNARY(T, clamp)
#define MATHS(T) \
    UNARY(T, sin) UNARY(T, cos) UNARY(T, tan) UNARY(T, exp) UNARY(T, exp2) UNARY(T, log) UNARY(T, log2) UNARY(T, rsqrt) \
    UNARY(T, asin) UNARY(T, atan) UNARY(T, sinh) UNARY(T, tanh) UNARY(T, cbrt) UNARY(T, erf) UNARY(T, tgamma) \
    BINARY(T, fmod) BINARY(T, pow) BINARY(T, atan2) BINARY(T, hypot) BINARY(T, fdim) BINARY(T, remainder)
#define INTEGERS(T) \
    UNARY(T, clz) UNARY(T, popcount) BINARY(T, min) BINARY(T, max) BINARY(T, add_sat) BINARY(T, sub_sat) BINARY(T, mul_hi) \
    BINARY(T, rotate) BINARY(T, hadd) BINARY(T, rhadd) TERNARY(T, mad_hi) TERNARY(T, clamp) TERNARY(T, bitselect)
#define CONVERTS(T) \
    CONVERT(T, char) CONVERT(T, uchar) CONVERT(T, short) CONVERT(T, ushort) CONVERT(T, int) CONVERT(T, uint) CONVERT(T, long) \
    CONVERT(T, ulong) CONVERT(T, float) CONVERT(T, double)

FLOATS(float) FLOATS(double) FLOATS(float4) MATHS(float) MATHS(double)
INTEGERS(char) INTEGERS(uchar) INTEGERS(short) INTEGERS(ushort) INTEGERS(int) INTEGERS(uint) INTEGERS(long) INTEGERS(ulong)
INTEGERS(short4) INTEGERS(uchar4)
CONVERTS(char) CONVERTS(uchar) CONVERTS(short) CONVERTS(ushort) CONVERTS(int) CONVERTS(uint) CONVERTS(long) CONVERTS(ulong)
CONVERTS(float) CONVERTS(double)

#define DIVIDE(T) \
    kernel void divide_##T(global T *out, global const T *a, global const T *b) { int i = LANE; out[i] = a[i] / b[i]; }
#define REMAINDER(T) \
    kernel void modulo_##T(global T *out, global const T *a, global const T *b) { int i = LANE; out[i] = a[i] % b[i]; }
DIVIDE(float) DIVIDE(double) DIVIDE(half) DIVIDE(int) DIVIDE(uint) DIVIDE(long) DIVIDE(ulong) DIVIDE(short)
REMAINDER(int) REMAINDER(uint) REMAINDER(long) REMAINDER(ulong)

kernel void half_arithmetic(global half *out, global const half *a, global const half *b) {
    int i = LANE;
    half x = a[i], y = b[i];
    out[4 * i] = x * y + x;
    out[4 * i + 1] = x < y ? x - y : x / (half)3.0h;
    out[4 * i + 2] = (half)(int)x;
    out[4 * i + 3] = -x * 0.5h;
}
kernel void half2_arithmetic(global half2 *out, global const half2 *a, global const half2 *b) {
    int i = LANE;
    half2 x = a[i], y = b[i];
    out[2 * i] = x * y + x.yx;
    out[2 * i + 1] = -x - y * (half2)(2.0h, 4.0h);
}
kernel void short2_arithmetic(global short2 *out, global const short2 *a, global const short2 *b) {
    int i = LANE;
    short2 x = a[i], y = b[i];
    out[2 * i] = x * y + x.yx;
    out[2 * i + 1] = (x << (short2)3) - (y >> (short2)2);
}
kernel void local_exchange(global int *out, global const int *a, local long *l, local char *c, local float4 *f) {
    int i = LANE, n = __builtin_amdgcn_workgroup_size_x();
    l[i] = a[i];
    c[i] = a[i] >> 8;
    f[i] = (float4)(a[i], 1, 2, 3);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = l[n - 1 - i] + c[i ^ 1] + (int)f[i ^ 3].x;
    atomic_add((local int *)l, i);
    atomic_max((local int *)l + 1, i);
    atomic_cmpxchg((local int *)l + 2, i, 7);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i + n] = ((local int *)l)[i & 3];
}
kernel void atomics(volatile global int *p, volatile global uint *q, global int *out) {
    int i = LANE;
    out[i] = atomic_add(p, i) + atomic_sub(p + 1, i) + atomic_and(p + 2, i) + atomic_or(p + 3, i) + atomic_xor(p + 4, i);
    out[i] += atomic_min(p + 5, i) + atomic_max(q, 5u) + atomic_xchg(p + 6, i) + atomic_cmpxchg(p + 7, i, 3) + atomic_inc(p + 8);
    atomic_dec(p + 9);
    atomic_add(p + 10, 1);
}
kernel void private_array(global int *out, global const int *index) {
    int a[64];
    for (int i = 0; i < 64; i++) a[i] = index[i] * i;
    out[LANE] = a[index[LANE] & 63];
}
kernel void generic_pointer(global int *out, local int *l, int which) {
    int *p = which ? (int *)out : (int *)l;
    p[LANE] += 5;
}
