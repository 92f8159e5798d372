// Runs a kernel that was compiled for x86-64: every work-item of a workgroup is a coroutine with its own stack, all in
// one thread. A coroutine runs until it ends, waits at the workgroup's barrier, or waits at a cross-lane operation.
// When no work-item of a wave can run on, those of its lanes that wait at a cross-lane operation execute it together:
// they are the active lanes, and they must all wait at the same operation.
//
// Nothing here is code of ours that runs on a GPU or in the simulator; it shares no line with either. What it *does*
// state about the hardware: the layout of the implicit arguments (LLVM AMDGPUUsage, "Code Object V5 Metadata"), how
// work-items are numbered into waves (x fastest), and the cross-lane operations (RDNA3.5 ISA guide: DPP row_shr,
// DS_SWIZZLE_B32 bit mode, DS_BPERMUTE_B32, V_READLANE, V_MBCNT, V_WMMA_F32_16X16X16_F16).
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK_BYTES = 256 << 10, MAX_BLOCK = 1024, MAX_ARGUMENTS = 48 };
enum state { READY, AT_BARRIER, AT_OPERATION, ENDED };
enum operation { READFIRSTLANE, READLANE, BPERMUTE, SWIZZLE, DPP, BALLOT, WMMA };

struct item {
  ucontext_t context;
  enum state state;
  uint32_t id[3], lane;
  enum operation operation;
  uint32_t control, value; // `control`: lane, byte address, pattern or DPP control
  uint64_t result;
  const void *a, *b; // WMMA
  void *c;
};

static struct {
  void (*kernel)();
  uint64_t integers[MAX_ARGUMENTS];
  double floats[8];
  uint32_t grid[3], block[3], group[3], size[3], wave;
  uint8_t implicit[256], packet[64];
} dispatch;
static struct item items[MAX_BLOCK], *now;
static ucontext_t scheduler;
static uint8_t *stacks;

static void fail(const char *message) {
  fprintf(stderr, "lockstep: %s\n", message);
  exit(1);
}

static void wait_as(enum state state) {
  now->state = state;
  swapcontext(&now->context, &scheduler);
}

// The System V ABI passes the first six integers in registers, floats in xmm0-7 and all further integers on the stack,
// each class in its own order: so this one call fits every kernel whose arguments are scalars and pointers.
static void enter(void) {
  const uint64_t *i = dispatch.integers;
  const double *f = dispatch.floats;
  ((void (*)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, double, double, double, double, double, double,
             double, double, ...))dispatch.kernel)(
      i[0], i[1], i[2], i[3], i[4], i[5], f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], i[6], i[7], i[8], i[9], i[10],
      i[11], i[12], i[13], i[14], i[15], i[16], i[17], i[18], i[19], i[20], i[21], i[22], i[23], i[24], i[25], i[26],
      i[27], i[28], i[29], i[30], i[31], i[32], i[33], i[34], i[35], i[36], i[37], i[38], i[39], i[40], i[41], i[42],
      i[43], i[44], i[45], i[46], i[47]);
  wait_as(ENDED);
}

static float half_to_float(uint16_t bits) {
  _Float16 value;
  memcpy(&value, &bits, 2);
  return (float)value;
}

// Lane l holds row l % 16 of A and column l % 16 of B (lanes 16-31 repeat 0-15), and of C and D the elements
// [2 * i + l / 16][l % 16] for i < 8. Products are accumulated in f32, k ascending, each step fused.
static void execute_wmma(struct item **lanes) {
  float result[16][16];
  for (int row = 0; row < 16; row++)
    for (int col = 0; col < 16; col++) {
      float sum = ((const float *)lanes[(row & 1) * 16 + col]->c)[row / 2];
      for (int k = 0; k < 16; k++)
        sum = __builtin_fmaf(half_to_float(((const uint16_t *)lanes[row]->a)[k]),
                             half_to_float(((const uint16_t *)lanes[col]->b)[k]), sum);
      result[row][col] = sum;
    }
  for (int lane = 0; lane < 32; lane++)
    for (int i = 0; i < 8; i++) ((float *)lanes[lane]->c)[i] = result[2 * i + lane / 16][lane % 16];
}

