#!/usr/bin/env python3
"""Golden lines of registers, from AMD's headers in Linux.

    registers.py DIRECTORY fields       lines as tests/golden reads them
    registers.py DIRECTORY addresses    NAME GENERATIONS ADDRESS, the address in dwords
    registers.py DIRECTORY spaces       NAME START END of what SET packets reach, in dwords

DIRECTORY holds the sources `linux`, `pal`, `mesa` and `tinygrad`. The names of registers and fields are read from
gc_*_offset.h and gc_*_sh_mask.h, the numbers by a C compiler from their macros. Addresses there are relative
to a segment; the segments' bases come from the headers' own remarks on where a block of registers is
("base address"), and have to be those of *_ip_offset.h where Linux has that for the generation.

Fields that AMD calls reserved or unused are left out.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
AMD = ROOT / "linux/drivers/gpu/drm/amd"
CC = os.environ.get("CC", "cc")

# Generation, headers (a later one adds and overrides), header with the segments' bases. gfx950 is driven
# with the headers of 9.4.3 (gfx_v9_4_3.c).
GENERATIONS = [
    ("gfx906", ["9_0"], "vega20"),
    ("gfx908", ["9_0", "9_4_1"], "arct"),
    ("gfx90a", ["9_4_2"], "aldebaran"),
    ("gfx94x", ["9_4_3"], None),
    ("gfx950", ["9_4_3"], None),
    ("gfx10.1", ["10_1_0"], "navi10"),
    ("gfx10.3", ["10_3_0"], "sienna_cichlid"),
    ("gfx11", ["11_0_0"], None),
    ("gfx11.5", ["11_5_0"], None),
    ("gfx12", ["12_0_0"], None),
]
ENUMS = {"gfx9": "vega10", "gfx10": "navi10", "gfx11": "soc21", "gfx12": "soc24"}

LEFT_OUT = re.compile(r"(RESERVED|RSV|RSRV|UNUSED)\w*")

from registers_list import JOINS, NAMES, PATTERNS, ROWS  # noqa: E402 (beside this file)


def compile_and_run(source, include):
    """What a C program prints, line by line."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "print.c"
        file.write_text(source)
        program = pathlib.Path(folder) / "print"
        subprocess.run([CC, "-w", "-O0", "-I", include, file, "-o", program], check=True)
        return subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()


def selected(name):
    return any(re.fullmatch(pattern, name) for pattern in PATTERNS)


def segments(offsets):
    """Base of each segment: where a block starts less the offset of its first register, as most blocks have it."""
    votes = collections.defaultdict(collections.Counter)
    base = first = None
    for line in offsets.splitlines():
        if match := re.match(r"// base address: (0x[0-9a-f]+)", line):
            base, first = int(match[1], 16) // 4, None
        elif match := re.match(r"#define (?:mm|reg)\w+?(_BASE_IDX)?\s+(0x[0-9a-f]+|\d+)\s*$", line):
            if base is None:
                continue
            if not match[1]:
                first = int(match[2], 0) if first is None else first
            elif first is not None:
                votes[int(match[2])][base - first] += 1
                base = None
    return {index: counter.most_common(1)[0][0] for index, counter in votes.items()}


def header(version):
    """Bases of the segments, and the selected registers: {name: (segment, offset, {field: mask})}."""
    folder = AMD / "include/asic_reg/gc"
    offsets = (folder / f"gc_{version}_offset.h").read_text()
    masks = (folder / f"gc_{version}_sh_mask.h").read_text()
    names = re.findall(r"^#define (mm|reg)(\w+)_BASE_IDX\s", offsets, re.M)
    names = [(prefix, name) for prefix, name in names if selected(name)]
    known = {name for _, name in names}
    fields = re.findall(r"^#define (\w+?)__(\w+)__SHIFT\s", masks, re.M)
    fields = [(name, field) for name, field in fields if name in known and not LEFT_OUT.fullmatch(field)]
    source = ["#include <stdio.h>", f'#include "gc_{version}_offset.h"', f'#include "gc_{version}_sh_mask.h"']
    source += ["int main(void) {"]
    for prefix, name in names:
        register = f"{prefix}{name}"
        source.append(f'printf("{name} - %d %u\\n", {register}_BASE_IDX, (unsigned){register});')
    for name, field in fields:
        macro = f"{name}__{field}"
        source.append(f'printf("{name} {field} %d %u\\n", {macro}__SHIFT, (unsigned){macro}_MASK);')
    source.append("}")
    result = {}
    for line in compile_and_run("\n".join(source), folder):
        name, field, small, large = line.split()
        if field == "-":
            result[name] = (int(small), int(large), {})
        else:
            mask, shift = int(large), int(small)
            low = mask & -mask
            assert mask and low == 1 << shift and (mask + low) & mask & 0xFFFFFFFF == 0, (version, line)
            result[name][2][field] = mask
    return segments(offsets), result


def check_bases(bases, ip_offset):
    """The segments' bases are what the kernel is told for the GPU."""
    text = (AMD / f"include/{ip_offset}_ip_offset.h").read_text()
    for index, base in bases.items():
        told = re.search(rf"#define GC_BASE__INST0_SEG{index}\s+(0x[0-9A-Fa-f]+|0)\b", text)
        assert told and int(told[1], 0) == base, (ip_offset, index, base)


