// Prints ACQUIRE_MEM packets made with Linux's own definitions. Not linked with our crate. From this directory:
//     cc -I "$LINUX/drivers/gpu/drm/amd/amdgpu" -DNAVI acquire_mem.c -o gen && ./gen
//     cc -I "$LINUX/drivers/gpu/drm/amd/amdgpu" acquire_mem.c -o gen && ./gen
// where LINUX is an unpacked Linux 6.12. One packet a line: generation, field, words.
#include <stdio.h>
#ifdef NAVI
#include "nvd.h"
#define GENERATION "gfx10"
#define DWORDS 8
#define F(name, value) { #name, PACKET3_ACQUIRE_MEM_GCR_CNTL_##name(value) }
static const struct { const char *name; unsigned bits; } fields[] = {
  F(GLI_INV, 3), F(GL1_RANGE, 3), F(GLM_WB, 1), F(GLM_INV, 1), F(GLK_WB, 1), F(GLK_INV, 1), F(GLV_INV, 1), F(GL1_INV, 1),
  F(GL2_US, 1), F(GL2_RANGE, 3), F(GL2_DISCARD, 1), F(GL2_INV, 1), F(GL2_WB, 1), F(SEQ, 3),
  { "RANGE_IS_PA", PACKET3_ACQUIRE_MEM_GCR_RANGE_IS_PA },
};
#else
#include "soc15d.h"
#define GENERATION "gfx9"
#define DWORDS 7
#define F(name) { #name, PACKET3_ACQUIRE_MEM_CP_COHER_CNTL_##name(1) }
static const struct { const char *name; unsigned bits; } fields[] = {
  F(TC_NC_ACTION_ENA), F(TC_WC_ACTION_ENA), F(TC_INV_METADATA_ACTION_ENA), F(TCL1_VOL_ACTION_ENA), F(TC_WB_ACTION_ENA),
  F(TCL1_ACTION_ENA), F(TC_ACTION_ENA), F(CB_ACTION_ENA), F(DB_ACTION_ENA), F(SH_KCACHE_ACTION_ENA),
  F(SH_KCACHE_VOL_ACTION_ENA), F(SH_ICACHE_ACTION_ENA), F(SH_KCACHE_WB_ACTION_ENA),
  { "ENGINE_SEL", 1u << 31 }, // the header says it in a comment only
};
#endif
int main(void) {
  for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++) {
    // size 0x89abcdef01, base 0x123456789abcde (both in units of 256 bytes), poll interval 0x4321
    unsigned words[8] = { PACKET3(PACKET3_ACQUIRE_MEM, DWORDS - 2), 0, 0xabcdef01, 0x89, 0x789abcde, 0x123456, 0x4321, 0 };
    words[DWORDS == 8 ? 7 : 1] = fields[i].bits;
    printf("%s %s", GENERATION, fields[i].name);
    for (unsigned w = 0; w < DWORDS; w++) printf(" %08x", words[w]);
    puts("");
  }
}
