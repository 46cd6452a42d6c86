"""The report of the LAMMPS sweep in docs/lammps: every number in it comes from the tables beside it."""

import csv
import re

import pytest
from measured import HERE

FOLDER = HERE.parent.parent / "docs/lammps"
TABLES = ("context", "flat", "summary", "runs", "scales", "causes", "places", "efficiencies", "findings")
TABLES += ("waterfall", "waiting", "paths", "bounds")
LOSS = r"(-?\d+\.\d) ± (\d+\.\d)"
NUMBER = re.compile(r"(?<![\w.+-])-?\d+(?:\.\d+)?(?![\w])")
FRAMES = ("function", "inlined", "pseudo")


class Tables:
    """The tables, as lists of rows by heading."""

    def __init__(self):
        for name in TABLES:
            with open(FOLDER / f"{name}.csv", newline="") as file:
                setattr(self, name, list(csv.DictReader(file)))
        self.summary = self.summary[0]
        self.rows = {row["id"]: row for row in self.context}

    def depth_between(self, above, below):
        """Rows between two rows of the context view."""
        return int(below["depth"]) - int(above["depth"]) - 1


def percent(value):
    text = f"{float(value):.1f}"
    return "0.0" if text == "-0.0" else text


def seconds(value):
    value = float(value)
    digits = next((d for size, d in ((1000, 0), (100, 1), (10, 2)) if abs(value) >= size), 3)
    return f"{value:.{digits}f}"


def ratio(row):
    return f"{1 + float(row['imbalance_percent']) / 100:.2f}" if row["imbalance_percent"] else "-"


def losses(row, part):
    return percent(row[f"excess_{part}_percent"]), percent(row[f"excess_{part}_half_width_percent"])


def is_label(label, row):
    """Whether a row is called so where there may be no room for the whole name, and where it is."""
    name, place = row["name"], ""
    file = row["file"].rsplit("/", 1)[-1]
    if row["kind"] in FRAMES and file:
        place = f" at {file}:{row['line']}" if row["line"] else f" at {file}"
    elif row["kind"] in FRAMES and row["module"] and not name.startswith(row["module"]):
        place = f" [{row['module']}]"
    if "…" in label:
        head, tail = label.split("…", 1)
        return len(name) >= len(label) and name.startswith(head) and name.endswith(tail)
    return label in (name, name + place)


def one_of(rows, line, wanted):
    found = [row for row in rows if wanted(row)]
    assert found, f"no row has the numbers of: {line}"
    return found[0]


def within(line, numbers):
    """All numbers of a line of words are among these."""
    for number in NUMBER.findall(line):
        assert number in numbers, f"{number} has no source: {line}"


def header(lines, tables):
    """What was measured, and what to know before trusting it."""
    summary, runs = tables.summary, tables.runs
    health = {key.removeprefix("health_"): value for key, value in summary.items() if key.startswith("health_")}
    samples = float(health["samples"])
    counts = [health[f"{kind}_samples"] for kind in ("dropped", "partial", "truncated", "wait")]
    known = {*counts, health["processes"], health["threads"], str(int(samples - float(health["wait_samples"])))}
    known |= {f"{100 * float(count) / samples:.2f}" for count in counts}
    known |= {f"{float(health['cpu_seconds']):.3f}", f"{float(health['reached_rate_hz']):.0f}", summary["asked_rate_hz"]}
    known |= {f"{100 * float(health[share]):.2f}" for share in ("cpu_coverage", "unsampled_share", "handler_share")}
    good = [run for run in runs if run["state"] == "good"]
    known |= {str(len(good)), str(len(runs)), max(run["repetition"] for run in runs)}
    known |= {scale["processors"] for scale in tables.scales}
    others = [float(run["others_processors"]) for run in good if run["others_processors"]]
    known |= {f"{max(others, default=0):.1f}", str(len(others) - 4), seconds(health["helper_seconds"])}
    known |= {percent(summary["preempted_percent"] or 0), str(len(good))}
    named = {run["run"] for run in runs}
    for line in lines[2:]:
        assert set(re.findall(r"n\d{4}-r\d+", line)) <= named, line
        within(re.sub(r"n\d{4}-r\d+|\(in \d+ runs\)|/\S+", "", line), known)


