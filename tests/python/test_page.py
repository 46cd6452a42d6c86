"""Pages that `--html` writes, in a browser without a screen: the numbers of `--format json`, and no request to anywhere."""

import base64
import json
import random
import re
import shutil
import subprocess
import zlib

import pytest
from measured import DATA, ENVIRONMENT, HERE, falloff, need, node

VIEWS = ("context", "callers", "flat")
NODES = 50


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """The demonstration's sweep."""
    directory = tmp_path_factory.mktemp("page") / "demo"
    falloff("demo", "-o", directory)
    return directory


@pytest.fixture(scope="session")
def lammps(tmp_path_factory):
    """A sweep of a real application: a Lennard-Jones liquid."""
    need("lmp", "mpirun.openmpi")
    folder = tmp_path_factory.mktemp("lammps")
    command = ("lmp", "-in", DATA / "lj.in", "-var", "x", "8", "-var", "steps", "300", "-log", "none")
    launcher = "mpirun.openmpi -n {n}"
    falloff("sweep", "-n", "1,2", "--repeat", "2", "--launcher", launcher, "-o", folder / "sweep", "--", *command)
    return folder / "sweep"


@pytest.fixture(params=["demo", "lammps"])
def swept(request):
    """Each of the sweeps."""
    return request.getfixturevalue(request.param)


def largest(sweep):
    """The first run at the largest count of a sweep."""
    return max(sweep.glob("runs/*-r1"))


def browse(page, job, given=None):
    """What the browser shows. The page asks nobody for anything, and nothing goes wrong in it."""
    need("chromium")
    node("puppeteer-core")
    command = ["node", HERE.parent / "clients/page.cjs", page, job]
    environment = ENVIRONMENT | {"CHROMIUM": shutil.which("chromium")}
    done = subprocess.run(
        command, input=json.dumps(given).encode(), check=True, stdout=subprocess.PIPE, env=environment, timeout=300
    )
    answer = json.loads(done.stdout)
    assert set(answer["requests"]) <= {page.resolve().as_uri(), "about:blank"}
    assert answer["errors"] == []
    return answer["result"]


def paths(rows, indices):
    """The scopes from below the root to each of these rows."""
    by_id = {row["id"]: row for row in rows}
    for index in indices:
        path, row = [], rows[index]
        while row["parent"] is not None:
            path.insert(0, {key: row[key] for key in ("kind", "name", "module", "file", "line", "call_line")})
            row = by_id[row["parent"]]
        yield rows[index], path


def chosen(rows, field):
    """Some rows with any cost, but none of those deep ones whose paths would only take time."""
    held = [i for i, row in enumerate(rows) if row[field] and row["kind"] != "root"]
    return random.Random(1).sample(held, min(NODES, len(held)))


def number(text):
    return float(re.match(r"[−+]?[\d.]+", text)[0].replace("−", "-").replace("+", ""))


def same(shown, wanted):
    """Equal as far as is shown, which is at least one decimal."""
    decimals = len(re.match(r"[−+]?\d+\.(\d+)", shown)[1])
    assert number(shown) == pytest.approx(wanted, rel=1e-9, abs=0.51 * 10**-decimals), shown


@pytest.mark.parametrize("view", VIEWS)
def test_a_run_has_the_numbers_of_its_json(swept, tmp_path, view):
    run = largest(swept)
    page = tmp_path / "run.html"
    falloff("view", run, "--html", page)
    document = json.loads(falloff("view", run, "--view", view, "--format", "json"))
    rows = document["rows"]
    cases = list(paths(rows, chosen(rows, "inclusive_ns")))
    shown = browse(page, "numbers", [{"view": view, "path": path} for _, path in cases])
    unit, factor = ("s", 1e9) if rows[0]["inclusive_ns"] >= 1e9 else ("ms", 1e6)
    for (row, _), seen in zip(cases, shown, strict=True):
        assert seen["name"] == row["name"][:239] or seen["name"].endswith("…")
        for side, field in (("incl.", "inclusive"), ("excl.", "exclusive")):
            value, percent, _ = seen["cells"][f"{document['metric']} {side} {unit}"].split()
            same(value, row[f"{field}_ns"] / factor)
            same(percent, row[f"{field}_percent"])


