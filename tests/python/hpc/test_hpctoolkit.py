"""HPCToolkit databases in Hatchet and Thicket, and by the rules of hpcviewer."""

import collections
import json
import math
import shutil
import struct
import subprocess

import hpcviewer_rules
import pytest
import thicket
from hatchet import GraphFrame
from measured import DATA, FALLOFF, close, falloff, value

# A database that hpcprof wrote of a run of four ranks.
FIXTURE = DATA / "hpctoolkit/cpi"
METRICS = ["time", "cpu", "blocked", "preempted", "samples"]
# Helper threads are left in, which have roots of their own.
WHOLE = "--helpers"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("hpctoolkit")


@pytest.fixture(scope="module")
def plain(profile, folder):
    """The run as hpcprof would write it."""
    profile.export("hpctoolkit", folder / "plain_2", WHOLE)
    return folder / "plain_2"


@pytest.fixture(scope="module")
def joined(profile, folder):
    """The run with all paths below the main entry point."""
    profile.export("hpctoolkit-hatchet", folder / "joined_2", WHOLE)
    return folder / "joined_2"


@pytest.fixture(scope="module")
def excess(sweep, folder):
    """The smallest and the largest scale of a sweep."""
    falloff("export", sweep, "--format", "hpctoolkit-hatchet", "--metric", "cpu", "-o", folder / "excess_5")
    return folder / "excess_5"


def read(directory, **options):
    return GraphFrame.from_hpctoolkit_latest(str(directory), **options)


def by_function(frame, column):
    """The sum of a column over the functions of each name."""
    functions = frame.dataframe[frame.dataframe["name"].str.startswith("function: ")]
    return functions.groupby("name")[column].sum().to_dict()


def root(frame, column):
    """The column's sum over the rows of the root."""
    (top,) = frame.graph.roots
    return rows_of(frame, top, column).sum()


def rows_of(frame, node, column):
    return frame.dataframe.loc[[node] if frame.dataframe.index.nlevels == 1 else node][column]


@pytest.mark.parametrize("which", ["plain", "joined", "excess"])
def test_databases_keep_the_rules_of_hpcviewer(which, request):
    assert hpcviewer_rules.Database(request.getfixturevalue(which)).problems == []


def test_the_rules_are_those_that_hpcprof_keeps():
    # The source file is there under another name than it had.
    (problem,) = hpcviewer_rules.Database(FIXTURE).problems
    assert problem.endswith("cpi.c was copied but is not there")


def section(data, place):
    """Where a section begins that the header lists at this place."""
    return struct.unpack_from("<Q", data, 16 + 16 * place + 8)[0]


def first(data, place):
    """Where the first record of a section is."""
    return struct.unpack_from("<Q", data, section(data, place))[0]


def replaced(old, new):
    return lambda data: data.replace(old, new, 1)


def put(place, new):
    """Bytes at a place, which may be found from what is there."""

    def change(data):
        at = place(data) if callable(place) else place
        return data[:at] + new + data[at + len(new) :]

    return change


@pytest.mark.parametrize(
    "name, change, complaint",
    [
        ("meta.db", replaced(b"HPCTOOLKIT", b"hpctoolkit"), "magic"),
        ("meta.db", replaced(b"_meta.db", b"_meta.dx"), "no footer"),
        ("profile.db", put(14, b"\5"), "major version"),
        ("cct.db", lambda data: data[:-9], "no footer"),
        ("meta.db", put(24, b"\x91"), "not aligned"),
        ("meta.db", put(lambda data: first(data, 7), bytes(8)), "the name of a function"),
        ("meta.db", put(lambda data: first(data, 3) + 16, b"\2\0\0\0"), "two contexts"),
        ("meta.db", replaced(b"($$^2)", b"($$^3)"), "matches 0 statistics"),
        ("profile.db", put(0x30, b"\xff\xff"), "there is no value 65535"),
        ("profile.db", put(0x34, b"\1\2\3"), "not those of profile.db"),
        ("profile.db", put(lambda data: first(data, 0) + 40, b"\0"), "the summary is the first"),
        ("cct.db", put(lambda data: section(data, 0) + 8, b"\1\0\0\0"), "1 contexts are described"),
        ("metrics/default.yaml", replaced(b"version: 0", b"version: 1"), "the version is not 0"),
        ("metrics/default.yaml", replaced(b"combine: min", b"combine: mean"), "matches 0"),
        ("metrics/default.yaml", replaced(b"sqrt", b"root"), "does not understand"),
    ],
)
def test_broken_databases_break_rules(plain, tmp_path, name, change, complaint):
    shutil.copytree(plain, tmp_path / "broken")
    path = tmp_path / "broken" / name
    whole = path.read_bytes()
    path.write_bytes(change(whole))
    assert path.read_bytes() != whole
    problems = hpcviewer_rules.Database(tmp_path / "broken").problems
    assert any(complaint in problem for problem in problems), problems


def test_sources_are_in_the_database(plain):
    (copy,) = (plain / "src").rglob("ranks.c")
    assert "kernel" in copy.read_text()


def test_hatchet_has_the_whole(profile, joined):
    frame = read(joined)
    assert close(root(frame, "time (inc)"), profile.total("time", WHOLE))
    # A function has the cost of its loops and lines, so that functions are the parts of the whole.
    functions = [row for row in profile.view("time", WHOLE) if row["kind"] in ("function", "inlined", "pseudo")]
    exclusive = math.fsum(value(row, "exclusive") for row in functions)
    assert close(math.fsum(by_function(frame, "time").values()), exclusive)


