# SPDX-License-Identifier: MIT
"""Runs the Python of docs/torch-onnx.md and docs/transformers.md, block after block. Exits with 77 without torch.

usage: documented_test.py ATON CUSTOM_OPS_PLUGIN
"""

import importlib.util
import os
import pathlib
import re
import shutil
import sys
import tempfile
import warnings

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PLUGIN = pathlib.Path(sys.argv[2]).resolve()
os.environ["ATON_COMMAND"] = str(pathlib.Path(sys.argv[1]).resolve())
sys.path[:0] = [str(REPOSITORY / each) for each in ("python", "examples/custom_op_library", "tests/models")]
try:
    import torch
except ImportError:
    print("skipped: torch is not installed (ATON_WITH_TORCH=1)")
    sys.exit(77)

import make_model  # noqa: E402

DOCS = REPOSITORY / "docs"


def run(page, names, at_least):
    """Runs the blocks of a page in the current folder, with these names."""
    blocks = re.findall(r"^```python\n(.*?)^```$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= at_least, f"{page} has lost its examples"
    for number, block in enumerate(blocks, 1):
        print(f"-- block {number} of {page}", flush=True)
        exec(compile(block, f"{page}, block {number}", "exec"), names)


def torch_onnx():
    library = make_model.declare()
    shutil.copy(PLUGIN, "libcustom_ops_onnx.so")
    torch.manual_seed(5)  # with others, ONNX Runtime's Sigmoid is too inexact for rows of tiny numbers, which rms_norm divides by 0.001
    names = {"model": make_model.Mixer().eval(), "x": make_model.sample(3, 4, 5)}
    run("torch-onnx.md", names, 3)
    expected = names["model"](names["x"])
    for result, truth in zip(names["results"], expected.values(), strict=True):
        torch.testing.assert_close(result, truth, rtol=1e-4, atol=1e-4)
    del library


def exporter():
    if importlib.util.find_spec("transformers") is None:
        print("skipped: transformers.md, because transformers is not installed")
        return
    import zoo_detection  # noqa: F401  operators that transformers imports with torchvision
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(vocab_size=61, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4)
    model, ids = LlamaForCausalLM(config).eval(), torch.randint(3, 59, (2, 7))
    names = {"model": model, "ids": ids, "torch": torch}
    run("transformers.md", names, 3)
    with torch.no_grad():
        torch.testing.assert_close(names["out"].logits, model(ids).logits, rtol=1e-3, atol=1e-3)


def main():
    warnings.filterwarnings("ignore")
    for page in (torch_onnx, exporter):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            page()
            os.chdir("/")


if __name__ == "__main__":
    main()
