# SPDX-License-Identifier: MIT
"""What the tests of the page of `aton view` in headless Chromium share.

usage: browser_..._test.py ATON SAMPLES [--verify] [--screenshots FOLDER]

SAMPLES is a folder of .pt2 files. With --verify, aton-verify is in the folder of ATON. With --screenshots, pictures in three sizes, light
and dark, are written to FOLDER. The tests are skipped (77) if there is no Chromium.
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import chromium
import onnx
from onnx import TensorProto, helper

ATON, SAMPLES = sys.argv[1:3]
HAS_VERIFY = "--verify" in sys.argv[3:]
SCREENSHOTS = Path(sys.argv[sys.argv.index("--screenshots") + 1]) if "--screenshots" in sys.argv[3:] else None
PROGRAM = chromium.find_chromium()
SIZES = {"wide": (1600, 1000), "laptop": (1280, 720), "phone": (480, 860)}

# What every test starts with: the view of a pane, all boxes, the box of a node, its center on the screen.
HELPERS = """
window.help = (() => {
    const all = (box) => [box, ...box.children.flatMap(all)];
    const boxes = (i) => all(aton.views[i].root);
    const named = (i, name) => aton.views[i].model.nodes.find((n) => n.name === name || aton.views[i].model.values[n.results[0]].name === name).box;
    const point = (i, box) => {
        const view = aton.views[i], [x, y] = view.corner(box), frame = view.canvas.getBoundingClientRect();
        return [frame.left + view.camera.x + (x + box.width / 2) * view.camera.k, frame.top + view.camera.y + (y + box.height / 2) * view.camera.k];
    };
    const settle = async () => {
        for (const view of aton.views) for (let before; before !== view.busy;) await (before = view.busy);
        for (let i = 0; i < 3; ++i) await new Promise(requestAnimationFrame);
    };
    return { boxes, named, point, settle };
})(), null
"""


def chain(count, per_layer=50):
    """A graph of `count` nodes in layers, with connections over several nodes."""
    nodes, before = [], "x"
    for i in range(count):
        layer, at = divmod(i, per_layer)
        name = f"/layers.{layer}/{'first' if at < per_layer // 2 else 'second'}/n{i}"
        nodes.append(
            helper.make_node(
                "Add" if at % 7 == 0 else "Relu",
                [before, nodes[-5].output[0]] if at % 7 == 0 and i > 5 else [before] * (1 + (at % 7 == 0)),
                [name],
            )
        )
        before = name
    return helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor_value_info(before, TensorProto.FLOAT, None)],
    )


class BrowserCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.holder.name)
        cls.browser = chromium.Browser(PROGRAM, *SIZES["laptop"])

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.holder.cleanup()

    def setUp(self):
        self.browser.resize(*SIZES["laptop"])
        self.browser.use_dark(False)

    def tearDown(self):
        self.assertEqual(self.browser.errors(), [])
        self.assertEqual(self.browser.requests(), [])

    def open(self, path, *options, fragment=""):
        page = self.folder / (Path(path).stem + ".html")
        subprocess.run([ATON, "view", str(path), "-o", str(page), *options], check=True, capture_output=True)
        self.browser.open(page, fragment)
        self.browser.run(HELPERS)
        return page

    def save(self, graph, name="model.onnx"):
        path = self.folder / name
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("d", 1)]), path)
        return path

    def changed(self):
        """A program, and its graph with an Abs in place of a Relu."""
        program, path = self.sample("linear_relu_dynbatch"), self.folder / "changed.onnx"
        subprocess.run([ATON, "export", program, "-o", path, "-q"], check=True)
        model = onnx.load(path)
        next(n for n in model.graph.node if n.op_type == "Relu").op_type = "Abs"
        onnx.save(model, path)
        return program, path

    def sample(self, name):
        return Path(SAMPLES, name + ".pt2")

    def run_js(self, script):
        return self.browser.run(script)

    def click_on(self, pane, name, times=1):
        self.run_js(
            f"(async () => {{ await aton.views[{pane}].reveal(help.named({pane}, {json.dumps(name)})); aton.views[{pane}].show(help.named({pane}, {json.dumps(name)}), true); await help.settle(); }})()"
        )
        x, y = self.run_js(f"help.point({pane}, help.named({pane}, {json.dumps(name)}))")
        self.browser.click(x, y, times)
        self.run_js("help.settle()")

    def details(self):
        return self.run_js("document.getElementById('details').innerText")


def main():
    if PROGRAM is None:
        print("skipped: no Chromium is installed")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]])
