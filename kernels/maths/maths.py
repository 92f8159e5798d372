#!/usr/bin/env python3
"""Builds maths.cl with libclc, and computes what its functions should give.

    maths.py            write objects/<target>/wave<size>/maths.hsaco and ../../tests/data/maths/values.json
    maths.py --check    make them again elsewhere and compare

Finite results come from mpmath, rounded once to nearest even; what a function gives for zeros, infinities, NaNs and
negative bases is C's (annex F), taken from the C library.
"""

import argparse
import ctypes
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

import mpmath

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "differential"))
from batch import TARGETS, waves  # noqa: E402

VALUES = HERE.parent.parent / "tests" / "data" / "maths" / "values.json"
LIBCLC = "/usr/lib/clc/{target}-amdgcn--.bc"
COUNT = 256  # of inputs of each function
FORMATS = {"float": ("<f", "<I", 24, -126, 127), "double": ("<d", "<Q", 53, -1022, 1023)}
# name: number of arguments, and the bound in ULP for float and double. OpenCL C 3.0 specification, section 7.4,
# "Relative error as ULPs", full profile; float division and square root are 2.5 and 3 there, but the build asks for
# correctly rounded ones (-cl-fp32-correctly-rounded-divide-sqrt).
FUNCTIONS = {"sin": (1, 4, 4), "cos": (1, 4, 4), "exp": (1, 3, 3), "log": (1, 3, 3), "pow": (2, 16, 16), "sqrt": (1, 0, 0), "divide": (2, 0, 0)}
LIBM = ctypes.CDLL("libm.so.6")


def value_of(t, bits):
    return struct.unpack(FORMATS[t][0], struct.pack(FORMATS[t][1], bits))[0]


def bits_of(t, value):
    return struct.unpack(FORMATS[t][1], struct.pack(FORMATS[t][0], value))[0]


def rounded(t, exact):
    """The bits of the value of type `t` nearest to a finite mpmath number, ties to even."""
    _, _, precision, least, greatest = FORMATS[t]
    width = 8 * struct.calcsize(FORMATS[t][0])
    sign = 1 << (width - 1) if exact < 0 else 0
    magnitude = abs(exact)
    if magnitude == 0:
        return sign
    exponent = max(int(mpmath.floor(mpmath.log(magnitude, 2))), least)
    while exponent > least and mpmath.ldexp(1, exponent) > magnitude:
        exponent -= 1
    while mpmath.ldexp(1, exponent + 1) <= magnitude:
        exponent += 1
    scaled = mpmath.ldexp(magnitude, precision - 1 - exponent)
    whole = int(mpmath.floor(scaled))
    rest = scaled - whole
    whole += rest > 0.5 or (rest == 0.5 and whole & 1)
    # The fields of the format run into each other: a carry out of the fraction is the next exponent.
    bits = whole + ((exponent - least) << (precision - 1))
    return sign | min(bits, (2 * greatest + 1) << (precision - 1))


def exactly(name, x, y):
    x, y = mpmath.mpf(x), mpmath.mpf(y)
    if name == "pow":
        odd = y == mpmath.floor(y) and int(y) % 2
        result = mpmath.exp(mpmath.log(abs(x)) * y)  # mpmath's power goes through integers of any size
        return -result if x < 0 and odd else result
    return {"sin": mpmath.sin, "cos": mpmath.cos, "exp": mpmath.exp, "log": mpmath.log, "sqrt": mpmath.sqrt}[name](x) if name != "divide" else x / y


def library(name, t, x, y):
    """What the C library gives, for operands of which the result is special."""
    if name == "divide":
        nan, inf = float("nan"), float("inf")
        sign = -1.0 if (bits_of("double", x) ^ bits_of("double", y)) >> 63 else 1.0
        if x != x or y != y or (x == 0 and y == 0) or (abs(x) == inf and abs(y) == inf):
            return nan
        return sign * (0.0 if x == 0 or abs(y) == inf else inf)
    c_type = {"float": ctypes.c_float, "double": ctypes.c_double}[t]
    function = getattr(LIBM, name + ("f" if t == "float" else ""))
    function.restype, function.argtypes = c_type, [c_type] * FUNCTIONS[name][0]
    return function(*(x, y)[: FUNCTIONS[name][0]])


def is_special(name, x, y):
    odd = (0.0, float("inf"), float("-inf"))
    if x != x or x in odd or (FUNCTIONS[name][0] == 2 and (y != y or y in odd)):
        return True
    if name in ("log", "sqrt") and x < 0 or name == "log" and x == 1:
        return True
    return name == "pow" and (x == 1 or x < 0 and y != int(y))