EXPECTED = ("--expect", "gather_all_sums=1+log2(p)", "--charge", "cause", "--base", "2")


@pytest.mark.parametrize("view", VIEWS)
def test_a_sweep_has_the_numbers_of_its_json(swept, tmp_path, view):
    check_sweep(swept, tmp_path, view)


@pytest.mark.parametrize("view", VIEWS)
def test_expectations_and_charges_are_those_of_json(demo, tmp_path, view):
    check_sweep(demo, tmp_path, view, *EXPECTED)


def check_sweep(sweep, tmp_path, view, *options):
    """All columns of some rows, and how each bounds the speed-up."""
    page = tmp_path / "sweep.html"
    falloff("score", sweep, *options, "--html", page)
    score = json.loads(falloff("score", sweep, *options, "--format", "json"))
    rows = score["contexts"] if view == "context" else score["views"][view]
    cases = list(paths(rows, chosen(rows, "work_at_incl_seconds")))
    shown = browse(page, "numbers", [{"view": view, "path": path} for _, path in cases])
    for (row, _), seen in zip(cases, shown, strict=True):
        for side in ("incl", "excl"):
            value, width = seen["cells"][f"excess {side}. %"].split(" ± ")
            same(value, row[f"excess_{side}_percent"])
            same(width, row[f"excess_{side}_half_width_percent"])
        cells = {re.sub(" (s|ms|%)$", "", heading): (cell, heading) for heading, cell in seen["cells"].items()}
        for side in ("base", "at"):
            for of, field in (("work", "incl"), ("work excl.", "excl")):
                cell, heading = cells[f"{of} at {score[side]}"]
                same(cell, row[f"work_{side}_{field}_seconds"] * (1000 if heading.endswith(" ms") else 1))
            same_count(seen["cells"], f"samples at {score[side]}", row[f"samples_{side}"])
        for of, field in (("own efficiency", "own_efficiency_percent"), ("imbalance", "imbalance_percent")):
            cell, _ = cells[of]
            assert (cell == "") == (row[field] is None)
            if cell:
                same(cell, row[field])
        assert seen["sure"] == row["significant"]
        if view == "context":
            same_bounds(seen["bounds"], row, score)


def same_count(cells, title, wanted):
    """A count in its unit, which the heading names."""
    [(heading, cell)] = [(h, c) for h, c in cells.items() if h == title or h.startswith(f"{title} ")]
    factor = {"": 1, "k": 1e3, "M": 1e6}[heading.removeprefix(title).strip()]
    if factor == 1:
        assert cell == str(wanted)
    else:
        same(cell, wanted / factor)


def same_bounds(said, row, score):
    """The sentence of the bounds of a row."""
    if "bound_average" not in row:
        assert said is None
        return
    value, low, high, *rest = re.findall(r"[\d.]+|∞", said.split(" can be at most ")[1].split(". ")[0])
    assert f"what this row takes at {score['at']}," in said
    for shown, wanted in zip((value, low, high), ("value", "low", "high"), strict=True):
        wanted = row["bound_average"][wanted]
        if wanted is None:
            assert shown == "∞"
        else:
            same(shown, wanted)
    inflexion = row["inflexion"]
    words = {"falls": "still falls at", "flat": "is flat from", "past": "is least at"}
    state = "is not known" if inflexion is None else f"{words[inflexion['state']]} {inflexion['fastest']:.0f}"
    assert state in said, (said, inflexion)


