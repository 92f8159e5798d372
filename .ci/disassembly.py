#!/usr/bin/env python3
"""disassembly.py OUT TREE...: LLVM's disassembly of every code object below the TREEs (laid out as kernels/objects), in
the format of isa/tests/listings.py: OUT/<tree>.<target>.wave<size>.listing.txt. Version 5 only: v6 is the same code."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "isa" / "tests"))
from listings import instructions  # noqa: E402


def main():
    out, *trees = map(pathlib.Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    for folder in sorted(f for tree in trees for f in tree.glob("*/v5/wave*")):
        tree, target, _, wave = folder.parts[-4:]
        lines = []
        for path in sorted(folder.iterdir()):
            lines.append(f"# {path.name}")
            lines += ["\t".join(pair) for pair in instructions(str(path), int(wave.removeprefix("wave")))]
        (out / f"{tree}.{target}.{wave}.listing.txt").write_text("\n".join(lines) + "\n")
        print(f"{tree} {target} {wave}: {len(lines)} lines")


if __name__ == "__main__":
    main()