// Which lane `item` reads in its operation, or -1 for none.
static int source_lane(const struct item *item, int first) {
  uint32_t lane = item->lane;
  switch (item->operation) {
  case READFIRSTLANE: return first;
  case READLANE: return item->control % dispatch.wave;
  // Within 32 lanes: wave64 on gfx10 and gfx11 permutes each half by itself.
  case BPERMUTE: return (lane & 32) | (item->control / 4 % 32);
  case SWIZZLE: { // bit mode: and 4:0, or 9:5, xor 14:10, within 32 lanes
    if (item->control >> 15) fail("only the swizzle's bit mode is known");
    uint32_t and = item->control & 31, or = item->control >> 5 & 31, xor = item->control >> 10 & 31;
    return (lane & 32) | (((lane & and) | or) ^ xor);
  }
  case DPP: // row_shr:n = 0x110 + n, in rows of 16 lanes
    if (item->control < 0x111 || item->control > 0x11f) fail("only DPP row_shr is known");
    return (lane & 15) >= (item->control & 15) ? (int)(lane - (item->control & 15)) : -1;
  default: fail("not a lane read"); return -1;
  }
}

// Executes the operation at which `lanes` (null: ended, at the barrier, or not there) wait.
static void execute(struct item **lanes) {
  int first = 0, active = 0;
  while (!lanes[first]) first++;
  uint64_t ballot = 0;
  for (uint32_t l = 0; l < dispatch.wave; l++)
    if (lanes[l]) {
      active++;
      if (lanes[l]->operation != lanes[first]->operation) fail("a wave waits at two different cross-lane operations");
      if (lanes[l]->value) ballot |= 1ull << l;
    }
  if (lanes[first]->operation == WMMA) {
    if (active != 32 || dispatch.wave != 32) fail("WMMA needs 32 active lanes of a wave32");
    execute_wmma(lanes);
  } else {
    for (uint32_t l = 0; l < dispatch.wave; l++)
      if (lanes[l] && lanes[l]->operation == BALLOT) lanes[l]->result = ballot;
      else if (lanes[l]) { // an inactive source gives 0
        int source = source_lane(lanes[l], first);
        lanes[l]->result = source >= 0 && lanes[source] ? lanes[source]->value : 0;
      }
  }
  for (uint32_t l = 0; l < dispatch.wave; l++)
    if (lanes[l]) lanes[l]->state = READY;
}

static void run_workgroup(void) {
  uint32_t count = dispatch.size[0] * dispatch.size[1] * dispatch.size[2];
  for (uint32_t i = 0; i < count; i++) {
    struct item *item = &items[i];
    getcontext(&item->context);
    item->context.uc_stack.ss_sp = stacks + (size_t)i * STACK_BYTES;
    item->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&item->context, enter, 0);
    item->state = READY;
    item->lane = i % dispatch.wave;
    item->id[0] = i % dispatch.size[0];
    item->id[1] = i / dispatch.size[0] % dispatch.size[1];
    item->id[2] = i / dispatch.size[0] / dispatch.size[1];
  }
  for (;;) {
    uint32_t ended = 0, waiting = 0, progress = 0;
    for (uint32_t base = 0; base < count; base += dispatch.wave) {
      struct item *lanes[64] = {0};
      uint32_t ready = 0, meeting = 0;
      for (uint32_t l = 0; l < dispatch.wave && base + l < count; l++) {
        now = &items[base + l];
        if (now->state == READY) swapcontext(&scheduler, &now->context), progress++;
        ended += now->state == ENDED;
        waiting += now->state == AT_BARRIER;
        ready += now->state == READY;
        if (now->state == AT_OPERATION) lanes[l] = now, meeting++;
      }
      if (meeting && !ready) execute(lanes), progress++;
    }
    if (ended == count) return;
    if (ended + waiting == count)
      for (uint32_t i = 0; i < count; i++) {
        if (items[i].state == AT_BARRIER) items[i].state = READY, progress++;
      }
    if (!progress) fail("no work-item can go on");
  }
}

