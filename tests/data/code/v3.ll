; A kernel for compilers that still write code object V3.
target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @store(i32 addrspace(1)* %out, i32 %value) {
  store i32 %value, i32 addrspace(1)* %out
  ret void
}
