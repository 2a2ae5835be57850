#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every public name of the headers has a `///` comment of at least one sentence, functions that can throw say so, and no public declaration names
what is in a namespace detail. tools/header_declarations.py says what is public. docs/headers.md lists every public header.

    check_reference.py               the headers of include/aton
    check_reference.py --self-test   plants mistakes, and demands that each is found

Not asked for a comment: data members and enumerators, which the comment of their type may cover; overloads that follow the one with the comment;
special members that do what everybody expects.
"""
import argparse
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from header_declarations import as_called, is_family, overload_sets, public_headers, read  # noqa: E402

# Functions that are defined in src/ and throw nothing but std::bad_alloc.
NEVER_THROW = """
mappings::built_in_tables find_warnings optimize remove_unused plugin::plugin plugin::tables plugin::path has_operator_body
computed_elements::source quantized_matrix::packed_blocks quantized_matrix::packed_rows quantized_matrix::integers quantized_matrix::scales
quantized_matrix::packed_zero_points quantized_matrix::zero_points quantized_matrix::rows quantized_matrix::how quantized_matrix::byte_count
quantized_matrix::rounding
pt2::archive::path pt2::archive::models pt2::archive::storage pt2::dtype_of_scalar_type
program::evaluate program::is_contiguous program::substitute program::to_string program::describe program::result_values program::remove_dead_nodes
runtime::has_aten_operator runtime::aten_operators runtime::aten_program::functional runtime::name runtime::allocator::where runtime::cpu_allocator
runtime::memory_of runtime::uses_of runtime::onnx_model::graph runtime::to_string runtime::tensor::is_contiguous runtime::tensor::permuted
runtime::limit_cpu_memory runtime::contiguous_strides
verify::to_string verify::known_exclusions verify::known_equivalents verify::report::passed verify::report::power verify::report::weakest verify::report::to_text
verify::report::to_json verify::report::to_html verify::check verify::tolerance_of verify::unit_roundoff verify::narrower
verify::model_report::to_text verify::model_report::to_json verify::to_python verify::aten_sampling_rules verify::rewrite_sampling_rules verify::rewrite_rows::rewrite_rows verify::rewrite_rows::options verify::condition_report::to_text verify::find_rule verify::names verify::reason_for
""".split()

CALLABLE = "an object that is called; its type has no name that a user writes"
INTERNAL_TYPES = {
    "dsl::attr_f": CALLABLE, "dsl::attr_i": CALLABLE, "dsl::attr_s": CALLABLE, "dsl::attr_t": CALLABLE, "dsl::attr_g": CALLABLE,
    "dsl::symbolic": CALLABLE, "dsl::override_": CALLABLE,
    "dsl::infer": "an argument of op<...>", "dsl::body": "an argument of op<...>",
    "dsl::domain": "an alias keeps the types of graphs short, however many operators a domain has",
    "dsl::graph::call": "what valid_call asks; its members `legal` and `problem` are public",
}
SENTENCE = re.compile(r"\w.*[\w`)\]\"'>}](?:\.(?:\s|$)|: )")
SAYS_ERRORS = re.compile(r"\b(?:throws?|thrown|refuses?|refused|compile error)\b", re.IGNORECASE)
THROWS = re.compile(r"\bthrow\b(?!\s*;)|\brefuse_\w+\(")


def says(doc):
    """The words of a comment, without its examples."""
    text, inside = [], False
    for line in doc:
        inside = inside != line.startswith("```")
        if not inside and not line.startswith("```"):
            text.append(line)
    return " ".join(" ".join(text).split())


def problems_of(declared, place):
    """Sentences, one for each problem of these declarations and their members."""
    found = []
    for overloads in overload_sets(d for d in declared if d.kind not in ("field", "enumerator")):
        words = says(overloads[0].doc)
        name = overloads[0].qualified.removeprefix("aton::")
        where = f"{place}:{overloads[0].line}: {overloads[0].qualified}"
        if not overloads[0].doc:
            found.append(f"{where}: no /// comment")
        elif not SENTENCE.search(words + " ") or len(words.split()) < 2:
            found.append(f"{where}: the /// comment is not a sentence: {words}")
        for each in overloads:
            outside = each.kind in ("function", "constructor") and not each.has_body and "noexcept" not in each.signature
            if (outside and name not in NEVER_THROW or THROWS.search(each.body)) and not SAYS_ERRORS.search(words):
                found.append(f"{where}: can throw, and does not say what it throws")
            if "detail::" in as_called(each.signature) and name not in INTERNAL_TYPES:
                found.append(f"{where}: the declaration names what is internal: {each.signature}")
            found += problems_of(each.members, place)
    return found


def all_names(declared):
    return sum(1 + all_names(d.members) for d in declared if d.kind not in ("field", "enumerator") and not d.is_routine)


def names_of(declared):
    return {name for d in declared for name in (d.qualified.removeprefix("aton::"), *names_of(d.members))}


def check(include):
    """Problems, and how many headers and names there are."""
    declared = {path.relative_to(include).as_posix(): read(path, include) for path in public_headers(include)}
    found = [problem for place, names in declared.items() for problem in problems_of(names, place)]
    return found, len(declared), sum(map(all_names, declared.values()))


def stale_exceptions(include):
    public = set().union(*(names_of(read(path, include)) for path in public_headers(include)))
    return [f"check_reference.py excepts {name}, which is not public" for name in [*NEVER_THROW, *INTERNAL_TYPES] if name not in public]


def unlisted_headers(include, page):
    """Headers that docs/headers.md lacks, lists twice, or lists although they are not public. Families of mappings are one row."""
    listed = re.findall(r"^\| `(aton/[\w/.]+\.hpp)` \|", page, re.MULTILINE)
    public = [path.relative_to(include).as_posix() for path in public_headers(include) if not is_family(path)]
    return [f"docs/headers.md: {name} is listed {listed.count(name)} times" for name in sorted({*listed, *public})
            if listed.count(name) != (name in public)]


GOOD = """// SPDX-License-Identifier: MIT
// For the self-test.
// Public header.
#pragma once

