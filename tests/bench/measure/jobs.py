"""What is measured of a parallel job, and how it is judged."""

import collections
import re
import shutil
import statistics

from . import tables
from .measurements import read_all
from .process import allocated, falloff_json, run

# First reports on one run.
REPORTS = 5


def lost(files, main=None):
    """Samples by what kept them from the root; of main threads or of others only, if asked."""
    counts = collections.Counter()
    for thread in (thread for file in files for thread in file.threads if main is None or thread.main == main):
        counts.update(thread.partial)
        counts.update(dropped_room=thread.dropped_room, dropped_unready=thread.dropped_unready, truncated=thread.truncated)
    return +counts


def reasons(counts):
    return ", ".join(f"{count} {why}" for why, count in sorted(counts.items())) or "none"


def judge_samples(files, report):
    """Over all applications: how many samples there were, and how many reach the root."""
    all_taken = 0
    for main, whose in ((True, "main threads"), (False, "other threads")):
        threads = [thread for file in files for thread in file.threads if thread.main == main]
        samples, waits = (sum(getattr(thread, what) for thread in threads) for what in ("samples", "waits"))
        all_taken += samples + waits
        report.fact(f"samples of {whose} + of waits; lost", f"{samples} + {waits}; {reasons(lost(files, main))}")
    stack = max(thread.handler_stack for file in files for thread in file.threads)
    report.goal("stack that a handler used at most, bytes", stack, "4096", stack < 4096)
    share = 1 - sum(lost(files).values()) / all_taken
    report.goal("samples over all applications", all_taken, "50000", all_taken >= 50_000)
    report.goal("of these, paths that reach the root", f"{100 * share:.4f} %", "99.99 %", share >= 0.9999)


class Measured:
    """Everything about one job: rounds of plain and measured runs, one run whose data are looked into, and one at a
    higher rate for many samples."""

    def __init__(self, job, rounds, rate, keep):
        self.job = job
        self.title = f"{job.application.name}, {job.ranks} rank{'s' * (job.ranks > 1)}"
        self.cpu, self.own, self.same, self.plain_cpu = [], [], [], []
        for number in range(rounds):
            self.round(number)
        name = f"{job.application.name}-{job.ranks}"
        self.kept, self.many = keep / f"{name}-default", keep / f"{name}-many"
        ended, self.accounts = job.profile_accounted(self.kept)
        self.same.append(job.application.answers(ended.stdout) == self.answer)
        # A first report merges and finds symbols; the next would only read what that left.
        self.first = []
        for _ in range(REPORTS):
            shutil.rmtree(self.kept / "database", ignore_errors=True)
            self.first.append(run([job.binary, "view", self.kept]))
        self.many_cpu = job.profile(self.many, "-e", f"cpu@{rate}").cpu

    def round(self, number):
        ended = {}
        for measured in ((False, True), (True, False))[number % 2]:
            ended[measured] = self.job.profile(self.job.work / "round") if measured else self.job.run()
        application = self.job.application
        answers = {measured: application.answers(one.stdout) for measured, one in ended.items()}
        self.answer = answers[False]
        self.same.append(answers[True] == answers[False])
        self.plain_cpu.append(ended[False].cpu)
        self.cpu.append(ended[True].cpu / ended[False].cpu)
        self.own.append(application.own_seconds(ended[True].stdout) / application.own_seconds(ended[False].stdout))

    def judge(self, report):
        """The rows of this job."""
        title = self.title
        report.goal(f"{title}: CPU time of the job against plain ({statistics.median(self.plain_cpu):.2f} s)",
                    tables.interval(self.cpu), "1.02", statistics.median(self.cpu) <= 1.02)
        report.fact(f"{title}: time that the application reports, against plain", tables.interval(self.own))
        report.goal(f"{title}: answers like plain", f"{sum(self.same)} of {len(self.same)}", "all", all(self.same))
        files = read_all(self.kept)
        sizes = [allocated(file.path) / 1024 for file in files]
        limit = self.job.application.data_kib
        report.goal(f"{title}: data of a rank at most, KiB", f"{max(sizes):.0f}", limit, max(sizes) <= limit)
        report.goal(f"{title}: measurement files", len(files), self.job.ranks, len(files) == self.job.ranks)
        shares = self.cpu_by_rank()
        lowest = min(shares[rank] / self.accounts[rank] for rank in self.accounts)
        report.goal(f"{title}: metric cpu / CPU time of the rank and its `falloff run`, least", f"{lowest:.4f}", "0.97",
                    0.97 <= lowest <= 1.01)
        share = self.init_share()
        report.goal(f"{title}: CPU time in MPI_Init", f"{100 * share:.1f} %", "in the paths", share > 0)
        report.fact(f"{title}: CPU time of the run for many samples against plain",
                    f"{self.many_cpu / statistics.median(self.plain_cpu):.3f}")
        for run_dir, rate in ((self.kept, "default"), (self.many, "many samples")):
            health = falloff_json(self.job.binary, "view", run_dir)["health"]
            report.fact(f"{title}, {rate}: samples + of waits ({health['reached_rate_hz']:.0f}/s); lost",
                        f"{health['samples']} + {health['wait_samples']}; {reasons(lost(read_all(run_dir)))}")
        if self.job.ranks == 4:
            wall, cpu, rss = ([getattr(one, what) for one in self.first] for what in ("wall", "cpu", "rss_mb"))
            report.goal(f"{title}: first view, wall s; CPU s; MB",
                        f"{tables.interval(wall)}; {tables.interval(cpu)}; {max(rss):.0f}", "0.4; –; 65",
                        statistics.median(wall) <= 0.4 and max(rss) <= 65)

    def cpu_paths(self):
        """Call paths, the rank first, with their microseconds."""
        text = run([self.job.binary, "export", self.kept, "--format", "folded", "--metric", "cpu", "--by", "rank", "-o",
                    "-"]).stdout
        return [(path.split(";"), int(value)) for path, value in (line.rsplit(" ", 1) for line in text.splitlines())]

    def cpu_by_rank(self):
        seconds = collections.Counter()
        for path, micros in self.cpu_paths():
            seconds[int(path[0].removeprefix("rank "))] += micros / 1e6
        return seconds

    def init_share(self):
        paths = self.cpu_paths()
        inside = sum(micros for path, micros in paths if any(re.fullmatch("P?MPI_Init(_thread)?", frame) for frame in path))
        return inside / sum(micros for _, micros in paths)

    def files(self):
        """The measurements of both runs."""
        return read_all(self.kept) + read_all(self.many)

    def show_data(self):
        """What fills the files."""
        rows = []
        for file in read_all(self.kept):
            filled = sorted(file.contents().items(), key=lambda item: -item[1][0])
            what = "; ".join(f"{what} {used} B" + (f" ({count})" if count else "") for what, (used, count) in filled)
            rows.append([self.title, file.rank, f"{allocated(file.path)} B", what])
        return rows

    def show_ends(self):
        """Where paths end that do not reach their root."""
        rows = []
        for run_dir in (self.kept, self.many):
            for file in read_all(run_dir):
                main = {thread.ordinal: thread.main for thread in file.threads}
                for (owner, end, leaf), (nodes, samples) in file.partial_ends().items():
                    rows.append([self.title, file.rank, "main" if main.get(owner) else owner, end, leaf, nodes, samples])
        return rows
