#!/usr/bin/env python3
"""Prints dwords that other drivers write, made by their own functions.

Functions are cut out of ROCr's amd_blit_sdma.cpp and Linux's sdma_v*.c as they stand and compiled with stand-ins for
what they call; tinygrad's class is run. SELVEDGE_ORACLE names a directory with the sources: linux, rocm-systems,
tinygrad. Lines: DRIVER CASE VERSIONS : WORD..., where tests/emitters.rs knows what a case writes.
"""
import os
import re
import subprocess
import tempfile
from types import SimpleNamespace

ROOT = os.environ["SELVEDGE_ORACLE"]
AMDGPU = f"{ROOT}/linux/drivers/gpu/drm/amd/amdgpu"
ROCR = f"{ROOT}/rocm-systems/projects/rocr-runtime/runtime/hsa-runtime/core"
CC = os.environ.get("CC", "clang-19")
CXX = os.environ.get("CXX", "clang++-19")

SRC, DST = 0x1234_5678_9ABC, 0x7FED_CBA9_8760
FENCE, VALUE = 0x5566_7788_99A0, 0x89AB_CDEF


def function(text, pattern):
    """A function's text, from its head to the brace in the first column."""
    match = re.search(pattern, text, re.M)
    if not match:
        return None
    return text[match.start():text.index("\n}", match.start()) + 2]


def run(source, compiler, suffix, options):
    with tempfile.TemporaryDirectory() as where:
        path = f"{where}/program{suffix}"
        with open(path, "w") as file:
            file.write(source)
        subprocess.run([compiler, "-w", *options, path, "-o", f"{where}/program"], check=True)
        return subprocess.run([f"{where}/program"], check=True, capture_output=True, text=True).stdout


