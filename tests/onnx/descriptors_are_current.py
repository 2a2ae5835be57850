# SPDX-License-Identifier: MIT
"""Checks that the committed descriptors equal the output of the generator. Usage: descriptors_are_current.py <generate_onnx_descriptors>"""
import difflib
import pathlib
import subprocess
import sys
import tempfile

committed = pathlib.Path(__file__).resolve().parents[2] / "include/aton/onnx/generated"
names = ("op_schemas.hpp", "attributes.inc", "attribute_words.hpp")

with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.argv[1], folder], check=True, stdout=subprocess.DEVNULL)
    made = sorted(path.name for path in pathlib.Path(folder).iterdir())
    assert made == sorted(names), f"the generator writes {made}: name them in this test"
    different = False
    for name in names:
        old = (committed / name).read_text().splitlines() if (committed / name).exists() else []
        new = (pathlib.Path(folder) / name).read_text().splitlines()
        diff = list(difflib.unified_diff(old, new, f"committed {name}", f"generated {name}", lineterm="", n=1))
        different |= bool(diff)
        print("\n".join(diff[:20]))

if different:
    sys.exit("include/aton/onnx/generated differs from the output of the generator.\n"
             "Remedy: cmake --build build/release --target regenerate_onnx, look at the diff, commit it.")
