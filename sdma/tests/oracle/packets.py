#!/usr/bin/env python3
"""Prints what AMD's headers say of SDMA packets, as golden lines (tests/golden/src/lib.rs says how they read).

Names are read from the headers; every bit comes from their macros and structures, compiled. SELVEDGE_ORACLE names
a directory with the sources: linux, pal, rocm-systems.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.environ["SELVEDGE_ORACLE"]
AMD = f"{ROOT}/linux/drivers/gpu/drm/amd"
PAL = f"{ROOT}/pal/src/core/hw/gfxip"
ROCR = f"{ROOT}/rocm-systems/projects/rocr-runtime"
CXX = os.environ.get("CXX", "clang++-19")

VERSIONS = ["4.0", "4.4", "4.4.2", "5.0", "5.2", "6.0", "6.1", "7.0"]
SETS = {
    "all": VERSIONS,
    "4": VERSIONS[:3],
    "4-5": VERSIONS[:5],
    "4-6": VERSIONS[:7],
    "5": VERSIONS[3:5],
    "5-6": VERSIONS[3:7],
    "5+": VERSIONS[3:],
    "5.2+": VERSIONS[4:],
    "6": VERSIONS[5:7],
    "6+": VERSIONS[5:],
    "7": ["7.0"],
}

# Layout, AMD's packet, dwords, versions, opcode, sub-opcode, pieces that are set in dword 0 of this form, pieces
# that are clear, pieces left out. A piece of another packet is PACKET.piece.
FORMS = """
COPY_LINEAR COPY_LINEAR 7 all COPY COPY_LINEAR - COPY_BROADCAST_LINEAR.broadcast dcc
COPY_LINEAR.meta COPY_LINEAR 8 7 COPY COPY_LINEAR dcc COPY_BROADCAST_LINEAR.broadcast -
COPY_BROADCAST_LINEAR COPY_BROADCAST_LINEAR 9 all COPY COPY_LINEAR broadcast - -
COPY_LINEAR_BC COPY_LINEAR_BC 7 5-6 COPY COPY_LINEAR_BC - - -
COPY_LINEAR_SUBWIN COPY_LINEAR_SUBWIN 13 all COPY COPY_LINEAR_SUB_WIND - - -
COPY_LINEAR_SUBWIN_BC COPY_LINEAR_SUBWIN_BC 13 5-6 COPY COPY_LINEAR_SUB_WIND_BC - - -
COPY_LINEAR_SUBWIN_LARGE COPY_LINEAR_SUBWIN_LARGE 20 5.2+ COPY COPY_LINEAR_SUB_WIND_LARGE - - -
COPY_DIRTY_PAGE COPY_DIRTY_PAGE 7 all COPY COPY_DIRTY_PAGE - - -
COPY_PHYSICAL_LINEAR COPY_PHYSICAL_LINEAR 7 4-6 COPY COPY_LINEAR_PHY - - -
COPY_PHYSICAL_LINEAR.meta COPY_PHYSICAL_LINEAR 8 7 COPY COPY_LINEAR_PHY - - -
COPY_PAGE_TRANSFER COPY_PAGE_TRANSFER 11 7 COPY COPY_PAGE_TRANSFER - - -
COPY_TILED COPY_TILED 13 all COPY COPY_TILED - COPY_L2T_BROADCAST.broadcast -
COPY_L2T_BROADCAST COPY_L2T_BROADCAST 16 all COPY COPY_TILED broadcast - -
COPY_TILED_SUBWIN COPY_TILED_SUBWIN 14 all COPY COPY_TILED_SUB_WIND - COPY_TILED_SUBWIN.dcc dcc
COPY_TILED_SUBWIN.meta COPY_TILED_SUBWIN 17 5-6 COPY COPY_TILED_SUB_WIND dcc - -
COPY_TILED_SUBWIN.compressed COPY_TILED_SUBWIN 15 7 COPY COPY_TILED_SUB_WIND dcc - -
COPY_T2T COPY_T2T 15 all COPY COPY_T2T_SUB_WIND - COPY_T2T.dcc dcc,dcc_dir
COPY_T2T.meta COPY_T2T 18 5-6 COPY COPY_T2T_SUB_WIND dcc - -
COPY_T2T.compressed COPY_T2T 16 7 COPY COPY_T2T_SUB_WIND dcc - -
COPY_STRUCT COPY_STRUCT 8 all COPY COPY_SOA - - -
COPY_TILED_BC COPY_TILED_BC 12 5 COPY COPY_TILED_BC - - -
COPY_TILED_BC.slice COPY_TILED_BC 13 6 COPY COPY_TILED_BC - - -
COPY_TILED_SUBWIN_BC COPY_TILED_SUBWIN_BC 14 5-6 COPY COPY_TILED_SUB_WIND_BC - - -
COPY_T2T_BC COPY_T2T_BC 15 5-6 COPY COPY_T2T_SUB_WIND_BC - - -
WRITE_UNTILED WRITE_UNTILED 4 all WRITE WRITE_LINEAR - - data0
WRITE_TILED WRITE_TILED 9 all WRITE WRITE_TILED - - data0
WRITE_TILED_BC WRITE_TILED_BC 9 5-6 WRITE WRITE_TILED_BC - - data0
CONSTANT_FILL CONSTANT_FILL 5 all CONST_FILL - - - -
DATA_FILL_MULTI DATA_FILL_MULTI 6 all CONST_FILL DATA_FILL_MULTI - - -
CONSTANT_FILL_PAGE CONSTANT_FILL_PAGE 5 7 CONST_FILL CONSTFILL_PAGE - - -
DECOMPRESS_BLT_LINEAR DECOMPRESS_BLT_LINEAR 4 7 CONST_FILL CONSTFILL_DECOMPRESS_BLT_LINEAR - - -
DECOMPRESS_BLT_SUBWIN DECOMPRESS_BLT_SUBWIN 9 7 CONST_FILL CONSTFILL_DECOMPRESS_BLT_SUBWIN - - -
FENCE FENCE 4 all FENCE - - - -
FENCE_CONDITIONAL_INTERRUPT FENCE_CONDITIONAL_INTERRUPT 8 7 FENCE FENCE_CONDITIONAL_INTERRUPT - - -
TRAP TRAP 2 all TRAP - - - -
DUMMY_TRAP.old DUMMY_TRAP 2 4 DUMMY_TRAP - - - -
DUMMY_TRAP DUMMY_TRAP 2 5+ DUMMY_TRAP - - - -
POLL_REGMEM POLL_REGMEM 6 all POLL_REGMEM - - - grbm_gfx_index
POLL_REG_WRITE_MEM POLL_REG_WRITE_MEM 4 4-6 POLL_REGMEM POLL_REG_WRITE_MEM - - -
POLL_REG_WRITE_MEM.indexed POLL_REG_WRITE_MEM 5 7 POLL_REGMEM POLL_REG_WRITE_MEM - - -
POLL_DBIT_WRITE_MEM POLL_DBIT_WRITE_MEM 5 all POLL_REGMEM POLL_DBIT_WRITE_MEM - - -
POLL_MEM_VERIFY POLL_MEM_VERIFY 13 4-6 POLL_REGMEM POLL_MEM_VERIFY - - -
POLL_MEM_VERIFY.short POLL_MEM_VERIFY 12 7 POLL_REGMEM POLL_MEM_VERIFY - - -
ATOMIC ATOMIC 8 all ATOMIC - - - -
SEMAPHORE SEMAPHORE 3 all SEM - - - -
MEM_INCR MEM_INCR 3 5+ SEM MEM_INCR - - -
TIMESTAMP_SET TIMESTAMP_SET 3 all TIMESTAMP TIMESTAMP_SET - - -
TIMESTAMP_GET TIMESTAMP_GET 3 all TIMESTAMP TIMESTAMP_GET - - -
TIMESTAMP_GET_GLOBAL TIMESTAMP_GET_GLOBAL 3 all TIMESTAMP TIMESTAMP_GET_GLOBAL - - -
NOP NOP 1 all NOP - - - data0
INDIRECT INDIRECT 6 all INDIRECT - - - -
COND_EXE COND_EXE 5 all COND_EXE - - - -
PRE_EXE PRE_EXE 2 all PRE_EXE - - - -
SRBM_WRITE SRBM_WRITE 3 4-6 SRBM_WRITE - - - -
REGISTER_WRITE REGISTER_WRITE 3 7 REGISTER_WRITE - - - grbm_gfx_index
REGISTER_RMW REGISTER_RMW 5 6 SRBM_WRITE REGISTER_RMW - - -
REGISTER_RMW.indexed REGISTER_RMW 5 7 REGISTER_WRITE REGISTER_RMW - - -
GCR_REQ GCR_REQ 5 5+ GCR_REQ - - - -
GCR_USER GCR_USER 5 5+ GCR_REQ GCR_USER - - -
WRITE_INCR WRITE_INCR 10 all PTEPDE PTEPDE_GEN - - -
PTEPDE_COPY PTEPDE_COPY 8 4-6 PTEPDE PTEPDE_COPY - - -
PTEPDE_RMW PTEPDE_RMW 7 4-5 PTEPDE PTEPDE_RMW - - -
PTEPDE_RMW.many PTEPDE_RMW 8 6 PTEPDE PTEPDE_RMW - - -
PTEPDE_COPY_BACKWARDS PTEPDE_COPY_BACKWARDS 7 4-6 PTEPDE PTEPDE_COPY_BACKWARDS - - -
GPUVM_INV GPUVM_INV 4 5+ GPUVM_INV - - - -
VM_INVALIDATION VM_INVALIDATION 4 6+ POLL_REGMEM VM_INVALIDATION - - -
INVALIDATION INVALIDATION 4 5 POLL_REGMEM INVALIDATION - - -
AQL_COPY_LINEAR AQL_COPY_LINEAR 16 4-6 AGENT_DISPATCH - - - -
AQL_BARRIER_OR AQL_BARRIER_OR 16 4-6 BARRIER - - - -
"""

AMDGPU = f"{AMD}/amdgpu"
LINUX_DRIVERS = [f"{AMDGPU}/sdma_v{version}.c" for version in ("4_0", "4_4_2", "5_0", "5_2", "6_0", "7_0")]
BLIT = [f"{ROCR}/runtime/hsa-runtime/core/runtime/amd_blit_sdma.cpp"]
KFDTEST = [f"{ROCR}/libhsakmt/tests/kfdtest/src/SDMAPacket.cpp"]
PAL_COPY = [f"{PAL}/sdma/{gfx}/{gfx}DmaCmdBuffer.cpp" for gfx in ("gfx10", "gfx12")]
PAL_INLINE = [f"{PAL}/sdma/{gfx}/{gfx}DmaCmdBuffer.h" for gfx in ("gfx10", "gfx12")]


def less_one(files, function, *lines):
    """Where it is to be seen: files, each with a function that has these lines."""
    return [(path, function, line) for path in files for line in lines]


COPY = less_one(LINUX_DRIVERS, r"_emit_copy_buffer\(", r"= byte_count - 1;")
FILL = less_one(LINUX_DRIVERS, r"_emit_fill_buffer\(", r"= byte_count - 1;")
# Of two destinations too.
BROADCAST = less_one(KFDTEST, r"#define SDMA_COUNT\(c\)", r"\(c\)-1\)") + less_one(
    KFDTEST, r"SDMACopyDataPacket::SDMACopyDataPacket\(", r"COUNT_UNION\.count\s+= SDMA_COUNT\(size\)")
# The tiled write, which no public driver writes, has the same field for the same payload.
WRITE = less_one(LINUX_DRIVERS, r"_vm_write_pte\(", r"= ndw - 1;")
SET = less_one(LINUX_DRIVERS, r"_vm_set_pte_pde\(", r"= count - 1;")


def rows(function, what, names, parts):
    """Lines of PAL's that store a number less one, in both of its drivers."""
    return {name: less_one(PAL_COPY, function, rf"\.{name}\s*= {what}\.{part}\s*- 1;") for name, part in zip(names, parts)}