namespace aton {

/// What it is for.
class documented {
public:
    documented() = default;
    /// Gives the number. Throws aton::error where there is none.
    [[nodiscard]] int number() const {
        if (number_ == 0) throw error("none");
        return number_;
    }
    [[nodiscard]] int number(int) const { return 0; }
    // Internal.
    int unasked() const;

private:
    int hidden() const;
    int number_ = 0; ///< not public
};

/// Does it. Throws aton::error for a path that does not exist.
///
/// ```cpp body
/// undocumented(x);
/// ```
template <class = void>
int run(std::string_view path, int times = 3);

namespace detail {
int unasked();
}

} // namespace aton
"""
PLANTED = {  # what must be found: (text to replace, by what)
    "aton::planted: no /// comment": ("namespace detail {", "int planted() noexcept;\n\nnamespace detail {"),
    "aton::documented::planted: no /// comment": ("    // Internal.", "    int planted() const { return 1; }\n    // Internal."),
    "aton::documented: no /// comment": ("/// What it is for.\n", ""),
    "aton::limit: no /// comment": ("namespace detail {", "inline constexpr int limit = 3;\n\nnamespace detail {"),
    "aton::kind: no /// comment": ("namespace detail {", "enum class kind { one, two };\n\nnamespace detail {"),
    "aton::some: no /// comment": ("namespace detail {", "template <class T>\nconcept some = requires(T t) { t(); };\n\nnamespace detail {"),
    "PLANTED: no /// comment": ("namespace detail {", "#define PLANTED(x) x\n\nnamespace detail {"),
    "aton::alias: no /// comment": ("namespace detail {", "using alias = int;\n\nnamespace detail {"),
    "is not a sentence": ("/// What it is for.", "/// a class"),
    "aton::run: can throw": (" Throws aton::error for a path that does not exist.", ""),
    "number: can throw": (" Throws aton::error where there is none.", ""),
    "names what is internal": ("int run(std", "detail::helper run(std"),
}


def self_test():
    failures = []
    for expected, (old, new) in {"": ("", ""), **PLANTED}.items():
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "aton", "core", "a.hpp")
            path.parent.mkdir(parents=True)
            text = GOOD.replace(old, new, 1) if old else GOOD
            path.write_text(text, encoding="utf-8")
            found, headers, _ = check(pathlib.Path(folder))
            if len(unlisted_headers(pathlib.Path(folder), "| `aton/core/b.hpp` | what it is for |")) != 2:
                failures.append("a header that docs/headers.md lacks, or one too many, is not found")
            path.write_text(text.replace("// Public header.", "// Internal header."), encoding="utf-8")
            if headers != 1 or check(pathlib.Path(folder))[0]:
                failures.append("a header is public that does not say so, or the other way round")
        if expected and (text == GOOD or not any(expected in sentence for sentence in found)):
            failures.append(f"planted '{expected}', found only {found}")
        elif not expected and found:
            failures.append(f"the good header is refused: {found}")
        elif expected and len(found) != 1:
            failures.append(f"planted '{expected}', found more: {found}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-test", action="store_true")
    if parser.parse_args().self_test:
        found = self_test()
        summary = f"self-test: {len(PLANTED)} mistakes planted, {len(found)} failures"
    else:
        found, headers, names = check(ROOT / "include")
        summary = f"{names} public names in {headers} headers, {len(found)} problems"
        found += stale_exceptions(ROOT / "include") + unlisted_headers(ROOT / "include", (ROOT / "docs" / "headers.md").read_text(encoding="utf-8"))
    print("\n".join([*found, summary]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
