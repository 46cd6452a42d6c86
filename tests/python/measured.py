"""Measured profiles, and what `falloff view` says of them in the units of exports."""

import collections
import functools
import json
import os
import pathlib
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).resolve().parent
FALLOFF = os.environ.get("FALLOFF", str(HERE.parents[1] / "target/release/falloff"))
DATA = HERE.parent / "data"
# Open MPI as root, and with more ranks than processors.
ENVIRONMENT = os.environ | {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
}


def falloff(*arguments):
    """What falloff writes to standard output."""
    command = [FALLOFF, *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, env=ENVIRONMENT).stdout


def need(*tools):
    """Skips the test where a tool is missing, but fails where continuous integration runs."""
    missing = [tool for tool in tools if not shutil.which(tool)]
    if missing:
        fail_or_skip(f"missing tools: {', '.join(missing)} (tests/run installs them)")


def fail_or_skip(why):
    (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(why)


def node(package):
    """The folder of a package that tests/clients/package.json names, for the program `node`."""
    need("node")
    folder = HERE.parent / "clients/node_modules" / package
    if not folder.is_dir():
        fail_or_skip(f"missing package: {package} (tests/run installs it)")
    return folder


class Profile:
    """The profile of a run, and what `falloff view` says of it."""

    def __init__(self, directory):
        self.dir = directory

    def export(self, form, output, *options):
        falloff("export", self.dir, "--format", form, "-o", output, *options)
        return str(output)

    @functools.cache
    def view(self, metric, *options, view="context"):
        out = falloff("view", self.dir, "--metric", metric, "--view", view, "--format", "json", *options)
        return json.loads(out)["rows"]

    def total(self, metric, *options):
        """Of the whole: seconds of a time, else a count."""
        return value(self.view(metric, *options)[0], "inclusive")

    def exclusive(self, metric, *options):
        """Of each function and pseudo frame, by name; a function has that of its loops."""
        sums = collections.Counter()
        for row in self.view(metric, *options):
            if row["kind"] not in ("line", "loop"):
                sums[row["name"]] += value(row, "exclusive")
        return sums

    def apart(self, metric, *options):
        """Of each function, loop and pseudo frame, by name, without that of the loops in it."""
        rows = [row for row in self.view(metric, *options) if row["kind"] != "line"]
        sums = collections.Counter({row["name"]: 0 for row in rows})
        name = {row["id"]: row["name"] for row in rows}
        for row in rows:
            sums[row["name"]] += value(row, "inclusive")
            if row["parent"] is not None:
                sums[name[row["parent"]]] -= value(row, "inclusive")
        return sums

    def inclusive(self, name, metric, *options):
        """Of a function by name, recursion counted once."""
        rows = self.view(metric, *options)
        inside = set()
        total = 0
        for row in rows:
            if row["parent"] in inside or row["name"] == name:
                total += value(row, "inclusive") if row["parent"] not in inside else 0
                inside.add(row["id"])
        return total


def value(row, column):
    """A value of a row in the unit of exports: seconds of a time, else a count."""
    return row[f"{column}_ns"] / 1e9 if f"{column}_ns" in row else row[f"{column}_count"]


def close(found, wanted):
    """Equal to rounding."""
    return found == pytest.approx(wanted, rel=1e-9, abs=1e-9)
