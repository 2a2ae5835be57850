# SPDX-License-Identifier: MIT
"""Tests of the page of `aton view` without a browser: what it has in it is compared with the files, read by ONNX's own reader and as torch's JSON.

usage: page_test.py ATON SAMPLES [--verify]

SAMPLES is a folder of .pt2 files. With --verify, aton-verify is in the folder of ATON.
"""

import collections
import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile
from pathlib import Path

import onnx
from onnx import TensorProto, helper

ATON, SAMPLES = sys.argv[1:3]
HAS_VERIFY = sys.argv[3:] == ["--verify"]
VOID = {"meta", "input", "br"}
HOSTILE = ["</script><script>alert(1)</script>", "<!--<script>", 'a"b\'c', "\x01\x1f\x7f\n\t", "\u2028\u2029", "{{data}}", "\ud7ff\U0001f600", "__proto__", "&lt;b&gt;"]


def aton(*arguments, **options):
    return subprocess.run([ATON, *map(str, arguments)], capture_output=True, text=True, check=False, **options)


class PageParser(html.parser.HTMLParser):
    """Collects scripts and attributes, and requires that every tag is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.scripts, self.attributes, self.texts = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, *each) for each in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append([dict(attrs), ""])

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            raise AssertionError(f"</{tag}> closes nothing")

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1][1] += data
        else:
            self.texts.append(data)


def read_page(path):
    parser = PageParser()
    parser.feed(Path(path).read_text(encoding="utf-8"))
    parser.close()
    if parser.open:
        raise AssertionError(f"not closed: {parser.open}")
    return parser


def model_of(page):
    data = [text for attributes, text in page.scripts if attributes.get("id") == "data"]
    if len(data) != 1 or len(page.scripts) != 3:
        raise AssertionError(f"{len(page.scripts)} scripts, {len(data)} of them data")
    return json.loads(data[0])


def nodes_of(graph):
    """All nodes of an ONNX graph and of the graphs in it."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in [attribute.g] * attribute.HasField("g") + list(attribute.graphs):
                yield from nodes_of(inner)


