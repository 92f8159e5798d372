// A relocatable object that a linker must see: a call and a global variable.
typedef __attribute__((address_space(1))) unsigned *pointer;
__attribute__((address_space(1), visibility("protected"))) unsigned where[2] = {5, 6};
__attribute__((address_space(1), visibility("protected"))) pointer there = where;
extern __attribute__((visibility("hidden"))) unsigned callee(unsigned x);
__attribute__((amdgpu_kernel)) void caller(pointer out) { *out = callee(1) + where[1]; }
