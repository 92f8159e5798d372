// A kernarg segment of more than 256 bytes of explicit arguments: every scalar width, and 34 words.
#define A(n) ulong a##n##0, ulong a##n##1, ulong a##n##2, ulong a##n##3, ulong a##n##4, ulong a##n##5, ulong a##n##6, ulong a##n##7
#define S(n) (a##n##0 + 3 * a##n##1 + 5 * a##n##2 + 7 * a##n##3 + 11 * a##n##4 + 13 * a##n##5 + 17 * a##n##6 + 19 * a##n##7)
kernel void many_args(global ulong *out, uchar b, ushort h, uint w, float f, double d, A(0), A(1), A(2), A(3), ulong last) {
  size_t i = (size_t)__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
  out[i] = (S(0) ^ S(1) * i) + (S(2) ^ S(3) * (i + 1)) + last + b + h * 3ul + w * 5ul + as_uint(f) * 7ul + as_ulong(d) * 11ul;
}
