"""Profiles of an MPI program, made once for all tests."""

import subprocess

import pytest
from measured import ENVIRONMENT, FALLOFF, HERE, Profile, falloff, need


@pytest.fixture(scope="session")
def ranks(tmp_path_factory):
    """The program of unequal ranks, built."""
    need("mpicc.openmpi", "mpirun.openmpi")
    folder = tmp_path_factory.mktemp("ranks")
    build = ["mpicc.openmpi", "-O2", "-g", HERE.parent / "programs/ranks.c", "-o", folder / "ranks"]
    subprocess.run(build, check=True)
    return folder / "ranks"


@pytest.fixture(scope="session")
def profile(ranks):
    """Two ranks of it, measured."""
    directory = ranks.parent / "run"
    command = ["mpirun.openmpi", "-n", "2", FALLOFF, "run", "-o", directory, "--", ranks]
    subprocess.run(command, check=True, env=ENVIRONMENT)
    return Profile(directory)


@pytest.fixture(scope="session")
def sweep(ranks):
    """A sweep of it that measures the time of processors alone, so that few of MPI's own paths are in it."""
    directory = ranks.parent / "sweep"
    falloff(
        *("sweep", "-n", "1,2,3,4,5", "--repeat", "2", "--launcher", "mpirun.openmpi -n {n}"),
        *("-e", "cpu", "-o", directory, "--", ranks, "0.2"),
    )
    return directory
