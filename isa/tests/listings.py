#!/usr/bin/env python3
"""Makes tests/data/*.listing.txt: what LLVM's disassembler prints for compiled code.

    isa/tests/listings.py       (needs clang-19, llvm-objdump-19, libclc-19; kernels/objects built)

`kernels.*` hold every instruction of the code objects in kernels/objects, in order; `builtins.*` the
instructions of builtins.cl that differ in more than register numbers and constants.

A line is `<dwords in hex> <TAB> <LLVM's text>`; `# name` begins an object.
"""
import os, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OBJECTS = os.path.join(HERE, "../../kernels/objects")


def instructions(binary, wave):
    """(dwords in hex, text) of a code object's .text, in order."""
    listing = subprocess.run(
        ["llvm-objdump-19", "-d", "-j", ".text", f"--mattr=+wavefrontsize{wave}", binary],
        check=True, capture_output=True, text=True).stdout
    for line in listing.splitlines():
        found = re.match(r"\s+(.*?)\s*// [0-9A-F]{12}: ((?:[0-9A-F]{8} ?)+)", line)
        if found:
            yield " ".join(found[2].lower().split()), re.sub(r"\s+", " ", found[1])


def write(name, lines):
    with open(os.path.join(HERE, "data", name), "w") as f:
        f.write("\n".join(lines) + "\n")
    print(name, len(lines), file=sys.stderr)


def kernels(target, wave):
    lines, directory = [], os.path.join(OBJECTS, target, "v5", f"wave{wave}")
    for name in sorted(os.listdir(directory)):
        lines.append(f"# {name}")
        lines += ["\t".join(pair) for pair in instructions(os.path.join(directory, name), wave)]
    write(f"kernels.{target}.wave{wave}.listing.txt", lines)


def builtins(target, wave):
    with tempfile.NamedTemporaryFile(suffix=".o") as binary:
        subprocess.run(
            ["clang-19", "--target=amdgcn-amd-amdhsa", f"-mcpu={target}", "-x", "cl", "-cl-std=CL2.0", "-O2", "-nogpulib", "-Wno-linker-warnings",
             *(["-mwavefrontsize64"] if wave == 64 else []),
             "-Xclang", "-mlink-builtin-bitcode", "-Xclang", f"/usr/lib/clc/{target}-amdgcn--.bc",
             "-c", os.path.join(HERE, "builtins.cl"), "-o", binary.name], check=True)
        shapes = {}
        for words, text in instructions(binary.name, wave):
            shape = re.sub(r"0x[0-9a-f]+|\d+", "0", text.split(" ", 1)[-1])
            shapes.setdefault((text.split(" ")[0], len(words), shape), (words, text))
    write(f"builtins.{target}.wave{wave}.listing.txt", ["# builtins.cl", *map("\t".join, shapes.values())])


if __name__ == "__main__":
    for wave in (32, 64):
        for target in ("gfx1151", "gfx1201"):
            kernels(target, wave)
            builtins(target, wave)
    kernels("gfx1100", 32)
