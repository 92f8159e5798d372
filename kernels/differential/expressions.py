"""Random expressions without undefined behaviour."""

import random
import struct
from dataclasses import dataclass, field, replace

from language import Expression
from scalars import FLOAT, FLOATS, INT, INTEGERS, SCALARS, UINT, ULONG

IN_ELEMENTS = 32  # of each scalar type in the input
MEMORY_ELEMENTS = 8  # that each work-item owns of an array in global memory
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def align(offset, to=64):
    return (offset + to - 1) // to * to


def input_offsets():
    offsets, at = {}, 0
    for t in SCALARS:
        offsets[t] = at
        at = align(at + IN_ELEMENTS * t.size)
    return offsets, at


IN_OFFSETS, IN_BYTES = input_offsets()


def fma(t):
    return f"fma_{t}" if t.bits == 16 else "__builtin_elementwise_fma"


@dataclass
class Scope:
    """What an expression may read."""

    names: list  # (name, type, whether it is the same in all lanes)
    arrays: list  # (name, type, size) in private memory
    memory: list = field(default_factory=list)  # (offset, type) in global memory
    shared: list = field(default_factory=list)  # (name, type, size) in LDS
    function: bool = False  # inside a function: no input, no global memory
    uniform: bool = False  # only what is the same in all lanes

    def variables(self):
        return [n for n in self.names if n[2]] if self.uniform else self.names

    def with_name(self, *name):
        return replace(self, names=[*self.names, name])


