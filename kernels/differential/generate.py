"""Random programs without undefined behaviour: the same seed always gives the same program."""

from dataclasses import replace

from expressions import IN_ELEMENTS, IN_OFFSETS, MEMORY_ELEMENTS, Expressions, Scope, align
from language import Expression, Function, Observation, Program, Statement, block, line
from scalars import DOUBLE, FLOAT, INT, INTEGERS, NAMED, SCALARS, UINT, ULONG

LDS_SLOTS = 128
WORDS = 16  # in which atomics meet, of each work-item's choice
ATOMICS = {"add": (UINT, ULONG), "sub": (UINT,), "xor": (UINT, ULONG), "or": (UINT,), "and": (UINT, ULONG), "min": (UINT, INT, ULONG), "max": (UINT, INT, ULONG)}


class Programs(Expressions):
    def __init__(self, seed):
        super().__init__(seed)
        self.seed = seed
        self.counter = 0
        self.assignable = []  # (name, type, uniform)
        self.words = []  # (offset, type, operation)
        self.in_loop = False

    def fresh(self, letter):
        self.counter += 1
        return f"{letter}{self.counter}"

    # Statements.

    def statements(self, scope, depth, count, uniform):
        return [self.statement(scope, depth, uniform) for _ in range(count)]

    def statement(self, scope, depth, uniform):
        """`uniform`: all lanes come here together, so that a uniform variable may be assigned."""
        way = self.number(0, 100)
        if depth > 0:
            if way < 14:
                return self.branch(scope, depth - 1, uniform)
            if way < 25:
                return self.loop(scope, depth - 1, uniform)
            if way < 30:
                return self.switch(scope, depth - 1, uniform)
        if way < 42 and scope.arrays:
            return self.store(scope)
        if way < 50 and scope.memory:
            offset, t = self.pick(scope.memory)
            return line(f"OUT({t}, {offset})[gid * {MEMORY_ELEMENTS} + ({{0}} & {MEMORY_ELEMENTS - 1})] = {{1}};", self.index(scope, 2), self.expression(t, scope, 3))
        if way < 54 and self.words and not scope.function:
            offset, t, operation = self.pick(self.words)
            return line(f"ATOMIC({operation}, (global atomic_{t} *)(words + {offset}) + ({{0}} & {WORDS - 1}), {{1}}, DEVICE);",
                        self.index(scope, 1), self.expression(t, scope, 2))  # fmt: skip
        if way < 57 and scope.memory:
            found = self.exchange(scope)
            if found:
                return found
        if way < 60 and self.in_loop:
            return line(f"if ({{0}}) {self.pick(['break', 'continue'])};", self.condition(scope, 1))
        if way < 68 and (scope.arrays or scope.memory):
            found = self.fetch_from_memory(scope)
            if found:
                return found[0]
        return self.assign(scope, uniform)

    def assign(self, scope, uniform):
        name, t, same = self.pick([v for v in self.assignable if uniform or not v[2]])
        if t.lanes > 1 and self.chance(30):
            value = self.expression(t.element, scope, 3)
            if t.lanes != 3 and self.chance(40):
                return line(f"{name}[{{0}} & {t.lanes - 1}] = {{1}};", self.index(scope, 1), value)
            return line(f"{name}.s{self.number(0, t.lanes)} = {{0}};", value)
        return line(f"{name} = {{0}};", self.expression(t, replace(scope, uniform=same), 4))

    def exchange(self, scope):
        """An atomic whose result is used, on a place that only this work-item uses."""
        places = [(f"(global atomic_{t} *)&OUT({t}, {offset})[gid * {MEMORY_ELEMENTS} + ({{0}} & {MEMORY_ELEMENTS - 1})]", t)
                  for offset, t in scope.memory if t in (UINT, INT, ULONG)]  # fmt: skip
        if not places:
            return None
        place, t = self.pick(places)
        return self.exchange_at(scope, place, t, "DEVICE", self.index(scope, 1))

    def exchange_at(self, scope, place, t, reach, *index):
        """The same, on this place; None when no variable can take the result."""
        targets = [v for v in self.assignable if v[1].lanes == 1 and v[1].kind != "f" and not v[2]]
        if not targets:
            return None
        target, value = self.pick(targets)[0], self.expression(t, scope, 2)
        first, order = len(index), f"__ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_{reach}"
        way = self.pick([*ATOMICS, "exchange", "compare", "compare"])
        if way == "compare":
            return line(f"{{{{ {t} old = {{{first}}}; {target} = __opencl_atomic_compare_exchange_strong({place}, &old, {{{first + 1}}}, __ATOMIC_RELAXED, {order}); {target} ^= old; }}}}",
                        *index, value, self.expression(t, scope, 2))  # fmt: skip
        name = "exchange" if way == "exchange" else f"fetch_{way}"
        return line(f"{target} = __opencl_atomic_{name}({place}, {{{first}}}, {order});", *index, value)

    def fetch(self, scope, value):
        """Puts a value, as whatever it fits into, in a variable: a list of one statement at most."""
        targets = [v for v in self.assignable if not v[2] and v[1].lanes in (value.type.lanes, 1)]
        if not targets:
            return []
        name, t, _ = self.pick([v for v in targets if v[1] == value.type] or targets)
        if value.type.lanes > 1 and t.lanes == 1:
            value = Expression(value.type.element, f"({{0}}).s{self.number(0, value.type.lanes)}", [value])
        return [line(f"{name} = {{0}};", value if value.type == t else self.converted(t, value))]

    def fetch_from_memory(self, scope):
        places = [(f"{name}[{{0}} & {size - 1}]", t) for name, t, size in scope.arrays]
        places += [(f"OUT({t}, {offset})[gid * {MEMORY_ELEMENTS} + ({{0}} & {MEMORY_ELEMENTS - 1})]", t) for offset, t in scope.memory]
        places += [(f"((const {t} *){name})[{{0}} & {size - 1}]", t) for name, t, size in scope.arrays if not scope.function]
        text, t = self.pick(places)
        return self.fetch(scope, Expression(t, f"(({t})({text}))", [self.index(scope, 2)]))

    def store(self, scope):
        name, t, size = self.pick(scope.arrays)
        index, value = self.index(scope, 2), self.expression(t, scope, 3)
        if t.lanes == 1 and self.chance(20):
            return line(f"put_{t}(({t} *){name}, {{0}} & {size - 1}, {{1}});", index, value)
        return line(f"{name}[{{0}} & {size - 1}] = {{1}};", index, value)

    def test(self, scope, uniform):
        """A condition, and whether all lanes agree on it."""
        same = uniform and self.chance(35)
        return self.condition(replace(scope, uniform=same), 2), same

    def branch(self, scope, depth, uniform):
        condition, same = self.test(scope, uniform)
        bodies = [self.statements(scope, depth, self.number(1, 4), same)]
        if self.chance(50):
            bodies.append(self.statements(scope, depth, self.number(1, 4), same))
        return Statement(["if ({0}) {{", "}} else {{", "}}"] if len(bodies) == 2 else ["if ({0}) {{", "}}"], [condition], bodies)

    def loop(self, scope, depth, uniform):
        name = self.fresh("i")
        kind, outer, same = self.pick(["constant", "computed", "while"]), self.in_loop, uniform
        children = []
        if kind == "constant":
            head = f"for (uint {name} = 0; {name} < {self.number(1, 7)}; {name}++)"
        else:
            condition, same = self.test(scope, uniform)
            if kind == "computed":
                children = [self.expression(UINT, replace(scope, uniform=same), 2)]
                head = f"for (uint {name} = 0, n{name} = ({{0}} & 7); {name} < n{name}; {name}++)"
            else:
                children = [condition]
                head = f"for (uint {name} = 0; {name} < {self.number(2, 8)} && {{0}}; {name}++)"
        self.in_loop = True
        body = self.statements(scope.with_name(name, UINT, same), depth, self.number(1, 4), same)
        self.in_loop = outer
        return block(head, *children, body=body)

    def switch(self, scope, depth, uniform):
        same = uniform and self.chance(35)
        value = self.expression(UINT, replace(scope, uniform=same), 2)
        count, outer = self.number(2, 7), self.in_loop
        parts, bodies = ["switch ({0} & 7) {{ case 0: {{"], []
        self.in_loop = False  # `break` would be the switch's
        for following in range(1, count + 1):
            bodies.append(self.statements(scope, depth, self.number(1, 3), same))
            leave = "" if self.chance(30) else " break;"
            last = following == count - 1 and self.chance(50)
            label = "}}" if following == count else "default: {{" if last else f"case {following}: {{{{"
            parts.append(f"}}}}{leave} {label}")
        self.in_loop = outer
        return Statement(parts, [value], bodies)

    # Functions.

    def function(self):
        name, result = self.fresh("f"), self.any_type()
        parameters = [self.any_type() for _ in range(self.number(1, 7))]
        named = [(f"p{n}", t, False) for n, t in enumerate(parameters)]
        scope = Scope(named, [], function=True)
        locals_, arrays = [], []
        outer, self.assignable = self.assignable, list(named)
        for _ in range(self.number(0, 3)):
            local = self.fresh("v")
            t = self.any_type()
            locals_.append(line(f"{t} {local} = {{0}};", self.expression(t, scope, 2)))
            self.assignable.append((local, t, False))
        if self.chance(40):
            locals_ += self.array(scope, arrays)
        scope = Scope(self.assignable, arrays, function=True)
        outer_loop, self.in_loop = self.in_loop, False
        body = self.statements(scope, 2, self.number(1, 5), False)
        self.in_loop = outer_loop
        value = self.expression(result, scope, 3)
        self.assignable = outer
        inline = "" if self.chance(25) else "__attribute__((noinline)) "
        head = f"static {inline}{result} {name}({', '.join(f'{t} {n}' for n, t, _ in named)})"
        self.functions.append((name, result, parameters))
        return Function(head, locals_, body, value)

    def array(self, scope, arrays):
        """Declares a private array, every element set."""
        name, t, size = self.fresh("a"), self.any_type(), self.pick([4, 8, 16, 32])
        step = scope.with_name("k", UINT, False)
        initial = self.expression(t, step, 2)
        arrays.append((name, t, size))
        return [Statement([f"{t} {name}[{size}]; for (uint k = 0; k < {size}; k++) {name}[k] = {{0}};"], [initial])]

    # Phases: what work-items exchange.

    def phase(self, scope, shared):
        """Every work-item writes, all wait, every work-item reads, all wait."""
        names = shared if self.chance(30) else [self.pick(shared)]
        found = []
        for name, t, operation in names:
            if operation:
                for _ in range(self.number(1, 3)):
                    found.append(line(f"ATOMIC({operation}, &{name}[{{0}} & {LDS_SLOTS - 1}], {{1}}, WORK_GROUP);", self.index(scope, 2), self.expression(t, scope, 2)))
            else:
                found.append(line(f"{name}[lid] = {{0}};", self.expression(t, scope, 3)))
                if t in (UINT, INT, ULONG):
                    # Until the barrier the place is this work-item's alone.
                    own = f"(local atomic_{t} *)&{name}[lid]"
                    exchanges = [self.exchange_at(scope, own, t, "WORK_GROUP") for _ in range(self.number(1, 4))]
                    found += [exchange for exchange in exchanges if exchange]
        found.append(line("BARRIER", fixed=True))
        readable = replace(scope, shared=[(n, t, LDS_SLOTS) for n, t, operation in names if not operation])
        for name, t, _ in readable.shared:
            found += self.fetch(scope, Expression(t, f"{name}[{{0}} & {LDS_SLOTS - 1}]", [self.index(scope, 2)]))
        for name, t, operation in names:
            if operation:
                targets = [v for v in self.assignable if v[1] == t and not v[2]]
                for target, _, _ in targets[:2]:
                    found.append(line(f"{target} = __opencl_atomic_load(&{name}[{{0}} & {LDS_SLOTS - 1}], __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);", self.index(scope, 2)))
        found += self.statements(readable, 2, self.number(1, 4), True)
        found.append(line("BARRIER", fixed=True))
        return found

    def cross_lane(self, scope):
        """An operation between lanes, all of which are there."""
        targets = [v for v in self.assignable if v[1] in (UINT, INT, NAMED["ushort"], ULONG) and not v[2]]
        target, t, _ = self.pick(targets)
        value = self.expression(UINT, scope, 2)
        way = self.number(0, 6)
        if way == 0:
            return line(f"{target} = (uint)__builtin_amdgcn_readfirstlane({{0}});", value)
        if way == 1:
            return line(f"{target} = (uint)__builtin_amdgcn_readlane({{0}}, {self.number(0, 32)});", value)
        if way == 2:
            return line(f"{target} = (uint)__builtin_amdgcn_ds_bpermute((({{0}} & 31) | (lane & 32)) << 2, {{1}});", self.index(scope, 2), value)
        if way == 3:
            return line(f"{target} = (uint)__builtin_amdgcn_ds_swizzle({{0}}, {self.number(0, 0x8000)});", value)
        if way == 4:
            return line(f"{target} = (uint)__builtin_amdgcn_update_dpp(0, {{0}}, {self.number(0x111, 0x120)}, 15, 15, 1);", value)
        # In wave32 clang 19 makes EXEC_HI the upper half of a condition that is always true, whatever that register holds.
        return line(f"{{{{ ulong mask = __builtin_amdgcn_uicmp({{0}}, 0u, 33); {target} = __builtin_amdgcn_wavefrontsize() == 64 ? mask : (uint)mask; }}}}", Expression(UINT, "(uint){0}", [self.condition(scope, 2)]))

    # The whole.

    def arguments(self):
        found = []
        for _ in range(self.number(1, 7)):
            t = self.pick([UINT, ULONG, FLOAT, DOUBLE, UINT])
            found.append((t, self.fresh("s"), self.bits(t)))
        return found

    def inputs(self):
        data = bytearray(align(max(IN_OFFSETS[t] + IN_ELEMENTS * t.size for t in SCALARS)))
        for t, offset in IN_OFFSETS.items():
            for n in range(IN_ELEMENTS):
                data[offset + n * t.size : offset + (n + 1) * t.size] = self.bits(t).to_bytes(t.size, "little")
        return bytes(data)

    def program(self):
        optimise = self.pick(["-O0", "-O1", "-O2", "-O2", "-O3"])
        wave = self.pick([32, 64])
        size = self.pick([32, 64, 96, 128])
        groups = self.number(1, 4)
        items = size * groups
        arguments = self.arguments()
        inputs = self.inputs()
        functions = [self.function() for _ in range(self.number(0, 4))]
        identity = [("lid", UINT, False), ("gid", UINT, False), ("group", UINT, True), *((n, t, True) for t, n, _ in arguments)]
        out_bytes, memory = 0, []
        for _ in range(self.number(0, 4)):
            t = self.pick([UINT, INT, ULONG]) if self.chance(30) else self.pick(INTEGERS).vector(self.pick([1, 1, 2, 4]))
            memory.append((out_bytes, t))
            out_bytes = align(out_bytes + items * MEMORY_ELEMENTS * t.size)
        word_bytes = 0
        if self.chance(60):
            for _ in range(self.number(1, 4)):
                operation = self.pick(list(ATOMICS))
                t = self.pick(ATOMICS[operation])
                self.words.append((word_bytes, t, operation))
                word_bytes += WORDS * t.size

        declarations, scope = [], Scope(list(identity), [], memory)
        for n in range(self.number(6, 14)):
            same = n % 3 == 2
            t = UINT if n == 0 else self.any_type()
            name = self.fresh("u" if same else "v")
            declarations.append((name, line(f"{t} {name} = {{0}};", self.expression(t, replace(scope, uniform=same), 3))))
            scope = scope.with_name(name, t, same)
            self.assignable.append((name, t, same))
        arrays = []
        for _ in range(self.number(0, 4)):
            statement = self.array(scope, arrays)
            declarations.append((arrays[-1][0], statement[0]))
        scope = replace(scope, arrays=arrays)
        shared = []
        for _ in range(self.number(0, 5)):
            name = self.fresh("l")
            operation = self.pick(list(ATOMICS)) if self.chance(30) else None
            t = self.pick(ATOMICS[operation]) if operation else self.any_type()
            shared.append((name, t, operation))
            atomic = "atomic_" if operation else ""
            initial = f"__opencl_atomic_init(&{name}[k], ({t})(k * 77))" if operation else f"{name}[k] = ({t})(0)"
            declarations.append((name, line(f"local {atomic}{t} {name}[{LDS_SLOTS}]; for (uint k = lid; k < {LDS_SLOTS}; k += {size}) {initial};")))
        body = [line("BARRIER", fixed=True)] if shared else []
        for _ in range(self.number(4, 9)):
            way = self.number(0, 100)
            if way < 45 and shared:
                body += self.phase(scope, shared)
            elif way < 55:
                body.append(self.cross_lane(scope))
            else:
                body += self.statements(scope, 3, self.number(1, 4), True)
        observations = []
        for name, t, _ in self.assignable:
            observations.append(Observation(name, t, out_bytes))
            out_bytes = align(out_bytes + items * t.size)
        return Program(self.seed, optimise, wave, size, groups, arguments, inputs, out_bytes, max(word_bytes, 64), functions, declarations, body, observations)


def program(seed):
    """The program of a seed."""
    return Programs(seed).program()


if __name__ == "__main__":
    import sys

    sys.stdout.write(program(int(sys.argv[1])).source())
