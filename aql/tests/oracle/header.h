// What all packets have in common, by hsa.h.
#pragma once
#include "hsa.h"
#include "lines.h"

#define FENCE_SCOPES                                                                               \
  {{"NONE", HSA_FENCE_SCOPE_NONE},                                                                 \
   {"AGENT", HSA_FENCE_SCOPE_AGENT},                                                               \
   {"SYSTEM", HSA_FENCE_SCOPE_SYSTEM}}

#define PACKET_TYPES                                                                               \
  {{"VENDOR_SPECIFIC", HSA_PACKET_TYPE_VENDOR_SPECIFIC},                                           \
   {"INVALID", HSA_PACKET_TYPE_INVALID},                                                           \
   {"KERNEL_DISPATCH", HSA_PACKET_TYPE_KERNEL_DISPATCH},                                           \
   {"BARRIER_AND", HSA_PACKET_TYPE_BARRIER_AND},                                                   \
   {"AGENT_DISPATCH", HSA_PACKET_TYPE_AGENT_DISPATCH},                                             \
   {"BARRIER_OR", HSA_PACKET_TYPE_BARRIER_OR}}

#define TYPE_MASK (((1u << HSA_PACKET_HEADER_WIDTH_TYPE) - 1) << HSA_PACKET_HEADER_TYPE)

// The barrier bit and the fences; `header` is where the packet has its 16 bits.
#define HEADER(lines, P, header)                                                                   \
  do {                                                                                             \
    BITS(lines, P, header, "barrier", HSA_PACKET_HEADER_BARRIER, HSA_PACKET_HEADER_WIDTH_BARRIER); \
    BITS(lines, P, header, "scacquire_fence_scope", HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE,       \
         HSA_PACKET_HEADER_WIDTH_SCACQUIRE_FENCE_SCOPE);                                           \
    BITS(lines, P, header, "screlease_fence_scope", HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE,       \
         HSA_PACKET_HEADER_WIDTH_SCRELEASE_FENCE_SCOPE);                                           \
    (lines).names("scacquire_fence_scope", FENCE_SCOPES);                                          \
    (lines).names("screlease_fence_scope", FENCE_SCOPES);                                          \
  } while (0)

#define TYPE(lines, P, packet_type)                                                                \
  do {                                                                                             \
    P value = {}, mask = {};                                                                       \
    value.header = (packet_type) << HSA_PACKET_HEADER_TYPE;                                        \
    mask.header = TYPE_MASK;                                                                       \
    (lines).head(value, mask);                                                                     \
  } while (0)