// The implicit arguments (LLVM AMDGPUUsage, "Code Object V5 Metadata"): counts of whole workgroups, sizes, remainders,
// global offsets, dimensions. The dispatch packet (HSA runtime specification, hsa_kernel_dispatch_packet_t): only what
// the caller of a dispatch chooses, bytes 2 to 23.
static void fill_memory(uint16_t dimensions) {
  memset(dispatch.implicit, 0, sizeof dispatch.implicit);
  memset(dispatch.packet, 0, sizeof dispatch.packet);
  memcpy(dispatch.packet + 2, &dimensions, 2);
  memcpy(dispatch.packet + 12, dispatch.grid, 12);
  for (int axis = 0; axis < 3; axis++) {
    uint32_t blocks = dispatch.grid[axis] / dispatch.block[axis];
    uint16_t size = dispatch.block[axis], remainder = dispatch.grid[axis] % dispatch.block[axis];
    memcpy(dispatch.implicit + 4 * axis, &blocks, 4);
    memcpy(dispatch.implicit + 12 + 2 * axis, &size, 2);
    memcpy(dispatch.implicit + 18 + 2 * axis, &remainder, 2);
    memcpy(dispatch.packet + 4 + 2 * axis, &size, 2);
  }
  memcpy(dispatch.implicit + 64, &dimensions, 2);
}

// Runs `kernel` over `grid` work-items in workgroups of `block`, one workgroup after the other, x fastest.
void lockstep_run(void (*kernel)(), const uint64_t *integers, const double *floats, const uint32_t *grid,
                  const uint32_t *block, uint32_t dimensions, uint32_t wave) {
  if (!stacks) {
    stacks = mmap(0, (size_t)MAX_BLOCK * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) fail("no memory for the stacks");
  }
  if (block[0] * block[1] * block[2] > MAX_BLOCK) fail("a workgroup has at most 1024 work-items");
  dispatch.kernel = kernel;
  dispatch.wave = wave;
  memcpy(dispatch.integers, integers, sizeof dispatch.integers);
  memcpy(dispatch.floats, floats, sizeof dispatch.floats);
  memcpy(dispatch.grid, grid, sizeof dispatch.grid);
  memcpy(dispatch.block, block, sizeof dispatch.block);
  fill_memory(dimensions);
  uint32_t groups[3], *g = dispatch.group;
  for (int axis = 0; axis < 3; axis++) groups[axis] = (grid[axis] + block[axis] - 1) / block[axis];
  for (g[2] = 0; g[2] < groups[2]; g[2]++)
    for (g[1] = 0; g[1] < groups[1]; g[1]++)
      for (g[0] = 0; g[0] < groups[0]; g[0]++) {
        for (int axis = 0; axis < 3; axis++) {
          uint32_t left = grid[axis] - g[axis] * block[axis];
          dispatch.size[axis] = left < block[axis] ? left : block[axis];
        }
        run_workgroup();
      }
}

uint32_t lockstep_workitem_id(uint32_t axis) { return now->id[axis]; }
uint32_t lockstep_workgroup_id(uint32_t axis) { return dispatch.group[axis]; }
uint32_t lockstep_workgroup_size(uint32_t axis) { return dispatch.block[axis]; }
uint32_t lockstep_grid_size(uint32_t axis) { return dispatch.grid[axis]; }
uint32_t lockstep_wave_size(void) { return dispatch.wave; }
const void *lockstep_implicit_arguments(void) { return dispatch.implicit; }
const void *lockstep_dispatch_packet(void) { return dispatch.packet; }
void lockstep_barrier(void) { wait_as(AT_BARRIER); }
void lockstep_yield(void) { wait_as(READY); }

static uint64_t meet(enum operation operation, uint32_t value, uint32_t control) {
  now->operation = operation;
  now->value = value;
  now->control = control;
  wait_as(AT_OPERATION);
  return now->result;
}
uint32_t lockstep_readfirstlane(uint32_t value) { return meet(READFIRSTLANE, value, 0); }
uint32_t lockstep_readlane(uint32_t value, uint32_t lane) { return meet(READLANE, value, lane); }
uint32_t lockstep_bpermute(uint32_t address, uint32_t value) { return meet(BPERMUTE, value, address); }
uint32_t lockstep_swizzle(uint32_t value, uint32_t pattern) { return meet(SWIZZLE, value, pattern); }
uint32_t lockstep_dpp_zero(uint32_t value, uint32_t control) { return meet(DPP, value, control); }
uint64_t lockstep_ballot(uint32_t value) { return meet(BALLOT, value, 0); }
void lockstep_wmma_f32_16x16x16_f16(const void *a, const void *b, void *c) {
  now->a = a, now->b = b, now->c = c;
  meet(WMMA, 0, 0);
}
uint32_t lockstep_mbcnt(uint32_t mask, uint32_t base, uint32_t first_lane) {
  uint32_t below = now->lane <= first_lane ? 0 : now->lane - first_lane;
  return base + __builtin_popcount(below < 32 ? mask & ((1u << below) - 1) : mask);
}
