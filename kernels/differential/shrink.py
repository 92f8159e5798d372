"""Reduces a program whose results differ to a small one that still differs."""

import copy
import pathlib
import re
import tempfile

import batch
from expressions import Expressions
from language import Expression, Statement

AT_ONCE = 24  # variants that are tried in one batch
KNOWN = 12  # characters of the report that a variant must repeat, so that it shows the same difference


def nodes(root):
    """Every statement and expression below a program, as (container, key) pairs, outer ones first."""
    for function in root.functions:
        yield from of_list(function.locals)
        yield from of_list(function.body)
        yield from of_expression(function, "result")
    for _, statement in root.declarations:
        yield from of_statement(statement)
    yield from of_list(root.body)


def of_list(statements):
    for n, statement in enumerate(statements):
        yield statements, n
        yield from of_statement(statement)


def of_statement(statement):
    for body in statement.bodies:
        yield from of_list(body)
    for n in range(len(statement.children)):
        yield from of_expression(statement.children, n)


def of_expression(container, key):
    yield container, key
    for n in range(len(get(container, key).children)):
        yield from of_expression(get(container, key).children, n)


def get(container, key):
    return container[key] if isinstance(container, list) else getattr(container, key)


def put(container, key, value):
    if isinstance(container, list):
        container[key] = value
    else:
        setattr(container, key, value)


def weight(node):
    bodies = sum(weight(s) for body in getattr(node, "bodies", []) for s in body)
    return 1 + bodies + sum(weight(child) for child in node.children)


def uses(program):
    """All words of the program's text."""
    return re.findall(r"\w+", program.source())


def without_unused(program):
    """Drops functions, variables, observations and barriers that nothing needs; changes no result."""
    while True:
        words = uses(program)
        size = len(words)
        program.functions = [f for f in program.functions if words.count(re.search(r"(\w+)\(", f.head.replace("__attribute__((noinline))", ""))[1]) > 1]
        for function in program.functions:
            text = "\n".join(function.lines())
            function.locals = [s for s in function.locals if len(re.findall(rf"\b{declared(s)}\b", text)) > mentions(s)]
        program.declarations = [(n, s) for n, s in program.declarations if words.count(n) > mentions(s)]
        if not any(s.parts[0].startswith("local ") for _, s in program.declarations):
            program.body = [s for s in program.body if not s.fixed]
        if len(uses(program)) == size:
            return program


def declared(statement):
    return re.match(r"(?:local )?\w+ (\w+)", statement.parts[0])[1]


def mentions(statement):
    """How often a declaration names what it declares."""
    return len(re.findall(rf"\b{declared(statement)}\b", "\n".join(statement.lines())))


def edits(program):
    """Functions that each make one change to a copy of `program`, the largest cuts first."""
    found = []
    places = list(nodes(program))
    for index, (container, key) in enumerate(places):
        node = get(container, key)
        size = weight(node)
        if isinstance(node, Statement):
            if node.fixed:
                continue
            if not is_declaration(program, container):
                found.append((size, index, ("delete",)))
            for n in range(len(node.bodies)):
                found.append((size - sum(map(weight, node.bodies[n])), index, ("body", n)))
        else:
            if node.children or node.text not in plain(node.type):
                for text in plain(node.type):
                    found.append((size, index, ("text", text)))
            for n, child in enumerate(node.children):
                if child.type == node.type:
                    found.append((size - weight(child), index, ("child", n)))
                elif child.children and convertible(child.type, node.type):
                    found.append((size - weight(child) - 1, index, ("convert", n)))
    found.sort(key=lambda e: -e[0])
    if len(program.observations) > 1:
        found = [(0, None, ("forget", o.name)) for o in program.observations] + found
    found += [(0, None, ("groups", 1)), (0, None, ("optimise", "-O0")), (0, None, ("optimise", "-O1"))]
    return [(index, change) for _, index, change in found]


def is_declaration(program, container):
    return any(container is f.locals for f in program.functions)


def convertible(source, target):
    return source.lanes == target.lanes == 1 and (source.kind != "f" or target.kind == "f")


def plain(t):
    return [f"({t})(0)", f"({t})(1)"]


def apply(program, changes):
    """A copy of `program` with the changes, each an (index among its nodes or None, change)."""
    program = copy.deepcopy(program)
    places = list(nodes(program))
    changes = {change if index is None else index: (index, change) for index, change in changes}.values()  # one a node
    # From the back, so that a list's earlier places stay what they were; an outer node comes after its inner ones.
    for index, (kind, *details) in sorted(changes, key=lambda c: -1 if c[0] is None else c[0], reverse=True):
        if kind == "forget":
            program.observations = [o for o in program.observations if o.name != details[0]] or program.observations
        elif kind == "groups":
            program.groups = min(program.groups, details[0])
        elif kind == "optimise":
            program.optimise = min(program.optimise, details[0])
        else:
            change_node(*places[index], kind, *details)
    return without_unused(program)


def change_node(container, key, kind, detail=None):
    node = get(container, key)
    if kind == "delete":
        del container[key]
    elif kind == "body":
        container[key : key + 1] = node.bodies[detail]
    elif kind == "text":
        put(container, key, Expression(node.type, detail))
    elif kind == "child":
        put(container, key, node.children[detail])
    elif kind == "convert":
        put(container, key, Expressions(0).converted(node.type, node.children[detail]))


def differing(directory, programs, targets):
    """Which of the programs differ, with the report."""
    named = programs if isinstance(programs, dict) else dict(enumerate(programs))
    broken = batch.write(directory, {str(n): p for n, p in named.items()}, targets)
    if len(broken) == len(named) == 1:
        print(*broken.values())
    reports = {}
    for report in batch.run(directory, quiet=True):
        name, target, wave, text = report.removeprefix("differs: ").split(" ", 3)
        reports.setdefault(int(name), (target, text))
    return reports


def agreeing(scratch, program, sets, targets, kind):
    """Of the sets of changes, those after which the program still differs alike: (changes, program, report)."""
    variants = {n: apply(program, changes) for n, changes in enumerate(sets)}
    variants = {n: v for n, v in variants.items() if v.source() != program.source()}
    reports = differing(scratch, variants, targets) if variants else {}
    return [(sets[n], variants[n], text) for n, (_, text) in sorted(reports.items()) if text[:KNOWN] == kind]


def shrink(program, targets, output):
    """Reduces `program` as long as it differs on one of the targets, writes it to `output`; None if it never did."""
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        first = differing(scratch, [without_unused(program)], targets)
        if not first:
            return None
        target, report = first[0]
        targets, kind = [target], report[:KNOWN]
        print(f"seed {program.seed} on {target}: {report}")
        program = without_unused(program)
        changes, position, failed = edits(program), 0, 0
        while failed < len(changes):
            tried = [changes[(position + n) % len(changes)] for n in range(min(AT_ONCE, len(changes) - failed))]
            good = agreeing(scratch, program, [[change] for change in tried], targets, kind)
            if not good:
                failed, position = failed + len(tried), position + len(tried)
                continue
            # All that work alone, together or in part; else the first of them.
            single = [change for (change,), _, _ in good]
            parts = [single[: n * len(single) // 4 or 1] for n in (4, 3, 2)] if len(single) > 1 else []
            good = agreeing(scratch, program, parts, targets, kind) + good[:1]
            _, program, report = good[0]
            # What stands before failed on the larger program: go on from here, and come back to it later.
            changes, failed = edits(program), 0
            print(f"{len(program.source())} characters, {report[:100]}", flush=True)
            output.write_text(f"// {program.header()}\n// {target}: {report}\n{program.source()}")
        return program