def load():
    """{generation: {name: (address, {field: mask})}}."""
    cache, registers = {}, {}
    for generation, versions, ip_offset in GENERATIONS:
        for version in versions:
            cache[version] = cache.get(version) or header(version)
        bases = cache[versions[0]][0]  # the headers of 9.4.1 are but a few registers
        if ip_offset:
            check_bases({index: bases[index] for index in (0, 1)}, ip_offset)
        merged = {}
        for version in versions:
            for name, (segment, offset, fields) in cache[version][1].items():
                address = bases[segment] + offset
                before = merged.get(name, (address, {}))
                assert before[0] == address, (generation, name)
                merged[name] = (address, fields or before[1])
        registers[generation] = merged
    return registers


def rows():
    """{name: (name of the first of its row, which of the row it is)}."""
    first = {}
    for row in ROWS:
        head, span, tail = re.fullmatch(r"(\w*)\[(\w+)\](\w*)", row).groups()
        if match := re.fullmatch(r"(\d+)to(\d+)", span):
            span = [str(number) for number in range(int(match[1]), int(match[2]) + 1)]
        for index, part in enumerate(span):
            first[head + part + tail] = (head + span[0] + tail, index)
    return first


def field_of_first(start, index, field):
    """What the field is called in the first register of the row."""
    if start == "GRBM_STATUS_SE0":  # on gfx90a with fields of the engine four further
        return re.sub(rf"_SE{index + 4}$", "_SE4", field)
    return field


def grouped(facts):
    """{(fact): [generations]} of (generation, fact), in order."""
    groups = {}
    for generation, fact in facts:
        groups.setdefault(fact, []).append(generation)
    return [(",".join(generations), fact) for fact, generations in groups.items()]


def enumerations(generation):
    """{enumeration: {constant: value}}."""
    family = "gfx9" if not generation.startswith("gfx1") else generation.split(".")[0]
    result = {}
    for file in (AMD / f"include/{ENUMS[family]}_enum.h", ROOT / "linux/include/uapi/linux/kfd_ioctl.h"):
        for name, body in re.findall(r"^(?:typedef )?enum (\w+) \{([^}]*)\}", file.read_text(), re.M):
            constants = re.findall(r"(\w+)\s*=\s*(0x[0-9a-fA-F]+|\d+)", body)
            result[name] = {constant: int(value, 0) for constant, value in constants}
    return result


def print_fields(registers):
    first = rows()
    merged = collections.defaultdict(dict)  # first of row -> generation -> {field: mask}
    for generation, found in registers.items():
        for name, (_, fields) in found.items():
            start, index = first.get(name, (name, 0))
            fields = {field_of_first(start, index, field): mask for field, mask in fields.items()}
            row = merged[start].setdefault(generation, {})
            assert not row or not fields or row == fields, (generation, name, row, fields)
            row.update(fields)
    enums = {generation: enumerations(generation) for generation in registers}
    evidence = {}
    for name in sorted(merged):
        order = {}
        for fields in merged[name].values():
            order.update({field: min(mask, order.get(field, mask)) for field, mask in fields.items()})
        for field in sorted(order, key=order.get):
            here = [(generation, fields[field]) for generation, fields in merged[name].items() if field in fields]
            for generations, mask in grouped(here):
                print(f"piece {name} {generations} {field.lower()} : {mask:x}")
            if (name, field) in JOINS:
                shifts, *where = JOINS[name, field]
                for file, pattern in where:
                    evidence.setdefault(file, (ROOT / file).read_text())
                    assert re.search(pattern, evidence[file]), (name, file, pattern)
                facts = [(generation, shifts(generation, mask)) for generation, mask in here]
                for generations, shift in grouped(facts):
                    print(f"join {name} {generations} {field.lower()}@{shift}")
            if (name, field) in NAMES:
                enumeration, prefix = NAMES[name, field]
                facts = []
                for generation, _ in here:
                    constants = enums[generation].get(enumeration, {})
                    values = [f"{key.removeprefix(prefix)}={value:x}" for key, value in constants.items()]
                    facts.append((generation, " ".join(values)))
                for generations, values in grouped(facts):
                    print(f"names {name} {generations} {field.lower()} {values}")


def print_addresses(registers):
    names = sorted({name for found in registers.values() for name in found})
    for name in names:
        here = [(generation, found[name][0]) for generation, found in registers.items() if name in found]
        for generations, address in grouped(here):
            print(f"{name} {generations} {address:x}")


def print_spaces():
    ends = set()
    for generation in ("gfx9", "gfx12"):
        name = "gfx9_plus" if generation == "gfx9" else generation
        text = (ROOT / f"pal/src/core/hw/gfxip/{generation}/chip/{name}_merged_enum.h").read_text()
        ends.add(int(re.search(r"UCONFIG_SPACE_END\s*= (0x[0-9a-f]+);", text)[1], 16) + 1)
    for space in ("CONFIG", "SH", "UCONFIG"):
        found = set()
        for file in ("soc15d.h", "nvd.h"):
            text = (AMD / "amdgpu" / file).read_text()
            found.add(tuple(
                int(re.search(rf"PACKET3_SET_{space}_REG_{which}\s+(0x[0-9a-f]+)", text)[1], 16)
                for which in ("START", "END")
            ))
        (start, end), = found
        if space == "UCONFIG":  # Linux ends it below the performance counters
            end, = ends
        print(f"{space} {start:x} {end:x}")


if __name__ == "__main__":
    if sys.argv[2] == "spaces":
        print_spaces()
    else:
        {"fields": print_fields, "addresses": print_addresses}[sys.argv[2]](load())
