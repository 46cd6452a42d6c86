"""Hatchet reads `--format hatchet`: the same costs as falloff's own view."""

import hatchet
import pytest
from measured import close, DATA

METRICS = ["time", "cpu", "blocked", "preempted", "samples"]


@pytest.fixture(scope="module")
def whole(profile, tmp_path_factory):
    return read(profile, tmp_path_factory.mktemp("hatchet") / "whole.json")


def read(profile, path, *options):
    profile.export("hatchet", path, *options)
    return hatchet.GraphFrame.from_json(path.read_text())


def test_a_fixture_is_read_the_same_way():
    frame = hatchet.GraphFrame.from_json((DATA / "hatchet/ranks.json").read_text())
    assert frame.dataframe.index.names == ["node", "rank"]
    assert frame.dataframe["time"].groupby("rank").sum().to_dict() == {0: 6.0, 1: 6.0}


def test_totals_are_the_views(profile, whole):
    root = whole.graph.roots[0]
    assert [root.frame["name"]] == [node.frame["name"] for node in whole.graph.roots] == ["<program>"]
    assert set(METRICS) <= set(whole.exc_metrics)
    for metric in METRICS:
        assert close(whole.dataframe[metric].sum(), profile.total(metric))
        assert close(whole.dataframe.loc[root, f"{metric} (inc)"], profile.total(metric))


def test_functions_are_the_views(profile, whole):
    for metric in ["time", "cpu"]:
        found = whole.dataframe.groupby("name")[metric].sum()
        wanted = profile.apart(metric)
        assert set(found.index) == set(wanted)
        for name, seconds in wanted.items():
            assert close(found[name], seconds), name
        inclusive = whole.dataframe.groupby("name")[f"{metric} (inc)"].sum()
        for name in ["main", "work", "solve", "kernel"]:
            assert inclusive[name] > 0
            assert close(inclusive[name], profile.inclusive(name, metric)), name


def test_inlining_and_sources_are_there(whole):
    kernel = whole.dataframe[whole.dataframe["name"] == "kernel"]
    assert all(node.frame["type"] == "inlined" for node in kernel.index)
    assert all(file.endswith("ranks.c") for file in kernel["file"])
    walks = [node for node in whole.graph.traverse() if node.frame["name"] == "walk"]
    assert len(walks) == 8 and len({len(node.path()) for node in walks}) == 8


def test_hatchet_sums_to_the_same_inclusive_costs(whole):
    summed = whole.deepcopy()
    summed.update_inclusive_columns()
    for node in whole.graph.traverse():
        assert close(summed.dataframe["time (inc)"].sum(), whole.dataframe["time (inc)"].sum())
        break
    assert whole.tree().count("walk") == 8


def test_ranks_are_apart(profile, tmp_path):
    frame = read(profile, tmp_path / "ranks.json", "--by", "rank")
    assert frame.dataframe.index.names == ["node", "rank"]
    for rank in [0, 1]:
        own = frame.dataframe.xs(rank, level="rank")
        assert len(own) == len(frame.graph)
        assert close(own["time"].sum(), profile.total("time", "--location", f"rank={rank}"))
        for name, seconds in profile.apart("cpu", "--location", f"rank={rank}").items():
            assert close(own.groupby("name")["cpu"].sum()[name], seconds), name
    work = frame.dataframe[frame.dataframe["name"] == "solve"]["cpu (inc)"].groupby("rank").sum()
    assert work[1] > 1.2 * work[0]
    frame.drop_index_levels(function="sum")
    assert close(frame.dataframe["time"].sum(), profile.total("time"))


def test_threads_are_apart(profile, tmp_path):
    frame = read(profile, tmp_path / "threads.json", "--by", "thread", "--helpers")
    assert frame.dataframe.index.names == ["node", "rank", "thread"]
    assert close(frame.dataframe["time"].sum(), profile.total("time", "--helpers"))


def test_the_difference_of_a_profile_and_itself_is_nothing(whole):
    nothing = whole.deepcopy() - whole.deepcopy()
    assert len(nothing.graph) == len(whole.graph)
    assert nothing.dataframe["time"].abs().max() == 0
