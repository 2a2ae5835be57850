# SPDX-License-Identifier: MIT
"""The runtime's kernel of com.microsoft::GroupQueryAttention gives the numbers of ONNX Runtime's: one model with a node for each form, run by
both on the same inputs. What ONNX Runtime's kernel refuses, the runtime's does.

usage: decoder_attention_test.py ATON
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy
import onnx
import onnxruntime
from onnx import helper

ATON = str(Path(sys.argv.pop(1)).resolve())
LIBRARY = str(next((Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so*")))
NAMES = ["query", "key", "value", "past_key", "past_value", "seqlens_k", "total", "cos", "sin", "position_ids", "attention_bias", "head_sink"]
onnxruntime.set_default_logger_severity(4)


class Form:
    """A call: `lengths` are the tokens of each text, `new` of them new, beside a cache of `past` places."""

    def __init__(self, lengths, new, past=0, heads=4, groups=2, size=8, total=None, packed=False, rotated=0, bias=None, sink=False,
                 positions=None, dtype="float32", **attributes):  # fmt: skip
        draw = numpy.random.default_rng([abs(each) for each in (*lengths, new, past, heads, groups, size, rotated)])
        texts = len(lengths)
        self.attributes = {"num_heads": heads, "kv_num_heads": groups} | ({"do_rotary": 1} if rotated else {}) | attributes
        self.inputs = {}

        def put(name, *sizes):
            self.inputs[name] = draw.uniform(-1.5, 1.5, sizes).astype(dtype)

        put("query", texts, new, (heads + 2 * groups if packed else heads) * size)
        if not packed:
            put("key", texts, new, groups * size)
            put("value", texts, new, groups * size)
        if past:
            put("past_key", texts, groups, past, size)
            put("past_value", texts, groups, past, size)
        longest = max(lengths) if total is None else total
        self.inputs["seqlens_k"] = numpy.array(lengths, numpy.int32) - 1
        self.inputs["total"] = numpy.array([longest], numpy.int32)
        if rotated:
            put("cos", longest + 6, rotated)
            put("sin", longest + 6, rotated)
        if positions is not None:
            self.inputs["position_ids"] = numpy.array(positions, numpy.int64)
        if bias:
            put("attention_bias", *bias)
        if sink:
            put("head_sink", heads)


#: Prompts, texts with a past, single tokens of several texts; caches that are longer than what is used.
FORMS = {
    "prompt": Form([5, 5], 5),
    "prompt_padded": Form([5, 2, 4], 5),
    "prompt_into_a_long_cache": Form([5, 3], 5, past=13),
    "prompt_of_one": Form([1, 1], 1),
    "past": Form([9], 3, past=6),
    "past_of_a_long_cache": Form([9], 3, past=13),
    "past_as_long_as_all": Form([5], 3, past=9),
    "steps": Form([9, 4, 7], 1, past=8, heads=6),
    "steps_of_a_long_cache": Form([9, 4, 7], 1, past=16, heads=6, groups=3),
    "one_group": Form([9], 3, past=6, groups=1),
    "as_many_groups": Form([9], 3, past=6, groups=4, size=24),
    "longer_than_the_total": Form([7], 1, past=13, total=5),
    "packed": Form([5, 3], 5, packed=True),
    "packed_past": Form([9], 3, past=6, packed=True, groups=1),
    "window": Form([9], 9, local_window_size=3),
    "window_past": Form([12], 3, past=9, local_window_size=5),
    "window_steps": Form([9, 4, 7], 1, past=8, local_window_size=4),
    "no_window": Form([9], 9, local_window_size=-2),
    "cap": Form([9], 9, softcap=0.4),
    "negative_cap": Form([9], 9, softcap=-1.5),
    "scale": Form([9], 9, scale=0.9),
    "negative_scale": Form([9], 9, scale=-0.5),
    "scale_of_zero": Form([9], 9, scale=0.0),
    "bias": Form([5, 5], 5, bias=(2, 4, 5, 5)),
    "bias_of_all": Form([5, 3], 5, bias=(1, 1, 5, 5)),
    "bias_of_texts": Form([5, 3], 5, bias=(2, 1, 5, 5)),
    "bias_cap_window": Form([9], 3, past=6, bias=(1, 4, 3, 9), softcap=1.0, local_window_size=4),
    "smooth": Form([5], 5, smooth_softmax=1),
    "not_smooth": Form([5], 5, smooth_softmax=0),
    "sink": Form([5, 4], 5, sink=True),
    "sink_smooth": Form([5], 5, sink=True, smooth_softmax=1),
    "sink_cap_window": Form([9], 9, sink=True, softcap=2.0, local_window_size=4, groups=1),
    "not_causal": Form([5, 3], 5, causal=0),
    "not_causal_past": Form([9], 3, past=6, causal=0),
    "rotary": Form([5, 5], 5, size=16, rotated=8),
    "rotary_neighbors": Form([5, 2], 5, size=16, rotated=8, rotary_interleaved=1),
    "rotary_a_part": Form([5, 5], 5, size=48, rotated=8),
    "rotary_a_part_of_neighbors": Form([5, 5], 5, size=32, rotated=8, rotary_interleaved=1),
    "rotary_past": Form([9], 3, past=6, size=32, rotated=16),
    "rotary_steps": Form([9, 4, 7], 1, past=8, size=16, rotated=8),
    "rotary_packed": Form([5, 2, 4], 5, size=16, rotated=8, packed=True),
    "rotary_packed_past": Form([9], 3, past=13, size=16, rotated=8, packed=True, sink=True),
    "positions_of_steps": Form([9, 4, 7], 1, past=8, size=16, rotated=8, positions=[[2], [11], [0]]),
    "positions_of_a_prompt": Form([5, 5], 5, size=16, rotated=8, positions=[[3, 0, 9, 1, 1], [2, 8, 7, 6, 5]]),  # only the 3 is read
    "positions_with_a_past": Form([9], 3, past=6, size=16, rotated=8, positions=[[4, 2, 7]]),
    "positions_without_rotation": Form([9], 3, past=6, positions=[[4, 2, 7]]),
    "tables_without_rotation": Form([5, 5], 5, size=16, rotated=8, do_rotary=0),
}
HALVES = {name: form for name, form in FORMS.items() if name in ("prompt_padded", "past", "steps_of_a_long_cache", "packed_past", "window", "cap",
          "bias", "sink", "smooth", "rotary_neighbors", "rotary_packed")}  # fmt: skip


def without(form, *names):
    for name in names:
        del form.inputs[name]
    return form


def changed(form, name, sizes):
    form.inputs[name] = numpy.ones(sizes, form.inputs[name].dtype)
    return form


def cast(form, name):
    form.inputs[name] = form.inputs[name].astype("int64")
    return form


#: What ONNX Runtime's kernel refuses; each would read beside a buffer, divide by zero, or have no meaning.
REFUSED = {
    "heads of 6 elements": Form([5], 5, size=6),
    "heads of 8 elements rotated": Form([5], 5, size=8, rotated=8),
    "tables of 4 columns": Form([5], 5, size=16, rotated=4),
    "tables that are too wide": Form([5], 5, size=16, rotated=16),
    "tables that are too short": changed(changed(Form([9], 9, size=16, rotated=8), "cos", (8, 8)), "sin", (8, 8)),
    "two tables": changed(Form([5], 5, size=16, rotated=8), "cos", (40, 8)),
    "rotation without tables": Form([5], 5, size=16, do_rotary=1),
    "a position behind the tables": Form([9], 3, past=6, size=16, rotated=8, positions=[[4, 2, 15]]),
    "a negative position": Form([9], 3, past=6, size=16, rotated=8, positions=[[4, -1, 3]]),
    "too few positions": Form([9], 3, past=6, size=16, rotated=8, positions=[[4, 3]]),
    "heads that are no multiple": Form([5], 5, heads=4, groups=3),
    "no length": changed(Form([9, 8], 1, past=8), "seqlens_k", (1,)),
    "a length of zero": Form([5, 0], 5),
    "a negative length": Form([5, -3], 5),
    "a length behind the cache": Form([9, 400], 1, past=8, total=9),
    "a length before the new tokens": Form([2], 3, past=13, total=7),
    "a total without a cache": Form([9], 3, total=9),
    "a total behind the cache": Form([9], 3, past=6, total=10),
    "a total before the new tokens": Form([3], 5, total=3),
    "a huge total": Form([3], 3, total=2**31 - 1),
    "several texts with a past": Form([9, 9], 3, past=6),
    "a bias of other keys": Form([9], 3, past=6, bias=(1, 4, 3, 12)),
    "a bias of other heads": Form([9], 3, past=6, bias=(1, 2, 3, 9)),
    "other sinks": changed(Form([5], 5, sink=True), "head_sink", (3,)),
    "a window that is not causal": Form([5], 5, causal=0, local_window_size=2),
    "lengths of 64 bits": cast(Form([5], 5), "seqlens_k"),
    "a total of 64 bits": cast(Form([5], 5), "total"),
    "a matrix as a total": changed(Form([1], 1), "total", (1, 1)),
    "keys without values": without(Form([5], 5), "value"),
    "a cache of other heads": changed(changed(Form([9], 3, past=6), "past_key", (1, 3, 6, 8)), "past_value", (1, 3, 6, 8)),
    "keys of other texts": changed(changed(Form([5], 5), "key", (2, 5, 16)), "value", (2, 5, 16)),
    "no new tokens": Form([3], 0, past=3),
}


def model_of(forms):
    """A node for each form, with inputs of its own."""
    nodes, inputs, outputs, numbers = [], [], [], {}
    for name, form in forms.items():
        given = {each: f"{name}_{each}" if each in form.inputs else "" for each in NAMES}
        operands = list(given.values())
        while not operands[-1]:
            operands.pop()
        results = [f"{name}_{each}" for each in ("y", "present_key", "present_value")]
        nodes.append(helper.make_node("GroupQueryAttention", operands, results, name, domain="com.microsoft", **form.attributes))
        for each, array in form.inputs.items():
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            inputs.append(helper.make_tensor_value_info(given[each], kind, array.shape))
            numbers[given[each]] = array
        kind = helper.np_dtype_to_tensor_dtype(form.inputs["query"].dtype)
        outputs += [helper.make_tensor_value_info(each, kind, None) for each in results]
    graph = helper.make_graph(nodes, "forms", inputs, outputs)
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10), numbers


class GroupQueryAttention(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def verified(self, forms):
        model, numbers = model_of(forms)
        onnx.save(model, self.folder / "model.onnx")
        numpy.savez(self.folder / "inputs.npz", **numbers)
        command = [ATON, "verify", "model.onnx", "--runtime", "onnxruntime:disabled", "--runtime-library", LIBRARY, "--inputs", "inputs.npz"]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=120)

    def test_every_form(self):
        done = self.verified(FORMS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("the same on 1 sample", done.stdout)

    def test_halves(self):
        for form in HALVES.values():
            form.inputs = {name: each.astype("float16") if each.dtype == "float32" else each for name, each in form.inputs.items()}
        done = self.verified(HALVES)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_what_is_refused(self):
        for name, form in REFUSED.items():
            with self.subTest(name):
                model, numbers = model_of({"refused": form})
                with self.assertRaises(Exception):
                    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
                    session.run(None, numbers)
                done = self.verified({"refused": form})
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn("GroupQueryAttention", done.stderr)


if __name__ == "__main__":
    unittest.main()
