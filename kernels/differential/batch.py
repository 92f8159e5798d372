"""Compiles programs for GPUs and for x86-64, and records what the latter compute."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "reference"))
import reference  # noqa: E402

import generate  # noqa: E402
from language import Stored  # noqa: E402

# What the simulator executes.
TARGETS = ("gfx1151", "gfx1100", "gfx1201", "gfx90a", "gfx942", "gfx906", "gfx1030")
COMMITTED = ROOT / "tests" / "data" / "differential"
COMMITTED_SEEDS = range(12)
STORED = ("objects", "cases")

CLANG = "clang-19"
# As C says it: wrapping integers, no fused operations, exact division and square root.
LANGUAGE = ("-x", "cl", "-cl-std=CL2.0", "-cl-fp32-correctly-rounded-divide-sqrt", "-ffp-contract=off", "-fwrapv", "-w")
GPU = ("--target=amdgcn-amd-amdhsa", "-nogpulib", "-mcode-object-version=5", "-Xlinker", "-s")
X86 = ("--target=x86_64-linux-gnu", "-O0", "-mavx2", "-mfma", "-mf16c", "-Xclang", "-ffloat16-excess-precision=none", "-Xclang", "-cl-ext=+cl_khr_fp16",
       "-fPIC", "-shared", "-include", str(HERE.parent / "reference" / "lockstep.h"), "-lm")  # fmt: skip


def compiled(*command):
    """Runs a compiler; its complaint, or nothing."""
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE)
    return f"{' '.join(map(str, command))}\n{done.stderr}" if done.returncode else None


def waves(target):
    """The wave sizes of a target."""
    return (64,) if target.startswith("gfx9") else (32, 64)


def wave_on(program, target):
    return program.wave if program.wave in waves(target) else waves(target)[0]


def build_one(directory, name, program, targets):
    """Writes source, objects and x86 library of a program; a compiler's complaint, or nothing."""
    source = directory / "sources" / f"{name}.cl"
    source.write_text(program.source())
    for target in targets:
        wave = wave_on(program, target)
        output = directory / "objects" / target / f"wave{wave}" / f"{name}.hsaco"
        output.parent.mkdir(parents=True, exist_ok=True)
        size = "-mwavefrontsize64" if wave == 64 else "-mno-wavefrontsize64"
        complaint = compiled(CLANG, *LANGUAGE, *GPU, f"-mcpu={target}", size, program.optimise, source, "-o", output)
        if complaint:
            return complaint
    return compiled(CLANG, *LANGUAGE, *X86, source, "-o", directory / "x86" / f"{name}.so")


def case(program, wave):
    """The dispatch of a program."""
    inputs = reference.Fill("hex", hex=program.inputs.hex())
    buffers = [
        reference.Buffer(len(program.inputs), inputs),
        reference.Buffer(len(program.inputs), inputs),
        reference.Buffer(program.out_bytes, reference.integers(1, program.seed), out=True),
        reference.Buffer(program.word_bytes, reference.integers(1, program.seed + 1), out=True),
    ]
    scalars = [Bits(t, bits) for t, _, bits in program.arguments]
    return reference.Case("program", program.items, program.block, buffers + scalars, wave)


class Bits(reference.Scalar):
    """An argument given as its bits."""

    def __init__(self, t, bits):
        super().__init__(f"{'f' if t.kind == 'f' else 'u'}{t.bits}", bits)

    def bits(self):
        return self.value, None


def write(directory, named, targets, whole=True):
    """Writes a batch of programs by name; returns the complaint for each that could not be made. `whole`: cases hold
    all expected bytes, not a hash of them."""
    for folder in ("sources", "objects", "cases", "x86"):
        shutil.rmtree(directory / folder, ignore_errors=True)
        (directory / folder).mkdir(parents=True)
    engine = directory / "x86" / "lockstep.so"
    problem = compiled(CLANG, "-std=gnu11", "-O2", "-mfma", "-mf16c", "-fPIC", "-shared", "-w", HERE.parent / "reference" / "lockstep.c", "-o", engine)
    if problem:
        raise SystemExit(problem)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = dict(zip(named, pool.map(lambda n: build_one(directory, n, named[n], targets), named)))
    good = [name for name in named if not complaints[name]]
    wanted = {name: sorted({wave_on(named[name], target) for target in targets}) for name in good}
    record(directory, {name: (named[name], wanted[name]) for name in good}, whole)
    shutil.rmtree(directory / "x86")
    return {name: complaint for name, complaint in complaints.items() if complaint}


def record(directory, programs, whole):
    """Runs the x86 libraries in a child process, since every one of them stays loaded, and writes the cases."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            reference.WHOLE_HEX = 2**32 if whole else 0
            lockstep = reference.ctypes.CDLL(str(directory / "x86" / "lockstep.so"), mode=reference.ctypes.RTLD_GLOBAL)
            for name, (program, sizes) in programs.items():
                library = reference.ctypes.CDLL(str(directory / "x86" / f"{name}.so"))
                lines = [json.dumps(case(program, wave).run(lockstep, library), separators=(",", ":")) for wave in sizes]
                text = f'{{"object":"{name}","cases":[\n' + ",\n".join(lines) + "\n]}\n"
                (directory / "cases" / f"{name}.json").write_text(text)
            status = 0
        except Exception as error:
            print(f"reference: {error!r}", file=sys.stderr)
        finally:
            os._exit(status)
    if os.waitpid(child, 0)[1]:
        raise SystemExit("the x86 programs did not run to their end")


def run(directory, quiet=False):
    """Runs a batch on the simulated machine; returns the lines that report differences."""
    environment = {**os.environ, "SELVEDGE_DIFFERENTIAL": str(directory)}
    command = ["cargo", "test", "--quiet", "--test", "differential", "batch", "--", "--nocapture"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    reports = [line for line in done.stdout.splitlines() if line.startswith("differs: ")]
    for line in done.stdout.splitlines():
        if not quiet and line.startswith(("differs: ", "differential: ")):
            print(line)
    if done.returncode and not reports and any((directory / "cases").iterdir()):
        raise SystemExit(f"the test did not run:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return reports


def committed(check):
    """Makes or compares the batch that every `cargo test` runs: some seeds, and the programs that once differed."""
    named = {str(seed): generate.program(seed) for seed in COMMITTED_SEEDS}
    named |= {path.stem: Stored.read(path) for path in sorted((HERE / "found").glob("*.cl"))}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        broken = write(scratch, named, list(TARGETS), whole=False)
        if broken:
            raise SystemExit("\n".join(broken.values()))
        fresh = files(scratch)
    here = files(COMMITTED)
    differing = [str(p) for p in sorted(fresh.keys() | here.keys()) if fresh.get(p) != here.get(p)]
    if not check:
        for folder in STORED:
            shutil.rmtree(COMMITTED / folder, ignore_errors=True)
        for path, data in fresh.items():
            (COMMITTED / path).parent.mkdir(parents=True, exist_ok=True)
            (COMMITTED / path).write_bytes(data)
    print(f"{len(fresh)} files" + "".join(f"\n{p}: differs" for p in differing if check))
    return 1 if check and differing else 0


def files(batch):
    """path: contents, of what is stored of a batch."""
    return {p.relative_to(batch): p.read_bytes() for folder in STORED for p in sorted((batch / folder).rglob("*")) if p.is_file()}
