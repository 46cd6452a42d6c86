"""pyCubexR reads `--format cube`: the same costs as falloff's own view, at every rank and thread."""

import json
import subprocess
import tarfile

import pytest
from measured import close, DATA, ENVIRONMENT, FALLOFF, falloff
from pycubexr import CubexParser


@pytest.fixture(scope="module")
def cubex(profile, tmp_path_factory):
    with CubexParser(profile.export("cube", tmp_path_factory.mktemp("cube") / "profile.cubex")) as parsed:
        yield parsed


def exclusive(parsed, metric):
    """For each location, the sum over all calls; for each name, that over the locations."""
    values = parsed.get_metric_values(parsed.get_metric_by_name(metric))
    calls = parsed.all_cnodes()
    by_call = {call.id: values.cnode_values(call) for call in calls}
    locations = [sum(column) for column in zip(*by_call.values())]
    names = {}
    for call in calls:
        names[call.region.name] = names.get(call.region.name, 0) + sum(by_call[call.id])
    return locations, names


def processes(parsed):
    (machine,) = parsed._anchor_result.system_tree_nodes
    return machine.all_location_groups()


def test_fixtures_are_read_the_same_way():
    with CubexParser(str(DATA / "cube/scorep-cpi-4ranks.cubex")) as parsed:
        assert len(parsed.get_locations()) == 4 and len(parsed.all_cnodes()) == 11
        time = parsed.get_metric_values(parsed.get_metric_by_name("time"))
        assert time.num_locations() == 4
        assert time.value(parsed.get_root_cnodes()[0]) > 0
    with CubexParser(str(DATA / "cube/call_tree_test.cubex")) as parsed:
        assert len(parsed.get_locations()) == 1 and len(parsed.all_cnodes()) == 18


def test_the_archive_is_one(profile, tmp_path):
    with tarfile.open(profile.export("cube", tmp_path / "profile.cubex")) as archive:
        names = archive.getnames()
    assert names[0] == "anchor.xml" and {"0.index", "0.data"} <= set(names)


def test_times_are_a_tree_and_counts_beside_it(cubex):
    tree = {metric.name: [child.name for child in metric.childs] for metric in cubex.get_metrics()}
    assert tree == {"time": ["cpu", "blocked", "preempted"], "samples": []}
    assert {metric.units for metric in cubex.all_metrics()} == {"sec", "occ"}


def test_totals_and_functions_are_the_views(profile, cubex):
    root = cubex.get_root_cnodes()[0]
    assert root.region.name == "<program>"
    for metric in ["time", "cpu", "blocked", "preempted", "samples"]:
        values = cubex.get_metric_values(cubex.get_metric_by_name(metric))
        assert close(values.value(root, convert_to_inclusive=True), profile.total(metric))
        _, names = exclusive(cubex, metric)
        wanted = profile.apart(metric)
        # Contexts that have cost in other metrics only are calls too.
        assert set(wanted) <= set(names)
        assert all(close(seconds, wanted[name]) for name, seconds in names.items())
    values = cubex.get_metric_values(cubex.get_metric_by_name("time"))
    for name in ["main", "solve", "kernel"]:
        calls = [call for call in cubex.all_cnodes() if call.region.name == name]
        inclusive = sum(values.value(call, convert_to_inclusive=True) for call in calls)
        assert close(inclusive, profile.inclusive(name, "time")), name


def test_ranks_and_threads_are_where_they_were(profile, cubex):
    groups = processes(cubex)
    assert [(group.rank, group.type) for group in groups] == [("0", "process"), ("1", "process")]
    assert [[thread.rank for thread in group.all_locations()] for group in groups] == [["0"], ["0"]]
    by_rank, _ = exclusive(cubex, "time")
    for rank in [0, 1]:
        assert close(by_rank[rank], profile.total("time", "--location", f"rank={rank}"))


def test_threads_that_open_mpi_started_are_locations_if_asked_for(profile, tmp_path):
    with CubexParser(profile.export("cube", tmp_path / "all.cubex", "--helpers")) as parsed:
        assert all(len(group.all_locations()) > 1 for group in processes(parsed))
        by_location, _ = exclusive(parsed, "time")
        assert close(sum(by_location), profile.total("time", "--helpers"))


def test_ranks_can_be_the_locations(profile, tmp_path):
    with CubexParser(profile.export("cube", tmp_path / "ranks.cubex", "--by", "rank", "--helpers")) as parsed:
        by_rank, _ = exclusive(parsed, "cpu")
    for rank in [0, 1]:
        assert close(by_rank[rank], profile.total("cpu", "--helpers", "--location", f"rank={rank}"))


@pytest.fixture(scope="module")
def waited(ranks, tmp_path_factory):
    """A run with a log of its calls, and what it waited for: nanoseconds of each metric with all below it, by name."""
    directory = tmp_path_factory.mktemp("waited") / "run"
    command = ["mpirun.openmpi", "-n", "2", FALLOFF, "run", "--events", "mpi", "-o", directory, "--", ranks, "0.2"]
    subprocess.run(command, check=True, env=ENVIRONMENT)
    metrics = json.loads(falloff("waits", directory, "--format", "json"))["metrics"]
    return directory, {metric["name"]: metric for metric in metrics}


def word(name):
    """The name of a metric of waiting in databases."""
    return "mpi-span" if name == "time" else name.lower().replace(", ", "-").replace(" ", "-")


def test_what_ranks_waited_for_is_a_tree(waited, tmp_path):
    directory, metrics = waited
    falloff("export", directory, "--format", "cube", "-o", tmp_path / "waits.cubex")
    wanted = {word(name): metric for name, metric in metrics.items() if metric["total_ns"] > 0}
    with CubexParser(str(tmp_path / "waits.cubex")) as parsed:
        above = {child.name: metric.name for metric in parsed.all_metrics() for child in metric.childs}
        all_names = {metric.name for metric in parsed.all_metrics()}
        assert set(wanted) <= all_names and "wait-at-n-to-n" in wanted
        assert not (all_names & {word(name) for name in metrics}) - set(wanted)
        for name, metric in wanted.items():
            parent = metric["parent"]
            assert above.get(name) == (None if parent is None else word(parent))
            values = parsed.get_metric_values(parsed.get_metric_by_name(name))
            total = sum(values.cnode_values(call).sum() for call in parsed.all_cnodes())
            # Waits are shared out among causes in whole nanoseconds, and the last of each goes to another where contexts have other numbers.
            assert total == pytest.approx(metric["total_ns"] / 1e9, rel=1e-9, abs=1e-7), name


def test_one_of_them_is_by_itself(waited, tmp_path):
    directory, metrics = waited
    falloff("export", directory, "--format", "cube", "--metric", "wait-at-n-to-n", "-o", tmp_path / "one.cubex")
    with CubexParser(str(tmp_path / "one.cubex")) as parsed:
        (metric,) = parsed.all_metrics()
        values = parsed.get_metric_values(metric)
        total = sum(values.cnode_values(call).sum() for call in parsed.all_cnodes())
        assert metric.name == "wait-at-n-to-n" and close(total, metrics["wait at n-to-n"]["total_ns"] / 1e9)
