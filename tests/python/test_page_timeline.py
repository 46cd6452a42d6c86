"""The timeline of a page, by clicks and keys: calls and messages of `falloff export`, waiting of `falloff waits`."""

import collections
import json
import re
import subprocess
import xml.etree.ElementTree as xml

import pytest
from measured import ENVIRONMENT, FALLOFF, HERE, falloff, need
from test_page import browse, number

RANKS = 4
UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    """A run of messages of every kind, with a log."""
    need("mpicc.openmpi", "mpirun.openmpi")
    folder = tmp_path_factory.mktemp("timeline")
    source = HERE.parent / "programs/events/messages.c"
    subprocess.run(["mpicc.openmpi", "-O2", "-g", "-pthread", source, "-o", folder / "messages"], check=True)
    command = ["mpirun.openmpi", "-n", str(RANKS), FALLOFF, "run", "--events", "mpi", "-o", folder / "run", "--"]
    subprocess.run([*command, folder / "messages"], check=True, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
    return folder / "run"


@pytest.fixture(scope="module")
def seen(logged, tmp_path_factory):
    """The page of all of it, driven."""
    page = tmp_path_factory.mktemp("page") / "run.html"
    falloff("view", logged, "--html", page, "--window", "..")
    return browse(page, "timeline")


@pytest.fixture(scope="module")
def graph(logged, tmp_path_factory):
    """Its calls and messages as GraphML has them: nodes by id, and edges."""
    path = tmp_path_factory.mktemp("graph") / "run.graphml"
    falloff("export", logged, "--format", "graphml", "-o", path)
    space = "{http://graphml.graphdrawing.org/xmlns}"
    of = xml.parse(path).getroot().find(space + "graph")
    data = lambda element: {one.get("key"): one.text for one in element}
    nodes = {node.get("id"): data(node) for node in of.iter(space + "node")}
    edges = [(nodes[e.get("source")], nodes[e.get("target")], data(e)) for e in of.iter(space + "edge")]
    return nodes, edges


def duration(text):
    """Nanoseconds of `1.234 ms`."""
    value, unit = text.split()
    return float(value) * UNITS[unit]


def test_calls_are_those_of_the_export(seen, graph):
    nodes, edges = graph
    calls = [(begin, end) for begin, end, data in edges if data["edge_kind"] == "call"]
    messages = [data for *_, data in edges if data["edge_kind"] == "message"]
    assert seen["tabs"][-1] == "Timeline"
    assert f"{len(calls)} calls and {len(messages)} messages of {RANKS} lanes" in seen["about"][0]
    first = min(int(node["time_ns"]) for node in nodes.values() if "time_ns" in node)
    begin = lambda call: int(call[0]["time_ns"])
    wanted = [
        (begin["function"], int(begin["time_ns"]) - first, int(end["time_ns"]) - first)
        for begin, end in sorted((call for call in calls if call[0]["rank"] == "0"), key=begin)
    ]
    pattern = r"rank 0: (\w+) \(.*\), .* from ([\d.]+) s to ([\d.]+) s"
    shown = [re.match(pattern, lines[0]).groups() for lines in seen["calls"]]
    assert [(name, round(1e9 * float(a)), round(1e9 * float(b))) for name, a, b in shown] == wanted


def test_messages_are_those_of_the_export(seen, graph):
    def found(word):
        pattern = rf"(?:^|; ){word} rank (\d+): tag (-?\d+), (\d+) bytes?"
        lines = (part for line in seen["calls"] for part in line[1:])
        return collections.Counter(match.groups() for part in lines for match in re.finditer(pattern, part))

    _, edges = graph
    messages = [edge for edge in edges if edge[2]["edge_kind"] == "message"]
    away = [(end["rank"], of["tag"], of["bytes"]) for begin, end, of in messages if begin["rank"] == "0"]
    here = [(begin["rank"], of["tag"], of["bytes"]) for begin, end, of in messages if end["rank"] == "0"]
    assert found("to") == collections.Counter(away) and len(away) > 30
    assert found("from") == collections.Counter(here)


def test_waiting_is_that_of_the_analysis(seen, logged):
    waits = json.loads(falloff("waits", logged, "--format", "json"))
    is_wait = {metric["name"] for metric in waits["metrics"] if metric["is_wait"]}
    wanted = collections.Counter()
    for value in waits["values"]:
        if value["rank"] == 0 and value["metric"] in is_wait:
            name = "late sender" if value["metric"].startswith("wrong order") else value["metric"]
            wanted[name] += value["value_ns"]
    shown = collections.Counter()
    for lines in seen["calls"]:
        if told := re.search(r", of it ([\d.]+ \S+) waiting: (.+)$", lines[0]):
            shown[told[2]] += duration(told[1])
    assert wanted.total() > 0 and shown.keys() == wanted.keys()
    for name, ns in wanted.items():
        assert shown[name] == pytest.approx(ns, rel=2e-3), name


def test_keys_and_clicks_do_what_they_say(seen):
    whole, near, parts = seen["whole"], seen["near"], seen["parts"]
    length = lambda part: part[1] - part[0]
    close = lambda a, b: a == pytest.approx(b, abs=2e-2 * length(near))
    assert seen["next"][0].startswith("rank 1: ") and seen["next"][1].startswith("rank 0: ")
    assert length(near) < length(whole) / 10
    keyed, pointed = seen["pointed"]
    assert keyed == pointed
    assert parts["right"][0] > near[0] and close(length(parts["right"]), length(near))
    assert close(parts["left"][0], near[0])
    assert close(length(parts["closer"]), length(near) / 2) and close(length(parts["farther"]), length(near))
    assert length(parts["wheel"]) < 0.7 * length(near)
    assert parts["dragged"][0] - parts["wheel"][0] == pytest.approx(length(parts["wheel"]) / 4, rel=0.1)
    assert parts["linked"] == parts["dragged"] and parts["all"] == whole
    # The call path of the chosen call is the chosen row.
    function = re.match(r"rank 0: (\w+)", pointed[0])[1]
    assert pointed[-1].endswith(f" > main > {function}")
    assert "view=timeline" in seen["hash"] and "row=" in seen["hash"] and "seen=" in seen["hash"]
    assert seen["row"]["name"] == function


def test_it_is_seen_in_all_colours_and_sizes(seen):
    assert all(word in seen["legend"] for word in ["computing", "point-to-point", "management", "waiting"])
    assert min(seen["colours"], seen["turned"], seen["printed"]) > 10
    wide, picture = seen["narrow"]
    assert wide <= 800 and picture > 200
    assert seen["unnamed"] == 0


def test_a_window_has_the_calls_of_its_export(logged, seen, tmp_path):
    half = f"0..{seen['whole'][1] / 2:.6f}"
    options = ("--window", half, "--location", "rank=1-2")
    page, calls = tmp_path / "run.html", tmp_path / "calls.json"
    falloff("view", logged, "--html", page, *options)
    falloff("export", logged, "--format", "perfetto", "-o", calls, *options)
    events = json.loads(calls.read_text())["traceEvents"]
    about = browse(page, "timeline")["about"][0]
    assert number(about) == sum(event["ph"] == "X" for event in events) > 0
    assert about.endswith("of 2 lanes; point at one, or choose with ↓ ↑ n p")


def test_pages_without_a_window_have_none(logged, tmp_path):
    page = tmp_path / "run.html"
    falloff("view", logged, "--html", page)
    assert "Timeline" not in browse(page, "text")
