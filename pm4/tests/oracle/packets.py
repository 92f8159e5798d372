#!/usr/bin/env python3
"""Prints golden lines for the packets of pm4, from AMD's headers in $SELVEDGE_ORACLE: see ../data/packets/SOURCE."""

import json
import os
import re
import sys
from pathlib import Path

from packets_forms import FORMS, GENERATIONS, JOINS, KFD_FORMS, ONLY, SUFFIXES
from packets_headers import Header, run

ROOT = Path(os.environ["SELVEDGE_ORACLE"])
AMD = ROOT / "linux/drivers/gpu/drm/amd"
GFXIP = "src/core/hw/gfxip"
GFX9 = GENERATIONS[:5]
GFX10 = GENERATIONS[5:7]
GFX11 = GENERATIONS[7:9]
GFX12 = GENERATIONS[9:]

lines = {}


def emit(generations, text):
    """Notes a line, `KIND PACKET REST`, for generations."""
    for generation in generations:
        known = lines.setdefault(text, [])
        if generation not in known:
            known.append(generation)


def emit_piece(packet, generations, name, words):
    if any(int(word, 16) for word in words.split()):
        emit(generations, f"piece {packet} {name} : {words}")


def value_name(enumerator):
    """An enumerator's value name, in capitals, and the suffix that says where there is one."""
    parts = enumerator.split("__")
    name = re.sub(r"_vi$", "", parts[2]).replace("sdmal", "sdma1")
    return name.upper(), parts[3] if len(parts) > 3 else ""


def joins(packet, generations, pieces):
    """Lines that say which pieces make up one value: NAME_lo and NAME_hi, and the irregular ones of JOINS."""
    low_bit = {}
    for name, words in pieces:
        bits = [32 * i + bit for i, w in enumerate(words.split()) for bit in range(32) if int(w, 16) >> bit & 1]
        low_bit[name] = bits[0] % 32
    for low in low_bit:
        high, shift, high_shift = JOINS.get(low, (None, None, None))
        if high is None:
            match = re.fullmatch(r"(.*)_lo(32|_32b)?", low)
            if not match:
                continue
            high, high_shift = match[1] + "_hi" + ("32" if match[2] == "32" else ""), 32
        if high in low_bit:
            shift = low_bit[low] if shift is None else shift
            emit(generations, f"join {packet} {low}@{shift} {high}@{high_shift}")


def pal(root, folder, prefix, generations):
    """Packets as PAL's headers have them."""
    chip = root / GFXIP / folder / "chip"
    engines = {e: Header(chip / f"{prefix}_f32_{e.lower()}_pm4_packets.h") for e in ("MEC", "ME", "PFP")}
    opcodes = chip / f"{prefix}_pm4_it_opcodes.h"
    names = re.findall(r"\bIT_(\w+)\s*=", opcodes.read_text())
    for engine, header in engines.items():
        statements, after = [], []
        for layout, of, struct, dwords, payload, left_out in FORMS:
            if of != engine or f"PM4_{engine}_{struct}" not in header.structs:
                continue
            sizes = [s for n, s in header.sizes if n == f"PM4_{engine}_{struct}"]
            for generation in [g for g in generations if g in ONLY.get(layout, GENERATIONS)]:
                pal_form(header, engine, struct, sizes, names, generation, layout, dwords, payload, left_out,
                         statements, after)
        includes = [header.path] + ([engines["ME"].path] if engine != "ME" else []) + [opcodes]
        namespace = "Gfx12" if folder == "gfx12" else "Gfx9"
        declarations = f"using namespace Pal::{namespace};\n" if "namespace Pal" in header.path.read_text() else ""
        if "namespace Pal" not in opcodes.read_text():
            declarations = ""
        pieces = {}
        for line in run(includes, declarations, statements):
            what, words = line.split(" : ")
            kind, layout, generation, name = what.split()
            if kind == "head":
                emit([generation], f"head {layout} : {words}")
            else:
                pieces.setdefault((layout, generation), []).append((name, words))
                emit_piece(layout, [generation], name, words)
        for (layout, generation), found in pieces.items():
            joins(layout, [generation], [p for p in found if any(int(w, 16) for w in p[1].split())])
        for generation, text in after:
            emit([generation], text)


