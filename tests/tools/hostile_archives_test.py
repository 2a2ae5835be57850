# SPDX-License-Identifier: MIT
"""Broken, inconsistent and malicious archives: `aton export` must refuse each in one line, with exit status 1, and leave no file behind.

usage: hostile_archives_test.py ATON SAMPLE.pt2

SAMPLE.pt2 is a valid archive with weights. Each case changes one thing in it. Every run must end within 5 seconds and 512 MiB.
"""

import copy
import json
import os
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile
from pathlib import Path

sys.setrecursionlimit(20_000)
ATON, SAMPLE = (str(Path(each).resolve()) for each in sys.argv[1:3])
MOST_SECONDS, MOST_KIB = 5, 512 * 1024


def read_members(path):
    with zipfile.ZipFile(path) as archive:
        return [(info.filename, archive.read(info)) for info in archive.infolist()]


MEMBERS = read_members(SAMPLE)
ROOT = MEMBERS[0][0].split("/")[0]
PROGRAM = f"{ROOT}/models/model.json"
WEIGHTS = f"{ROOT}/data/weights/model_weights_config.json"
CONSTANTS = f"{ROOT}/data/constants/model_constants_config.json"


class Entry:
    """One member as described by the directory; every number may be wrong."""

    def __init__(self, name, data):
        self.name, self.data = name if isinstance(name, bytes) else name.encode(), data
        self.local_name = None
        self.method, self.flags, self.crc = 0, 0x800, None
        self.size = self.stored = len(data)
        self.offset = None
        self.extra = b""


def write_archive(path, entries, *, count=None, directory_shift=0, tail=b"", directory_size=None, disk=0, cut=None,
                  zip64=None):
    body = bytearray()
    directory = bytearray()
    for e in entries:
        name = e.local_name or e.name
        start = len(body)
        pad = -(start + 30 + len(name) + 4) % 64
        extra = struct.pack("<HH", 0x4246, pad) + b"Z" * pad
        body += struct.pack("<IHHHHHIIIHH", 0x04034b50, 20, e.flags, e.method, 0, 0, 0, len(e.data), len(e.data), len(name),
                            len(extra)) + name + extra + e.data
        crc = e.crc if e.crc is not None else zipfile.crc32(e.data)
        directory += struct.pack("<IHHHHHHIIIHHHHHII", 0x02014b50, 20, 20, e.flags, e.method, 0, 0, crc, e.stored & 0xffffffff,
                                 e.size & 0xffffffff, len(e.name), len(e.extra), 0, disk, 0, 0,
                                 (start if e.offset is None else e.offset) & 0xffffffff) + e.name + e.extra
    at = len(body)
    body += directory
    total = len(entries) if count is None else count
    length = len(directory) if directory_size is None else directory_size
    if zip64 is not None:
        where = len(body)
        body += struct.pack("<IQHHIIQQQQ", 0x06064b50, 44, 45, 45, 0, 0, *zip64(total, length, at))
        body += struct.pack("<IIQI", 0x07064b50, 0, where, 1)
        total, length, at = 0xffff, 0xffffffff, 0xffffffff
    body += struct.pack("<IHHHHIIH", 0x06054b50, disk, disk, total & 0xffff, total & 0xffff, length & 0xffffffff,
                        (at + directory_shift) & 0xffffffff, len(tail)) + tail
    Path(path).write_bytes(bytes(body)[:cut])


def entries(replace=None, drop=(), rename=None):
    """The sample's members, some of them changed, missing, or renamed."""
    replace, rename = replace or {}, rename or {}
    return [Entry(rename.get(name, name), replace.get(name, data)) for name, data in MEMBERS if name not in drop]


def document(name=PROGRAM):
    return json.loads(dict(MEMBERS)[name])


def with_program(change):
    """The archive with its program changed by `change`."""
    value = document()
    other = change(value)
    return lambda path: write_archive(path, entries({PROGRAM: json.dumps(value if other is None else other).encode()}))


def with_config(change):
    value = document(WEIGHTS)
    change(value["config"])
    return lambda path: write_archive(path, entries({WEIGHTS: json.dumps(value).encode()}))


def with_unused(config, meta=None, **changes):
    """The archive with one more tensor, which the program does not use: like the first weight, except for `changes` of it and its TensorMeta."""
    value, entry = document(config), copy.deepcopy(first_config(document(WEIGHTS)["config"]))
    entry["tensor_meta"].update(meta or {})
    value["config"]["unused"] = {**entry, **changes}
    return lambda path: write_archive(path, entries({config: json.dumps(value).encode()}))