EXTENT = ["width", "height", "depth"]
RECT = ["rect_x", "rect_y", "rect_z"]
TILED = r"::CopyImageLinearTiledTransform\("
T2T = r"::WriteCopyImageTiledToTiledCmd\("
PITCH = less_one(PAL_COPY, TILED, r"linear_pitch\s+= GetLinearRowPitch\(") + less_one(
    PAL_COPY, r"::GetLinearRowPitch\(", r"return rowPitchInPixels - 1;")
SLICE = less_one(PAL_COPY, TILED, r"linear_slice_pitch\s*= GetLinearDepthPitch\(") + less_one(
    PAL_INLINE, r"uint32 GetLinearDepthPitch\(", r"\(depthPitch / bytesPerPixel\) - 1;")
RECT_COPY = {name: less_one(BLIT, r"::BuildCopyRectCommand\(", rf"\.{name} = ?\s.*- 1;") for name in (
    "src_pitch", "dst_pitch", *RECT)}
RECT_COPY |= {f"{side}_slice_pitch": less_one(
    BLIT, r"::BuildCopyRectCommand\(", rf"\.{side}_slice_pitch =\s+\(range->z == 1\) \? 0 : \({side}->slice >> element\) - 1;")
    for side in ("src", "dst")}

# Pieces that hold a number less one, and the lines that show it; each has to be found.
BIAS = {
    "COPY_LINEAR": {"count": COPY},
    "COPY_LINEAR.meta": {"count": COPY},
    "CONSTANT_FILL": {"count": FILL},
    "COPY_BROADCAST_LINEAR": {"count": BROADCAST},
    "COPY_LINEAR_SUBWIN": RECT_COPY,
    "COPY_TILED_SUBWIN": rows(TILED, r"tiledImg\.extent", EXTENT, EXTENT) | rows(
        TILED, r"copyInfo\.copyExtent", RECT, EXTENT) | {"linear_pitch": PITCH, "linear_slice_pitch": SLICE},
    "COPY_T2T": rows(T2T, r"src\.extent", [f"src_{name}" for name in EXTENT], EXTENT) | rows(
        T2T, r"dst\.extent", [f"dst_{name}" for name in EXTENT], EXTENT) | rows(
        T2T, r"imageCopyInfo\.copyExtent", RECT, EXTENT),
    "WRITE_UNTILED": {"count": WRITE},
    "WRITE_TILED": {"count": WRITE},
    "WRITE_INCR": {"count": SET},
}
for name in ["COPY_TILED_SUBWIN", "COPY_T2T"]:
    BIAS[name + ".meta"] = BIAS[name + ".compressed"] = BIAS[name]


