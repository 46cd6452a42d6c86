"""callgrind_annotate reads `--format callgrind`: the same costs as falloff's own view, at every rank."""

import pathlib
import re
import subprocess

import pytest
from measured import DATA, close, need


def annotate(file, *options):
    """Totals, and for each function its costs, in all events."""
    need("callgrind_annotate")
    command = ["callgrind_annotate", "--threshold=100", "--auto=no", "--tree=none", *options, file]
    # In a directory above the sources it would take their absolute names and those relative to it for two files.
    run = subprocess.run(command, check=True, capture_output=True, text=True, cwd=pathlib.Path(file).parent)
    found = []
    for line in run.stdout.splitlines():
        cells = re.match(r"((?: *(?:[\d,]+ \( *[\d.]+%\)|[\d,]+|\.) *)+)  (\S.*)$", line)
        if cells:
            numbers = re.sub(r"\( *[\d.]+%\)", "", cells[1]).replace(",", "").split()
            found.append((cells[2], [0 if n == "." else int(n) for n in numbers]))
    (totals, *functions) = found
    assert totals[0] == "PROGRAM TOTALS"
    costs = {}
    for name, numbers in functions:
        name = re.sub(r" \[[^\]]*\]$", "", name).split(":", 1)[1]
        before = costs.setdefault(name, [0] * len(numbers))
        costs[name] = [a + b for a, b in zip(before, numbers)]
    return totals[1], costs, run.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("callgrind")


def test_a_fixture_is_read_the_same_way():
    totals, functions, _ = annotate(DATA / "callgrind/callgrind.out.app", "--inclusive=yes")
    assert totals == [4_250_000]
    assert functions["solve"] == [3_500_000] and functions["io <T as Trait>::write"] == [250_000]


@pytest.mark.parametrize("inclusive", ["no", "yes"])
def test_totals_and_functions_are_the_views(profile, folder, inclusive):
    file = profile.export("callgrind", folder / "callgrind.out.ranks")
    totals, functions, complaints = annotate(file, f"--inclusive={inclusive}")
    assert "WARNING" not in complaints
    metrics = re.search(r"^events: (.*)$", open(file).read(), re.M)[1].split()
    assert metrics[0] == "time" and set(metrics) == {"time", "cpu", "blocked", "preempted", "samples"}
    for index, metric in enumerate(metrics):
        unit = 1 if metric == "samples" else 1e9
        assert close(totals[index] / unit, profile.total(metric))
        own = profile.exclusive(metric)
        for name in ["main", "work", "solve", "kernel", "walk"]:
            wanted = profile.inclusive(name, metric) if inclusive == "yes" else own[name]
            found = functions.get(name, [0] * len(metrics))[index]
            assert close(found / unit, wanted), f"{name}, {metric}"


def test_ranks_are_events(profile, folder):
    file = profile.export("callgrind", folder / "callgrind.out.by-rank", "--by", "rank", "--metric", "cpu")
    totals, functions, _ = annotate(file, "--inclusive=yes")
    for rank in [0, 1]:
        location = ("--location", f"rank={rank}")
        assert close(totals[rank] / 1e9, profile.total("cpu", *location))
        assert close(functions["walk"][rank] / 1e9, profile.inclusive("walk", "cpu", *location))


def test_source_lines_have_their_costs(profile, folder):
    file = profile.export("callgrind", folder / "callgrind.out.lines", "--metric", "cpu")
    command = ["callgrind_annotate", "--threshold=100", "--auto=yes", file]
    annotated = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "Auto-annotated source" in annotated and "walk(depth - 1, meg);" in annotated
