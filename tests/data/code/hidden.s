// Two metadata notes, one a kernel, with hidden arguments of code object V4 and a kind that no
// loader knows (a kernarg segment of 80 bytes of which the caller gives 24).
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"
.macro kernel name
.text
.globl \name
.p2align 8
.type \name,@function
\name:
  s_endpgm
.size \name, .-\name
.rodata
.p2align 6
.amdhsa_kernel \name
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 8
  .amdhsa_kernarg_size 80
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_kernarg_preload_length 4
  .amdhsa_user_sgpr_kernarg_preload_offset 0
.end_amdhsa_kernel
.endm
kernel first
kernel second
.amdgpu_metadata
---
amdhsa.version: [1, 1]
amdhsa.target: 'amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-'
amdhsa.printf: ['1:1:4:%d\n']
amdhsa.kernels:
  - .name: first
    .symbol: first.kd
    .kernarg_segment_size: 80
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .agpr_count: 0
    .max_flat_workgroup_size: 256
    .args:
      - { .name: a, .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global, .access: read_only, .is_const: true }
      - { .name: b, .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: image, .size: 8, .offset: 16, .value_kind: image, .access: write_only }
      - { .size: 8, .offset: 24, .value_kind: hidden_global_offset_x }
      - { .size: 8, .offset: 32, .value_kind: hidden_global_offset_y }
      - { .size: 8, .offset: 40, .value_kind: hidden_global_offset_z }
      - { .size: 8, .offset: 48, .value_kind: hidden_none }
      - { .size: 8, .offset: 56, .value_kind: hidden_none }
      - { .size: 8, .offset: 64, .value_kind: hidden_none }
      - { .size: 8, .offset: 72, .value_kind: hidden_multigrid_sync_arg }
...
.end_amdgpu_metadata
.amdgpu_metadata
---
amdhsa.version: [1, 1]
amdhsa.target: 'amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-'
amdhsa.kernels:
  - .name: the second
    .symbol: second.kd
    .kernarg_segment_size: 80
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 8
    .max_flat_workgroup_size: 1024
    .uses_dynamic_stack: true
    .args:
      - { .name: x, .size: 4, .offset: 0, .value_kind: by_value }
...
.end_amdgpu_metadata
