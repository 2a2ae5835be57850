# SPDX-License-Identifier: MIT
"""One name per family: an overload's row, its kernel in the runtime, its sampling rule and its tests are in files of the same name.

The same checks are run on a small tree with one violation each, which they must find.
"""
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import operator_index as index  # noqa: E402

NAMED = re.compile(rf'"({index.OVERLOAD})"')


def problems(root):
    """A sentence for each violation."""
    rows, kernels = index.rows(root), index.kernels(root)
    try:
        rules = index.rules(root)
    except ValueError as problem:
        return [str(problem)]
    return [*family_problems(root), *overload_problems(rows, kernels, rules), *rule_problems(rows, kernels, rules), *test_problems(root, rows)]


def family_problems(root):
    listed = re.search(r"families\[\] = \{(.*?)\};", index.read(root / "include/aton/mappings.hpp"), re.DOTALL)
    names = re.findall(r"\w+", listed[1]) if listed else []
    defined = {pathlib.PurePosixPath(header).stem: tables for header, tables in index.tables(root).items()}
    for family, tables in defined.items():
        if family not in tables:
            yield f"{index.MAPPINGS}/{family}.hpp defines no table {family}"
    for family in sorted(set(names) ^ set(defined)):
        yield f"{family} is {'a family of include/aton/mappings.hpp without a header' if family in names else 'not in families of include/aton/mappings.hpp'}"


def overload_problems(rows, kernels, rules):
    for overload, places in rows.items():
        families = {place.stem for place in places}
        if len(families) > 1:
            yield f"{overload} has rows in {' and '.join(place.file for place in places)}"
            continue
        row = places[0]
        if overload not in kernels:
            yield f"{overload} has a row in {row.file} and no kernel in {index.KERNELS}/{row.stem}.cpp"
        for kernel in kernels.get(overload, []):
            if kernel.stem != row.stem:
                yield f"{overload} has its row in {row.file} and its kernel in {kernel.file}"
        rule = index.rule_of(rules, overload)
        if rule and rule.place.stem != row.stem:
            yield f"{overload} has its row in {row.file} and its sampling rule in {rule.place.file}"
    for overload, places in kernels.items():
        if len(places) > 1:
            yield f"{overload} has kernels in {' and '.join(f'{place.file}:{place.line}' for place in places)}"


def rule_problems(rows, kernels, rules):
    seen = {}
    named = {*rows, *kernels, *map(index.base, rows), *map(index.base, kernels)}
    for rule in rules:
        place = f"{rule.place.file}:{rule.place.line}"
        if not rule.arguments:
            yield f"{place}: a rule without arguments"
        for operator in map(index.qualified, rule.operators):
            if operator not in named:
                yield f"{place}: {operator} has neither a row nor a kernel"
            if operator in seen:
                yield f"{place}: {operator} has a rule in {seen[operator]} already"
            seen[operator] = place


def test_problems(root, rows):
    """Tests of rows are in files that are named after the family; those of no family in particular have other names."""
    families = {place.stem for places in rows.values() for place in places}
    for path, name in index.files(root, "tests/mappings", "_test.cpp"):
        family = path.name.removesuffix("_test.cpp")
        if family not in families:
            continue
        for overload in NAMED.findall(index.read(path)):
            if overload in rows and rows[overload][0].stem != family:
                yield f"{name} tests {overload}, whose row is in {rows[overload][0].file}"


HEADER = 'inline constexpr auto {0} =\n    table(symbolic<"aten::{1}(self)">(body));\n'
SOURCE = 'rows {0}() {{\n    static constexpr row all[] = {{\n        {{"{1}", kernel}},\n    }};\n    return all;\n}}\n'
TREE = {
    "include/aton/mappings.hpp": "inline constexpr table_view families[] = {\n    activation,\n    norm,\n};\n",
    "include/aton/mappings/activation.hpp": HEADER.format("activation", "elu"),
    "include/aton/mappings/norm.hpp": HEADER.format("norm", "dist.x"),
    "include/aton/mappings/built_in.hpp": "std::span<table_view const> built_in_tables();\n",
    "src/runtime/aten/activation.cpp": SOURCE.format("activation", "elu"),
    "src/runtime/aten/norm.cpp": SOURCE.format("norm", "dist.x"),
    "src/verify/rules/activation.rules": "# comment\n\nelu\n    self: (n, c)\n        small\n",
    "src/verify/rules/norm.rules": "dist\n    self: (n)\n",
    "tests/mappings/activation_test.cpp": 'gives("aten::elu");\n',
    "tests/mappings/numbers_test.cpp": 'gives("aten::elu"); gives("aten::dist.x");\n',
}
PLANTED = {
    "has its row in include/aton/mappings/activation.hpp and its kernel in": {
        "src/runtime/aten/activation.cpp": "", "src/runtime/aten/activations.cpp": SOURCE.format("activations", "elu")},
    "and no kernel in src/runtime/aten/norm.cpp": {"src/runtime/aten/norm.cpp": ""},
    "has its row in include/aton/mappings/norm.hpp and its sampling rule in": {
        "src/verify/rules/norm.rules": "", "src/verify/rules/activation.rules": "elu dist\n    self: (n)\n"},
    "aten::elu has rows in": {"include/aton/mappings/norm.hpp": HEADER.format("norm", "elu")},
    "aten::elu has kernels in": {"src/runtime/aten/norm.cpp": SOURCE.format("norm", "dist.x") + SOURCE.format("other", "elu")},
    "has neither a row nor a kernel": {"src/verify/rules/norm.rules": "dist distance\n    self: (n)\n"},
    "has a rule in": {"src/verify/rules/norm.rules": "dist\n    self: (n)\n\ndist\n    self: (m)\n"},
    "a rule without arguments": {"src/verify/rules/norm.rules": "dist\n"},
    "an argument before any operator": {"src/verify/rules/norm.rules": "    self: (n)\n"},
    "indented by 2": {"src/verify/rules/norm.rules": "dist\n  self: (n)\n"},
    "defines no table norm": {"include/aton/mappings/norm.hpp": HEADER.format("norms", "dist.x")},
    "norm is not in families": {"include/aton/mappings.hpp": "families[] = {activation};\n"},
    "whose row is in include/aton/mappings/norm.hpp": {"tests/mappings/activation_test.cpp": 'gives("aten::dist.x");\n'},
}


class Families(unittest.TestCase):
    def problems_of(self, tree):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in tree.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return problems(pathlib.Path(folder))

    def test_every_overload_is_in_one_family(self):
        self.assertEqual(problems(ROOT), [])
        self.assertGreater(len(index.rows(ROOT)), 700)
        self.assertGreater(len(index.rules(ROOT)), 200)

    def test_the_small_tree_is_clean(self):
        self.assertEqual(self.problems_of(TREE), [])

    def test_planted_violations_are_found(self):
        for sentence, files in PLANTED.items():
            with self.subTest(sentence):
                found = self.problems_of(TREE | files)
                self.assertTrue(any(sentence in problem for problem in found), found)


if __name__ == "__main__":
    unittest.main()
