# SPDX-License-Identifier: MIT
"""The site of docs/ in headless Chromium, opened from the disk: nothing is cut in three sizes, light and dark, it asks for nothing from
elsewhere, its search works, and axe-core finds nothing.

usage: site_test.py [--screenshots FOLDER]

Exits with 77 without a site in build/site (the test docs_site_builds), without Chromium, or without axe-core-python.
"""

import importlib.util
import json
import sys
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "view"))
import chromium  # noqa: E402

SITE = ROOT / "build" / "site"
SIZES = {"wide": (1600, 1000), "laptop": (1280, 720), "phone": (480, 860)}
# Home in every size, and a page of each other kind: with code, wide tables, a drawing, declarations.
PAGES = (("index.html", "wide", False), ("index.html", "laptop", True), ("index.html", "phone", False), ("getting-started.html", "phone", True),
         ("state.html", "phone", False), ("concepts.html", "wide", True), ("reference/domains.html", "laptop", False))
SCREENSHOTS = Path(sys.argv[sys.argv.index("--screenshots") + 1]) if "--screenshots" in sys.argv else None
AXE = importlib.util.find_spec("axe_core_python")
CUT = """[...document.querySelectorAll("pre, pre > code")].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.innerText.slice(0, 80))"""


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = chromium.Browser(chromium.find_chromium(), *SIZES["laptop"])
        cls.addClassCleanup(cls.browser.__exit__)

    def wait(self, condition):
        until = time.monotonic() + 30
        while not self.browser.run(condition):
            self.assertLess(time.monotonic(), until, condition)
            time.sleep(0.05)

    def open(self, page):
        self.browser.events.clear()
        self.browser.call("Page.navigate", url="about:blank")
        self.browser.call("Page.navigate", url=(SITE / page).as_uri())
        self.wait("location.protocol === 'file:' && document.readyState === 'complete'")
        # The theme's scripts have run when they have given the blocks their buttons.
        self.wait("!document.querySelector('pre > code') || document.querySelector('.md-code__nav') !== null")

    def test_pages(self):
        for page, size, is_dark in PAGES:
            where = (page, size, "dark" if is_dark else "light")
            self.browser.resize(*SIZES[size])
            self.browser.use_dark(is_dark)
            self.open(page)
            self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth - innerWidth"), 0, where)
            self.assertEqual(self.browser.run(CUT), [], where)
            self.assertEqual(self.violations(), [], where)
            self.assertEqual(self.browser.errors(), [], where)
            self.assertEqual([url for url in self.browser.requests() if not url.startswith("data:")], [], where)
            dark = self.browser.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).every((c) => c < 128)")
            self.assertEqual(dark, is_dark, where)
            if SCREENSHOTS:
                self.browser.screenshot(SCREENSHOTS / f"{page.replace('/', '_').removesuffix('.html')}_{size}_{where[2]}.png")

    def violations(self):
        """A line for each element that breaks a rule."""
        self.browser.run(Path(AXE.submodule_search_locations[0], "axe.min.js").read_text() + "; null")
        report = json.loads(self.browser.run(
            "axe.run(document, { resultTypes: ['violations'] }).then((r) => JSON.stringify({ passed: r.passes.length, found: r.violations }))"))
        self.assertGreater(report["passed"], 15)  # rules that found an element to judge
        return [f"{rule['id']}: {node['target']}: {node['failureSummary']}" for rule in report["found"] for node in rule["nodes"]]

    def test_search(self):
        self.browser.resize(*SIZES["laptop"])
        self.open("view.html")
        self.browser.run("document.querySelector('.md-search__input').focus(), null")
        self.browser.call("Input.insertText", text="torch.cond")
        self.wait("document.querySelectorAll('.md-search-result__link').length > 0")
        found = self.browser.run("[...document.querySelectorAll('.md-search-result__link')].map((link) => link.href)")
        self.assertTrue(any("exporter.html" in link for link in found), found)
        if SCREENSHOTS:
            self.browser.screenshot(SCREENSHOTS / "search.png")


def main():
    for missing, sentence in ((not (SITE / "index.html").is_file(), "no site in build/site"), (AXE is None, "no axe-core-python"),
                              (chromium.find_chromium() is None, "no Chromium")):
        if missing:
            print(f"skipped: {sentence}")
            sys.exit(77)
    unittest.main(argv=[sys.argv[0]])


if __name__ == "__main__":
    main()
