"""What hpcviewer demands of an HPCToolkit database, and what its format says: `hpcviewer_rules.py DIRECTORY...`.

Written from the format's description and from what readers do with it; it knows nothing of any writer. Prints each rule
that a database breaks; the exit code is 1 if there is any.
"""

import math
import pathlib
import struct
import sys

import yaml

# File: id in the header, footer, sections.
FILES = {
    "meta.db": (b"meta", b"_meta.db", 8),
    "profile.db": (b"prof", b"_prof.db", 2),
    "cct.db": (b"ctxt", b"__ctx.db", 1),
}
GENERAL, KINDS, METRICS, CONTEXT, STRINGS, MODULES, FILES_SECTION, FUNCTIONS = range(8)
# Types of scopes: the viewer's inclusive and exclusive ones, and those with a meaning of their own.
SCOPE_TYPES = {"custom": 0, "point": 1, "execution": 2, "transitive": 3}
COMBINE = ["sum", "min", "max"]
# What kind of context has which flags: function, line and loop have a function or a place; instructions an address.
SHAPES = {0: 1, 1: 2, 2: 2, 3: 4}
WORDS = {1: 1, 2: 2, 4: 2}
MOST_REFERENCES = 1000
OPERATORS = {"+", "-", "*", "/", "^", "sqrt", "log", "ln", "min", "max", "floor", "ceil"}


class File:
    """Bytes, with numbers and strings at addresses."""

    def __init__(self, path, report):
        self.name = path.name
        self.data = path.read_bytes()
        self.report = report
        ident, footer, count = FILES[path.name]
        self.rule(self.data[:14] == b"HPCTOOLKIT" + ident, "the header has another magic")
        self.rule(self.data[14:15] == b"\4", "the major version is not 4")
        self.rule(self.data[-8:] == footer, "there is no footer: the file is not complete")
        self.sections = [self.at("QQ", 16 + 16 * place) for place in range(count)]
        header = 16 + 16 * count
        last = header
        for place, (size, address) in sorted(enumerate(self.sections), key=lambda section: section[1][1]):
            # Strings are bytes.
            aligned = address % 8 == 0 or (self.name, place) == ("meta.db", STRINGS)
            self.rule(aligned, f"the section at {address:#x} is not aligned to 8 bytes")
            self.rule(address >= last, f"the section at {address:#x} overlaps what is before it")
            self.rule(address + size <= len(self.data) - 8, f"the section at {address:#x} ends behind the file")
            last = address + size

    def rule(self, holds, message):
        if not holds:
            self.report(f"{self.name}: {message}")
        return holds

    def at(self, form, address):
        return struct.unpack_from("<" + form, self.data, address)

    def inside(self, section, address, size=1):
        length, start = self.sections[section]
        return start <= address and address + size <= start + length

    def text(self, section, address, what):
        if not self.rule(address != 0 and self.inside(section, address), f"{what} is not in its section"):
            return ""
        end = self.data.index(b"\0", address)
        self.rule(self.inside(section, end), f"{what} has no end in its section")
        return self.data[address:end].decode("utf-8", "replace")

    def table(self, section, smallest, form="QIH"):
        """Addresses of the records of a table."""
        array, count, stride = self.at(form, self.sections[section][1])
        self.rule(stride >= smallest, f"records of section {section} have {stride} bytes, not {smallest}")
        self.rule(self.inside(section, array, count * stride), f"the records of section {section} are outside it")
        return [array + stride * place for place in range(count)]


