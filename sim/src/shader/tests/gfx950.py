#!/usr/bin/env python3
"""Makes gfx950.txt: conversions with a scale, and others of gfx950, with their results.

    sim/src/shader/tests/gfx950.py            (needs llvm-mc-22)

Results are computed with exact fractions from the definitions of the formats ("OCP Microscaling Formats (MX)
Specification" 1.0) and from AMD's pseudocode; rounding by chance as ROCm's amd_hip_ocp_host.hpp describes it. Nothing
here knows the simulator. A line of output is

    <assembly> <TAB> <dwords> <TAB> <registers before, as v<n>=<hex>> <TAB> <registers after>
"""
import os, random, re, struct, subprocess
from fractions import Fraction

R = random.Random("gfx950")
# name: bits of exponent, bits of fraction, whether the last exponent's last value only, all of it, or none is no number
SMALL = {"fp8": (4, 3, "last"), "bf8": (5, 2, "all"), "fp6": (2, 3, ""), "bf6": (3, 2, ""), "fp4": (2, 1, "")}
WIDE = {"f32": (8, 23, "all"), "f16": (5, 10, "all"), "bf16": (8, 7, "all")}
FORMATS = {**SMALL, **WIDE}


def width(name):
    return 1 + sum(FORMATS[name][:2])


def decode(name, bits):
    """A number, or "nan", "inf", "-inf"; and the sign."""
    exponent_bits, fraction_bits, special = FORMATS[name]
    sign, magnitude = bits >> (width(name) - 1), bits & ((1 << (width(name) - 1)) - 1)
    exponent, fraction = magnitude >> fraction_bits, magnitude & ((1 << fraction_bits) - 1)
    if special == "all" and exponent == (1 << exponent_bits) - 1:
        return ("nan" if fraction else "inf"), sign
    if special == "last" and magnitude == (1 << (width(name) - 1)) - 1:
        return "nan", sign
    bias = (1 << (exponent_bits - 1)) - 1
    value = Fraction(fraction + (exponent > 0) * (1 << fraction_bits)) * Fraction(2) ** (max(exponent, 1) - bias - fraction_bits)
    return (-value if sign else value), sign


def limits(name):
    """The largest magnitude, and what is beyond it."""
    exponent_bits, fraction_bits, special = FORMATS[name]
    top = 1 << (exponent_bits + fraction_bits)
    if special == "all":
        infinity = top - (1 << fraction_bits)
        return infinity - 1, infinity
    return (top - 2, top - 1) if special == "last" else (top - 1, top - 1)


def not_a_number(name):
    return {"f32": 0x7FC00000, "f16": 0x7E00, "bf16": 0x7FC0}.get(name, (1 << (width(name) - 1)) - 1)


def value_of(name, magnitude):
    """Of magnitudes beyond the largest, too, as if exponents went on."""
    exponent_bits, fraction_bits, _ = FORMATS[name]
    bias = (1 << (exponent_bits - 1)) - 1
    exponent, fraction = magnitude >> fraction_bits, magnitude & ((1 << fraction_bits) - 1)
    return Fraction(fraction + (exponent > 0) * (1 << fraction_bits)) * Fraction(2) ** (max(exponent, 1) - bias - fraction_bits)


def floor_to(name, value):
    """The greatest magnitude whose value is not greater, as if exponents went on."""
    low, high = 0, 1 << FORMATS[name][1] + 10
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if value_of(name, middle) <= value else (low, middle)
    return low


def encode(name, value, sign, chance=None):
    """To nearest even, or by chance: (random number, the type that the value came from)."""
    signed = sign << (width(name) - 1)
    if value == "nan":
        return signed | not_a_number(name)
    largest, beyond = limits(name)
    if value == "inf":
        return signed | beyond
    value = abs(value)
    low = floor_to(name, value)
    bottom, top = value_of(name, low), value_of(name, low + 1)
    if chance is None:
        middle = (bottom + top) / 2
        up = value > middle or value == middle and low & 1
    else:
        number, source = chance
        exponent_bits, fraction_bits, _ = FORMATS[name]
        kept = WIDE[source][1]
        dropped = kept - fraction_bits
        smallest = Fraction(2) ** (2 - (1 << (exponent_bits - 1)))
        if value < smallest:  # below the normal ones, bits beyond those of the source are lost
            grid = smallest / (1 << kept)
            value = value // grid * grid
        up = (value - bottom) / (top - bottom) + Fraction(number >> (32 - dropped), 1 << dropped) >= 1
    magnitude = low + bool(up)
    return signed | (magnitude if magnitude <= largest else beyond)


def next_random(number):
    return (number << 1 & 0xFFFFFFFF) ^ (197 if number >> 31 else 0)


