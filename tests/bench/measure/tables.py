"""Measuring, round by round, and the tables that come of it."""

import itertools
import shutil
import statistics

from . import handler, programs
from .peers import Falloff, Floor, Gperftools, Plain
from .process import allocated, run


def interval(values, digits=3):
    """Median and quartiles."""
    if len(values) < 2:
        return f"{values[0]:.{digits}f}" if values else "–"
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def table(heads, rows):
    """A Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def clear(path):
    """Removes what a run left."""
    shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True)


def turned(peers, number):
    """The peers in the order of one round: another is the first in each."""
    first = number % len(peers)
    return peers[first:] + peers[:first]


def run_under(peer, program, data):
    """Runs a program under a peer, which finds no data of another run."""
    clear(data)
    command, environment = peer.command(program, str(data))
    return run(command, environment)


class Rounds:
    """Interleaved runs of every peer on one program."""

    def __init__(self, name, program, peers, work):
        self.name, self.program, self.peers, self.work = name, program, peers, work
        # Of each peer: a mean chunk in us or CPU seconds of the process tree in each round, and of the last run the data and what
        # the program says to have used.
        self.costs = {peer.title: [] for peer in peers}
        self.read, self.bytes, self.cpu, self.report = {}, {}, {}, {}

    def measure(self, rounds):
        """Every peer once a round, in an order that changes from round to round."""
        for number in range(rounds):
            for peer in turned(self.peers, number):
                data = self.work / "data"
                ended = run_under(peer, self.program, data)
                self.costs[peer.title].append(programs.chunk_us(ended) or ended.cpu)
                if number == rounds - 1 and not isinstance(peer, Plain):
                    self.keep(peer, data, ended)
                clear(data)

    def keep(self, peer, data, ended):
        """Reads the last run's data."""
        title = peer.title
        self.cpu[title] = programs.used_seconds(ended)
        self.bytes[title] = allocated(data) if data.exists() else 0
        report = peer.process(self.program, str(data))
        # Before anything else has read the data: the first report does all the work.
        self.report[title] = run(report) if report else None
        self.read[title] = peer.read(self.program, str(data), ended)

    def ratios(self, title):
        """Cost against the plain run of the same round."""
        return [cost / plain for cost, plain in zip(self.costs[title], self.costs["plain"])]

    def us_a_sample(self, title):
        """What a sample cost, all in, by the median slow-down."""
        slower = statistics.median(self.ratios(title))
        return (1 - 1 / slower) * self.cpu[title] * 1e6 / max(1, self.read[title].samples)

    def exact(self, title):
        """Percent of samples whose call path is one that the program takes."""
        depth, stacks = programs.depth_of(self.name), self.read[title].stacks
        if depth is None or not stacks:
            return None
        good = sum(count for frames, count in stacks.items() if programs.is_exact(frames, depth))
        return 100 * good / sum(stacks.values())

    def show(self):
        """The table of one program."""
        rows = []
        for peer in self.peers[1:]:
            title, read, report = peer.title, self.read[peer.title], self.report[peer.title]
            exact = self.exact(title)
            rows.append([
                title, f"{read.samples} + {read.waits}" if read.waits else read.samples, interval(self.ratios(title)), f"{self.us_a_sample(title):.1f}",
                "–" if exact is None else f"{exact:.2f} %",
                "–" if read.seconds is None else f"{read.seconds / self.cpu[title]:.4f}",
                f"{self.bytes[title] / 1024:.0f} KiB" if self.bytes[title] else "–",
                f"{report.cpu:.2f} s, {report.rss_mb:.0f} MB" if report else "–",
            ])
        what = "chunk" if programs.depth_of(self.name) is not None else "CPU of the process tree"
        plain = statistics.median(self.costs["plain"])
        print(f"## {self.name}: {what} plain {plain:.4g} {'us' if what == 'chunk' else 's'}\n")
        print(table(["profiler @rate asked", "samples (+ of waits)", f"{what} against plain, median [quartiles]", "us a sample, all in",
                     "exact stacks", "metric total / the program's CPU time", "data on disk", "first report"], rows))


def handlers(peers, commands, work, runs):
    """Time in the handler, of those that run inside the program."""
    if handler.missing:
        print(f"## Time in the handler\nnot measured: {handler.missing}\n")
        return {}
    inside = [peer for peer in peers if isinstance(peer, (Plain, Floor, Gperftools, Falloff))]
    chains = [name for name in commands if programs.depth_of(name) is not None]
    seen = {pair: [] for pair in itertools.product(chains, inside)}
    for _, (name, peer) in itertools.product(range(runs), seen):
        clear(work / "data")
        one = handler.Handler(peer, commands[name], str(work / "data"), str(work / "perf.data"))
        seen[name, peer].append(one)
    rows, results = [], {}
    plain = {name: ones for (name, peer), ones in seen.items() if isinstance(peer, Plain)}
    for (name, peer), ones in seen.items():
        if isinstance(peer, Plain):
            continue
        user, both = (handler.us_a_sample(ones, plain[name], *kinds) for kinds in (["user"], ["user", "kernel"]))
        results[name, peer.title] = both
        each = [handler.us_a_sample([one], plain[name], "user", "kernel") for one in ones]
        rows.append([name, peer.title, sum(one.samples for one in ones), f"{user:.1f}", f"{both:.1f}", interval(each, 1)])
    print(f"## Time in the handler, us a sample (perf -c {handler.PERIOD} over the profiled program)\n")
    print(table(["program", "profiler", "samples", "user", "user and kernel", "of one run, median [quartiles]"], rows))
    return results


def starts(peers, work, rounds):
    """Starting a program that does nothing."""
    wall, cpu = ({peer.title: [] for peer in peers} for _ in range(2))
    for number in range(rounds):
        for peer in turned(peers, number):
            ended = run_under(peer, ["/bin/true"], work / "data")
            wall[peer.title].append(ended.wall * 1e3)
            cpu[peer.title].append(ended.cpu * 1e3)
    clear(work / "data")
    print("## Starting /bin/true\n")
    print(table(["profiler", "wall ms, median [quartiles]", "CPU ms of the process tree"],
                [[title, interval(wall[title], 1), interval(cpu[title], 1)] for title in wall]))
    return {title: statistics.median(times) for title, times in cpu.items()}
