#!/usr/bin/env python3
"""Kernel descriptors with pseudo-random directives, assembled and disassembled by LLVM: see SOURCE.

Prints, for each: the target, the 64 bytes in hexadecimal, and llvm-objdump's text of them.
"""
import random
import subprocess
import tempfile

TARGETS = {
    "gfx906": "gfx9",
    "gfx90a": "gfx90a",
    "gfx942": "gfx94x",
    "gfx1030": "gfx10",
    "gfx1100": "gfx11",
    "gfx1151": "gfx11",
    "gfx1200": "gfx12",
}
WAVE32 = {"gfx10", "gfx11", "gfx12"}
ARCHITECTED = {"gfx94x", "gfx11", "gfx12"}
PRELOAD = {"gfx90a", "gfx94x"}


def directives(generation, rng):
    """Names and values of one kernel."""
    flag = lambda: rng.randrange(2)
    yield "group_segment_fixed_size", rng.randrange(1 << 16)
    yield "private_segment_fixed_size", rng.randrange(1 << 20)
    yield "kernarg_size", rng.randrange(1 << 12)
    for pointer in ("dispatch_ptr", "queue_ptr", "kernarg_segment_ptr", "dispatch_id"):
        yield f"user_sgpr_{pointer}", flag()
    yield "user_sgpr_private_segment_size", flag()
    if generation not in ARCHITECTED:
        yield "user_sgpr_private_segment_buffer", flag()
        yield "user_sgpr_flat_scratch_init", flag()
        yield "system_sgpr_private_segment_wavefront_offset", flag()
    else:
        yield "enable_private_segment", flag()
    for dimension in "xyz":
        yield f"system_sgpr_workgroup_id_{dimension}", flag()
    yield "system_sgpr_workgroup_info", flag()
    yield "system_vgpr_workitem_id", rng.randrange(3)
    yield "next_free_vgpr", rng.randrange(1, 257)
    yield "next_free_sgpr", rng.randrange(1, 97)
    yield "uses_dynamic_stack", flag()
    for mode in ("round_mode_32", "round_mode_16_64", "denorm_mode_32", "denorm_mode_16_64"):
        yield f"float_{mode}", rng.randrange(4)
    yield "fp16_overflow", flag()
    if generation == "gfx12":
        yield "round_robin_scheduling", flag()
    else:
        yield "dx10_clamp", flag()
        yield "ieee_mode", flag()
    if generation in WAVE32:
        for name in ("wavefront_size32", "workgroup_processor_mode", "memory_ordered"):
            yield name, flag()
        yield "forward_progress", flag()
    if generation in ("gfx90a", "gfx94x"):
        yield "accum_offset", 4 * rng.randrange(1, 65)
        yield "tg_split", flag()
        yield "user_sgpr_kernarg_preload_length", rng.randrange(0, 4)
        yield "user_sgpr_kernarg_preload_offset", rng.randrange(0, 100)
    for exception in (
        "fp_ieee_invalid_op",
        "fp_denorm_src",
        "fp_ieee_div_zero",
        "fp_ieee_overflow",
        "fp_ieee_underflow",
        "fp_ieee_inexact",
        "int_div_zero",
    ):
        yield f"exception_{exception}", flag()


def valid(generation, values):
    """Whether LLVM can take the values, after mending those that only need it."""
    sizes = {
        "user_sgpr_private_segment_buffer": 4,
        "user_sgpr_dispatch_ptr": 2,
        "user_sgpr_queue_ptr": 2,
        "user_sgpr_kernarg_segment_ptr": 2,
        "user_sgpr_dispatch_id": 2,
        "user_sgpr_flat_scratch_init": 2,
        "user_sgpr_private_segment_size": 1,
        "user_sgpr_kernarg_preload_length": 1,
    }
    if sum(size * values.get(name, 0) for name, size in sizes.items()) > 16:
        return False
    if values.get("user_sgpr_kernarg_preload_length") == 0:
        values["user_sgpr_kernarg_preload_offset"] = 0
    preloaded = [values.get(f"user_sgpr_kernarg_preload_{end}", 0) for end in ("length", "offset")]
    values["kernarg_size"] = max(values["kernarg_size"], 4 * sum(preloaded))
    if "accum_offset" in values:
        values["accum_offset"] = min(values["accum_offset"], -(-values["next_free_vgpr"] // 4) * 4)
        values["next_free_vgpr"] = max(values["next_free_vgpr"], values["accum_offset"])
    return True


def assemble(target, values, directory):
    text = f'.amdgcn_target "amdgcn-amd-amdhsa--{target}"\n.text\n.p2align 8\n'
    text += "k:\ns_endpgm\n.rodata\n.p2align 6\n.amdhsa_kernel k\n"
    text += "".join(f".amdhsa_{name} {value}\n" for name, value in values.items())
    text += ".end_amdhsa_kernel\n"
    features = []
    if "wavefront_size32" in values:
        wave32 = values["wavefront_size32"]
        features = ["--mattr=" + ("+wavefrontsize32,-wavefrontsize64" if wave32 else "-wavefrontsize32,+wavefrontsize64")]
    if "workgroup_processor_mode" in values and not values["workgroup_processor_mode"]:
        features = [features[0] + ",+cumode"]
    if values.get("tg_split"):
        features = ["--mattr=+tgsplit"]
    command = ["llvm-mc-19", "--triple=amdgcn-amd-amdhsa", f"--mcpu={target}", *features]
    subprocess.run([*command, "--filetype=obj", "-o", directory + "/k.o"], input=text, text=True, check=True)
    subprocess.run(
        ["llvm-objcopy-19", "-O", "binary", "-j", ".rodata", "k.o", "k.bin"], cwd=directory, check=True
    )
    with open(directory + "/k.bin", "rb") as file:
        return file.read(64)


def rsrc3(generation, data, rng):
    """Fields of COMPUTE_PGM_RSRC3 that the assembler has no directive for."""
    register = {"gfx10": 0, "gfx11": rng.randrange(64) << 4, "gfx12": rng.randrange(256) << 4}
    if generation not in register:
        return data
    register = register[generation]
    wave32 = data[57] >> 2 & 1
    if generation == "gfx12":
        register |= rng.randrange(2) << 13
    elif not wave32:
        register |= rng.randrange(16)
    return data[:44] + register.to_bytes(4, "little") + data[48:]


def disassemble(target, data, directory):
    text = ".rodata\n.p2align 6\n.globl k.kd\n.type k.kd,@object\n.size k.kd,64\nk.kd:\n"
    text += "".join(f".byte {byte}\n" for byte in data)
    command = ["llvm-mc-19", "--triple=amdgcn-amd-amdhsa", f"--mcpu={target}"]
    subprocess.run(
        [*command, "--filetype=obj", "-o", directory + "/k.o"], input=text, text=True, check=True
    )
    shown = subprocess.run(
        ["llvm-objdump-19", "-D", "--disassemble-symbols=k.kd", "k.o"],
        cwd=directory, check=True, text=True, capture_output=True,
    ).stdout
    return shown[shown.index(".amdhsa_kernel") :].strip()


def main():
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as directory:
        for target, generation in TARGETS.items():
            done = 0
            while done < 6:
                values = dict(directives(generation, rng))
                if valid(generation, values):
                    data = rsrc3(generation, assemble(target, values, directory), rng)
                    text = disassemble(target, data, directory)
                    print(f"target {target} {generation}\nbytes {data.hex()}\n{text}\n")
                    done += 1


main()
