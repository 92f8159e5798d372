"""Small functions that programs call where C alone leaves behaviour undefined, written out only where they are used."""

import re

from scalars import FLOATS, INTEGERS, NAMED, SCALARS, UNSIGNED

LANES = (1, 2, 3, 4, 8)


def integer_bounds(integer, real):
    """The least and greatest value of `real` whose integer part `integer` can hold, as C literals."""
    precision = {16: 11, 32: 24, 64: 53}[real.bits]
    bits = integer.bits - (integer.kind == "i")
    greatest = 2**bits - (2 ** (bits - precision) if bits > precision else 1)
    if real.bits == 16:
        greatest = min(greatest, 65504)
    least = 0 if integer.kind == "u" else -(2**bits) if real.bits > 16 or bits < 16 else max(-(2**bits), -65504)
    suffix = {16: "h", 32: "f", 64: ""}[real.bits]
    return f"{float(least)!r}{suffix}", f"{float(greatest)!r}{suffix}"


def safe_divisor(t):
    """C for `b` with 1 in place of divisors that are undefined for some dividend."""
    one, bad = f"({t})(1)", f"b == ({t})(0)"
    if t.kind == "i":
        bad = f"({bad}) | (b == ({t})(-1))"
    return f"(({bad}) ? {one} : b)"


# clang makes half fma for x86-64 of a float one, which rounds twice. There, the sum is made in double and rounded to odd
# (exact, or its last bit is 1), after which rounding to half is right.
FMA_HALF = """half fma_half(half a, half b, half c) {
  if (GPU) return __builtin_elementwise_fma(a, b, c);
  double product = (double)a * (double)b, sum = product + (double)c, part = sum - product;
  double rest = (product - (sum - part)) + ((double)c - part);
  long bits = __builtin_astype(sum, long);
  if ((rest < 0 || rest > 0) && (bits & 1) == 0) bits += (rest > 0) == (sum > 0) ? 1 : -1;
  return (half)__builtin_astype(bits, double);
}"""


def definitions():
    """name: definition, of every helper there is."""
    found = {}
    for t in SCALARS:
        if t.kind == "f":
            i, n = UNSIGNED[t.bits], t.name
            sign_off, infinity, nan = {16: ("0x7fff", "0x7c00", "0x7e00"), 32: ("0x7fffffffu", "0x7f800000u", "0x7fc00000u"),
                                       64: ("0x7ffffffffffffffful", "0x7ff0000000000000ul", "0x7ff8000000000000ul")}[t.bits]  # fmt: skip
            # The bits of a float in which every NaN is the same one, and a float in which every NaN is a quiet one: C,
            # LLVM and IEEE leave sign and payload of NaNs open, and processors differ.
            found[f"bits_{n}"] = f"{i} bits_{n}({n} x) {{ {i} b = __builtin_astype(x, {i}); return (b & {sign_off}) > {infinity} ? {nan} : b; }}"
            found[f"{n}_from"] = f"{n} {n}_from({i} b) {{ return __builtin_astype(({i})((b & {sign_off}) > {infinity} ? {nan} : b), {n}); }}"
        found[f"flat_{t}"] = f"__attribute__((noinline)) {t} flat_{t}(const {t} *p, uint i) {{ return p[i]; }}"
        found[f"put_{t}"] = f"__attribute__((noinline)) void put_{t}({t} *p, uint i, {t} x) {{ p[i] = x; }}"
    for scalar in INTEGERS:
        for lanes in LANES:
            t = scalar.vector(lanes)
            for name, operator in (("div", "/"), ("rem", "%")):
                # clang 19 takes a dividend with many sign bits for a small one and divides it in fewer bits, also where
                # the division is unsigned; it must not see where the dividend comes from.
                apart = "__attribute__((noinline)) " if t.kind == "u" and t.bits >= 32 else "static "
                found[f"{name}_{t}"] = f"{apart}{t} {name}_{t}({t} a, {t} b) {{ return ({t})(a {operator} {safe_divisor(t)}); }}"
            for real in FLOATS:
                f = real.vector(lanes)
                least, greatest = integer_bounds(scalar, real)
                if lanes == 1:
                    body = f"return x >= {least} && x <= {greatest} ? ({t})x : ({t})0;"
                else:
                    body = (f"return __builtin_convertvector(((x >= ({f})({least})) & (x <= ({f})({greatest}))) ? x : ({f})({least}), {t});")
                found[f"to_{t}_{f}"] = f"{t} to_{t}_{f}({f} x) {{ {body} }}"
    for t, suffix in ((NAMED["uint"], ""), (NAMED["ulong"], "l")):
        for name in ("clz", "ctz"):
            found[f"{name}_{t}"] = f"{t} {name}_{t}({t} x) {{ return x ? ({t})__builtin_{name}{suffix}(x) : {t.bits}; }}"
    # clang 19 takes the upper half of `x | ~ones` for that of x; it must not see that ones is a small number.
    found["ones"] = "__attribute__((noinline)) uint ones(ulong x) { return (uint)__builtin_popcountl(x); }"
    half = NAMED["half"]
    found["fma_half"] = FMA_HALF
    for lanes in LANES[1:]:
        t = half.vector(lanes)
        parts = ", ".join(f"fma_half(a.s{n}, b.s{n}, c.s{n})" for n in range(lanes))
        found[f"fma_{t}"] = (f"{t} fma_{t}({t} a, {t} b, {t} c) {{ return GPU ? __builtin_elementwise_fma(a, b, c) : ({t})({parts}); }}")
    return {name: text if name.startswith(("div_", "rem_")) else f"static {text}" for name, text in found.items()}


DEFINITIONS = definitions()
WORD = re.compile(r"\w+")


def used_by(text):
    """The definitions that `text` calls, in a fixed order."""
    words = set(WORD.findall(text))
    if any(word.startswith("fma_half") for word in words):
        words.add("fma_half")
    return [definition for name, definition in DEFINITIONS.items() if name in words]
