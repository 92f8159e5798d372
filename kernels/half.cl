// f16, in pairs: no contraction, so that each operation rounds once.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL FP_CONTRACT OFF
#define GID ((size_t)__builtin_amdgcn_workgroup_id_x()*__builtin_amdgcn_workgroup_size_x()+__builtin_amdgcn_workitem_id_x())
kernel void half2math(global const half2 *a, global const half2 *b, global half2 *o) {
  size_t i = GID;
  half2 x = a[i], y = b[i], s = x + y, p = x * y;
  o[i*4+0] = s; o[i*4+1] = p; o[i*4+2] = s - p; o[i*4+3] = (half2)((half)((float)x.x * 3.0f), (half)(x.y < y.y ? x.y : y.x));
}