@pytest.mark.parametrize("counts", [(2, 4), (1, 2)])
def test_other_counts_are_compared_in_the_page(demo, tmp_path, counts):
    page = tmp_path / "sweep.html"
    falloff("score", demo, "--html", page)
    base, at = counts
    score = json.loads(falloff("score", demo, "--base", base, "--at", at, "--format", "json"))
    seen = browse(page, "compared", counts)
    for shown, finding in zip(seen["findings"], score["findings"], strict=True):
        same(shown, finding["cost_percent"])
        assert finding["text"] in seen["said"]
    [causes] = [words for words in seen["pictures"] if words.startswith("excess work by cause")]
    for cause in score["causes"]:
        if abs(cause["excess_percent"]) >= 0.05:
            assert f"{cause['title']} {cause['excess_percent']:.1f} %".replace("-", "−") in causes
    [waterfall] = [words for words in seen["pictures"] if words.startswith("waterfall")]
    for step in score["waterfall"]:
        assert f"{step['factor'].replace('_', ' ')} {step['change_percent'] + 0:.1f}".replace("-", "−") in waterfall
    for shown, step in zip(seen["bounds"], score["bounds"]["waterfall"], strict=False):
        same(shown, step["bound"])
    value, width = seen["cells"]["excess incl. %"].split(" ± ")
    same(value, score["total_excess_percent"])
    same(width, score["total_excess_half_width_percent"])
    assert seen["sure"] == score["contexts"][0]["significant"]


def test_a_difference_has_the_numbers_of_its_json(demo, tmp_path):
    new, old = demo / "runs/n0004-r1", demo / "runs/n0002-r1"
    page, kept = tmp_path / "difference.html", tmp_path / "difference"
    falloff("diff", new, old, "-o", kept, "--html", page)
    document = json.loads(falloff("view", kept, "--format", "json"))
    rows = document["rows"]
    cases = list(paths(rows, chosen(rows, "inclusive_ns")))
    shown = browse(page, "numbers", [{"view": "context", "path": path} for _, path in cases])
    for (row, _), seen in zip(cases, shown, strict=True):
        [(heading, cell)] = [(h, c) for h, c in seen["cells"].items() if h.startswith(f"{document['metric']} incl.")]
        value, percent, _ = cell.split()
        same(value, row["inclusive_ns"] / {"s": 1e9, "ms": 1e6}[heading.split()[-1]])
        same(percent, row["inclusive_percent"])
    said = browse(page, "text")
    assert said.index("Not matched with any call path of the other") < said.index("new ") < said.index("old ")
    assert f"{new}: " in said and f"{old}: " in said


def test_ranks_sections_and_formulas(profile, tmp_path):
    page = tmp_path / "ranks.html"
    falloff("view", profile.dir, "--metric", "cpu", "--html", page)
    seen = browse(page, "filters")
    same(seen["all"].split()[0], profile.total("cpu"))
    same(seen["rank"].split()[0], profile.total("cpu", "--location", "rank=1"))
    assert seen["again"] == seen["all"]
    assert seen["sections"][:2] == ["all", "MPI_MAIN"]
    assert 0 < number(seen["section"]) <= number(seen["all"])
    same(seen["twice"], 2 * profile.total("cpu"))
    assert 'there is no "nothing"' in seen["wrong"]


def test_a_threshold_holds_in_every_view(demo, tmp_path):
    page = tmp_path / "run.html"
    falloff("view", largest(demo), "--html", page)
    seen = browse(page, "threshold", 15)
    for view in VIEWS:
        assert seen[view] and min(seen[view]) >= 15, view
    assert len(seen["flat"]) < seen["before"]


def test_a_section_of_a_sweep_is_what_it_is_in_its_runs(sweep, tmp_path):
    page = tmp_path / "sweep.html"
    falloff("score", sweep, "--html", page)
    seen = browse(page, "section")
    runs = []
    for run in sorted(sweep.glob("runs/n0005-*")):
        falloff("view", run, "--metric", "cpu", "--html", tmp_path / "run.html")
        runs.append(browse(tmp_path / "run.html", "filters"))
    assert len(runs) == 2 and runs[0]["sections"][1] == seen["sections"][1]
    # All of it is about a second. The unit stands at the head of a column: a page of a little less shows milliseconds.
    unit = {id(page): 1e-3 if number(page["all"]) > 100 else 1 for page in (seen, *runs)}
    for of in ("all", "section"):
        told = sum(number(run[of]) * unit[id(run)] for run in runs) / len(runs)
        assert number(seen[of]) * unit[id(seen)] == pytest.approx(told, rel=2e-3)
    assert 0 < number(seen["section"]) < number(seen["all"])
    assert seen["flat"].split()[0] == seen["section"].split()[0]


