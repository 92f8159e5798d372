// Kernels with every source-level detail that metadata keeps, and hidden arguments.
kernel __attribute__((reqd_work_group_size(64, 2, 1)))
void vadd(global const float *restrict a, constant float *b, global volatile float *out, local float *scratch,
          uint n, ulong8 wide) {
    size_t i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    scratch[__builtin_amdgcn_workitem_id_x()] = a[i];
    if (i < n)
        out[i] = scratch[__builtin_amdgcn_workitem_id_x()] + b[i] + (float)wide.s3;
}

kernel void tiny(global uint *out) {
    local uint shared_word[32];
    uint lane = __builtin_amdgcn_workitem_id_x();
    shared_word[lane & 31] = lane;
    out[__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + lane] = shared_word[(lane + 1) & 31];
}
