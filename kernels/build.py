#!/usr/bin/env python3
"""Builds every kernel of this directory with clang-19.

    build.py                   (re)build objects/<target>/<code object version>/<wave>/<name>.hsaco
    build.py --check           rebuild elsewhere and compare byte for byte with what is committed
    build.py --variants DIR    -O0, -O3 and renamed builds into DIR/{O0,O3,renamed}/<target>/...

A variant tree has the layout of objects/, so that a test which reads that tree runs on it unchanged.
In `renamed` every kernel k is called renamed_k_<number>: nothing may depend on a kernel's name.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
CLANG = "clang-19"
# Targets and their wave sizes.
TARGETS = {"gfx1151": (32, 64), "gfx1100": (32, 64), "gfx1201": (32, 64), "gfx90a": (64,), "gfx942": (64,), "gfx906": (64,), "gfx1030": (32, 64)}
# Built for the comparison of disassembly only.
FURTHER = {"gfx1200": (32, 64)}
CODE_OBJECTS = (5, 6)
# Sources that need WMMA of wave32.
NEED_WMMA = ("k12_matmul",)
HAVE_WMMA = ("gfx1151", "gfx1100", "gfx1200", "gfx1201")
# What clang-19 says of every v6 object.
KNOWN_WARNINGS = ("code object v6 is still in development",)
# Floating point as in kernels/reference: fused where the source allows it, f32 division and square root exact.
LANGUAGE = {
    ".cl": ("-x", "cl", "-cl-std=CL2.0", "-cl-fp32-correctly-rounded-divide-sqrt"),
    ".c": ("-x", "c", "-std=c11", "-fvisibility=protected"),
}


def sources():
    """Every kernel source of this directory."""
    return sorted(p for p in HERE.iterdir() if p.suffix in LANGUAGE)


def kernel_names(source):
    """The names of the kernels in a source, in order."""
    text = re.sub(r"//[^\n]*", "", source.read_text())
    return re.findall(r"\b(?:kernel|KERNEL)\s+(?:__attribute__\(\(.*?\)\)\)?\s+)?void\s+(\w+)\s*\(", text)


def new_name(name, number):
    """What kernel `name` is called in the `renamed` variant."""
    return f"renamed_{name}_{number}"


def command(source, output, target, code_object, wave, optimise, renamed):
    flags = [f"-D{name}={new_name(name, n)}" for n, name in enumerate(kernel_names(source))] if renamed else []
    return [
        CLANG, *LANGUAGE[source.suffix], "--target=amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib",
        optimise, "-ffp-contract=on", f"-mcode-object-version={code_object}",
        *(["-mwavefrontsize64" if wave == 64 else "-mno-wavefrontsize64"] if len({**TARGETS, **FURTHER}[target]) > 1 else []),
        "-Xlinker", "-s",  # .symtab and .strtab go; .dynsym, which loaders read, stays
        *flags, source.name, "-o", str(output),
    ]  # fmt: skip


def build(root, targets=TARGETS, optimise="-O2", renamed=False):
    """Builds all objects of `targets` below `root`; returns their paths relative to it."""
    jobs = []
    for source in sources():
        for target, waves in targets.items():
            for code_object in CODE_OBJECTS:
                for wave in waves:
                    if source.stem in NEED_WMMA and (wave == 64 or target not in HAVE_WMMA):
                        continue
                    path = pathlib.Path(target, f"v{code_object}", f"wave{wave}", f"{source.stem}.hsaco")
                    jobs.append((path, command(source, root / path, target, code_object, wave, optimise, renamed)))

    def run(job):
        path, line = job
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        # Run in this directory with a bare file name: no path of the machine can enter the output.
        done = subprocess.run(line, cwd=HERE, capture_output=True, text=True)
        complaints = [w for w in done.stderr.splitlines() if w and not any(k in w for k in KNOWN_WARNINGS)]
        if done.returncode or complaints:
            raise SystemExit(f"{' '.join(line)}\n{done.stderr}")
        (root / path).chmod(0o644)
        return path

    with ThreadPoolExecutor() as pool:
        return list(pool.map(run, jobs))


def check():
    """Compares a fresh build with objects/; returns the number of differences."""
    with tempfile.TemporaryDirectory() as scratch:
        fresh = set(build(pathlib.Path(scratch)))
        committed = {p.relative_to(HERE / "objects") for p in (HERE / "objects").rglob("*.hsaco")}
        differing = [p for p in sorted(fresh & committed)
                     if (HERE / "objects" / p).read_bytes() != (pathlib.Path(scratch) / p).read_bytes()]  # fmt: skip
    for word, paths in (("not committed", fresh - committed), ("has no source", committed - fresh), ("differs", differing)):
        for path in sorted(paths):
            print(f"{path}: {word}")
    same = len(fresh & committed) - len(differing)
    print(f"{same} objects as committed, {len(fresh ^ committed) + len(differing)} not")
    return len(fresh ^ committed) + len(differing)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--check", action="store_true", help="compare a fresh build with what is committed")
    choice.add_argument("--variants", metavar="DIR", type=pathlib.Path, help="build -O0, -O3 and renamed into DIR")
    choice.add_argument("--names", action="store_true", help="print every source's kernels")
    arguments = parser.parse_args()
    if arguments.check:
        return 1 if check() else 0
    if arguments.names:
        for source in sources():
            print(source.stem, *kernel_names(source))
    elif arguments.variants:
        every = {**TARGETS, **FURTHER}
        for name, targets, optimise, renamed in (("O0", every, "-O0", False), ("O3", every, "-O3", False), ("renamed", TARGETS, "-O2", True)):
            print(f"{name}: {len(build(arguments.variants.resolve() / name, targets, optimise, renamed))} objects")
    else:
        shutil.rmtree(HERE / "objects", ignore_errors=True)
        print(f"{len(build(HERE / 'objects'))} objects")
    return 0


if __name__ == "__main__":
    sys.exit(main())