def pal_form(header, engine, struct, sizes, opcodes, generation, layout, dwords, payload, left_out, statements, after):
    """Statements that print one form's words for a generation, if that has it."""
    there = SUFFIXES[generation]
    sizes = [size for size in sizes if size in there]
    opcode = [n for n in opcodes if n.partition("__")[0] == struct and n.partition("__")[2] in there]
    if not sizes or not opcode:
        return
    size = f"PM4_{engine}_{struct}_SIZEDW__{sizes[-1]}"
    count = f"{size}" if dwords is None else str(dwords)
    at = f"{layout} {generation}"
    bits = "type = 3, h.opcode = 0xff" + ("" if payload else ", h.count = 0x3fff")
    is_packet = f"type = 3, h.opcode = IT_{opcode[0]}" + ("" if payload else f", h.count = {count} - 2")
    statements.append(f"{{ PM4_{engine}_TYPE_3_HEADER h; uint32_t w[2]; fill(h); h.{bits}; w[0] = h.u32All;"
                      f' fill(h); h.{is_packet}; w[1] = h.u32All; words("head {at} -", w, 2); }}')
    for flag in ["predicate", "shaderType"] + (["count"] if payload else []):
        name = re.sub("([A-Z])", lambda m: "_" + m[1].lower(), flag)
        statements.append(f"{{ uint32_t w[64] = {{}}; PM4_ME_TYPE_3_HEADER h; fill(h); h.{flag} = ~0u;"
                          f' w[0] = h.u32All; words("piece {at} {name}", w, {count}); }}')
    if payload:
        after.append((generation, f"bias {layout} count {BIAS}"))
    for path, name, enum, _ in header.structs[f"PM4_{engine}_{struct}"]:
        if name in ("header", "u32All") or name.startswith("reserved") or name in left_out:
            continue
        if any(p.upper() not in there for p in path if not p.startswith(("ordinal", "bitfields"))):
            continue
        member = ".".join(("p",) + path + (name,))
        cast = f"({enum})" if enum else ""
        statements.append(f"{{ PM4_{engine}_{struct} p; fill(p); {member} = {cast}~0u;"
                          f' words("piece {at} {name}", &p, {count}); }}')
        values = [(value_name(v), v) for v in header.enums.get(enum, [])]
        values = [(n, v) for (n, suffix), v in values if suffix in there]
        if values:
            text = " ".join(f"{n}={{}}" for n, _ in values)
            after.append((generation, ("names", layout, name, header, text, tuple(v for _, v in values))))


def numbers(includes, declarations, names):
    """Values of constants."""
    statements = [f'number("{name}", (unsigned long)({name}));' for name in names]
    return {k: int(v, 16) for k, v in (line.rsplit(" ", 1) for line in run(includes, declarations, statements))}


def gcr(source, union, tag, generations, packets):
    """GCR_CNTL, which PAL declares beside the packets: each bit through the packet's own field."""
    text = (ROOT / "pal" / GFXIP / source).read_text()
    body = re.search(rf"^union {union}\n\{{.*?^\}};", text, re.S | re.M)[0]
    fields = [f for f in re.findall(r"uint32\s+(\w+)\s*:", body) if not f.startswith("reserved")]
    if tag == "gfx10" and generations == GFX10:
        fields = [f for f in fields if not f.startswith("gfx11")]
    statements = []
    for layout, struct, member in packets:
        for field in fields:
            name = re.sub("([A-Z])", lambda m: "_" + m[1].lower(), re.sub("^gfx11G", "g", field))
            statements.append(f"{{ PM4_MEC_{struct} p; {union} c; fill(p); fill(c); c.bits.{field} = ~0u;"
                              f' p.{member} = c.u32All; words("{layout} {name}", &p, 8); }}')
    folder, prefix, space = ("gfx12", "gfx12_merged", "Gfx12") if tag == "gfx12" else ("gfx9", "gfx9_plus_merged", "Gfx9")
    header = ROOT / "pal" / GFXIP / folder / "chip" / f"{prefix}_f32_mec_pm4_packets.h"
    for line in run([header], f"using namespace Pal::{space};\n{body}\n", statements):
        what, words = line.split(" : ")
        layout, name = what.split()
        emit_piece(layout, generations, name, words)