def some(name, scale):
    """Bits of a value, most of them near what the small formats hold times the scale."""
    kind = R.random()
    if name in SMALL:
        return R.getrandbits(width(name))
    exponent_bits, fraction_bits, _ = FORMATS[name]
    bias = (1 << (exponent_bits - 1)) - 1
    if kind < 0.08:
        return R.choice([0, 1 << (width(name) - 1), ((1 << exponent_bits) - 1) << fraction_bits, not_a_number(name), R.getrandbits(fraction_bits)])
    if kind < 0.15:
        return R.getrandbits(width(name))
    exponent = max(0, min((1 << exponent_bits) - 2, bias + scale + R.randrange(-20, 18) // R.choice([1, 3])))
    fraction = R.getrandbits(fraction_bits)
    if R.random() < 0.3:  # few bits, for ties
        fraction &= 0x1F << (fraction_bits - 5)
    return R.getrandbits(1) << (width(name) - 1) | exponent << fraction_bits | fraction


def join(values, bits):
    """Values of so many bits as dwords."""
    whole = sum(value << (bits * index) for index, value in enumerate(values))
    count = -(-bits * len(values) // 32)
    return [whole >> (32 * index) & 0xFFFFFFFF for index in range(count)]


class Case:
    def __init__(self):
        self.before, self.free = {}, 8

    def source(self, dwords, align=2):
        first = self.free
        self.free += len(dwords) + len(dwords) % align
        for index, dword in enumerate(dwords):
            self.before[first + index] = dword
        return f"v{first}" if len(dwords) == 1 else f"v[{first}:{first + len(dwords) - 1}]"


OPERATIONS = """
pk_fp8_f32 pk_bf8_f32 sr_fp8_f32 sr_bf8_f32 pk_f32_fp8 pk_f32_bf8 f32_fp8 f32_bf8 pk_fp4_f32 sr_pk_fp4_f32 pk_f32_fp4
pk_fp8_f16 pk_bf8_f16 sr_fp8_f16 sr_bf8_f16 pk_fp8_bf16 pk_bf8_bf16 sr_fp8_bf16 sr_bf8_bf16 pk_f16_fp8 pk_f16_bf8
f16_fp8 f16_bf8 pk_fp4_f16 pk_fp4_bf16 sr_pk_fp4_f16 sr_pk_fp4_bf16 pk_f16_fp4 pk_bf16_fp4 2xpk16_fp6_f32
2xpk16_bf6_f32 sr_pk32_fp6_f32 sr_pk32_bf6_f32 pk32_f32_fp6 pk32_f32_bf6 pk32_fp6_f16 pk32_fp6_bf16 pk32_bf6_f16
pk32_bf6_bf16 sr_pk32_fp6_f16 sr_pk32_fp6_bf16 sr_pk32_bf6_f16 sr_pk32_bf6_bf16 pk32_f16_fp6 pk32_bf16_fp6
pk32_f16_bf6 pk32_bf16_bf6 pk_bf16_fp8 pk_bf16_bf8
""".split()


def convert(operation):
    case = Case()
    parts = operation.split("_")
    chance = parts[0] == "sr"
    parts = parts[chance:]
    count = {"pk": 2, "pk32": 32, "2xpk16": 32}.get(parts[0], 1)
    to, source = parts[-2:]
    exponent = R.choice([127, 127, 126, 129, 120, 135, 100, 150, 1, 254]) if R.random() < 0.93 else R.choice([0, 255])
    scale_bits = exponent << 23 | R.getrandbits(23) | R.getrandbits(1) << 31
    values = [some(source, exponent - 127) for _ in range(count)]
    number = R.getrandbits(32)
    selected = R.getrandbits(4)
    read = write = 0
    if source in SMALL and count <= 2:
        if count == 2 and width(source) == 8:
            selected &= 1
            read = 16 * selected
        else:
            selected &= 3
            read = 8 * selected
        if to in ("f16", "bf16") and count == 1:
            high = R.getrandbits(1)
            selected, write = selected | high << 3, 16 * high
    elif to in SMALL and count <= 2:
        if count * width(to) == 16:
            selected &= 8
            write = 16 * (selected >> 3)
        else:
            selected &= 12
            write = 8 * (selected >> 2)
    else:
        selected = 0
    if source == "f32" and count == 2 and not chance:
        operands = [case.source([value]) for value in values]
    elif parts[0] == "2xpk16":
        operands = [case.source(values[0::2]), case.source(values[1::2])]
    else:
        dwords = join(values, width(source))
        if read:
            dwords = [dwords[0] << read & 0xFFFFFFFF | R.getrandbits(read)]
        elif source in SMALL and count <= 2:
            dwords = [dwords[0] | R.getrandbits(32 - count * width(source)) << count * width(source) & 0xFFFFFFFF]
        operands = [case.source(dwords)]
    if chance:
        operands.append(case.source([number]))
    operands.append(case.source([scale_bits]))
    results = []
    for bits in values:
        value, sign = decode(source, bits)
        if exponent == 255:
            value = "nan"
        elif not isinstance(value, str):
            factor = Fraction(2) ** (exponent - 127)
            value = value * factor if source in SMALL else value / factor
        results.append(encode(to, value, sign, (number, source) if chance else None))
        number = next_random(number)
    size = -(-width(to) * count // 32)
    old = [R.getrandbits(32) for _ in range(size)]
    new = join(results, width(to))
    if size == 1:
        mask = (1 << width(to) * count) - 1 << write
        new = [old[0] & ~mask | new[0] << write]
    first = case.free
    for index, dword in enumerate(old):
        case.before[first + index] = dword
    vdst = f"v{first}" if size == 1 else f"v[{first}:{first + size - 1}]"
    text = f"v_cvt_scalef32_{operation} {vdst}, {', '.join(operands)}"
    if selected:
        # Sources, then the destination; bytes of it have two.
        bits = [selected & 1, selected >> 1 & 1, selected >> 2 & 1, selected >> 3 & 1]
        if len(operands) == 2 and not (to == "fp4"):
            bits = [bits[0], bits[1], bits[3]]
        text += " op_sel:[" + ",".join(map(str, bits)) + "]"
    return text, case.before, {first + index: dword for index, dword in enumerate(new)}


def others():
    def line(text, before, after):
        return text, dict(enumerate(before)), {4: after}
    for _ in range(6):
        a, b, c, old = (R.getrandbits(32) for _ in range(4))
        yield line("v_prng_b32 v4, v0", [a, 0, 0, 0, old], next_random(a))
        table = R.getrandbits(8)
        bit = lambda n: table >> ((a >> n & 1) << 2 | (b >> n & 1) << 1 | (c >> n & 1)) & 1
        yield line(f"v_bitop3_b32 v4, v0, v1, v2 bitop3:{table:#x}", [a, b, c, 0, old], sum(bit(n) << n for n in range(32)))
        yield line(f"v_bitop3_b16 v4, v0, v1, v2 bitop3:{table:#x}", [a, b, c, 0, old], old & 0xFFFF0000 | sum(bit(n) << n for n in range(16)))
        signed = lambda x: x - (x >> 31 << 32)
        for name, least, most in (("i8", -128, 127), ("u8", 0, 255)):
            byte = lambda x: max(least, min(most, signed(x) >> (c & 31))) & 0xFF
            yield line(f"v_ashr_pk_{name}_i32 v4, v0, v1, v2", [a, b, c, 0, old], old & 0xFFFF0000 | byte(a) | byte(b) << 8)
            yield line(f"v_ashr_pk_{name}_i32 v4, v0, v1, v2 op_sel:[0,0,0,1]", [a, b, c, 0, old], old & 0xFFFF | byte(a) << 16 | byte(b) << 24)
        x, y = some("f32", 0), some("f32", 0)
        halves = [encode("f16", *decode("f32", bits)) for bits in (x, y)]
        if all(decode("f32", bits)[0] != "nan" for bits in (x, y)):
            yield line("v_cvt_pk_f16_f32 v4, v0, v1", [x, y, 0, 0, old], halves[0] | halves[1] << 16)
        for name in ("f16", "bf16"):
            if decode("f32", x)[0] != "nan":
                half = encode(name, *decode("f32", x), chance=(b, "f32"))
                yield line(f"v_cvt_sr_{name}_f32 v4, v0, v1", [x, b, 0, 0, old], old & 0xFFFF0000 | half)
                yield line(f"v_cvt_sr_{name}_f32 v4, v0, v1 op_sel:[0,0,1]", [x, b, 0, 0, old], old & 0xFFFF | half << 16)
        yield line("v_cvt_f32_bf16 v4, v0", [a & 0xFF7F3FFF, 0, 0, 0, old], (a & 0x3FFF) << 16)


def main():
    lines = [convert(operation) for operation in OPERATIONS for _ in range(7)] + list(others())
    source = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx950\"\n" + "".join(text + "\n" for text, _, _ in lines)
    listing = subprocess.run(["llvm-mc-22", "--triple=amdgcn-amd-amdhsa", "--mcpu=gfx950", "--show-encoding"],
                             input=source, check=True, capture_output=True, text=True).stdout
    encodings = [re.findall("0x(..)", found) for found in re.findall(r"encoding: \[(.*?)\]", listing)]
    assert len(encodings) == len(lines)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "gfx950.txt"), "w") as f:
        for (text, before, after), octets in zip(lines, encodings):
            words = ["".join(reversed(octets[at:at + 4])) for at in range(0, len(octets), 4)]
            registers = lambda those: " ".join(f"v{number}={value:08x}" for number, value in those.items())
            f.write(f"{text}\t{' '.join(words)}\t{registers(before)}\t{registers(after)}\n")


if __name__ == "__main__":
    main()
