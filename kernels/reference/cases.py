"""The dispatches whose results are recorded, one list a source."""

import struct

from reference import Buffer, Case, Local, Scalar, floats, integers, listed, zero

ANY, W32, W64 = None, 32, 64
WORD = 4


def words(count, seed, low=0, span=0):
    """`count` u32 or i32, low <= x < low + span (span 0: any)."""
    return Buffer(WORD * count, integers(WORD, seed, low, span))


def longs(count, seed, low=0, span=0):
    return Buffer(8 * count, integers(8, seed, low, span))


def out(size, fill=None, **how):
    """A buffer the kernel writes; not zero before, so that an element which is not written shows."""
    return Buffer(size, fill or integers(1, 0xBAD, 0, 0), out=True, **how)


def own_half(count):
    """Lane numbers for ds_bpermute which name a lane of the reader's own 32 in wave32 and in wave64 alike."""
    numbers = integers(WORD, 21, 0, 32).elements(count)
    return listed(WORD, [n | (i & 32) for i, n in enumerate(numbers)])


# (a, b) such that no result of f32math is NaN: denormals, infinities, signed zeros, overflow, halfway cases.
F32_EDGES = [
    (0x00000001, 0x40400000), (0x007FFFFF, 0x3F000000), (0x80000001, 0xC0000000), (0x00800000, 0x3F000000),
    (0x80000000, 0x40400000), (0x3F800000, 0x00000001), (0x7F7FFFFF, 0x40000000), (0xFF7FFFFF, 0x3FFFFFFF),
    (0x3F800000, 0x7F800000), (0xBF800000, 0xFF800000), (0x00400000, 0x7F7FFFFF), (0x4B000001, 0x3F000000),
    (0x3FFFFFFF, 0x3F800001), (0x33FFFFFF, 0x33800000), (0x3D800000, 0x3ADA740E), (0x7E800000, 0x01800000),
]  # fmt: skip
F64_EDGES = [
    (0x0000000000000001, 0x4008000000000000), (0x000FFFFFFFFFFFFF, 0x3FE0000000000000), (0x8000000000000001, 0xC000000000000000),
    (0x0010000000000000, 0x3FE0000000000000), (0x8000000000000000, 0x4008000000000000), (0x3FF0000000000000, 0x0000000000000001),
    (0x7FEFFFFFFFFFFFFF, 0x4000000000000000), (0x3FF0000000000000, 0x7FF0000000000000), (0x0008000000000000, 0x7FEFFFFFFFFFFFFF),
    (0x4330000000000001, 0x3FE0000000000000), (0x3FFFFFFFFFFFFFFF, 0x3FF0000000000001), (0x7FD0000000000000, 0x0030000000000000),
]  # fmt: skip
GOLDEN = [0, 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x80000001, 2, 3, 0xFFFFFFFE, 0x10000, 0xFFFF, 0x8000, 0x7F, 0x80, 0xAAAAAAAA, 0x55555555]
GOLDEN64 = [0, 1, 2**64 - 1, 2**63, 2**63 - 1, 2**63 + 1, 2**32, 2**32 - 1, 2**31, 3, 10, 2**53 + 1, 2**24 + 1, 0xAAAAAAAAAAAAAAAA, 7, 2**48]


def pairs(values, width):
    """Every value against every value, as two fills."""
    return listed(width, [x for x in values for _ in values]), listed(width, [y for _ in values for y in values])


def edges(table, width):
    return listed(width, [a for a, _ in table]), listed(width, [b for _, b in table])


def vadd(n, grid, block):
    return Case("vadd", grid, block, [words(n, 1), words(n, 2), out(WORD * n), Scalar("u32", n)])


def halves(numbers):
    """The f16 bits of small integers."""
    return [int.from_bytes(struct.pack("<e", n), "little") for n in numbers]


def floats_of(count, seed, width=4, exponent=0):
    return Buffer(width * count, floats(width, seed, exponent))


def saxpy(n, grid, block):
    return Case("saxpy", grid, block, [out(WORD * n, floats(4, 3)), floats_of(n, 4), Scalar("f32", 1.61803398875), Scalar("u32", n)])


def i64math(a, b, count):
    return Case("i64math", count, min(count, 64), [Buffer(8 * count, a), Buffer(8 * count, b), out(64 * count)])