def test_a_grid_is_named_by_its_pairs(ranks, tmp_path):
    grid, page = tmp_path / "grid", tmp_path / "grid.html"
    options = ("-n", "1,2", "--threads", "1,2", "--repeat", "1", "--launcher", "mpirun.openmpi -n {n}", "-e", "cpu")
    falloff("sweep", *options, "-o", grid, "--", ranks, "0.2")
    falloff("score", grid, "--html", page)
    said = browse(page, "text")
    assert "4 (2x2)" in said and "against 1 (1x1)" in said and "processes x threads" in said
    assert "4 (2x2)" in browse(page, "compared", [1, 2])["said"]


@pytest.mark.parametrize("kind", ["run", "sweep"])
def test_a_link_shows_what_was_looked_at(profile, sweep, tmp_path, kind):
    page = tmp_path / "page.html"
    if kind == "run":
        falloff("view", profile.dir, "--html", page)
        asked = {"filters": {"ranks": ["input", "1"], "at least": ["input", "2"]}, "formula": "twice=2*time"}
    else:
        falloff("score", sweep, "--html", page)
        filters = {"module": ["select", "ranks"], "section": ["select", "MPI_MAIN"], "at least": ["input", "1"]}
        asked = {"filters": filters, "counts": [2, 4], "formula": "growth=at/base"}
    seen = browse(page, "links", asked)
    before, after = seen["before"], seen["after"]
    assert before == after
    name = asked["formula"].split("=")[0]
    assert before["cells"][f"{name} incl."] != "" and len(before["rows"]) > 1
    more = ["ranks"] if kind == "run" else ["module", "section", "counts"]
    for word in ["derived", "columns", "least", "sort", *more]:
        assert f"&{word}=" in before["hash"], word


def test_what_is_left_out_is_said(demo, tmp_path):
    """More values of single ranks than a page holds, as the head says."""
    page = tmp_path / "run.html"
    falloff("view", largest(demo), "--html", page)
    text = page.read_text()
    before, data = text.split('id="data">', 1)
    data, after = data.split("<", 1)
    plain = zlib.decompress(base64.b64decode(data))
    length = int.from_bytes(plain[:4], "little")
    head = json.loads(plain[4 : 4 + length])
    assert head["spreads"] and not head["spreads"][0]["left_out"]
    head["spreads"][0]["left_out"] = True
    head = json.dumps(head).encode()
    data = base64.b64encode(zlib.compress(len(head).to_bytes(4, "little") + head + plain[4 + length :])).decode()
    page.write_text(f'{before}id="data">{data}<{after}')
    said = browse(page, "text")
    assert "What each rank or thread has is not in this page: there are more than four million values." in said


def test_the_overview_says_what_is_lost_and_leads_there(demo, tmp_path):
    page = tmp_path / "sweep.html"
    falloff("score", demo, "--html", page)
    score = json.loads(falloff("score", demo, "--format", "json"))
    seen = browse(page, "overview")
    assert f"{score['total_excess_percent']:.1f} ± {score['total_excess_half_width_percent']:.1f} %" in seen["headline"]
    assert len(seen["findings"]) == len(score["findings"])
    first = score["findings"][0]
    same(seen["findings"][0], first["cost_percent"])
    assert f"row={first['id']}" in seen["hash"] and seen["at"]["name"] == first["name"]
    titles = ("Speed-up.", "Efficiency.", "excess work by cause", "waterfall of efficiencies")
    assert all(any(picture.startswith(title) for picture in seen["pictures"]) for title in titles)
    assert any(curve.startswith("Work over processor counts") for curve in seen["curves"])


