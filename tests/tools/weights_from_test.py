# SPDX-License-Identifier: MIT
"""Programs without numbers, and the files that give them: --weights-from, --weights-map, --weights-cast, and --weights reference with them.

usage: weights_from_test.py ATON FOLDER, with the files of make_samples.py in the folder
"""

import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy
import onnx
import onnxruntime
from safetensors.numpy import load_file

ATON = str(Path(sys.argv[1]).resolve())
FOLDER = Path(sys.argv[2]).resolve()
PROGRAM, CHECKPOINT = FOLDER / "graph_only.pt2", FOLDER / "checkpoint.pt"
CODES = {"float32": "F32", "float16": "F16", "float64": "F64", "int64": "I64", "uint16": "BF16"}  # uint16: the bits of bfloat16

random = numpy.random.default_rng(5)


def normal(*sizes):
    return random.standard_normal(sizes).astype(numpy.float32)


NUMBERS = {
    "embed_tokens.weight": normal(31, 18), "norm.weight": normal(18), "norm.bias": normal(18), "qkv_proj.weight": normal(27, 18),
    "qkv_proj.bias": normal(27), "experts.down_proj": normal(3, 18, 27), "lm_head.weight": normal(31, 18), "scale": normal(18)}
TIED = {name: array for name, array in NUMBERS.items() if name != "lm_head.weight"}
IDS = numpy.array([[0, 30, 3, 3, 7], [1, 2, 29, 8, 4]])


def expected(numbers):
    """What the program computes."""
    n = {name: array.astype(numpy.float64) for name, array in numbers.items()}
    x = n["lm_head.weight"][IDS]  # tied: torch.export uses one of the names
    x = (x - x.mean(-1, keepdims=True)) / numpy.sqrt(x.var(-1, keepdims=True) + 1e-5) * n["norm.weight"] + n["norm.bias"]
    wide = (x * n["scale"] + numpy.arange(18) / 4 - 1) @ n["qkv_proj.weight"].T + n["qkv_proj.bias"]
    return (wide @ n["experts.down_proj"].sum(0).T) @ n["lm_head.weight"].T


