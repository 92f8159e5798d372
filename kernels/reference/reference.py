#!/usr/bin/env python3
"""Records what our kernels compute when clang-19 compiles the same sources for x86-64.

    reference.py           write tests/data/kernels/<object>.json
    reference.py --check   run everything again and compare with what is committed

The kernels run on lockstep.c (see its head); cases.py lists the dispatches. The format of the JSON files, the
generator and the hash are described in tests/data/kernels/README.md.
"""

import argparse
import ctypes
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE.parent
DATA = KERNELS.parent / "tests" / "data" / "kernels"
CLANG = "clang-19"
# Optimisation is off: LDS stays memory, and what runs is as close to the source as clang makes it. fma in hardware, so
# that a contraction really fuses; -ffp-contract as in ../build.py.
X86 = ("--target=x86_64-linux-gnu", "-O0", "-mavx2", "-mfma", "-mf16c", "-ffp-contract=on", "-fPIC", "-shared")
LANGUAGE = {
    ".cl": ("-x", "cl", "-cl-std=CL2.0", "-cl-fp32-correctly-rounded-divide-sqrt", "-Xclang", "-cl-ext=+cl_khr_fp16"),
    ".c": ("-x", "c", "-std=c11", "-Wno-unknown-attributes"),
}
# The kernel whose source asks for the processor is compiled as for this one.
DEFINES = {"k12_matmul": ("-D__gfx1151__",)}
MASK = 2**64 - 1
ALIGNMENT = 256
WHOLE_HEX = 256  # bytes of result up to which the file holds all of it


