// The kernel of the example `vector_add`: c[i] = a[i] + b[i].
#define GID ((size_t)__builtin_amdgcn_workgroup_id_x()*__builtin_amdgcn_workgroup_size_x()+__builtin_amdgcn_workitem_id_x())
kernel void vector_add(global const float *a, global const float *b, global float *c, uint n) {
  size_t i = GID;
  if (i < n) c[i] = a[i] + b[i];
}