def coherence():
    """COHER_CNTL of gfx9: the register's own fields, in the dword that PAL calls coher_cntl."""
    pal_header = ROOT / "pal-gfx9" / GFXIP / "gfx9/chip/gfx9_plus_merged_f32_mec_pm4_packets.h"
    space = "using namespace Pal::Gfx9;\n" if "namespace Pal" in pal_header.read_text() else ""
    of = {"gc_9_0": GFX9[:2], "gc_9_4_2": GFX9[2:3], "gc_9_4_3": GFX9[3:]}
    for gc, generations in of.items():
        masks = AMD / "include/asic_reg/gc" / f"{gc}_sh_mask.h"
        fields = re.findall(r"\bCP_COHER_CNTL__(\w+)_MASK\b", masks.read_text())
        statements = [f"{{ PM4_MEC_ACQUIRE_MEM p; fill(p); p.ordinal2.bitfields.gfx09.coher_cntl = CP_COHER_CNTL__{f}_MASK;"
                      f' words("{f.lower()}", &p, 7); }}' for f in fields]
        for line in run([pal_header, masks], space, statements):
            name, words = line.split(" : ")
            emit_piece("ACQUIRE_MEM.gfx9", generations, name, words)


def kfd():
    """The scheduler's packets as the kernel driver has them."""
    ai, aldebaran = (AMD / "amdkfd" / f"kfd_pm4_headers_{n}.h" for n in ("ai", "aldebaran"))
    opcodes = ROOT / "pal" / GFXIP / "gfx9/chip/gfx9_plus_merged_pm4_it_opcodes.h"
    statements, names = [], []
    for layout, file, struct, opcode, generations, left_out in KFD_FORMS:
        header = Header(ai if file == "ai" else aldebaran)
        if opcode:
            statements.append(f'{{ struct {struct} p; uint32_t w[2]; fill(p); p.header.type = 3; p.header.opcode = 0xff;'
                              f" p.header.count = 0x3fff; w[0] = p.header.u32All; fill(p); p.header.type = 3;"
                              f" p.header.opcode = Pal::Gfx9::IT_{opcode}; p.header.count = sizeof p / 4 - 2;"
                              f' w[1] = p.header.u32All; words("{layout} head", w, 2); }}')
            for flag in ("predicate", "shaderType"):
                name = re.sub("([A-Z])", lambda m: "_" + m[1].lower(), flag)
                statements.append(f"{{ struct {struct} p; Pal::Gfx9::PM4_ME_TYPE_3_HEADER h; fill(p); fill(h);"
                                  f" h.{flag} = 1; p.header.u32All = h.u32All;"
                                  f' words("{layout} {name}", &p, sizeof p / 4); }}')
        for path, name, enum, array in header.structs[struct]:
            if re.fullmatch(r"header|ordinal\d+|reserved\d*", name) or name in left_out:
                continue
            for index in range(array or 1):
                member = ".".join(("p",) + path + (name,)) + (f"[{index}]" if array else "")
                piece = name + (f"_{index}" if array else "")
                cast = f"({enum})" if enum else ""
                statements.append(f"{{ struct {struct} p; fill(p); {member} = {cast}~0u;"
                                  f' words("{layout} {piece}", &p, sizeof p / 4); }}')
            if enum and opcode:
                names.append((layout, name, header.enums[enum], generations))
    me = ROOT / "pal" / GFXIP / "gfx9/chip/gfx9_plus_merged_f32_me_pm4_packets.h"
    generations = {form[0]: form[4] for form in KFD_FORMS}
    pieces = {}
    for line in run([ai, aldebaran, opcodes, me], "", statements):
        what, words = line.split(" : ")
        layout, name = what.split()
        if name == "head":
            emit(generations[layout], f"head {layout} : {words}")
        else:
            pieces.setdefault(layout, []).append((name, words))
            emit_piece(layout, generations[layout], name, words)
    for layout, found in pieces.items():
        joins(layout, generations[layout], found)
    values = numbers([ai, aldebaran], "", sorted({v for _, _, vs, _ in names for v in vs}))
    for layout, name, enumerators, where in names:
        text = " ".join(f"{value_name(v)[0]}={values[v]:x}" for v in enumerators)
        if name == "action":  # the last value is named in a comment alone
            comment = re.search(r"PACKET3_UNMAP_QUEUES_ACTION.*?\*/", (AMD / "amdgpu/nvd.h").read_text(), re.S)[0]
            text = " ".join(f"{n}={int(v):x}" for v, n in re.findall(r"(\d) - (\w+)", comment))
        emit(where, f"names {layout} {name} {text}")
    return pieces


