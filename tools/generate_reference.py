#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/reference/: every public name of the headers, with its declaration and its `///` comment, one page for each group of headers.

    generate_reference.py [--check]

--check writes nothing; exit status 1 when a page says anything else. What is public, header_declarations.py says.
"""
import argparse
import pathlib
import re
import sys
import textwrap

import header_declarations
from header_declarations import ROOT, as_called, is_family, overload_sets, public_headers, purpose, purpose_lines, read

FOLDER = ROOT / "docs" / "reference"
WIDTH = 120  # of prose
CODE_WIDTH = 90

# Page: title, what it is about, headers in their order. A name that ends in / is a folder.
PAGES = {
    "graphs": ("Graphs and values", "What the body of a mapping builds: the graph, its values, attributes, sizes and constants. "
               "[The language](../language.md) explains how they are used.",
               ["dsl/graph.hpp", "dsl/call_site.hpp", "dsl/refusal.hpp", "dsl/value.hpp", "dsl/number.hpp", "dsl/number_arithmetic.hpp",
               "dsl/complex_value.hpp",
               "dsl/attr.hpp",
               "dsl/constant_list.hpp", "dsl/promotion.hpp", "core/safe_list.hpp"]),
    "rows": ("Rows and tables", "How a mapping is declared, found and called. `#include <aton/aton.hpp>`; the built-in tables are in "
             "`<aton/mappings.hpp>`.",
             ["dsl/symbolic.hpp", "dsl/entry.hpp", "dsl/table.hpp", "dsl/tables.hpp", "dsl/call_aten.hpp", "dsl/table_coverage.hpp", "dsl/argument.hpp",
              "dsl/invocation.hpp",
              "aten/argument.hpp", "mappings.hpp", "mappings/"]),
    "rewrites": ("Rewrites", "Rows that replace nodes of a finished graph. [Rewrites](../rewrites.md) explains the language.",
                 ["dsl/rewrite.hpp", "dsl/pattern.hpp", "dsl/pattern_parts.hpp", "dsl/capture.hpp", "ir/pattern.hpp", "ir/pattern_text.hpp", "passes/patterns.hpp",
                  "fusions.hpp", "fusions/"]),
    "domains": ("Operators of your own", "Domains, declarations of operators, their rules and bodies.",
                ["dsl/domain.hpp", "dsl/operator_body.hpp", "dsl/by_reference.hpp", "domains/com_microsoft.hpp"]),
    "targets": ("Targets", "What runtimes run. [Targets](../targets.md) explains them.", ["targets/target.hpp", "targets/"]),
    "data": ("Types and data", "Dtypes, shapes, constants, and the records that a graph consists of.",
             ["version.hpp", "core/error.hpp", "core/dtype.hpp", "core/scalar.hpp", "core/shape.hpp", "core/tensor.hpp", "core/", "ir/", "onnx/"]),
    "plugins": ("Plugins", "Shared libraries with tables: how one is made, and how a program loads one.", ["plugin.hpp", "exporter/plugin.hpp"]),
    "export": ("Exporter", "From a `.pt2` file to an `.onnx` file, as a whole and in its steps. [Exporting models](../exporter.md) has the "
               "options of the command.", ["exporter/exporter.hpp", "exporter/", "passes/"]),
    "programs": ("Programs", "The ATen program that is exported, independent of the front end.", ["program/program.hpp", "program/argument.hpp", "program/"]),
    "frontend": ("Front end", "Readers of exported programs.", ["frontend/pt2/read_program.hpp", "frontend/"]),
    "model_io": ("Model files", "ONNX files: reading, writing, checking.", ["model_io/model_io.hpp", "model_io/"]),
    "runtime": ("Runtime", "Runs ATen operators, programs and ONNX graphs.",
                ["runtime/onnx_model.hpp", "runtime/aten_program.hpp", "runtime/aten_operator.hpp", "runtime/value.hpp", "runtime/tensor.hpp", "runtime/"]),
    "torch": ("Modules of libtorch", "Exports modules of PyTorch's C++ front end. [Modules in C++](../torch.md) explains how they are recorded.",
              ["torch.hpp"]),
    "checking": ("Verify", "Checks of mappings and of exported models. [Checking mappings](../verify.md) explains the method.",
                 ["verify/check.hpp", "verify/models.hpp", "verify/sample.hpp", "verify/"]),
}
NOTE = "<!-- Written by tools/generate_reference.py from the comments of the headers; do not edit. -->"
OPERATORS = {"&": "and", "|": "or", "+": "plus", "-": "minus", "*": "times", "/": "divided by", "%": "modulo", "->": "arrow", "[]": "subscript", "()": "call",
             "==": "equal", "<": "less", ">": "greater", "<=": "less or equal", ">=": "greater or equal"}
IDENTIFIER = re.compile(r"(?<![\w:`/.\"'-])((?:[a-z]\w*::)*(?:[a-z]\w*::\w+|[a-z]\w*\(\)|[a-z][a-z0-9]*_\w+))(?![\w`/\"'])")
INTERNAL = re.compile(r"(?:typename )?\bdetail::\w+")
MARKUP = re.compile(r"([*<>\\|]|\[(?=[^\]]*\]\())")


def prose(text):
    """Words of a comment as Markdown: code stays code, names become code, the rest is not markup."""
    parts = re.split(r"(`[^`]*`)", text)
    out = []
    for part in parts:
        if part.startswith("`") and part.endswith("`") and len(part) > 1:
            out.append(part)
        else:
            marked = IDENTIFIER.sub(r"`\1`", part)
            out.append("".join(p if p.startswith("`") else MARKUP.sub(r"\\\1", p) for p in re.split(r"(`[^`]*`)", marked)))
    return "".join(out)


def wrapped(text, indent=""):
    """Lines of at most WIDTH characters; code is not broken."""
    kept = re.sub(r"`[^`]*`|\[[^\]]*\]\([^)]*\)", lambda m: m.group().replace(" ", "\0"), text)
    lines = textwrap.wrap(kept, WIDTH, break_long_words=False, break_on_hyphens=False, subsequent_indent=indent)
    return [line.replace("\0", " ") for line in lines]


def comment(doc):
    """A `///` comment as Markdown: paragraphs, lists, fenced examples; indented lines are shown as they are."""
    out, paragraph, fenced, shown = [], [], False, False

    def flush():
        nonlocal paragraph
        if paragraph:
            out.extend([*wrapped(prose(" ".join(paragraph)), "  " if paragraph[0].startswith(("* ", "- ")) else ""), ""])
        paragraph = []

    for line in [*doc, ""]:
        if line.startswith("```"):
            flush()
            fenced = not fenced
            out.extend([line] if fenced else [line, ""])
        elif fenced:
            out.append(line)
        elif line.startswith("    "):
            if not shown:
                flush()
                out.extend(["<!-- not checked: quoted from the comment -->", "```text"])
            shown = True
            out.append(line[4:])
        else:
            if shown:
                out.extend(["```", ""])
                shown = False
            if not line.strip() or line.startswith(("* ", "- ")):
                flush()
            if line.strip():
                paragraph.append(line.strip())
    flush()
    return out


def without_internals(text):
    """The declaration with a comment in place of types in namespaces detail."""
    found = INTERNAL.search(text)
    if not found:
        return text
    end, depth = found.end(), 0
    while end < len(text) and (depth or text[end] in "<:"):
        depth += {"<": 1, ">": -1}.get(text[end], 0)
        end += 1
        if not depth and text[end:end + 2] == "::":
            end = re.compile(r"::(?:template )?\w+").match(text, end).end()
    return text[:found.start()] + "/* internal */" + text[end:]


def declaration(each, indent=""):
    """A declaration in lines of at most CODE_WIDTH characters."""
    text = without_internals(as_called(each.signature))
    if each.kind in ("class", "struct"):
        text += ";"
    elif each.kind in ("function", "constructor", "constant", "alias", "concept", "field"):
        text += ";"
    return [indent + line for part in [*map(as_called, each.template), text] for line in broken(("    " if part.startswith("requires") else "") + part)]


def broken(text):
    """Lines: broken behind commas, aligned behind the bracket that is open there."""
    if len(text) <= CODE_WIDTH:
        return [text]
    lines, line, pieces = [], "", re.split(r"(?<=, )", text)
    open_at = text.find("(")
    hang = " " * (open_at + 1 if 0 <= open_at < CODE_WIDTH // 2 else 4)
    for piece in pieces:
        if line.strip() and len(line) + len(piece.rstrip()) > CODE_WIDTH:
            lines.append(line.rstrip())
            line = hang
        line += piece
    return [*lines, line.rstrip()]


def with_words(code, doc):
    """A member with its comment beside it, or above where that is too long."""
    words = " ".join(doc).strip()
    if not words:
        return code
    if len(code) == 1 and len(code[0]) + len(words) + 4 <= CODE_WIDTH:
        return [f"{code[0]} // {words}"]
    indent = re.match(r" *", code[0]).group()
    return [*(f"{indent}// {line}" for line in textwrap.wrap(words, CODE_WIDTH - len(indent) - 3, break_long_words=False)), *code]


def synopsis(each):
    """A type with the members that hold data."""
    lines = declaration(each)
    data = [m for m in each.members if m.kind in ("field", "enumerator") or (m.kind == "constant" and each.kind == "struct")]
    if not data:
        return lines
    lines[-1] = lines[-1].removesuffix(";") + " {"
    for member in data:
        code = [f"    {member.signature},"] if member.kind == "enumerator" else declaration(member, "    ")
        lines += with_words(code, member.doc)
    return [*lines, "};"]


def slug(heading):
    """As tests/docs/check_links.py and the site make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