def headline(lines, tables):
    total, half = float(tables.summary["total_excess_percent"]), float(tables.summary["total_excess_half_width_percent"])
    root = tables.context[0]
    known = {percent(total), percent(half), percent(100 - total), tables.summary["base"], tables.summary["at"]}
    known |= {seconds(root["work_at_incl_seconds"]), seconds(root["work_expected_incl_seconds"])}
    for line in lines:
        within(line, known)


def scales(lines, tables):
    assert len(lines) == 1 + len(tables.scales)
    for line, scale in zip(lines[1:], tables.scales):
        runs = [run for run in tables.runs if run["processors"] == scale["processors"]]
        wanted = [scale["processors"], f"{scale['repetitions']}/{len(runs)}", seconds(scale["work_seconds"])]
        wanted += [seconds(scale["wall_seconds"]), percent(scale["excess_percent"]), "±"]
        wanted += [percent(scale["excess_half_width_percent"])]
        if scale["previous_processors"]:
            wanted += [percent(scale["previous_excess_percent"]), "±"]
            wanted += [percent(scale["previous_excess_half_width_percent"])]
        else:
            wanted += ["-"]
        wanted += [percent(scale["work_efficiency_percent"])] + (["n=1"] if scale["repetitions"] == "1" else [])
        assert line.split() == wanted


def causes(lines, tables):
    named, total = 0.0, float(tables.summary["total_excess_percent"])
    for line in lines:
        loss = re.fullmatch(rf"\s*{LOSS}\s+(.*)", line)
        if loss and loss[3].startswith("together"):
            wanted = percent(total), percent(tables.summary["total_excess_half_width_percent"])
            assert loss.groups()[:2] == wanted
        elif loss:
            cause = one_of(tables.causes, line, lambda row: row["title"] == loss[3])
            assert loss.groups()[:2] == (percent(cause["excess_percent"]), percent(cause["excess_half_width_percent"]))
            named += float(cause["excess_percent"])
        elif line.endswith("everything else"):
            assert line.split()[0] == percent(total - named)
        else:
            value, _label = line.split(maxsplit=1)
            one_of(tables.places, line, lambda row: percent(row["excess_percent"]) == value and row["cause"] == cause["cause"])


def hot_path(lines, tables):
    last, gap = None, None
    for line in lines:
        left_out = re.fullmatch(r"\s*… (\d+) frames that pass it on", line)
        if left_out:
            gap = int(left_out[1])
            continue
        loss = re.fullmatch(rf"\s*{LOSS}\s+(.*)", line)
        below = lambda row: not last or int(row["id"]) > int(last["id"])  # noqa: E731
        row = one_of(
            tables.context, line, lambda row: below(row) and losses(row, "incl") == loss.groups()[:2] and is_label(loss[3], row)
        )
        assert gap is None or tables.depth_between(last, row) == gap, line
        last, gap = row, None


def functions(lines, tables):
    rows = [row for row in tables.flat if row["kind"] in FRAMES]
    pattern = rf"\s*{LOSS}\s+(?:\? )?\s*(\S+) ->\s+(\S+)\s+(\S+)\s+(\S+)\s+(\d+)  (.*)"
    for line in lines[1:]:
        rare = re.fullmatch(r"\s*(-?\d+\.\d)  <rare>: (\d+) functions? of fewer than 10 samples", line)
        if rare:
            excess = [float(row["excess_excl_percent"]) for row in rows if row["rare"] == "true"]
            assert rare.groups() == (percent(sum(excess)), str(len(excess)))
            continue
        cells = re.fullmatch(pattern, line)

        def same(row):
            expected, at = float(row["work_expected_incl_seconds"]), float(row["work_at_incl_seconds"])
            wanted = (*losses(row, "excl"), seconds(row["work_base_excl_seconds"]), seconds(row["work_at_excl_seconds"]))
            wanted += (percent(100 * expected / at) if at else "gone", ratio(row))
            samples = int(row["samples_base"]) + int(row["samples_at"])
            return cells.groups()[:7] == (*wanted, str(samples)) and is_label(cells[8], row)

        one_of(rows, line, same)