def check_biases():
    """Fails when a line that a bias rests on is not where it was."""
    for form, pieces in BIAS.items():
        for piece, places in pieces.items():
            assert places, (form, piece)
            for path, function, line in places:
                # To the brace in the first column: the end of the function.
                bodies = re.findall(rf"{function}.*?\n\}}", open(path).read(), re.S)
                assert any(re.search(line, body) for body in bodies), (form, piece, path, line)


def compiled(source, includes=()):
    """What a program prints."""
    with tempfile.TemporaryDirectory() as where:
        path = os.path.join(where, "program.cpp")
        with open(path, "w") as file:
            file.write(source)
        program = os.path.join(where, "program")
        options = ["-std=c++17", "-w", *(f"-I{include}" for include in includes)]
        subprocess.run([CXX, *options, path, "-o", program], check=True)
        return subprocess.run([program], check=True, capture_output=True, text=True).stdout


def parsed(output):
    """Packets of a program's lines: word, tag, piece and the words when it is all set; and constants."""
    packets, constants = collections.defaultdict(list), {}
    for line in output.splitlines():
        kind, *rest = line.split()
        if kind == "constant":
            constants[rest[0]] = int(rest[1])
        else:
            packet, word, tag, piece, *words = rest
            packets[packet].append((word, tag, piece.lower(), [int(value, 16) for value in words]))
    return packets, constants