def kernel_queue(pieces):
    """Fields of MAP_QUEUES that only the kernel driver's own queue (KIQ) uses: macros that shift. A field is as wide as the
    space before the next one."""
    for file, generations in (("soc15d.h", GFX9), ("nvd.h", GFX10 + GFX11 + GFX12)):
        header = AMD / "amdgpu" / file
        macros = ["VMID", "QUEUE", "PIPE", "ME", "ALLOC_FORMAT"]
        starts = numbers([header], "", [f"PACKET3_MAP_QUEUES_{m}(1)" for m in macros])
        known = [int(words.split()[1], 16) for _, words in pieces["MAP_QUEUES"]]
        bits = {m: starts[f"PACKET3_MAP_QUEUES_{m}(1)"] for m in macros}
        all_starts = sorted([b for b in bits.values()] + [k & -k for k in known if k])
        for macro, start in bits.items():
            end = min([s for s in all_starts if s > start], default=1 << 32)
            emit(generations, f"piece MAP_QUEUES {macro.lower()} : 0 {end - start:x} 0 0 0 0 0")


def flags():
    """Single bits that the kernel's and ROCr's macros and Mesa's tables say as well, or alone."""
    nvd = AMD / "amdgpu/nvd.h"
    release = ["GLM_WB", "GLM_INV", "GLV_INV", "GL1_INV", "GL2_US", "GL2_DISCARD", "GL2_INV", "GL2_WB"]
    macros = [f"PACKET3_RELEASE_MEM_GCR_{m}" for m in release] + ["PACKET3_ACQUIRE_MEM_GCR_RANGE_IS_PA"]
    values = numbers([nvd], "", macros)
    for name in release:
        value = values[f"PACKET3_RELEASE_MEM_GCR_{name}"]
        emit(GFX10 + GFX11, f"piece RELEASE_MEM {name.lower()} : 0 {value:x} 0 0 0 0 0 0")
    value = values["PACKET3_ACQUIRE_MEM_GCR_RANGE_IS_PA"]
    emit(GFX10 + GFX11 + GFX12, f"piece ACQUIRE_MEM range_is_pa : 0 0 0 0 0 0 0 {value:x}")

    tables = json.loads((ROOT / "mesa/src/amd/registers/pkt3.json").read_text())["register_types"]
    of = [("RELEASE_MEM_OP", "RELEASE_MEM", 1, GFX10), ("RELEASE_MEM_OP_gfx11", "RELEASE_MEM", 1, GFX11),
          ("GCR_CNTL", "ACQUIRE_MEM", 7, GFX10 + GFX11)]
    for table, layout, dword, generations in of:
        for field in tables[table]["fields"]:
            name, (low, high) = field["name"].lower(), field["bits"]
            if name in ("execute", "pws_enable"):  # of the graphics micro-engine
                continue
            words = ["0"] * 8
            words[dword] = f"{(1 << high + 1) - (1 << low):x}"
            emit(generations, f"piece {layout} {name} : {' '.join(words)}")

    rocr = ROOT / "rocm-systems/projects/rocr-runtime/runtime/hsa-runtime/core/inc/amd_gpu_pm4.h"
    for piece, name in (("exec_count", "EXEC_COUNT"), ("device_select", "VIRTUALXCCID_SELECT")):
        macro = f"PM4_PRED_EXEC_DW2_{name}(0xffffffffu)"
        emit(GFX9, f"piece PRED_EXEC {piece} : 0 {numbers([rocr], '', [macro])[macro]:x}")

    soc15 = AMD / "amdgpu/soc15d.h"
    head = ["PACKET3(0xff, 0x3fff)", "PACKET3(PACKET3_RUN_CLEANER_SHADER, 0)"]
    value = numbers([soc15], "", head)
    emit(GFX9, f"head RUN_CLEANER_SHADER : {value[head[0]] & 0xffffffff:x} {value[head[1]] & 0xffffffff:x}")
    emit(GFX9, "piece RUN_CLEANER_SHADER predicate : 1 0")
    emit(GFX9, "piece RUN_CLEANER_SHADER shader_type : 2 0")


