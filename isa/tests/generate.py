#!/usr/bin/env python3
"""Makes tests/data/*.txt: random instruction encodings with LLVM's disassembly of each.

    isa/tests/generate.py            (needs llvm-mc-19, llvm-objdump-19, llvm-objdump-22)

Nothing here knows this crate's tables: every opcode number of every format is tried with random
operand fields and LLVM says which are instructions. A line of output is

    <dwords in hex, as many as LLVM consumed> <TAB> <LLVM's text>

with the text empty where LLVM rejects the encoding. Files are named for processor, wave size and
LLVM's version.
"""
import os, random, re, subprocess, sys, tempfile

STRIDE = 6  # dwords for each case: up to four of instruction, the rest of padding to resynchronise after it
S_NOP = 0xBF800000


def disassemble(cases, cpu, wave64=False, features="", version="19"):
    """LLVM's (text or None, dwords) for each case, a tuple of at most four dwords."""
    wave = "+wavefrontsize64,-wavefrontsize32" if wave64 else "+wavefrontsize32,-wavefrontsize64"
    if cpu.startswith("gfx9"):
        wave = "+wavefrontsize64"  # the only size
    with tempfile.TemporaryDirectory() as directory:
        source, binary = directory + "/a.s", directory + "/a.o"
        with open(source, "w") as f:
            for case in cases:
                words = list(case) + [S_NOP] * (STRIDE - len(case))
                f.write(".long " + ",".join(map(hex, words)) + "\n")
        triple = "--triple=amdgcn-amd-amdhsa"
        subprocess.run(["llvm-mc-19", triple, f"--mcpu={cpu}", "--filetype=obj", "-o", binary, source], check=True)
        listing = subprocess.run(
            [f"llvm-objdump-{version}", "-d", triple, f"--mcpu={cpu}", f"--mattr={wave}{features}", binary],
            check=True, capture_output=True, text=True).stdout
    results = [(None, 1)] * len(cases)
    for line in listing.splitlines():
        found = re.match(r"\s+(.*?)\s*// ([0-9A-F]{12}): ((?:[0-9A-F]{8} ?)+)", line)
        if not found or int(found[2], 16) % (STRIDE * 4):
            continue
        text, size = found[1].strip(), len(found[3].split())
        text = re.sub(r"\s+", " ", text)
        rejected = text.startswith((".long", ".byte")) or "<unknown>" in text
        results[int(found[2], 16) // (STRIDE * 4)] = (None if rejected else text, size)
    return results


class Fields:
    """Random operand fields, biased to what real code has."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def bits(self, n):
        return self.r.getrandbits(n)

    def chance(self, p):
        return self.r.random() < p

    def ssrc(self):
        kind = self.r.random()
        if kind < 0.45:
            return self.r.randrange(106)
        if kind < 0.70:
            return self.r.choice([*range(128, 209), *range(240, 249), 242, 244, 248])
        if kind < 0.90:
            return self.r.choice([106, 107, 108, 123, 124, 125, 126, 127, 235, 236, 237, 238, 253])
        if kind < 0.97:
            return 255
        return self.bits(8)

    def src(self):
        return 256 + self.vgpr() if self.chance(0.45) else self.ssrc()

    def literal(self):
        """Also values that inline constants have, which LLVM then prints like those."""
        if self.chance(0.7):
            return self.bits(32)
        return self.r.choice([
            0, 1, 63, 64, 65, 0xFFFFFFFF, 0xFFFFFFF0, 0xFFFFFFEF, 0xFFFF, 0xFFF0, 0xFFEF, 0x10001,
            0x3F000000, 0xBF800000, 0x40000000, 0xC0800000, 0x3E22F983, 0x3E22F982,
            0x3800, 0xBC00, 0x4000, 0xC400, 0x3118, 0x3C003C00, 0x3F80, 0x3FE00000, 0xBFF00000, 0x3FC45F30])

    def vgpr(self):
        return self.r.randrange(128) if self.chance(0.9) else self.bits(8)

    def sgpr(self):
        return self.r.choice([106, 124, 125, 126]) if self.chance(0.2) else self.r.randrange(106)

    def dpp(self):
        """A source code that announces DPP, and the DPP dword."""
        if self.chance(0.4):
            return self.r.choice([233, 234]), self.bits(24) << 8 | self.vgpr()
        control = self.r.choice([self.bits(8), 0x100 | self.bits(6), 0x140, 0x141, 0x150 | self.bits(4), 0x160 | self.bits(4)])
        if self.chance(0.05):
            control = self.bits(9)
        masks = 0xFF if self.chance(0.5) else self.bits(8)
        flags = self.bits(6) if self.chance(0.5) else 0
        return 250, masks << 24 | (flags & 0x3F) << 18 | control << 8 | self.vgpr()


def sop1(f, base):
    return (base | f.sgpr() << 16 | f.ssrc(), f.literal(), 0)


def sop2(f, base):
    return (base | f.sgpr() << 16 | f.ssrc() << 8 | f.ssrc(), f.literal(), 0)


def sopc(f, base):
    return (base | f.ssrc() << 8 | f.ssrc(), f.literal(), 0)


def sopk(f, base):
    return (base | (f.sgpr() if f.chance(0.6) else 124) << 16 | f.bits(16), f.literal(), 0)


def sopp(f, base):
    return (base | (f.bits(16) if f.chance(0.6) else f.bits(f.r.randrange(1, 16))), 0, 0)


def smem(f, base):
    offset = 0 if f.chance(0.2) else f.bits(21)
    soffset = 124 if f.chance(0.5) else f.sgpr()
    low = base | f.sgpr() << 6 | f.r.randrange(54) | f.chance(0.3) << 14 | f.chance(0.3) << 13
    return (low, offset | soffset << 25, 0)


def short(sources):
    def make(f, base):
        word, second = base, f.literal()
        if sources != "c":
            word |= (f.vgpr() if f.chance(0.97) else 106) << 17
        src0 = f.src()
        if f.chance(0.25):
            src0, second = f.dpp()
        if sources != "1":
            word |= f.vgpr() << 9
        return (word | src0, second, 0)
    return make


def vop3(f, base):
    count = f.r.randrange(4)
    sources = [f.src() if index < count else 0 for index in range(3)]
    if count and f.chance(0.3):
        sources[-1 if count == 3 and f.chance(0.5) else count - 1] = f.sgpr()
    third = f.literal()
    if count and f.chance(0.2):
        sources[0], third = f.dpp()
    first = base | (f.vgpr() if f.chance(0.7) else f.sgpr())
    second = sources[0] | sources[1] << 9 | sources[2] << 18
    style = f.r.random()
    if style < 0.3:  # modifiers
        first |= (f.bits(count) << 8) | f.chance(0.3) << 15
        second |= f.bits(count) << 29 | (f.bits(2) if f.chance(0.3) else 0) << 27
    elif style < 0.4:  # halves
        first |= (f.bits(count) | f.chance(0.5) << 3) << 11
    elif style < 0.6:  # a scalar destination
        first |= f.sgpr() << 8
    elif style < 0.65:
        first |= f.bits(8) << 8
        second |= f.bits(5) << 27
    return (first, second, third)


def vop3p(f, base):
    count = f.r.choice([2, 3])
    sources = [f.src() if index < count else 0 for index in range(3)]
    if f.chance(0.2):
        sources = [256 + f.vgpr() for _ in range(3)]
    third = f.literal()
    if f.chance(0.15):
        sources[0], third = f.dpp()
    first = base | f.vgpr()
    second = sources[0] | sources[1] << 9 | sources[2] << 18
    if f.chance(0.5):
        first |= 1 << 14
        second |= 3 << 27
    else:
        first |= f.bits(8) << 8
        second |= f.bits(5) << 27
    return (first, second, third)


def matrix(f, base):
    """V_WMMA and V_SWMMAC, whose unused modifiers must have their neutral value."""
    sources = [256 + f.vgpr() if f.chance(0.95) else f.src() for _ in range(2)]
    sources.append(f.src() if f.chance(0.2) else 256 + f.vgpr())
    first = base | f.vgpr() | 1 << 14 | (f.bits(2) << 11 if f.chance(0.5) else 0)
    second = sources[0] | sources[1] << 9 | sources[2] << 18 | 3 << 27
    if f.chance(0.6):
        first |= f.bits(3) << 8 if f.chance(0.5) else 0
        first |= f.chance(0.3) << 15
        second |= f.bits(3) << 29
    return (first, second, f.literal())


def vinterp(f, base):
    sources = [256 + f.vgpr() for _ in range(3)]
    first = base | f.vgpr() | f.bits(3) << 8 | (f.bits(5) << 11 if f.chance(0.3) else 0)
    return (first, sources[0] | sources[1] << 9 | sources[2] << 18 | f.bits(3) << 29, 0)


def vopd(f, base):
    second = f.vgpr() << 24 | f.bits(7) << 17 | f.vgpr() << 9 | f.src()
    return (base | f.bits(5) << 17 | f.vgpr() << 9 | f.src(), second, f.literal())


def ds(f, base):
    offset = 0 if f.chance(0.3) else f.bits(16)
    if f.chance(0.1):
        offset &= 0xFF
    used = f.bits(4)
    second = sum((f.vgpr() if used >> index & 1 else 0) << (8 * index) for index in range(4))
    return (base | f.chance(0.3) << 17 | offset, second, 0)


def flat(f, base):
    offset = 0 if f.chance(0.3) else f.bits(13)
    if not base & 0x30000 and f.chance(0.98):  # FLAT offsets have 12 bits
        offset &= 0xFFF
    saddr = 124 if f.chance(0.5) else f.sgpr()
    used = f.bits(4)
    addr, data, vdst = ((f.vgpr() if used >> index & 1 or f.chance(0.5) else 0) for index in range(3))
    cache = f.bits(3) << 13 if f.chance(0.4) else 0
    return (base | cache | offset, vdst << 24 | f.chance(0.4) << 23 | saddr << 16 | data << 8 | addr, 0)




def mubuf(f, base):
    offset = 0 if f.chance(0.3) else f.bits(12)
    soffset = 124 if f.chance(0.3) else f.ssrc()
    addressing = f.bits(2) if f.chance(0.7) else 0
    second = soffset << 24 | addressing << 22 | f.chance(0.05) << 21 | f.r.randrange(27) << 16 | f.vgpr() << 8
    if addressing or f.chance(0.3):
        second |= f.vgpr()
    return (base | offset | (f.bits(3) << 12 if f.chance(0.4) else 0), second, 0)


def mtbuf(f, base):
    """MUBUF's fields and a format; no literal as an offset, and no tfe, which LLVM 19 lacks here."""
    low, second, _ = mubuf(f, base)
    if second >> 24 == 255:
        second = second & 0xFFFFFF | 124 << 24
    second &= ~(1 << 21)
    return (low | (f.bits(7) if f.chance(0.7) else 0) << 19, second, 0)


def smem12(f, base):
    """gfx12: a 24-bit offset, scope and temporal hint."""
    offset = 0 if f.chance(0.2) else f.bits(24)
    soffset = 124 if f.chance(0.5) else f.sgpr()
    cache = f.bits(4) << 21 if f.chance(0.4) else 0
    low = base | cache | f.sgpr() << 6 | f.r.randrange(54)
    return (low, offset | soffset << 25, 0)


def flat12(f, base):
    """VFLAT, VSCRATCH, VGLOBAL: an offset of 24 bits in a third dword."""
    offset = 0 if f.chance(0.3) else f.bits(24)
    saddr = 124 if f.chance(0.5) or base >> 24 == 0xEC else f.sgpr()
    used = f.bits(4)
    addr, data, vdst = ((f.vgpr() if used >> index & 1 or f.chance(0.5) else 0) for index in range(3))
    cache = f.bits(5) << 18 if f.chance(0.4) else 0
    return (base | saddr, data << 23 | cache | f.chance(0.4) << 17 | vdst, offset << 8 | addr)


def vbuffer(f, base):
    offset = 0 if f.chance(0.3) else f.bits(23)
    soffset = 124 if f.chance(0.3) else f.sgpr()
    addressing = f.bits(2) if f.chance(0.7) else 0
    srsrc = f.r.randrange(27) * 4 if f.chance(0.95) else f.r.randrange(128)
    cache = f.bits(5) << 18 if f.chance(0.4) else 0
    tfe = f.chance(0.05) << 22
    vaddr = f.vgpr() if addressing or f.chance(0.3) else 0
    return (base | tfe | soffset, addressing << 30 | 1 << 23 | cache | srsrc << 9 | f.vgpr(), offset << 8 | vaddr)


def vbuffer_typed(f, base):
    """A format in the place of the bit that untyped buffers have set; no tfe, which LLVM 19 lacks here."""
    low, second, third = vbuffer(f, base)
    return (low & ~(1 << 22), second & ~(1 << 23) | (f.bits(7) if f.chance(0.7) else 0) << 23, third)


def gfx9_ssrc(f):
    """Codes of gfx9, whose registers above s101 are FLAT_SCRATCH, XNACK_MASK, VCC, trap temporaries, M0."""
    kind = f.r.random()
    if kind < 0.45:
        return f.r.randrange(102)
    if kind < 0.70:
        return f.r.choice([*range(128, 209), *range(240, 249), 242, 244, 248])
    if kind < 0.90:
        return f.r.choice([102, 103, 104, 106, 106, 107, 108, 123, 124, 124, 126, 126, 127, 235, 236, 237, 238, 251, 252, 253])
    if kind < 0.97:
        return 255
    return f.bits(8)


def gfx9_sgpr(f):
    return f.r.choice([102, 106, 124, 126]) if f.chance(0.2) else f.r.randrange(102)


def gfx9_src(f):
    return 256 + f.vgpr() if f.chance(0.6) else gfx9_ssrc(f)


def gfx9_dpp(f):
    control = f.r.choice([f.bits(8), f.bits(8), 0x100 | f.bits(6), 0x130 | f.bits(2) << 2, 0x140, 0x141, 0x142, 0x143, 0x150 | f.bits(4)])
    if f.chance(0.05):
        control = f.bits(9)
    masks = 0xFF if f.chance(0.5) else f.bits(8)
    flags = f.bits(6) if f.chance(0.5) else 0
    return 250, masks << 24 | (flags & 0x3E) << 18 | control << 8 | f.vgpr()


def gfx9_sdwa(f, compare):
    def source():
        scalar = f.chance(0.2)
        modifiers = f.bits(3) if f.chance(0.4) else 0
        selection = f.r.randrange(7)  # 7 crashes LLVM's disassembler
        return (gfx9_sgpr(f) if scalar else f.vgpr()), selection | modifiers << 3 | scalar << 7
    (register, first), (_, second) = source(), source()
    if compare:
        middle = (0x80 | gfx9_sgpr(f)) if f.chance(0.5) else 0
    else:
        middle = f.r.randrange(7) | f.r.randrange(3) << 3
        middle |= (f.bits(3) if f.chance(0.3) else 0) << 5
    return 249, second << 24 | first << 16 | middle << 8 | register


def gfx9_scalar(count):
    def make(f, base):
        word = base | gfx9_ssrc(f)
        if count != 1:
            word |= gfx9_ssrc(f) << 8
        if count != 0:
            word |= gfx9_sgpr(f) << 16
        return (word, f.literal(), 0)
    return make


def gfx9_sopk(f, base):
    return (base | gfx9_sgpr(f) << 16 | f.bits(16), f.literal(), 0)


def gfx9_smem(f, base):
    style, offset = f.bits(2), 0 if f.chance(0.2) else f.bits(21)
    if not style & 1:
        offset = gfx9_sgpr(f)
    low = base | gfx9_sgpr(f) << 6 | f.r.randrange(51) | f.chance(0.3) << 16 | (style & 1) << 17 | (style >> 1) << 14
    return (low, offset | (gfx9_sgpr(f) << 25 if style & 2 else 0), 0)


def gfx9_short(sources):
    def make(f, base):
        word, second = base, f.literal()
        src0 = gfx9_src(f)
        kind = f.r.random()
        if kind < 0.2:
            src0, second = gfx9_dpp(f)
        elif kind < 0.45:
            src0, second = gfx9_sdwa(f, sources == "c")
        if sources != "c":
            word |= (f.vgpr() if f.chance(0.97) else 106) << 17
        if sources != "1":
            word |= f.vgpr() << 9
        return (word | src0, second, 0)
    return make


def gfx9_vop3(f, base):
    count = f.r.randrange(4)
    sources = [(256 + f.vgpr() if f.chance(0.7) else gfx9_src(f)) if index < count else 0 for index in range(3)]
    if count and f.chance(0.3):
        sources[-1 if count == 3 and f.chance(0.5) else count - 1] = gfx9_sgpr(f)
    first = base | (f.vgpr() if f.chance(0.7) else gfx9_sgpr(f))
    second = sources[0] | sources[1] << 9 | sources[2] << 18
    style = f.r.random()
    if style < 0.3:  # modifiers
        first |= (f.bits(count) << 8) | f.chance(0.3) << 15
        second |= f.bits(count) << 29 | (f.bits(2) if f.chance(0.3) else 0) << 27
    elif style < 0.4:  # halves
        first |= (f.bits(count) | f.chance(0.5) << 3) << 11
    elif style < 0.6:  # a scalar destination
        first |= gfx9_sgpr(f) << 8
    return (first, second, 0)


def gfx9_vop3p(f, base):
    count = f.r.choice([1, 2, 3, 3, 3])
    even = f.chance(0.7)  # tuples begin at even registers from gfx90a on
    register = lambda: f.vgpr() & ~even
    source = lambda: 256 + register() if f.chance(0.75) else gfx9_src(f) & ~(even and 1)
    sources = [source() if index < count else 0 for index in range(3)]
    first = base | register()
    second = sources[0] | sources[1] << 9 | sources[2] << 18
    style = f.r.random()
    if style < 0.4:
        first |= 1 << 14
        second |= 3 << 27
    elif style < 0.7:
        first |= f.bits(8) << 8
        second |= f.bits(5) << 27
    elif style < 0.8:  # registers of accumulation
        first |= f.chance(0.5) << 15
        second |= f.bits(2) << 27
    return (first, second, 0)


def gfx950_scaled(f, base):
    """V_MFMA_SCALE: V_MFMA_LD_SCALE_B32 and the operation it is for."""
    scale = lambda: 256 + f.vgpr() if f.chance(0.9) else gfx9_sgpr(f)
    first, second = base, scale() | scale() << 9
    if f.chance(0.7):
        first |= f.bits(2) << 11
        second |= f.bits(2) << 27
    elif f.chance(0.3):
        first |= f.bits(8) << 8
        second |= f.bits(14) << 18
    third, fourth, _ = gfx9_vop3p(f, base + (f.r.choice([1, 2]) << 16))
    fourth |= 1 << 8 | 1 << 17  # constants crash LLVM's disassembler, as any literal does
    if fourth >> 18 & 0x1FF == 255:
        fourth |= 1 << 26
    if f.chance(0.9):
        third = third & ~0x7F00 | 0x0800 | f.r.randrange(5) << 8
        fourth = fourth & ~(7 << 29) | f.r.randrange(5) << 29
    return (first, second, third, fourth)


def gfx9_ds(f, base):
    offset = 0 if f.chance(0.3) else f.bits(16)
    if f.chance(0.1):
        offset &= 0xFF
    used, even = f.bits(4), ~f.chance(0.8)
    second = sum((f.vgpr() & even if used >> index & 1 else 0) << (8 * index) for index in range(4))
    return (base | f.chance(0.3) << 16 | f.chance(0.2) << 25 | offset, second, 0)


def gfx9_flat(f, base):
    offset = 0 if f.chance(0.3) else f.bits(13)
    if not base & 0xC000 and f.chance(0.95):
        offset &= 0xFFF
    saddr = 127 if f.chance(0.5) else gfx9_sgpr(f)
    if not base & 0xC000 and f.chance(0.9):  # FLAT has none
        saddr = 0
    used, even = f.bits(4), ~f.chance(0.8)
    addr, data, vdst = ((f.vgpr() & even if used >> index & 1 or f.chance(0.5) else 0) for index in range(3))
    cache = f.bits(2) << 16 | f.chance(0.3) << 25 if f.chance(0.4) else 0
    return (base | cache | f.chance(0.05) << 13 | offset, vdst << 24 | f.chance(0.2) << 23 | saddr << 16 | data << 8 | addr, 0)


def gfx9_buffer(bits):
    def make(f, base):
        offset = 0 if f.chance(0.3) else f.bits(12)
        soffset = gfx9_ssrc(f)
        addressing = f.bits(2) if f.chance(0.7) else 0
        second = soffset << 24 | f.r.randrange(25) << 16 | (f.vgpr() & ~f.chance(0.8)) << 8
        if addressing or f.chance(0.3):
            second |= f.vgpr() & ~1
        if f.chance(0.3):  # cache policy, and the high bits of the second dword
            second |= f.bits(3) << 21
            base |= f.r.choice([f.bits(bits) << 14 & ~(1 << 16), 1 << 14, 1 << 17, 1 << 15]) if bits else f.bits(1) << 14
        elif bits and f.chance(0.1):
            base |= 1 << 16
        return (base | offset | addressing << 12 | (0 if bits else f.bits(7) << 19), second, 0)
    return make

def gfx10_smem(f, base):
    """The policy bits glc and dlc at 16 and 14, null at 125."""
    low, second, _ = smem(f, base)
    second += (second >> 25 == 124) << 25
    cache = f.chance(0.3) << 16 | f.chance(0.3) << 14
    return (low & ~0x6000 | cache, second, 0)


def gfx10_short(sources):
    """DPP, or SDWA as on gfx9 with the registers of gfx11."""
    plain = short(sources)

    def make(f, base):
        word, second, _ = plain(f, base)
        if f.chance(0.25):
            src0, second = gfx9_sdwa(f, sources == "c")
            if sources == "1" and f.chance(0.9):
                second &= 0xFFFFFF  # no second source
            word = word & ~0x1FF | src0
        return (word, second, 0)
    return make


def gfx10_flat(f, base):
    """Twelve bits of offset, of FLAT eleven."""
    offset = 0 if f.chance(0.3) else f.bits(12)
    if not base & 0xC000 and f.chance(0.98):
        offset &= 0x7FF
    saddr = f.r.choice([125, 125, 125, 127]) if f.chance(0.5) else f.sgpr()
    used = f.bits(4)
    addr, data, vdst = ((f.vgpr() if used >> index & 1 or f.chance(0.5) else 0) for index in range(3))
    cache = f.bits(2) << 16 | f.chance(0.5) << 12 if f.chance(0.4) else 0
    lds = f.chance(0.1) << 13
    return (base | cache | lds | offset, vdst << 24 | f.chance(0.05) << 23 | saddr << 16 | data << 8 | addr, 0)


def gfx10_buffer(typed):
    def make(f, base):
        offset = 0 if f.chance(0.3) else f.bits(12)
        soffset = 125 if f.chance(0.3) else f.ssrc()
        addressing = f.bits(2) if f.chance(0.7) else 0
        second = soffset << 24 | f.r.randrange(27) << 16 | f.vgpr() << 8
        if addressing or f.chance(0.3):
            second |= f.vgpr()
        if f.chance(0.4):  # glc, dlc; slc
            base |= f.bits(2) << 14
            second |= f.chance(0.5) << 22
        second |= f.chance(0.05) << 23  # tfe
        if typed:
            base |= (f.bits(7) if f.chance(0.7) else 0) << 19
            second |= f.bits(1) << 21  # the opcode's highest bit
        elif f.chance(0.1):
            base |= 1 << 16  # lds
        return (base | offset | addressing << 12, second, 0)
    return make


# name: first opcode number's dword, opcode shift and width, maker, cases kept
FORMATS = {
    "sop1": (0xBE800000, 8, 8, sop1, 5),
    "sop2": (0x80000000, 23, 7, sop2, 6),
    "sopc": (0xBF000000, 16, 7, sopc, 5),
    "sopk": (0xB0000000, 23, 5, sopk, 8),
    "sopp": (0xBF800000, 16, 7, sopp, 12),
    "smem": (0xF4000000, 18, 8, smem, 10),
    "vop1": (0x7E000000, 9, 8, short("1"), 8),
    "vop2": (0x00000000, 25, 6, short("2"), 10),
    "vopc": (0x7C000000, 17, 8, short("c"), 4),
    "vop3": (0xD4000000, 16, 10, vop3, 9),
    "vop3p": (0xCC000000, 16, 7, vop3p, 16),
    "vinterp": (0xCD000000, 16, 7, vinterp, 6),
    "vopd": (0xC8000000, 22, 4, vopd, 100),
    "ds": (0xD8000000, 18, 8, ds, 6),
    "flat": (0xDC000000, 18, 7, flat, 5),
    "scratch": (0xDC010000, 18, 7, flat, 9),
    "global": (0xDC020000, 18, 7, flat, 6),
    "mubuf": (0xE0000000, 18, 8, mubuf, 6),
    "mtbuf": (0xE8000000, 15, 4, mtbuf, 24),
}

# gfx12: the memory formats but DS are encoded anew.
FORMATS_GFX12 = {
    **{name: format for name, format in FORMATS.items() if name not in ("smem", "flat", "scratch", "global", "mubuf", "mtbuf")},
    "matrix": (0xCC400000, 16, 5, matrix, 20),
    "smem": (0xF4000000, 13, 6, smem12, 12),
    "vflat": (0xEC000000, 14, 8, flat12, 6),
    "vscratch": (0xED000000, 14, 8, flat12, 9),
    "vglobal": (0xEE000000, 14, 8, flat12, 7),
    "vbuffer": (0xC4000000, 14, 7, vbuffer, 6),
    "vbuffer typed": (0xC4200000, 14, 4, vbuffer_typed, 24),
}

# gfx9, whose vector formats have no wave32.
FORMATS_GFX9 = {
    "sop1": (0xBE800000, 8, 8, gfx9_scalar(1), 5),
    "sop2": (0x80000000, 23, 7, gfx9_scalar(2), 6),
    "sopc": (0xBF000000, 16, 7, gfx9_scalar(0), 5),
    "sopk": (0xB0000000, 23, 5, gfx9_sopk, 8),
    "sopp": (0xBF800000, 16, 7, sopp, 12),
    "smem": (0xC0000000, 18, 8, gfx9_smem, 8),
    "vop1": (0x7E000000, 9, 8, gfx9_short("1"), 12),
    "vop2": (0x00000000, 25, 6, gfx9_short("2"), 16),
    "vopc": (0x7C000000, 17, 8, gfx9_short("c"), 6),
    "vop3": (0xD0000000, 16, 10, gfx9_vop3, 8),
    "vop3p": (0xD3800000, 16, 7, gfx9_vop3p, 16),
    "ds": (0xD8000000, 17, 8, gfx9_ds, 6),
    "flat": (0xDC000000, 18, 7, gfx9_flat, 6),
    "scratch": (0xDC004000, 18, 7, gfx9_flat, 9),
    "global": (0xDC008000, 18, 7, gfx9_flat, 6),
    "mubuf": (0xE0000000, 18, 7, gfx9_buffer(4), 8),
    "mtbuf": (0xE8000000, 15, 4, gfx9_buffer(0), 24),
}

# gfx10: scalar formats as on gfx11, others between gfx9 and gfx11. Typed buffers' highest opcode bit is elsewhere.
FORMATS_GFX10 = {
    **{name: FORMATS[name] for name in ("sop1", "sop2", "sopc", "sopk", "sopp", "vop3", "vop3p", "ds")},
    "smem": (0xF4000000, 18, 8, gfx10_smem, 8),
    "vop1": (0x7E000000, 9, 8, gfx10_short("1"), 12),
    "vop2": (0x00000000, 25, 6, gfx10_short("2"), 16),
    "vopc": (0x7C000000, 17, 8, gfx10_short("c"), 6),
    "flat": (0xDC000000, 18, 7, gfx10_flat, 6),
    "scratch": (0xDC004000, 18, 7, gfx10_flat, 9),
    "global": (0xDC008000, 18, 7, gfx10_flat, 6),
    "mubuf": (0xE0000000, 18, 8, gfx10_buffer(False), 6),
    "mtbuf": (0xE8000000, 16, 3, gfx10_buffer(True), 60),
}

FORMATS_GFX950 = {**FORMATS_GFX9, "vop3px": (0xD3AC0000, 0, 0, gfx950_scaled, 300)}

# Operations of gfx12 that LLVM 19 does not know: format and number.
LATER_GFX12 = [("sop1", 83), ("vop3", 784), ("vopd", 12), ("vopd", 13), ("ds", 20), ("ds", 205)]


def only(formats, format, number):
    """One operation of a format."""
    base, shift, _, make, wanted = formats[format]
    return base | number << shift, shift, 0, make, wanted


def write(path, cpu, wave64, scale, formats=FORMATS, features="", version="19", keep=None):
    lines = []
    for name in formats:
        base, shift, width, make, wanted = formats[name]
        wanted = max(1, int(wanted * scale))
        fields = Fields(f"{path} {name}")
        cases = []
        for number in range(1 << width):
            word = base | number << shift
            if name == "vop3" and base == 0xD0000000 and word >> 23 == 0x1A7:
                continue  # VOP3P
            if name == "sop2" and word >> 28 >= 0xB or name == "sopk" and word >> 23 >= 0x17D or name == "vop2" and number >= 0x3E:
                continue  # another format's prefix
            # LLVM has some operations without operands only if all else is zero
            if base >> 16 != 0xD3AC and cpu.startswith("gfx9"):
                cases += [(number, (word | bits, 0, 0)) for bits in (0, 1 << 16)]
            if formats is FORMATS_GFX10:
                cases.append((number, (word, 0, 0)))
            cases += [(number, make(fields, word)) for _ in range(wanted * 12)]
        results = disassemble([case for _, case in cases], cpu, wave64, features, version)
        accepted, rejected, marked = {}, {}, {}
        lines.append(f"# {name}")
        for (number, case), (text, size) in zip(cases, results):
            if keep and not (text and keep(text)):
                continue
            seen, limit = accepted, wanted
            if text is None or "/*" in text:  # LLVM marks operands it does not believe in a comment
                seen, limit = rejected if text is None else marked, 1 + wanted // 8
            seen[number] = seen.get(number, 0) + 1
            if seen[number] <= limit:
                words = case if text is None else case[:size]
                lines.append(" ".join(f"{word:08x}" for word in words) + "\t" + (text or ""))
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", path), "w") as f:
        f.write("\n".join(lines) + "\n")
    print(path, sum("\t" in line for line in lines), file=sys.stderr)


def main():
    write("gfx1151.wave32.llvm19.txt", "gfx1151", False, 1.0)
    write("gfx1151.wave64.llvm19.txt", "gfx1151", True, 0.3)
    write("gfx1100.wave32.llvm19.txt", "gfx1100", False, 0.3)
    write("gfx1201.wave32.llvm19.txt", "gfx1201", False, 1.0, FORMATS_GFX12)
    write("gfx1201.wave64.llvm19.txt", "gfx1201", True, 0.3, FORMATS_GFX12)
    write("gfx1200.wave32.llvm19.txt", "gfx1200", False, 0.3, FORMATS_GFX12)
    write("gfx1200.wave64.llvm19.txt", "gfx1200", True, 0.1, FORMATS_GFX12)
    later = {f"{format} {number}": only(FORMATS_GFX12, format, number) for format, number in LATER_GFX12}
    write("gfx1201.later.llvm22.txt", "gfx1201", False, 1.0, later, version="22")
    write("gfx1030.wave32.llvm19.txt", "gfx1030", False, 0.6, FORMATS_GFX10)
    write("gfx1030.wave64.llvm19.txt", "gfx1030", True, 0.2, FORMATS_GFX10)
    write("gfx906.llvm19.txt", "gfx906", True, 0.5, FORMATS_GFX9)
    write("gfx908.llvm19.txt", "gfx908", True, 0.3, FORMATS_GFX9)
    write("gfx90a.llvm19.txt", "gfx90a", True, 0.6, FORMATS_GFX9)
    write("gfx942.llvm19.txt", "gfx942", True, 0.6, FORMATS_GFX9)
    write("gfx950.llvm22.txt", "gfx950", True, 0.6, FORMATS_GFX950, version="22")
    # Halves of 16-bit registers, which LLVM 19 takes for an invalid register or ignores.
    halves = re.compile(r"v\d+\.h|op_sel")
    short = {name: FORMATS[name] for name in ("vop1", "vop2", "vopc", "vop3")}
    write("gfx1151.true16.llvm22.txt", "gfx1151", False, 0.5, short, version="22", keep=halves.search)
    write("gfx1201.true16.llvm22.txt", "gfx1201", False, 0.5, short, ",+real-true16", "22", halves.search)


if __name__ == "__main__":
    main()
