"""Sections of a program whose MPI is loaded by dlopen, and their tables read by pandas."""

import math
import re
import subprocess
import sys

import pandas
import pytest
from measured import ENVIRONMENT, FALLOFF, HERE, need

PROGRAM = HERE.parent / "programs/sections/phases.py"


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Two ranks of mpi4py, measured; the tables of their database by name."""
    need("mpirun.openmpi")
    run = tmp_path_factory.mktemp("sections") / "run"
    launcher = ["mpirun.openmpi", "-n", "2"]
    environment = ENVIRONMENT | {"MPI4PY_MPIABI": "openmpi"}

    def said(*words):
        output = subprocess.run([*launcher, *words], check=True, stdout=subprocess.PIPE, env=environment).stdout
        # The launcher may put the text of one rank between another's and its end of line.
        return sorted(re.findall(r"rank \d has \d", output.decode()))

    program = [sys.executable, PROGRAM]
    assert said(FALLOFF, "run", "-o", run, "--", *program) == said(*program) == ["rank 0 has 1", "rank 1 has 1"]
    subprocess.run([FALLOFF, "view", run, "--sections"], check=True, stdout=subprocess.DEVNULL)
    return {path.stem: pandas.read_parquet(path) for path in (run / "database").glob("*.parquet")}


def test_sections_stand_within_mpi_main(tables):
    sections = tables["sections"]
    assert list(sections.label) == ["MPI_MAIN", "SUM"]
    assert math.isnan(sections.parent[0]) and sections.parent[1] == 0
    assert list(tables["communicators"]["size"]) == [2]
    assert sections.communicator[0] == 0 and math.isnan(sections.communicator[1])


def test_every_rank_has_been_in_each_section(tables):
    dwells = tables["section_dwells"].merge(tables["locations"], on="location")
    assert sorted(zip(dwells.section, dwells["rank"], strict=True)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert (dwells["count"] == 1).all() and (dwells.unlogged == 0).all()
    main = dwells[dwells.section == 0].set_index("location")
    inner = dwells[dwells.section == 1].set_index("location")
    assert (main.nested_ns == inner.dwell_ns).all()
    assert (main.dwell_ns >= main.nested_ns).all()


def test_instances_add_up(tables):
    for row in tables["section_instances"].itertuples():
        dwells = tables["section_dwells"]
        assert row.participants == 2 and row.number == 0
        assert row.dwell_sum_ns == dwells[dwells.section == row.section].dwell_ns.sum()
        entries = int(row.in_sum_high) << 64 | int(row.in_sum_low)
        exits = int(row.out_sum_high) << 64 | int(row.out_sum_low)
        assert exits - entries == row.dwell_sum_ns
        assert entries == row.first_in_ns + row.last_in_ns and exits == row.first_out_ns + row.last_out_ns


def test_values_of_sections_are_a_part_of_all(tables):
    key = ["context", "metric"]
    inside = tables["section_values"].groupby(key).exclusive.sum()
    helpers = tables["locations"].set_index("location").helper
    values = tables["values"]
    whole = values[~values.location.map(helpers)].groupby(key).exclusive.sum()
    assert len(inside) > 0
    assert (whole.reindex(inside.index) >= inside).all()
