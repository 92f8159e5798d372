#!/usr/bin/env python3
"""Compares what random programs compute on the simulated machine with what clang-19 makes of them for x86-64.

    differential.py batch DIR FIRST COUNT      write programs, code objects and expected results of COUNT seeds into DIR
    differential.py run DIR FIRST COUNT        the same, then run them; the exit status says whether all agree
    differential.py shrink SEED FILE           reduce the program of a seed that differs to a small one, FILE
    differential.py show SEED                  print the program of a seed
    differential.py committed [--check]        (re)make, or compare, ../../tests/data/differential

A batch is DIR/sources/<name>.cl, DIR/objects/<target>/wave<size>/<name>.hsaco and DIR/cases/<name>.json (the format of
tests/data/kernels); tests/differential.rs runs it. `--targets a,b` chooses among TARGETS.
"""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
import batch  # noqa: E402
import generate  # noqa: E402
import shrink  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", default=",".join(batch.TARGETS), help="default: %(default)s")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("batch", "run"):
        command = commands.add_parser(name)
        command.add_argument("directory", type=pathlib.Path)
        command.add_argument("first", type=int)
        command.add_argument("count", type=int)
    command = commands.add_parser("shrink")
    command.add_argument("seed", type=int)
    command.add_argument("output", type=pathlib.Path)
    commands.add_parser("show").add_argument("seed", type=int)
    commands.add_parser("committed").add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    targets = arguments.targets.split(",")
    if arguments.command == "show":
        sys.stdout.write(generate.program(arguments.seed).source())
    elif arguments.command == "shrink":
        small = shrink.shrink(generate.program(arguments.seed), targets, arguments.output)
        print(arguments.output if small else f"seed {arguments.seed} does not differ")
    elif arguments.command == "committed":
        return batch.committed(arguments.check)
    else:
        directory = arguments.directory.resolve()
        programs = {str(seed): generate.program(seed) for seed in range(arguments.first, arguments.first + arguments.count)}
        broken = batch.write(directory, programs, targets)
        for name, complaint in broken.items():
            print(f"{name}: {complaint}")
        if arguments.command == "run":
            return 1 if batch.run(directory) or broken else 0
        return 1 if broken else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
