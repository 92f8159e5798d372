// A program for OpenCL, as others write them: has the platform's compiler compile a kernel, and adds vectors on its first GPU.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

enum { ELEMENTS = 4096, BYTES = ELEMENTS * sizeof(cl_int) };

static void check(cl_int status, const char *what) {
  if (status == CL_SUCCESS) return;
  fprintf(stderr, "%s: %d\n", what, status);
  exit(1);
}

static const char *source =
    "kernel void add(global const int *a, global const int *b, global int *sum) {\n"
    "  size_t i = get_global_id(0);\n"
    "  sum[i] = a[i] + 7 * b[i];\n"
    "}\n";

int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int status, a[ELEMENTS], b[ELEMENTS], sum[ELEMENTS];
  char name[128];
  check(clGetPlatformIDs(1, &platform, NULL), "platforms");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL), "devices");
  check(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL), "the name");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  check(status, "the context");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
  check(status, "the queue");
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
  check(status, "the program");
  check(clBuildProgram(program, 1, &device, "", NULL, NULL), "the compiler");
  cl_kernel kernel = clCreateKernel(program, "add", &status);
  check(status, "the kernel");
  for (int i = 0; i < ELEMENTS; i++) {
    a[i] = i;
    b[i] = 3 * i;
    sum[i] = -1;
  }
  cl_mem buffers[3];
  int *values[3] = {a, b, sum};
  for (cl_uint i = 0; i < 3; i++) {
    buffers[i] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, BYTES, values[i], &status);
    check(status, "a buffer");
    check(clSetKernelArg(kernel, i, sizeof buffers[i], &buffers[i]), "an argument");
  }
  size_t size = ELEMENTS;
  check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL), "the dispatch");
  check(clEnqueueReadBuffer(queue, buffers[2], CL_TRUE, 0, BYTES, sum, 0, NULL, NULL), "the copy back");
  int wrong = 0;
  for (int i = 0; i < ELEMENTS; i++) wrong += sum[i] != i + 7 * 3 * i;
  printf("%s: %d elements, %d wrong\n", name, ELEMENTS, wrong);
  return wrong != 0;
}
