#!/usr/bin/env python3
"""Makes corpus/*/seed-* from the test data of the code-object loader and of the decoder."""
import pathlib
import re
import struct

here = pathlib.Path(__file__).parent
data = here.parent / "tests/data/code"


def seed(target, name, contents):
    folder = here / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"seed-{name}").write_bytes(contents)


def notes(elf):
    """Contents of the metadata notes of the PT_NOTE segments."""
    offset, count = struct.unpack_from("<Q", elf, 32)[0], struct.unpack_from("<H", elf, 56)[0]
    for i in range(count):
        kind, _, at, _, _, size = struct.unpack_from("<IIQQQQ", elf, offset + 56 * i)
        end = at + size
        while kind == 4 and at + 12 <= end:
            name, length, _ = struct.unpack_from("<III", elf, at)
            at += 12 + (name + 3) // 4 * 4
            yield elf[at:at + length]
            at += (length + 3) // 4 * 4


for name in ("vadd-gfx1151-v6.co", "globals-gfx1151-v5.co", "globals-stripped.co", "hidden-gfx90a-v4.co",
             "store-gfx906-v3.co", "vadd-gfx1151-v5.o", "calls-gfx1151-v5.o"):
    seed("code_object", name, (data / name).read_bytes())
for name in ("vadd-gfx1151-v5.co", "hidden-gfx90a-v4.co"):
    for i, note in enumerate(notes((data / name).read_bytes())):
        seed("metadata", f"{name}-{i}", note)
for name in ("zstd-v2.hipfb", "zstd-v3.hipfb", "libhost.so", "vadd-gfx11-generic-v6.co"):
    seed("bundle", name, (data / name).read_bytes())
