"""What falloff promises of every parallel program, each tried on a small one."""

import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess

from .applications import ENVIRONMENT, INPUTS, mpirun, wait_until
from .measurements import read_all
from .process import falloff_json, run
from .tables import interval


def build(compiler, source, binary):
    """Builds one of the small programs; raises if the compiler is missing."""
    run([compiler, "-O2", INPUTS / source, "-o", binary], ENVIRONMENT)
    return str(binary)


class Checks:
    """The checks; each adds rows to a report."""

    def __init__(self, binary, work, report):
        self.binary, self.work, self.report = binary, work, report
        self.data = work / "checked"

    def under(self, *options):
        """Words that put a program under falloff, into a fresh directory."""
        shutil.rmtree(self.data, ignore_errors=True)
        return [self.binary, "run", "-o", self.data, *options, "--"]

    def start_up(self, ranks, rounds):
        """CPU time and memory that falloff adds to a rank that does nothing."""
        hello = build("mpicc.openmpi", "hello.c", self.work / "hello")
        cpu, memory, own, launcher = [], [], [], []
        for _ in range(rounds):
            plain = run(mpirun(ranks, hello), ENVIRONMENT)
            measured = run(mpirun(ranks, *self.under(), hello), ENVIRONMENT)
            told = [[[float(number) for number in line] for line in
                     re.findall(r"HELLO cpu ([\d.]+) hwm (\d+) anonymous (\d+)", ended.stdout)]
                    for ended in (plain, measured)]
            means = [[statistics.mean(column) for column in zip(*lines)] for lines in told]
            cpu.append((measured.cpu - plain.cpu) / ranks * 1e3)
            memory.append((means[1][1] - means[0][1]) / 1024)
            own.append((means[1][2] - means[0][2]) / 1024)
            launcher.append(self.launcher_mb())
        what = f"MPI hello world, {ranks} rank{'s' * (ranks > 1)}"
        self.report.goal(f"{what}: CPU time added to each rank, `falloff run` included, ms", interval(cpu, 1), "20",
                         statistics.median(cpu) <= 20)
        self.report.goal(f"{what}: memory added to each rank (VmHWM; of it anonymous), MB",
                         f"{interval(memory, 1)}; {statistics.median(own):.1f}", "12", statistics.median(memory) <= 12)
        self.report.fact("`falloff run` itself, waiting beside each rank: most memory, MB", interval(launcher, 1))

    def launcher_mb(self):
        """The most memory that the `falloff run` beside a program takes, MB."""
        with subprocess.Popen([str(word) for word in (*self.under(), "sleep", "30")]) as waiting:
            try:
                wait_until(lambda: list(self.data.glob("measurements/*.falloff")))
                status = pathlib.Path(f"/proc/{waiting.pid}/status").read_text()
            finally:
                waiting.terminate()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024

    def memory_behaviour(self, rounds):
        """System time and page faults of a program that takes and frees large blocks."""
        blocks = build("gcc", "blocks.c", self.work / "blocks")
        faults, system, plain_faults, plain_system = [], [], [], []
        for number in range(rounds):
            pair = {}
            for measured in ((False, True), (True, False))[number % 2]:
                output = run([*(self.under() if measured else []), blocks, "80"]).stdout
                found = re.search(r"system ([\d.]+) faults (\d+)", output)
                pair[measured] = float(found[1]), int(found[2])
            plain_system.append(pair[False][0])
            plain_faults.append(pair[False][1])
            system.append(pair[True][0] / pair[False][0])
            faults.append(pair[True][1] / pair[False][1])
        middle = statistics.median(faults)
        self.report.goal(f"large blocks taken and freed: page faults against plain ({statistics.median(plain_faults):.0f})",
                         interval(faults, 4), "0.99–1.01", 0.99 <= middle <= 1.01)
        low, _, high = statistics.quantiles(system, n=4)
        self.report.goal(
            f"large blocks taken and freed: system time against plain ({statistics.median(plain_system):.3f} s)",
            interval(system), "quartiles hold 0.97–1.03", low <= 1.03 and high >= 0.97)

    def killed_rank(self, job):
        """One of two ranks is killed by SIGKILL: both profiles must be there up to then."""
        shutil.rmtree(self.data, ignore_errors=True)
        folder = self.work / "killed"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(job.inputs, folder)
        command = mpirun(2, *self.under(), *job.application.command)
        with subprocess.Popen([str(word) for word in command], env={**os.environ, **ENVIRONMENT}, cwd=folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            try:
                files = wait_until(lambda: len(found := list(self.data.glob("measurements/*.falloff"))) == 2 and found)
                pids = {int(file.name.split("-")[0]): int(file.name.split("-")[2]) for file in files}
                wait_until(lambda: cpu_seconds(pids[1]) > 0.8)
                used = {rank: cpu_seconds(pid) for rank, pid in pids.items()}
                os.kill(pids[1], signal.SIGKILL)
                running.wait(60)
            finally:
                running.kill()
        by_rank = {file.rank: file for file in read_all(self.data)}
        kept = {rank: sum(thread.cpu_ns for thread in by_rank[rank].threads) / 1e9 / used[rank]
                for rank in used if rank in by_rank}
        health = falloff_json(self.binary, "view", self.data)["health"]
        told = ", ".join(f"rank {rank} {100 * share:.1f} %" for rank, share in sorted(kept.items()))
        # Rank 0 goes on for a moment, hence more than 100 %; of rank 1 what came after its last sample is lost.
        self.report.goal(f"{job.application.name}, rank 1 of 2 ended by SIGKILL: CPU time in the profile",
                         f"{told}; {health['killed']} marked as killed", "97 % of both",
                         len(kept) == 2 and min(kept.values()) >= 0.97 and health["killed"] >= 1)

    def fortran_ranks(self):
        """Ranks of a Fortran program."""
        program = build("mpif77.openmpi", "ranks.f", self.work / "ranks")
        output = run(mpirun(4, *self.under(), program), ENVIRONMENT).stdout
        printed = sorted(re.findall(r"RANK (\d) OF (\d)", output))
        found = [(file.rank, file.ranks) for file in read_all(self.data)]
        labels = {line.split(";")[0] for line in
                  run([self.binary, "export", self.data, "--format", "folded", "--by", "rank", "-o", "-"]).stdout.splitlines()}
        wanted = [(rank, 4) for rank in range(4)]
        met = found == wanted and len(printed) == 4 and labels == {f"rank {rank}" for rank in range(4)}
        self.report.goal("Fortran (mpif.h), 4 ranks: ranks of the measurements",
                         ", ".join(f"{rank} of {ranks}" for rank, ranks in found), "0–3 of 4", met)

    def helpers(self):
        """Threads that the message-passing library started are known as such and in no sum of the score."""
        hello = build("mpicc.openmpi", "hello.c", self.work / "hello")
        sweep = self.work / "sweep"
        run([self.binary, "sweep", "-n", "1,2", "--strong", "--repeat", "1", "--launcher", "mpirun", "-o", sweep, "--",
             hello], ENVIRONMENT)
        score = falloff_json(self.binary, "score", sweep)
        threads = [thread for run_dir in sorted(sweep.glob("runs/*")) for file in read_all(run_dir) for thread in file.threads]
        starts = sorted({thread.start for thread in threads if thread.start})
        apart = score["health"]["helper_seconds"]
        self.report.goal(f"helper threads ({', '.join(starts)}): time kept out of the score, s", f"{apart:.3f}",
                         "more than 0", bool(starts) and apart > 0)
        inside = sum(one["work_at_excl_seconds"] + one["work_base_excl_seconds"] for one in score["contexts"]
                     if one["path"][:1] == ["<thread root>"])
        self.report.goal("helper threads: time of theirs in the score, s", f"{inside:.3f}", "0", inside == 0)
        view = falloff_json(self.binary, "view", sorted(sweep.glob("runs/*"))[-1], "--helpers")
        rows = {row["name"]: row["inclusive_ns"] for row in view["rows"] if row["name"] in ("<program>", "<thread root>")}
        self.report.fact("helper threads: share of the total that `falloff view --helpers` shows",
                         f"{100 * rows.get('<thread root>', 0) / rows['<program>']:.1f} %")


def cpu_seconds(pid):
    """CPU time of a running process, by the kernel's account."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
