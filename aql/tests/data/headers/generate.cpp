// Prints layouts and encodings of AMD's own header definitions as numbers: see SOURCE.
//
// Every packet gets pseudo-random values in all of its fields; the values are printed next to the
// dwords, so that a test can build the same packet by other means.
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#define LITTLEENDIAN_CPU 1
#include "amd_gpu_pm4.h"
#include "amd_hsa_queue.h"
#include "amd_hsa_signal.h"
#include "hsa.h"
#include "hsa_api_trace.h"
#include "hsa_ext_amd.h"
#include "registers.h"

static uint64_t state = 1;

static uint64_t next() { // splitmix64
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

template <typename T> static T value(const char *name) {
  T got = (T)next();
  printf(" %s=%" PRIx64, name, (uint64_t)got & (~0ull >> (64 - 8 * sizeof(T))));
  return got;
}

static uint16_t header(hsa_packet_type_t type) {
  unsigned barrier = next() % 2, acquire = next() % 3, release = next() % 3;
  printf(" barrier=%x acquire=%x release=%x", barrier, acquire, release);
  return type << HSA_PACKET_HEADER_TYPE | barrier << HSA_PACKET_HEADER_BARRIER |
         acquire << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
         release << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
}

static void words(const void *from, int count) {
  uint32_t got[16];
  memcpy(got, from, 4 * count);
  printf(" :");
  for (int i = 0; i < count; i++)
    printf(" %08" PRIx32, got[i]);
  printf("\n");
}

static void kernel_dispatch() {
  hsa_kernel_dispatch_packet_t p = {};
  printf("kernel_dispatch");
  p.header = header(HSA_PACKET_TYPE_KERNEL_DISPATCH);
  unsigned dimensions = 1 + next() % 3;
  printf(" dimensions=%x", dimensions);
  p.setup = dimensions << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
  p.workgroup_size_x = value<uint16_t>("workgroup_size_x");
  p.workgroup_size_y = value<uint16_t>("workgroup_size_y");
  p.workgroup_size_z = value<uint16_t>("workgroup_size_z");
  p.reserved0 = value<uint16_t>("reserved0");
  p.grid_size_x = value<uint32_t>("grid_size_x");
  p.grid_size_y = value<uint32_t>("grid_size_y");
  p.grid_size_z = value<uint32_t>("grid_size_z");
  p.private_segment_size = value<uint32_t>("private_segment_size");
  p.group_segment_size = value<uint32_t>("group_segment_size");
  p.kernel_object = value<uint64_t>("kernel_object");
  p.kernarg_address = (void *)value<uint64_t>("kernarg_address");
  p.reserved2 = value<uint64_t>("reserved2");
  p.completion_signal.handle = value<uint64_t>("completion_signal");
  words(&p, 16);
}

static void agent_dispatch() {
  hsa_agent_dispatch_packet_t p = {};
  printf("agent_dispatch");
  p.header = header(HSA_PACKET_TYPE_AGENT_DISPATCH);
  p.type = value<uint16_t>("type");
  p.reserved0 = value<uint32_t>("reserved0");
  p.return_address = (void *)value<uint64_t>("return_address");
  const char *names[] = {"arg0", "arg1", "arg2", "arg3"};
  for (int i = 0; i < 4; i++)
    p.arg[i] = value<uint64_t>(names[i]);
  p.reserved2 = value<uint64_t>("reserved2");
  p.completion_signal.handle = value<uint64_t>("completion_signal");
  words(&p, 16);
}

template <typename P> static void barrier(const char *name, hsa_packet_type_t type) {
  P p = {};
  printf("%s", name);
  p.header = header(type);
  p.reserved0 = value<uint16_t>("reserved0");
  p.reserved1 = value<uint32_t>("reserved1");
  const char *names[] = {"dep0", "dep1", "dep2", "dep3", "dep4"};
  for (int i = 0; i < 5; i++)
    p.dep_signal[i].handle = value<uint64_t>(names[i]);
  p.reserved2 = value<uint64_t>("reserved2");
  p.completion_signal.handle = value<uint64_t>("completion_signal");
  words(&p, 16);
}

static void barrier_value() {
  hsa_amd_barrier_value_packet_t p = {};
  printf("barrier_value");
  p.header.header = header(HSA_PACKET_TYPE_VENDOR_SPECIFIC);
  p.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
  p.header.reserved = value<uint8_t>("reserved");
  p.reserved0 = value<uint32_t>("reserved0");
  p.signal.handle = value<uint64_t>("signal");
  p.value = value<int64_t>("value");
  p.mask = value<int64_t>("mask");
  unsigned condition = next() % 4;
  printf(" cond=%x", condition);
  p.cond = condition;
  p.reserved1 = value<uint32_t>("reserved1");
  p.reserved2 = value<uint64_t>("reserved2");
  p.reserved3 = value<uint64_t>("reserved3");
  p.completion_signal.handle = value<uint64_t>("completion_signal");
  words(&p, 16);
}

// The four dwords of INDIRECT_BUFFER that a PM4-IB packet carries.
static void indirect_buffer() {
  printf("indirect_buffer");
  uint64_t address = next() & 0xfffffffffffc;
  uint32_t dwords = next() & 0xfffff;
  printf(" address=%" PRIx64 " dwords=%" PRIx32, address, dwords);
  uint32_t ib[4] = {
      (uint32_t)PM4_HDR(PM4_HDR_IT_OPCODE_INDIRECT_BUFFER, 4, 9),
      PM4_INDIRECT_BUFFER_DW1_IB_BASE_LO((uint32_t)(address >> 2)),
      PM4_INDIRECT_BUFFER_DW2_IB_BASE_HI((uint32_t)(address >> 32)),
      PM4_INDIRECT_BUFFER_DW3_IB_SIZE(dwords) | PM4_INDIRECT_BUFFER_DW3_IB_VALID(1),
  };
  words(ib, 4);
}

template <typename R> static void tmpring(const char *generation, unsigned granule, unsigned bits) {
  R r;
  r.u32All = 0;
  uint32_t waves = next() & 0xfff, size = next() & ((1u << bits) - 1);
  r.bits.WAVES = waves;
  r.bits.WAVESIZE = size;
  printf("tmpring_%s waves=%" PRIx32 " wave_bytes=%" PRIx32, generation, waves, size * granule);
  words(&r, 1);
}

template <typename R1, typename R3, typename F> static void srd(const char *generation, F fill) {
  uint64_t base = next() & 0xffffffffffff;
  uint32_t size = (uint32_t)next();
  SQ_BUF_RSRC_WORD0 w0;
  R1 w1;
  SQ_BUF_RSRC_WORD2 w2;
  R3 w3;
  w0.u32All = w1.u32All = w2.u32All = w3.u32All = 0;
  w0.bits.BASE_ADDRESS = (uint32_t)base;
  w1.bits.BASE_ADDRESS_HI = (uint32_t)(base >> 32);
  w1.bits.SWIZZLE_ENABLE = 1;
  w2.bits.NUM_RECORDS = size;
  w3.bits.DST_SEL_X = SQ_SEL_X;
  w3.bits.DST_SEL_Y = SQ_SEL_Y;
  w3.bits.DST_SEL_Z = SQ_SEL_Z;
  w3.bits.DST_SEL_W = SQ_SEL_W;
  w3.bits.ADD_TID_ENABLE = 1;
  w3.bits.TYPE = SQ_RSRC_BUF;
  fill(w3);
  printf("srd_%s base=%" PRIx64 " size=%" PRIx32, generation, base, size);
  uint32_t all[4] = {w0.u32All, w1.u32All, w2.u32All, w3.u32All};
  words(all, 4);
}

#define OFFSET(type, field) printf("offset %s.%s %zu\n", #type, #field, offsetof(type, field))
#define SIZE(type) printf("size %s %zu\n", #type, sizeof(type))
#define CONSTANT(name) printf("constant %s %lld\n", #name, (long long)(name))

static void layouts() {
  SIZE(amd_signal_t);
  OFFSET(amd_signal_t, kind);
  OFFSET(amd_signal_t, value);
  OFFSET(amd_signal_t, event_mailbox_ptr);
  OFFSET(amd_signal_t, event_id);
  OFFSET(amd_signal_t, start_ts);
  OFFSET(amd_signal_t, end_ts);
  OFFSET(amd_signal_t, queue_ptr);
  SIZE(amd_queue_t);
  SIZE(amd_queue_v2_t);
  OFFSET(amd_queue_t, hsa_queue.type);
  OFFSET(amd_queue_t, hsa_queue.features);
  OFFSET(amd_queue_t, hsa_queue.base_address);
  OFFSET(amd_queue_t, hsa_queue.doorbell_signal);
  OFFSET(amd_queue_t, hsa_queue.size);
  OFFSET(amd_queue_t, hsa_queue.id);
#define BOTH(field) OFFSET(amd_queue_t, field), OFFSET(amd_queue_v2_t, field)
  BOTH(caps);
  BOTH(write_dispatch_id);
  BOTH(group_segment_aperture_base_hi);
  BOTH(private_segment_aperture_base_hi);
  BOTH(max_cu_id);
  BOTH(max_wave_id);
  BOTH(max_legacy_doorbell_dispatch_id_plus_1);
  BOTH(legacy_doorbell_lock);
  BOTH(read_dispatch_id);
  BOTH(read_dispatch_id_field_base_byte_offset);
  BOTH(compute_tmpring_size);
  BOTH(scratch_resource_descriptor);
  BOTH(scratch_backing_memory_location);
  BOTH(scratch_wave64_lane_byte_size);
  BOTH(queue_properties);
  BOTH(queue_inactive_signal);
  OFFSET(amd_queue_v2_t, scratch_backing_memory_byte_size);
  OFFSET(amd_queue_v2_t, scratch_max_use_index);
  OFFSET(amd_queue_v2_t, alt_scratch_max_use_index);
  OFFSET(amd_queue_v2_t, alt_scratch_resource_descriptor);
  OFFSET(amd_queue_v2_t, alt_scratch_backing_memory_location);
  OFFSET(amd_queue_v2_t, alt_scratch_dispatch_limit_x);
  OFFSET(amd_queue_v2_t, alt_scratch_dispatch_limit_y);
  OFFSET(amd_queue_v2_t, alt_scratch_dispatch_limit_z);
  OFFSET(amd_queue_v2_t, alt_scratch_wave64_lane_byte_size);
  OFFSET(amd_queue_v2_t, alt_compute_tmpring_size);
  OFFSET(amd_queue_v2_t, scratch_last_used_index);
  CONSTANT(AMD_SIGNAL_ALIGN_BYTES);
  CONSTANT(AMD_QUEUE_ALIGN_BYTES);
  CONSTANT(MAX_NUM_XCC);
  CONSTANT(AMD_SIGNAL_KIND_INVALID);
  CONSTANT(AMD_SIGNAL_KIND_USER);
  CONSTANT(AMD_SIGNAL_KIND_DOORBELL);
  CONSTANT(AMD_SIGNAL_KIND_LEGACY_DOORBELL);
  CONSTANT(HSA_QUEUE_TYPE_MULTI);
  CONSTANT(HSA_QUEUE_TYPE_SINGLE);
  CONSTANT(HSA_QUEUE_FEATURE_KERNEL_DISPATCH);
  CONSTANT(HSA_QUEUE_FEATURE_AGENT_DISPATCH);
  CONSTANT(AMD_QUEUE_PROPERTIES_ENABLE_TRAP_HANDLER);
  CONSTANT(AMD_QUEUE_PROPERTIES_IS_PTR64);
  CONSTANT(AMD_QUEUE_PROPERTIES_ENABLE_TRAP_HANDLER_DEBUG_SGPRS);
  CONSTANT(AMD_QUEUE_PROPERTIES_ENABLE_PROFILING);
  CONSTANT(AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE);
  CONSTANT(AMD_QUEUE_CAPS_CP_ASYNC_RECLAIM);
  CONSTANT(AMD_QUEUE_CAPS_SW_ASYNC_RECLAIM);
  CONSTANT(HSA_PACKET_TYPE_INVALID);
  CONSTANT(HSA_AMD_PACKET_TYPE_BARRIER_VALUE);
  CONSTANT(HSA_AMD_PACKET_TYPE_AIE_ERT);
  CONSTANT(AMD_AQL_FORMAT_INTERCEPT_MARKER);
}

int main() {
  layouts();
  for (int i = 0; i < 8; i++) {
    kernel_dispatch();
    agent_dispatch();
    barrier<hsa_barrier_and_packet_t>("barrier_and", HSA_PACKET_TYPE_BARRIER_AND);
    barrier<hsa_barrier_or_packet_t>("barrier_or", HSA_PACKET_TYPE_BARRIER_OR);
    barrier_value();
    indirect_buffer();
    tmpring<COMPUTE_TMPRING_SIZE>("gfx9", 1024, 13);
    tmpring<COMPUTE_TMPRING_SIZE>("gfx10", 1024, 13);
    tmpring<COMPUTE_TMPRING_SIZE_GFX11>("gfx11", 256, 15);
    tmpring<COMPUTE_TMPRING_SIZE_GFX12>("gfx12", 256, 18);
    srd<SQ_BUF_RSRC_WORD1, SQ_BUF_RSRC_WORD3>("gfx9", [](SQ_BUF_RSRC_WORD3 &w3) {
      w3.bits.NUM_FORMAT = BUF_NUM_FORMAT_UINT;
      w3.bits.DATA_FORMAT = BUF_DATA_FORMAT_32;
      w3.bits.ELEMENT_SIZE = 1;
      w3.bits.INDEX_STRIDE = 3;
    });
    srd<SQ_BUF_RSRC_WORD1, SQ_BUF_RSRC_WORD3_GFX10>("gfx10", [](SQ_BUF_RSRC_WORD3_GFX10 &w3) {
      w3.bits.FORMAT = BUF_FORMAT_32_UINT;
      w3.bits.RESOURCE_LEVEL = 1;
      w3.bits.OOB_SELECT = 2;
    });
    srd<SQ_BUF_RSRC_WORD1_GFX11, SQ_BUF_RSRC_WORD3_GFX11>("gfx11", [](SQ_BUF_RSRC_WORD3_GFX11 &w3) {
      w3.bits.FORMAT = BUF_FORMAT_32_UINT;
      w3.bits.OOB_SELECT = 2;
    });
    srd<SQ_BUF_RSRC_WORD1_GFX11, SQ_BUF_RSRC_WORD3_GFX12>("gfx12", [](SQ_BUF_RSRC_WORD3_GFX12 &w3) {
      w3.bits.FORMAT = BUF_FORMAT_32_UINT;
      w3.bits.OOB_SELECT = 2;
    });
  }
}
