# SPDX-License-Identifier: MIT
"""What the tests of the page of `aton view` share that need no browser.

usage: ..._page_test.py ATON SAMPLES [--verify]

SAMPLES is a folder of .pt2 files. With --verify, aton-verify is in the folder of ATON.
"""

import html.parser
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import onnx
from onnx import helper

ATON, SAMPLES = sys.argv[1:3]
HAS_VERIFY = sys.argv[3:] == ["--verify"]
VOID = {"meta", "input", "br"}


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


class PageCase(unittest.TestCase):
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
