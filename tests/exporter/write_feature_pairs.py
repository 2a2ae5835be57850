#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the C++ of every case of features.py: write_feature_pairs.py FOLDER COUNT writes COUNT files pairs_0.cpp, ..."""

import sys
from pathlib import Path

from features import Case, cases

FRAME = """// Written by write_feature_pairs.py.
#include "feature_bodies.hpp"
#include "feature_pairs.hpp"
namespace feature_pairs {{
namespace {{
{}
{}
}} // namespace
void add_pairs_{}(std::vector<pair_case>& to) {{
{}
}}
}} // namespace feature_pairs
"""


NEW_LINE = "\n    "


def joined(*parts: str, separator: str = ", ") -> str:
    return separator.join(part for part in parts if part)


def write_operator(number: int, case: Case, since: int) -> tuple[str, str]:
    """The body and the declaration."""
    parameters = joined(
        f"with_domains<{since}> g", "value x", *(f.input_parameters for f in case), *(f.attribute_parameters for f in case)
    )
    returned = [f.returned for f in case if f.returned]
    result = f"std::tuple({joined('y', *returned)})" if returned else "y"
    arrow = "" if returned else " -> value"
    body = (
        f"inline constexpr auto body_{number} = []({parameters}){arrow} {{\n    value y = x;\n    "
        f"{joined(*(f.statement for f in case), separator=NEW_LINE)}\n    (void)g;\n    return {result};\n}};"
    )
    inputs = joined("T X", *(f.inputs for f in case), *(f.attributes for f in case))
    rule = next((f.rule for f in case if f.rule), "")
    outputs = joined(f"T Y{rule}", *(f.outputs for f in case))
    parts = joined(*(f.part.format(outputs=1 + len(returned)) for f in case), f"body<body_{number}>")
    return body, f'op<"P{number}({inputs}) -> ({outputs})", "T: float", {parts}>'


def write_row(number: int, case: Case, since: int, domain: str, handle: str) -> str:
    count = 1 + sum(f.returned != "" for f in case)

    def call(variant: int) -> str:
        arguments = joined("v", *(f.operands[variant] for f in case), *(f.given[variant] for f in case))
        asked = f", outputs<{count}>" if variant == 0 and count > 1 else ""
        made = f'auto const r = h.template op<"{domain}::P{number}">({arguments}{asked}); value y = first(r);'
        for i in range(1, count if variant == 0 else 1):
            made += f' y = h.template op<"Add">(y, std::get<{i}>(r));'
        return made + " return y;"

    kinds = {f.result for f in case if f.result}
    results = {"": ("Tensor", "value(y)")}
    if "list" in kinds:
        results[""] = ("Tensor[]", 'std::vector<value>{y, g.op<"Neg">(y)}')
    if "second" in kinds:
        results["second"] = ("Tensor", 'value(g.op<"Add">(y, y))')
    returned = [text for _, text in results.values()]
    if "written" in kinds:
        returned.append('value(g.op<"Neg">(x))')
    types = [t for t, _ in results.values()]
    arrow = types[0] if len(types) == 1 else f"({', '.join(types)})"
    self_schema = next((f.self_schema for f in case if f.self_schema != "Tensor x"), "Tensor x")
    schema = joined(self_schema, "int variant", *(f.schema for f in case))
    parameters = joined(f"pair_graph<{since}> g", "value x", "std::int64_t variant", *(f.parameters for f in case))
    around = "c0"
    lines = [
        "value a = x;",
        joined(*(f.before for f in case), separator="\n            "),
        f"auto const c0 = [&](auto h, value v) -> value {{ if (variant == 0) {{ {call(0)} }} {call(1)} }};",
    ]
    for i, f in enumerate(f for f in case if f.around):
        lines.append(f"auto const c{i + 1} = [&](auto h, value v) -> value {{ return {f.around}(h, v, {around}); }};")
        around = f"c{i + 1}"
    lines.append(f"value const y = {around}(g, a);")
    lines.append(f"return {returned[0]};" if len(returned) == 1 else f"return std::tuple({', '.join(returned)});")
    text = "\n            ".join(line for line in lines if line)
    return f'        symbolic<"pairs::p{number}({schema}) -> {arrow}">([]({parameters}) {{\n            {text}\n        }})'.replace(
        "pair_graph", handle
    )


def write_case(number: int, case: Case, since: int) -> str:
    names = " ".join(f.name for f in case)
    arguments = joined("argument::of_tensor(x)", "argument::of_number(variant)", *(f.argument for f in case))
    return (
        f'    to.push_back({{{number}, "{names}", {since}, [](graph_data& data, int opset, value x, value bias, std::int64_t variant) {{\n'
        f'        (void)bias;\n        return convert(data, *find(rows, "pairs::p{number}", opset), opset, {{{arguments}}});\n    }}}});'
    )


def write_file(index: int, some: list[tuple[int, Case]]) -> str:
    """Rows and operators in groups, because a domain of hundreds of operators is slow to compile."""
    texts, tables, cases = [], [], []
    size = 12
    for start in range(0, len(some), size):
        bodies: list[str] = []
        operators: dict[str, list[str]] = {"pairs.own": [], "com.microsoft": []}
        rows = []
        own, foreign = f"own_{start}", f"foreign_{start}"
        handle = f"pairs_{start}"
        for number, case in some[start : start + size]:
            since = max(f.since for f in case)
            domain = next((f.domain for f in case if f.domain), "pairs.own")
            body, declaration = write_operator(number, case, since)
            bodies.append(body)
            operators[domain].append(declaration)
            rows.append(write_row(number, case, since, domain, handle))
            cases.append(write_case(number, case, since))
        texts += bodies
        for name, version, variable in (("pairs.own", 2, own), ("com.microsoft", 1, foreign)):
            declared = ",\n           ".join(operators[name] or ['op<"Unused(T X) -> (T Y)">'])
            texts.append(f'inline constexpr auto {variable} = domain<"{name}", {version},\n           {declared}>{{}};')
        texts.append(f"template <int Since>\nusing {handle} = graph<Since, aton::domains::com_microsoft, extension, helper, {own}, {foreign}>;")
        texts.append(f"inline constexpr auto rows_{start} = table(\n" + ",\n".join(rows) + ");")
        tables.append(f"rows_{start}")
    views = ", ".join(f"table_view({t})" for t in tables)
    return FRAME.format("\n".join(texts), f"table_view const tables[] = {{{views}}};\nstd::span<table_view const> const rows(tables);", index, "\n".join(cases))


def main() -> int:
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    everything = list(enumerate(cases()))
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(count):
        (folder / f"pairs_{i}.cpp").write_text(write_file(i, everything[i::count]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
