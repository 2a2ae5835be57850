# SPDX-License-Identifier: MIT
"""Broken and malicious TorchScript archives: `aton export` must refuse each in one line, with exit status 1, and leave no file behind.

usage: hostile_torchscript_test.py ATON

Needs no torch: the archives are written here, from code and pickles. Every run must end within 5 seconds and 512 MiB of addresses.
"""

import random
import resource
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

ATON = str(Path(sys.argv[1]).resolve())
MOST_SECONDS, MOST_BYTES = 5, 512 << 20

HEAD = '''class M(Module):
  __parameters__ = ["w", ]
  __buffers__ = []
  w : Tensor
  training : bool
'''
BODY = '''  def forward(self: __torch__.M,
    x: Tensor) -> Tensor:
'''
GOOD = HEAD + BODY + '''    w = self.w
    return torch.add(torch.mul(x, w), CONSTANTS.c0)
'''


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def number(n):
    return b"J" + struct.pack("<i", n)


def tensor(key="0", sizes=(3,), strides=(1,), offset=0, storage="FloatStorage", count=3):
    ints = lambda all_: b"(" + b"".join(number(n) for n in all_) + b"t"
    return (b"ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + b"ctorch\n" + storage.encode() + b"\n" + text(key) + text("cpu")
            + number(count) + b"tQ" + number(offset) + ints(sizes) + ints(strides) + b"\x89ccollections\nOrderedDict\n)RtR")


def module(*attributes, name="M"):
    return b"\x80\x02c__torch__\n" + name.encode() + b"\n)\x81}(" + b"".join(attributes) + b"ub."


MODULE = module(text("w"), tensor(), text("training"), b"\x89")
CONSTANTS = b"\x80\x02" + tensor() + b"\x85."


def members(code=GOOD, data=MODULE, constants=CONSTANTS, **others):
    out = {"m/data.pkl": data, "m/data/0": struct.pack("<3f", 1, 2, 3), "m/code/__torch__.py": code,
           "m/constants.pkl": constants, "m/constants/0": struct.pack("<3f", 4, 5, 6), "m/version": b"3\n", "m/byteorder": b"little"}
    out.update({"m/" + name.replace("__slash__", "/"): value for name, value in others.items()})
    return {name: value for name, value in out.items() if value is not None}


def write(path, all_members, deflate=True):
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in all_members.items():
            archive.writestr(name, value, zipfile.ZIP_DEFLATED if deflate and name.endswith(".py") else zipfile.ZIP_STORED)


def body(*lines):
    return members(HEAD + BODY + "".join("    " + line + "\n" for line in lines))


