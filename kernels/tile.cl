// 16x16 tiled f32 matrix product, C = A*B, n a multiple of 16, in both wave sizes (k12_matmul's file is wave32 only).
#define BAR() do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); } while (0)
kernel __attribute__((reqd_work_group_size(16, 16, 1))) void tile_multiply(global const float *a, global const float *b, global float *c, uint n) {
  local float as[16][17], bs[16][17];
  uint tx = __builtin_amdgcn_workitem_id_x(), ty = __builtin_amdgcn_workitem_id_y();
  uint col = __builtin_amdgcn_workgroup_id_x() * 16 + tx, row = __builtin_amdgcn_workgroup_id_y() * 16 + ty;
  float acc = 0;
  for (uint k = 0; k < n; k += 16) {
    as[ty][tx] = a[row * n + k + tx]; bs[ty][tx] = b[(k + ty) * n + col];
    BAR();
    for (int j = 0; j < 16; j++) acc += as[ty][j] * bs[j][tx];
    BAR();
  }
  c[row * n + col] = acc;
}