def bfloat16(array):
    """Rounded to nearest, ties to even, as bits."""
    bits = array.view(numpy.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(numpy.uint16)


def from_bfloat16(bits):
    return (bits.astype(numpy.uint32) << 16).view(numpy.float32)


def safetensors(arrays, padding=0):
    """The bytes of a file; `padding`: blanks after the header, beyond the usual alignment to 8."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, array in arrays.items():
        header[name] = {"dtype": CODES[str(array.dtype)], "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8 + padding)
    return struct.pack("<Q", len(text)) + text + data


class WeightsFrom(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        shutil.copy(PROGRAM, self.folder / "graph.pt2")

    def write(self, name, arrays, **options):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(arrays if isinstance(arrays, bytes) else safetensors(arrays, **options))
        return path

    def aton(self, *arguments):
        return subprocess.run([ATON, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True, timeout=60)

    def export(self, source, *options):
        return self.aton("export", "graph.pt2", "-o", "out.onnx", "--weights-from", source, *options)

    def refused(self, source, *parts, options=()):
        done = self.export(source, *options)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)
        self.assertLess(len(done.stderr), 1500)
        self.assertFalse((self.folder / "out.onnx").exists())
        return done.stderr

    def check(self, done, numbers, tolerance=1e-4):
        self.assertEqual(done.returncode, 0, done.stderr)
        path = str(self.folder / "out.onnx")
        onnx.checker.check_model(path)
        [got] = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"ids": IDS})
        numpy.testing.assert_allclose(got, expected(numbers), tolerance, tolerance)

    def test_a_graph_without_numbers_is_read(self):
        for command in (["print"], ["unconvertible"]):
            done = self.aton(*command, "graph.pt2")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("experts.down_proj", self.aton("print", "graph.pt2").stdout)
        self.assertEqual(self.aton("view", "graph.pt2", "-o", "page.html").returncode, 0)

    def test_export_without_a_source_of_numbers_is_refused(self):
        for mode in ("embed", "external", "reference"):
            done = self.aton("export", "graph.pt2", "--weights", mode)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))
            self.assertIn("has no numbers for 8 weights ('embed_tokens.weight'", done.stderr)
            self.assertIn("--weights-from FILE gives them", done.stderr)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["graph.pt2"])

    def test_absent_weights_are_told_apart(self):
        """All of them share one record of 0 bytes, which says nothing about which weights are tied."""
        self.write("w.safetensors", NUMBERS)
        for mode in ("embed", "external", "reference"):
            done = self.export("w.safetensors", "--weights", mode)
            self.assertEqual(done.stderr, "")
            self.check(done, NUMBERS)

    def test_a_state_dict_of_torch(self):
        self.check(self.export(CHECKPOINT), load_file(CHECKPOINT.with_suffix(".safetensors")))

    def test_shards(self):
        names = sorted(NUMBERS)
        self.write("a.safetensors", {name: NUMBERS[name] for name in names[:3]})
        self.write("b.safetensors", {name: NUMBERS[name] for name in names[3:]})
        index = {"metadata": {}, "weight_map": {name: "ab"[i >= 3] + ".safetensors" for i, name in enumerate(names)}}
        (self.folder / "model.safetensors.index.json").write_text(json.dumps(index))
        for source in ("model.safetensors.index.json", ".", self.folder):
            for mode in ("embed", "reference"):
                self.check(self.export(source, "--weights", mode), NUMBERS)
        locations = {entry.value for each in onnx.load(str(self.folder / "out.onnx"), load_external_data=False).graph.initializer
                     for entry in each.external_data if entry.key == "location"}
        self.assertEqual(locations, {"a.safetensors", "b.safetensors"})
        (self.folder / "out.onnx").unlink()
        index["weight_map"][names[0]] = "b.safetensors"
        (self.folder / "model.safetensors.index.json").write_text(json.dumps(index))
        self.refused(".", f"says that tensor '{names[0]}' is in 'b.safetensors', but it is not")
        for shard in ("../b.safetensors", "/etc/passwd", ".."):
            index["weight_map"][names[0]] = shard
            (self.folder / "model.safetensors.index.json").write_text(json.dumps(index))
            self.refused(".", "a shard must be in the folder of its index")
        (self.folder / "model.safetensors.index.json").unlink()
        self.refused(".", "has 2 files '*.safetensors' and no model.safetensors.index.json; name one of them: 'a.safetensors'")

    def test_prefixes_are_found(self):
        for prefix in ("model.", "model.text.", "a.b.c."):
            self.write("w.safetensors", {prefix + name: array for name, array in NUMBERS.items()})
            done = self.export("w.safetensors")
            self.assertEqual(done.stderr, "")
            self.check(done, NUMBERS)

    def test_tied_weights_that_a_file_leaves_out(self):
        self.write("w.safetensors", TIED)
        done = self.export("w.safetensors", "--weights", "external")
        self.check(done, {**TIED, "lm_head.weight": TIED["embed_tokens.weight"]})
        self.assertEqual(done.stderr, "aton: warning: graph.pt2: weight 'lm_head.weight' is not in w.safetensors, and has the numbers of "
                         "'embed_tokens.weight', to which models tie it\n")
        (self.folder / "config.json").write_text('{"text_config": {"tie_word_embeddings": true}}')
        self.assertEqual(self.export("w.safetensors").stderr, "")
        (self.folder / "config.json").write_text('{"tie_word_embeddings": false}')
        (self.folder / "out.onnx").unlink()
        self.refused("w.safetensors", "1 weight of the program has no numbers there: 'lm_head.weight'")
        os.unlink(self.folder / "config.json")
        self.check(self.export("w.safetensors", "--weights-map", "lm_head.weight=embed_tokens.weight", "--werror"),
                   {**TIED, "lm_head.weight": TIED["embed_tokens.weight"]})

    def test_rules_for_names(self):
        pieces = {name: array for name, array in NUMBERS.items() if "qkv" not in name and "experts" not in name}
        for i, name in enumerate("qkv"):
            pieces[f"{name}.weight"] = NUMBERS["qkv_proj.weight"][9 * i:9 * i + 9].copy()
            pieces[f"{name}.bias"] = NUMBERS["qkv_proj.bias"][9 * i:9 * i + 9].copy()
        for i in range(3):
            pieces[f"experts.{i}.down.w"] = NUMBERS["experts.down_proj"][i].copy()
        self.write("w.safetensors", pieces)
        rules = ["--weights-map", "qkv_proj.*=q.*+k.*+v.*", "--weights-map", "experts.down_proj=experts.#.down.w"]
        done = self.export("w.safetensors", *rules)
        self.assertEqual(done.stderr, "")
        self.check(done, NUMBERS)
        done = self.export("w.safetensors", *rules, "--weights", "reference", "--json")
        self.check(done, NUMBERS)
        self.assertEqual({each["name"]: each["reason"] for each in json.loads(done.stdout)["copied_weights"]},
                         {"qkv_proj.weight": "is made of 3 parts", "experts.down_proj": "is made of 3 parts"})
        (self.folder / "out.onnx").unlink()
        self.refused("w.safetensors", "3 weights of the program have no numbers there", options=rules[:0])
        for rule, reason in (("a*b*=c", "more than one '*'"), ("a=*", "NEW has a '*', but OLD has none"), ("a", "OLD=NEW"), ("=a", "OLD=NEW")):
            self.refused("w.safetensors", reason, options=["--weights-map", rule])

    def test_experts_are_merged_as_in_transformers(self):
        arrays = {"model." + name: array for name, array in NUMBERS.items() if "experts" not in name}
        for i in range(3):
            arrays[f"model.experts.{i}.down_proj.weight"] = NUMBERS["experts.down_proj"][i].copy()
        self.write("w.safetensors", arrays)
        self.check(self.export("w.safetensors"), NUMBERS)

    def test_dtypes(self):
        rounded = {name: bfloat16(array) for name, array in NUMBERS.items()}
        self.write("w.safetensors", rounded)
        self.refused("w.safetensors", "'embed_tokens.weight' is float32 in the program, but bfloat16 there; --weights-cast converts it")
        for mode in ("embed", "external", "reference"):
            done = self.export("w.safetensors", "--weights", mode, "--weights-cast")
            self.check(done, {name: from_bfloat16(bits) for name, bits in rounded.items()})
        self.assertIn("weight 'lm_head.weight' is copied: it is bfloat16 in its file, but float32 in the model", done.stdout)
        for made in ("float16", "float64"):
            arrays = {name: array.astype(made) for name, array in NUMBERS.items()}
            self.write("w.safetensors", arrays)
            self.check(self.export("w.safetensors", "--weights-cast"), arrays)
        (self.folder / "out.onnx").unlink()
        self.write("w.safetensors", {**NUMBERS, "scale": numpy.arange(18)})
        self.refused("w.safetensors", "'scale' is float32 in the program, but int64 there, which cannot be converted", options=["--weights-cast"])

    def test_names_and_sizes_that_do_not_fit(self):
        self.write("w.safetensors", {**NUMBERS, "norm.weight": normal(1, 18)})
        self.refused("w.safetensors", "'norm.weight' is float32[18] in the program, but float32[1, 18] there")
        self.write("w.safetensors", {"x": normal(3)})
        self.refused("w.safetensors", "8 weights of the program have no numbers there: 'embed_tokens.weight'", ", ...", "unused there: 'x'",
                     "--weights-map OLD=NEW says what a weight is called there")
        self.write("w.safetensors", {**NUMBERS, **{f"extra.{i}": normal(2) for i in range(3000)}})
        done = self.export("w.safetensors")
        self.assertIn("tensor 'extra.0' in w.safetensors belongs to no weight of the program (and 2999 more: ", done.stderr)
        self.assertLess(len(done.stderr), 1500)

    def test_reference_points_into_the_file(self):
        path = self.write("sub/w.safetensors", NUMBERS)
        done = self.export("sub/w.safetensors", "--weights", "reference", "--json")
        self.check(done, NUMBERS)
        self.assertEqual(json.loads(done.stdout)["copied_weights"], [])
        self.assertFalse((self.folder / "out.onnx.data").exists())
        data, seen = path.read_bytes(), 0
        for each in onnx.load(str(self.folder / "out.onnx"), load_external_data=False).graph.initializer:
            entries = {entry.key: entry.value for entry in each.external_data}
            if entries.get("location") == "sub/w.safetensors":
                offset, length = int(entries["offset"]), int(entries["length"])
                self.assertTrue(any(array.tobytes() == data[offset:offset + length] for array in NUMBERS.values()))
                seen += 1
        self.assertEqual(seen, 3)

    def test_reference_copies_what_is_not_aligned(self):
        self.write("w.safetensors", NUMBERS, padding=3)
        done = self.export("w.safetensors", "--weights", "reference")
        self.check(done, NUMBERS)
        self.assertIn("weight 'lm_head.weight' is copied: it starts at byte ", done.stdout)
        self.assertIn(" of its file, which is not a multiple of 4", done.stdout)

    def test_reference_refuses_files_that_readers_refuse(self):
        self.write("w.safetensors", NUMBERS)
        (self.folder / "link.safetensors").symlink_to("w.safetensors")
        self.refused("link.safetensors", "is a symbolic link, and ONNX's checker refuses weights in such a file; use --weights external",
                     options=["--weights", "reference"])
        self.check(self.export("link.safetensors", "--weights", "external"), NUMBERS)
        (self.folder / "out.onnx").unlink()
        with tempfile.TemporaryDirectory() as other:
            shutil.copy(self.folder / "w.safetensors", other)
            self.refused(f"{other}/w.safetensors", "must be in the folder of", options=["--weights", "reference"])

    def test_files_that_are_not_weights(self):
        self.write("w.safetensors", NUMBERS)
        good = (self.folder / "w.safetensors").read_bytes()

        def header(text, data=b"12345678"):
            return struct.pack("<Q", len(text)) + text.encode() + data
        one = '{"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}'
        for content, reason in (
                (b"\1", "is truncated"), (good[:200], "is truncated"), (struct.pack("<Q", 1 << 62) + b"{}", "is truncated"),
                (header("[]"), "object"), (header('{"a": 1}'), "object"), (header('{"a": '), "malformed"),
                (header('{"a": ' + one + ', "a": ' + one.replace("[2]", "[0]").replace("[0, 8]", "[8, 8]") + "}"), "duplicate"),
                (header('{"a": ' + one.replace("F32", "F64") + "}"), "has 8 bytes, but its dtype and shape need 16"),
                (header('{"a": ' + one.replace("[0, 8]", "[4, 12]") + "}"), "is not a range of the file's 8 bytes"),
                (header('{"a": ' + one.replace("[0, 8]", "[8, 0]") + "}"), "is not a range"),
                (header('{"a": ' + one.replace("[0, 8]", "[0, 4, 8]") + "}"), "more than 2"),
                (header('{"a": ' + one.replace("[2]", "[-2]") + "}"), "is negative"),
                (header('{"a": ' + one.replace("[2]", "[4294967296, 4294967296]") + "}"), "multiply to more than 2^63"),
                (header('{"a": ' + one + ', "b": ' + one.replace("[2]", "[1]").replace("[0, 8]", "[4, 8]") + "}"), "overlap"),
                (header('{"embed_tokens.weight": {"dtype": "F4", "shape": [16], "data_offsets": [0, 8]}}'), "has dtype 'F4'"),
                (b"GGUF" + good, "is a GGUF file"), (b"\x80\x02}q\0.", "before torch 1.6"),
                (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
                (PROGRAM.read_bytes(), "is a program of torch.export.save"), (b"", "is empty")):
            self.write("bad.safetensors", content)
            self.refused("bad.safetensors", "bad.safetensors", reason)
        self.refused("nothing.safetensors", "no such file")
        (self.folder / "empty").mkdir()
        self.refused("empty", "has no weights")
        self.write("w.json", b"{}")
        self.refused("w.json", "weight_map")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