def weightless(graph):
    """The edges of the main graph as (operator, position) -> (operator, position) of the order of its nodes."""
    made = {name: i for i, node in enumerate(graph.node) for name in node.output if name}
    return sorted((made[name], i) for i, node in enumerate(graph.node) for name in set(node.input) if name in made)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.holder.name)

    @classmethod
    def tearDownClass(cls):
        cls.holder.cleanup()

    def view(self, *arguments, name="page.html"):
        output = self.folder / name
        run = aton("view", *arguments, "-o", output)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("\n", run.stdout.rstrip("\n"))
        page = read_page(output)
        return page, model_of(page)

    def fails(self, run, status, *words):
        self.assertEqual(run.returncode, status, run.stderr)
        self.assertRegex(run.stderr, r"^aton: .*\n$")
        for word in words:
            self.assertIn(word, run.stderr)

    def save(self, graph, name="model.onnx", functions=()):
        imports = [helper.make_opsetid("", 20)] + [helper.make_opsetid(f.domain, 1) for f in functions]
        path = self.folder / name
        onnx.save(helper.make_model(graph, opset_imports=imports, functions=list(functions)), path)
        return path

    def test_a_graph_is_what_onnx_reads(self):
        for name in ("sdpa", "lstm", "kv_cache", "multi_out"):
            path = self.folder / f"{name}.onnx"
            self.assertEqual(aton("export", Path(SAMPLES, name + ".pt2"), "-o", path).returncode, 0)
            _, data = self.view(path)
            (pane,) = data["panes"]
            model = onnx.load(path, load_external_data=False)
            text = data["strings"]
            wanted = collections.Counter(node.op_type for node in nodes_of(model.graph))
            self.assertEqual(collections.Counter(text[n["op"]] for n in pane["nodes"]), wanted, name)
            main = [n for n in pane["nodes"] if n["graph"] == 0]
            made = {v: i for i, n in enumerate(main) for v in n["results"]}
            edges = sorted((made[v], i) for i, n in enumerate(main) for v in set(n["inputs"]) if v in made)
            self.assertEqual(edges, weightless(model.graph), name)
            weights = {name for name, _, role in pane["values"] if role == 2}
            self.assertEqual(weights, {i.name for i in model.graph.initializer})
            self.assertEqual([pane["values"][v][0] for v in pane["graphs"][0]["inputs"]], [i.name for i in model.graph.input])
            self.assertEqual([name for name, _ in pane["graphs"][0]["outputs"]], [o.name for o in model.graph.output])
            for node, ours in zip(model.graph.node, main):
                shown = {text[name]: text[value] for name, value in ours.get("attributes", [])}
                for attribute in node.attribute:
                    if attribute.type == onnx.AttributeProto.INT:
                        self.assertEqual(shown[attribute.name], str(attribute.i))
                    if attribute.type == onnx.AttributeProto.INTS:
                        self.assertEqual(json.loads(shown[attribute.name]), list(attribute.ints))
                metadata = {entry.key: entry.value for entry in node.metadata_props}
                if metadata:
                    self.assertEqual([text[ours[key]] for key in ("overload", "source")], [metadata["source"], metadata["pkg.torch.onnx.stack_trace"]])

    def test_a_program_is_what_torch_saved(self):
        for name in ("sdpa", "arg_kinds", "conv_bn_channels_last", "tied"):
            path = Path(SAMPLES, name + ".pt2")
            _, data = self.view(path)
            program, graph = data["panes"]
            self.assertEqual((program["kind"], graph["kind"], data["failure"]), ("program", "graph", ""))
            with zipfile.ZipFile(path) as archive:
                member = next(m for m in archive.namelist() if re.search(r"models/[^/]+\.json$", m))
                saved = json.loads(archive.read(member))["graph_module"]["graph"]["nodes"]
            saved = [n for n in saved if n["target"] != "torch.ops.aten._assert_tensor_metadata.default"]  # removed before the conversion
            wanted = [(n["target"].replace("torch.ops.", "").replace("fill_.", "fill."), n["outputs"][0].get("as_tensor", {}).get("name")) for n in saved]

            def overload(op):
                return op.replace("::", ".") + (".default" if "." not in op else "")

            shown = [(overload(data["strings"][n["op"]]), program["values"][n["results"][0]][0]) for n in program["nodes"]]
            self.assertEqual(shown, wanted, name)
            self.assertEqual([data["strings"][n["source"]] != "" for n in program["nodes"]], [bool(n["metadata"].get("stack_trace")) for n in saved])
            # Each node of the graph was made from a node of the program, or for the graph as a whole.
            origins = {n["origin"] for n in graph["nodes"] if "origin" in n}
            self.assertTrue(origins and max(origins) < len(program["nodes"]))

    def test_corresponding_nodes(self):
        _, data = self.view(Path(SAMPLES, "sdpa.pt2"), "--no-optimize")
        program, graph = data["panes"]
        for node in graph["nodes"]:
            if "origin" not in node:
                continue
            origin = program["nodes"][node["origin"]]
            self.assertEqual(node["name"], origin["name"])
            self.assertEqual(data["strings"][node["overload"]], data["strings"][origin["op"]])
        self.assertEqual({n["origin"] for n in graph["nodes"] if "origin" in n}, set(range(len(program["nodes"]))))

    def test_nothing_comes_from_elsewhere(self):
        page, _ = self.view(Path(SAMPLES, "tied.pt2"))
        policy = next(value for tag, name, value in page.attributes if (tag, name) == ("meta", "content") and "default-src" in value)
        self.assertIn("default-src 'none'", policy)
        self.assertNotRegex(policy, r"https?:|\*|connect-src")
        for tag, name, value in page.attributes:
            self.assertNotIn(name, ("src", "href", "srcset", "action", "poster"), tag)
            self.assertNotRegex(value or "", r"https?://")
        for attributes, text in page.scripts:
            if attributes.get("id") != "data":
                self.assertNotRegex(text, r"https?://|\bfetch\(|XMLHttpRequest|importScripts|WebSocket|import\(")
        self.assertNotRegex("".join(page.texts), r"https?://|url\(|@import")

    def test_hostile_names_stay_text(self):
        names = [name.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for name in HOSTILE]
        nodes, before = [], "x"
        for i, name in enumerate(names):
            value = f"{name}{i}"
            nodes.append(helper.make_node("Foo" + name, [before], [value], name=name, domain="d" + name, text=name, texts=[name, name]))
            before = value
        graph = helper.make_graph(nodes, names[0], [helper.make_tensor_value_info("x", TensorProto.FLOAT, [names[0], 2])],
                                  [helper.make_tensor_value_info(before, TensorProto.FLOAT, None)])
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
        graph = helper.make_graph([helper.make_node("Relu", ["x"], ["QQQQ"])], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
                                  [helper.make_tensor_value_info("QQQQ", TensorProto.FLOAT, [1])])
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
        graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("/a/0/v0", TensorProto.FLOAT, [1])],
                                  [helper.make_tensor_value_info(f"/a/{count // 100}/v{count}", TensorProto.FLOAT, [1])])
        path = self.save(graph)
        start = time.monotonic()
        _, data = self.view(path)
        self.assertLess(time.monotonic() - start, 20)
        self.assertEqual(len(data["panes"][0]["nodes"]), count)
        self.assertEqual(data["strings"][data["panes"][0]["nodes"][250]["module"]], "/a/2")
        self.assertLess((self.folder / "page.html").stat().st_size, 300 * count)

    def test_deep_modules_and_graphs(self):
        deep = "/".join(["", *(["m"] * 20_000), "v"])
        inner = helper.make_graph([helper.make_node("Relu", ["x"], ["r"])], "leaf", [], [helper.make_tensor_value_info("r", TensorProto.FLOAT, [1])])
        for i in range(25):
            node = helper.make_node("If", ["c"], [f"y{i}"], then_branch=inner, else_branch=inner if i == 24 else helper.make_graph(
                [helper.make_node("Abs", ["x"], [f"a{i}"])], f"else{i}", [], [helper.make_tensor_value_info(f"a{i}", TensorProto.FLOAT, [1])]))
            inner = helper.make_graph([node], f"g{i}", [], [helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, [1])])
        graph = helper.make_graph([*inner.node, helper.make_node("Neg", ["y24"], [deep])], "g",
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1]), helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
                                  [helper.make_tensor_value_info(deep, TensorProto.FLOAT, [1])])
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

    def test_functions_are_shown_once(self):
        body = helper.make_function("my", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 20)])
        nodes = [helper.make_node("Twice", [f"v{i}"], [f"v{i + 1}"], domain="my") for i in range(50)]
        graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("v0", TensorProto.FLOAT, [1])], [helper.make_tensor_value_info("v50", TensorProto.FLOAT, [1])])
        _, data = self.view(self.save(graph, functions=[body]))
        (pane,) = data["panes"]
        self.assertEqual(collections.Counter(data["strings"][n["op"]] for n in pane["nodes"]), {"my::Twice": 50, "Add": 1})
        self.assertEqual(pane["graphs"][1]["label"], "function my::Twice")

    def test_operators_that_cannot_be_converted(self):
        path = Path(SAMPLES, "sdpa.pt2")
        run = aton("view", path, "--opset", "7", "-o", self.folder / "page.html")
        self.assertEqual(run.returncode, 0)
        self.assertRegex(run.stderr, r"^aton: warning: .* cannot be converted at opset 7.*\n$")
        self.assertIn("cannot be converted", run.stdout)
        data = model_of(read_page(self.folder / "page.html"))
        (pane,) = data["panes"]
        listed = json.loads(aton("unconvertible", path, "--opset", "7", "--format", "json").stdout)
        refused = [(data["strings"][n["op"]], data["strings"][n["refusal"]]) for n in pane["nodes"] if "refusal" in n]
        self.assertEqual(collections.Counter(op for op, _ in refused), {each["op"]: each["count"] for each in listed})
        for each in listed:
            self.assertIn((each["op"], each["reason"]), refused)
        self.assertIn("cannot be converted", data["failure"])

    def changed(self, program, op_type, to):
        """The exported model with one other operator, and the name of the program's node that the changed node was made from."""
        path = self.folder / "changed.onnx"
        subprocess.run([ATON, "export", program, "-o", path, "-q"], check=True)
        model = onnx.load(path)
        node = next(n for n in model.graph.node if n.op_type == op_type)
        node.op_type = to
        onnx.save(model, path)
        return path, node.output[0]

    @unittest.skipUnless(HAS_VERIFY, "built without the runtime")
    def test_verified_nodes(self):
        program = Path(SAMPLES, "linear_relu_dynbatch.pt2")
        run = aton("view", program, "--verify", "-o", self.folder / "page.html")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("the same numbers", run.stdout)
        data = model_of(read_page(self.folder / "page.html"))
        nodes = data["panes"][0]["nodes"]
        self.assertTrue(data["comparison"].startswith("the same numbers"))
        self.assertIn(1, [n["verdict"] for n in nodes])
        self.assertNotIn(2, [n["verdict"] for n in nodes])
        self.assertLessEqual(max(n["error"] for n in nodes), 1)

        path, name = self.changed(program, "Relu", "Abs")
        _, data = self.view(program, path, "--verify")
        self.assertIn("different numbers", data["comparison"])
        nodes = data["panes"][0]["nodes"]
        (first,) = [n for n in nodes if n.get("first")]
        self.assertIn("relu", data["strings"][first["op"]])
        self.assertEqual((first["verdict"], data["panes"][0]["values"][first["results"][0]][0]), (2, name))
        self.assertIn("elements differ", data["strings"][first["why"]])

    def test_a_program_beside_a_file(self):
        program = Path(SAMPLES, "linear_relu_dynbatch.pt2")
        path, _ = self.changed(program, "Relu", "Abs")
        _, data = self.view(program, path)
        self.assertEqual([pane["kind"] for pane in data["panes"]], ["program", "graph"])
        self.assertIn("Abs", [data["strings"][n["op"]] for n in data["panes"][1]["nodes"]])
        self.assertEqual(data["comparison"], "")
        self.assertFalse([n for n in data["panes"][0]["nodes"] if "verdict" in n])
        self.fails(aton("view", path, program, "-o", self.folder / "page.html"), 1, "beside a .pt2 file")
        self.fails(aton("view", program, program, "-o", self.folder / "page.html"), 1, "linear_relu_dynbatch.pt2")
        self.fails(aton("view", program, path, "-o", path), 1, "is also the input")

    def test_metadata_of_torch_onnx(self):
        """As torch.onnx of torch 2.13 writes it."""
        def node(op, inputs, output, namespace, name):
            made = helper.make_node(op, inputs, [output])
            for key, value in (("namespace", namespace), ("pkg.torch.onnx.fx_node", name)):
                made.metadata_props.add(key=key, value=value)
            return made

        root = ": mod.Net/layers: torch.nn.modules.container.Sequential/layers.0: " + "x" * 700
        nodes = [node("Gemm", ["x", "w"], "linear", root + "/layers.0.fc: torch.nn.modules.linear.Linear/linear: aten.linear.default", "%linear : [num_users=1] = call_function[target=torch.ops.aten.linear.default](args = (%x,), kwargs = {})"),
                 node("Relu", ["linear"], "relu", "_empty_nn_module_stack_from_metadata_hook: _empty_nn_module_stack_from_metadata_hook/relu: aten.relu.default", "%relu")]
        graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2])], [helper.make_tensor_value_info("relu", TensorProto.FLOAT, [1, 2])],
                                  [helper.make_tensor("w", TensorProto.FLOAT, [2, 2], [0] * 4)])
        _, data = self.view(self.save(graph))
        linear, relu = data["panes"][0]["nodes"]
        self.assertEqual((linear["name"], data["strings"][linear["module"]]), ("linear", "layers.0.fc"))
        self.assertEqual((relu["name"], relu.get("module")), ("relu", None))

    def test_options(self):
        _, data = self.view(Path(SAMPLES, "linear_relu_dynbatch.pt2"), "--dim", "x:0=batch", "--opset", "17")
        self.assertIn("opset 17", data["facts"])
        self.assertTrue(any("batch" in text for text in data["strings"]))
        _, data = self.view(Path(SAMPLES, "sdpa.pt2"), "--operators", "aten")
        self.assertTrue(any(text.startswith("org.pytorch.aten::") for text in data["strings"]))

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
        self.assertEqual(sorted(p.name for p in self.folder.glob("*.html*")), sorted({"good.html", *(p.name for p in self.folder.glob("page.html"))}))

    def test_the_page_is_next_to_the_model_and_goes_to_a_pipe(self):
        path = self.save(helper.make_graph([], "g", [], []), "empty.onnx")
        self.assertEqual(aton("view", path).returncode, 0)
        written = path.with_suffix(".html").read_text()
        self.assertEqual(aton("view", path, "-o", "/dev/stdout").stdout, written)
        path.with_suffix(".html").unlink()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
