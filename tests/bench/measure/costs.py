"""What a sample costs, all in: falloff beside the delivery floor, many short runs taken in turn.

At 1000 samples a second a sampler slows a program by one or two percent; two processes of one program differ by as much. So each
process is compared with itself: of chunks a tenth as long as the period, one in ten has a sample in it, and is longer than those
beside it. What plain runs have of that, ticks of the kernel most of all, is taken off. Runs of a quarter of a second in turn see
the same noise of the machine: 240 of them tell the ratio of two such costs to 0.025, 60 of a second only to 0.05.
"""

import dataclasses
import statistics

from . import programs, tables
from .peers import Falloff, Floor, Plain


@dataclasses.dataclass
class Cost:
    """Of each round, what came on top of the program's chunks, in us a second of their time, and its samples in a second of CPU time."""

    added: list = dataclasses.field(default_factory=list)
    rates: list = dataclasses.field(default_factory=list)

    def us_a_sample(self, plain):
        """Microseconds a sample in each round: `plain` is that of the runs without a profiler."""
        return [(added - bare) / rate for added, bare, rate in zip(self.added, plain.added, self.rates)]


def one_run(cost, peer, program, data):
    """Runs `program` once and adds what it says."""
    ended = tables.run_under(peer, program, data)
    cost.added.append(programs.added_us_a_second(ended))
    if not isinstance(peer, Plain):
        cost.rates.append(peer.read(program, str(data), ended).samples / programs.used_seconds(ended))
    tables.clear(data)


def costs(peers, commands, work, runs):
    """The table; us a sample of each program, kind of peer and rate, as medians. At 10000 samples a second, where ten times as much
    is added to the same noise, a quarter of the runs are enough."""
    plain = next(peer for peer in peers if isinstance(peer, Plain))
    rows, results = [], {}
    for name in (name for name in commands if programs.depth_of(name) is not None):
        for rate, times in ((1000, runs), (10000, max(1, runs // 4))):
            sides = [peer for peer in peers if peer.rate == rate and isinstance(peer, (Floor, Falloff))]
            seen = {peer.title: Cost() for peer in (plain, *sides)}
            for number in range(times):
                for peer in tables.turned([plain, *sides], number):
                    one_run(seen[peer.title], peer, programs.short_chunks(commands[name], rate), work / "data")
            for peer in sides:
                each = seen[peer.title].us_a_sample(seen[plain.title])
                results[name, peer.title] = statistics.median(each)
                reached = statistics.median(seen[peer.title].rates)
                rows.append([name, peer.title, times, f"{reached:.0f}", tables.interval(each, 1)])
    print("## What a sample costs, all in\n")
    print(tables.table(["program", "profiler @rate asked", "runs", "samples a second of CPU time", "us a sample, median [quartiles]"],
                       rows))
    return results
