"""The models of `falloff model` beside those of Extra-P, over data whose laws are known and over a measured sweep.

The planted sweeps are one run of a program, all values of which are multiplied by what the law says: every call path of it follows
the law to the last digit but for the noise. Extra-P gets the same means, in its own format.
"""

import json
import math
import random

import pytest
from extrap.entities.coordinate import Coordinate
from extrap.fileio.file_reader.json_file_reader import JsonFileReader
from extrap.modelers.model_generator import ModelGenerator
from measured import falloff, Profile

COUNTS = [1, 2, 4, 8, 16, 32]
# The largest count that falloff predicts from these.
TARGET = 8 * COUNTS[-1]


def extrap(path):
    """Extra-P's functions of a file in its JSON format, by call path and metric."""
    experiment = JsonFileReader().read_experiment(path)
    generator = ModelGenerator(experiment)
    generator.model_all()
    return {(str(c), str(m)): model.hypothesis.function for (c, m), model in generator.models.items()}


def extrap_of(folder, parameters, points):
    """Extra-P's function of values at points, as (point, value)."""
    measurements = [{"point": point, "values": [value]} for point, value in points]
    data = {"parameters": parameters, "measurements": {"all": {"time": measurements}}}
    path = folder / "points.json"
    path.write_text(json.dumps(data))
    return extrap(path)["all", "time"]


def plant(sweep, folder, law, weak, repetitions=2):
    """A sweep at COUNTS that follows `law`, in seconds a processor as multiples of what the first run took, with 1 % noise."""
    plan = json.loads((sweep / "sweep.json").read_text())
    plan |= {"scales": COUNTS, "repetitions": repetitions, "scaling": "weak" if weak else "strong"}
    (folder / "runs").mkdir(parents=True)
    (folder / "sweep.json").write_text(json.dumps(plan))
    noise = random.Random(1)
    entry = json.loads((sweep / "journal.jsonl").read_text().splitlines()[0]) | {"state": "completed", "reason": None}
    with open(folder / "journal.jsonl", "w") as journal:
        for p in COUNTS:
            for repetition in range(1, repetitions + 1):
                factor = p * law(p) * (1 + 0.01 * noise.gauss(0, 1))
                run = folder / f"runs/n{p:04}-r{repetition}"
                falloff("scale", sweep / "runs/n0001-r1", f"{factor:.2f}", "-o", run)
                key = {"repetition": repetition, "scale": p}
                journal.write(json.dumps(entry | {"run": key, "ranks": p, "oversubscribed": False}) + "\n")
    return folder


def model(*arguments):
    return json.loads(falloff("model", *arguments, "--metric", "cpu", "--format", "json"))


def predicted(part, **scale):
    """What is predicted for a part at a scale; None if it is refused."""
    (prediction,) = [p for p in part["predictions"] if all(p[name] == value for name, value in scale.items())]
    return prediction["seconds"]



@pytest.fixture(scope="module")
def base(sweep):
    """Seconds of the run of which the planted sweeps are made."""
    return Profile(sweep / "runs/n0001-r1").total("cpu")


GROWING = {
    "logarithm": lambda p: 5 + 2 * math.log2(p),
    "linear": lambda p: 3 + 0.5 * p,
    "p log p": lambda p: 3 + 0.5 * p * math.log2(p),
    "constant": lambda p: 4.5,
}


@pytest.mark.parametrize("name", GROWING)
def test_growth_is_predicted_alike(sweep, base, tmp_path, name):
    law = GROWING[name]
    planted = plant(sweep, tmp_path / "sweep", law, weak=True)
    whole = model(planted, "--target", TARGET)["whole"]
    wanted = base * law(TARGET)
    points = [([point["processors"]], point["seconds"]) for point in whole["measured"]]
    theirs = extrap_of(tmp_path, ["p"], points).evaluate(TARGET)
    ours = predicted(whole, processors=TARGET)
    assert ours == pytest.approx(wanted, rel=0.15), whole["formula"]
    if name != "constant":
        assert theirs == pytest.approx(wanted, rel=0.15)
        assert theirs == pytest.approx(ours, rel=0.2)
    else:
        # Extra-P takes a growing term for noise more easily: it scores its constant by the data that it was fitted to, all other laws by
        # those left out, and asks for no significance (docs/model.md). Whatever it takes, it must not be far off at the counts measured.
        assert whole["formula"].count("p") == 0
        assert extrap_of(tmp_path, ["p"], points).evaluate(COUNTS[-1]) == pytest.approx(wanted, rel=0.1)


