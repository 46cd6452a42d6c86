"""speedscope in a browser without a screen reads `--format speedscope`: the same costs as falloff's own view."""

import json
import re
import shutil
import subprocess

import pytest
from measured import DATA, ENVIRONMENT, HERE, need, node

UNITS = {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


def shown(file):
    """Each profile that speedscope shows, by name: total, and self and total of each function, in seconds."""
    need("chromium")
    node("speedscope")
    command = ["node", HERE.parent / "clients/speedscope.cjs", file]
    environment = ENVIRONMENT | {"CHROMIUM": shutil.which("chromium")}
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment, timeout=300).stdout
    profiles = {}
    for profile in json.loads(out):
        rows = {name: (seconds(own), seconds(total)) for total, own, name in profile["rows"]}
        profiles[profile["name"]] = seconds(profile["total"]), rows
    return profiles


def seconds(text):
    """`12.34ms (5.6%)` or `1:02.34`."""
    number, unit = re.match(r"([\d.:]+)(\S*)", text).groups()
    if ":" in number:
        minutes, rest = number.split(":")
        return 60 * int(minutes) + float(rest)
    return float(number) * UNITS[unit]


def close(found, wanted):
    """Equal to what speedscope rounds to: two digits behind the point, in the largest unit."""
    step = next((unit for unit in UNITS.values() if wanted >= unit), 0)
    return found == pytest.approx(wanted, abs=0.0051 * step)


def test_a_fixture_is_read_the_same_way(tmp_path):
    profiles = shown(shutil.copy(DATA / "speedscope/ranks.json", tmp_path))
    total, rows = profiles["all ranks"]
    assert total == 17 and rows["solve"] == (6, 14) and rows["io <T as Trait>::write"] == (1, 1)
    assert profiles["rank 0"][0] == 4.25


def test_totals_and_functions_are_the_views(profile, tmp_path):
    profiles = shown(profile.export("speedscope", tmp_path / "ranks.json", "--by", "rank"))
    where = {"all": (), "rank 0": ("--location", "rank=0"), "rank 1": ("--location", "rank=1")}
    assert list(profiles) == [f"{label}, time" for label in where]
    for label, location in where.items():
        total, rows = profiles[f"{label}, time"]
        assert close(total, profile.total("time", *location))
        own = profile.exclusive("time", *location)
        for name in ["main", "work", "solve", "kernel", "walk"]:
            found = rows.get(name, (0, 0))
            wanted = own[name], profile.inclusive(name, "time", *location)
            assert close(found[0], wanted[0]) and close(found[1], wanted[1]), f"{name}, {label}"