def splitmix64(seed):
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def fnv1a64(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return h


@dataclass
class Fill:
    """The contents of a buffer before the dispatch."""

    kind: str
    width: int = 0
    seed: int = 0
    low: int = 0
    span: int = 0
    exponent: int = 0
    hex: str = ""

    def elements(self, count):
        """The values of an `integers` fill."""
        random = splitmix64(self.seed)
        return [(self.low + (next(random) % self.span if self.span else next(random))) % 2 ** (8 * self.width) for _ in range(count)]

    def data(self, size):
        if self.kind == "zero":
            return bytes(size)
        if self.kind == "hex":
            return bytes.fromhex(self.hex)
        count = size // self.width
        if self.kind == "integers":
            return b"".join(x.to_bytes(self.width, "little") for x in self.elements(count))
        bits = {2: 11, 4: 24, 8: 53}[self.width]
        random = splitmix64(self.seed)
        values = [((next(random) >> (64 - bits)) - 2 ** (bits - 1)) * 2.0 ** (self.exponent + 1 - bits) for _ in range(count)]
        return struct.pack(f"<{count}{ {2: 'e', 4: 'f', 8: 'd'}[self.width] }", *values)

    def json(self):
        keys = {"zero": (), "hex": ("hex",), "integers": ("width", "seed", "low", "span"), "floats": ("width", "seed", "exponent")}
        entry = {"kind": self.kind, **{k: getattr(self, k) for k in keys[self.kind]}}
        if "low" in entry:
            entry["low"] &= MASK  # read as an unsigned number
        return entry


def zero():
    return Fill("zero")


def integers(width, seed, low=0, span=0):
    return Fill("integers", width, seed=seed, low=low, span=span)


def floats(width, seed, exponent=0):
    return Fill("floats", width, seed=seed, exponent=exponent)


def listed(width, values):
    return Fill("hex", hex=b"".join((v % 2 ** (8 * width)).to_bytes(width, "little") for v in values).hex())


@dataclass
class Buffer:
    size: int
    fill: Fill
    out: bool = False
    ranges: list = None  # of the result, only these (offset, length) are compared; None: everything

    def pass_to(self, call):
        self.before = self.fill.data(self.size)
        assert len(self.before) == self.size, (len(self.before), self.size)
        # Aligned as a GPU's allocation is, for every vector type.
        self.storage = ctypes.create_string_buffer(self.size + ALIGNMENT)
        self.memory = (ctypes.c_char * self.size).from_buffer(self.storage, -ctypes.addressof(self.storage) % ALIGNMENT)
        self.memory.raw = self.before
        call.integers.append(ctypes.addressof(self.memory))

    def json(self):
        entry = {"bytes": self.size, "fill": self.fill.json()}
        if self.out:
            entry["out"] = self.result()
        else:
            assert self.memory.raw == self.before, "a buffer that is not an output was written"
        return {"buffer": entry}

    def result(self):
        ranges = [(0, self.size)] if self.ranges is None else self.ranges
        data = b"".join(self.memory.raw[start : start + length] for start, length in ranges)
        entry = {} if self.ranges is None else {"ranges": ranges}
        if len(data) <= WHOLE_HEX:
            return {**entry, "hex": data.hex()}
        return {**entry, "prefix": data[:64].hex(), "fnv1a64": f"{fnv1a64(data):016x}"}


@dataclass
class Local:
    """LDS for a pointer argument, in bytes."""

    size: int

    def pass_to(self, call):
        self.memory = ctypes.create_string_buffer(self.size)
        call.integers.append(ctypes.addressof(self.memory))

    def json(self):
        return {"local": self.size}


@dataclass
class Scalar:
    type: str
    value: float

    def bits(self):
        if self.type in ("f32", "f64"):
            code, width = {"f32": ("<f", 4), "f64": ("<d", 8)}[self.type]
            return int.from_bytes(struct.pack(code, self.value), "little"), width
        return self.value, int(self.type[1:]) // 8

    def pass_to(self, call):
        (call.floats if self.type[0] == "f" else call.integers).append(self.bits()[0])

    def json(self):
        return {self.type + ("_bits" if self.type[0] == "f" else ""): self.bits()[0]}


def three(numbers):
    numbers = (numbers,) if isinstance(numbers, int) else tuple(numbers)
    return numbers + (1,) * (3 - len(numbers)), len(numbers)


@dataclass
class Case:
    kernel: str
    grid: object  # in work-items
    block: object
    args: list
    wave: int = None  # None: the result does not depend on it
    integers: list = field(default_factory=list)
    floats: list = field(default_factory=list)

    def run(self, lockstep, library):
        for argument in self.args:
            argument.pass_to(self)
        grid, dimensions = three(self.grid)
        block, _ = three(self.block)
        call_integers = (ctypes.c_uint64 * 48)(*self.integers)
        call_floats = (ctypes.c_uint64 * 8)(*self.floats)
        kernel = ctypes.cast(getattr(library, self.kernel), ctypes.c_void_p)
        lockstep.lockstep_run(kernel, call_integers, call_floats, (ctypes.c_uint32 * 3)(*grid), (ctypes.c_uint32 * 3)(*block),
                              ctypes.c_uint32(dimensions), ctypes.c_uint32(self.wave or 32))  # fmt: skip
        return {
            "kernel": self.kernel,
            "dimensions": dimensions,
            "grid": grid,
            "block": block,
            "dynamic_lds": sum(a.size for a in self.args if isinstance(a, Local)),
            "wave": self.wave,
            "args": [a.json() for a in self.args],
        }


def compile_all(scratch):
    """Compiles lockstep.c and every source with cases; returns the loaded libraries by source."""
    engine = scratch / "lockstep.so"
    subprocess.run([CLANG, "-std=gnu11", "-O2", "-mfma", "-mf16c", "-fPIC", "-shared", "-Wno-deprecated-non-prototype", str(HERE / "lockstep.c"), "-o", str(engine)], check=True)
    loaded = {None: ctypes.CDLL(str(engine), mode=ctypes.RTLD_GLOBAL)}
    for source in sorted(KERNELS.iterdir()):
        if source.suffix in LANGUAGE and source.stem in CASES:
            library = scratch / f"{source.stem}.so"
            subprocess.run([CLANG, *LANGUAGE[source.suffix], *X86, *DEFINES.get(source.stem, ()), "-include", str(HERE / "lockstep.h"), str(source), "-o", str(library)], check=True)
            loaded[source.stem] = ctypes.CDLL(str(library))
    return loaded


def record(name, libraries):
    """The text of <name>.json: one line a case."""
    lines = [json.dumps(case.run(libraries[None], libraries[name]), separators=(",", ":")) for case in CASES[name]]
    return f'{{"object":"{name}","cases":[\n' + ",\n".join(lines) + "\n]}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with what is committed, write nothing")
    check = parser.parse_args().check
    differing = 0
    with tempfile.TemporaryDirectory() as scratch:
        libraries = compile_all(pathlib.Path(scratch))
        for name in CASES:
            text, path = record(name, libraries), DATA / f"{name}.json"
            if check and (not path.exists() or path.read_text() != text):
                differing += 1
                print(f"{path.name}: differs")
            elif not check:
                path.write_text(text)
    print(f"{len(CASES) - differing} files, {sum(map(len, CASES.values()))} cases" + (f", {differing} files differ" if check else ""))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.modules["reference"] = sys.modules["__main__"]  # cases.py imports the types above
    sys.dont_write_bytecode = True
    from cases import CASES

    sys.exit(main())
