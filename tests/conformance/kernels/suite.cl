// Kernels of the conformance suite. Workgroups have 64 work-items, so that nothing depends on hidden arguments.
#define KERNEL kernel __attribute__((reqd_work_group_size(64, 1, 1)))
#define LANE __builtin_amdgcn_workitem_id_x()
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define GID (GROUP * 64u + LANE)
#define SYSTEM __OPENCL_MEMORY_SCOPE_ALL_SVM_DEVICES
#define FENCE(order) __builtin_amdgcn_fence(order, "workgroup")
#define BARRIER() do { FENCE(__ATOMIC_RELEASE); __builtin_amdgcn_s_barrier(); FENCE(__ATOMIC_ACQUIRE); } while (0)

// out[i] = value + i, for i below n.
KERNEL void store(global uint *out, uint value, uint n) {
  if (GID < n) out[GID] = value + GID;
}

// Copies n bytes.
KERNEL void copy(global uchar *to, global const uchar *from, uint n) {
  if (GID < n) to[GID] = from[GID];
}

// n dwords of the pattern.
KERNEL void fill(global uint *out, uint pattern, uint n) {
  if (GID < n) out[GID] = pattern;
}

// Each workgroup turns its 64 dwords round, by LDS.
KERNEL void reverse(global uint *data) {
  local uint words[64];
  words[LANE] = data[GID];
  BARRIER();
  data[GID] = words[63 - LANE];
}

// The same with 12 KiB: each workgroup turns 3072 dwords round.
KERNEL void turn(global uint *data) {
  local uint words[3072];
  global uint *own = data + GROUP * 3072;
  for (uint i = LANE; i < 3072; i += 64) words[i] = own[i];
  BARRIER();
  for (uint i = LANE; i < 3072; i += 64) own[i] = words[3071 - i];
}

// Four waves or more of a workgroup fill their private memory, and read it when all have.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void keep(global uint *data) {
  uint table[160], item = GROUP * 256 + LANE, x = data[item];
  for (uint k = 0; k < 160; k++) table[(k + x) % 160] = item ^ k << 24;
  BARRIER();
  data[item] = table[(x + 7) % 160] ^ table[(x + 155) % 160] << 1;
}

// Mixes a dword of each work-item with a table in private memory that is indexed by what comes out.
KERNEL void mix(global uint *data) {
  uint table[160], x = data[GID];
  for (uint k = 0; k < 160; k++) table[k] = k * 0x9e3779b1u;
  for (uint k = 0; k < 40; k++) {
    table[x % 160] ^= x;
    x = x * 1664525u + table[(x >> 5) % 160];
  }
  data[GID] = x;
}

// Every work-item adds its number to one counter that the host sees.
KERNEL void add(global atomic_ulong *counter) {
  __opencl_atomic_fetch_add(counter, (ulong)GID, __ATOMIC_RELAXED, SYSTEM);
}

// Every work-item takes a ticket of 32 bits and one of 64, and signs at both places.
KERNEL void tickets(global atomic_uint *narrow, global atomic_ulong *wide, ulong first, global uint *out, uint n) {
  uint a = __opencl_atomic_fetch_add(narrow, 1u, __ATOMIC_RELAXED, SYSTEM);
  ulong b = __opencl_atomic_fetch_add(wide, 1ul, __ATOMIC_RELAXED, SYSTEM) - first;
  if (a < n) out[a] = GID + 1;
  if (b < n) out[n + b] = GID + 1;
}

// Old values, and what the operations leave behind: one work-item alone does them, each to a dword of its own.
KERNEL void operations(global atomic_uint *cells, global uint *old, uint operand, uint comparand) {
  if (GID == 0) {
    uint expected = comparand;
    old[0] = __opencl_atomic_fetch_sub(cells, operand, __ATOMIC_RELAXED, SYSTEM);
    old[1] = __opencl_atomic_fetch_and(cells + 1, operand, __ATOMIC_RELAXED, SYSTEM);
    old[2] = __opencl_atomic_fetch_or(cells + 2, operand, __ATOMIC_RELAXED, SYSTEM);
    old[3] = __opencl_atomic_fetch_xor(cells + 3, operand, __ATOMIC_RELAXED, SYSTEM);
    old[4] = __opencl_atomic_fetch_max(cells + 4, operand, __ATOMIC_RELAXED, SYSTEM);
    old[5] = __opencl_atomic_fetch_min(cells + 5, operand, __ATOMIC_RELAXED, SYSTEM);
    old[6] = __opencl_atomic_exchange(cells + 6, operand, __ATOMIC_RELAXED, SYSTEM);
    __opencl_atomic_compare_exchange_strong(cells + 7, &expected, operand, __ATOMIC_RELAXED, __ATOMIC_RELAXED, SYSTEM);
    old[7] = expected;
  }
}