def enumerations():
    """Events and atomics, whose values are those of the hardware."""
    of = [("vega10", GFX9, "TC_OP"), ("navi10", GFX10, "GL2_OP"), ("soc21", GFX11, "GL2_OP"), ("soc24", GFX12, "GL2_OP")]
    for file, generations, atomics in of:
        text = (AMD / f"include/{file}_enum.h").read_text()
        for enum, prefix, pieces in (
            ("VGT_EVENT_TYPE", "", [("EVENT_WRITE", "event_type"), ("EVENT_WRITE.address", "event_type"),
                                    ("RELEASE_MEM", "event_type")]),
            (atomics, atomics + "_", [("ATOMIC_MEM", "atomic")]),
        ):
            body = re.search(rf"typedef enum {enum} \{{(.*?)\}} {enum};", text, re.S)[0]
            names = re.findall(r"^\s*(\w+)\s*=", body, re.M)
            values = numbers([], body, names)
            listed = " ".join(f"{n.removeprefix(prefix)}={values[n]:x}" for n in names if not n.startswith("Reserved"))
            for layout, piece in pieces:
                emit(generations, f"names {layout} {piece} {listed}")


def main():
    global BIAS
    sources = [(ROOT / "pal-gfx9", "gfx9", "gfx9_plus_merged", GFX9),
               (ROOT / "pal", "gfx9", "gfx9_plus_merged", GFX10 + GFX11),
               (ROOT / "pal", "gfx12", "gfx12_merged", GFX12)]
    util = (ROOT / "pal" / GFXIP / "gfx9/gfx9CmdUtil.cpp").read_text()
    BIAS = re.search(r"header\.count\s*=\s*\(count - (\d)\);", util)[1]
    enumerations()
    for source in sources:
        pal(*source)
    release = "ordinal2.bitfields.{}gcr_cntl"
    both = [("ACQUIRE_MEM", "ACQUIRE_MEM", "ordinal8.bitfields.gcr_cntl")]
    gcr("gfx9/gfx9CmdUtil.cpp", "Gfx10AcquireMemGcrCntl", "gfx10", GFX10 + GFX11, both)
    gcr("gfx12/gfx12CmdUtil.cpp", "AcquireMemGcrCntl", "gfx12", GFX12, both)
    for tag, generations in (("gfx10", GFX10), ("gfx11", GFX11)):
        gcr("gfx9/gfx9CmdUtil.cpp", "Gfx10ReleaseMemGcrCntl", "gfx10", generations,
            [("RELEASE_MEM", "RELEASE_MEM", release.format(tag + "."))])
    gcr("gfx12/gfx12CmdUtil.cpp", "ReleaseMemGcrCntl", "gfx12", GFX12, [("RELEASE_MEM", "RELEASE_MEM", release.format(""))])
    coherence()
    kernel_queue(kfd())
    flags()
    show(sys.stdout)


def show(out):
    """Names need values, which are asked for together; then all lines, those of a packet one after the other."""
    wanted = {}
    for text in [t for t in lines if isinstance(t, tuple)]:
        _, layout, name, header, form, values = text
        wanted.setdefault(header.path, set()).update(values)
    values = {}
    for path, enumerators in wanted.items():
        content = path.read_text()
        space = ""
        if "namespace Pal" in content:
            space = f"using namespace Pal::{'Gfx12' if 'namespace Gfx12' in content else 'Gfx9'};\n"
        values[path] = numbers([path], space, sorted(enumerators))
    printed = {}
    for text, generations in lines.items():
        if isinstance(text, tuple):
            _, layout, name, header, form, enumerators = text
            text = f"names {layout} {name} " + form.format(*(f"{values[header.path][e]:x}" for e in enumerators))
        printed.setdefault(text, []).extend(generations)
    out.write("# Packets: see SOURCE.\n")
    for text in sorted(printed, key=lambda t: (t.split()[1],)):
        kind, layout, rest = text.split(" ", 2)
        generations = ",".join(g for g in GENERATIONS if g in printed[text])
        out.write(f"{kind} {layout} {generations} {rest}\n")


main()