def tree(lines, tables):
    pattern = rf"\s*{LOSS}\s+(?:\?\s+)?(?:{LOSS}\s+)?(\d+\.\d\d|-)  \s*(.*)"
    sums = {}
    for row in tables.context:
        if row["rare"] == "true" and tables.rows[row["parent"]]["rare"] == "false":
            count, sum_ = sums.get(row["parent"], (0, 0.0))
            sums[row["parent"]] = (count + 1, sum_ + float(row["excess_incl_percent"]))
    folded = {(percent(sum_), str(count)) for count, sum_ in sums.values()}
    for line in lines[1:]:
        rare = re.fullmatch(r"\s*(-?\d+\.\d)\s+<rare>: (\d+) rows? of fewer than 10 samples", line)
        if rare:
            assert rare.groups() in folded, line
            continue
        if re.fullmatch(r"\s*… \d+ frames that pass it on", line):
            continue
        cells = re.fullmatch(pattern, line)

        def same(row):
            exclusive = losses(row, "excl") if cells[3] else (None, None)
            wanted = (*losses(row, "incl"), *exclusive, ratio(row))
            return cells.groups()[:5] == wanted and is_label(cells[6], row)

        one_of(tables.context, line, same)


def divergence(lines, tables):
    """Paths at one count only; those above them are at both."""
    parts = {"new": {}, "vanished": {}}
    for row in tables.context:
        above = tables.rows.get(row["parent"])
        if row["class"] in parts and above and above["class"] == "common":
            parts[row["class"]][row["id"]] = float(row["excess_incl_percent"])
    sums = {percent(sum(found.values())) for found in parts.values()}
    within(lines[0], sums | {tables.summary["base"], tables.summary["at"]})
    excess = {percent(value) for found in parts.values() for value in found.values()}
    for line in lines[1:]:
        assert line.split()[0].lstrip("+") in excess, line


def efficiencies(lines, tables):
    names = ("parallel", "load_balance", "communication", "computational")
    names += ("instruction_scaling", "per_cycle_scaling", "frequency_scaling")
    known = {percent(100 - float(tables.summary["total_excess_percent"])), tables.summary["base"], tables.summary["at"]}
    rows = {row["processors"]: row for row in tables.efficiencies}
    for line in lines[1:]:
        cells = line.split()
        if cells[0] in rows and len(cells) > 4:
            values = [percent(rows[cells[0]][f"{name}_percent"]) for name in names if rows[cells[0]][f"{name}_percent"]]
            assert cells[1:] == values
            known |= set(values)
        else:
            within(line, known)


def findings(lines, tables):
    """Each finding over several lines: cost, pattern and sentence, place, how sure, and what to do next."""
    told = []
    for line in lines:
        loss = re.fullmatch(rf"\s*{LOSS}\s+(.*)", line)
        if loss:
            told.append([loss.groups()[:2], loss[3]])
        elif told:
            told[-1][1] += f" {line.strip()}"
    assert told or not NUMBER.search("".join(lines).replace("0.5 %", ""))
    for cost, text in told:

        def same(row):
            start = f"{row['title']} ({row['confidence']}): {row['text']} "
            end = f"{row['why']} next: {row['next']}"
            place = text.removeprefix(start).removesuffix(end)
            source = f"{row['file'].rsplit('/', 1)[-1]}:{row['line']} in " if row["file"] else ""
            wanted = percent(row["cost_percent"]), percent(row["cost_half_width_percent"])
            return text.startswith(start) and text.endswith(end) and place.startswith(source) and cost == wanted

        one_of(tables.findings, text, same)


def waterfall(lines, tables):
    for line, step in zip(lines[1:-1], tables.waterfall, strict=True):
        assert line.split()[:2] == [percent(step["change_percent"]), percent(step["left_percent"])], line
    total = float(tables.summary["total_excess_percent"])
    assert lines[-1].split()[:2] == [percent(-total), percent(100 - total)]
    assert abs(sum(float(step["change_percent"]) for step in tables.waterfall) + total) < 1e-6


