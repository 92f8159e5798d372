#!/usr/bin/env python3
"""Prints the words that other people's code writes for a dispatch, a fence and so on: SOURCE CASE GENERATION : WORD...

Sources in $SELVEDGE_ORACLE: tinygrad, whose queue class is run as it is with what it needs of a device made up; kfdtest of
libhsakmt, whose packet classes are compiled with what they need of a test made up; ROCr, one function likewise. See
../data/packets/SOURCE.
"""

import ast
import contextlib
import ctypes
import functools
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
import types
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(os.environ["SELVEDGE_ORACLE"])
TINYGRAD = ROOT / "tinygrad/tinygrad/runtime"
KFDTEST = ROOT / "rocm-systems/projects/rocr-runtime/libhsakmt/tests/kfdtest"

CODE, ARGUMENTS = 0x7F12_0034_0100, 0x7F56_0078_0040
RSRC1, RSRC2, RSRC3, TMPRING = 0x60AF_0083, 0x84, 0x10, 0x12_3045
SCRATCH, SCRATCH_SIZE = 0x7F9A_00BC_0000, 0x80_0000
GRID, GROUP = (5, 6, 7), (64, 2, 1)
SIGNAL, STAMP, VALUE = 0x7FDE_00F0_0010, 0x7FDE_00F0_0018, 0x1234
MAILBOX, EVENT = 0x7FDE_00F0_1018, 3


def show(source, case, generation, words):
    print(f"{source} {case} {generation} : {' '.join(f'{w & 0xffffffff:x}' for w in words)}")


def constants(path):
    """The constants of a generated module, without what it would import."""
    space = {"ctypes": ctypes}
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            with contextlib.suppress(Exception):
                exec(compile(ast.Module([node], []), str(path), "exec"), space)
    return types.SimpleNamespace(**space)


def of_module(path, names, space):
    """Some definitions of a module, executed in a space that holds what they refer to."""
    for node in ast.parse(path.read_text()).body:
        named = getattr(node, "name", None)
        if isinstance(node, ast.Assign):
            named = getattr(node.targets[0], "id", None)
        if named in names:
            future = ast.parse("from __future__ import annotations").body
            exec(compile(ast.Module(future + [node], []), str(path), "exec"), space)
    return types.SimpleNamespace(**{name: space[name] for name in names})


class Queue:
    """Stands in for tinygrad's base class of queues: collects words."""

    def __init__(self):
        self._q, self.binded_device = [], None

    def q(self, *values):
        self._q += values

    def bind_args_state(self, arguments):
        pass


def words64(value):
    return value & 0xFFFFFFFF, value >> 32 & 0xFFFFFFFF