class Database:
    """All files of a database, and the rules over them."""

    def __init__(self, directory):
        self.dir = pathlib.Path(directory)
        self.problems = []
        self.remembered = {}
        for name in [*FILES, "metrics/default.yaml"]:
            if not (self.dir / name).is_file():
                self.problems.append(f"{name} is missing")
        if self.problems:
            return
        self.meta, self.profile, self.cct = (File(self.dir / name, self.problems.append) for name in FILES)
        if self.problems:
            return
        for place, (size, _) in enumerate(self.meta.sections):
            self.meta.rule(size < 2**31, f"section {place} has 2 GiB or more")
        self.check_names()
        self.check_metrics()
        self.check_tables()
        self.check_tree()
        self.check_profiles()
        self.check_contexts()
        self.check_values()
        self.check_yaml()

    def name(self, section, address, what):
        """A string of a section whose strings the viewer remembers by their places within the section."""
        text = self.meta.text(section, address, what)
        place = address - self.meta.sections[section][1]
        known = self.remembered.setdefault(place, text)
        self.meta.rule(known == text, f"hpcviewer takes {what} `{text}` for `{known}`, which has the same place in its section")
        return text

    def check_names(self):
        meta = self.meta
        title, description = meta.at("QQ", meta.sections[GENERAL][1])
        self.name(GENERAL, title, "the title")
        self.name(GENERAL, description, "the description")
        array, count = meta.at("QB", meta.sections[KINDS][1])
        meta.rule(count < 128, "hpcviewer reads kinds of ids as signed bytes")
        self.kinds = [self.name(KINDS, meta.at("Q", array + 8 * kind)[0], f"kind {kind}") for kind in range(count)]

    def check_metrics(self):
        meta = self.meta
        start = meta.sections[METRICS][1]
        array, count, metric_size, instance_size, summary_size = meta.at("QIBBB", start)
        scopes, scope_count, scope_size = meta.at("QHB", start + 16)
        known = {}
        for place in range(scope_count):
            address = scopes + place * scope_size
            name, kind, _bit = meta.at("QBB", address)
            meta.rule(kind in SCOPE_TYPES.values(), f"scope {place} is of an unknown type")
            known[address] = (self.name(METRICS, name, f"scope {place}"), kind)
        self.values, self.statistics = {}, {}
        for place in range(count):
            name, instances, summaries, instance_count, summary_count = meta.at("QQQHH", array + place * metric_size)
            name = self.name(METRICS, name, f"metric {place}")
            for instance in range(instance_count):
                scope, number = meta.at("QH", instances + instance * instance_size)
                if meta.rule(scope in known, f"metric {name} has a scope that is none"):
                    meta.rule(number not in self.values, f"two values have the number {number}")
                    meta.rule(number < 2**15, f"hpcviewer reads the number {number} as negative")
                    self.values[number] = (name, *known[scope])
            custom = []
            for summary in range(summary_count):
                scope, formula, combine, number = meta.at("QQBxH", summaries + summary * summary_size)
                formula = self.name(METRICS, formula, f"a formula of metric {name}")
                if meta.rule(scope in known and combine < 3, f"metric {name} has a statistic of no scope"):
                    meta.rule(number not in self.statistics, f"two statistics have the number {number}")
                    meta.rule(number < 2**15, f"hpcviewer reads the number {number} as negative")
                    self.statistics[number] = (name, *known[scope], formula, COMBINE[combine])
                    custom += [(formula, combine)] if known[scope][1] == SCOPE_TYPES["custom"] else []
            meta.rule(len(custom) == len(set(custom)), f"metric {name} has two custom scopes of one formula")

    def check_tables(self):
        meta = self.meta
        self.module_records = meta.table(MODULES, 16)
        self.file_records = meta.table(FILES_SECTION, 16)
        self.function_records = meta.table(FUNCTIONS, 40)
        for record in self.module_records:
            meta.text(STRINGS, meta.at("Q", record + 8)[0], "the path of a module")
        for record in self.file_records:
            flags, path = meta.at("IxxxxQ", record)
            path = meta.text(STRINGS, path, "the path of a file")
            if flags & 1:
                copied = self.dir / path
                meta.rule(not path.startswith("/") and copied.is_file(), f"{path} was copied but is not there")
        for record in self.function_records:
            name, module, _offset, file, _line, _flags = meta.at("QQQQII", record)
            meta.text(STRINGS, name, "the name of a function, which no reader can do without,")
            meta.rule(module == 0 or module in self.module_records, "a function is of a module that is none")
            meta.rule(file == 0 or file in self.file_records, "a function is of a file that is none")

    def check_tree(self):
        meta = self.meta
        array, count, size = meta.at("QHB", meta.sections[CONTEXT][1])
        meta.rule(count < 2**15 and size < 128, "hpcviewer reads the number of entry points as signed")
        kinds = []
        # Child: parent; the implicit root is 0.
        self.parents = {}
        todo = []
        for place in range(count):
            children, first, context, kind, name = meta.at("QQIHxxQ", array + place * size)
            meta.text(STRINGS, name, f"the name of entry point {place}")
            meta.rule(kind < 3, f"entry point {place} is of an unknown kind")
            kinds.append(kind)
            self.add_context(context, 0)
            todo.append((context, first, children))
        meta.rule(len(kinds) == len(set(kinds)), "two entry points are of one kind")
        meta.rule(1 in kinds, "there is no main entry point, and Hatchet reads no other")
        functions, files, modules = map(set, (self.function_records, self.file_records, self.module_records))
        while todo:
            parent, here, size = todo.pop()
            end = here + size
            if size and not meta.rule(meta.inside(CONTEXT, here, size), f"children of context {parent} are outside"):
                continue
            while here < end:
                children, first, context, flags, relation, lexical, words, bits = meta.at("QQIBBBBH", here)
                meta.rule(here % 8 == 0, f"context {context} is not aligned to 8 bytes")
                self.add_context(context, parent)
                if meta.rule(SHAPES.get(lexical) == flags, f"Hatchet misreads context {context}: type {lexical}, flags {flags}"):
                    meta.rule(words == WORDS[flags], f"context {context} has {words} words")
                    owner = {1: functions, 2: files, 4: modules}[flags]
                    meta.rule(meta.at("Q", here + 32)[0] in owner, f"context {context} refers to nothing")
                meta.rule(relation < 3, f"context {context} has an unknown relation to its parent")
                meta.rule((bits & 1) == (relation == 0 and lexical != 3), f"cost of context {context} flows wrongly")
                todo.append((context, first, children))
                here += 32 + 8 * words
            meta.rule(here == end, f"children of context {parent} end in a context")

    def add_context(self, context, parent):
        self.meta.rule(context > 0, "a context has the number of the implicit root")
        self.meta.rule(context not in self.parents, f"two contexts have the number {context}")
        self.parents[context] = parent

    def check_profiles(self):
        profile = self.profile
        start = profile.sections[0][1]
        array, count, size = profile.at("QIB", start)
        profile.rule(size == 48, f"descriptions of profiles have {size} bytes")
        profile.rule(profile.inside(0, array, count * size), "descriptions of profiles are outside their section")
        tuples = set()
        # Of each profile: (context, number): value.
        self.by_profile = []
        for place in range(count):
            values, first, contexts, index, ids, flags = profile.at("QQIxxxxQQI", array + place * size)
            profile.rule((flags & 1) == (place == 0), f"profile {place}: the summary is the first and no other")
            profile.rule((ids == 0) == (place == 0), f"profile {place}: ids belong to all but the summary")
            if ids:
                key = self.id_tuple(ids)
                profile.rule(key not in tuples, f"two profiles have the ids {key}")
                tuples.add(key)
            profile.rule(first % 4 == 0 and index % 4 == 0, f"profile {place} is not aligned to 4 bytes")
            known = self.statistics if place == 0 else self.values
            self.by_profile.append(self.block(profile, f"profile {place}", "HdIQ", values, first, contexts, index, known))

    def id_tuple(self, address):
        profile = self.profile
        profile.rule(profile.inside(1, address), "ids are outside their section")
        (count,) = profile.at("H", address)
        ids = []
        for place in range(count):
            kind, _, _flags, logical, _physical = profile.at("BBHIQ", address + 8 + 16 * place)
            profile.rule(0 < kind < len(self.kinds), f"an id is of kind {kind}")
            ids.append((kind, logical))
        return tuple(ids)

    def block(self, file, what, form, count, first, keys, index, known):
        """Values below sorted keys: {(key, inner key): value}. In profiles keys are contexts, inner keys numbers."""
        inner, value, key_form, start_form = form
        value_size, key_size = struct.calcsize("<" + inner + value), struct.calcsize("<" + key_form + start_form)
        entries = [file.at(key_form + start_form, index + key_size * place) for place in range(keys)]
        for (a, from_a), (b, from_b) in zip(entries, entries[1:]):
            file.rule(a < b and from_a < from_b, f"{what}: the index is not sorted at {b}")
        file.rule(not entries or entries[0][1] == 0, f"{what}: the index does not begin with the first value")
        found = {}
        for place, (key, begin) in enumerate(entries):
            end = entries[place + 1][1] if place + 1 < len(entries) else count
            last = -1
            for at in range(begin, end):
                number, amount = file.at(inner + value, first + value_size * at)
                file.rule(number > last, f"{what}: values of {key} are not sorted")
                file.rule(math.isfinite(amount), f"{what}: a value of {key} is no number")
                last = number
                found[key, number] = amount
        for key, number in found:
            file.rule((number if file is self.profile else key) in known, f"{what}: there is no value {number} in meta.db")
        file.rule(len(found) == count, f"{what} has values that the index does not reach")
        return found

    def check_contexts(self):
        cct = self.cct
        array, count, size = cct.at("QIB", cct.sections[0][1])
        cct.rule(size == 32, f"descriptions of contexts have {size} bytes")
        cct.rule(cct.inside(0, array, count * size), "descriptions of contexts are outside their section")
        numbers = {context for values in self.by_profile for context, _ in values} | set(self.parents)
        cct.rule(count == max(numbers, default=0) + 1, f"{count} contexts are described, the largest number is {max(numbers)}")
        self.by_context = {}
        for context in range(count):
            values, first, metrics, index = cct.at("QQH6xQ", array + context * size)
            cct.rule(first % 4 == 0, f"context {context} is not aligned to 4 bytes")
            block = self.block(cct, f"context {context}", "IdHQ", values, first, metrics, index, self.values)
            for (number, profile), value in block.items():
                cct.rule(0 < profile < len(self.by_profile), f"context {context} has a value of profile {profile}")
                self.by_context[profile, context, number] = value

    def check_values(self):
        """The files agree: each value stands in both, and the summary is of them."""
        listed = {
            (profile, context, number): value
            for profile, values in enumerate(self.by_profile)
            if profile > 0
            for (context, number), value in values.items()
        }
        self.cct.rule(listed == self.by_context, "the values are not those of profile.db")
        scopes = {scope: number for number, scope in self.values.items()}
        of_scope = {}
        for (_, context, number), value in listed.items():
            of_scope.setdefault((context, number), []).append(value)
        others = len(self.by_profile) - 1
        for (context, number), value in self.by_profile[0].items():
            name, scope, kind, formula, combine = self.statistics[number]
            values = of_scope.get((context, scopes[name, scope, kind]), [])
            values = values + [0.0] * (others - len(values))
            known = {
                ("$$", "sum"): math.fsum(values),
                ("$$", "min"): min(values),
                ("$$", "max"): max(values),
                ("1", "sum"): others,
                ("($$^2)", "sum"): math.fsum(value * value for value in values),
            }
            if not self.profile.rule((formula, combine) in known, f"nobody knows the statistic {combine} of {formula}"):
                continue
            wanted = known[formula, combine]
            close = math.isclose(value, wanted, rel_tol=1e-9, abs_tol=1e-9 * max(map(abs, values)))
            self.profile.rule(close, f"{combine} of {formula} of {name} ({scope}) at context {context} is {value}, not {wanted}")
        self.check_flow(scopes)

    def check_flow(self, scopes):
        """No context has less than its children have together, where no value is below 0."""
        for name, scope, kind in list(scopes):
            number = scopes[name, scope, kind]
            for values in self.by_profile[1:]:
                amounts = {context: value for (context, n), value in values.items() if n == number}
                if scope != "execution" or min(amounts.values(), default=0) < 0:
                    continue
                below = {}
                for context, value in amounts.items():
                    if context in self.parents:
                        below.setdefault(self.parents[context], []).append(value)
                for parent, children in below.items():
                    most = amounts.get(parent, 0.0) * (1 + 1e-9) + 1e-12
                    self.profile.rule(math.fsum(children) <= most, f"context {parent} has less of {name} than its children")

    def check_yaml(self):
        text = (self.dir / "metrics/default.yaml").read_text()
        document = yaml.safe_load(text)
        report = self.problems.append
        references = sum(1 for token in yaml.scan(text) if isinstance(token, yaml.AliasToken))
        if references > MOST_REFERENCES:
            report(f"default.yaml: {references} references; hpcviewer reads {MOST_REFERENCES}")
        if document["version"] != 0:
            report("default.yaml: the version is not 0")
        inputs = document.get("inputs") or []
        for entry in inputs:
            wanted = (str(entry["metric"]).lower(), entry["scope"], str(entry["formula"]).lower(), entry["combine"])
            matching = [
                statistic
                for statistic in self.statistics.values()
                if (statistic[0].lower(), statistic[1], statistic[3].lower(), statistic[4]) == wanted
            ]
            if len(matching) != 1:
                report(f"default.yaml: {wanted} matches {len(matching)} statistics of meta.db")
        for root in document.get("roots") or []:
            if not all(isinstance(root.get(key), str) for key in ("name", "description")):
                report(f"default.yaml: a metric has no name or description: {root}")
            for variant, about in root["variants"].items():
                for kind, formulas in about["formula"].items():
                    if kind not in ("inclusive", "exclusive") or not set(formulas) <= {"custom", "standard"}:
                        report(f"default.yaml: {root['name']} {variant} has a formula of no kind")
                    for formula in formulas.values():
                        self.check_formula(formula, inputs)

    def check_formula(self, formula, inputs):
        if any(formula is entry for entry in inputs) or isinstance(formula, (int, float)):
            return
        if not isinstance(formula, dict) or len(formula) != 1:
            self.problems.append(f"default.yaml: no formula: {formula}")
            return
        ((operator, operands),) = formula.items()
        if operator not in OPERATORS or not isinstance(operands, list) or not 1 <= len(operands) <= 2:
            self.problems.append(f"default.yaml: hpcviewer does not understand {formula}")
            return
        for operand in operands:
            self.check_formula(operand, inputs)


def main(directories):
    failed = False
    for directory in directories:
        for problem in Database(directory).problems:
            failed = True
            print(f"{directory}: {problem}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