def test_shared_work_is_no_term_of_theirs(sweep, base, tmp_path):
    """2 + 98/p: falloff has a term 1/p; Extra-P's default has no negative exponents, so it must be given the work p T(p) = 98 + 2 p."""

    def law(p):
        return 2 + 98 / p

    planted = plant(sweep, tmp_path / "sweep", law, weak=False)
    whole = model(planted, "--target", TARGET)["whole"]
    wanted = base * law(TARGET)
    ours = predicted(whole, processors=TARGET)
    assert ours == pytest.approx(wanted, rel=0.1) and "p^-1" in whole["formula"]
    times = [([point["processors"]], point["seconds"]) for point in whole["measured"]]
    of_times = extrap_of(tmp_path, ["p"], times).evaluate(TARGET)
    assert abs(of_times / wanted - 1) > 0.5, "Extra-P has learnt of shared work: say so in docs/model.md"
    work = [([p], p * seconds) for [p], seconds in times]
    of_work = extrap_of(tmp_path, ["p"], work).evaluate(TARGET) / TARGET
    assert of_work == pytest.approx(wanted, rel=0.15) and of_work == pytest.approx(ours, rel=0.2)
    # The export says the same: the sum over all threads is the work.
    falloff("export", planted, "--format", "extrap", "--basis", "sum", "--metric", "cpu", "-o", tmp_path / "sum.json")
    exported = extrap(tmp_path / "sum.json")["<program>", "cpu (inc)"]
    assert exported.evaluate(TARGET) / TARGET == pytest.approx(of_work, rel=0.02)


def test_size_and_count_are_predicted_alike(sweep, base, tmp_path):
    """(N/100)^2 (1 + log2(p)/4): a product and a sum of products, over five sizes and six counts."""

    def law(n, p):
        return (n / 100) ** 2 * (1 + 0.25 * math.log2(p))

    sizes = [100, 200, 300, 400, 500]

    def at(n):
        return plant(sweep, tmp_path / str(n), lambda p: law(n, p), weak=True, repetitions=1)

    planted = [f"{n}={at(n)}" for n in sizes]
    whole = model(*planted, "--target", "p=128,N=1000")["whole"]
    wanted = base * law(1000, 128)
    points = [([point["size"], point["processors"]], point["seconds"]) for point in whole["measured"]]
    theirs = extrap_of(tmp_path, ["N", "p"], points).evaluate(Coordinate(1000, 128))
    ours = predicted(whole, size=1000, processors=128)
    assert ours == pytest.approx(wanted, rel=0.1), whole["formula"]
    assert theirs == pytest.approx(wanted, rel=0.2)


def test_a_measured_sweep_is_followed_alike(sweep, tmp_path):
    """Both follow what a real program's own code takes; the samples are few, so it is compared where it was measured."""
    most = 5
    parts = [part for part in model(sweep, "--target", most)["paths"] if "solve" in part["path"]]
    measured = sum(part["seconds"] for part in parts)
    kept = [part for part in parts if predicted(part, processors=most) is not None]
    assert sum(part["seconds"] for part in kept) > 0.8 * measured, parts
    ours = sum(predicted(part, processors=most) for part in kept)
    falloff("export", sweep, "--format", "extrap", "--basis", "sum", "--metric", "cpu", "-o", tmp_path / "sum.json")
    functions = extrap(tmp_path / "sum.json")
    (theirs,) = [f for (call, metric), f in functions.items() if call.endswith("->solve") and metric == "cpu (inc)"]
    assert ours == pytest.approx(measured, rel=0.35)
    assert theirs.evaluate(most) / most == pytest.approx(measured, rel=0.35)
