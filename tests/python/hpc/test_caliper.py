"""Hatchet and Thicket read `--format caliper`: the same costs as falloff's own view."""

import hatchet
import pytest
import thicket
from measured import close, DATA, Profile


@pytest.fixture(scope="module")
def stream(profile, tmp_path_factory):
    return profile.export("caliper", tmp_path_factory.mktemp("caliper") / "whole.cali")


def test_fixtures_are_read_the_same_way():
    lulesh = hatchet.GraphFrame.from_caliperreader(str(DATA / "caliper/lulesh.cali"))
    assert close(lulesh.dataframe.groupby("name")["time"].sum()["LagrangeNodal"], 0.0124)
    mini = hatchet.GraphFrame.from_caliperreader(str(DATA / "caliper/ranks.cali"))
    assert mini.metadata["mpi.world.size"] == 2
    assert "sölve<T>=1,x" in set(mini.dataframe["name"])


def test_hatchet_has_the_views_costs(profile, stream):
    frame = hatchet.GraphFrame.from_caliperreader(stream)
    assert frame.default_metric == "time"
    assert {"time", "cpu", "blocked", "samples"} <= set(frame.exc_metrics)
    assert {"time (inc)", "cpu (inc)"} <= set(frame.inc_metrics)
    assert len(frame.graph.roots) == 1 and len(frame.dataframe) == len(frame.graph)
    for metric in ["time", "cpu", "blocked", "samples"]:
        assert close(frame.dataframe[metric].sum(), profile.total(metric))
        assert close(frame.dataframe.loc[frame.graph.roots[0], f"{metric} (inc)"], profile.total(metric))
        found = frame.dataframe.groupby("name")[metric].sum()
        wanted = profile.apart(metric)
        assert set(found.index) == set(wanted)
        assert all(close(found[name], value) for name, value in wanted.items())
    for name in ["main", "solve", "kernel"]:
        inclusive = frame.dataframe.groupby("name")["time (inc)"].sum()[name]
        assert close(inclusive, profile.inclusive(name, "time")), name


def test_what_is_known_of_the_run_is_metadata(profile, stream):
    metadata = hatchet.GraphFrame.from_caliperreader(stream).metadata
    assert metadata["mpi.world.size"] == 2 and metadata["numhosts"] == 1
    assert metadata["executable"].endswith("/ranks")


def test_ranks_are_apart(profile, tmp_path):
    frame = hatchet.GraphFrame.from_caliperreader(profile.export("caliper", tmp_path / "r.cali", "--by", "rank"))
    assert frame.dataframe.index.names == ["node", "rank"]
    # Hatchet gives the root, and it alone, a second row of nothing.
    root = frame.graph.roots[0]
    twice = frame.dataframe[frame.dataframe.index.duplicated()]
    assert set(twice.index.get_level_values("node")) == {root}
    assert sorted(frame.dataframe.loc[root]["time (inc)"])[:2] == [0, 0]
    assert len(frame.dataframe) == 2 * len(frame.graph) + 2
    for rank in [0, 1]:
        own = frame.dataframe.xs(rank, level="rank")
        assert close(own["time"].sum(), profile.total("time", "--location", f"rank={rank}"))


def test_thicket_composes_the_runs_of_a_sweep(sweep, tmp_path):
    runs = {count: Profile(sweep / f"runs/n{count:04}-r1") for count in [1, 2, 4]}
    files = [run.export("caliper", tmp_path / f"{count}.cali") for count, run in runs.items()]
    composed = thicket.Thicket.from_caliperreader(files)
    assert sorted(composed.metadata["mpi.world.size"]) == [1, 2, 4]
    for count, part in composed.groupby("mpi.world.size").items():
        assert close(part.dataframe["cpu"].sum(), runs[count].total("cpu"))
        solve = part.dataframe[part.dataframe["name"] == "solve"]["cpu (inc)"].sum()
        assert close(solve, runs[count].inclusive("solve", "cpu"))
