#!/usr/bin/env python3
"""disasm.py COMMAND TREE...: `COMMAND disasm` of every code object below the TREEs (laid out as kernels/objects) says what
llvm-objdump-19 says: the same labels, and the same text of every instruction."""

import itertools
import pathlib
import re
import subprocess
import sys


def lines(text):
    """Labels and instructions, without addresses and comments."""
    for line in text.splitlines():
        line = re.sub(r"\s*(//|;).*", "", line)
        label = re.fullmatch(r"(?:[0-9a-f]+ <)?([^<>\s]+?)>?:", line)
        if line.startswith("\t"):
            yield re.sub(r"\s+", " ", line.strip())
        elif label:
            yield label[1] + ":"


def main():
    command, *trees = sys.argv[1:]
    total = 0
    for path in sorted(p for tree in trees for p in pathlib.Path(tree).glob("*/v*/wave*/*.hsaco")):
        target, _, wave = path.parts[-4:-1]
        size = ["--mattr=+wavefrontsize64,-wavefrontsize32"] if wave == "wave64" else []
        llvm = subprocess.run(["llvm-objdump-19", "-d", f"--mcpu={target}", *size, path], stdout=subprocess.PIPE, text=True, check=True)
        ours = subprocess.run([command, "disasm", path], stdout=subprocess.PIPE, text=True, check=True)
        for expected, got in itertools.zip_longest(lines(llvm.stdout), lines(ours.stdout)):
            if expected != got:
                sys.exit(f"{path}: needed {expected!r}, got {got!r}")
            total += 1
    print(f"{total} lines of disassembly are LLVM's")
    if total < 50000:
        sys.exit("too few")


if __name__ == "__main__":
    main()