def math(kernel, width, a, b, count):
    return Case(kernel, count, min(count, 64), [Buffer(width * count, a), Buffer(width * count, b), out(8 * width * count)])


def integer(a, b, count):
    return Case("integer", count, 64, [Buffer(WORD * count, a), Buffer(WORD * count, b), out(64 * count)])


def product(kernel, n):
    return Case(kernel, (n, n), (16, 16), [floats_of(n * n, 5), floats_of(n * n, 6), out(WORD * n * n), Scalar("u32", n)])


def swtch(ops, wave=ANY):
    count = 256
    x = words(count, 22, -1000, 2000) if ops.kind == "integers" else Buffer(WORD * count, own_half(count))
    return Case("swtch", count, 128, [Buffer(WORD * count, ops), x, words(count, 23, -8, 64), out(WORD * count)], wave)


def waves(kernel, count, block):
    """The same dispatch in both wave sizes."""
    return [Case(kernel, count, block, [words(count, 24), out(WORD * count)], wave) for wave in (W32, W64)]


CASES = {
    "vector_add": [Case("vector_add", 5000, 256, [floats_of(4999, 1), floats_of(4999, 2), out(WORD * 4999), Scalar("u32", 4999)])],
    "k01_vadd": [vadd(1, 64, 64), vadd(1000, 1000, 64), vadd(1000, 1024, 256), vadd(100003, 100352, 256)],
    "k02_saxpy": [saxpy(77, 128, 32), saxpy(10007, 1024, 256)],
    "k03_reduce": [
        Case("reduce", 1024, 256, [floats_of(20011, 7), out(WORD * 4), Scalar("u32", 20011)]),
        Case("reduce_dyn", 512, 128, [words(512, 8, -5, 100000), out(WORD * 4), Local(128 * WORD)]),
        Case("reduce_dyn", 64, 16, [words(64, 9, -1000, 900), out(WORD * 4), Local(16 * WORD)]),
    ],
    "k05_atomics": [
        Case("hist", 10240, 256, [Buffer(10007, integers(1, 10)), out(256 * WORD, zero()), Scalar("u32", 10007)]),
        # One work-item: everything is determined.
        Case("atomics", 1, 1, [out(5 * WORD, listed(WORD, [5, 2, 0, 9, 11])), out(2 * WORD, listed(WORD, [3, -20])), out(8, zero()), out(WORD)]),
        # Many: only what does not depend on their order is compared (u[2], u[3] and o do).
        Case("atomics", 512, 128, [
            out(5 * WORD, listed(WORD, [0, 0, 0, 0, 7]), ranges=[(0, 8), (16, 4)]), out(2 * WORD, listed(WORD, [100, -100])),
            out(8, zero()), out(512 * WORD, ranges=[]),
        ]),
    ],
    "k06_i64": [
        i64math(integers(8, 11), integers(8, 12), 256),
        i64math(*pairs(GOLDEN64, 8), 256),
        Case("mix64", 1000, 250, [out(8000)]),
    ],
    "k09_diverge": [
        Case("collatz", 512, 64, [words(500, 13, 1, 100000), out(2000), Scalar("u32", 500)]),
        swtch(integers(WORD, 20, 0, 9)),
        swtch(listed(WORD, [9] * 256), W32), swtch(listed(WORD, [9] * 256), W64),
        swtch(listed(WORD, [i * 7 % 11 for i in range(256)]), W32), swtch(listed(WORD, [i * 7 % 11 for i in range(256)]), W64),
        *waves("wave", 256, 128),
    ],
    "k12_matmul": [
        product("gemm16", 16), product("gemm16", 64),
        # Small integers: every partial sum is exact, so any order and any internal precision gives these bits.
        Case("mma", 32, 32, [Buffer(512, listed(2, halves(i * 7 % 15 - 7 for i in range(256)))),
                             Buffer(512, listed(2, halves(i * 11 % 13 - 5 for i in range(256)))), out(1024)], W32),
        # |a|, |b| <= 1 in steps of 2^-10: products in steps of 2^-20, sums below 16, so again every partial sum is exact.
        Case("mma", 32, 32, [floats_of(256, 14, 2), floats_of(256, 15, 2), out(1024)], W32),
    ],
    "tile": [product("tile_multiply", 16), product("tile_multiply", 48)],
    "integer": [integer(integers(WORD, 30), integers(WORD, 31), 256), integer(*pairs(GOLDEN, WORD), 256)],
    "f64math": [
        math("f64math", 8, floats(8, 32), floats(8, 33), 256), math("f64math", 8, *edges(F64_EDGES, 8), len(F64_EDGES)),
        math("f32math", 4, floats(4, 34), floats(4, 35), 256), math("f32math", 4, *edges(F32_EDGES, 4), len(F32_EDGES)),
        math("convert", 8, floats(8, 36), integers(8, 37, 0, 0), 256),
        math("convert", 8, floats(8, 38), listed(8, GOLDEN64), 16),
    ],
    "half": [Case("half2math", 256, 64, [floats_of(512, 39, 2), floats_of(512, 40, 2), out(4096)])],
    "scratch": [
        Case("private_sort", 96, 32, [words(96 * 32, 41, 0, 1000), out(96 * 32 * WORD)]),
        Case("private_large", 128, 64, [words(128, 42), out(128 * WORD), Scalar("u32", 100)]),
    ],
    "calls": [Case(k, 192, 64, [words(192, 43), out(192 * WORD)]) for k in ("call_direct", "call_with_stack")],
    "calls_c": [Case(k, 192, 64, [words(192, 44), out(192 * WORD)]) for k in ("call_recursive", "call_indirect")],
    "lds_limit": [Case("lds_64k", 256, 256, [words(16384, 45), out(65536)])],
    "lds_widths": [
        Case("lds_widths", 192, 64, [words(192 * 4, 46), out(192 * 16)]),
        Case("bytes_and_halves", 1024, 128, [Buffer(1001, integers(1, 47)), Buffer(2002, integers(2, 48)), out(1001), out(2002), Scalar("u32", 1001)]),
    ],
    "ids": [
        Case("ids3d", (7, 5, 3), (4, 2, 2), [out(7 * 5 * 3 * 32)]),
        Case("ids3d", (40, 9), (16, 4), [out(40 * 9 * 32)]),
        Case("ids3d", 100, 33, [out(100 * 32)]),
        Case("hidden", 100, 32, [out(56)]), Case("hidden", (70, 9), (16, 4), [out(56)]), Case("hidden", (7, 5, 3), (4, 2, 2), [out(56)]),
        Case("packet", (70, 9, 1), (16, 4, 1), [out(64, ranges=[(2, 22)])]), Case("packet", 100, 32, [out(64, ranges=[(2, 22)])]),
    ],
    "contention": [
        Case("tickets", 5000, 256, [out(WORD, zero()), out(5001 * WORD, zero())]),
        Case("float_sum", 1024, 128, [out(WORD, zero()), words(10007, 49), Scalar("u32", 10007)]),
        Case("wide", 512, 128, [out(32, listed(8, [0, 0, 2**64 - 1, 0])), longs(512, 50), out(4 * 32)]),
    ],
    # Whole waves only for wave_sum: in half a wave64 it would read lane 32, which holds nothing.
    "wave_reduce": [case for block in (64, 256) for k in ("wave_sum", "wave_rank") for case in waves(k, 768, block)]
    + waves("wave_rank", 768, 96),
    "pingpong": [
        Case("pingpong", 512, 256, [words(512, 51), out(2048), Scalar("u32", 33), Local(2048)]),
        Case("pingpong", 1024, 256, [words(1024, 52), out(4096), Scalar("u32", 8), Local(2048)]),
        Case("pingpong", 30, 10, [words(30, 53), out(120), Scalar("u32", 7), Local(80)]),
    ],
    "relay": [Case("relay", 32 * 64, 64, [out(WORD, zero()), out(32 * WORD)])],
    "many_args": [
        Case("many_args", 128, 64, [
            out(1024), Scalar("u8", 200), Scalar("u16", 50000), Scalar("u32", 4000000000), Scalar("f32", -0.1), Scalar("f64", 0.1),
            *(Scalar("u64", x) for x in integers(8, 54).elements(33)),
        ]),
    ],
}  # fmt: skip