def tinygrad():
    getbits = lambda value, start, end: value >> start & (1 << end - start + 1) - 1
    space = {"functools": functools, "dataclass": dataclass, "getbits": getbits}
    register = of_module(TINYGRAD / "support/amd.py", ["AMDReg"], space).AMDReg
    space = {
        "HWQueue": Queue, "contextlib": contextlib, "data64_le": words64, "getenv": lambda name, default=0: default,
        "lo32": lambda value: words64(value)[0], "AMDReg": register,
    }
    queue_class = of_module(
        TINYGRAD / "ops_amd.py",
        ["EVENT_INDEX_PARTIAL_FLUSH", "WAIT_REG_MEM_FUNCTION_EQ", "WAIT_REG_MEM_FUNCTION_GEQ", "AMDComputeQueue"],
        space,
    ).AMDComputeQueue
    specification = importlib.util.spec_from_file_location("regs", TINYGRAD / "autogen/am/regs.py")
    tables = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(tables)
    for generation, target, table, family, soc, xccs in [
        ("gfx94x", (9, 4, 2), "gc_9_4_3", ("vega", "soc15"), "soc_9", 1),
        ("gfx94x", (9, 4, 2), "gc_9_4_3", ("vega", "soc15"), "soc_9", 4),
        ("gfx11", (11, 0, 0), "gc_11_0_0", ("navi", "nv"), "soc_11", 1),
        ("gfx11.5", (11, 5, 1), "gc_11_5_0", ("navi", "nv"), "soc_11", 1),
        ("gfx12", (12, 0, 1), "gc_12_0_0", ("navi", "nv"), "soc_12", 1),
    ]:
        bases = constants(TINYGRAD / f"autogen/am/{family[0]}_offsets.py")
        segments = {0: tuple(getattr(bases, f"GC_BASE__INST0_SEG{s}", 0) for s in range(6))}
        registers = {
            name: register(name, offset, segment, fields, segments)
            for name, (offset, segment, fields) in getattr(tables, table).items()
        }
        device = types.SimpleNamespace(
            soc=constants(TINYGRAD / f"autogen/am/{soc}.py"), pm4=constants(TINYGRAD / f"autogen/am/pm4_{family[1]}.py"),
            gc=types.SimpleNamespace(**registers), nbio=types.SimpleNamespace(version=(0, 0, 0)), target=target, xccs=xccs,
            sqtt_enabled=False, tmpring_size=TMPRING, is_am=lambda: False,
            scratch=types.SimpleNamespace(va_addr=SCRATCH, size=SCRATCH_SIZE * xccs),
            queue_event_mailbox_ptr=MAILBOX, queue_event=types.SimpleNamespace(event_id=EVENT),
        )
        program = types.SimpleNamespace(
            dev=device, enable_private_segment_sgpr=0, enable_dispatch_ptr=0, prog_addr=CODE, rsrc1=RSRC1, rsrc2=RSRC2,
            rsrc3=RSRC3, wave32=True,
        )
        arguments = types.SimpleNamespace(buf=types.SimpleNamespace(va_addr=ARGUMENTS))
        signal = types.SimpleNamespace(value_addr=SIGNAL, timestamp_addr=STAMP, owner=device, is_timeline=True)
        quiet = types.SimpleNamespace(value_addr=SIGNAL, timestamp_addr=STAMP, owner=None, is_timeline=False)
        for case, build in {
            "acquire": lambda q: q.acquire_mem(),
            "dispatch": lambda q: q.exec(program, arguments, GRID, GROUP),
            "fence": lambda q: q.signal(quiet, VALUE),
            "interrupt": lambda q: q.signal(signal, VALUE),
            "timestamp": lambda q: q.timestamp(quiet),
            "wait": lambda q: q.wait(quiet, VALUE),
        }.items():
            queue = queue_class(device)
            build(queue)
            show("tinygrad", case + (str(xccs) if xccs > 1 else ""), generation, queue._q)


