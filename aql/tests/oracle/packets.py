#!/usr/bin/env python3
"""Prints golden lines of AQL packets by compiling AMD's headers.

    SELVEDGE_ORACLE=DIR ./packets.py current|newer

"current" needs DIR/rocm-systems, "newer" DIR/rocm-systems-newer: trees of ROCm/rocm-systems of the
revisions that tests/data/packets/SOURCE names.
"""

import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RUNTIME = "projects/rocr-runtime/runtime/hsa-runtime"


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def run(source, includes, extra):
    """Compiles a program of this directory against AMD's headers and returns what it prints."""
    with tempfile.TemporaryDirectory() as directory:
        for name, text in extra.items():
            with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
                file.write(text)
        program = os.path.join(directory, "program")
        command = [os.environ.get("CXX", "clang++-19"), "-std=c++20", "-w", "-I", directory]
        for include in includes:
            command += ["-I", include]
        subprocess.run(command + [os.path.join(HERE, source), "-o", program], check=True)
        return subprocess.run([program], check=True, capture_output=True, text=True).stdout


def pm4_ib(root):
    """The structure and the format that amd_aql_queue.cpp declares in a function."""
    text = read(root, "core/runtime/amd_aql_queue.cpp")
    structure = re.search(r"struct amd_aql_pm4_ib \{.*?\};", text, re.DOTALL)
    value = re.search(r"constexpr uint32_t AMD_AQL_FORMAT_PM4_IB = \w+;", text)
    return f"{structure[0]}\n{value[0]}\n"


def names(packet, piece, comment):
    """Values that a comment of AMD's names: `0 = REGULAR`, `2 = DEVICE`."""
    found = re.findall(r"\b(\d) = ([A-Z][A-Z_]+)\b", comment)
    return f"names {packet} aql {piece} " + " ".join(f"{name}={value}" for value, name in found)


def data_prefetch(text):
    """What only the comments of amd_launch_descriptor.h say: units, numbers stored less one, names."""
    start = text.index("typedef struct amd_data_prefetch_s {")
    above = text[text.index("Addressing modes", 0, start) : start]
    body = text[start : text.index("} amd_data_prefetch_t;")]

    def comment(member):
        before = body[: re.search(rf"\b{member}\s*:", body).start()]
        return before[before.rindex("/**") :]

    packet = "DATA_PREFETCH"
    yield names(packet, "temporal", comment("temporal"))
    yield names(packet, "scope", comment("scope"))
    yield names(packet, "mode", above)
    for member in ["burst_size", "num_burst"]:
        assert "encoded as (N - 1)" in comment(member)
    unit = int(re.search(r"(\d+)B units per burst", comment("burst_size"))[1])
    yield f"join {packet} aql burst_size@{unit.bit_length() - 1}"
    yield f"bias {packet} aql burst_size {unit:x}"
    yield f"bias {packet} aql num_burst 1"
    low = re.search(r"VA\[31:(\d+)\]", comment("addr_lo"))[1]
    high = re.search(r"VA\[56:(\d+)\]", body)[1]
    yield f"join {packet} aql addr_lo@{low} addr_hi@{high}"
    unit = int(re.search(r"in units of (\d+) B", comment("stride"))[1])
    yield f"join {packet} aql stride@{unit.bit_length() - 1}"


def main():
    oracle = os.environ["SELVEDGE_ORACLE"]
    match sys.argv[1:]:
        case ["current"]:
            root = os.path.join(oracle, "rocm-systems", RUNTIME)
            includes = [os.path.join(root, "inc"), os.path.join(root, "core/inc")]
            print(run("packets.cpp", includes, {"amd_aql_pm4_ib.h": pm4_ib(root)}), end="")
        case ["newer"]:
            include = os.path.join(oracle, "rocm-systems-newer", RUNTIME, "inc")
            print(run("newer.cpp", [include], {}), end="")
            for line in data_prefetch(read(include, "amd_launch_descriptor.h")):
                print(line)
        case _:
            sys.exit(__doc__)


main()
