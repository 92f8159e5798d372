// Kernels that end by an exception. Each first stores 1 to *reached.
// A compiler may move no store across these: the fence waits for it.
#define REACHED() do { *reached = 1; __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); } while (0)

// s_trap 2, after which the wave must not go on.
kernel void trap(global volatile uint *reached) { REACHED(); __builtin_trap(); *reached = 2; }

// s_trap 3: a break point.
kernel void debug_trap(global volatile uint *reached) { REACHED(); __builtin_debugtrap(); *reached = 2; }

// SOPP opcode 0x7f, which no gfx11 processor defines.
kernel void illegal(global volatile uint *reached) { REACHED(); __asm__ volatile(".long 0xbfff0000"); *reached = 2; }

// Jumps to the address given: nothing is mapped there, or it is not executable.
kernel void jump(global volatile uint *reached, ulong address) {
  REACHED();
  __asm__ volatile("v_readfirstlane_b32 s40, %0\n v_readfirstlane_b32 s41, %1\n s_setpc_b64 s[40:41]"
                   ::"v"((uint)address), "v"((uint)(address >> 32)) : "s40", "s41");
}
