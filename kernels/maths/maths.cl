// OpenCL's built-in functions, as libclc implements them: one kernel for each function and type.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define GID (__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x())

#define KERNEL(T, name, value)                                                                                         \
  kernel void T##_##name(global const T *in_x, global const T *in_y, global T *out) {                                  \
    uint i = GID;                                                                                                      \
    T x = in_x[i], y = in_y[i];                                                                                        \
    out[i] = value;                                                                                                    \
  }
#define BOTH(name, value) KERNEL(float, name, value) KERNEL(double, name, value)

BOTH(sin, sin(x))
BOTH(cos, cos(x))
BOTH(exp, exp(x))
BOTH(log, log(x))
BOTH(pow, pow(x, y))
BOTH(sqrt, sqrt(x))
BOTH(divide, x / y)
