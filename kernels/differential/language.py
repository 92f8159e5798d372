"""The programs of the differential test as trees, and their OpenCL C.

An expression or statement is a piece of text with holes `{0}`, `{1}`, ... for expressions, so that shrink.py can take
any tree apart without knowing what it says. Whatever keeps a program free of undefined behaviour (masks, guards) is in
the text of the node that needs it, and so survives every replacement of its children.
"""

import json
from dataclasses import dataclass, field, fields

from helpers import used_by
from scalars import NAMED, Type



@dataclass
class Expression:
    type: Type
    text: str
    children: list = field(default_factory=list)

    def __str__(self):
        return self.text.format(*self.children) if self.children else self.text


@dataclass
class Statement:
    """`parts` is the text before, between and after `bodies`, lists of statements; `children` are its expressions."""

    parts: list
    children: list = field(default_factory=list)
    bodies: list = field(default_factory=list)
    fixed: bool = False  # shrinking must leave it: a barrier

    def lines(self, indent="  "):
        texts = [part.format(*self.children) for part in self.parts]
        for text, body in zip(texts, [*self.bodies, []]):
            yield indent + text
            for statement in body:
                yield from statement.lines(indent + "  ")


def line(text, *children, fixed=False):
    return Statement([text], list(children), fixed=fixed)


def block(head, *children, body):
    return Statement([head + " {{", "}}"], list(children), [body])


@dataclass
class Function:
    head: str
    locals: list
    body: list
    result: Expression

    def lines(self):
        yield self.head + " {"
        for statement in self.locals + self.body:
            yield from statement.lines()
        yield f"  return {self.result};"
        yield "}"


@dataclass
class Observation:
    """Where memory holds what a variable was at the end."""

    name: str
    type: Type
    offset: int

    def lines(self, items):
        t, name = self.type, self.name
        stored = t.integer if t.kind == "f" else t
        bits = "bits_{0}({1})" if t.kind == "f" else "{1}"
        if t.kind == "f" and t.lanes > 1 or t.lanes == 3:
            for n in range(t.lanes):
                value = bits.format(t.name, f"{name}.s{n}")
                yield f"  OUT({stored.element}, {self.offset})[gid * {t.lanes} + {n}] = {value};"
        else:
            yield f"  OUT({stored}, {self.offset})[gid] = {bits.format(t.name, name)};"


@dataclass
class Dispatch:
    """How a program is compiled and started."""

    seed: int
    optimise: str
    wave: int
    block: int
    groups: int
    arguments: list  # (type, name, bits)
    inputs: bytes
    out_bytes: int
    word_bytes: int  # where atomics meet

    @property
    def items(self):
        return self.block * self.groups

    def header(self):
        """All of this as one line of text."""
        arguments = [(t.name, name, bits) for t, name, bits in self.arguments]
        return json.dumps({**{f.name: getattr(self, f.name) for f in fields(Dispatch)}, "arguments": arguments, "inputs": self.inputs.hex()})


@dataclass
class Stored(Dispatch):
    """A program of which only the text is left."""

    text: str

    @classmethod
    def read(cls, path):
        text = path.read_text()
        header = json.loads(text.splitlines()[0].removeprefix("// "))
        header["arguments"] = [(NAMED[t], name, bits) for t, name, bits in header["arguments"]]
        return cls(**{**header, "inputs": bytes.fromhex(header["inputs"])}, text=text)

    def source(self):
        return self.text


@dataclass
class Program(Dispatch):
    functions: list
    declarations: list  # [(name, statement)]
    body: list
    observations: list

    def source(self):
        parameters = ["global const uchar *in", "constant uchar *table", "global uchar *out", "global uchar *words"]
        parameters += [f"{t} {name}" for t, name, _ in self.arguments]
        lines = []
        for function in self.functions:
            lines += function.lines()
        lines.append(f"kernel void program({', '.join(parameters)}) {{")
        lines.append("  uint lid = __builtin_amdgcn_workitem_id_x(), group = __builtin_amdgcn_workgroup_id_x();")
        lines.append(f"  uint gid = group * {self.block} + lid, lane = LANE;")
        for _, statement in self.declarations:
            lines += statement.lines()
        for statement in self.body:
            lines += statement.lines()
        for observation in self.observations:
            lines += observation.lines(self.items)
        text = "\n".join(lines) + "\n}\n"
        head = f"// Seed {self.seed}: {self.optimise}, workgroups of {self.block}.\n"
        return head + PRELUDE + "".join(helper + "\n" for helper in used_by(text)) + text


PRELUDE = """\
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#ifdef __AMDGCN__
#define GPU 1
#else
#define GPU 0
#endif
#define LANE __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0))
#define OUT(T, offset) ((global T *)(out + (offset)))
#define FENCE __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
#define BARRIER FENCE __builtin_amdgcn_s_barrier(); FENCE
#define ATOMIC(op, p, v, scope) (void)__opencl_atomic_fetch_##op(p, v, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_##scope)
"""