STANDINS = r"""
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
typedef uint32_t HSAuint32; typedef uint64_t HSAuint64;
#define PAGE_SIZE 4096
#define ARRAY_SIZE(x) (sizeof(x) / sizeof(x[0]))
#define ASSERT_NE(a, b)
#define EXPECT_EQ(a, b) Log()
#define EXPECT_GE(a, b) Log()
#define EXPECT_NE(a, b) Log()
#define EXPECT_NOTNULL(a)
#define ASSERT_SUCCESS(a) (void)(a)
#define HSA_EVENTTIMEOUT_INFINITE 0
#define HSAKMT_STATUS_SUCCESS 0
struct Log { template <class T> Log &operator<<(const T &) { return *this; } };
FAMILIES
enum { HSA_EVENTTYPE_SIGNAL };
struct HsaSyncVar { struct { void *UserData; } SyncVar; unsigned SyncVarSize; };
struct HsaEventDescriptor { int EventType; unsigned NodeId; HsaSyncVar SyncVar; };
struct HsaEvent { unsigned EventId; struct { uint64_t HWData2; struct { HsaSyncVar SyncVar; } EventData; } EventData; };
inline int hsaKmtCreateEvent(HsaEventDescriptor *, bool, bool, HsaEvent **event) { *event = new HsaEvent(); return 0; }
inline int hsaKmtDestroyEvent(HsaEvent *) { return 0; }
inline int hsaKmtWaitOnEvent(HsaEvent *, unsigned) { return 0; }
inline bool hsakmt_is_dgpu() { return true; }
inline void SplitU64(uint64_t value, unsigned &low, unsigned &high) { low = value; high = value >> 32; }
struct HsaMemoryBuffer {
    void *at;
    HsaMemoryBuffer(size_t size, unsigned, bool, bool, bool = false, bool = false, bool = false, bool = false)
        : at(mmap((void *)0x100000000, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)) {}
    explicit HsaMemoryBuffer(uint64_t address) : at((void *)address) {}
    template <class T> T As() const { return (T)at; }
    unsigned Node() const { return 0; }
};
struct BaseTest {
    unsigned family;
    unsigned GetFamilyIdFromNodeId(unsigned) { return family; }
    unsigned GetFamilyIdFromDefaultNode() { return family; }
    bool NeedCwsrWA(unsigned) { return false; }
};
extern BaseTest *g_baseTest;
class BasePacket;
struct BaseQueue {
    unsigned GetFamilyId() { return g_baseTest->family; }
    void PlaceAndSubmitPacket(const BasePacket &) {}
    bool GetSkipWaitConsump() { return true; }
    void Wait4PacketConsumption() {}
};
"""

PROGRAM = r"""
#include "Dispatch.hpp"
#include "PM4Packet.hpp"

static BaseTest test;
BaseTest *g_baseTest = &test;
static BasePacket *last;
BasePacket::BasePacket() : m_packetAllocation(nullptr) { m_FamilyId = test.family; }
BasePacket::~BasePacket() { free(m_packetAllocation); }
void *BasePacket::AllocPacket() { return m_packetAllocation = calloc(1, SizeInBytes()); }
static void show(const char *what, const char *generation, const void *words, unsigned dwords) {
    printf("kfdtest %s %s :", what, generation);
    for (unsigned i = 0; i < dwords; i++) printf(" %x", ((const unsigned *)words)[i]);
    printf("\n");
}
static void show(const char *what, const char *generation, const BasePacket &packet) {
    show(what, generation, packet.GetPacket(), packet.SizeInDWords());
}
int main() {
    struct { const char *name; unsigned family; } generations[] = {
        {"gfx906", FAMILY_AI}, {"gfx908", FAMILY_AR}, {"gfx90a", FAMILY_AL}, {"gfx94x", FAMILY_AV}, {"gfx10.1", FAMILY_NV},
        {"gfx11.5", FAMILY_NV}, {"gfx12", FAMILY_GFX12},
    };
    for (auto generation : generations) {
        test.family = generation.family;
        HsaMemoryBuffer code(CODE);
        for (int scratch = 0; scratch < 2; scratch++) {
            Dispatch dispatch(code);
            dispatch.SetArgs((void *)ARGUMENTS, (void *)SIGNAL);
            dispatch.SetDim(GRID);
            if (scratch) dispatch.SetScratch(0x45, 0x12, SCRATCH);
            dispatch.BuildIb();
            show(scratch ? "scratch" : "dispatch", generation.name, dispatch.m_IndirectBuf.Addr(),
                 dispatch.m_IndirectBuf.SizeInDWord());
            if (!scratch) show("call", generation.name, PM4IndirectBufPacket(&dispatch.m_IndirectBuf));
        }
        show("acquire", generation.name, PM4AcquireMemoryPacket(test.family));
        show("fence", generation.name, PM4ReleaseMemoryPacket(test.family, true, SIGNAL, VALUE, true));
        show("interrupt", generation.name, PM4ReleaseMemoryPacket(test.family, false, MAILBOX, EVENT));
        show("timestamp", generation.name, PM4ReleaseMemoryPacket(test.family, true, STAMP, 0, true, true));
    }
}
"""