// The packet that the dispatch pointer leads to.
KERNEL void self(global ulong *out) {
  global const ulong *packet = (global const ulong *)(ulong)__builtin_amdgcn_dispatch_ptr();
  if (GID < 8) out[GID] = packet[GID];
}

// The number of the packet in its queue. Clang has no builtin of this intrinsic.
ulong dispatch_id(void) __asm("llvm.amdgcn.dispatch.id");
KERNEL void number(global ulong *out) {
  out[GID] = dispatch_id();
}

// What the last eight of sixteen user SGPRs hold, which are free in kernels of one argument.
KERNEL void user(global uint *out) {
  uint a, b, c, d, e, f, g, h;
  __asm volatile("" : "={s8}"(a), "={s9}"(b), "={s10}"(c), "={s11}"(d), "={s12}"(e), "={s13}"(f), "={s14}"(g), "={s15}"(h));
  if (LANE == 0) {
    out[0] = a, out[1] = b, out[2] = c, out[3] = d;
    out[4] = e, out[5] = f, out[6] = g, out[7] = h;
  }
}

// Products of floats, of which operands and results may be denormal: 32 bits, then 64.
KERNEL void product(global float *narrow, global double *wide) {
  narrow[GID * 2] = narrow[GID * 2] * narrow[GID * 2 + 1];
  wide[GID * 2] = wide[GID * 2] * wide[GID * 2 + 1];
}

// Sends the host an event, as ROCm's device library does (ockl, `__ockl_hsa_signal_add`): its id to the mailbox, then
// MSG_INTERRUPT with the id in M0.
KERNEL void interrupt(global atomic_ulong *mailbox, uint id) {
  if (LANE == 0) {
    __opencl_atomic_store(mailbox, (ulong)id, __ATOMIC_RELEASE, SYSTEM);
    __builtin_amdgcn_s_sendmsg(1, __builtin_amdgcn_readfirstlane(id));
  }
}

// out[i] = the kernel's second argument where the first one's value is what was expected, else 0: whether stores made
// before are seen.
KERNEL void see(global const uint *flag, global uint *out, uint expected, uint seen) {
  out[GID] = flag[GID] == expected ? seen : 0;
}

// Waits until a flag of the host's has the value, then answers in another.
KERNEL void answer(global atomic_uint *flag, global atomic_uint *reply, uint value) {
  if (LANE == 0) {
    while (__opencl_atomic_load(flag, __ATOMIC_ACQUIRE, SYSTEM) != value) __builtin_amdgcn_s_sleep(1);
    __opencl_atomic_store(reply, value, __ATOMIC_RELEASE, SYSTEM);
  }
}

// The ids of each work-item of a grid of three dimensions, in workgroups of 4 x 4 x 4: one dword of six bytes' worth.
kernel __attribute__((reqd_work_group_size(4, 4, 4))) void ids(global uint *out, uint width, uint height) {
  uint x = __builtin_amdgcn_workgroup_id_x() * 4 + __builtin_amdgcn_workitem_id_x();
  uint y = __builtin_amdgcn_workgroup_id_y() * 4 + __builtin_amdgcn_workitem_id_y();
  uint z = __builtin_amdgcn_workgroup_id_z() * 4 + __builtin_amdgcn_workitem_id_z();
  out[(z * height + y) * width + x] = x | y << 8 | z << 16 | (uint)__builtin_amdgcn_workitem_id_x() << 24;
}

// Where each workgroup runs: HW_ID, or HW_ID1 of later generations.
KERNEL void place(global uint *out) {
#ifdef __GFX9__
  uint place = __builtin_amdgcn_s_getreg(31 << 11 | 4);
#else
  uint place = __builtin_amdgcn_s_getreg(31 << 11 | 23);
#endif
  if (LANE == 0) out[GROUP] = place;
}

// The lanes of a wave.
KERNEL void lanes(global uint *out) {
  out[GID] = __builtin_amdgcn_wavefrontsize();
}
