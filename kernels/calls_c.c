// Recursion and calls through pointers, in C. The compiler cannot know the stack's size: the metadata says
// `.uses_dynamic_stack: true` and the runtime decides how much scratch a work-item gets.
typedef unsigned int uint;
#define GLOBAL __attribute__((address_space(1)))
#define KERNEL __attribute__((amdgpu_kernel))
#define NOINLINE __attribute__((noinline))
#define GID (__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x())

// Ackermann's function: the depth differs between lanes and is at most 12 for m < 2, n < 10.
NOINLINE static uint ackermann(uint m, uint n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}
KERNEL void call_recursive(GLOBAL const uint *in, GLOBAL uint *out) {
  uint i = GID;
  out[i] = ackermann(in[i] & 1, (in[i] >> 1) % 10);
}

NOINLINE static uint twice(uint x) { return x * 2; }
NOINLINE static uint square(uint x) { return x * x; }
NOINLINE static uint invert(uint x) { return ~x; }

// The pointer differs between lanes: the call is made once for each different target.
KERNEL void call_indirect(GLOBAL const uint *in, GLOBAL uint *out) {
  uint i = GID;
  uint (*function)(uint) = in[i] % 3 == 0 ? twice : in[i] % 3 == 1 ? square : invert;
  out[i] = function(in[i]);
}