def linux(header):
    """Pieces by the macros of a kernel header."""
    path = f"{AMD}/amdgpu/{header}"
    text = open(path).read()
    body, packet, word = [], None, None
    for line in text.splitlines():
        if match := re.search(r"Definitions for (SDMA_\w+) packet", line):
            packet = match[1]
        if match := re.match(r"/\*define for (\w+) word\*/", line):
            word = match[1]
        if (match := re.match(r"#define (\w+)_offset ", line)) and packet and match[1].startswith(f"{packet}_{word}_"):
            piece = match[1][len(f"{packet}_{word}_"):]
            name = packet.replace("SDMA_PKT_", "").replace("SDMA_AQL_PKT_", "AQL_")
            macro = f"{packet}_{word}_{piece.upper()}"
            body.append(f'show("{name} {word} - {piece}", {match[1]}_offset, {macro}(0xffffffffu));')
        if match := re.match(r"#define (SDMA_(?:SUB)?OP_\w+|HEADER_\w+|SDMA_GCR_\w+)(\(x\))?\s", line):
            if match[1].startswith("SDMA_GCR_"):
                argument = "(0xffffffffu)" if match[2] else ""
                body.append(f'show("GCR_CONTROL {match[1]} - {match[1][9:]}", 0, {match[1]}{argument});')
            else:
                body.append(f'printf("constant {match[1]} %u\\n", (unsigned){match[1]});')
    return parsed(compiled(f"""
        #include <cstdio>
        #include "{path}"
        static void show(const char* what, unsigned offset, unsigned value) {{
            printf("piece %s", what);
            for (unsigned dword = 0; dword < offset; dword++) printf(" 0");
            printf(" %x\\n", value);
        }}
        int main() {{ {chr(10).join(body)} }}
    """))


