"""The Firefox Profiler's command line reads `--format firefox`: the same costs as falloff's own view."""

import json
import os
import subprocess
import time

import pytest
from measured import DATA, close, node

ROWS = ["--limit", "1000000", "--include-idle"]


class Session:
    """A profile in the Profiler."""

    def __init__(self, file, home, name):
        self.program = ["node", node("@firefox-devtools/profiler-cli") / "dist/profiler-cli.js"]
        self.environment = os.environ | {"HOME": str(home), "PROFILER_CLI_SESSION_DIR": str(home)}
        self.session = ["--session", name]
        # Where its server is slow to start, it says that it failed and goes on.
        loaded = self.run("load", str(file))
        for _ in range(120):
            if self.run("profile", "info").returncode == 0:
                return
            time.sleep(0.5)
        pytest.fail(f"the profile is not loaded: {loaded.stdout}{loaded.stderr}")

    def run(self, *words):
        command = [*self.program, *words, *self.session]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True)

    def ask(self, *words):
        found = self.run(*words, "--json")
        assert found.returncode == 0, found.stderr
        return json.loads(found.stdout)

    def threads(self):
        threads = self.ask("thread", "list")["threads"]
        return sorted(threads, key=lambda thread: thread["threadIndex"])

    def functions(self, thread):
        """Own and inclusive cost of each function, in the unit of the profile's weights, and its handle."""
        rows = self.ask("thread", "functions", "--thread", thread["threadHandle"], *ROWS)["functions"]
        return {row["name"]: (row["selfSamples"], row["totalSamples"], row["functionHandle"]) for row in rows}

    def total(self, thread):
        samples = self.ask("thread", "samples", "--thread", thread["threadHandle"], "--include-idle")
        return samples["categoryBreakdown"]["totalSamples"]


@pytest.fixture
def session(tmp_path_factory):
    """Opens sessions and stops them at the end."""
    sessions = []

    def begin(file):
        home = tmp_path_factory.mktemp("firefox")
        sessions.append(Session(file, home, f"falloff-{len(sessions)}"))
        return sessions[-1]

    yield begin
    for one in sessions:
        one.run("stop")


def test_a_fixture_is_read_the_same_way(session):
    ranks = session(DATA / "firefox/ranks.json")
    threads = ranks.threads()
    assert [thread["name"] for thread in threads] == ["rank 0", "rank 1"]
    assert ranks.total(threads[0]) == 850
    assert ranks.functions(threads[0])["solve"][:2] == (300, 700)


def test_ranks_are_processes_with_the_costs_of_the_views(profile, session, tmp_path):
    opened = session(profile.export("firefox", tmp_path / "ranks.json", "--by", "rank"))
    threads = opened.threads()
    assert [thread["processName"] for thread in threads] == ["rank 0", "rank 1"]
    for rank, thread in enumerate(threads):
        location = ("--location", f"rank={rank}")
        assert close(opened.total(thread) / 1e3, profile.total("time", *location))
        functions, own = opened.functions(thread), profile.exclusive("time", *location)
        for name in ["main", "work", "solve", "kernel", "walk"]:
            found = functions.get(name, (0, 0))
            wanted = own[name], profile.inclusive(name, "time", *location)
            assert close(found[0] / 1e3, wanted[0]) and close(found[1] / 1e3, wanted[1]), f"{name}, {rank}"


def test_lines_and_inlined_functions_are_known(profile, session, tmp_path):
    opened = session(profile.export("firefox", tmp_path / "counts.json", "--metric", "samples"))
    (thread,) = opened.threads()
    assert opened.total(thread) == profile.total("samples")
    opened.ask("thread", "select", thread["threadHandle"])
    walk = opened.functions(thread)["walk"]
    annotated = json.dumps(opened.ask("function", "annotate", walk[2], "--mode", "src", "--context", "file"))
    assert "ranks.c" in annotated, annotated
    tree = opened.ask("thread", "samples-top-down", "--thread", thread["threadHandle"], "--include-idle")
    assert "kernel" in json.dumps(tree)