def codes():
    """Code that is malformed, endless, too large, or means nothing."""
    good = "return torch.mul(x, self.w)"
    yield "empty_code", members("")
    yield "no_class", members("x = 1\n")
    yield "other_class", members(GOOD.replace("class M", "class N"))
    yield "no_forward", members(HEAD + "  pass\n")
    yield "binary_code", members(bytes(range(256)) * 10)
    yield "open_string", body('y = "abc', good)
    yield "open_bracket", body("y = (1, ", good)
    yield "closing_bracket", body("y = 1)", good)
    yield "deep_brackets", body("y = " + "(" * 50_000 + "1" + ")" * 50_000, good)
    yield "deep_lists", body("y = " + "[" * 50_000 + "]" * 50_000, good)
    yield "deep_minus", body("y = " + "-" * 50_000 + "1", good)
    yield "deep_calls", body("y = " + "torch.neg(" * 20_000 + "x" + ")" * 20_000, good)
    yield "deep_attributes", body("y = x" + ".a" * 50_000, good)
    yield "deep_subscripts", body("y = x" + "[0]" * 50_000, good)
    yield "deep_blocks", members(HEAD + BODY + "".join("    " + "  " * i + "if True:\n" for i in range(5000)))
    yield "huge_integer", body("y = " + "9" * 400, good)
    yield "long_number", body("y = 1." + "0" * 100_000 + "e", good)
    yield "bad_indentation", members(HEAD + BODY + "      y = 1\n    return x\n")
    yield "tab", members(HEAD + BODY + "\ty = 1\n\treturn x\n")
    yield "unknown_escape", body('y = "\\q"', good)
    yield "unprintable_escape", members((HEAD + BODY + '    y = "').encode() + b"\\\xd3" + b'"\n    return x\n')
    yield "unprintable_reason", body('ops.prim.RaiseException("a\\n\\033[2J\\323b")', good)
    yield "lambda", body("y = lambda: 1", good)
    yield "augmented", body("y = 1", "y += 1", good)
    yield "endless_while", body("i = 0", "while True:", "  i = torch.add(i, 1)", good)
    yield "endless_empty_while", body("while True:", "  pass", good)
    yield "long_for", body("for i in range(9223372036854775807):", "  pass", good)
    yield "nested_for", body("for i in range(100000):", "  for j in range(100000):", "    k = j", good)
    yield "many_nodes", body("y = x", "for i in range(100000000):", "  y = torch.add(y, x)", "return y")
    yield "growing_list", body("y = [1]", "while True:", "  y = torch.add(y, y)", good)
    yield "growing_string", body('y = "ab"', "while True:", "  y = torch.add(y, y)", good)
    yield "multiplied_list", body("y = torch.mul([1, 2], 9223372036854775807)", good)
    yield "multiplied_tensor_list", body("y = torch.mul([x], 100000000)", "return torch.cat(y, 0)")
    yield "cyclic_list", body("y = [x]", "z = torch.append(y, y)", "return y")
    yield "cyclic_equal", body("y = [1]", "z = torch.append(y, y)", "w = torch.eq(y, y)", good)
    yield "recursion", members(HEAD + BODY + "    return (self).forward(x, )\n")
    yield "unknown_variable", body("return y")
    yield "unknown_attribute", body("return self.missing")
    yield "unknown_constant", body("return CONSTANTS.c7")
    yield "huge_constant", body("return CONSTANTS.c99999999999999999999999")
    yield "unknown_operator", body("return torch.no_such_operator(x)")
    yield "unknown_function", body("return __torch__.a.b.f(x, )")
    yield "unknown_namespace", body("return ops.mine.f(x)")
    yield "too_many_arguments", body("return torch.relu(x, x, x, x)")
    yield "wrong_kinds", body('return torch.add("a", x)')
    yield "uninitialized", body("y = uninitialized(Tensor)", "return torch.relu(y)")
    yield "overflow", body("y = torch.mul(9223372036854775807, 2)", good)
    yield "division", body("y = torch.floordiv(1, 0)", good)
    yield "bad_index", body("y = [1, 2]", "z = y[5]", good)
    yield "unpack", body("a, b, = (x, x, x)", good)
    yield "raise", body('ops.prim.RaiseException("no")', good)
    yield "kinds_in_branches", body("if bool(torch.sum(x)):", "  y = x", "else:", '  y = "a"', "return y")
    yield "list_in_branch", body("z = [x]", "if bool(torch.sum(x)):", "  y = torch.append(z, x)", "else:", "  pass", "return torch.cat(z)")
    yield "growing_rank", body("y = x", "while bool(torch.sum(y)):", "  y = torch.unsqueeze(y, 0)", "return y")
    yield "deep_branches", members(HEAD + BODY + "".join("    " + "  " * i + f"if bool(torch.sum(x)):\n" for i in range(60)) +
                                   "    " + "  " * 60 + "y = 1\n    return x\n")
    yield "many_branches", body("y = x", "for i in range(100000):", "  if bool(torch.sum(y)):", "    y = torch.neg(y)", "  else:", "    pass", "return y")
    yield "return_in_branch", body("if bool(torch.sum(x)):", "  return x", "else:", "  pass", good)
    yield "size_of_view", body("return torch.view(x, [7, 11])")
    yield "huge_zeros", body("return torch.add(torch.zeros([4611686018427387904, 4611686018427387904]), 1)")
    yield "as_strided", body("return torch.as_strided(x, [3], [1], 5)")
    yield "returns_nothing", body("return None")
    yield "returns_text", body('return "a"')
    yield "returns_module", body("return self")
    yield "growing_join", body('y = ["ab"]', "while True:", '  y = [torch.join("c", torch.add(y, y))]', good)
    yield "growing_replace", body('y = "aa"', "while True:", '  y = torch.replace(y, "a", "aa", -1)', good)
    yield "many_parts", body('y = "a,"', "for i in range(15):", "  y = torch.add(y, y)", "while True:", '  z = torch.split(y, ",", -1)', good)
    yield "empty_separator", body('y = torch.split("abc", "", -1)', good)
    yield "step_of_0", body("y = torch.slice([1, 2], 0, 2, 0)", good)
    yield "long_range", body("y = torch.__range_length(-9223372036854775807, 9223372036854775807, 1)", good)
    yield "range_of_0", body("y = torch.__range_length(0, 5, 0)", good)
    yield "flag_that_matters", body("n = self.training", "self.training = True", "if n:", "  return x", "else:", "  return torch.neg(x)")
    yield "new_of_no_class", body("y = __torch__.X.__new__(__torch__.X)", good)
    yield "growing_in_loop", body("y = x", "while bool(torch.sum(y)):", "  y = [y, y]", "return y")