def kfdtest():
    flags = (KFDTEST / "src/KFDTestFlags.hpp").read_text()
    start = flags.index("FAMILY_UNKNOWN")
    families = "enum { " + flags[start:flags.index("}", start)] + "};"
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name in ("PM4Packet", "Dispatch", "IndirectBuffer"):
            for suffix in ("cpp", "hpp"):
                shutil.copy(KFDTEST / f"src/{name}.{suffix}", folder)
        shutil.copy(KFDTEST / "src/BasePacket.hpp", folder)
        (folder / "standins.hpp").write_text(STANDINS.replace("FAMILIES", families))
        for name in ("KFDTestUtil.hpp", "KFDBaseComponentTest.hpp", "BaseQueue.hpp", "GoogleTestExtension.hpp"):
            (folder / name).write_text('#include "standins.hpp"\n')
        (folder / "hsakmt").mkdir()
        (folder / "hsakmt/hsakmttypes.h").write_text("")
        (folder / "main.cpp").write_text(PROGRAM)
        values = dict(CODE=CODE, ARGUMENTS=ARGUMENTS, SIGNAL=SIGNAL, VALUE=VALUE, MAILBOX=MAILBOX, EVENT=EVENT, STAMP=STAMP,
                      SCRATCH=SCRATCH)
        define = [f"-D{name}={value:#x}" for name, value in values.items()] + [f"-DGRID={','.join(map(str, GRID))}"]
        sources = [folder / f"{name}.cpp" for name in ("main", "PM4Packet", "Dispatch", "IndirectBuffer")]
        command = ["clang++-19", "-std=c++17", "-w", "-fno-access-control", *define, "-I", folder, "-I", KFDTEST / "include",
                   *sources, "-o", folder / "words"]
        subprocess.run(command, check=True)
        print(subprocess.run([folder / "words"], check=True, capture_output=True, text=True).stdout, end="")


AGENT = r"""
#include <cassert>
#include <cstdint>
#include <cstdio>
#include "amd_gpu_pm4.h"
static const char *generation;
struct Isa { unsigned major; unsigned GetMajorVersion() { return major; } unsigned GetMinorVersion() { return 0; } };
struct Utility {
    void ExecutePM4(uint32_t *words, size_t bytes) {
        printf("rocr new_code %s :", generation);
        for (size_t i = 0; i < bytes / 4; i++) printf(" %x", words[i]);
        printf("\n");
    }
};
struct { struct { struct { unsigned uCode; } ui32; } EngineId; } properties_;
Isa isa, *isa_ = &isa;
Utility utility, *queues_[] = {&utility};
enum { QueueUtility };
struct GpuAgent { void InvalidateCodeCaches(void *ptr, size_t size); };
BODY
int main() {
    struct { const char *name; unsigned major; } of[] = {
        {"gfx906", 9}, {"gfx94x", 9}, {"gfx10.3", 10}, {"gfx11", 11}, {"gfx11.5", 11}, {"gfx12", 12},
    };
    for (auto one : of) {
        generation = one.name;
        isa.major = one.major;
        GpuAgent().InvalidateCodeCaches(nullptr, 0);
    }
}
"""


def rocr():
    core = ROOT / "rocm-systems/projects/rocr-runtime/runtime/hsa-runtime/core"
    text = (core / "runtime/amd_gpu_agent.cpp").read_text()
    body = re.search(r"^void GpuAgent::InvalidateCodeCaches\(.*?^\}", text, re.S | re.M)[0]
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "main.cpp", Path(folder) / "words"
        source.write_text(AGENT.replace("BODY", body))
        subprocess.run(["clang++-19", "-std=c++17", "-w", "-I", core / "inc", source, "-o", program], check=True)
        print(subprocess.run([program], check=True, capture_output=True, text=True).stdout, end="")


print("# Words of other people's code: see SOURCE.")
tinygrad()
kfdtest()
rocr()