def expected(name, t, x, y):
    x, y = value_of(t, x), value_of(t, y)
    if is_special(name, x, y):
        return bits_of(t, library(name, t, x, y))
    limit = {"float": 1000, "double": 3000}[t]
    if name in ("exp", "pow"):
        power = mpmath.mpf(x) if name == "exp" else mpmath.log(abs(mpmath.mpf(x))) * y
        if abs(power) > limit:  # far outside: not worth its digits
            zero_or_infinity = float("inf") if power > 0 else 0.0
            negative = name == "pow" and x < 0 and int(y) % 2
            return bits_of(t, -zero_or_infinity if negative else zero_or_infinity)
    return rounded(t, exactly(name, x, y))


def special(t):
    width = 8 * struct.calcsize(FORMATS[t][0])
    fraction = FORMATS[t][2] - 1
    infinity = (2 ** (width - 1) - 1) >> fraction << fraction
    positive = [0, 1, 3, (1 << fraction) - 1, 1 << fraction, infinity - 1, infinity]
    positive += [bits_of(t, v) for v in (0.5, 1.0, 2.0, 3.0, 10.0, 0.1, 1.5, 1e-4, 1e4, 3.1415926535897931, 1.5707963267948966, 0.69314718055994531)]
    positive += [bits_of(t, 1.0) + 1, bits_of(t, 1.0) - 1]
    return [b | sign for b in positive for sign in (0, 1 << (width - 1))] + [infinity | 1 << (fraction - 1)]


def inputs(name, t):
    """(x, y) as bits: special ones against each other, then random ones where the function has something to do."""
    source = random.Random(f"{name} {t}")
    width = 8 * struct.calcsize(FORMATS[t][0])
    two = FUNCTIONS[name][0] == 2
    edges = special(t)
    found = [(x, source.choice(edges) if two else 0) for x in edges] * (4 if two else 1)
    found = [(x, source.choice(edges) if two else 0) for x, _ in found]
    big = 88.0 if t == "float" else 709.0
    while len(found) < COUNT:
        x, y = source.getrandbits(width), source.getrandbits(width) if two else 0
        way = source.random()
        if way < 0.6:
            reach = {"sin": 100.0, "cos": 100.0, "exp": big, "log": 3.0, "pow": 20.0, "sqrt": 1e4, "divide": 1e4}[name]
            x = bits_of(t, source.uniform(-reach, reach))
            y = bits_of(t, source.uniform(-20, 20)) if two else 0
            if name in ("log", "sqrt", "pow"):
                x &= 2 ** (width - 1) - 1
        elif name == "pow" and way < 0.8:
            x, y = bits_of(t, source.uniform(-9, 9)), bits_of(t, float(source.randrange(-40, 40)))
        elif name in ("log", "sqrt", "pow"):
            x &= 2 ** (width - 1) - 1
        if not any(value_of(t, v) != value_of(t, v) for v in (x, y)):  # NaNs are among the special ones, quiet
            found.append((x, y))
    return found[:COUNT]


def values():
    """The text of values.json."""
    mpmath.mp.prec = 3000
    lines = []
    for name, (count, *bounds) in FUNCTIONS.items():
        for t, bound in zip(FORMATS, bounds):
            pairs = inputs(name, t)
            results = [expected(name, t, x, y) for x, y in pairs]
            code = FORMATS[t][1]
            text = {key: b"".join(struct.pack(code, v) for v in column).hex()
                    for key, column in (("x", [x for x, _ in pairs]), ("y", [y for _, y in pairs]), ("expected", results))}  # fmt: skip
            lines.append(json.dumps({"kernel": f"{t}_{name}", "bytes": struct.calcsize(code), "bound": bound, **text}, separators=(",", ":")))
    return '{"functions":[\n' + ",\n".join(lines) + "\n]}\n"


def build(directory):
    """Builds every object; returns the paths relative to `directory`."""
    paths = []
    for target in TARGETS:
        for wave in waves(target):
            path = pathlib.Path(target, f"wave{wave}", "maths.hsaco")
            (directory / path).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(
                ["clang-19", "-x", "cl", "-cl-std=CL2.0", "-cl-fp32-correctly-rounded-divide-sqrt", "-ffp-contract=off", "-O2",
                 "--target=amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib", "-mcode-object-version=5", "-Xlinker", "-s",
                 "-mwavefrontsize64" if wave == 64 else "-mno-wavefrontsize64", "-Wno-linker-warnings", "-Wno-override-module",
                 "-Xclang", "-mlink-builtin-bitcode", "-Xclang", LIBCLC.format(target=target), "maths.cl", "-o", directory / path],
                check=True, cwd=HERE)  # fmt: skip
            (directory / path).chmod(0o644)
            paths.append(path)
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with what is committed, write nothing")
    if not parser.parse_args().check:
        VALUES.parent.mkdir(parents=True, exist_ok=True)
        VALUES.write_text(values())
        print(f"{len(build(HERE / 'objects'))} objects")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        differing = [str(p) for p in build(scratch) if not (HERE / "objects" / p).exists() or (scratch / p).read_bytes() != (HERE / "objects" / p).read_bytes()]
    if VALUES.read_text() != values():
        differing.append(VALUES.name)
    print("as committed" if not differing else f"differ: {', '.join(differing)}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
