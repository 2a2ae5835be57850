# SPDX-License-Identifier: MIT
"""Tests of the page of `aton view` with axe-core, the checker of the W3C's rules on accessible content. Usage in browser_case.py."""

import importlib.util
import json
import sys
import unittest
from pathlib import Path

from browser_case import HAS_VERIFY, SIZES, BrowserCase, chain, main

PACKAGE = importlib.util.find_spec("axe_core_python")
if PACKAGE is None:
    print("skipped: the Python package axe-core-python is not installed")
    sys.exit(77)
AXE = Path(PACKAGE.submodule_search_locations[0], "axe.min.js").read_text()


class Accessibility(BrowserCase):
    def violations(self):
        """A line for each element that breaks a rule."""
        self.run_js(AXE + "; null")
        report = json.loads(
            self.run_js(
                "axe.run(document, { resultTypes: ['violations'] }).then((r) => JSON.stringify({ passed: r.passes.length, found: r.violations }))"
            )
        )
        self.assertGreater(report["passed"], 15)  # rules that found an element to judge
        return [f"{rule['id']}: {node['target']}: {node['failureSummary']}" for rule in report["found"] for node in rule["nodes"]]

    def assert_accessible(self, where):
        self.assertEqual(self.violations(), [], where)

    def test_faults_are_found(self):
        self.open(self.sample("sdpa"))
        self.run_js("document.getElementById('panes').append(document.createElement('img')), null")
        self.run_js("document.getElementById('fold').style = 'color: #888; background: #777', null")
        rules = {line.split(":")[0] for line in self.violations()}
        self.assertEqual(rules, {"image-alt", "color-contrast"})

    def test_pages_in_every_size_and_theme(self):
        for name in ("sdpa", "arg_kinds", "kv_cache"):
            page = self.open(self.sample(name))
            for size, (width, height) in SIZES.items():
                for is_dark in (False, True):
                    self.browser.resize(width, height)
                    self.browser.use_dark(is_dark)
                    self.browser.open(page)
                    self.assert_accessible((name, size, is_dark))

    def test_what_a_user_opens(self):
        self.open(self.sample("sdpa"))
        name = self.run_js("aton.views[0].model.nodes.find((n) => n.op.includes('scaled_dot')).name")
        self.click_on(0, name)
        self.assert_accessible("a selected node and its details")
        self.run_js(
            "document.getElementById('search').value = 'scaled'; document.getElementById('search').dispatchEvent(new Event('input'))"
        )
        self.assertTrue(self.run_js("document.querySelectorAll('#found [role=option]').length"))
        self.assert_accessible("what a search found")
        self.run_js("document.getElementById('unfold').click(), help.settle()")
        self.assert_accessible("unfolded modules")

    def test_what_went_wrong(self):
        self.open(self.sample("sdpa"), "--opset", "7")
        self.click_on(0, self.run_js("aton.views[0].model.nodes.find((n) => n.refusal).name"))
        self.assert_accessible("a node that cannot be converted, and its reason")

    @unittest.skipUnless(HAS_VERIFY, "built without the runtime")
    def test_a_comparison(self):
        program, path = self.changed()
        self.browser.use_dark(True)
        self.open(program, path, "--verify")
        self.assertIn("First difference", self.details())
        self.assert_accessible("the first node that differs")

    def test_thousands_of_nodes(self):
        self.open(self.save(chain(3000)))
        self.run_js("document.getElementById('unfold').click(), help.settle()")
        self.assert_accessible("an outline that shows a window of its rows")


if __name__ == "__main__":
    main()