def rocr():
    text = open(f"{ROCR}/runtime/amd_blit_sdma.cpp").read()
    names = ["BuildFenceCommand", "BuildCopyCommand", "BuildCopyRectCommand", "BuildFillCommand", "BuildPollCommand",
             "BuildAtomicDecrementCommand", "BuildGetGlobalTimestampCommand", "BuildTrapCommand",
             "BuildHdpFlushCommand", "BuildGCRCommand"]
    bodies = [function(text, rf"^template <bool useGCR>\s+void BlitSdma<useGCR>::{name}\(") for name in names]
    heads = [re.sub(r"BlitSdma<useGCR>::", "", body[len("template <bool useGCR>"):body.index("{")]) + ";"
             for body in bodies]
    cases = f"""
        clear(); sdma.BuildCopyCommand(at, 1, (void*){DST:#x}, (void*){SRC:#x}, 0x12344); show("copy", 7);
        clear(); sdma.BuildFillCommand(at, 1, (void*){DST:#x}, {VALUE:#x}, 0x40); show("fill", 5);
        clear(); sdma.BuildFenceCommand(at, (uint32_t*){FENCE:#x}, {VALUE:#x}); show("fence", 4);
        clear(); sdma.BuildPollCommand(at, (void*){FENCE:#x}, {VALUE:#x}); show("poll", 6);
        clear(); sdma.BuildAtomicDecrementCommand(at, (void*){FENCE:#x}); show("decrement", 8);
        clear(); sdma.BuildGetGlobalTimestampCommand(at, (void*){FENCE:#x}); show("timestamp", 3);
        clear(); sdma.BuildTrapCommand(at, 0x123); show("trap", 2);
        if (!(major == 10 && minor == 1)) {{ clear(); sdma.BuildHdpFlushCommand(at); show("hdp_flush", 6); }}
        if (major >= 10) {{
            clear(); sdma.BuildGCRCommand(at, true); show("invalidate", 5);
            clear(); sdma.BuildGCRCommand(at, false); show("write_back", 5);
        }}
        hsa_pitched_ptr_t d = {{(void*){DST:#x}, 0x100, 0x4000}}, s = {{(void*){SRC:#x}, 0x200, 0x8000}};
        hsa_dim3_t o = {{0, 0, 0}}, r = {{0x40, 3, 2}};
        clear(); sdma.BuildCopyRectCommand([](size_t) {{ return (void*)at; }}, &d, &o, &s, &o, &r); show("window", 13);
    """
    return run(f"""
        #include <cstdint>
        #include <cstdio>
        #include <cstring>
        #include <cassert>
        #include <algorithm>
        #include <functional>
        #include <string>
        #define HSA_LARGE_MODEL 1
        #include "{ROCR}/inc/sdma_registers.h"
        enum {{ HSA_STATUS_ERROR_INVALID_ARGUMENT }};
        struct hsa_pitched_ptr_t {{ void* base; size_t pitch, slice; }};
        struct hsa_dim3_t {{ uint32_t x, y, z; }};
        namespace rocr {{
        using std::min;
        template <typename A> A Min(A a) {{ return a; }}
        template <typename A, typename B, typename... C> std::common_type_t<A, B> Min(A a, B b, C... c) {{
            return Min(std::min<std::common_type_t<A, B>>(a, b), c...);
        }}
        namespace AMD {{
        static int major, minor;
        static char buffer[256], *at = buffer;
        struct hsa_exception {{ hsa_exception(int, const char*) {{}} }};
        struct Isa {{ int GetMajorVersion() const {{ return major; }} int GetMinorVersion() const {{ return minor; }} }};
        struct Agent {{ Isa isa; const Isa* list[1] = {{&isa}}; const Isa* const* supported_isas() const {{ return list; }} }};
        inline uint32_t ptrlow32(const void* p) {{ return (uint32_t)(uintptr_t)p; }}
        inline uint32_t ptrhigh32(const void* p) {{ return (uint32_t)((uintptr_t)p >> 32); }}
        template <bool useGCR> struct BlitSdma {{
            Agent agent; Agent* agent_ = &agent;
            size_t max_single_linear_copy_size_ = 0;
            static const size_t kMaxSingleCopySize = SDMA_PKT_COPY_LINEAR::kMaxSize_;
            static const size_t kMaxSingleFillSize = SDMA_PKT_CONSTANT_FILL::kMaxSize_;
            static const uint32_t linear_copy_command_size_ = sizeof(SDMA_PKT_COPY_LINEAR);
            static const uint32_t flush_command_size_ = sizeof(SDMA_PKT_POLL_REGMEM);
            {chr(10).join(heads)}
        }};
        {chr(10).join(bodies)}
        static void clear() {{ memset(buffer, 0xee, sizeof buffer); }}
        static void cases(const char* versions, int a, int b) {{
            major = a; minor = b;
            BlitSdma<true> sdma;
            auto show = [&](const char* what, int dwords) {{
                printf("rocr %s %s :", what, versions);
                for (int i = 0; i < dwords; i++) printf(" %x", ((uint32_t*)buffer)[i]);
                printf("\\n");
            }};
            {cases}
        }}
        }} }}
        int main() {{
            rocr::AMD::cases("4.0,4.4,4.4.2", 9, 0);
            rocr::AMD::cases("5.0", 10, 1);
            rocr::AMD::cases("5.2", 10, 3);
            rocr::AMD::cases("6.0,6.1", 11, 0);
            rocr::AMD::cases("7.0", 12, 0);
        }}
    """, CXX, ".cpp", ["-std=c++17"])


DRIVERS = {"sdma_v4_0": "4.0,4.4", "sdma_v4_4_2": "4.4.2", "sdma_v5_0": "5.0", "sdma_v5_2": "5.2",
           "sdma_v6_0": "6.0,6.1", "sdma_v7_0": "7.0"}
HEADERS = {"4": "vega10_sdma_pkt_open.h", "5": "navi10_sdma_pkt_open.h", "6": "sdma_v6_0_0_pkt_open.h",
           "7": "sdma_v6_0_0_pkt_open.h"}

