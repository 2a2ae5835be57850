#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that object files compiled for an instruction set do not share a function with the rest of the program.

    check_variant.py VARIANT OBJECT,OBJECT,...

The linker keeps the first of several functions of the same name. If that one had instructions that a CPU lacks, programs would crash that
never chose the variant. So every function with external linkage must have the variant in its name."""
import re
import subprocess
import sys


def shared_names(path):
    """Names of functions and variables that other files may define as well: weak and unique ones."""
    listing = subprocess.run(["nm", "--demangle", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.findall(r"^[0-9a-f]+ [WVu] (.*)$", listing, re.MULTILINE)


def main():
    variant, objects = sys.argv[1], sys.argv[2].split(",")
    found = [f"{path}: {name}" for path in objects for name in shared_names(path)
             if not re.search(rf"\b(eigen_)?{variant}::", name) and not name.startswith("DW.ref.")]
    for line in found:
        print(line)
    print(f"{len(found)} functions that other files could share, in {len(objects)} files")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
