"""The programs that are profiled."""

import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent.parent
FLAGS = "-O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -pthread".split()

# Name: source, arguments for about two seconds of CPU time. cdeep times itself in chunks of about a millisecond at
# any depth, since the work is at the leaf.
PROGRAMS = {
    "cdeep30": ("cdeep.c", ["30", "700", "2000"]),
    "cdeep200": ("cdeep.c", ["200", "700", "1600"]),
    "deep": ("deep.c", ["30", "700000", "2"]),
    "fib": ("fib.c", ["32", "180", "1"]),
    "sorts": ("sorts.cpp", ["60000", "60", "1"]),
    "cg": ("cg.f90", ["300", "50"]),
}
COMPILERS = {".c": "gcc", ".cpp": "g++", ".f90": "gfortran"}


def build(work, names):
    """Builds what is needed; returns the command of each program."""
    commands = {}
    subprocess.run(["gcc", *FLAGS, "-c", HERE / "used.c", "-o", work / "used.o"], check=True)
    for name in names:
        source, arguments = PROGRAMS[name]
        binary = work / pathlib.Path(source).stem
        if not binary.exists():
            compiler = COMPILERS[pathlib.Path(source).suffix]
            subprocess.run([compiler, *FLAGS, HERE / source, work / "used.o", "-o", binary], check=True,
                           cwd=work)
        commands[name] = [str(binary), *arguments]
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", HERE / "floor.c", "-o", work / "floor.so"], check=True)
    return commands


def chunk_us(ended):
    """Mean of a self-timed program's undisturbed chunks, or none."""
    found = re.search(r"tmean ([0-9.]+)", ended.stderr)
    return float(found[1]) if found else None


def short_chunks(command, rate):
    """The command of cdeep for a quarter of a second in chunks of a tenth of the period of `rate`."""
    binary, depth, *_ = command
    return [binary, depth, str(700_000 // rate // 10), str(10 * rate // 4)]


def added_us_a_second(ended):
    """What came into a self-timed program's chunks, in us a second."""
    added, counted = re.search(r"ADDED (-?[0-9.]+) us in ([0-9.]+) us", ended.stderr).groups()
    return float(added) / float(counted) * 1e6


def used_seconds(ended):
    """CPU time that a program says it has used itself."""
    return float(re.search(r"USED ([0-9.]+)", ended.stderr)[1])


def depth_of(name):
    """Depth of the chain of cdeep, or none."""
    return int(PROGRAMS[name][1][0]) if name.startswith("cdeep") else None


def is_exact(frames, depth):
    """Whether a call path of cdeep, outermost first, is one that the program really takes."""
    names = [re.split(r"[<\[@(]", frame)[0] for frame in frames]
    if "main" not in names:
        # The loader begins and the C library ends a program.
        return names[0].startswith(("_start", "_dl_start")) and not any(map(re.compile("f[0-3]|leaf").fullmatch, names))
    # work is inlined into main; some profilers show it all the same.
    below = [name for name in names[names.index("main") + 1:] if name != "work"]
    if not below or not re.fullmatch("f[0-3]|leaf", below[0]):
        # Between the chunks the program reads the clock, and at the end it sorts.
        return True
    leaf = below[-1] == "leaf"
    chain = below[:-1] if leaf else below
    complete = len(chain) == depth + 1 if leaf else len(chain) <= depth + 1
    return complete and chain == [f"f{level % 4}" for level in range(len(chain))]
