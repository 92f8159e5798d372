#!/usr/bin/env python3
"""Wave instructions per CPU second of tinygrad's software GPU, for the two kernels of sim/benches/shader.rs.

    CC=clang-19 benches/tinygrad.py CHECKOUT       (CHECKOUT: a tree of tinygrad's repository)

A figure to compare with `cargo bench -p selvedge-sim --bench shader` on the same machine. That GPU runs one thread. It
does not know buffer_gl0_inv, which stands here as two s_nop; results are checked after the timed runs.
"""

import ctypes
import mmap
import pathlib
import struct
import sys
import time

DATA = pathlib.Path(__file__).resolve().parent.parent / "tests/data/shader"
GL0_INV, NOPS = bytes.fromhex("0000ace000000000"), bytes.fromhex("000080bf000080bf")
SECONDS = 3


class Counted:
    """A compiled instruction that counts its calls."""

    def __init__(self, run, calls):
        def counted(*arguments):
            calls[0] += 1
            return run(*arguments)

        self.fxn = counted


def measure(emulator, name, file, buffers, last, groups, workgroup):
    """Runs a kernel on `groups` workgroups over and over for SECONDS of CPU time, and prints its rate."""
    text = (DATA / f"{file}.text").read_bytes().replace(GL0_INV, NOPS)
    descriptor = (DATA / f"{file}.kd").read_bytes()
    code = mmap.mmap(-1, 1 << 16, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(text)
    arguments = ctypes.create_string_buffer(512)
    struct.pack_into("<QQQI", arguments, 0, *(ctypes.addressof(buffer) for buffer in buffers), last)
    struct.pack_into("<H", arguments, 32 + 12, 256)  # hidden arguments of code object v5: group sizes from 12 on
    # Offsets in the descriptor: LLVM's AMDGPUUsage document, "Kernel Descriptor". LDS is counted in 512 bytes.
    lds_bytes, rsrc2 = struct.unpack_from("<I", descriptor, 0)[0], struct.unpack_from("<I", descriptor, 52)[0]
    rsrc2 |= (lds_bytes + 511) // 512 << 15
    program = ctypes.addressof(ctypes.c_char.from_buffer(code))

    def run(x, y):
        emulator.run_asm(program, len(text), x, y, 1, *workgroup, ctypes.addressof(arguments), rsrc2, 0, "rdna3", None)

    calls, decode = [0], emulator._decode_at

    def counting(pc, arch):
        (program, runtime), instruction = decode(pc, arch)
        return (program, Counted(runtime.fxn, calls)), instruction

    emulator._decode_at = counting
    run(1, 1)  # also compiles
    emulator._decode_at = decode
    workgroups, start = 0, time.thread_time()
    while time.thread_time() - start < SECONDS:
        run(*groups)
        workgroups += groups[0] * groups[1]
    rate = calls[0] * workgroups / (time.thread_time() - start) / 1e6
    print(f"{name}: {rate:.2f} M wave instructions per CPU second of one thread")


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    sys.path.insert(0, sys.argv[1])
    from test.mockgpu.amd import emu

    elements = 1 << 20
    a, b, c = ((ctypes.c_float * elements)() for _ in range(3))
    for n in range(elements):
        a[n], b[n] = n % 7, n % 5
    measure(emu, "vector add", "vector_add", (a, b, c), elements, (64, 1), (256, 1, 1))
    assert all(c[n] == a[n] + b[n] for n in range(64 * 256))
    # One row of tiles of a 256 x 256 multiply.
    measure(emu, "matrix multiply", "gemm16", (a, b, c), 256, (16, 1), (16, 16, 1))
    for row, column in ((0, 0), (3, 250), (15, 255)):
        assert c[row * 256 + column] == sum(a[row * 256 + k] * b[k * 256 + column] for k in range(256))


if __name__ == "__main__":
    main()
