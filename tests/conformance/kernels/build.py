#!/usr/bin/env python3
"""Builds the kernels of the conformance suite with clang-19, and lays each target's object out as it is in memory.

    build.py [--check]     writes images/<target>.image, images/<target>.kernels and images/mix.words, or compares with them

An image is the object's loadable segments at their addresses, from 0 on: position-independent code without relocations,
so that it runs from any page. A line of .kernels: name, offset of the descriptor, bytes of kernel arguments, of LDS, of
private memory. mix.words: inputs of kernel mix, and what the same source makes of them, compiled by clang-19 for x86-64.
"""

import ctypes
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
IMAGES = HERE / "images"
TARGETS = ("gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1101", "gfx1103", "gfx1151", "gfx1200", "gfx1201")
COMMAND = ("clang-19", "-x", "cl", "-cl-std=CL2.0", "--target=amdgcn-amd-amdhsa", "-nogpulib", "-O2", "-mcode-object-version=5")
# Of this source the packet processor loads the arguments into SGPRs, on targets where it does.
PRELOADED = "preloaded.cl"
PRELOADING = {target: ("-mllvm", "-amdgpu-kernarg-preload-count=8") for target in ("gfx90a", "gfx942")}
SOURCES = ("suite.cl", PRELOADED)
LINK = ("clang-19", "--target=amdgcn-amd-amdhsa", "-Xlinker", "-s")
LOAD = 1
DYNSYM = 11
RELA = 4


def text(data, at):
    return data[at : data.index(0, at)].decode()


def image(data):
    """The object's memory, and each kernel's name and descriptor offset."""
    phoff, shoff = struct.unpack_from("<QQ", data, 32)
    phentsize, phnum, shentsize, shnum = struct.unpack_from("<HHHH", data, 54)
    memory = bytearray()
    for index in range(phnum):
        kind, _, offset, address, _, in_file, size, _ = struct.unpack_from("<IIQQQQQQ", data, phoff + index * phentsize)
        if kind == LOAD:
            memory.extend(bytes(max(0, address + size - len(memory))))
            memory[address : address + in_file] = data[offset : offset + in_file]
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + index * shentsize) for index in range(shnum)]
    assert not [s for s in sections if s[1] == RELA], "relocations"
    symbols = next(s for s in sections if s[1] == DYNSYM)
    strings = sections[symbols[6]][4]
    found = {}
    for at in range(symbols[4], symbols[4] + symbols[5], 24):
        name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", data, at)
        if (name := text(data, strings + name)).endswith(".kd"):
            found[name[:-3]] = value
    return bytes(memory), found


def build(target, directory):
    """The files of a target: name to contents."""
    output = directory / f"{target}.hsaco"
    objects = []
    for source in SOURCES:
        objects.append(directory / f"{source}.o")
        options = PRELOADING.get(target, ()) if source == PRELOADED else ()
        subprocess.run([*COMMAND, f"-mcpu={target}", *options, "-c", source, "-o", objects[-1]], cwd=HERE, check=True)
    subprocess.run([*LINK, f"-mcpu={target}", *objects, "-o", output], check=True)
    memory, kernels = image(output.read_bytes())
    names = [name for source in SOURCES for name in re.findall(r"\bvoid (\w+)\(", (HERE / source).read_text())]
    lines = []
    for name in names:
        # Kernel descriptor: LDS, private memory, kernel arguments (LLVM's AMDGPUUsage document).
        lds, private, arguments = struct.unpack_from("<III", memory, kernels[name])
        lines.append(f"{name} {kernels[name]} {arguments} {lds} {private}\n")
    return {f"{target}.image": memory, f"{target}.kernels": "".join(lines).encode()}


def mixed(directory):
    """What kernel mix makes of 64 dwords."""
    library = directory / "mix.so"
    ids = "-D__builtin_amdgcn_workitem_id_x()=item", "-D__builtin_amdgcn_workgroup_id_x()=0u"
    source = (HERE / "suite.cl").read_text()
    kernel = source[source.index("KERNEL void mix") :].split("\n}\n")[0].replace("KERNEL void mix(", "void mix(uint item, ")
    text = "".join(line + "\n" for line in source.splitlines() if line.startswith(("#define LANE", "#define GROUP", "#define GID")))
    command = ("clang-19", "-x", "cl", "-cl-std=CL2.0", "--target=x86_64-linux-gnu", "-O0", "-fPIC", "-shared", *ids, "-", "-o", library)
    subprocess.run(command, input=text + kernel + "\n}\n", text=True, check=True)
    words = (ctypes.c_uint32 * 64)(*(i * 0x01010103 ^ 0x12345678 for i in range(64)))
    inputs = list(words)
    mix = ctypes.CDLL(str(library)).mix
    for item in range(64):
        mix(ctypes.c_uint32(item), words)
    return "".join(f"{before:#010x} {after:#010x}\n" for before, after in zip(inputs, words)).encode()


def main():
    check = sys.argv[1:] == ["--check"]
    different = []
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        for files in [*(build(target, directory) for target in TARGETS), {"mix.words": mixed(directory)}]:
            for name, contents in files.items():
                path = IMAGES / name
                if not check:
                    IMAGES.mkdir(exist_ok=True)
                    path.write_bytes(contents)
                elif not path.exists() or path.read_bytes() != contents:
                    different.append(name)
    for name in different:
        print(f"{name}: differs")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
