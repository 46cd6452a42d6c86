"""The profilers that are compared: how each is run and how its data are read."""

import collections
import dataclasses
import json
import os
import pathlib
import re
import shutil

from .process import run


@dataclasses.dataclass
class Profiled:
    """What a profiler says of one run."""

    samples: int
    # CPU seconds that the samples stand for, or none where the profiler does not say.
    seconds: float | None = None
    # Call paths, outermost first, with their samples; none where they are not read here.
    stacks: dict | None = None
    # Samples of waits, which come on top.
    waits: int = 0


class Peer:
    """A way to run a program, `rate` samples a second asked for."""

    name = ""
    missing = None

    def __init__(self, rate):
        self.rate = rate

    @property
    def title(self):
        return f"{self.name} @{self.rate}" if self.rate else self.name

    def command(self, program, data):
        """The command line and environment that profile `program` into `data`."""
        raise NotImplementedError

    def read(self, program, data, ended):
        """Reads the data."""
        raise NotImplementedError

    def process(self, program, data):
        """The command line of a first report, or none."""


class Plain(Peer):
    name = "plain"

    def command(self, program, data):
        return program, {}


class Floor(Peer):
    """An empty handler: the least that any sampler can cost."""

    library = None

    def __init__(self, rate, clock):
        super().__init__(rate)
        self.clock = clock
        self.name = {"cpu": "floor, CPU timer", "trap": "floor, perf task-clock"}[clock]

    def command(self, program, data):
        return program, {"LD_PRELOAD": str(self.library), "FLOOR_MODE": self.clock, "FLOOR_RATE": str(self.rate)}

    def read(self, program, data, ended):
        return Profiled(int(re.search(r"FLOOR samples (\d+)", ended.stderr)[1]))


class Falloff(Peer):
    binary = None

    def __init__(self, rate, event):
        super().__init__(rate)
        self.event = event
        self.name = f"falloff {event}"

    def command(self, program, data):
        return [self.binary, "run", "-e", f"{self.event}@{self.rate}", "-o", data, "--", *program], {}

    def export(self, data, metric):
        lines = run([self.binary, "export", data, "--format", "folded", "--metric", metric, "-o", "-"]).stdout
        return [line.rsplit(" ", 1) for line in lines.splitlines()]

    def read(self, program, data, ended):
        health = json.loads(run([self.binary, "view", data, "--metric", "cpu", "--format", "json"]).stdout)["health"]
        stacks = {tuple(path.split(";")): int(value) for path, value in self.export(data, "samples")}
        seconds = sum(int(value) for _, value in self.export(data, "cpu")) / 1e6
        return Profiled(health["samples"], seconds, stacks, health["wait_samples"])

    def process(self, program, data):
        return [self.binary, "view", data]


class Gperftools(Peer):
    name = "gperftools"
    libraries = sorted(pathlib.Path("/usr/lib").glob("*/libprofiler.so.0"))
    missing = None if libraries else "no libprofiler.so.0 (Debian: libgoogle-perftools4)"

    def command(self, program, data):
        return program, {"LD_PRELOAD": str(self.libraries[0]), "CPUPROFILE": str(data),
                         "CPUPROFILE_FREQUENCY": str(self.rate), "CPUPROFILE_PER_THREAD_TIMERS": "1"}

    def read(self, program, data, ended):
        samples = int(re.search(r"interrupts/evictions/bytes = (\d+)", ended.stderr)[1])
        stacks = None
        if shutil.which("google-pprof"):
            text = run(["google-pprof", "--collapsed", program[0], data]).stdout
            rows = (line.rsplit(" ", 1) for line in text.splitlines() if line.rsplit(" ", 1)[-1].isdigit())
            stacks = {tuple(path.split(";")): int(count) for path, count in rows}
        # A sample stands for the period asked for, however many come.
        return Profiled(samples, samples / self.rate, stacks)

    def process(self, program, data):
        return ["google-pprof", "--text", program[0], data] if shutil.which("google-pprof") else None


class Perf(Peer):
    missing = None if shutil.which("perf") else "no perf (Debian: linux-perf)"

    def __init__(self, rate, graph):
        super().__init__(rate)
        self.graph = graph
        self.name = f"perf {graph}"

    def command(self, program, data):
        graph = "dwarf,8192" if self.graph == "dwarf" else self.graph
        period = 1_000_000_000 // self.rate
        return ["perf", "record", "-q", "-e", "cpu-clock:u", "-c", str(period), "--call-graph", graph, "-o", data, "--",
                *program], {}

    def read(self, program, data, ended):
        text = run(["perf", "script", "--no-inline", "-F", "comm,ip,sym", "-i", data]).stdout
        comm = pathlib.Path(program[0]).name
        stacks = collections.Counter()
        for block in text.split("\n\n"):
            lines = block.strip("\n").splitlines()
            if lines and lines[0].split()[:1] == [comm]:
                stacks[tuple(line.split(None, 1)[-1].strip() for line in reversed(lines[1:]))] += 1
        samples = sum(stacks.values())
        return Profiled(samples, samples / self.rate, stacks)

    def process(self, program, data):
        return ["perf", "report", "--no-inline", "--stdio", "-i", data]


class Samply(Peer):
    name = "samply"
    missing = (
        "no samply on PATH (cargo install samply)" if not shutil.which("samply")
        else None if os.geteuid() == 0 else "needs root here"
    )

    def command(self, program, data):
        # It refuses where perf_event_paranoid is 2, root or not: in a mount namespace of its own it is shown 1.
        shown = 'mount --bind "$1" /proc/sys/kernel/perf_event_paranoid && shift && exec "$@"'
        one = pathlib.Path(data).with_name("one")
        one.write_text("1\n")
        return ["unshare", "-m", "sh", "-c", shown, "sh", one, "samply", "record", "-s", "-r", str(self.rate), "-o", data,
                "--", *program], {}

    def read(self, program, data, ended):
        import gzip
        raw = pathlib.Path(data).read_bytes()
        profile = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
        return Profiled(sum(len(thread["samples"]["stack"]) for thread in profile["threads"]))


class Hpcrun(Peer):
    name = "HPCToolkit"
    missing = None if shutil.which("hpcrun") else "no hpcrun on PATH"

    def command(self, program, data):
        return ["hpcrun", "-e", f"CPUTIME@f{self.rate}", "-o", data, *program], {}

    def read(self, program, data, ended):
        logs = "".join(log.read_text(errors="replace") for log in pathlib.Path(data).glob("*.log"))
        return Profiled(sum(map(int, re.findall(r"SUMMARY: samples: (\d+)", logs))))

    def process(self, program, data):
        return ["hpcprof", "-o", f"{data}.db", data] if shutil.which("hpcprof") else None


def all_peers():
    """Everything that can be asked for, falloff last: with and without waits, which the others do not measure."""
    return [
        Plain(None),
        Floor(200, "cpu"), Floor(1000, "trap"), Floor(10000, "trap"),
        Gperftools(1000), Perf(1000, "fp"), Perf(1000, "dwarf"), Samply(1000), Hpcrun(1000),
        Falloff(200, "cpu"), Falloff(200, "time"), Falloff(1000, "time"), Falloff(10000, "time"),
    ]