def structures(path, namespaces):
    """Pieces by the bit-fields of a C++ header."""
    text = re.sub(r"//[^\n]*", "", open(path).read())
    body = []
    for constant in re.finditer(r"(?:namespace (\w+)\s*\{\s*)?const(?:expr)? unsigned int ((?:SDMA|HEADER)_\w+)\s*=", text):
        inner = constant[1] if constant[1] and constant[1] not in " ".join(namespaces) + "Chip" else None
        name = f"{inner}::{constant[2]}" if inner else constant[2]
        body.append(f'printf("constant {constant[2]} %u\\n", (unsigned){name});')
    for match in re.finditer(r"typedef struct (SDMA_PKT_\w+?)_TAG(?:_GFX12)?\s*\{(.*?)\n\} (\w+);", text, re.S):
        packet = match[3]
        for union in re.finditer(r"\n\s*union\s*\{(.*?)\}\s*(\w+_UNION);", match[2], re.S):
            for struct in re.finditer(r"struct\s*\{(.*?)\}\s*(\w*);", union[1], re.S):
                for member in re.findall(r"unsigned int\s+(\w+)\s*:", struct[1]):
                    path_to = ".".join(part for part in [union[2], struct[2], member] if part)
                    what = f"{packet[9:]} {union[2][:-6]} {struct[2] or '-'} {member}"
                    body.append(f'{{ {packet} packet = {{}}; packet.{path_to} = ~0; show("{what}", packet); }}')
    using = "".join(f"using namespace {namespace};" for namespace in namespaces)
    return parsed(compiled(f"""
        #include <cstdio>
        #include <cstring>
        #include "{path}"
        {using}
        template <typename T> static void show(const char* what, const T& packet) {{
            unsigned words[sizeof(T) / 4];
            memcpy(words, &packet, sizeof(T));
            printf("piece %s", what);
            for (unsigned word : words) printf(" %x", word);
            printf("\\n");
        }}
        int main() {{ {chr(10).join(body)} }}
    """))


LINUX4, CONSTANTS4 = linux("vega10_sdma_pkt_open.h")
LINUX5, CONSTANTS5 = linux("navi10_sdma_pkt_open.h")
LINUX6, CONSTANTS6 = linux("sdma_v6_0_0_pkt_open.h")
PAL10, PAL10_CONSTANTS = structures(f"{PAL}/sdma/gfx10/gfx10_merged_sdma_packets.h", ["Pal::Gfx9", "Pal::Gfx9::Chip"])
PAL12, PAL12_CONSTANTS = structures(f"{PAL}/sdma/gfx12/gfx12_merged_sdma_packets.h", ["Pal::Gfx12"])
ROCR_PACKETS, ROCR_CONSTANTS = structures(
    f"{ROCR}/runtime/hsa-runtime/core/inc/sdma_registers.h", ["rocr::AMD"])


def named(packet, word, piece, words):
    """The piece's name in lines: AMD's, unless that is not unique in the packet."""
    if packet == "POLL_REG_WRITE_MEM" and piece.startswith("addr_"):
        return word.split("_")[0].lower() + "_" + piece
    if word == "START_PAGE":
        return "start_addr_31_4" if piece == "addr_31_4" else "start_page_22_0"
    if word == "GRBM_GFX_INDEX":
        return "grbm_gfx_index"
    # Dwords 4 and 5 are the first range's end; before SDMA 6 the headers call them as they do dwords 8 and 9.
    if packet == "POLL_MEM_VERIFY" and len([w for w in words if w == 0]) and piece.startswith("cmp1_end"):
        dword = next(index for index, value in enumerate(words) if value)
        return piece.replace("cmp1", "cmp0") if dword in (4, 5) else piece
    return piece