class Page:
    """The lines of one page, and where each name is on it."""

    def __init__(self, name, title, about):
        self.name = name
        self.lines = [f"# {title}", "", NOTE, "", *wrapped(about), ""]
        self.slugs = {slug(title)}
        self.places = []  # (name, anchor)

    def heading(self, level, text, header):
        symbol = text.rpartition("operator")[2]
        if "operator" in text and symbol in OPERATORS:
            unary = symbol == "*" and "::" in text  # a member without parameters
            text = f"{text} ({'dereference' if unary else OPERATORS[symbol]})"
        if slug(text) in self.slugs:
            text = f"{text} ({pathlib.PurePosixPath(header).stem})"
        if slug(text) in self.slugs:
            sys.exit(f"generate_reference.py: two headings of docs/reference/{self.name}.md are '{text}'")
        self.slugs.add(slug(text))
        code = re.sub(r"^(\S+(?: (?!\()\S+)*)", r"`\1`", text)
        self.lines += [f"{'#' * level} {code}", ""]
        return slug(text)

    def block(self, lines):
        self.lines += ["```cpp declaration", *lines, "```", ""]

    def header(self, path):
        name = path.relative_to(header_declarations.INCLUDE).as_posix()
        declared = read(path)
        if declared:
            self.heading(2, name, name)
            spaces = sorted({"::".join(d.scope) for d in declared if d.scope})
            lines = [f"    {line.strip()}" if line.startswith("  ") else line for line in purpose_lines(path)]
            self.lines += comment([*lines, *(["", f"Namespace {' and '.join(f'`{s}`' for s in spaces)}."] if spaces else [])])
            self.entities(declared, (), name)

    def entities(self, declared, inside, header, in_synopsis=False):
        """Classes with their members, and sets of functions: those of one name under one heading."""
        sets, named = overload_sets([d for d in declared if d.kind not in ("field", "enumerator")]), {}
        for each in sets:
            named.setdefault((each[0].kind == "constructor", each[0].name), []).append(each)
        for (_, name), group in named.items():
            first = group[0][0]
            if in_synopsis and first.kind == "constant":
                continue
            title = "::".join((*inside, name))
            anchor = self.heading(3 if not inside else 4, title if first.kind != "constructor" else title + " (constructor)", header)
            if not inside:
                self.places.append((title, anchor))
            for overloads in group:
                blocks = dict.fromkeys(tuple(synopsis(each) if each.members else declaration(each)) for each in overloads)
                self.block([line for block in blocks for line in block])
                self.lines += comment(overloads[0].doc)
            for each in (e for overloads in group for e in overloads):
                if each.kind in ("class", "struct"):
                    self.entities(each.members, (*inside, each.name), header, each.kind == "struct")

    def families(self, paths):
        """The tables of the mappings or of the rewrites, one row each."""
        folder = paths[0].parent.name
        self.heading(2, f"aton/{folder}/", "")
        self.lines += [f"Each family is a header with one table in namespace `aton::{folder}`; `<aton/{folder}.hpp>` includes all of them.", "",
                       f"| table | header | {'mappings' if folder == 'mappings' else 'rewrites'} |", "|---|---|---|"]
        for path in paths:
            self.lines.append(f"| `{path.stem}` | `aton/{folder}/{path.name}` | {prose(purpose(path))} |")
        self.lines.append("")


