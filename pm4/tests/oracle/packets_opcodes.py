#!/usr/bin/env python3
"""Prints the names that AMD's headers in $SELVEDGE_ORACLE give to opcodes: OPCODE GENERATIONS NAME...

Names of one opcode are in the order of the sources: PAL, then the kernel driver. Names that only say RESERVED are left
out where PAL's header has the value as IT_RESERVED_*.
"""

import os
import re
from pathlib import Path

from packets_forms import GENERATIONS, OPCODE_SUFFIXES

ROOT = Path(os.environ["SELVEDGE_ORACLE"])
AMD = ROOT / "linux/drivers/gpu/drm/amd"


def pal(path, suffixes):
    for name, value in re.findall(r"\bIT_(\w+)\s*=\s*0x(\w+),", (ROOT / path).read_text()):
        name, _, suffix = name.partition("__")
        if suffix in suffixes and not name.startswith("RESERVED"):
            yield int(value, 16), name


def kernel(path):
    text = (AMD / path).read_text()
    for name, value in re.findall(r"^#\s*define\s+PACKET3_(\w+)\s+0x(\w\w)\s*$", text, re.M):
        yield int(value, 16), name
    for name, value in re.findall(r"\bIT_(\w+)\s*=\s*0x(\w\w),", text):
        yield int(value, 16), name


def names(generation):
    chip = "src/core/hw/gfxip/gfx9/chip/gfx9_plus_merged_pm4_it_opcodes.h"
    suffixes = OPCODE_SUFFIXES[generation]
    if generation == "gfx12":
        return list(pal("pal/src/core/hw/gfxip/gfx12/chip/gfx12_merged_pm4_it_opcodes.h", suffixes))
    if generation.startswith("gfx9"):
        found = list(pal(f"pal-gfx9/{chip}", suffixes))
        return found + list(kernel("amdgpu/soc15d.h")) + list(kernel("amdkfd/kfd_pm4_opcodes.h"))
    return list(pal(f"pal/{chip}", suffixes)) + list(kernel("amdgpu/nvd.h"))


lines = {}
for generation in GENERATIONS:
    of = {}
    for value, name in names(generation):
        of.setdefault(value, {})[name] = None
    for value, found in of.items():
        lines.setdefault((value, " ".join(found)), []).append(generation)
print("# Opcodes: see SOURCE.")
for (value, found), generations in sorted(lines.items()):
    print(f"{value:02x} {','.join(generations)} {found}")