def clean(packet, pieces, tags=("-",)):
    """Pieces of some tags: name to words."""
    result = {}
    for word, tag, piece, words in pieces:
        if tag in tags:
            result[named(packet, word, piece, words)] = words
    return result


def overlap(left, right):
    return any(a & b for a, b in zip(left, right))


def of_pal10(packet, *tags):
    return clean(packet, PAL10.get(packet, []), ("-", *tags))


def split_gcr(pieces):
    """Splits the control bits, which the headers give as two numbers, by Linux's names of them."""
    bits = {}
    for _, _, name, words in LINUX6["GCR_CONTROL"]:
        bits[name] = words[0]
    low = pieces.pop("gcr_control_15_0")
    high_name = next(name for name in pieces if name.startswith("gcr_control_"))
    high = pieces.pop(high_name)
    shift_low = (low[2] & -low[2]).bit_length() - 1
    known = 0
    for name, mask in bits.items():
        known |= mask
        if mask < 1 << 16:
            pieces[name] = [0, 0, mask << shift_low]
        else:
            pieces[name] = [0, 0, 0, mask >> 16]
    rest = high[3] & ~(known >> 16)
    if rest:
        assert rest & (rest - 1) == 0
        pieces[f"gcr_control_{15 + rest.bit_length()}"] = [0, 0, 0, rest]
    return pieces


def pieces_of(packet, version):
    """The pieces that a version's packet has."""
    if packet == "GCR_USER" and version in SETS["5-6"]:
        # ROCr writes it there, in the layout of GCR_REQ; the comments at the end say where its structure differs.
        return pieces_of("GCR_REQ", version)
    if version in SETS["4"]:
        found = clean(packet, LINUX4.get(packet, []))
        if packet == "COPY_LINEAR" and version != "4.0":
            found["count"] = clean(packet, ROCR_PACKETS[packet], ("count_ext",))["count"]
    elif version == "5.0":
        found = clean(packet, LINUX5.get(packet, []))
        if packet in ("MEM_INCR", "INVALIDATION"):
            found = of_pal10(packet, "gfx10x", "nv10")
    elif version == "5.2":
        found = of_pal10(packet, "gfx10x", "gfx103Plus")
        for name, words in clean(packet, LINUX5.get(packet, [])).items():
            if name not in found and not any(overlap(words, other) for other in found.values()):
                found[name] = words
    elif version in SETS["6"]:
        found = clean(packet, LINUX6.get(packet, []))
    else:
        found = clean(packet, PAL12.get(packet, []))
        # Linux drives 7.0 with the header of 6.0 and writes these.
        if packet == "FENCE":
            found["mtype"] = clean(packet, LINUX6[packet])["mtype"]
        if packet == "WRITE_INCR":
            found = clean(packet, LINUX6[packet])
            del found["cpv"], found["cache_policy"]
    if packet in ("GCR_REQ", "GCR_USER"):
        found = split_gcr(found)
    return {name: words for name, words in found.items() if not name.startswith("reserved")}


def constant(name, version):
    """An opcode or sub-opcode for a version; 0 where no header has one."""
    own = {"4": CONSTANTS4, "5": CONSTANTS5, "6": CONSTANTS6, "7": PAL12_CONSTANTS}[version[0]]
    rocr = {"SDMA_SUBOP_GCR_USER": ROCR_CONSTANTS["SDMA_SUBOP_USER_GCR"]}
    for place in (own, PAL10_CONSTANTS if version[0] in "56" else {}, rocr, PAL12_CONSTANTS, CONSTANTS6):
        if name in place:
            return place[name]
    raise KeyError((name, version))


def fixed_piece(packet, what, version, store):
    """A piece of dword 0 that tells forms apart. A version without it has no form with it, and in the one without it
    the bit is reserved, which is zero as well: no piece of its own may be there."""
    if "." in what:
        packet, what = what.split(".")
    pieces = pieces_of(packet, version)
    if what in pieces:
        return pieces[what][0]
    bits = pieces_of(packet, "5.0")[what][0]
    assert store == 0 and version in SETS["4"], (packet, what, version)
    assert not any(words[0] & bits for words in pieces.values()), (packet, what, version)
    return bits


