# SPDX-License-Identifier: MIT
"""Tests of the page of `aton view` for models that are hostile, large, deep or broken. Usage in page_case.py."""

import json
import os
import re
import sys
import time
import unittest

from onnx import TensorProto, helper
from page_case import PageCase, aton, model_of, nodes_of, read_page

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "a\"b'c",
    "\x01\x1f\x7f\n\t",
    "\u2028\u2029",
    "{{data}}",
    "\ud7ff\U0001f600",
    "__proto__",
    "&lt;b&gt;",
]


class HostilePage(PageCase):
    def test_hostile_names_stay_text(self):
        names = [name.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for name in HOSTILE]
        nodes, before = [], "x"
        for i, name in enumerate(names):
            value = f"{name}{i}"
            nodes.append(helper.make_node("Foo" + name, [before], [value], name=name, domain="d" + name, text=name, texts=[name, name]))
            before = value
        graph = helper.make_graph(
            nodes,
            names[0],
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [names[0], 2])],
            [helper.make_tensor_value_info(before, TensorProto.FLOAT, None)],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)] + [helper.make_opsetid("d" + n, 1) for n in names])
        path = self.folder / "<b>'\"&.onnx"
        path.write_bytes(model.SerializeToString())
        page, data = self.view(path)
        self.assertEqual(data["title"], path.name)
        self.assertIn(path.name, page.texts)
        (pane,) = data["panes"]
        self.assertEqual(len(pane["nodes"]), len(names))
        for node, name in zip(pane["nodes"], names):
            shown = data["strings"][node["op"]]
            self.assertEqual(shown, re.sub("[\x00-\x1f\x7f]", " ", f"d{name}::Foo{name}"))

    def test_bytes_that_are_not_utf8(self):
        graph = helper.make_graph(
            [helper.make_node("Relu", ["x"], ["QQQQ"])],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
            [helper.make_tensor_value_info("QQQQ", TensorProto.FLOAT, [1])],
        )
        path = self.save(graph)
        path.write_bytes(path.read_bytes().replace(b"QQQQ", b"Q\xff\xc0\x80"))
        run = aton("view", path, "-o", self.folder / "page.html")
        if run.returncode == 0:
            self.assertIn("Q\ufffd\ufffd\ufffd", json.dumps(model_of(read_page(self.folder / "page.html")), ensure_ascii=False))
        else:
            self.fails(run, 1)

    def test_many_nodes(self):
        count = 100_000
        nodes = [helper.make_node("Relu", [f"/a/{i // 100}/v{i}"], [f"/a/{(i + 1) // 100}/v{i + 1}"]) for i in range(count)]
        graph = helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info("/a/0/v0", TensorProto.FLOAT, [1])],
            [helper.make_tensor_value_info(f"/a/{count // 100}/v{count}", TensorProto.FLOAT, [1])],
        )
        path = self.save(graph)
        start = time.monotonic()
        _, data = self.view(path)
        self.assertLess(time.monotonic() - start, 20)
        self.assertEqual(len(data["panes"][0]["nodes"]), count)
        self.assertEqual(data["strings"][data["panes"][0]["nodes"][250]["module"]], "/a/2")
        self.assertLess((self.folder / "page.html").stat().st_size, 300 * count)

    def test_deep_modules_and_graphs(self):
        deep = "/".join(["", *(["m"] * 20_000), "v"])
        inner = helper.make_graph(
            [helper.make_node("Relu", ["x"], ["r"])], "leaf", [], [helper.make_tensor_value_info("r", TensorProto.FLOAT, [1])]
        )
        for i in range(25):
            node = helper.make_node(
                "If",
                ["c"],
                [f"y{i}"],
                then_branch=inner,
                else_branch=(
                    inner
                    if i == 24
                    else helper.make_graph(
                        [helper.make_node("Abs", ["x"], [f"a{i}"])],
                        f"else{i}",
                        [],
                        [helper.make_tensor_value_info(f"a{i}", TensorProto.FLOAT, [1])],
                    )
                ),
            )
            inner = helper.make_graph([node], f"g{i}", [], [helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, [1])])
        graph = helper.make_graph(
            [*inner.node, helper.make_node("Neg", ["y24"], [deep])],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1]), helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
            [helper.make_tensor_value_info(deep, TensorProto.FLOAT, [1])],
        )
        path = self.save(graph)
        _, data = self.view(path)
        (pane,) = data["panes"]
        self.assertEqual(len(pane["nodes"]), len(list(nodes_of(graph))))
        owners = [g["owner"] for g in pane["graphs"]]
        self.assertEqual(owners.count(-1), 1)
        for node in pane["nodes"]:  # x is captured through every graph
            if data["strings"][node["op"]] in ("Abs", "Relu"):
                self.assertEqual([pane["values"][v][0] for v in node["inputs"]], ["x"])
        self.assertLess(max(map(len, data["strings"])), 1000)

    def test_what_is_refused(self):
        good = self.folder / "good.html"
        good.write_text("before")
        self.fails(aton("view", self.folder / "none.onnx", "-o", good), 1, "none.onnx")
        broken = self.folder / "broken.onnx"
        broken.write_bytes(b"PK\x03\x04 no archive")
        self.fails(aton("view", broken, "-o", good), 1, "broken.onnx")
        broken.write_bytes(os.urandom(5000))
        self.fails(aton("view", broken, "-o", good), 1, "broken.onnx")
        self.assertEqual(good.read_text(), "before")
        path = self.save(helper.make_graph([], "g", [], []))
        self.fails(aton("view", path, "--opset", "17", "-o", good), 1, "is an ONNX file")
        self.fails(aton("view", path, "-o", path), 1, "is also the input")
        self.fails(aton("view", path, "-o", self.folder / "no" / "page.html"), 1, "page.html")
        self.fails(aton("view"), 2, "MODEL")
        self.fails(aton("view", path, "--dim", "x"), 1, "--dim")
        self.assertEqual(good.read_text(), "before")
        self.assertEqual(
            sorted(p.name for p in self.folder.glob("*.html*")), sorted({"good.html", *(p.name for p in self.folder.glob("page.html"))})
        )


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