def headers_of(names, paths):
    """The headers of a page in its order, each once."""
    found = []
    for name in names:
        for path in paths:
            relative = path.relative_to(header_declarations.INCLUDE / "aton").as_posix()
            if path not in found and (relative == name or name.endswith("/") and relative.startswith(name)):
                found.append(path)
    return found


def pages():
    """{file name: text}"""
    public = public_headers()
    left, made = set(public), []
    for name, (title, about, names) in PAGES.items():
        paths = [path for path in headers_of(names, public) if path in left]
        left -= set(paths)
        if not paths:
            continue
        page = Page(name, title, about)
        for path in (p for p in paths if not is_family(p)):
            page.header(path)
        families = [p for p in paths if is_family(p)]
        if families:
            page.families(families)
        made.append((page, title, about))
    left = sorted(path.relative_to(ROOT).as_posix() for path in left if read(path))
    if left:
        sys.exit("generate_reference.py: no page of PAGES has " + ", ".join(left))
    texts = {f"{page.name}.md": "\n".join(page.lines).rstrip() + "\n" for page, _, _ in made}
    return {"index.md": index(made)} | texts


def index(made):
    lines = ["# Reference", "", NOTE, "",
             *wrapped("Every public name, from the comments of the headers. Names of the language are in namespace `aton::dsl`, those of the "
                      "libraries in `aton` and its namespaces; `using namespace aton::dsl;` is enough to write mappings. "
                      "[Which header, which target, how stable](../headers.md) says what to include and to link."), "",
             *wrapped("\"Refuses\" means that the function throws `unsupported_error`: an export then reports the node, with the reason, and "
                      "writes nothing. Whatever allocates memory may throw `std::bad_alloc`. Special members that do what everybody expects are "
                      "not listed."), ""]
    for page, title, about in made:
        lines += [f"## [{title}]({page.name}.md)", "", *wrapped(about), ""]
        links = [f"[`{name}`]({page.name}.md#{anchor})" for name, anchor in page.places]
        lines += [*wrapped(", ".join(links) + "."), ""]
    return "\n".join(lines).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    texts = pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")} if FOLDER.exists() else {}
    if arguments.check:
        stale = sorted(name for name in texts.keys() | there.keys() if texts.get(name) != there.get(name))
        if stale:
            sys.exit(f"docs/reference/ is not current ({', '.join(stale)}); run tools/generate_reference.py")
        return
    FOLDER.mkdir(exist_ok=True)
    for name in there.keys() - texts.keys():
        (FOLDER / name).unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