SUFFIX = re.compile(r"(.*)_(\d+)_(\d+)$")


def joins(names):
    """Pieces that are parts of one number, by the bits that AMD's names end in."""
    result, done = [], set()
    for name in names:
        match = SUFFIX.match(name)
        if name in done:
            continue
        if name.endswith("_dw0") or name.endswith("_data_lo"):
            other = name.replace("_dw0", "_dw1") if name.endswith("_dw0") else name[:-3] + "_hi"
            result.append([(name, 0), (other, 32)])
            done |= {name, other}
        elif match and not name.startswith("gcr_control_"):
            high = [other for other in names if (m := SUFFIX.match(other)) and m[1] == match[1]
                    and int(m[3]) == int(match[2]) + 1]
            parts = [(name, int(match[3]))] + [(other, int(SUFFIX.match(other)[3])) for other in high]
            result.append(parts)
            done |= {part for part, _ in parts}
    return result


def enumeration(path, pattern, strip=""):
    """Names and values of an enumeration in a header."""
    found = re.findall(pattern, open(path).read())
    return " ".join(f"{name.removeprefix(strip).upper()}={int(value, 0):x}" for name, value in found)


ENUMS = {"4": "vega10", "5": "navi10", "6": "soc21", "7": "soc24"}


def names_of(form, version, pieces):
    path = f"{AMD}/include/{ENUMS[version[0]]}_enum.h"
    if form == "ATOMIC":
        yield "atomic_op", enumeration(path, r"TC_OP_ATOMIC_(\w+?)\s*=\s*(0x[0-9a-f]+)")
    if form == "POLL_REGMEM":
        functions = f"{PAL}/gfx9/chip/gfx9_plus_merged_f32_mec_pm4_packets.h"
        yield "func", enumeration(functions, r"function__mec_wait_reg_mem__(\w+?)\s*=\s*(\d+)")
    if form in ("CONSTANT_FILL", "CONSTANT_FILL_PAGE"):
        pairs = re.findall(r"fillsize = (\d); /\* (\w+) Fill", open(KFDTEST[0]).read())
        yield "fillsize", " ".join(f"{name.upper()}={int(value):x}" for value, name in pairs)
    kinds = {"FENCE": ["mtype"], "PTEPDE_RMW": ["mtype"], "PTEPDE_RMW.many": ["mtype"],
             "COPY_DIRTY_PAGE": ["dst_mtype", "src_mtype"], "COPY_PHYSICAL_LINEAR": ["dst_mtype", "src_mtype"]}
    for piece in kinds.get(form, []):
        yield piece, enumeration(path, r"\bMTYPE_(\w+?)\s*=\s*(0x[0-9a-f]+)")
    for piece in pieces:
        if piece.endswith("mall_policy"):
            # PAL's settings, which have the names, are not public; that they are what the hardware has is asserted here.
            asserted = r"static_assert\(SdmaMallPolicy(\w+) == (\d)"
            yield piece, enumeration(f"{PAL}/sdma/gfx12/gfx12DmaCmdBuffer.cpp", asserted)
        elif re.search(r"(l2|cache|^dst|^src)_policy\d?$", piece):
            # Of the three bits of a cache policy these are the lower two.
            yield piece, enumeration(path, r"\bGL2_CACHE_POLICY_(\w+?)\s*=\s*(0x[0-9a-f]+)")


