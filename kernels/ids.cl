// Who am I: every id of every work-item, in three dimensions with partial workgroups, and every hidden argument.

// record = { global x, y, z, local x | y << 10 | z << 20, workgroup x, y, z, size of this workgroup x | y << 10 | z << 20 }
kernel void ids3d(global uint *out) {
  uint lx = __builtin_amdgcn_workitem_id_x(), ly = __builtin_amdgcn_workitem_id_y(), lz = __builtin_amdgcn_workitem_id_z();
  uint wx = __builtin_amdgcn_workgroup_id_x(), wy = __builtin_amdgcn_workgroup_id_y(), wz = __builtin_amdgcn_workgroup_id_z();
  constant ushort *size = (constant ushort *)__builtin_amdgcn_implicitarg_ptr() + 6;
  constant uint *count = (constant uint *)__builtin_amdgcn_implicitarg_ptr();
  uint gx = wx * size[0] + lx, gy = wy * size[1] + ly, gz = wz * size[2] + lz;
  uint sx = wx < count[0] ? size[0] : size[3], sy = wy < count[1] ? size[1] : size[4], sz = wz < count[2] ? size[2] : size[5];
  uint nx = count[0] * size[0] + size[3], ny = count[1] * size[1] + size[4];
  global uint *record = out + ((gz * ny + gy) * nx + gx) * 8;
  record[0] = gx; record[1] = gy; record[2] = gz; record[3] = lx | ly << 10 | lz << 20;
  record[4] = wx; record[5] = wy; record[6] = wz; record[7] = sx | sy << 10 | sz << 20;
}

// The hidden arguments of code object v5: block counts (12 bytes), group sizes and remainders (12), then at 40 the
// global offsets (24) and the grid's dimensions (2, widened to 8). One work-item writes the 56 bytes.
kernel void hidden(global uint *out) {
  constant uint *words = (constant uint *)__builtin_amdgcn_implicitarg_ptr();
  if (__builtin_amdgcn_workitem_id_x() | __builtin_amdgcn_workitem_id_y() | __builtin_amdgcn_workitem_id_z()) return;
  if (__builtin_amdgcn_workgroup_id_x() | __builtin_amdgcn_workgroup_id_y() | __builtin_amdgcn_workgroup_id_z()) return;
  for (uint i = 0; i < 6; i++) out[i] = words[i];
  for (uint i = 0; i < 6; i++) out[6 + i] = words[10 + i];
  out[12] = ((constant ushort *)words)[32];
  out[13] = 0;
}

// Copies its own dispatch packet (64 bytes).
kernel void packet(global uint *out) {
  constant uint *words = (constant uint *)__builtin_amdgcn_dispatch_ptr();
  if (__builtin_amdgcn_workitem_id_x() | __builtin_amdgcn_workgroup_id_x()) return;
  for (uint i = 0; i < 16; i++) out[i] = words[i];
}
