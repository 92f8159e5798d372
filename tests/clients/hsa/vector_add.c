// A program for AMD's HSA runtime, as others write them: copies vectors to the GPU, adds them with the kernel `vadd` of
// kernels/k01_vadd.cl in three dispatches that wait for each other by barriers, and copies the result back.
//
//     vector_add CODE_OBJECT
#include <fcntl.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 4096, GROUP = 64, BYTES = ELEMENTS * sizeof(int32_t), ROUNDS = 3 };

static void check(hsa_status_t status, const char *what) {
  const char *text = "";
  if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK) return;
  hsa_status_string(status, &text);
  fprintf(stderr, "%s: %#x %s\n", what, status, text);
  exit(1);
}
#define CHECK(call) check(call, #call)

static hsa_agent_t cpu, gpu;
static hsa_amd_memory_pool_t host_pool, argument_pool, device_pool;

static hsa_status_t see_agent(hsa_agent_t agent, void *unused) {
  hsa_device_type_t type;
  (void)unused;
  CHECK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
  if (type == HSA_DEVICE_TYPE_GPU) gpu = agent;
  if (type == HSA_DEVICE_TYPE_CPU) cpu = agent;
  return HSA_STATUS_SUCCESS;
}

static hsa_status_t see_pool(hsa_amd_memory_pool_t pool, void *of_gpu) {
  hsa_amd_segment_t segment;
  uint32_t flags;
  CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
  if (segment != HSA_AMD_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
  CHECK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
  if (of_gpu) {
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) device_pool = pool;
  } else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) {
    argument_pool = pool;
  } else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) {
    host_pool = pool;
  }
  return HSA_STATUS_SUCCESS;
}

static void wait_for(hsa_signal_t signal, const char *what) {
  if (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 0) return;
  fprintf(stderr, "%s failed\n", what);
  exit(1);
}

static void *allocate(hsa_amd_memory_pool_t pool, size_t bytes) {
  void *memory;
  CHECK(hsa_amd_memory_pool_allocate(pool, bytes, 0, &memory));
  CHECK(hsa_amd_agents_allow_access(1, &gpu, NULL, memory));
  return memory;
}

// What the kernel takes: its own arguments, then the hidden ones of code object version 5 that it reads.
struct arguments {
  int32_t *a, *b, *sum;
  uint32_t count, unused;
  uint32_t hidden_blocks[3];
  uint16_t hidden_group_size[3], hidden_remainder[3];
};

static uint16_t header(hsa_packet_type_t type) {
  return type << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
         HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
         HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
}

static void publish(hsa_queue_t *queue, void *packet, uint16_t head, uint16_t second, uint64_t index) {
  __atomic_store_n((uint32_t *)packet, head | (uint32_t)second << 16, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue->doorbell_signal, index);
}

int main(int argc, char **argv) {
  char name[64];
  if (argc != 2) return 2;
  CHECK(hsa_init());
  CHECK(hsa_iterate_agents(see_agent, NULL));
  CHECK(hsa_agent_get_info(gpu, HSA_AGENT_INFO_NAME, name));
  CHECK(hsa_amd_agent_iterate_memory_pools(cpu, see_pool, NULL));
  CHECK(hsa_amd_agent_iterate_memory_pools(gpu, see_pool, &gpu));

  hsa_code_object_reader_t reader;
  hsa_executable_t executable;
  hsa_executable_symbol_t symbol;
  uint64_t kernel;
  uint32_t argument_bytes, group_bytes, private_bytes;
  CHECK(hsa_code_object_reader_create_from_file(open(argv[1], O_RDONLY), &reader));
  CHECK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable));
  CHECK(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
  CHECK(hsa_executable_freeze(executable, NULL));
  CHECK(hsa_executable_get_symbol_by_name(executable, "vadd.kd", &gpu, &symbol));
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &kernel));
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &argument_bytes));
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &group_bytes));
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &private_bytes));

  int32_t *host = allocate(host_pool, 3 * BYTES), *device = allocate(device_pool, 3 * BYTES);
  for (int i = 0; i < ELEMENTS; i++) {
    host[i] = i;
    host[ELEMENTS + i] = 7 * i;
    host[2 * ELEMENTS + i] = -1;
  }
  hsa_signal_t done, copied;
  CHECK(hsa_signal_create(1, 0, NULL, &done));
  CHECK(hsa_signal_create(1, 0, NULL, &copied));
  CHECK(hsa_amd_memory_async_copy(device, gpu, host, cpu, 3 * BYTES, 0, NULL, copied));

  hsa_queue_t *queue;
  CHECK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
  // Nothing starts before the copy is done.
  uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
  hsa_barrier_and_packet_t *barrier = (hsa_barrier_and_packet_t *)queue->base_address + index % queue->size;
  memset((char *)barrier + 4, 0, sizeof *barrier - 4);
  barrier->dep_signal[0] = copied;
  publish(queue, barrier, header(HSA_PACKET_TYPE_BARRIER_AND), 0, index);
  // sum = a + b, a = sum + b, sum = a + b: i + 3 * 7 i.
  for (int round = 0; round < ROUNDS; round++) {
    struct arguments *arguments = allocate(argument_pool, argument_bytes);
    int32_t *a = device, *b = device + ELEMENTS, *sum = device + 2 * ELEMENTS;
    memset(arguments, 0, argument_bytes);
    *arguments = (struct arguments){
        .a = round == 1 ? sum : a, .b = b, .sum = round == 1 ? a : sum, .count = ELEMENTS,
        .hidden_blocks = {ELEMENTS / GROUP, 1, 1}, .hidden_group_size = {GROUP, 1, 1}};
    index = hsa_queue_add_write_index_relaxed(queue, 1);
    hsa_kernel_dispatch_packet_t *packet = (hsa_kernel_dispatch_packet_t *)queue->base_address + index % queue->size;
    memset((char *)packet + 4, 0, sizeof *packet - 4);
    packet->workgroup_size_x = GROUP;
    packet->workgroup_size_y = packet->workgroup_size_z = 1;
    packet->grid_size_x = ELEMENTS;
    packet->grid_size_y = packet->grid_size_z = 1;
    packet->private_segment_size = private_bytes;
    packet->group_segment_size = group_bytes;
    packet->kernel_object = kernel;
    packet->kernarg_address = arguments;
    if (round == ROUNDS - 1) packet->completion_signal = done;
    publish(queue, packet, header(HSA_PACKET_TYPE_KERNEL_DISPATCH), 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS, index);
  }
  wait_for(done, "the dispatch");
  hsa_signal_store_relaxed(done, 1);
  CHECK(hsa_amd_memory_async_copy(host, cpu, device, gpu, 3 * BYTES, 0, NULL, done));
  wait_for(done, "the copy back");

  int wrong = 0;
  for (int i = 0; i < ELEMENTS; i++) wrong += host[2 * ELEMENTS + i] != i + ROUNDS * 7 * i;
  printf("%s: %d elements, %d wrong\n", name, ELEMENTS, wrong);
  CHECK(hsa_queue_destroy(queue));
  CHECK(hsa_signal_destroy(done));
  CHECK(hsa_signal_destroy(copied));
  CHECK(hsa_shut_down());
  return wrong != 0;
}