class Expressions:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.functions = []  # (name, result type, parameter types)

    # Choice.

    def chance(self, percent):
        return self.random.random() * 100 < percent

    def pick(self, items):
        return items[int(self.random.random() * len(items))]

    def number(self, low, high):
        """low <= n < high"""
        return low + int(self.random.random() * (high - low))

    def scalar_type(self):
        return self.pick(INTEGERS if self.chance(60) else FLOATS) if self.chance(60) else self.pick([UINT, INT, FLOAT, ULONG])

    def any_type(self):
        t = self.scalar_type()
        return t if self.chance(70) else t.vector(self.pick([2, 2, 3, 4, 4] + [8] * (t.bits < 64)))

    # Values.

    def bits(self, t):
        """Bits of a value of scalar type `t`: often a special one, never a signalling NaN."""
        ones, top = 2**t.bits - 1, 1 << (t.bits - 1)
        if t.kind != "f":
            special = [0, 1, ones, top, top - 1, top + 1, 2, 3, ones - 1, self.number(0, 64), 1 << self.number(0, t.bits)]
            return self.pick(special) & ones if self.chance(50) else self.number(0, 2**t.bits)
        fraction = {16: 10, 32: 23, 64: 52}[t.bits]
        infinity = (top - 1) >> fraction << fraction
        if self.chance(25):
            special = [0, 1, (1 << fraction) - 1, 1 << fraction, infinity - 1, infinity, infinity | 1 << (fraction - 1),
                       self.number(0, 1 << fraction)]  # fmt: skip
            return self.pick(special) | (top if self.chance(50) else 0)
        if self.chance(20):  # any exponent
            value = self.number(0, 2**t.bits)
            return value | 1 << (fraction - 1) if value & infinity == infinity else value
        if self.chance(40):
            value = float(self.number(-300, 300))
        else:
            value = (self.random.random() - 0.5) * self.pick([2, 100, 60000])
        return int.from_bytes(struct.pack({16: "<e", 32: "<f", 64: "<d"}[t.bits], value), "little")

    def constant(self, t):
        if t.lanes > 1:
            return Expression(t, f"({t})({', '.join(self.constant(t.element).text for _ in range(1 if self.chance(30) else t.lanes))})")
        bits = self.bits(t)
        suffix = "ul" if t.bits == 64 else "u"
        if t.kind == "f":
            return Expression(t, f"__builtin_astype(({t.integer}){bits:#x}{suffix}, {t})")
        return Expression(t, f"(({t}){bits:#x}{suffix})" if bits > 1000 else f"(({t}){bits}{suffix})")

    # Expressions.

    def leaf(self, t, scope):
        names = [n for n, of, _ in scope.variables() if of == t]
        if names and self.chance(70):
            return Expression(t, self.pick(names))
        if not scope.function and self.chance(30):
            return self.load(t, scope, Expression(UINT, f"{self.number(0, IN_ELEMENTS)}u"))
        others = [v for v in scope.variables() if v[1] != t and v[1].lanes in (1, t.lanes)]
        if others and self.chance(70):
            name, other, _ = self.pick(others)
            return self.converted(t, Expression(other, name))
        return self.constant(t)

    def converted(self, t, value):
        """`value` as a `t`; a vector may come of its lanes or of one scalar."""
        other = value.type
        if other.lanes != t.lanes:
            return Expression(t, f"({t})({{0}})", [self.converted(t.element, value) if other.element != t.element else value])
        if other.kind == "f" and t.kind != "f":
            return Expression(t, f"to_{t}_{other}({{0}})", [value])
        if value.text == "({0} - {1})" and t.kind == "f" and t.bits > other.bits:
            # Of a difference of which clang 19 knows that its left side is 0, it makes the negated right side when it
            # is widened: -0, should that be 0.
            value = Expression(other, "({0} + {1})", value.children)
        # Of a product of floats as a half, clang 19 makes v_fma_mixlo_f16 with +0 to add, which loses the sign of a zero.
        text = f"({{0}} + ({other})0)" if t.bits == 16 and t.kind == "f" and other.element == FLOAT else "{0}"
        return Expression(t, f"({t}){text}" if t.lanes == 1 else f"__builtin_convertvector({text}, {t})", [value])

    def load(self, t, scope, index):
        """From the input, with an index that any lane may choose."""
        space, base = ("constant", "table") if self.chance(50 if not scope.uniform else 90) else ("global const", "in")
        return Expression(t, f"(({t})((({space} {t} *)({base} + {IN_OFFSETS[t.element]}))[{{0}} & {IN_ELEMENTS // (4 if t.lanes == 3 else t.lanes) - 1}]))", [index])

    def index(self, scope, depth):
        return self.expression(UINT, scope, min(depth, 2))

    def condition(self, scope, depth):
        t = self.scalar_type()
        if self.chance(15):
            kind = self.pick(["&&", "||"])
            return Expression(INT, f"({{0}} {kind} {{1}})", [self.condition(scope, depth - 1), self.condition(scope, depth - 1)] if depth > 0
                              else [self.expression(INT, scope, 0), self.expression(INT, scope, 0)])  # fmt: skip
        if t.kind == "f" and self.chance(20):
            return Expression(INT, f"__builtin_isfpclass({{0}}, {self.number(4, 1024) & ~3 | self.pick([0, 3])})", [self.expression(t, scope, depth - 1)])
        return Expression(INT, f"({{0}} {self.pick(COMPARISONS)} {{1}})", [self.expression(t, scope, depth - 1), self.expression(t, scope, depth - 1)])

    def expression(self, t, scope, depth):
        if depth <= 0 or self.chance(12):
            return self.leaf(t, scope)
        if self.chance(18):
            found = self.from_memory(t, scope, depth)
            if found:
                return found
        if self.chance(8) and not scope.uniform:
            functions = [f for f in self.functions if f[1] == t]
            if functions:
                name, _, parameters = self.pick(functions)
                children = [self.expression(p, scope, min(depth - 1, 1)) for p in parameters]
                return Expression(t, f"{name}({', '.join(f'{{{n}}}' for n in range(len(children)))})", children)
        if t.lanes > 1:
            return self.vector(t, scope, depth - 1)
        return (self.real if t.kind == "f" else self.integer)(t, scope, depth - 1)

    def from_memory(self, t, scope, depth):
        options = [("array", a) for a in scope.arrays if a[1] == t] + [("shared", a) for a in scope.shared if a[1] == t]
        options += [("memory", m) for m in scope.memory if m[1] == t]
        if not scope.function:
            options.append(("input", None))
        if scope.uniform:
            options = [o for o in options if o[0] == "input"]
        if not options:
            return None
        kind, what = self.pick(options)
        index = self.index(scope, depth - 1)
        if kind == "input":
            return self.load(t, scope, index)
        if kind == "memory":
            return Expression(t, f"OUT({t}, {what[0]})[gid * {MEMORY_ELEMENTS} + ({{0}} & {MEMORY_ELEMENTS - 1})]", [index])
        name, _, size = what
        if kind == "shared" and t.lanes == 1 and self.chance(40):
            other = self.pick([1, 2, 64])
            operator = "+" if t.kind == "f" else self.pick(["+", "^"])
            return Expression(t, f"({t})({name}[{{0}} & {size // 2 - 1}] {operator} {name}[({{0}} & {size // 2 - 1}) + {other}])", [self.leaf(UINT, scope)])
        if kind == "array" and not scope.function and t.lanes == 1 and self.chance(30):
            other = f"(const {t} *)(in + {IN_OFFSETS[t]})"
            if self.chance(50):
                return Expression(t, f"flat_{t}({{0}} ? (const {t} *){name} : {other}, {{1}} & {min(size, IN_ELEMENTS) - 1})", [self.condition(scope, 1), index])
            return Expression(t, f"flat_{t}((const {t} *){name}, {{0}} & {size - 1})", [index])
        return Expression(t, f"{name}[{{0}} & {size - 1}]", [index])

    def integer(self, t, scope, depth):
        def sub(of=t):
            return self.expression(of, scope, depth)

        way = self.number(0, 116)
        if way >= 100:
            return self.combined(t, sub)
        if way < 34:
            operator = self.pick(["+", "+", "-", "-", "*", "*", "&", "|", "^"])
            return Expression(t, f"({t})({{0}} {operator} {{1}})", [sub(), sub()])
        if way < 44:
            return Expression(t, f"({t})({{0}} {self.pick(['<<', '>>'])} ({{1}} & {t.bits - 1}))", [sub(), sub(self.pick([t, UINT]))])
        if way < 50:
            return Expression(t, f"{self.pick(['div', 'rem'])}_{t}({{0}}, {{1}})", [sub(), sub()])
        if way < 54:
            return Expression(t, f"({t})({self.pick(['~', '-', '!'])}{{0}})", [sub()])
        if way < 58:
            return Expression(t, "(({0}) ? {1} : {2})", [self.condition(scope, depth), sub(), sub()])
        if way < 61:
            return Expression(t, f"({t}){{0}}", [self.condition(scope, depth)])
        if way < 69:
            return Expression(t, f"({t}){{0}}", [sub(self.pick(INTEGERS))])
        if way < 74:
            real = self.pick(FLOATS)
            return Expression(t, f"to_{t}_{real}({{0}})", [sub(real)])
        if way < 77 and t.kind == "u" and t.bits > 8:
            real = next(f for f in FLOATS if f.bits == t.bits)
            return Expression(t, f"bits_{real}({{0}})", [sub(real)])
        if way < 81:
            lanes = self.pick([2, 3, 4])
            if lanes != 3 and self.chance(30):
                # The same vector and index in all lanes: where either differs, clang 19 at -O1 and above takes the
                # element that the first lane reads for all of them.
                same = replace(scope, uniform=True)
                parts = [self.expression(t.vector(lanes), same, depth), self.expression(UINT, same, depth)]
                return Expression(t, f"({{0}})[{{1}} & {lanes - 1}]", parts)
            child = sub(t.vector(lanes))
            return Expression(t, f"({{0}}).s{self.number(0, lanes)}", [child])
        if way < 85:
            return Expression(t, f"__builtin_elementwise_{self.pick(['min', 'max', 'add_sat', 'sub_sat'])}({{0}}, {{1}})", [sub(), sub()])
        if way < 87 and t.kind == "i":
            return Expression(t, "__builtin_elementwise_abs({0})", [sub()])
        if way < 89:
            return Expression(t, "__builtin_elementwise_bitreverse({0})", [sub()])
        if way < 91 and t.bits >= 32 and t.kind == "u":
            return Expression(t, f"{self.pick(['clz', 'ctz'])}_{t}({{0}})", [sub()])
        if way < 93:
            count = "ones" if t.bits == 64 else "__builtin_popcountl"
            return Expression(t, f"({t}){count}((ulong)({t.integer}){{0}})", [sub()])
        if way < 95 and t.bits > 8 and t.kind == "u":
            return Expression(t, f"({t})__builtin_bswap{t.bits}({{0}})", [sub()])
        if way < 97 and t.kind == "u":
            return Expression(t, f"({t})__builtin_rotate{self.pick(['left', 'right'])}{t.bits}({{0}}, {{1}})", [sub(), sub()])
        if t.bits == 32:
            long = "ulong" if t.kind == "u" else "long"
            return Expression(t, f"({t})((({long}){{0}} * ({long}){{1}}) >> {self.pick([32, 16, 8, 31])})", [sub(), sub()])
        low = self.number(0, t.bits - 1)
        return Expression(t, f"({t})(({{0}} >> {low}) & {(1 << self.number(1, t.bits - low)) - 1})", [sub()])

    def combined(self, t, sub):
        """Forms that a GPU has one instruction for."""
        way = self.number(0, 12)
        if way == 0:
            inner, outer = self.pick([("min", "max"), ("max", "min"), ("max", "max"), ("min", "min")])
            return Expression(t, f"__builtin_elementwise_{outer}(__builtin_elementwise_{inner}({{0}}, {{1}}), {{2}})", [sub(), sub(), sub()])
        if way == 1:
            low, high = sorted((self.number(0, 100), self.number(0, 100)))
            return Expression(t, f"__builtin_elementwise_min(__builtin_elementwise_max({{0}}, ({t}){low}), ({t}){high})", [sub()])
        if way == 2:
            return Expression(t, f"({t})(({{0}} << {self.number(1, 5)}) + {{1}})", [sub(), sub()])
        if way == 3:
            return Expression(t, f"({t})(~({{0}} {self.pick('&|^')} {{1}}))", [sub(), sub()])
        if way == 4:
            return Expression(t, f"({t})({{0}} {self.pick('&|^')} ~{{1}})", [sub(), sub()])
        if way == 5:
            mask = self.number(1, 2**t.bits)
            return Expression(t, f"({t})(({{0}} & {mask:#x}ul) | ({{1}} & ~{mask:#x}ul))", [sub(), sub()])
        if way == 6:
            # Not in 64 bits: there clang 19 may leave out the masks and multiply 32 bits by 32.
            of = UINT if t.bits == 64 else t
            return Expression(t, f"({t})(({{0}} & 0xffffff) * ({{1}} & 0xffffff) + {{2}})", [sub(of), sub(of), sub(of)])
        if way == 7:
            return Expression(t, f"({t})((((int){{0}} << 8) >> 8) * (((int){{1}} << 8) >> 8))", [sub(), sub()])
        if way == 8:
            return Expression(t, f"({t})((((ulong){{0}} << 32) | (uint){{1}}) >> ({{2}} & 31))", [sub(UINT), sub(UINT), sub(UINT)])
        if way == 9:
            return Expression(t, f"({t})({{0}} {self.pick('+-^|&')} {{1}} {self.pick('+-^|&')} {{2}})", [sub(), sub(), sub()])
        if way == 10:
            return Expression(t, f"({t})({{0}} > {{1}} ? {{0}} - {{1}} : {{1}} - {{0}})", [sub(UINT), sub(UINT)])
        return Expression(t, f"({t})({{0}} * ({t}){self.number(0, 300)} + ({t}){self.number(0, 70000)})", [sub()])

    def real(self, t, scope, depth):
        def sub(of=t):
            return self.expression(of, scope, depth)

        way = self.number(0, 112)
        if way < 45:
            return Expression(t, f"({{0}} {self.pick(['+', '-', '*'])} {{1}})", [sub(), sub()])
        if way >= 100:
            return self.combined_real(t, scope, sub)
        if way < 52 and t.bits > 16:
            return Expression(t, "({0} / {1})", [sub(), sub()])
        if way < 58:
            return Expression(t, f"{fma(t)}({{0}}, {{1}}, {{2}})", [sub(), sub(), sub()])
        if way < 62:
            return Expression(t, "(-{0})" if self.chance(50) else "__builtin_elementwise_abs({0})", [sub()])
        if way < 67:
            return Expression(t, f"__builtin_elementwise_{self.pick(['floor', 'ceil', 'trunc', 'rint'])}({{0}})", [sub()])
        if way < 69 and t.bits > 16:
            return Expression(t, "__builtin_elementwise_sqrt({0})", [sub()])
        if way < 73:
            return Expression(t, "(({0}) ? {1} : {2})", [self.condition(scope, depth), sub(), sub()])
        if way < 81:
            return Expression(t, f"({t}){{0}}", [sub(self.pick(INTEGERS))])
        if way < 86:
            return self.converted(t, sub(self.pick([f for f in FLOATS if f != t])))
        if way < 90:
            return Expression(t, f"{t}_from({{0}})", [sub(t.integer)])
        if way < 94:
            return Expression(t, f"({{0}} {self.pick(['<', '>'])} {{1}} ? {{0}} : {{1}})", [self.leaf(t, scope), self.leaf(t, scope)])
        if way < 96:
            # A zero's sign and a NaN's do not tell which operand came through.
            return Expression(t, f"(__builtin_elementwise_{self.pick(['min', 'max'])}({{0}}, {{1}}) + ({t})0)", [sub(), sub()])
        lanes = self.pick([2, 3, 4])
        return Expression(t, f"({{0}}).s{self.number(0, lanes)}", [sub(t.vector(lanes))])

    def combined_real(self, t, scope, sub):
        """Forms that a GPU has one instruction for."""
        way = self.number(0, 5)
        half = FLOATS[0]
        if way == 0:
            return Expression(t, f"({t}){{0}}", [Expression(FLOAT, f"(float)(({{0}} >> {self.pick([0, 8, 16, 24])}) & 255)", [sub(UINT)])])
        if way == 1:
            value = "__builtin_elementwise_fma((float){0}, (float){1}, (float){2})"
            return Expression(t, f"({t}){value}", [sub(half), sub(half), sub(self.pick([half, FLOAT]))])
        if way == 2:
            sign = self.leaf(t, scope)  # not a NaN's, which is anyone's
            return Expression(t, f"__builtin_elementwise_copysign({{0}}, {{1}} == {{1}} ? {{1}} : ({t})1)", [sub(), sign])
        if way == 3 and t.bits > 16:
            return Expression(t, f"__builtin_ldexp{'f' if t.bits == 32 else ''}({{0}}, {{1}})", [sub(), sub(INT)])
        return Expression(t, f"({self.pick('+-')}__builtin_elementwise_abs({{0}}) {self.pick('+-*')} -{{1}})", [sub(), sub()])

    def vector(self, t, scope, depth):
        def sub(of=t):
            return self.expression(of, scope, depth)

        way, n, fp = self.number(0, 100), t.lanes, t.kind == "f"
        if way < 40:
            return Expression(t, f"({{0}} {self.pick(['+', '-', '*'] if fp else ['+', '-', '*', '&', '|', '^'])} {{1}})", [sub(), sub()])
        if way < 46 and not fp:
            return Expression(t, f"({{0}} {self.pick(['<<', '>>'])} ({{1}} & ({t})({t.bits - 1})))", [sub(), sub()])
        if way < 49 and not fp:
            return Expression(t, f"{self.pick(['div', 'rem'])}_{t}({{0}}, {{1}})", [sub(), sub()])
        if way < 52 and fp and t.bits > 16:
            return Expression(t, "({0} / {1})", [sub(), sub()])
        if way < 55 and fp:
            return Expression(t, f"{fma(t)}({{0}}, {{1}}, {{2}})", [sub(), sub(), sub()])
        if way < 58:
            return Expression(t, "(-{0})" if fp else f"({self.pick('~-')}{{0}})", [sub()])
        if way < 66:
            children = [sub(t.element) for _ in range(n)]
            return Expression(t, f"({t})({', '.join(f'{{{c}}}' for c in range(n))})", children)
        if way < 70:
            return Expression(t, f"({t})({{0}})", [sub(t.element)])
        if way < 78:
            lanes = self.pick([2, 4])
            child = sub(t.vector(lanes))
            # The casts of loads, swizzles and shuffles take the address space off their types.
            return Expression(t, f"(({t})(({{0}}).s{''.join(str(self.number(0, lanes)) for _ in range(n))}))", [child])
        if way < 84:
            other = self.scalar_type()
            operator = self.pick(COMPARISONS)
            if other.bits != t.bits:
                other = t.element
            compare = Expression(t.mask, f"({{0}} {operator} {{1}})", [sub(other.vector(n)), sub(other.vector(n))])
            return Expression(t, "({0} ? {1} : {2})", [compare, sub(), sub()])
        if way < 92:
            source = self.scalar_type().vector(n)
            return self.converted(t, sub(source)) if source != t else sub()
        if way < 95 and not fp:
            return Expression(t, f"__builtin_elementwise_{self.pick(['min', 'max', 'add_sat', 'sub_sat'])}({{0}}, {{1}})", [sub(), sub()])
        if way < 97 and not fp and n != 3:
            same = [i.vector(t.size * 8 // i.bits) for i in INTEGERS if t.size * 8 % i.bits == 0 and t.size * 8 // i.bits in (1, 2, 4, 8)]
            other = self.pick(same)
            # clang 19's bit reversal of a short is an int.
            return Expression(t, f"__builtin_astype(({other}){{0}}, {t})", [sub(other)])
        return Expression(t, f"({t})(__builtin_shufflevector({{0}}, {{1}}, {', '.join(str(self.number(0, 2 * n)) for _ in range(n))}))", [sub(), sub()])