small = (data / "globals-stripped.co").read_bytes()
ident = b"hipv4-amdgcn-amd-amdhsa--gfx1151"
table = 32 + 24 + len(ident)
seed("bundle", "plain", b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<QQQQ", 1, table, len(small), len(ident)) + ident + small)
seed("topology", "node", b"""cpu_cores_count 0
simd_count 80
mem_banks_count 1
caches_count 66
io_links_count 1
gfx_target_version 110501
vendor_id 4098
device_id 5510
capability 2147484288
unique_id 0
num_xcc 1
max_engine_clk_fcompute 2900
local_mem_size 0
a_new_key 42
""")
seed("topology", "bank", b"heap_type 2\nsize_in_bytes 17163091968\nflags 0\nwidth 256\nmem_clk_max 1000\n")
seed("topology", "cache", b"processor_id_low 2147487744\nlevel 1\nsize 32\ncache_line_size 128\ntype 9\nsibling_map 1,1,0,0\n")
seed("topology", "link", b"type 2\nversion_major 0\nnode_from 1\nnode_to 0\nweight 20\nmin_latency 0\nmax_bandwidth 312\nflags 1\n")


def code(elf):
    """The contents of .text."""
    sections, size, count, names = struct.unpack_from("<Q", elf, 40)[0], *struct.unpack_from("<HHH", elf, 58)
    headers = [struct.unpack_from("<IIQQQQ", elf, sections + size * i) for i in range(count)]
    for name, _, _, _, at, length in headers:
        start = headers[names][4] + name
        if elf[start:elf.index(b"\0", start)] == b".text":
            return elf[at:at + length]


# Machine code: the kernels', cut where it gets long. Their waves soon lose their way, as nothing here is what they expect.
# The numbers are places in selvedge_sim::profile::names().
for target, machine in {"gfx1151": 0, "gfx1100": 1, "gfx1201": 2, "gfx90a": 4, "gfx906": 5, "gfx1030": 6}.items():
    for wave32, size in ((0, "wave64"),) if target.startswith("gfx9") else ((1, "wave32"), (0, "wave64")):
        for name in ("integer", "half", "f64math", "k05_atomics", "k09_diverge", "wave_reduce", "lds_widths", "calls"):
            path = here.parent / f"kernels/objects/{target}/v5/{size}/{name}.hsaco"
            head = bytes([machine, wave32 | 2]) + struct.pack("<Q", 0x5e1ed6e)
            seed("shader", f"{target}-{size}-{name}", head + code(path.read_bytes())[:2048])
            if name in ("k05_atomics", "lds_widths"):  # with all checks and the watchdog
                head = bytes([machine, wave32 | 2 | 0xc0]) + struct.pack("<Q", 0x5e1ed6e)
                seed("shader", f"{target}-{size}-{name}-checked", head + code(path.read_bytes())[:2048])


# Command streams. What the bytes in front mean is said at the top of each target.
def dwords(*words):
    return struct.pack(f"<{len(words)}I", *words)


posted = (here.parent / "tests/data/streams/10-pm4-words-from-rings-and-captures.txt").read_text()
line = next(line for line in posted.splitlines() if "full compute dispatch" in line)
line = re.sub("<[^>]*>", "00001000", line.split(": ", 1)[1])
DISPATCH = dwords(*(int(word, 16) for word in re.findall(r"\b[0-9A-F]{8}\b", line)), 0, 0)
IB = dwords(0xc0023f00, 0x1000, 0, 0x00800000 | len(DISPATCH) // 4)
PAIRS = dwords(0xc004bb00, 2, 0x020d020c, 0x123456, 1, 0)
NOPS = dwords(0xffff1000, 0x80000000, 0xc0011000, 0xc0064900, 0)
TYPE0 = dwords(0x00012e0c, 1, 2)
COPY = dwords(1, 0x3f, 0, 0x1000, 0x7f, 0x2000, 0x7f)
FENCE = dwords(5, 0x4000, 0x7f, 7)
WRITE = dwords(2, 0x5000, 0x7f, 1, 0xaa, 0xbb)
INDIRECT = dwords(4, 0x1000, 0, 7, 0, 0)
KERNEL = dwords(0x00031502, 0x00010100, 1, 4096, 1, 1, 0, 0, 0x40, 0x7f, 0x10000, 0x7f, 0, 0, 0x1000, 0x7f)
BARRIER = dwords(0x1503, 0, 0x40, 0x7f, *[0] * 12)
PM4_IB = dwords(0x00011500, 0xc0023f00, 0x1000, 0, 0x00800000 | len(DISPATCH) // 4, 10, *[0] * 10)
INVALID = dwords(1, *[0] * 15)
VALUES = bytes(range(256))

GFX906, GFX115, GFX12 = 0, 8, 9  # places in Generation::ALL
SDMA4, SDMA6, SDMA7 = 0, 5, 7  # places in Version::ALL
for name, generation in ("gfx906", GFX906), ("gfx11.5", GFX115), ("gfx12", GFX12):
    seed("pm4", f"stream-{name}", bytes([generation, 0]) + IB + NOPS + TYPE0 + PAIRS)
    seed("pm4", f"values-{name}", bytes([generation, 1]) + VALUES)
seed("pm4", "dispatch", bytes([GFX115, 0]) + DISPATCH)
for name, version in ("4.0", SDMA4), ("6.0", SDMA6), ("7.0", SDMA7):
    seed("sdma", f"stream-{name}", bytes([version, 0]) + COPY + FENCE + WRITE + INDIRECT)
    seed("sdma", f"values-{name}", bytes([version, 1]) + VALUES)
seed("aql", "packets", b"\0" + KERNEL + BARRIER + PM4_IB + INVALID)
seed("aql", "ring", b"\1" + struct.pack("<QQ", 7, 3) + KERNEL + BARRIER + PM4_IB + INVALID)
seed("aql", "values", b"\2" + VALUES)


def request(engine, file, ring=None, everything=False, memory=b"", address=0x1000, base=False):
    """The input of the target `decode`."""
    read, write = ring or (0, 0)
    choices = bytes([engine, GFX115, SDMA6, ring is not None, everything, 4, 4, base])
    return choices + struct.pack("<QQQH", read, write, address, len(memory)) + memory + file


PM4, AQL, SDMA = range(3)
text = " ".join(f"0x{word:08x}" for word, in struct.iter_unpack("<I", IB + NOPS))
seed("decode", "pm4", request(PM4, IB + DISPATCH, memory=DISPATCH))
seed("decode", "pm4-text", request(PM4, f"# a call\n{text}\n".encode()))
seed("decode", "pm4-cycle", request(PM4, IB, base=True, memory=IB))
seed("decode", "pm4-ring", request(PM4, dwords(0x407, *[0x80000000] * 14, 0xc0004600), ring=(15, 17), everything=True))
seed("decode", "sdma", request(SDMA, COPY + INDIRECT, memory=WRITE + dwords(6, 0)))
seed("decode", "sdma-ring", request(SDMA, FENCE + dwords(*[0] * 12), ring=(0, 16), everything=True))
seed("decode", "aql-ring", request(AQL, PM4_IB + INVALID + KERNEL + BARRIER, ring=(2, 6), everything=True, memory=DISPATCH))