def pickles():
    """Data that is truncated, malformed, or wants to run code."""
    yield "no_data", members(data=None)
    yield "empty_data", members(data=b"")
    for cut in (1, 20, 60, len(MODULE) // 2, len(MODULE) - 1):
        yield f"cut_data_{cut}", members(data=MODULE[:cut])
    yield "no_object", members(data=b"\x80\x02N.")
    yield "foreign_class", members(data=b"\x80\x02cposix\nsystem\n" + text("true") + b"\x85R.")
    yield "foreign_object", members(data=b"\x80\x02cos\nX\n)\x81}b.")
    yield "protocol_0", members(data=b"\x80\x00N.")
    yield "deep_tuple", members(data=b"\x80\x02" + b")" + b"\x85" * 2_000_000 + b".")
    yield "deep_attribute", members(data=module(text("w"), b")" + b"\x85" * 1_000_000, text("training"), b"\x89"))
    yield "many_marks", members(data=b"\x80\x02" + b"(" * 5_000_000 + b".")
    yield "text_bomb", members(data=b"\x80\x02" + text("a" * 1_000_000) + b"q\x00" + b"h\x00" * 200_000 + b".")
    yield "memo_out_of_order", members(data=b"\x80\x02Nq\x09.")
    yield "no_storage", members(data=module(text("w"), tensor(key="9")))
    yield "outside_storage", members(data=module(text("w"), tensor(sizes=(4,))))
    yield "negative_offset", members(data=module(text("w"), tensor(offset=-1)))
    yield "negative_size", members(data=module(text("w"), tensor(sizes=(-3,))))
    yield "expanded", members(data=module(text("w"), tensor(sizes=(2**31 - 1, 2**31 - 1), strides=(0, 0))))
    yield "unknown_storage", members(data=module(text("w"), tensor(storage="QInt8Storage")))
    yield "other_rank", members(data=module(text("w"), tensor(sizes=(3, 1))))
    yield "constants_not_a_tuple", members(constants=b"\x80\x02N.")
    yield "no_code", members(code=None)
    yield "big_endian", members(byteorder=b"big")
    for version in (b"", b"abc", b"-3", b"0", b"11", b"3 4", b"9" * 40, b"\x00\x01"):
        yield f"version_{version[:8].hex()}", members(version=version)


def sources():
    """Records of source lines that are damaged. The module is valid without them."""
    records = b"\x80\x02" + text("FORMAT_WITH_STRING_TABLE") + b"(" + text("def forward(self):\n") + text("net.py") + b"t("
    name = "code__slash____torch__.py.debug_pkl"
    yield "no_records", members(**{name: b""})
    yield "cut_records", members(**{name: records})
    yield "other_records", members(**{name: b"\x80\x02" + number(7) + b"."})
    yield "deep_records", members(**{name: b"\x80\x02" + b")" + b"\x85" * 1_000_000 + b"."})
    yield "index_outside", members(**{name: records + b"(" + number(0) + b"((](" + number(9) + number(-1) + b"e" + number(7) + number(-5) + b"t"
                                      + number(99) + number(99) + b"t" + number(0) + b"tt\x87."})
    one = b"(](" + number(0) * 20_000 + b"e" + number(1) + number(2**31 - 1) + b"t"
    yield "long_source", members(**{name: b"\x80\x02" + text("FORMAT_WITH_STRING_TABLE") + b"(" + text("a\n" * 5000) + text("net.py") + b"t("
                                    + b"".join(b"(" + number(i) + b"(" + one + number(i) + number(i) + b"t" + number(0) + b"t" for i in range(20)) + b"t\x87."})


def places(count, size, name="/home/me/net.py"):
    """Source ranges: `count` places in one text of `size` characters."""
    first = b"](" + number(0) + b"e" + number(1) + number(1) + b"\x87q\0"
    records = (number(i) + (first if i == 0 else b"h\0") + number(i) + number(i + 1) + b"\x87" + number(0) + b"\x87" for i in range(count))
    texts = b"](" + text("a\n" * (size // 2)) + text(name) + b"e"
    return b"\x80\x02" + text("FORMAT_WITH_STRING_TABLE") + texts + b"(" + b"".join(records) + b"t\x87."


def source_ranges():
    """A variable without a value, in code whose source ranges are slow to search, damaged, or not what they should be."""
    member = "code__slash____torch__.py.debug_pkl"
    wrong = HEAD + BODY + "    return y\n"
    good = places(200, 400)
    yield "sources", members(wrong, **{member: good})
    yield "slow_sources", members(wrong, **{member: places(100_000, 1_000_000)})
    yield "long_name_in_sources", members(wrong, **{member: places(200, 400, "/a" + "b" * 100_000)})
    yield "lines_in_sources", members(wrong, **{member: places(200, 400, "/a\nb\33[2J")})
    yield "sources_are_none", members(wrong, **{member: b"\x80\x02N."})
    for at in range(3, len(good), len(good) // 12):
        yield f"cut_sources_{at}", members(wrong, **{member: good[:at]})
        yield f"changed_sources_{at}", members(wrong, **{member: good[:at] + b"\xff" + good[at + 1:]})


def inflated():
    """Code of a few kilobytes that decompresses to more than the limit."""
    return members(GOOD + "#" + " " * (100 << 20))


def containers():
    """Damaged containers of valid members, as bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.pt"
        write(path, members())
        whole = path.read_bytes()
    for part in (0.1, 0.5, 0.9, 0.99):
        yield f"truncated_{part}", whole[: int(len(whole) * part)]
    start = whole.index(b"m/code/__torch__.py") + len(b"m/code/__torch__.py")
    for at in range(0, 60, 6):
        yield f"damaged_code_{at}", whole[: start + at] + b"\xff\xff\xff" + whole[start + at + 3:]


class HostileTorchScript(unittest.TestCase):
    def run_export(self, path, out):
        def limits():
            resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
            resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))

        process = subprocess.Popen([ATON, "export", str(path), "-o", str(out), "--input", "x:float32[2,3]"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limits)
        message = process.stderr.read().decode("ascii")  # and so printable everywhere
        process.stdout.read()
        process.wait()
        process.stdout.close()
        process.stderr.close()
        return process.returncode, message

    def check(self, name, path, may_pass=False):
        out = path.with_suffix(".onnx")
        status, message = self.run_export(path, out)
        self.assertNotIn("out of memory", message, name)
        self.assertNotIn("bad_alloc", message, name)
        if status == 0 and may_pass:
            out.unlink()
            return
        self.assertEqual(status, 1, f"{name}: {message}")
        self.assertEqual(message.count("\n"), 1, f"{name}: {message}")
        self.assertTrue(message.startswith("aton: "), f"{name}: {message}")
        self.assertFalse(out.exists(), name)

    def test_the_sample_is_valid(self):
        with tempfile.TemporaryDirectory() as folder:
            for deflate in (True, False):
                path = Path(folder) / "good.pt"
                write(path, members(), deflate)
                status, message = self.run_export(path, Path(folder) / "good.onnx")
                self.assertEqual(status, 0, message)

    def test_the_line_of_the_source(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "sources.pt"
            write(path, next(source_ranges())[1])
            status, message = self.run_export(path, Path(folder) / "sources.onnx")
            self.assertEqual(status, 1)
            self.assertRegex(message, r": net\.py:\d+ \(code/__torch__\.py:8\): the variable 'y' has no value\n$")

    def test_members(self):
        count = 0
        with tempfile.TemporaryDirectory() as folder:
            for name, all_members in [*codes(), *pickles(), *source_ranges(), ("inflated", inflated())]:
                path = Path(folder) / f"{name}.pt"
                write(path, all_members)
                with self.subTest(name):
                    self.check(name, path)
                count += 1
        self.assertGreaterEqual(count, 40)

    def test_sources(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, all_members in sources():
                path = Path(folder) / f"{name}.pt"
                write(path, all_members)
                out = path.with_suffix(".onnx")
                with self.subTest(name):
                    self.assertEqual(self.run_export(path, out), (0, ""))
                    out.unlink()
                # An error still names the line of the archive.
                write(path, {**all_members, "m/code/__torch__.py": GOOD.replace("self.w", "self.v")})
                with self.subTest(name):
                    self.check(name, path)

    def test_containers(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, whole in containers():
                path = Path(folder) / f"{name}.pt"
                path.write_bytes(whole)
                with self.subTest(name):
                    self.check(name, path, may_pass=True)

    def test_random_bytes(self):
        """Changed bytes of the code and the pickle: refused in one line, or still valid."""
        draw = random.Random(7)
        with tempfile.TemporaryDirectory() as folder:
            for i in range(60):
                code, data = bytearray(GOOD.encode()), bytearray(MODULE)
                target = code if i % 2 == 0 else data
                for _ in range(draw.randint(1, 4)):
                    target[draw.randrange(len(target))] = draw.randrange(256)
                path = Path(folder) / f"random_{i}.pt"
                write(path, members(bytes(code), bytes(data)))
                with self.subTest(i):
                    self.check(f"random {i}", path, may_pass=True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
