"""Where the time of a sample goes: the profiled program profiled by perf."""

import collections
import pathlib
import re
import shutil

from .process import run

# In nanoseconds; in step with no clock that is measured.
PERIOD = 97_003
# Seconds at the beginning that are left out: what starting costs is measured apart.
START = 0.25

missing = None if shutil.which("perf") else "no perf (Debian: linux-perf)"


class Handler:
    """CPU time of one run outside the program's own code, from perf's samples of user and kernel."""

    def __init__(self, peer, program, data, log):
        command, environment = peer.command(program, data)
        inner = [f"{name}={value}" for name, value in environment.items()]
        ended = run(["perf", "record", "-q", "-e", "cpu-clock", "-c", str(PERIOD), "-g", "-o", log, "--", "env", *inner,
                     *command])
        self.samples = peer.read(program, data, ended).samples if peer.name != "plain" else 0
        self.objects = collections.Counter()
        self.total = 0
        self.read(log, pathlib.Path(program[0]).name)

    def read(self, log, comm):
        """Counts perf's samples by the object whose code was running or had called the kernel."""
        text = run(["perf", "script", "-F", "comm,time,ip,sym,dso", "-i", log]).stdout
        begin = None
        for block in text.split("\n\n"):
            lines = block.strip("\n").splitlines()
            head = re.match(r"\s*(.+?)\s+([0-9.]+):", lines[0]) if lines else None
            if not head or head[1] != comm:
                continue
            time = float(head[2])
            begin = time if begin is None else begin
            if time < begin + START:
                continue
            self.total += 1
            frames = [re.search(r"\(([^()]*)\)$", line)[1] for line in lines[1:] if line.endswith(")")]
            own = next((frame for frame in frames if "kernel" not in frame), None)
            if own and own != "[unknown]" and pathlib.Path(own).name not in (comm, "[vdso]"):
                self.objects[pathlib.Path(own).name, "user" if frames[0] == own else "kernel"] += 1

    @property
    def taken(self):
        """Samples after the start."""
        seconds = self.total * PERIOD / 1e9
        return self.samples * seconds / (seconds + START)

    def outside(self, *kinds):
        """perf's samples in code that is not the program's: of kind "user", "kernel" or both."""
        return sum(count for (_, kind), count in self.objects.items() if kind in kinds)


def us_a_sample(runs, plain, *kinds):
    """Microseconds a sample over all of some runs: one has some dozens of perf's samples in a handler, too few to tell. What the
    program does there by itself, calling the C library, is taken off: the share of it in runs without a profiler."""
    taken = sum(one.taken for one in runs)
    by_itself = sum(one.outside(*kinds) for one in plain) / sum(one.total for one in plain)
    count = sum(one.outside(*kinds) - by_itself * one.total for one in runs)
    return count * PERIOD / 1e3 / taken if taken else float("nan")