def test_keys_and_clicks_do_what_they_say(swept, tmp_path):
    page = tmp_path / "run.html"
    falloff("view", largest(swept), "--html", page)
    seen = browse(page, "drive")
    assert seen["start"]["row"] == "<program>" and len(seen["closed"]["names"]) == 1
    assert seen["opened"]["level"] == "2"
    assert int(seen["hotPath"]["level"]) > 5 and seen["zoomed"]["names"][0] == seen["hotPath"]["row"]
    assert "<program>" not in seen["zoomed"]["names"] and "top=" in seen["zoomed"]["hash"]
    assert "top=" not in seen["whole"]["hash"]
    assert re.fullmatch(r"1 of \d+", seen["words"])
    assert all(seen["linked"][key] == seen["found"][key] for key in ("row", "level", "hash"))
    assert set(seen["flattened"]["names"]).isdisjoint({"<program>"})
    names = seen["byName"]["names"][1:]
    assert names == sorted(names) and names != seen["callers"]["names"][1:]
    assert seen["help"] and seen["colours"] != "rgb(255, 255, 255)"
    assert seen["printed"] > 20
    assert seen["flame"] > 0 and seen["unnamed"] == 0
    assert seen["wide1280"] <= 1280 and seen["wide800"] <= 800
    pictures = seen["pictures"]
    first, second, third, back, *beside = pictures["flame"]
    assert first.startswith("<program>") and len({first, second, third}) == 3 and back == second and len(beside) == 2
    assert "top=" in pictures["zoomed"]
    assert pictures["tops"] == [first, third]
    assert int(re.search(r": (\d+) call paths", pictures["icicle"])[1]) > 0
    _, first, second, back, below = pictures["ranks"]
    assert first != second and first == back
    assert first.startswith("<program>") and not below.startswith("<program>")
    assert pictures["modes"]["strip"]["dots"] > 1 and "dot for each rank" in pictures["modes"]["strip"]["label"]
    assert pictures["modes"]["by host"]["label"] == "table"


def test_damage_is_said_in_words(demo, tmp_path):
    page = tmp_path / "run.html"
    falloff("view", demo / "runs/n0001-r1", "--html", page)
    text = page.read_text()
    middle = text.index('id="data">') + 400
    for damaged in (text[:middle] + text[middle + 101 :], text[:middle] + "AAAAAAAA" + text[middle + 8 :]):
        page.write_text(damaged)
        assert "The data of this page is damaged" in browse(page, "text")


HOSTILE = ("<img src=x onerror=alert(1)>", "</script><script>fail()</script>", "\u202egnp.exe\u2066", "наука 😀 'quoted' \"twice\"")


def test_names_are_only_ever_names(tmp_path):
    """A program whose functions are called what would be HTML, or turn round what is around it, or are endless."""
    need("gcc", "objcopy")
    names = [*HOSTILE, "x" * 10_000]
    work = "{ for (long i = 0; i < 60000000; i++) sink += i; }"
    functions = [f"__attribute__((noinline)) void f{i}(void) {work}" for i in range(len(names))]
    calls = " ".join(f"f{i}();" for i in range(len(names)))
    source = tmp_path / "hostile.c"
    source.write_text("\n".join(["static volatile long sink;", *functions, f"int main(void) {{ {calls} return 0; }}"]))
    program = tmp_path / "hostile"
    subprocess.run(["gcc", "-O1", source, "-o", program], check=True)
    renamed = [f"--redefine-sym=f{i}={name}" for i, name in enumerate(names)]
    subprocess.run(["objcopy", *renamed, program], check=True)
    falloff("run", "-e", "cpu", "-o", tmp_path / "run", "--", program)
    page = tmp_path / "run.html"
    falloff("view", tmp_path / "run", "--html", page)
    seen = browse(page, "text")
    for name in HOSTILE[:2] + HOSTILE[3:]:
        assert name in seen
    assert "\u202e" not in seen and "\\u{202e}gnp.exe\\u{2066}" in seen
    assert "x" * 200 in seen and "x" * 300 not in seen
