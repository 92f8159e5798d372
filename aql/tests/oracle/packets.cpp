// Golden lines of the packets of hsa.h and hsa_ext_amd.h, and of ROCr's own.
#include "header.h"

#include "hsa_ext_amd.h"
#define LITTLEENDIAN_CPU 1
#include "amd_gpu_pm4.h"
#include "amd_aql_pm4_ib.h" // cut out of amd_aql_queue.cpp by packets.py

struct Header {
  uint16_t header;
};

static void header() {
  Lines<Header> lines("HEADER");
  BITS(lines, Header, header, "type", HSA_PACKET_HEADER_TYPE, HSA_PACKET_HEADER_WIDTH_TYPE);
  lines.names("type", PACKET_TYPES);
  HEADER(lines, Header, header);
  lines.wholes();
}

static void kernel_dispatch() {
  using P = hsa_kernel_dispatch_packet_t;
  Lines<P> lines("KERNEL_DISPATCH");
  TYPE(lines, P, HSA_PACKET_TYPE_KERNEL_DISPATCH);
  HEADER(lines, P, header);
  BITS(lines, P, setup, "dimensions", HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS,
       HSA_KERNEL_DISPATCH_PACKET_SETUP_WIDTH_DIMENSIONS);
  MEMBER(lines, P, workgroup_size_x);
  MEMBER(lines, P, workgroup_size_y);
  MEMBER(lines, P, workgroup_size_z);
  MEMBER(lines, P, grid_size_x);
  MEMBER(lines, P, grid_size_y);
  MEMBER(lines, P, grid_size_z);
  MEMBER(lines, P, private_segment_size);
  MEMBER(lines, P, group_segment_size);
  MEMBER(lines, P, kernel_object);
  MEMBER(lines, P, kernarg_address);
  MEMBER(lines, P, completion_signal);
  lines.wholes();
}

static void agent_dispatch() {
  using P = hsa_agent_dispatch_packet_t;
  Lines<P> lines("AGENT_DISPATCH");
  TYPE(lines, P, HSA_PACKET_TYPE_AGENT_DISPATCH);
  HEADER(lines, P, header);
  MEMBER(lines, P, type);
  MEMBER(lines, P, return_address);
  MEMBER_AS(lines, P, arg[0], "arg_0");
  MEMBER_AS(lines, P, arg[1], "arg_1");
  MEMBER_AS(lines, P, arg[2], "arg_2");
  MEMBER_AS(lines, P, arg[3], "arg_3");
  MEMBER(lines, P, completion_signal);
  lines.wholes();
}

template <typename P> static void barrier(const char *name, hsa_packet_type_t type) {
  Lines<P> lines(name);
  TYPE(lines, P, type);
  HEADER(lines, P, header);
  MEMBER_AS(lines, P, dep_signal[0], "dep_signal_0");
  MEMBER_AS(lines, P, dep_signal[1], "dep_signal_1");
  MEMBER_AS(lines, P, dep_signal[2], "dep_signal_2");
  MEMBER_AS(lines, P, dep_signal[3], "dep_signal_3");
  MEMBER_AS(lines, P, dep_signal[4], "dep_signal_4");
  MEMBER(lines, P, completion_signal);
  lines.wholes();
}

static void barrier_value() {
  using P = hsa_amd_barrier_value_packet_t;
  Lines<P> lines("BARRIER_VALUE");
  P value = {}, mask = {};
  value.header.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE;
  value.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
  mask.header.header = TYPE_MASK;
  mask.header.AmdFormat = 0xff;
  lines.head(value, mask);
  HEADER(lines, P, header.header);
  MEMBER(lines, P, signal);
  MEMBER(lines, P, value);
  MEMBER(lines, P, mask);
  MEMBER(lines, P, cond);
  lines.names("cond", {{"EQ", HSA_SIGNAL_CONDITION_EQ},
                       {"NE", HSA_SIGNAL_CONDITION_NE},
                       {"LT", HSA_SIGNAL_CONDITION_LT},
                       {"GTE", HSA_SIGNAL_CONDITION_GTE}});
  MEMBER(lines, P, completion_signal);
  lines.wholes();
}

static void pm4_ib() {
  using P = amd_aql_pm4_ib;
  Lines<P> lines("PM4_IB");
  P value = {}, mask = {};
  value.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE;
  value.ven_hdr = AMD_AQL_FORMAT_PM4_IB;
  mask.header = TYPE_MASK;
  // The same byte as AmdFormat of the vendor packets that hsa_ext_amd.h has.
  mask.ven_hdr = 0xff;
  lines.head(value, mask);
  HEADER(lines, P, header);
  MEMBER_AS(lines, P, ib_jump_cmd[0], "ib_jump_cmd");
  lines.names("ib_jump_cmd",
              {{"INDIRECT_BUFFER", (uint32_t)PM4_HDR(PM4_HDR_IT_OPCODE_INDIRECT_BUFFER, 4, 9)}});
  auto command = [&](const char *name, int dword, uint32_t ones) {
    P p = {};
    p.ib_jump_cmd[dword] = ones;
    lines.piece(name, p);
  };
  command("ib_base_lo", 1, PM4_INDIRECT_BUFFER_DW1_IB_BASE_LO(~0u));
  command("ib_base_hi", 2, PM4_INDIRECT_BUFFER_DW2_IB_BASE_HI(~0u));
  // ROCr gives the macros an address shifted right by 2 and by 32.
  printf("join PM4_IB aql ib_base_lo@2 ib_base_hi@32\n");
  command("ib_size", 3, PM4_INDIRECT_BUFFER_DW3_IB_SIZE(~0u));
  command("ib_valid", 3, PM4_INDIRECT_BUFFER_DW3_IB_VALID(~0u));
  MEMBER(lines, P, dw_cnt_remain);
  MEMBER(lines, P, completion_signal);
  lines.wholes();
}

int main() {
  header();
  kernel_dispatch();
  agent_dispatch();
  barrier<hsa_barrier_and_packet_t>("BARRIER_AND", HSA_PACKET_TYPE_BARRIER_AND);
  barrier<hsa_barrier_or_packet_t>("BARRIER_OR", HSA_PACKET_TYPE_BARRIER_OR);
  barrier_value();
  pm4_ib();
}