KERNEL = """
#include <stdint.h>
#include <stdio.h>
#include <stdbool.h>
#include <string.h>
typedef uint32_t u32; typedef uint64_t u64;
#define lower_32_bits(n) ((u32)((n) & 0xffffffff))
#define upper_32_bits(n) ((u32)((n) >> 32))
#define WARN_ON(x) ((void)(x))
#define likely(x) (x)
#define AMDGPU_FENCE_FLAG_64BIT 1
#define AMDGPU_FENCE_FLAG_INT 2
#define AMDGPU_FENCE_MES_QUEUE_FLAG 0
#define AMDGPU_COPY_FLAGS_TMZ 1
#define AMDGPU_COPY_FLAGS_READ_DECOMPRESSED 2
#define AMDGPU_COPY_FLAGS_WRITE_COMPRESSED 4
#define AMDGPU_COPY_FLAGS_GET(flags, field) 0
#define AMDGPU_JOB_GET_VMID(job) 0
static u32 words[256]; static u32 written;
struct amdgpu_ib { u32* ptr; u32 length_dw; u64 gpu_addr; };
struct amdgpu_job { int none; };
struct funcs { u32 nop; };
struct amdgpu_ring { struct amdgpu_device* adev; const struct funcs* funcs; u64 wptr; bool is_mes_queue; u32 hw_queue_id;
    struct { u64 gpu_addr; u32 sync_seq; } fence_drv; };
struct amdgpu_sdma_instance { bool burst_nop; };
static struct amdgpu_sdma_instance* amdgpu_sdma_get_instance_from_ring(struct amdgpu_ring* ring) {
    static struct amdgpu_sdma_instance one = { true }; return &one; }
static u64 amdgpu_sdma_get_csa_mc_addr(struct amdgpu_ring* ring, unsigned vmid) { return 0; }
static void amdgpu_ring_write(struct amdgpu_ring* ring, u32 v) { words[written++] = v; ring->wptr++; }
"""


def linux(name, versions):
    text = open(f"{AMDGPU}/{name}.c").read()
    wanted = ["ring_insert_nop", "emit_copy_buffer", "emit_fill_buffer", "ring_emit_fence", "wait_reg_mem",
              "ring_emit_pipeline_sync", "ring_emit_ib", "ring_emit_mem_sync", "vm_write_pte", "vm_set_pte_pde"]
    found = {what: function(text, rf"^static \w+ {name}_{what}\(") for what in wanted}
    bodies = [body for body in found.values() if body]
    extra = "\n".join(re.findall(r"^#define SDMA_PKT_CONSTANT_FILL_HEADER_(?:compress|COMPRESS)\S*.*$", text, re.M))
    cases = [
        ("copy", f"struct amdgpu_ib ib = {{ words }}; {name}_emit_copy_buffer(&ib, {SRC:#x}, {DST:#x}, 0x400000, 0); written = ib.length_dw;"),
        ("fill", f"struct amdgpu_ib ib = {{ words }}; {name}_emit_fill_buffer(&ib, {VALUE:#x}, {DST:#x}, 0x400000); written = ib.length_dw;"),
        ("fence_64", f"{name}_ring_emit_fence(&ring, {FENCE:#x}, 0x1234567889abcdefull, AMDGPU_FENCE_FLAG_64BIT);"),
        ("pipeline_sync", f"ring.fence_drv.gpu_addr = {FENCE:#x}; ring.fence_drv.sync_seq = {VALUE:#x}; {name}_ring_emit_pipeline_sync(&ring);"),
        ("indirect", "struct amdgpu_ib ib = { words, 0x40, 0x123456789ae0ull }; struct amdgpu_job job; "
                     f"ring.wptr = 5; {name}_ring_emit_ib(&ring, &job, &ib, 0);"),
        ("write", f"struct amdgpu_ib ib = {{ words }}; {name}_vm_write_pte(&ib, {DST:#x}, {VALUE:#x}, 2, 0x1000); written = ib.length_dw;"),
        ("write_incr", f"struct amdgpu_ib ib = {{ words }}; {name}_vm_set_pte_pde(&ib, {DST:#x}, {SRC:#x}, 9, 0x1000, 0x71); written = ib.length_dw;"),
    ]
    if found.get("ring_emit_mem_sync"):
        cases.append(("mem_sync", f"{name}_ring_emit_mem_sync(&ring);"))
    body = "".join(f"""{{
        struct funcs funcs = {{ 0 }}; struct amdgpu_ring ring; memset(&ring, 0, sizeof ring); ring.funcs = &funcs;
        memset(words, 0, sizeof words); written = 0; {code}
        printf("linux {what} {versions} :"); for (u32 i = 0; i < written; i++) printf(" %x", words[i]); printf("\\n");
    }}\n""" for what, code in cases)
    return run(KERNEL + f'#include "{AMDGPU}/{HEADERS[name[6]]}"\n{extra}\n' + "\n".join(bodies)
               + f"\nint main(void) {{ {body} }}\n", CC, ".c", ["-std=gnu11"])


