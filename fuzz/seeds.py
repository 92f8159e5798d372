#!/usr/bin/env python3
"""Makes corpus/*/seed-* from the test data of the code-object loader."""
import pathlib
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
