// A relocatable object that needs no linker: a kernel, and a table with addresses.
.amdgcn_target "amdgcn-amd-amdhsa--gfx1151"
.text
.globl nop
.p2align 8
.type nop,@function
nop:
  s_endpgm
.size nop, .-nop
.rodata
.p2align 6
.amdhsa_kernel nop
  .amdhsa_next_free_vgpr 1
  .amdhsa_next_free_sgpr 1
.end_amdhsa_kernel
.data
.globl table
.p2align 3
.type table,@object
table:
  .quad 1
  .quad table + 8
  .quad elsewhere + 4
  .quad nop - .
.size table, 32
.bss
.globl room
.p2align 12
.type room,@object
room:
  .zero 100
.size room, 100