@pytest.mark.parametrize("name", ["main", "work", "solve", "kernel"])
def test_hatchet_has_the_cost_of_functions(profile, joined, name):
    frame = read(joined)
    assert close(by_function(frame, "time (inc)")[f"function: {name}"], profile.inclusive(name, "time", WHOLE))
    assert close(by_function(frame, "time")[f"function: {name}"], profile.exclusive("time", WHOLE)[name])


def test_hatchet_has_the_cost_of_loops(profile, joined):
    frame = read(joined)
    wanted = collections.Counter()
    for row in profile.view("time", WHOLE):
        if row["kind"] == "loop" and row["file"]:
            wanted[f"loop {row['file']}:{row['line']}"] += value(row, "inclusive")
    assert any("ranks.c" in name for name in wanted)
    found = frame.dataframe.groupby("name")["time (inc)"].sum()
    for name, cost in wanted.items():
        # Loops without cost in any metric are not written.
        assert close(found.get(name, 0.0), cost), name


def test_hatchet_sees_the_main_entry_point_only(profile, plain):
    rows = profile.view("time", WHOLE)
    others = [row for row in rows if row["parent"] == 0 and row["name"] in ("<thread root>", "[partial]")]
    assert others, "Open MPI starts threads"
    rest = rows[0]["inclusive_ns"] - sum(row["inclusive_ns"] for row in others)
    assert close(root(read(plain), "time (inc)"), rest / 1e9)


def test_hatchet_has_every_rank(profile, joined):
    frame = read(joined, parallel_profiles_mode=True)
    (top,) = frame.graph.roots
    totals, ids = rows_of(frame, top, "time (inc)"), frame.metadata
    assert set(ids["rank"]) == {0, 1}
    for rank in (0, 1):
        of_rank = ids[ids["rank"] == rank].index
        assert len(of_rank) >= 2, "Open MPI starts threads"
        assert close(totals[of_rank].sum(), profile.total("time", WHOLE, "--location", f"rank={rank}"))


@pytest.mark.parametrize("parallel", [False, True])
def test_hatchet_has_every_metric(profile, joined, parallel):
    frame = read(joined, metric_names=METRICS, parallel_profiles_mode=parallel)
    for name in METRICS:
        assert close(root(frame, f"{name} (inc)"), profile.total(name, WHOLE)), name


def test_hatchet_has_smallest_and_largest(joined):
    frame = read(joined)
    threads = read(joined, parallel_profiles_mode=True)
    (top,) = threads.graph.roots
    of_threads = rows_of(threads, top, "time (inc)")
    assert close(root(frame, "time:max (inc)"), of_threads.max())
    assert close(root(frame, "time:min (inc)"), of_threads.min())


def test_thicket_opens_a_run(profile, joined):
    opened = thicket.Thicket.from_hpctoolkit_latest(str(joined), parallel_profiles_mode=True)
    (top,) = opened.graph.roots
    assert close(opened.dataframe.loc[top]["time (inc)"].sum(), profile.total("time", WHOLE))


def test_thicket_opens_several_runs(profile, joined, tmp_path):
    for name in ("first_2", "second_4"):
        shutil.copytree(joined, tmp_path / name)
    opened = thicket.Thicket.from_hpctoolkit_latest(str(tmp_path), disable_tqdm=True)
    assert sorted(opened.metadata["nodes"]) == [2, 4]
    (top,) = opened.graph.roots
    assert close(opened.dataframe.loc[top]["time (inc)"].sum(), 2 * profile.total("time", WHOLE))


def test_sweeps_show_excess(sweep, excess):
    score = json.loads(falloff("score", sweep, "--metric", "cpu", "--format", "json"))
    frame = read(excess, metric_names=["time", "base cputime", "excess work", "excess"])
    work = root(frame, "time (inc)")
    assert close(100 * root(frame, "excess work (inc)") / work, score["total_excess_percent"])
    assert close(root(frame, "excess (inc)"), score["total_excess_percent"])
    for name in ("solve", "kernel"):
        scored = [c["excess_incl_percent"] for c in score["contexts"] if c["name"] == name and c["kind"] != "line"]
        assert scored
        assert close(by_function(frame, "excess (inc)")[f"function: {name}"], math.fsum(scored))


def test_every_run_of_a_sweep_is_a_profile(sweep, excess):
    whole = read(excess, metric_names=["time", "excess work"])
    runs = read(excess, metric_names=["time", "excess work"], parallel_profiles_mode=True)
    # Processor count and repetition.
    assert {tuple(ids) for ids in runs.metadata[["node", "rank"]].values} == {(1, 1), (1, 2), (5, 1), (5, 2)}
    assert close(root(runs, "excess work (inc)"), root(whole, "excess work (inc)"))


def test_what_cannot_be_is_refused(profile, sweep, joined):
    for directory, options, reason in [
        (profile.dir, ["--format", "hpctoolkit", "-o", "-"], "is a directory"),
        (profile.dir, ["--format", "hpctoolkit", "-o", joined], "exists"),
        (profile.dir, ["--format", "hpctoolkit", "-o", "x", "--at", "2"], "holds no sweep"),
        (sweep, ["--format", "folded", "-o", "-"], "hpctoolkit"),
        (sweep, ["--format", "hpctoolkit", "-o", "x", "--at", "77"], "no good run at 77"),
    ]:
        command = [FALLOFF, "export", directory, *options]
        ended = subprocess.run(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert (ended.returncode, ended.stdout) == (2, ""), ended
        assert reason in ended.stderr and "hint:" in ended.stderr, ended


@pytest.mark.parametrize("parallel", [False, True])
def test_the_fixture_is_read_the_same_way(parallel):
    frame = read(FIXTURE, parallel_profiles_mode=parallel)
    assert close(root(frame, "time (inc)"), 0.28182)
