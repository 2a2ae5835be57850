#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Object files that are compiled for other instructions share no function with the rest of the program.

    check_variant.py VARIANT OBJECT,OBJECT,...

The linker keeps one of several functions of the same name, whichever comes first. Were it one with instructions that a CPU lacks, then
programs would stop there that never chose the variant. So every function that is not the file's own has the variant in its name."""
import re
import subprocess
import sys


def shared_names(path):
    """Of functions and variables that other files may have as well: weak and unique ones."""
    listing = subprocess.run(["nm", "--demangle", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.findall(r"^[0-9a-f]+ [WVu] (.*)$", listing, re.MULTILINE)


def main():
    variant, objects = sys.argv[1], sys.argv[2].split(",")
    found = [f"{path}: {name}" for path in objects for name in shared_names(path)
             if not re.search(rf"\b(eigen_)?{variant}::", name) and not name.startswith("DW.ref.")]
    for line in found:
        print(line)
    print(f"{len(found)} functions that others may take, in {len(objects)} files")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
