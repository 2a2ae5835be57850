#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Searches for phrases that are not idiomatic technical English in everything that users read: the documents, and the string literals of messages and
of `--help` in the sources. The table below says what to write instead.

Documents must have none. Remaining ones in messages are counted per file in english_exceptions.txt: a count that differs is an error, and counts
may only fall. Code blocks, comments and `code` in documents are ignored, since they quote programs.

    check_english.py                      the repository
    check_english.py --list [FILE ...]    show the phrases in the sources
    check_english.py --update             write english_exceptions.txt
"""
import argparse
import pathlib
import re
import sys

import documents

ROOT = documents.ROOT
# Pages written by programs, whose tables quote messages.
WITH_MESSAGES = (*documents.GENERATED, "node_tests.md")
EXCEPTIONS = pathlib.Path(__file__).resolve().parent / "english_exceptions.txt"

# Phrase (a regular expression over text with single blanks; case does not matter) -> what to write instead.
PHRASES = {
    r"mend(?:s|ed|ing)?": "fix",
    r"(?:they|the two) part|that parts(?! of)|parting": "diverge, divergence",
    r"(?:laid|lay|lays|written|writes|made|built|computed) (?:\w+ )?anew": "rewritten, again",
    r"(?<!there )(?:is|are|was|were) no(?! (?:longer|more|less|fewer|larger|smaller|greater|later|earlier|different|doubt|need)\b)": "is not a",
    r"(?<!there )(?-i:is|are|was|were) (?-i:none)|of none": "is not",
    r"(?:is|are|takes|runs?) no time|no time at all": "zero times",
    r"held against|holds? (?:\w+ ){1,5}against|holding (?:\w+ ){1,5}against": "check against, compare with",
    r"stands? (?:in|at|on|there|before|behind|where|once|alone|above|below|between|here|side)|(?:may|must|can|cannot|could)(?: not)? stand": "is, appears",
    r"what stands": "what is",
    r"lies? (?:in|on|at|outside|beside|beyond|behind|between)|(?:must|may|can|do not|does not|cannot) lie|(?:it|they|that) lies?": "is, is stored",
    r"(?:is|are) (?:not )?there(?: twice)?(?! (?:a|an|any|no|is|are)\b)": "exists; is missing; is duplicated",
    r"the (?:least|most) (?:number|size|value|opset|elements|bytes)": "the smallest, the largest; minimum, maximum",
    r"knows? (?:no|neither)": "does not know, does not support",
    r"has no words? for": "cannot express",
    r"no (?:archive|plugin|file) of": "is not an archive of",
    r"of one's own": "your own",
    r"but for|but while|but where": "except",
    r"shall": "must, is to",
    r"be it (?:a|an|one)": "whether it is",
    r"so many (?:\w+ )?(?:that|as)": "as many",
    r"sees? to (?:it|that|this)": "takes care of",
    r"all else": "everything else",
    r"(?:and|its|their) kin": "and similar ones",
    r"inside of": "inside",
    r"handed in|hand(?:s|ed)? (?:it|them) in": "pass",
    r"counts? (?:such \w+ )?apart": "counts separately",
    r"as told": "as expected",
    r"(?:is|was) so(?=[.,;:])": "is true",
    r"(?:taken|take|takes) for (?:its|their) siblings?": "replaced by related ones",
    r"goe?s? on where": "continue where",
    r"that of no": "is not",
    r"a text(?! (?:file|block|format))": "a string",
    r"(?:must )?come out|\d go in|\} go in": "returned; passed",
    r"with the words that": "with the command that",
    r"thereof|therein|thereto|whereof|hereof": "of it, in it",
    r"(?:has|have) not (?:a|any|the)": "does not have",
}
# Those that are also wrong in comments, in texts of tests and in the files that configure tools.
EVERYWHERE = {
    r"\w*(?:normalis|recognis|initialis|optimis|quantis|functionalis|vectoris|serialis|specialis|materialis|generalis|summaris)"
    r"(?:e|es|ed|er|ers|ing|ation|ations)": "American spelling: -ize",
    r"behaviours?|neighbours?|neighbouring|colours?|licence|labelled|modelled|misspelt|learnt": "American spelling",
    r"of nothing": "of an empty tensor, of no elements",
}
ANYWHERE = [(re.compile(rf"(?<![\w])(?:{phrase})(?![\w])", re.IGNORECASE), instead) for phrase, instead in EVERYWHERE.items()]
BANNED = [(re.compile(rf"(?<![\w-])(?:{phrase})(?![\w-])", re.IGNORECASE), instead) for phrase, instead in PHRASES.items()] + ANYWHERE
# A text without these has none of them.
STEMS = (*(each + "is" for each in ("normal", "recogn", "initial", "optim", "quant", "functional", "vector", "serial", "special", "material", "general", "summar")),
         "behaviour", "neighbour", "colour", "licence", "labelled", "modelled", "misspelt", "learnt", "of nothing")
# Files that quote such words: these checks, and a test of what is suggested for a misspelled name.
QUOTES = ("tests/docs/check_english.py", "tests/docs/checks_test.py", "tests/docs/tree_checks_test.py", "tests/tools/aton_command_test.py")

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((.*?)\)\1"|"((?:[^"\\\n]|\\.)*)"|\'(?:[^\'\\\n]|\\.)+\'', re.DOTALL)


def findings(text):
    """(offset, phrase, what to write instead) of every banned phrase."""
    spaced = re.sub(r"\s", " ", text)
    return sorted((m.start(), m.group(), instead) for banned, instead in BANNED for m in banned.finditer(spaced))


def document_findings(root, path):
    """One line for each banned phrase in the prose of a document."""
    lines = [""] * (path.read_text(encoding="utf-8").count("\n") + 2)
    for number, line in documents.prose(path):
        if line.startswith("|") and path.name in WITH_MESSAGES:
            continue
        lines[number] = re.sub(r"\]\([^)\s]*\)|[\[*]", "", re.sub(r"(`+).+?\1", "code", line)).strip()
    text = "\n".join(lines)
    return [f"{path.relative_to(root)}:{text.count(chr(10), 0, offset)}: '{phrase}'; write: {instead}" for offset, phrase, instead in findings(text)]


def messages(text):
    """(line, text) of every string literal with more than one word; adjacent literals are one."""
    found, end = [], -1
    for token in TOKEN.finditer(text):
        literal = token.group(2) if token.group(2) is not None else token.group(3)
        if literal is None or re.search(r"#\s*include\s*$", text[max(0, token.start() - 20):token.start()]):
            continue
        if found and end >= 0 and not text[end:token.start()].strip():
            found[-1] = (found[-1][0], found[-1][1] + literal)
        else:
            found.append((text.count("\n", 0, token.start()) + 1, literal))
        end = token.end()
    return [(line, literal) for line, literal in found if " " in literal.strip()]


def source_findings(path):
    """One line for each banned phrase in the messages of a source."""
    return [f"{line}: '{phrase}' in \"{literal}\"; write: {instead}"
            for line, literal in messages(path.read_text(encoding="utf-8")) for _, phrase, instead in findings(literal)]


def pages(root):
    """The pages for readers: README.md and those beside it, docs/, .github/ and the pages of benchmarks and tests."""
    found = [*root.glob("*.md"), *(root / ".github").rglob("*.md"), *(root / "docs").rglob("*.md"), *(root / "benchmarks").rglob("*.md"), *(root / "tests").glob("*/*.md")]
    return [path for path in sorted(found) if path.is_file()]


def sources(root):
    """The C++ whose messages reach users."""
    found = [path for folder in ("include", "src", "cuda", "tools") for path in (root / folder).rglob("*") if path.suffix in (".hpp", ".cpp", ".cuh", ".cu")]
    return [path for path in sorted(found) if "generated" not in path.parts]


def texts(root):
    """Everything else that is written by hand: sources with their comments, scripts, and what configures tools."""
    kinds = (".hpp", ".cpp", ".cu", ".cuh", ".py", ".sh", ".cmake", ".txt", ".rules")
    folders = ("include", "src", "cuda", "tools", "tests", "examples", "benchmarks", "cmake", "python", "packaging")
    found = [path for folder in folders for path in sorted((root / folder).rglob("*"))
             if path.suffix in kinds and not {"generated", "third_party", "data", "__pycache__"} & set(path.parts)]
    found += [root / "CMakeLists.txt", *sorted(root.glob("*.json")), *sorted(root.glob("*.yml")), *sorted(root.glob("*.toml"))]
    return [path for path in found if path.is_file() and path.relative_to(root).as_posix() not in QUOTES]


def text_findings(root, path):
    """One line for each phrase that is wrong everywhere."""
    text = path.read_text(encoding="utf-8")
    lower = text.lower()
    if not any(stem in lower for stem in STEMS):
        return []
    return [f"{path.relative_to(root)}:{text.count(chr(10), 0, m.start()) + 1}: '{m.group()}'; write: {instead}"
            for banned, instead in ANYWHERE for m in banned.finditer(text)]


def counts(root):
    """{file: lines of source_findings}, for files that have any."""
    found = {path.relative_to(root).as_posix(): source_findings(path) for path in sources(root)}
    return {name: lines for name, lines in found.items() if lines}


def read_exceptions(text):
    """{file: count}."""
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {name: int(count) for count, name in lines}


def problems_of(root, exceptions):
    """Every phrase in a document, and every file whose count differs from the recorded one."""
    found = [line for path in pages(root) for line in document_findings(root, path)]
    found += [line for path in texts(root) for line in text_findings(root, path)]
    counted = counts(root)
    for name in sorted(counted.keys() | exceptions.keys()):
        lines, allowed = counted.get(name, []), exceptions.get(name, 0)
        if len(lines) > allowed:
            found += [f"{name}:{line}" for line in lines] + [f"{name}: {len(lines)} phrases, {allowed} in english_exceptions.txt"]
        elif len(lines) < allowed:
            found.append(f"{name}: {len(lines)} phrases, {allowed} in english_exceptions.txt; lower the count (--update)")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("files", nargs="*", help="with --list: only these files")
    arguments = parser.parse_args()
    counted = counts(ROOT)
    if arguments.list:
        for name, lines in counted.items():
            if not arguments.files or name in arguments.files:
                print("\n".join(f"{name}:{line}" for line in lines))
        return
    if arguments.update:
        head = ["# Phrases of check_english.py in the messages of each file: fix them, and lower the count (check_english.py --update).", ""]
        EXCEPTIONS.write_text("\n".join(head + [f"{len(lines):4} {name}" for name, lines in sorted(counted.items())]) + "\n", encoding="utf-8")
    exceptions = read_exceptions(EXCEPTIONS.read_text(encoding="utf-8"))
    found = problems_of(ROOT, exceptions)
    print("\n".join(found), end="\n" if found else "")
    print(f"{len(pages(ROOT))} documents and {len(sources(ROOT))} sources, {len(PHRASES) + len(EVERYWHERE)} phrases: {len(found)} problems, "
          f"{sum(exceptions.values())} known phrases in messages of {len(exceptions)} files")
    sys.exit(1 if found or not sources(ROOT) else 0)


if __name__ == "__main__":
    main()
