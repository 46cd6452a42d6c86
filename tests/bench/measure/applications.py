"""The parallel applications that are measured, as Debian ships them, and how they are run."""

import dataclasses
import pathlib
import re
import shutil
import sys
import time

from .process import run

HERE = pathlib.Path(__file__).resolve().parent
INPUTS = HERE.parent / "applications.d"
# Inputs that end-to-end tests use, too.
DATA = HERE.parent.parent / "data"

# More ranks than processors, root or not. Ranks that wait yield the processor: else those that wait keep those that
# work from it, for many times the length of the run, plain or not.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
}
missing_mpi = None if shutil.which("mpirun.openmpi") else "no mpirun.openmpi (Debian: openmpi-bin)"


@dataclasses.dataclass
class Application:
    """One application and its input."""

    name: str
    command: list
    package: str
    inputs: list
    # What is compared with the plain run, and the seconds that the application itself reports.
    answer: re.Pattern
    seconds: re.Pattern
    # Data of a rank at most, KiB.
    data_kib: int
    # A command that makes an input, with its standard input.
    prepare: tuple | None = None

    @property
    def missing(self):
        needed = [self.command[0]] + ([self.prepare[0]] if self.prepare else [])
        lost = [tool for tool in needed if not shutil.which(tool)]
        return f"no {', '.join(lost)} (Debian: {self.package})" if lost else None

    def lay_out(self, folder):
        """Puts the inputs into a folder."""
        folder.mkdir()
        for file in self.inputs:
            shutil.copy(file, folder)
        if self.prepare:
            program, stdin = self.prepare
            run(["sh", "-c", f"{program} < {stdin}"], ENVIRONMENT, cwd=folder)

    def answers(self, output):
        """The numbers that the application is run for."""
        found = self.answer.findall(output)
        if not found:
            raise RuntimeError(f"{self.name}: no answer in its output\n{output[-2000:]}")
        return found

    def own_seconds(self, output):
        return sum(float(number) for number in self.seconds.findall(output))


APPLICATIONS = {one.name: one for one in (
    Application(
        "lmp", "lmp -in lj.in -var x 20 -var steps 200 -log none".split(), "lammps", [DATA / "lj.in"],
        answer=re.compile(r"^ +\d+ +[\d.]+ +-[\d.]+ +\d+ +-[\d.]+ +-?[\d.]+ *$|^Neighs:.*|^Total # of neighbors.*", re.M),
        seconds=re.compile(r"^Loop time of ([\d.]+)", re.M), data_kib=20),
    Application(
        "pw.x", "pw.x -in si60.scf".split(), "quantum-espresso", [DATA / "si.ld1", DATA / "si60.scf"],
        answer=re.compile(r"^!?\s+total energy\s+=.*|^\s+estimated scf accuracy.*|^(?:\s+-?\d+\.\d{4}){4,}\s*$", re.M),
        seconds=re.compile(r"^ +PWSCF +: +([\d.]+)s CPU", re.M), data_kib=40, prepare=("ld1.x", "si.ld1")),
    # Its ranks take tasks as they come and add up in that order, so the eighth decimal is another one in every run.
    Application(
        "nwchem", "nwchem.openmpi water.nw".split(), "nwchem-openmpi", [INPUTS / "water.nw"],
        answer=re.compile(r"Total DFT energy =\s+(-\d+\.\d{6})|Numeric\. integr\. density =\s+(\d+\.\d{5})"),
        seconds=re.compile(r"Total times +cpu: +([\d.]+)s", re.M), data_kib=20),
)}


def mpirun(ranks, *command):
    return ["mpirun.openmpi", "-n", ranks, *command]


class Job:
    """One application at one number of ranks."""

    binary = None

    def __init__(self, application, ranks, work):
        self.application, self.ranks, self.work = application, ranks, work
        self.inputs = work / f"inputs-{application.name}"
        if not self.inputs.exists():
            application.lay_out(self.inputs)

    def run(self, *prefix):
        """Runs the job in a fresh folder, with these words before the program."""
        folder = self.work / "folder"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.inputs, folder)
        return run(mpirun(self.ranks, *prefix, *self.application.command), ENVIRONMENT, cwd=folder)

    def profile(self, into, *options):
        """The same under `falloff run`."""
        shutil.rmtree(into, ignore_errors=True)
        return self.run(self.binary, "run", "-o", into, *options, "--")

    def profile_accounted(self, into, *options):
        """The same, with the CPU seconds of each rank by the kernel's account: those of `falloff run` are among them."""
        shutil.rmtree(into, ignore_errors=True)
        accounts = self.work / "accounts"
        shutil.rmtree(accounts, ignore_errors=True)
        accounts.mkdir()
        ended = self.run(sys.executable, HERE / "rank_cpu.py", accounts, self.binary, "run", "-o", into, *options, "--")
        return ended, {int(file.name): float(file.read_text()) for file in accounts.iterdir()}


def wait_until(what, seconds=60):
    """Asks until the answer is true; returns it."""
    deadline = time.monotonic() + seconds
    while not (answer := what()):
        if time.monotonic() > deadline:
            raise TimeoutError("waited in vain")
        time.sleep(0.02)
    return answer