class Queue:
    """Stands in for tinygrad's HWQueue: keeps what is written."""
    def __init__(self):
        self._q = []

    def q(self, *words):
        self._q.extend(words)


def tinygrad():
    runtime = f"{ROOT}/tinygrad/tinygrad/runtime"
    text = open(f"{runtime}/ops_amd.py").read()
    start = text.index("class AMDCopyQueue(")
    text = text[start:text.index("\nclass ", start)]
    function_geq = re.search(r"^WAIT_REG_MEM_FUNCTION_GEQ = (\d)", open(f"{runtime}/ops_amd.py").read(), re.M)
    scope = {"HWQueue": Queue, "WAIT_REG_MEM_FUNCTION_GEQ": int(function_geq[1]),
             "data64_le": lambda data: (data & 0xffffffff, data >> 32)}
    exec("from __future__ import annotations\n" + text, scope)
    lines = []
    for module, target, versions in (("sdma_4_0_0", 9, "4.0,4.4,4.4.2"), ("sdma_5_0_0", 10, "5.0,5.2"),
                                     ("sdma_6_0_0", 11, "6.0,6.1"), ("sdma_6_0_0", 12, "7.0")):
        definitions = {}
        exec("\n".join(re.findall(r"^SDMA_\w+ = .*$", open(f"{runtime}/autogen/am/{module}.py").read(), re.M)), definitions)
        sdma = SimpleNamespace(**{name: value for name, value in definitions.items() if name.startswith("SDMA_")})
        device = SimpleNamespace(sdma=sdma, target=(target, 0, 0), is_am=lambda: False)
        event = SimpleNamespace(event_id=0x123)
        owner = SimpleNamespace(is_am=lambda: False, queue_event_mailbox_ptr=0x2000, queue_event=event)
        signal = SimpleNamespace(value_addr=FENCE, timestamp_addr=FENCE, owner=owner, is_timeline=True)
        cases = {
            "copy": lambda queue: queue.copy(SimpleNamespace(va_addr=DST), SimpleNamespace(va_addr=SRC), 0x12344),
            "signal": lambda queue: queue.signal(signal, VALUE),
            "wait": lambda queue: queue.wait(signal, VALUE),
            "timestamp": lambda queue: queue.timestamp(signal),
        }
        for case, write in cases.items():
            queue = scope["AMDCopyQueue"](device, max_copy_size=0x400000)
            write(queue)
            lines.append(f"tinygrad {case} {versions} : {' '.join(f'{int(word) & 0xffffffff:x}' for word in queue._q)}")
    return "\n".join(lines) + "\n"


def main():
    print("# Made by tests/oracle/emitters.py; see SOURCE.")
    print(rocr(), end="")
    for name, versions in DRIVERS.items():
        print(linux(name, versions), end="")
    print(tinygrad(), end="")


if __name__ == "__main__":
    main()
