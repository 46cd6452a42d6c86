"""The `extrap` program reads `--format extrap`, and `--cube` a folder of `--format cube`."""

import subprocess
import sys

import pytest
from measured import close, DATA, falloff, FALLOFF, Profile

COUNTS = [1, 2, 3, 4, 5]


def extrap(*arguments):
    """What the program prints; it must go well."""
    program = [sys.executable, "-c", "from extrap.extrap.extrapcmd import main; main()", "--disable-progress"]
    done = subprocess.run([*program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def measurements(*arguments):
    """By call path and metric: the mean at each point, as the program has read them, and then its model."""
    form = "{callpath}\t{metric}\t{measurements: sep:' '; format:'{mean:.17g}'}\t{model}"
    rows = [line.split("\t") for line in extrap(*arguments, "--print", form).splitlines() if line]
    means = {(path, metric): [float(mean) for mean in means.split()] for path, metric, means, _ in rows}
    return means, {(path, metric): model for path, metric, _, model in rows}


@pytest.fixture(scope="module")
def runs(sweep):
    """For each processor count, its repetitions."""
    return {p: [Profile(sweep / f"runs/n{p:04}-r{r}") for r in [1, 2]] for p in COUNTS}


def wanted(runs, of_run):
    """The mean over the repetitions at every count."""
    return [sum(map(of_run, repetitions)) / len(repetitions) for repetitions in runs.values()]


def test_fixtures_are_read_the_same_way():
    functions = extrap("--json", DATA / "extrap/linear.json", "--print", "functions").split("\n")
    assert "p^(1)" in functions[0] and float(functions[1]) == 1
    assert "x^(1)" in extrap("--json", DATA / "extrap/new.json", "--print", "functions")
    assert extrap("--json", DATA / "extrap/lines.jsonl", "--print", "parameters").strip() == "x"


@pytest.mark.parametrize("basis, metrics", [("mean", ["cpu", "samples"]), ("sum", ["cpu"])])
def test_values_are_the_views(runs, sweep, tmp_path, basis, metrics):
    path = tmp_path / "sweep.json"
    options = ["--metric", metrics[0]] if len(metrics) == 1 else []
    falloff("export", sweep, "--format", "extrap", "--basis", basis, "-o", path, *options)
    found, models = measurements("--json", path)
    share = [1] * 5 if basis == "sum" else COUNTS
    assert {metric for _, metric in found} == {f"{m}{end}" for m in metrics for end in ["", " (inc)"]}
    for metric in metrics:
        totals = wanted(runs, lambda run: run.total(metric))
        assert close(found["<program>", f"{metric} (inc)"], [t / p for t, p in zip(totals, share)])
    names = set().union(*(run.apart("cpu") for repetitions in runs.values() for run in repetitions))
    assert {"solve", "kernel", "walk"} <= names == {call.split("->")[-1] for call, _ in found}
    for name in names:
        calls = [means for (call, m), means in found.items() if m == "cpu" and call.split("->")[-1] == name]
        exclusive = wanted(runs, lambda run: run.apart("cpu")[name])
        assert close([sum(at) for at in zip(*calls)], [v / p for v, p in zip(exclusive, share)]), name
    (main,) = [call for call, metric in found if metric == "cpu" and call.split("->")[-1] == "main"]
    inclusive = wanted(runs, lambda run: run.inclusive("main", "cpu"))
    assert close(found[main, "cpu (inc)"], [v / p for v, p in zip(inclusive, share)])
    assert any(digit.isdigit() for digit in models[main, "cpu (inc)"])


def test_one_run_is_refused(runs, tmp_path):
    command = [FALLOFF, "export", runs[2][0].dir, "--format", "extrap", "-o", tmp_path / "no.json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "falloff sweep -n" in done.stderr
    assert not (tmp_path / "no.json").exists()


def test_a_folder_of_cube_profiles_is_a_sweep(runs, tmp_path):
    firsts = {p: repetitions[:1] for p, repetitions in runs.items()}
    for p, (run,) in firsts.items():
        folder = tmp_path / f"app.p{p}.r1"
        folder.mkdir()
        run.export("cube", folder / "profile.cubex")
    found, _ = measurements("--cube", "--scaling", "strong", tmp_path)
    # The program forgets call paths that not every file has, as those of MPI's beginning.
    for metric in ["cpu", "samples"]:
        below = [means for (call, m), means in found.items() if m == metric and "->kernel" in call]
        assert close([sum(at) for at in zip(*below)], wanted(firsts, lambda run: run.inclusive("kernel", metric)))
