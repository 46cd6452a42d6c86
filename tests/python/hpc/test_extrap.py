"""The `extrap` program reads `--format extrap`, and `--cube` a folder of `--format cube`."""

import collections
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
    """By call path and metric: the mean at each point, as the program has read them."""
    form = r"{callpath}\t{metric}\t{measurements: sep:' '; format:'{mean:.17g}'}"
    rows = [line.split("\t") for line in extrap(*arguments, "--print", form).splitlines() if line]
    return {(path, metric): [float(mean) for mean in means.split()] for path, metric, means in rows}


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


@pytest.mark.parametrize("basis", ["mean", "sum"])
def test_values_are_the_views(runs, sweep, tmp_path, basis):
    path = tmp_path / "sweep.json"
    falloff("export", sweep, "--format", "extrap", "--basis", basis, "-o", path)
    found = measurements("--json", path)
    share = [1] * 5 if basis == "sum" else COUNTS
    for metric in ["time", "cpu", "blocked", "samples"]:
        totals = wanted(runs, lambda run: run.total(metric))
        assert close(found["<program>", f"{metric} (inc)"], [t / p for t, p in zip(totals, share)])
    for name in ["solve", "kernel", "walk"]:
        sums = collections.Counter()
        for (call, metric), means in found.items():
            if metric == "cpu" and call.split("->")[-1] == name:
                sums.update(dict(enumerate(means)))
        exclusive = wanted(runs, lambda run: run.exclusive("cpu")[name])
        assert close([sums[i] for i in range(5)], [v / p for v, p in zip(exclusive, share)]), name
    (main,) = [call for call, metric in found if metric == "time" and call.split("->")[-1] == "main"]
    inclusive = wanted(runs, lambda run: run.inclusive("main", "time"))
    assert close(found[main, "time (inc)"], [v / p for v, p in zip(inclusive, share)])


def test_work_that_is_shared_shrinks_by_its_model(sweep, tmp_path):
    path = tmp_path / "sweep.json"
    falloff("export", sweep, "--format", "extrap", "--metric", "cpu", "--basis", "sum", "-o", path)
    form = "{callpath}:{metric}:{model}"
    models = [line for line in extrap("--json", path, "--print", form).splitlines() if "kernel:cpu:" in line]
    assert models and all(any(c.isdigit() for c in model.split(":")[-1]) for model in models)


def test_one_run_is_refused(runs, tmp_path):
    command = [FALLOFF, "export", runs[2][0].dir, "--format", "extrap", "-o", tmp_path / "no.json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "falloff sweep -n" in done.stderr
    assert not (tmp_path / "no.json").exists()


def test_a_folder_of_cube_profiles_is_a_sweep(runs, tmp_path):
    for p, repetitions in runs.items():
        for r, run in enumerate(repetitions, 1):
            folder = tmp_path / f"app.p{p}.r{r}"
            folder.mkdir()
            run.export("cube", folder / "profile.cubex")
    found = measurements("--cube", "--scaling", "strong", tmp_path)
    for metric in ["time", "samples"]:
        everything = [sum(means[i] for (_, m), means in found.items() if m == metric) for i in range(5)]
        assert close(everything, wanted(runs, lambda run: run.total(metric)))
    kernels = [means for (call, m), means in found.items() if m == "time" and call.endswith("->kernel")]
    exclusive = wanted(runs, lambda run: run.exclusive("time")["kernel"])
    assert close([sum(column) for column in zip(*kernels)], exclusive)
