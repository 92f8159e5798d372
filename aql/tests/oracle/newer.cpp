// Golden lines of what later versions of AMD's headers have: see SOURCE.
#include "header.h"

#include "amd_launch_descriptor.h"
#include "hsa_ext_amd.h"

static void ext_kernel_dispatch() {
  using P = hsa_amd_ext_kernel_dispatch_packet_t;
  Lines<P> lines("EXT_KERNEL_DISPATCH");
  P value = {}, mask = {};
  value.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE;
  value.amd_format = HSA_AMD_PACKET_TYPE_EXT_KERNEL_DISPATCH;
  mask.header = TYPE_MASK;
  mask.amd_format = 0xff;
  lines.head(value, mask);
  HEADER(lines, P, header);
  BITS(lines, P, setup, "dimensions", HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS,
       HSA_KERNEL_DISPATCH_PACKET_SETUP_WIDTH_DIMENSIONS);
  MEMBER(lines, P, workgroup_size_x);
  MEMBER(lines, P, workgroup_size_y);
  MEMBER(lines, P, workgroup_size_z);
  MEMBER(lines, P, cluster_count_x);
  MEMBER(lines, P, cluster_count_y);
  MEMBER(lines, P, cluster_count_z);
  MEMBER(lines, P, cluster_size_x);
  MEMBER(lines, P, cluster_size_y);
  MEMBER(lines, P, cluster_size_z);
  BITS(lines, P, perf_hint.hint_val, "group_mem_carveout",
       HSA_AMD_EXT_PERF_HINT_GROUP_MEM_CARVEOUT, HSA_AMD_EXT_PERF_HINT_WIDTH_GROUP_MEM_CARVEOUT);
  BITS(lines, P, perf_hint.hint_val, "reverse_dispatch_order",
       HSA_AMD_EXT_PERF_HINT_REVERSE_DISPATCH_ORDER,
       HSA_AMD_EXT_PERF_HINT_WIDTH_REVERSE_DISPATCH_ORDER);
  MEMBER(lines, P, private_segment_size);
  MEMBER(lines, P, group_segment_size);
  MEMBER(lines, P, kernel_object);
  MEMBER(lines, P, kernarg_address);
  MEMBER(lines, P, dep_signal);
  MEMBER(lines, P, completion_signal);
  lines.wholes();
}

template <typename P, typename L> static void metadata_header(L &lines) {
  BITS(lines, P, header0, "type", HSA_AMD_METADATA_PACKET_HEADER_TYPE,
       HSA_AMD_METADATA_PACKET_HEADER_WIDTH_TYPE);
  lines.names("type", PACKET_TYPES);
  BITS(lines, P, header0, "version_major", HSA_AMD_METADATA_PACKET_HEADER_VERSION_MAJOR,
       HSA_AMD_METADATA_PACKET_HEADER_WIDTH_VERSION_MAJOR);
  BITS(lines, P, header0, "version_minor", HSA_AMD_METADATA_PACKET_HEADER_VERSION_MINOR,
       HSA_AMD_METADATA_PACKET_HEADER_WIDTH_VERSION_MINOR);
}

struct MetadataHeader {
  uint32_t header0;
};

static void metadata_kernel_dispatch() {
  using P = hsa_amd_metadata_kernel_dispatch_packet_t;
  Lines<P> lines("METADATA_KERNEL_DISPATCH");
  metadata_header<P>(lines);
  MEMBER(lines, P, event_id);
#define DESCRIPTOR(name) MEMBER_AS(lines, P, kernel_descriptor.name, #name)
  DESCRIPTOR(kernel_code_entry_byte_offset);
  DESCRIPTOR(compute_pgm_rsrc3);
  DESCRIPTOR(compute_pgm_rsrc1);
  DESCRIPTOR(compute_pgm_rsrc2);
  DESCRIPTOR(kernel_code_properties);
  P length = {}, offset = {};
  length.kernel_descriptor.kernarg_preload.length = 0xffff;
  offset.kernel_descriptor.kernarg_preload.offset = 0xffff;
  lines.piece("kernarg_preload_length", length);
  lines.piece("kernarg_preload_offset", offset);
  MEMBER(lines, P, header1);
  MEMBER(lines, P, header2);
  MEMBER(lines, P, header3);
  auto words = [&](const char *name, int first, size_t offset, size_t size) {
    for (size_t i = 0; i < size / 4; i++)
      lines.member(name + std::to_string(first + i), offset + 4 * i, 4);
  };
#define WORDS(name, as, first) words(as, first, offsetof(P, name), sizeof(P::name))
  WORDS(kernarg_preload_0_14, "kernarg_preload_", 0);
  WORDS(kernarg_preload_15_29, "kernarg_preload_", 15);
  WORDS(kernarg_preload_30_31, "kernarg_preload_", 30);
  static_assert(sizeof(P::reserved1) == sizeof(amd_launch_descriptor_data_t));
  WORDS(reserved1, "launch_descriptor_", 0);
  lines.wholes();
}

static void metadata_barrier() {
  using P = hsa_amd_metadata_barrier_packet_t;
  Lines<P> lines("METADATA_BARRIER");
  metadata_header<P>(lines);
  MEMBER(lines, P, event_id);
  MEMBER(lines, P, header1);
  MEMBER(lines, P, header2);
  MEMBER(lines, P, header3);
  lines.wholes();
}

// The structure's dwords before its regions.
struct LaunchDescriptor {
  uint8_t bytes[offsetof(amd_launch_descriptor_data_t, prefetch)];
  LaunchDescriptor(const amd_launch_descriptor_data_t &all = {}) {
    memcpy(bytes, &all, sizeof(bytes));
  }
};

// All of a member, whatever its width.
#define ALL(lines, P, name)                                                                        \
  do {                                                                                             \
    P p = {};                                                                                      \
    p.name = (decltype(p.name))~0u;                                                                \
    (lines).piece(#name, p);                                                                       \
  } while (0)

static void launch_descriptor() {
  using P = amd_launch_descriptor_data_t;
  Lines<LaunchDescriptor> lines("LAUNCH_DESCRIPTOR");
  ALL(lines, P, version);
  ALL(lines, P, priority);
  ALL(lines, P, pm_hint);
  ALL(lines, P, cu_start);
  ALL(lines, P, cu_count);
  ALL(lines, P, se_en);
  ALL(lines, P, dispatch_granularity_limiter);
  ALL(lines, P, tg_chunk_size);
  lines.wholes();
}

static void data_prefetch() {
  using P = amd_data_prefetch_t;
  Lines<P> lines("DATA_PREFETCH");
  ALL(lines, P, cooperative);
  ALL(lines, P, temporal);
  ALL(lines, P, scope);
  ALL(lines, P, burst_size);
  ALL(lines, P, num_burst);
  ALL(lines, P, chunk_size);
  ALL(lines, P, translation_permissions);
  ALL(lines, P, addr_lo);
  ALL(lines, P, addr_hi);
  ALL(lines, P, stride);
  ALL(lines, P, mode);
  lines.wholes();
}

int main() {
  Lines<MetadataHeader> lines("METADATA_HEADER");
  metadata_header<MetadataHeader>(lines);
  lines.wholes();
  ext_kernel_dispatch();
  metadata_kernel_dispatch();
  metadata_barrier();
  launch_descriptor();
  data_prefetch();
}