def witnesses():
    """Where a second header of AMD's does not say what the first does, as comments."""
    for version, first, tags in (("5.0", LINUX5, ("nv10", "gfx10x")), ("6.0", LINUX6, ("gfx103Plus", "gfx11"))):
        for packet in PAL10:
            mine, theirs = clean(packet, first.get(packet, [])), of_pal10(packet, *tags)
            if not mine:
                yield f"{version} {packet}: PAL alone has it"
                continue
            for name in sorted(mine.keys() | theirs.keys()):
                left, right = ((words.get(name) or []) for words in (mine, theirs))
                shorter = min(len(left), len(right))
                if name not in theirs:
                    yield f"{version} {packet} {name}: Linux alone has it"
                elif name not in mine:
                    yield f"{version} {packet} {name}: PAL alone has it"
                elif left[:shorter] != right[:shorter] or any(left[shorter:]) or any(right[shorter:]):
                    yield f"{version} {packet} {name}: Linux and PAL have it at different bits"
    forms = {"COPY_LINEAR_RECT": ("COPY_LINEAR_SUBWIN", "4.0"), "COPY_LINEAR_RECT_GFX12": ("COPY_LINEAR_SUBWIN", "7.0"),
             "GCR": ("GCR_REQ", "6.0"), "TIMESTAMP": ("TIMESTAMP_GET_GLOBAL", "6.0")}
    for packet, members in ROCR_PACKETS.items():
        theirs, version = forms.get(packet, (packet, "5.0" if packet == "CONSTANT_FILL" else "6.0"))
        bits = [words for words in pieces_of(theirs, version).values()]
        bits += [words for words in pieces_of(theirs, "5.0").values()] if version != "7.0" else []
        for _, _, name, words in members:
            padded = [piece + [0] * (len(words) - len(piece)) for piece in bits]
            if not name.startswith(("reserved", "pad")) and words not in padded:
                yield f"{version} {theirs} {name}: ROCr alone has it so ({' '.join(f'{word:x}' for word in words)})"


def main():
    check_biases()
    print("# Made by tests/oracle/packets.py; see SOURCE.")
    for version in VERSIONS:
        own = {"4": CONSTANTS4, "5": CONSTANTS5, "6": CONSTANTS6, "7": PAL12_CONSTANTS}[version[0]]
        more = {"PTEPDE": CONSTANTS6["SDMA_OP_PTEPDE"]} if version == "7.0" else {}
        codes = {name[8:]: value for name, value in own.items() if name.startswith("SDMA_OP_") and "AQL" not in name}
        codes |= more
        print("names OPCODES", version, "op", " ".join(f"{name}={code:x}" for name, code in sorted(codes.items())))
    for line in FORMS.strip().splitlines():
        form, packet, dwords, versions, op, sub_op, one, zero, left_out = line.split()
        dwords, left_out = int(dwords), left_out.split(",")
        lines = collections.OrderedDict()

        def say(text, version):
            lines.setdefault(text, []).append(version)

        for version in SETS[versions]:
            pieces = pieces_of(packet, version)
            assert pieces, (form, version)
            if packet.startswith("AQL_"):
                head = {name: pieces.pop(name)[0] for name in ("format", "op", "subop")}
                mask = sum(head.values())
                value = constant(f"HEADER_{op}", version) | constant("SDMA_OP_AQL_COPY", version) << 16
            else:
                mask = pieces.pop("op")[0] | pieces.pop("sub_op", [0xff00])[0]
                value = constant(f"SDMA_OP_{op}", version)
                if sub_op != "-":
                    value |= constant(f"SDMA_SUBOP_{sub_op}", version) << 8
            for what, store in ((one, 1), (zero, 0)):
                if what != "-":
                    bits = fixed_piece(packet, what, version, store)
                    assert mask & bits == 0
                    mask |= bits
                    value |= bits if store else 0
                    pieces.pop(what.split(".")[-1], None)
            say(f"head {form} @ : {mask:x} {value:x}", version)
            kept = {}
            for name, words in sorted(pieces.items(), key=lambda item: (
                    [index for index, word in enumerate(item[1]) if word], max(item[1]), item[0])):
                words = words + [0] * (dwords - len(words))
                if name in left_out or any(words[dwords:]):
                    continue
                kept[name] = words[:dwords]
                say(f"piece {form} @ {name} : {' '.join(f'{word:x}' for word in words[:dwords])}", version)
            for parts in joins(list(kept)):
                say(f"join {form} @ {' '.join(f'{name}@{shift}' for name, shift in parts)}", version)
            if form in ("REGISTER_WRITE", "REGISTER_RMW.indexed"):
                # Linux writes the byte offset there, sdma_v7_0_ring_emit_wreg.
                say(f"join {form} @ addr@2", version)
            for name in BIAS.get(form, {}):
                assert name in kept
                say(f"bias {form} @ {name} 1", version)
            for name, values in names_of(form, version, kept):
                if name in kept:
                    say(f"names {form} @ {name} {values}", version)
        for text, where in lines.items():
            print(text.replace("@", ",".join(where), 1))
    print("# Where a second header of AMD's does not say what the first does:")
    for text in witnesses():
        print("#", text)


if __name__ == "__main__":
    main()