def bounds(lines, tables):
    """A row for each part that bounds the speed-up, what the rest of them takes, and sentences."""
    pattern = re.compile(r"\s*(\S+)\s+(-?\d+\.\d)\s+(\S+)\s\s+(-|falls|flat|least)((?: [a-z]+ \d+)?(?: \(\d+ to \d+\))?)( \?)?\s\s+(\S.*)")
    assert abs(sum(float(step["share_percent"]) for step in tables.bounds) - 100) < 1e-6
    listed, known = [], {tables.summary["base"], tables.summary["at"]}
    for step in tables.bounds:
        known |= {ratio_or_none(step[name]) for name in ("bound", "without", "next_bound")}
        known |= {step[f"inflexion_{name}"].removesuffix(".0") for name in ("fastest", "bracket_low", "bracket_high")}
    for line in lines[1:]:
        cells = pattern.fullmatch(line)
        more = re.fullmatch(r"\s*(\d+) more: (\d+\.\d) % of 1/S", line)
        if cells:
            listed.append(one_of(tables.bounds, line, lambda step: is_step(cells.groups(), step, tables)))
        elif more:
            left = 100 - sum(float(step["share_percent"]) for step in listed)
            count = sum(float(step["seconds"]) > 0 for step in tables.bounds) - len(listed)
            assert more.groups() == (str(count), percent(left)), line
        else:
            within(re.sub(r"\S+:\d+", "", line), known)
    assert listed


def is_step(cells, step, tables):
    bound, share, without, word, where, unsure, label = cells
    words = {"falls": "falls", "flat": "flat", "past": "least", "": "-"}
    wanted = ratio_or_none(step["bound"]), percent(step["share_percent"]), ratio_or_none(step["without"])
    at = {"flat": [step["inflexion_fastest"]]}.get(step["inflexion_state"], [])
    if step["inflexion_state"] == "past":
        at = [step[f"inflexion_{name}"] for name in ("fastest", "bracket_low", "bracket_high")]
    same = (bound, share, without) == wanted and words[step["inflexion_state"]] == word
    same = same and re.findall(r"\d+", where) == [number.removesuffix(".0") for number in at]
    same = same and (unsure is not None) == (step["inflexion_noise_known"] == "false")
    row = tables.rows[step["id"]] if step["id"] else {"name": "<rare>", "file": "", "kind": "", "module": ""}
    return same and is_label(label, row)


def ratio_or_none(value):
    return f"{float(value):.1f}" if value else "none"


def paths(lines, tables):
    names = ("share", "parallel", "load_balance", "communication", "computational")
    for line in lines[1:]:
        *values, label = line.split(maxsplit=5)

        def same(row):
            wanted = [percent(row[f"{name}_percent"]) for name in names]
            return values == wanted and is_label(label, tables.rows[row["id"]])

        one_of(tables.paths, line, same)


def waiting(lines, tables):
    for line in lines[1:]:
        low, high, rest = line.split(maxsplit=2)

        def same(row):
            bounds = percent(row["at_least_percent"]), percent(row["at_most_percent"])
            return bounds == (low, high) and rest.startswith((row["last_participants"], "by turns"))

        one_of(tables.waiting, line, same)


SECTIONS = {
    "SCALES": scales,
    "WHY": causes,
    "HOT PATH OF LOSS": hot_path,
    "WHAT TO LOOK AT": findings,
    "EFFICIENCIES": efficiencies,
    "WATERFALL": waterfall,
    "WHAT BOUNDS THE SPEED-UP": bounds,
    "EFFICIENCIES OF THE HOT PATH": paths,
    "WAITING IN COLLECTIVES": waiting,
    "FUNCTIONS BY EXCLUSIVE EXCESS": functions,
    "CALL PATHS BY EXCESS": tree,
    "CALL PATHS AT ONE SCALE ONLY": divergence,
}


def parts(report):
    """The check and the lines of each part; the last part explains and has no numbers of the sweep."""
    blocks = report.rstrip("\n").split("\n\n")
    found = [(header, blocks[0].split("\n")), (headline, blocks[1].split("\n"))]
    for block in blocks[2:-1]:
        title, *lines = block.split("\n")
        found.append((SECTIONS[title.split(" (")[0]], lines))
    return found


@pytest.fixture(scope="module")
def report():
    return (FOLDER / "report.txt").read_text(), Tables()


def test_every_number_has_a_source(report):
    text, tables = report
    for check, lines in parts(text):
        check(lines, tables)


def test_a_wrong_number_is_noticed(report):
    text, tables = report
    changed = 0
    for check, lines in parts(text):
        for at, line in enumerate(lines[:12]):
            loss = re.search(LOSS, line)
            if not loss:
                continue
            wrong = f"{float(loss[1]) + 333.3:.1f}"
            altered = [*lines[:at], line.replace(loss[0], f"{wrong} ± {loss[2]}", 1), *lines[at + 1 :]]
            with pytest.raises((AssertionError, KeyError)):
                check(altered, tables)
            changed += 1
    assert changed > 20
