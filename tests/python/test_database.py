"""The database read by other people's tools: pandas with pyarrow, as it is."""

import json
import math
import os
import pathlib
import subprocess

import pandas
import pytest

HERE = pathlib.Path(__file__).resolve().parent
FALLOFF = os.environ.get("FALLOFF", str(HERE.parents[1] / "target/release/falloff"))
TABLES = {"contexts", "locations", "metrics", "modules", "summary", "values"}


class Run:
    """A measured run: its tables, its manifest, and what `falloff view` says of it."""

    def __init__(self, folder):
        build = ["gcc", "-O2", "-g", "-pthread", HERE.parent / "programs/storm.c", "-o", folder / "storm"]
        subprocess.run(build, check=True)
        self.dir = folder / "run"
        # Its threads are shorter than a sampling period: with 200 rounds some fifty of their samples are taken.
        subprocess.run([FALLOFF, "run", "-o", self.dir, "--", folder / "storm", "200"], check=True)
        self.view = self.json_view("cpu")
        database = self.dir / "database"
        self.tables = {path.stem: pandas.read_parquet(path) for path in database.glob("*.parquet")}
        (manifest,) = database.glob("*.json")
        self.manifest = json.loads(manifest.read_text())

    def json_view(self, metric):
        command = [FALLOFF, "view", self.dir, "--metric", metric, "--format", "json"]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)

    def values_of(self, metric):
        """The rows of `values` that belong to the metric of this name."""
        metrics = self.tables["metrics"].set_index("name")["metric"]
        values = self.tables["values"]
        return values[values["metric"] == metrics[metric]]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return Run(tmp_path_factory.mktemp("database"))


def test_every_table_opens_and_the_manifest_knows_its_rows(run):
    assert set(run.tables) >= TABLES
    assert run.manifest["schema"].startswith("falloff.")
    assert isinstance(run.manifest["version"], int)


def test_the_whole_is_what_the_view_says(run):
    whole = run.view["rows"][0]["inclusive_ns"]
    assert whole > 0
    assert int(run.values_of("cpu")["exclusive"].sum()) == whole


def test_a_function_is_what_the_view_says(run):
    contexts = run.tables["contexts"].set_index("context")
    exclusive = run.values_of("cpu")
    # The cost of a function stands in it, in its loops, and in the line scopes below them.
    owner = exclusive["context"]
    while (within := owner.map(contexts["kind"]).isin(["line", "loop"])).any():
        owner = owner.where(~within, owner.map(contexts["parent"]))
    of_gust = (owner.map(contexts["name"]) == "gust") & (owner.map(contexts["kind"]) == "function")
    shown = [row for row in run.view["rows"] if row["name"] == "gust" and row["kind"] == "function"]
    assert int(exclusive[of_gust]["exclusive"].sum()) == sum(row["exclusive_ns"] for row in shown) > 0


def test_parents_come_before_their_children(run):
    contexts = run.tables["contexts"]
    below = contexts.iloc[1:]
    assert (below["parent"] < below["context"]).all()


def test_values_name_what_exists(run):
    values = run.tables["values"]
    assert values["context"].isin(run.tables["contexts"]["context"]).all()
    assert values["location"].isin(run.tables["locations"]["location"]).all()
    assert values["metric"].isin(run.tables["metrics"]["metric"]).all()


def test_summaries_are_sums_of_the_values(run):
    keys = ["context", "metric"]
    grouped = run.tables["values"].groupby(keys)["exclusive"]
    summary = run.tables["summary"].set_index(keys)
    assert (grouped.sum() == summary["exclusive_sum"].reindex(grouped.sum().index)).all()
    assert (grouped.max() == summary["exclusive_max"].reindex(grouped.max().index)).all()
    squares = {key: sum(int(v) ** 2 for v in rows) for key, rows in grouped}
    # Column by column: a row of mixed columns would be turned into floats.
    words = zip(summary.index, summary["exclusive_square_sum_high"], summary["exclusive_square_sum_low"])
    stored = {key: (int(high) << 64) + int(low) for key, high, low in words if key in squares}
    assert squares == stored


def test_inclusive_statistics_are_those_of_the_subtrees(run):
    contexts, values = run.tables["contexts"], run.tables["values"]
    locations = len(run.tables["locations"])
    metric = run.tables["metrics"].set_index("name")["metric"]["cpu"]
    # By context and location; callers stand before those that they call.
    wide = values[values["metric"] == metric].pivot(index="context", columns="location", values="exclusive")
    wide = wide.reindex(index=contexts["context"], columns=range(locations)).fillna(0).astype("int64")
    sums = wide.to_numpy(copy=True)
    for context, parent in list(zip(contexts["context"], contexts["parent"]))[:0:-1]:
        sums[parent] += sums[context]
    summary = run.tables["summary"].query("metric == @metric").set_index("context")
    for context, row in zip(summary.index, summary.itertuples()):
        column = sorted(int(value) for value in sums[context])
        found = (row.inclusive_sum, row.inclusive_min, row.inclusive_p50, row.inclusive_max)
        assert found == (sum(column), column[0], column[math.ceil(locations / 2) - 1], column[-1])
        assert row.inclusive_participants == sum(value != 0 for value in column)


def test_samples_agree_with_the_health(run):
    locations = run.tables["locations"]
    health = run.view["health"]
    assert int(locations["samples"].sum()) == health["samples"]
    assert locations[["host", "pid", "start_ns", "ordinal"]].drop_duplicates().shape[0] >= health["processes"]
