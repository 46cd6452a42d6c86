"""pandas, polars and DuckDB read `--format csv` and `--format parquet`: the same costs as falloff's own view."""

import duckdb
import pandas
import polars
import pytest
from measured import DATA, close

METRICS = {"time": "ns", "cpu": "ns", "blocked": "ns", "preempted": "ns", "samples": "count"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def csv(profile, folder):
    return profile.export("csv", folder / "profile.csv")


@pytest.fixture(scope="module")
def parquet(profile, folder):
    return profile.export("parquet", folder / "parquet")


def unit(metric):
    return 1e9 if METRICS[metric] == "ns" else 1


def test_pandas_reads_the_csv(profile, csv):
    table = pandas.read_csv(csv).set_index("context")
    for metric, suffix in METRICS.items():
        inclusive, exclusive = (table[f"{metric}_{what}_{suffix}"] for what in ["inclusive", "exclusive"])
        assert close(inclusive[0] / unit(metric), profile.total(metric))
        own = exclusive[~table.kind.isin(["line", "loop"])]
        assert close(own.sum() / unit(metric), profile.total(metric))
        by_name = own.groupby(table.name).sum()
        for name, wanted in profile.exclusive(metric).items():
            assert close(by_name[name] / unit(metric), wanted), f"{name}, {metric}"
    kernel = table[(table.name == "kernel") & (table.kind == "inlined")].iloc[0]
    assert kernel.file.endswith("ranks.c") and ";solve;" in kernel.path and kernel.call_line > 0


def test_duckdb_reads_the_csv_of_ranks(profile, folder):
    file = profile.export("csv", folder / "ranks.csv", "--by", "rank", "--metric", "cpu")
    query = f"select \"group\", max(cpu_inclusive_ns) from '{file}' where kind = 'root' group by 1 order by 1"
    rows = duckdb.sql(query).fetchall()
    assert [label for label, _ in rows] == ["rank 0", "rank 1"]
    for rank, (_, total) in enumerate(rows):
        assert close(total / 1e9, profile.total("cpu", "--location", f"rank={rank}"))


OWN = """
    with cost as (
        select m.name as metric, v.exclusive / m.divisor as cost, l.helper,
            case when c.kind = 'line' then p.name else c.name end as owner
        from {values} v
        join {metrics} m on m.metric = v.metric
        join {locations} l on l.location = v.location
        join {contexts} c on c.context = v.context
        join {contexts} p on p.context = c.parent
    )
    select metric, owner, sum(cost) from cost where not helper group by 1, 2
"""


def agrees(profile, rows):
    """Rows of metric, function or loop and its own cost."""
    assert {metric for metric, _, _ in rows} == set(METRICS)
    for metric in METRICS:
        found = {name: cost / unit(metric) for m, name, cost in rows if m == metric}
        assert close(sum(found.values()), profile.total(metric))
        own = profile.apart(metric)
        for name in own:
            assert close(found.get(name, 0), own[name]), f"{name}, {metric}"


def tables(directory):
    return {name: f"'{directory}/{name}.parquet'" for name in ["contexts", "locations", "metrics", "values"]}


def test_duckdb_reads_the_tables(profile, parquet):
    agrees(profile, duckdb.sql(OWN.format(**tables(parquet))).fetchall())


def test_polars_reads_the_tables(profile, parquet):
    frames = {name: polars.read_parquet(f"{parquet}/{name}.parquet") for name in tables(parquet)}
    names = {name: f"{name}_table" for name in frames}
    context = polars.SQLContext({f"{name}_table": frame for name, frame in frames.items()})
    agrees(profile, context.execute(OWN.format(**names), eager=True).rows())


def test_pandas_reads_the_tables(profile, parquet):
    def table(name):
        return pandas.read_parquet(f"{parquet}/{name}.parquet")

    contexts, locations = table("contexts").set_index("context"), table("locations").set_index("location")
    metrics, values = table("metrics").set_index("metric"), table("values")
    own = values[~values["location"].map(locations["helper"])]
    kind, name, parent = (own["context"].map(contexts[column]) for column in ["kind", "name", "parent"])
    owner = name.where(kind != "line", parent.map(contexts["name"]))
    cost = own["exclusive"] / own["metric"].map(metrics["divisor"])
    sums = cost.groupby([own["metric"].map(metrics["name"]), owner]).sum()
    agrees(profile, [(*key, value) for key, value in sums.items()])


def test_a_database_of_the_first_version_is_read_the_same_way():
    directory = DATA / "databases/v1"
    wanted = pandas.read_parquet(directory / "values.parquet")["exclusive"].sum()
    assert wanted > 0
    assert duckdb.sql(f"select sum(exclusive) from '{directory}/values.parquet'").fetchall() == [(wanted,)]
    assert polars.read_parquet(directory / "values.parquet")["exclusive"].sum() == wanted