def with_member(name, data):
    return lambda path: write_archive(path, entries({name: data}))


def with_entry(change, name=PROGRAM, **options):
    def write(path):
        all_entries = entries()
        change(next(e for e in all_entries if e.name == name.encode()), all_entries)
        write_archive(path, all_entries, **options)
    return write


def archive(*arguments, **options):
    return lambda path: write_archive(path, entries(*arguments), **options)


def graph(program):
    return program["graph_module"]["graph"]


def first_config(config):
    return config[next(iter(config))]


def first_meta(config):
    return first_config(config)["tensor_meta"]


def set_item(container, key, value):
    container[key] = value


def containers():
    whole = Path(SAMPLE).read_bytes()
    big = 1 << 62

    def set_zip64(size=None, offset=None):
        def change(e, _):
            e.extra = struct.pack("<HH", 1, 8 * sum(x is not None for x in (size, offset)))
            if size is not None:
                e.size = 0xffffffff
                e.extra += struct.pack("<Q", size)
            if offset is not None:
                e.offset = 0xffffffff
                e.extra += struct.pack("<Q", offset)
        return change

    def attribute(**values):
        return lambda e, _: [setattr(e, key, value) for key, value in values.items()]

    weight = next(name for name, data in MEMBERS if "/weights/weight_" in name and data)
    yield "empty", lambda path: path.write_bytes(b"")
    yield "one_byte", lambda path: path.write_bytes(b"P")
    yield "text", lambda path: path.write_bytes(b"hello, world\n" * 100)
    yield "folder", lambda path: path.mkdir()
    yield "missing", lambda path: None
    yield "zeros", lambda path: path.write_bytes(bytes(100_000))
    yield "huge_sparse_file", lambda path: (path.touch(), os.truncate(path, 1 << 40))
    yield "only_an_end", lambda path: path.write_bytes(whole[-22:])
    yield "no_members", lambda path: write_archive(path, [])
    for part in (1, 2, 3, 5, 8, 13, 50, 99):
        yield f"cut_at_{part}_percent", lambda path, part=part: path.write_bytes(whole[:len(whole) * part // 100])
    yield "cut_one_byte", lambda path: path.write_bytes(whole[:-1])
    yield "start_cut_off", lambda path: path.write_bytes(whole[100:])
    yield "fewer_members_than_said", archive(count=len(MEMBERS) + 5)
    yield "more_members_than_said", archive(count=1)
    yield "count_beyond_all", archive(count=0xfffe)
    yield "directory_elsewhere", archive(directory_shift=-40)
    yield "directory_beyond_the_end", archive(directory_shift=1 << 30)
    yield "directory_size_lies", archive(directory_size=10)
    yield "another_disk", archive(disk=3)
    yield "member_beyond_the_end", with_entry(attribute(offset=1 << 30))
    yield "member_inside_the_directory", with_entry(attribute(offset=len(whole) - 200))
    yield "size_beyond_the_end", with_entry(attribute(size=1 << 30, stored=1 << 30), weight)
    yield "sizes_differ", with_entry(attribute(size=10))
    yield "members_overlap", with_entry(lambda e, every: setattr(e, "offset", 0))
    yield "compressed_program", with_entry(attribute(method=8))
    yield "compressed_weight", with_entry(attribute(method=8), weight)
    yield "encrypted", with_entry(attribute(flags=0x801))
    yield "local_name_differs", with_entry(attribute(local_name=PROGRAM.replace("model.json", "MODEL.json").encode()))
    yield "zip64_size_lies", with_entry(set_zip64(size=big))
    yield "zip64_offset_lies", with_entry(set_zip64(offset=big))
    yield "zip64_field_missing", with_entry(attribute(size=0xffffffff))
    yield "zip64_directory_beyond", archive(zip64=lambda n, size, at: (n, n, size, big))
    yield "zip64_count_lies", archive(zip64=lambda n, size, at: (big, big, size, at))
    yield "zip64_size_overflows", archive(zip64=lambda n, size, at: (n, n, (1 << 64) - 1, at))
    yield "name_goes_up", archive(None, (), {weight: f"{ROOT}/../../etc/passwd"})
    yield "name_is_absolute", archive(None, (), {weight: "/etc/passwd"})
    yield "name_has_nul", archive(None, (), {weight: f"{ROOT}/data/weights/weight\0_0"})
    yield "name_is_empty", with_entry(attribute(name=b""), weight)
    yield "name_twice", lambda path: write_archive(path, entries() + [Entry(PROGRAM, b"{}")])
    yield "two_roots", archive(None, (), {weight: "other/data/weights/weight_0"})
    yield "no_program", archive(None, (PROGRAM,))
    yield "no_weights_config", archive(None, (WEIGHTS,))
    yield "no_weight", archive(None, (weight,))
    yield "no_archive_format", archive(None, (f"{ROOT}/archive_format",))
    yield "other_archive_format", archive({f"{ROOT}/archive_format": b"zip"})
    yield "future_archive_version", archive({f"{ROOT}/archive_version": b"7"})
    yield "big_endian", archive({f"{ROOT}/byteorder": b"big"})
    yield "weight_too_short", archive({weight: dict(MEMBERS)[weight][:3]})
    yield "weight_is_empty", archive({weight: b""})
    yield "checkpoint", lambda path: write_archive(path, [Entry("m/data.pkl", b"\x80\x02}."), Entry("m/version", b"3")])
    yield "torchscript", lambda path: write_archive(
        path, [Entry("m/data.pkl", b"\x80\x02}."), Entry("m/constants.pkl", b""), Entry("m/code/__torch__.py", b"")])
    yield "aotinductor", lambda path: write_archive(
        path, [Entry("m/archive_format", b"pt2"), Entry("m/data/aotinductor/model/x.wrapper.so", b"\x7fELF")])
    yield "executorch", lambda path: path.write_bytes(b"\x20\0\0\0ET12" + bytes(200))
    for version in (b"99.1", b"x", b"", b"-8.2"):
        yield f"old_container_version_{version.decode() or 'empty'}", lambda path, version=version: write_archive(
            path, [Entry("version", version), Entry("serialized_exported_program.json", b"{}"),
                   Entry("serialized_state_dict.pt", b""), Entry("serialized_constants.pt", b"")])
    for name, data in {"global": b"\x80\x02cos\nsystem\nX\x02\0\0\0ls\x85R.", "endless": b"\x80\x02" + b"(" * 200_000,
                       "deep": b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b".", "cut": b"\x80\x02}X\xff\xff\xff\x7f"}.items():
        def write(path, data=data):
            with tempfile.TemporaryDirectory() as folder:
                inner = Path(folder, "inner")
                write_archive(inner, [Entry("archive/data.pkl", data), Entry("archive/version", b"3")])
                nested = inner.read_bytes()
            write_archive(path, [Entry("version", b"8.2"), Entry("serialized_exported_program.json", dict(MEMBERS)[PROGRAM]),
                                 Entry("serialized_state_dict.pt", nested), Entry("serialized_constants.pt", nested)])
        yield f"pickle_{name}", write


def configs():
    yield "config_not_json", with_member(WEIGHTS, b"{")
    yield "config_wrong_type", with_member(WEIGHTS, b"[1, 2]")
    yield "config_path_goes_up", with_config(lambda c: set_item(first_config(c), "path_name", "../../models/model.json"))
    yield "config_path_missing", with_config(lambda c: set_item(first_config(c), "path_name", "weight_99"))
    for name, data in (("text", b"garbage"), ("empty", b""), ("list", b"[]"), ("number", b'{"config": 3}'), ("entry", b'{"config": {"c": 3}}')):
        yield f"unused_constants_{name}", with_member(CONSTANTS, data)
    yield "unused_constant_without_record", with_unused(CONSTANTS, path_name="gone")
    yield "unused_weight_beyond_its_record", with_unused(WEIGHTS, {"storage_offset": {"as_int": 1000}})
    yield "config_pickle", with_config(lambda c: set_item(first_config(c), "use_pickle", True))
    yield "numel_overflows", with_config(
        lambda c: set_item(first_meta(c), "sizes", [{"as_int": 1 << 40}, {"as_int": 1 << 40}]))
    yield "numel_is_huge", with_config(lambda c: set_item(first_meta(c), "sizes", [{"as_int": 1 << 33}, {"as_int": 7}]))
    yield "size_is_negative", with_config(lambda c: set_item(first_meta(c), "sizes", [{"as_int": -3}, {"as_int": 4}]))
    yield "stride_out_of_range", with_config(
        lambda c: set_item(first_meta(c), "strides", [{"as_int": 1 << 50}, {"as_int": 1}]))
    yield "stride_is_negative", with_config(lambda c: set_item(first_meta(c), "strides", [{"as_int": -1}, {"as_int": 1}]))
    yield "stride_missing", with_config(lambda c: set_item(first_meta(c), "strides", [{"as_int": 1}]))
    yield "offset_out_of_range", with_config(lambda c: set_item(first_meta(c), "storage_offset", {"as_int": 1 << 60}))
    yield "offset_is_negative", with_config(lambda c: set_item(first_meta(c), "storage_offset", {"as_int": -1}))
    yield "dtype_unknown", with_config(lambda c: set_item(first_meta(c), "dtype", 77))
    yield "dtype_is_text", with_config(lambda c: set_item(first_meta(c), "dtype", "float"))
    yield "layout_sparse", with_config(lambda c: set_item(first_meta(c), "layout", 2))
    yield "weight_not_listed", with_config(lambda c: c.pop(next(iter(c))))


def programs():
    def node(program, index=0):
        return graph(program)["nodes"][index]

    def deep(_):
        value = {"as_none": True}
        for _ in range(900):
            value = {"as_graph": {"name": "g", "graph": {"nodes": [{"inputs": [{"arg": value}]}]}}}
        return value

    yield "json_empty", with_member(PROGRAM, b"")
    yield "json_cut", with_member(PROGRAM, dict(MEMBERS)[PROGRAM][:1000])
    yield "json_array", with_member(PROGRAM, b"[]")
    yield "json_null", with_member(PROGRAM, b"null")
    yield "json_not_utf8", with_member(PROGRAM, dict(MEMBERS)[PROGRAM].replace(b"torch.ops.aten", b"torch.ops.\xff\xfen", 1))
    yield "json_nested_brackets", with_member(PROGRAM, b"[" * 1_000_000)
    yield "json_nested_graphs", with_program(lambda p: set_item(node(p)["inputs"][0], "arg", deep(p)))
    yield "json_twice", with_member(PROGRAM, dict(MEMBERS)[PROGRAM] * 2)
    yield "schema_major_9", with_program(lambda p: set_item(p["schema_version"], "major", 9))
    yield "schema_missing", with_program(lambda p: p.pop("schema_version") and None)
    for key in ("graph_module", "range_constraints"):
        yield f"wrong_type_{key}", with_program(lambda p, key=key: set_item(p, key, 3))
    for key in ("inputs", "outputs", "nodes", "tensor_values"):
        yield f"wrong_type_graph_{key}", with_program(lambda p, key=key: set_item(graph(p), key, "x"))
        yield f"no_graph_{key}", with_program(lambda p, key=key: graph(p).pop(key) and None)
    yield "signature_short", with_program(lambda p: p["graph_module"]["signature"]["input_specs"].pop() and None)
    yield "signature_wrong", with_program(lambda p: set_item(p["graph_module"]["signature"]["input_specs"], 0, {"nothing": {}}))
    yield "dangling_input", with_program(
        lambda p: set_item(node(p)["inputs"][0], "arg", {"as_tensor": {"name": "nobody"}}))
    yield "dangling_output", with_program(lambda p: set_item(graph(p)["outputs"], 0, {"as_tensor": {"name": "nobody"}}))
    yield "used_before_made", with_program(lambda p: graph(p)["nodes"].reverse())
    yield "result_twice", with_program(lambda p: graph(p)["nodes"].append(copy.deepcopy(node(p))))
    yield "input_twice", with_program(lambda p: graph(p)["inputs"].append(graph(p)["inputs"][0]))
    yield "target_not_text", with_program(lambda p: set_item(node(p), "target", 5))
    yield "target_unknown", with_program(lambda p: set_item(node(p), "target", "torch.ops.aten.no_such_thing.default"))
    yield "target_garbage", with_program(lambda p: set_item(node(p), "target", "..::.."))
    yield "argument_unknown", with_program(lambda p: set_item(node(p)["inputs"][0], "name", "nonsense"))
    yield "argument_two_tags", with_program(
        lambda p: set_item(node(p)["inputs"][0], "arg", {"as_int": 1, "as_float": 2.0}))
    yield "argument_unknown_tag", with_program(lambda p: set_item(node(p)["inputs"][0], "arg", {"as_wish": 1}))
    yield "argument_wrong_kind", with_program(lambda p: set_item(node(p)["inputs"][0], "arg", {"as_string": "x"}))
    yield "too_many_results", with_program(
        lambda p: node(p)["outputs"].extend({"as_tensor": {"name": f"more_{i}"}} for i in range(5)))
    yield "meta_dtype_unknown", with_program(
        lambda p: [set_item(meta, "dtype", 99) for meta in graph(p)["tensor_values"].values()] and None)
    yield "meta_size_wrong", with_program(
        lambda p: [set_item(meta, "sizes", [{"as_float": 1.5}]) for meta in graph(p)["tensor_values"].values()] and None)
    for name, text in {"open": "Add(Symbol('s0'", "deep": "Add(" * 5000 + "Integer(1)" + ")" * 5000, "empty": "",
                       "garbage": "%$&", "huge_number": "Integer(" + "9" * 400 + ")", "quote": "Symbol('s0)"}.items():
        yield f"expression_{name}", with_program(
            lambda p, text=text: [set_item(meta, "sizes", [{"as_expr": {"expr_str": text, "hint": None}}])
                                  for meta in graph(p)["tensor_values"].values()] and None)


def run_limited(command, folder):
    """Exit status, stderr, peak memory in KiB; killed at the time limit."""
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, cwd=folder)
        timer = threading.Timer(MOST_SECONDS, child.kill)
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        return child.returncode, errors.read().decode("utf-8", "replace"), usage.ru_maxrss


class HostileArchives(unittest.TestCase):
    def refused(self, path, output, *words):
        folder = path.parent
        before = sorted(folder.iterdir())
        status, message, memory = run_limited([ATON, "export", path.name, "-o", output], folder)
        self.assertEqual(status, 1, message)
        self.assertTrue(message.startswith("aton: "), message)
        self.assertEqual(message.count("\n"), 1, message)
        self.assertLess(len(message), 2000)
        self.assertLess(memory, MOST_KIB)
        self.assertEqual(sorted(folder.iterdir()), before, "something was left behind")
        for word in words:
            self.assertIn(word, message)
        return message

    def run_cases(self, cases):
        count = 0
        for name, write in cases:
            with self.subTest(case=name), tempfile.TemporaryDirectory() as folder:
                path = Path(folder, name + ".pt2")
                write(path)
                message = self.refused(path, "out.onnx")
                self.assertIn(name + ".pt2", message)
                count += 1
        return count

    def test_containers(self):
        self.assertGreaterEqual(self.run_cases(containers()), 60)

    def test_weight_configs(self):
        self.assertGreaterEqual(self.run_cases(configs()), 15)

    def test_programs(self):
        self.assertGreaterEqual(self.run_cases(programs()), 35)

    def test_the_sample_itself_and_the_writer_are_good(self):
        with tempfile.TemporaryDirectory() as folder:
            # What is not used may be of a kind that Aton does not read.
            unsupported = [with_unused(CONSTANTS, use_pickle=True, tensor_meta=None, path_name="custom_obj_0"),
                           with_unused(WEIGHTS, {"layout": 2}), with_unused(WEIGHTS, {"dtype": 77})]
            for write in (archive(), archive(zip64=lambda n, size, at: (n, n, size, at)), with_program(lambda p: None), *unsupported):
                path = Path(folder, "good.pt2")
                write(path)
                status, message, _ = run_limited([ATON, "export", path.name, "-o", "out.onnx"], folder)
                self.assertEqual((status, message), (0, ""))

    def test_output_that_cannot_be_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "good.pt2")
            path.write_bytes(Path(SAMPLE).read_bytes())
            Path(folder, "sub").mkdir()
            self.refused(path, "sub", "sub")
            self.refused(path, "nowhere/out.onnx", "nowhere/out.onnx")
            self.refused(path, "/dev/full", "/dev/full")
            self.refused(path, "good.pt2", "good.pt2")
            self.assertEqual(path.read_bytes(), Path(SAMPLE).read_bytes())

    def test_reference_mode_elsewhere(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "good.pt2")
            path.write_bytes(Path(SAMPLE).read_bytes())
            Path(folder, "sub").mkdir()
            status, message, _ = run_limited(
                [ATON, "export", "good.pt2", "-o", "sub/out.onnx", "--weights", "reference"], folder)
            self.assertEqual(status, 1)
            self.assertIn("must be in the folder of good.pt2", message)
            self.assertEqual(list(Path(folder, "sub").iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
