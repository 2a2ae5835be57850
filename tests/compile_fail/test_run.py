#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the harness: it must detect a wrong program that compiles, a wrong sentence, a bad twin, and a twin that differs in more than one token."""
import pathlib
import subprocess
import sys
import tempfile

RUN = pathlib.Path(__file__).with_name("run.py")

REFUSED = 'template <int> struct mapping_error;\nint size = sizeof(mapping_error<1>);\n'
CASES = {
    "right": ("// rule: a\n// error: mapping_error<1>\n// twin: sizeof(mapping_error<1>) => 1\n" + REFUSED, 0, "0 failed"),
    "compiles": ("// rule: a\n// error: x\n// twin: 1 => 2\nint one = 1;\n", 1, "the wrong program compiles"),
    "other_sentence": ("// rule: a\n// error: another sentence\n// twin: sizeof(mapping_error<1>) => 1\n" + REFUSED, 1, "does not contain"),
    "bad_twin": ("// rule: a\n// error: mapping_error<1>\n// twin: sizeof(mapping_error<1>) => nothing\n" + REFUSED, 1, "good twin does not compile"),
    "noisy_twin": ("// rule: a\n// error: mapping_error<1>\n// twin: sizeof(mapping_error<1>) => ((void)0, 300000000000)\n" + REFUSED, 1, "good twin"),
    "two_tokens": ("// rule: a\n// error: x\n// twin: int => long\nint a = 1;\nint b = 2;\n", 1, "exactly once"),
    "no_header": ("int a = 1;\n", 1, "expected"),
    "long_error": ("// rule: a\n// error: mapping_error<1>\n// twin: sizeof(mapping_error<N>) => 1\ntemplate <int> struct mapping_error;\n"
                   "template <int N> int f0() { return sizeof(mapping_error<N>); }\n" +
                   "".join(f"template <int N> int f{i}() {{ return f{i - 1}<N>(); }}\n" for i in range(1, 9)) + "int size = f8<1>();\n",
                   1, "lines long"),
    "long_output": ("// rule: a\n// error: mapping_error<1>\n// twin: sizeof(mapping_error<1>) => 1\n" + REFUSED +
                    "".join(f"int x{i} = y{i};\n" for i in range(5)), 1, "the output is"),
}


def main():
    failed = 0
    for name, (text, code, words) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / f"{name}.cpp").write_text(text)
            run = subprocess.run([sys.executable, RUN, "--cases", folder], capture_output=True, text=True)
        output = run.stdout + run.stderr
        if run.returncode != code or (words and words not in output):
            failed += 1
            print(f"{name}: exit code {run.returncode}, expected {code} and '{words}'\n{output}")
    print(f"{len(CASES)} checks of the harness, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
