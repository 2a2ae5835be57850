# SPDX-License-Identifier: MIT
"""Holds README.md of this folder against the tests that it names: linked files exist, and have the test cases quoted after them; a name in
`code` that ends a row's list without a link is a model of tests/data/seeds, a test or a function there."""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
LINK = re.compile(r"\]\(([^)]+)\)([^\[]*)")


def problems(text):
    rows = [line.split(" | ", 1)[1] for line in text.split("\n") if line.startswith("| ") and " | " in line[2:]]
    models = (HERE / "../data/seeds/make_models.py").read_text(encoding="utf-8")
    for row in rows:
        links = LINK.findall(row)
        for path, after in links:
            if not (HERE / path).is_file():
                yield f"no such file: {path}"
                continue
            source = re.sub(r'"\s*\n\s*"', "", (HERE / path).read_text(encoding="utf-8"))
            for quoted in re.findall(r'"([^"]+)"', after):
                if quoted.removesuffix(" ...") not in source:
                    yield f"{path} has no test case '{quoted}'"
        for name in re.findall(r"`(\w+)`", row) if not links or "make_models.py" in row else []:
            if f"def {name}(" not in models and f"aton_python_test({name} " not in models:
                yield f"make_models.py has no {name}"
    if len(rows) < 20:
        yield f"{len(rows)} rows are too few"


def main():
    text = (HERE / "README.md").read_text(encoding="utf-8")
    found = list(problems(text))
    planted = text.replace("hard_writes", "harder_writes").replace("seeds_test.cpp)", "seed_test.cpp)")
    if len(list(problems(planted))) < 5:
        found.append("the check does not see planted mistakes")
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
