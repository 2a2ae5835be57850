# SPDX-License-Identifier: MIT
"""Tests of what is in the page of `aton view`: it is compared with the files, read by ONNX's own reader and as torch's JSON. Usage in
page_case.py."""

import collections
import json
import re
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

import onnx
from onnx import TensorProto, helper
from page_case import ATON, HAS_VERIFY, SAMPLES, PageCase, aton, model_of, nodes_of, read_page


def edges_of(graph):
    """The edges of the main graph, as pairs of positions of its nodes."""
    made = {name: i for i, node in enumerate(graph.node) for name in node.output if name}
    return sorted((made[name], i) for i, node in enumerate(graph.node) for name in set(node.input) if name in made)


class Page(PageCase):
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
            self.assertEqual(edges, edges_of(model.graph), name)
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
                    self.assertEqual(
                        [text[ours[key]] for key in ("overload", "source")], [metadata["source"], metadata["pkg.torch.onnx.stack_trace"]]
                    )

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
            wanted = [
                (n["target"].replace("torch.ops.", "").replace("fill_.", "fill."), n["outputs"][0].get("as_tensor", {}).get("name"))
                for n in saved
            ]

            def overload(op):
                return op.replace("::", ".") + (".default" if "." not in op else "")

            shown = [(overload(data["strings"][n["op"]]), program["values"][n["results"][0]][0]) for n in program["nodes"]]
            self.assertEqual(shown, wanted, name)
            self.assertEqual(
                [data["strings"][n["source"]] != "" for n in program["nodes"]], [bool(n["metadata"].get("stack_trace")) for n in saved]
            )
            # Each node of the graph was made from a node of the program, or for the graph as a whole.
            origins = {n["origin"] for n in graph["nodes"] if "origin" in n}
            self.assertTrue(origins and max(origins) < len(program["nodes"]))

    def test_corresponding_nodes(self):
        _, data = self.view(Path(SAMPLES, "arg_kinds.pt2"), "--no-optimize")
        program, graph = data["panes"]
        self.assertGreater(len(program["nodes"]), 10)
        for node in graph["nodes"]:
            origin = program["nodes"][node["origin"]]
            if node["name"] == "":  # of an output, which has the name of a value
                self.assertIn(graph["values"][node["results"][0]][0], [program["values"][v][0] for v in origin["results"]])
                continue
            self.assertEqual(node["name"], origin["name"])
            self.assertEqual(data["strings"][node["overload"]], data["strings"][origin["op"]])
        converted = {n["origin"] for n in graph["nodes"]}
        rest = [data["strings"][n["op"]] for i, n in enumerate(program["nodes"]) if i not in converted]
        self.assertLessEqual(set(rest), {"aten::to.dtype", "aten::empty_strided", "aten::arange.start_step"})  # no nodes, or weights

    def test_corresponding_nodes_of_branches(self):
        for path in sorted(Path(SAMPLES).parent.glob("pt2_control_flow/*.pt2")):
            if aton("export", path, "-o", self.folder / "branches.onnx").returncode != 0:
                continue
            _, data = self.view(path, "--no-optimize", name="branches.html")
            program, graph = data["panes"]
            nested = [node for node in graph["nodes"] if node["graph"] != 0 and "overload" in node]
            self.assertTrue(nested, path.name)
            for node in nested:
                origin = program["nodes"][node["origin"]]
                self.assertEqual((node["name"], data["strings"][node["overload"]]), (origin["name"], data["strings"][origin["op"]]), path.name)

    def test_nothing_comes_from_elsewhere(self):
        page, _ = self.view(Path(SAMPLES, "tied.pt2"))
        policy = next(value for tag, name, value in page.attributes if (tag, name) == ("meta", "content") and "default-src" in value)
        self.assertIn("default-src 'none'", policy)
        self.assertNotRegex(policy, r"https?:|\*|connect-src")
        for tag, name, value in page.attributes:
            self.assertNotIn(name, ("src", "href", "srcset", "action", "poster"), tag)
            if name != "xmlns":  # a name, not an address
                self.assertNotRegex(value or "", r"https?://")
        for attributes, text in page.scripts:
            if attributes.get("id") != "data":
                self.assertNotRegex(text, r"https?://|\bfetch\(|XMLHttpRequest|importScripts|WebSocket|import\(")
        self.assertNotRegex("".join(page.texts), r"https?://|url\(|@import")

    def test_scripts_are_those_of_the_sources(self):
        page, _ = self.view(Path(SAMPLES, "tied.pt2"))
        scripts = "".join(text for _, text in page.scripts)
        sources = [*Path("src/view/page").glob("*.js"), Path("src/third_party/dagre/dagre.min.js")]
        self.assertGreater(len(sources), 10)
        for source in sources:
            self.assertIn(source.read_text(encoding="utf-8"), scripts, source)
        self.assertIn("Permission is hereby granted", scripts)

    def test_functions_are_shown_once(self):
        body = helper.make_function(
            "my", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 20)]
        )
        nodes = [helper.make_node("Twice", [f"v{i}"], [f"v{i + 1}"], domain="my") for i in range(50)]
        graph = helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info("v0", TensorProto.FLOAT, [1])],
            [helper.make_tensor_value_info("v50", TensorProto.FLOAT, [1])],
        )
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

    @unittest.skipUnless(HAS_VERIFY, "built without the runtime")
    def test_a_comparison_that_is_impossible(self):
        """The page is complete without it."""
        program = Path(SAMPLES, "linear_relu_dynbatch.pt2")
        graph = helper.make_graph(
            [helper.make_node("Foo", ["x"], ["y"], domain="d")],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])],
        )
        path = self.folder / "foo.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("d", 1)]), path)
        run = aton("view", program, path, "--verify", "-o", self.folder / "page.html")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr, r"^aton: warning: .*linear_relu_dynbatch.pt2: not compared: .*Foo.*\n$")
        data = model_of(read_page(self.folder / "page.html"))
        self.assertTrue(data["comparison"].startswith("not compared: "))
        self.assertNotIn(str(Path(SAMPLES).parent), data["comparison"])
        self.assertEqual(len(data["panes"]), 2)

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
        nodes = [
            node(
                "Gemm",
                ["x", "w"],
                "linear",
                root + "/layers.0.fc: torch.nn.modules.linear.Linear/linear: aten.linear.default",
                "%linear : [num_users=1] = call_function[target=torch.ops.aten.linear.default](args = (%x,), kwargs = {})",
            ),
            node(
                "Relu",
                ["linear"],
                "relu",
                "_empty_nn_module_stack_from_metadata_hook: _empty_nn_module_stack_from_metadata_hook/relu: aten.relu.default",
                "%relu",
            ),
        ]
        graph = helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2])],
            [helper.make_tensor_value_info("relu", TensorProto.FLOAT, [1, 2])],
            [helper.make_tensor("w", TensorProto.FLOAT, [2, 2], [0] * 4)],
        )
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

    def test_the_page_is_next_to_the_model_and_goes_to_a_pipe(self):
        path = self.save(helper.make_graph([], "g", [], []), "empty.onnx")
        self.assertEqual(aton("view", path).returncode, 0)
        written = path.with_suffix(".html").read_text()
        self.assertEqual(aton("view", path, "-o", "/dev/stdout").stdout, written)
        path.with_suffix(".html").unlink()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
