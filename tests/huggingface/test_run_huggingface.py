#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the runner without torch: states of results, the choice of components, what --check objects to, and the sizes of fields."""

import argparse
import json
import pathlib
import sys
import tempfile
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import run_huggingface
import tiny_configs

FOUND = [("bert", "base", "BertModel"), ("bert", "decode", "BertLMHeadModel"), ("vit", "base", "ViTModel"), ("swin", "base", "SwinModel")]


def options(**changed):
    return argparse.Namespace(**{"shard": "1/1", "types": None, "only": None} | changed)


class Runner(unittest.TestCase):
    def test_states(self):
        reasons = {
            "aton export exited with 1: aton: aten::foo (no mapping)": "refused",
            "aton export exited with -11: no message": "wrong",
            "error 0.5, allowed 0.0001": "wrong",
            "onnx.checker: no such operator": "invalid",
            "ONNX Runtime does not load it: no such type": "invalid",
            "ONNX Runtime does not run it: bad shape": "wrong",
        }
        for reason, state in reasons.items():
            self.assertEqual(run_huggingface.state_of({"status": "fail", "reason": reason}), state, reason)
        self.assertEqual(run_huggingface.state_of({"status": "needs", "opset": 21}), "refused")
        self.assertEqual(run_huggingface.state_of({"status": "pass", "error": 1e-7}), "right")

    def test_selection(self):
        select = run_huggingface.select
        self.assertEqual(select(FOUND, options()), FOUND)
        self.assertEqual(select(FOUND, options(types="bert")), FOUND[:2])
        self.assertEqual(select(FOUND, options(only="base")), [FOUND[0], *FOUND[2:]])
        parts = [select(FOUND, options(shard=f"{n}/2")) for n in (1, 2)]
        self.assertEqual(parts, [[*FOUND[:2], FOUND[3]], [FOUND[2]]])

    def test_a_later_opset_counts_where_an_earlier_one_is_too_old(self):
        results = {20: {"status": "needs", "opset": 23}, 23: {"status": "pass", "error": 1e-6, "nodes": 3}, 26: {"status": "pass", "error": 1e-5, "nodes": 2}}
        check = lambda found: run_huggingface.at_opsets(pathlib.Path(), 1e-4, argparse.Namespace(aton="", opsets=list(found)))
        before = run_huggingface.checking.check_opset
        run_huggingface.checking.check_opset = lambda aton, folder, kind, opset, tolerance: results[opset]
        try:
            self.assertEqual(check([20, 23, 26]), {"state": "right", "error": 1e-5, "nodes": 2})
            self.assertEqual(check([20]), {"state": "refused", "at": 20})
            results[26] = {"status": "fail", "reason": "ONNX Runtime does not load it: implementation for RandomNormalLike(22)", "nodes": 2}
            self.assertEqual(check([20, 23, 26])["state"], "right")
            self.assertEqual(check([26])["state"], "invalid")
            results[26] = {"status": "fail", "reason": "error 0.5, allowed 0.0001", "nodes": 2}
            self.assertEqual(check([20, 23, 26]), {"state": "wrong", "at": 26, "reason": "error 0.5, allowed 0.0001", "nodes": 2})
        finally:
            run_huggingface.checking.check_opset = before

    def test_what_is_recorded_is_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "results"
            self.assertEqual(run_huggingface.recorded(path), {})
            path.write_text("".join(json.dumps({"name": n}) + "\n" for n in ("a.base", "b.base")))
            self.assertEqual(list(run_huggingface.recorded(path)), ["a.base", "b.base"])

    def test_objections(self):
        results = [{"name": f"x.{state}", "state": state} for state in run_huggingface.STATES]
        said = [line.split(":")[0] for line in run_huggingface.problems_of(results, options())]
        self.assertEqual(said, ["x.refused", "x.wrong", "x.invalid"])
        said = [line.split(":")[0] for line in run_huggingface.problems_of(results, options(types="x"))]
        self.assertEqual(said, ["x.refused", "x.wrong", "x.invalid", "x.uncaptured", "x.unbuilt"])


class Sizes(unittest.TestCase):
    def small(self, name, value, **config):
        return tiny_configs.smaller(name, value, types.SimpleNamespace(**config))

    def test_known_sizes(self):
        wanted = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "decoder_layers": 2, "intermediate_size": 48,
                  "num_key_value_heads": 2, "encoder_attention_heads": 4, "head_dim": 8, "max_position_embeddings": 64, "num_experts": 4}
        for name, value in wanted.items():
            self.assertEqual(self.small(name, 30522), value, name)
        for name, value in {"patch_size": 16, "hidden_act": "gelu", "use_cache": True, "hidden_size": 24, "num_channels": 3}.items():
            self.assertIsNone(self.small(name, value), name)

    def test_lists_keep_their_proportions(self):
        self.assertEqual(self.small("hidden_sizes", [64, 128, 320, 512]), [8, 16, 40, 64])
        self.assertEqual(self.small("depths", (2, 2, 6, 2)), [1, 1, 1, 1])

    def test_images_hold_whole_patches(self):
        for patch in (4, 8, 14, 16, 32):
            self.assertEqual(self.small("image_size", 224, patch_size=patch) % patch, 0)
        self.assertEqual(self.small("image_size", (224, 224), patch_size=16), [32, 32])


if __name__ == "__main__":
    unittest.main()
