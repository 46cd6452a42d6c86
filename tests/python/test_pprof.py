"""`go tool pprof` reads `--format pprof`: the same costs as falloff's own view, at every rank."""

import os
import re
import subprocess

import pytest
from measured import DATA, close, need


@pytest.fixture(scope="module")
def pprof(tmp_path_factory):
    """Runs pprof on a file."""
    need("go")
    home = tmp_path_factory.mktemp("go")
    environment = os.environ | {"HOME": str(home), "PPROF_TMPDIR": str(home)}

    def run(file, *options):
        command = ["go", "tool", "pprof", *options, file]
        return subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout

    return run


@pytest.fixture(scope="module")
def file(profile, tmp_path_factory):
    return profile.export("pprof", tmp_path_factory.mktemp("pprof") / "ranks.pb.gz", "--by", "rank")


def top(output):
    """Total, and for each function its own and its inclusive cost: seconds of a time, else a count."""

    def number(text):
        return int(text.removesuffix("ns")) / (1e9 if text.endswith("ns") else 1)

    (total,) = re.findall(r"^Showing nodes accounting for (\w+),", output, re.M)
    rows = re.findall(r"^ *(\w+) +[\d.]+% +[\d.]+% +(\w+) +[\d.]+% +(.*)$", output, re.M)
    functions = {}
    for own, inclusive, name in rows:
        name = name.removesuffix(" (inline)").removesuffix(" (partial-inline)")
        functions[name] = number(own), number(inclusive)
    return number(total), functions


ALL = ["-top", "-nodecount=1000000", "-nodefraction=0", "-edgefraction=0"]
CPU = ["-sample_index=cpu", "-unit=ns"]


def test_a_fixture_is_read_the_same_way(pprof):
    total, functions = top(pprof(DATA / "pprof/ranks.pb.gz", *ALL, "-unit=ns"))
    assert total == 8.5 and functions["solve"] == (3, 7)
    assert functions["io <T as Trait>::write"] == (0.5, 0.5)
    assert top(pprof(DATA / "pprof/ranks.pb.gz", *ALL, "-unit=ns", "-tagfocus=rank=r1"))[0] == 4.25


@pytest.mark.parametrize("metric", ["time", "cpu", "blocked", "preempted", "samples"])
def test_totals_and_functions_are_the_views(profile, pprof, file, metric):
    unit = [] if metric == "samples" else ["-unit=ns"]
    total, functions = top(pprof(file, *ALL, *unit, f"-sample_index={metric}"))
    assert close(total, profile.total(metric))
    own = profile.exclusive(metric)
    for name in ["main", "work", "solve", "kernel", "walk"]:
        expected = own[name], profile.inclusive(name, metric)
        assert functions.get(name, (0, 0)) == (pytest.approx(expected[0]), pytest.approx(expected[1])), name


def test_ranks_are_labels(profile, pprof, file):
    for rank in [0, 1]:
        total, _ = top(pprof(file, *ALL, *CPU, f"-tagfocus=rank=^rank {rank}$"))
        assert close(total, profile.total("cpu", "--location", f"rank={rank}"))
    roots = top(pprof(file, *ALL, *CPU, "-tagroot=rank"))[1]
    assert close(roots["rank 1"][1], profile.total("cpu", "--location", "rank=1"))


def test_inlined_functions_share_a_location_and_modules_have_build_ids(profile, pprof, file):
    raw = pprof(file, "-raw")
    _, _, rest = raw.partition("\nLocations\n")
    locations, _, mappings = rest.partition("\nMappings\n")
    # A location, then its further lines, further out.
    inlined = re.findall(r"kernel \S*ranks\.c:\d+ s=\d+.*\n +solve \S*ranks\.c:\d+ ", locations)
    assert inlined, locations
    (program,) = [line for line in mappings.splitlines() if "/ranks " in line]
    notes = subprocess.run(["readelf", "-n", profile.dir.parent / "ranks"], check=True, capture_output=True, text=True)
    (build_id,) = re.findall(r"Build ID: (\w+)", notes.stdout)
    assert build_id in program and "[FN][FL][LN][IN]" in program


def test_lines_are_those_of_the_source(profile, pprof, file):
    source = profile.dir.parent.parent
    listed = pprof(file, *CPU, "-list=^walk$", f"-source_path={source}")
    assert "walk" in listed and "ranks.c" in listed
