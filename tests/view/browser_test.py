# SPDX-License-Identifier: MIT
"""Tests of what a user does with the page of `aton view`: usage in browser_case.py."""

import json
import subprocess
import unittest
from pathlib import Path

from browser_case import ATON, HAS_VERIFY, HELPERS, BrowserCase, chain, main
from onnx import TensorProto, helper

HOSTILE = '</script><img src=x onerror="window.attacked = 1"><script>window.attacked = 1</script>'


class Interaction(BrowserCase):
    def test_the_icon_is_the_mark(self):
        self.open(self.sample("sdpa"))
        icon = self.run_js("decodeURIComponent(document.querySelector('link[rel=icon]').href)")
        mark = (Path(__file__).resolve().parents[2] / "src/view/page/mark.svg").read_text(encoding="utf-8")
        self.assertEqual("".join(icon.removeprefix("data:image/svg+xml,").replace("></path>", "/>").replace("></circle>", "/>").split()), "".join(mark.split()))

    def test_a_click_shows_what_is_known(self):
        self.open(self.sample("sdpa"))
        name = self.run_js("aton.views[0].model.nodes.find((n) => n.op.includes('scaled_dot')).name")
        self.click_on(0, name)
        text = self.details()
        self.assertIn("aten::scaled_dot_product_attention", text)
        for word in ("Name", name, "Source", "forward", "Arguments", "query", "Results", "Float("):
            self.assertIn(word, text)
        self.assertIn("scaled_dot_product_attention", self.run_js("document.getElementById('status').textContent"))
        linked = self.run_js("[...aton.views[1].linked].map((b) => b.id)")
        wanted = self.run_js(f"aton.views[1].model.nodes.filter((n) => n.name === {json.dumps(name)}).map((n) => n.box.shown().id)")
        self.assertTrue(linked)
        self.assertEqual(sorted(set(linked)), sorted(set(wanted)))
        # And back, by the link in the panel.
        self.run_js(
            "[...document.querySelectorAll('#details h3')].find((h) => h.textContent === 'In the graph').nextSibling.querySelector('button').click()"
        )
        self.run_js("help.settle()")
        self.assertIn("Node of the graph", self.details())
        self.assertIn("ATen", self.details())
        self.assertEqual(self.run_js("[...aton.views[0].linked].map((b) => b.node.name)"), [name])

    def test_groups_fold_and_unfold(self):
        self.open(self.save(chain(400)))
        group = "aton.views[0].root.children.find((b) => b.isGroup && b.depth === 1)"
        shown = self.run_js(f"{group}.open")
        corner = self.run_js(f"(() => {{ aton.views[0].show({group}); return help.settle(); }})(), null") or self.run_js(
            f"help.point(0, {group})"
        )
        x, y = self.run_js(
            f"(() => {{ const v = aton.views[0], [a, b] = v.corner({group}), f = v.canvas.getBoundingClientRect(); return [f.left + v.camera.x + (a + 12) * v.camera.k, f.top + v.camera.y + (b + 12) * v.camera.k]; }})()"
        )
        self.assertTrue(corner)
        self.browser.click(x, y)
        self.run_js("help.settle()")
        self.assertEqual(self.run_js(f"{group}.open"), not shown)
        self.assertEqual(self.run_js(f"aton.views[0].selected === {group}"), True)
        self.run_js("aton.views[0].canvas.focus()")
        self.browser.key("Enter")
        self.run_js("help.settle()")
        self.assertEqual(self.run_js(f"{group}.open"), shown)

    def test_zoom_and_pan(self):
        self.open(self.sample("sdpa"))
        before = self.run_js("({...aton.views[0].camera})")
        x, y = self.run_js("(() => { const f = aton.views[0].canvas.getBoundingClientRect(); return [f.left + 150, f.top + 200]; })()")
        under = "(() => { const v = aton.views[0]; return [(150 - v.camera.x) / v.camera.k, (200 - v.camera.y) / v.camera.k]; })()"
        point = self.run_js(under)
        self.browser.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-240)
        self.run_js("help.settle()")
        self.assertGreater(self.run_js("aton.views[0].camera.k"), before["k"])
        for a, b in zip(point, self.run_js(under)):  # the point below the pointer stays
            self.assertAlmostEqual(a, b, places=3)
        camera = self.run_js("({...aton.views[0].camera})")
        self.browser.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
        self.browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + 40, y=y - 30, button="left", buttons=1)
        self.browser.call("Input.dispatchMouseEvent", type="mouseReleased", x=x + 40, y=y - 30, button="left")
        moved = self.run_js("({...aton.views[0].camera})")
        self.assertAlmostEqual(moved["x"] - camera["x"], 40, places=3)
        self.assertAlmostEqual(moved["y"] - camera["y"], -30, places=3)
        self.run_js("document.getElementById('fit').click(), help.settle()")
        inside = self.run_js(
            "(() => { const v = aton.views[0], c = v.camera; return [c.x >= 0, c.y >= 0, c.x + v.root.width * c.k <= v.size.width, c.y + v.root.height * c.k <= v.size.height]; })()"
        )
        self.assertEqual(inside, [True] * 4)

    def test_the_keyboard_alone(self):
        self.open(self.save(chain(400)))
        self.run_js("document.querySelector('[role=tree]').focus()")
        state = """(() => { const t = document.querySelector('[role=tree]'), r = document.getElementById(t.getAttribute('aria-activedescendant'));
            return { text: r.textContent, level: r.ariaLevel, expanded: r.ariaExpanded, at: Number(r.ariaPosInSet), of: Number(r.ariaSetSize), selected: r.ariaSelected }; })()"""

        def press(key):
            self.browser.key(key)
            self.run_js("help.settle()")
            return self.run_js(state)

        first = press("Home")
        self.assertEqual((first["level"], first["at"], first["text"]), ("1", 1, "xinput"))
        second = press("ArrowDown")
        self.assertEqual((second["at"], second["selected"]), (2, "true"))
        self.assertEqual(second["of"], self.run_js("aton.views[0].root.children.length"))
        if second["expanded"] == "true":
            second = press("ArrowLeft")
        self.assertEqual(second["expanded"], "false")
        self.assertEqual(press("ArrowRight")["expanded"], "true")
        child = press("ArrowRight")
        self.assertEqual((child["level"], child["at"]), ("2", 1))
        if child["expanded"] == "true":
            self.assertEqual(press("ArrowLeft")["expanded"], "false")
        self.assertEqual(press("ArrowLeft")["level"], "1")
        last = press("End")
        self.assertIn("output", last["text"])
        self.assertTrue(
            self.run_js(
                "(() => { const r = document.querySelector('.row.active').getBoundingClientRect(), t = document.querySelector('[role=tree]').getBoundingClientRect(); return r.bottom <= t.bottom + 1 && r.top >= t.top; })()"
            )
        )
        # In the graph, arrows follow edges.
        self.run_js("aton.views[0].canvas.focus()")
        up = self.run_js("aton.views[0].root.routes.filter((r) => r.to === aton.views[0].selected).map((r) => r.from.id)")
        self.browser.key("ArrowUp")
        self.run_js("help.settle()")
        self.assertIn(self.run_js("aton.views[0].selected.id"), up)

    def test_search(self):
        self.open(self.save(chain(400)))
        self.browser.key("/")
        self.assertEqual(self.run_js("document.activeElement.id"), "search")
        self.browser.call("Input.insertText", text="n333")
        found = self.run_js("[...document.querySelectorAll('#found [role=option]')].map((o) => o.textContent)")
        self.assertEqual(len(found), 1, found)
        self.assertIn("1 node found", self.run_js("document.getElementById('status').textContent"))
        self.browser.key("Enter")
        self.run_js("help.settle()")
        self.assertEqual(self.run_js("aton.views[0].selected.node.index"), 333)
        self.assertTrue(
            self.run_js(
                "(() => { for (let b = aton.views[0].selected.parent; b; b = b.parent) if (!b.open) return false; return true; })()"
            )
        )
        x, y = self.run_js("help.point(0, aton.views[0].selected)")
        self.assertEqual(self.run_js(f"document.elementFromPoint({x}, {y}).tagName"), "CANVAS")
        self.browser.key("Escape")
        self.run_js(
            "document.getElementById('search').value = 'relu second nonsense'; document.getElementById('search').dispatchEvent(new Event('input'))"
        )
        self.assertIn("Nothing", self.run_js("document.getElementById('found').textContent"))

    def test_an_address_selects_a_node(self):
        self.open(self.sample("sdpa"), fragment="#linear")
        self.assertEqual(
            self.run_js("aton.views[0].selected?.node.name"),
            self.run_js("aton.views[0].model.nodes.some((n) => n.name === 'linear') ? 'linear' : undefined"),
        )
        self.browser.open(self.folder / "sdpa.html", "#%E0%A4%A")

    def test_what_cannot_be_converted_is_red(self):
        self.open(self.sample("sdpa"), "--opset", "7")
        self.assertTrue(
            self.run_js(
                "!document.getElementById('failure').hidden && document.getElementById('failure').textContent.includes('cannot be converted')"
            )
        )
        name = self.run_js("aton.views[0].model.nodes.find((n) => n.refusal).name")
        reason = self.run_js("aton.views[0].model.nodes.find((n) => n.refusal).refusal")
        self.assertIn(reason, self.details())
        self.click_on(0, name)
        self.assertIn("Cannot be converted: " + reason, self.details())
        self.run_js("aton.views[0].onSelect(aton.views[0], null), help.settle()")
        color = """((box) => { const v = aton.views[0], [x, y] = v.corner(box), r = window.devicePixelRatio;
            v.painter.paint();
            const d = v.canvas.getContext('2d').getImageData((v.camera.x + (x + box.width / 2) * v.camera.k) * r, (v.camera.y + (y + 3) * v.camera.k) * r, 1, 1).data;
            return [d[0], d[1], d[2]]; })"""
        red = self.run_js(f"{color}(help.named(0, {json.dumps(name)}))")
        self.assertGreater(red[0] - red[1], 8)

    @unittest.skipUnless(HAS_VERIFY, "built without the runtime")
    def test_the_first_difference_is_selected(self):
        program, path = self.changed()
        page = self.folder / "verified.html"
        subprocess.run([ATON, "view", program, path, "--verify", "-o", page], check=True, capture_output=True)
        self.browser.open(page)
        self.browser.run(HELPERS)
        self.assertIn("relu", self.run_js("aton.views[0].selected.node.op"))
        self.assertIn("First difference. Error: differs: ", self.details())
        self.assertEqual(self.run_js("[...aton.views[1].linked].map((b) => b.label)"), ["Abs"])
        self.assertIn("first difference", self.run_js("[...document.querySelectorAll('.row.bad')].map((r) => r.textContent).join()"))
        self.run_js("aton.views[0].onSelect(aton.views[0], null), help.settle()")
        self.assertIn("different numbers", self.details())
        self.assertIn("(first)", self.details())
        fill = """((box) => { const v = aton.views[0], [x, y] = v.corner(box); v.painter.paint();
            return [...v.canvas.getContext('2d').getImageData(v.camera.x + (x + box.width - 8) * v.camera.k, v.camera.y + (y + 5) * v.camera.k, 1, 1).data].slice(0, 3); })"""
        good, bad = (self.run_js(f"{fill}(aton.views[0].model.nodes.find((n) => n.verdict === {verdict}).box)") for verdict in (1, 2))
        self.assertGreater(good[1] - good[0], -16, good)
        self.assertGreater(bad[0] - bad[1], 8, bad)

    def test_nothing_of_the_model_runs(self):
        nodes = [helper.make_node("Foo" + HOSTILE, ["x"], [HOSTILE], domain="d", name=HOSTILE, text=HOSTILE)]
        self.open(
            self.save(
                helper.make_graph(
                    nodes,
                    HOSTILE,
                    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [HOSTILE])],
                    [helper.make_tensor_value_info(HOSTILE, TensorProto.FLOAT, None)],
                ),
                "a.onnx",
            )
        )
        self.run_js("aton.views[0].onSelect(aton.views[0], aton.views[0].model.nodes[0].box, true), help.settle()")
        self.assertIn(HOSTILE, self.details())
        self.run_js("document.getElementById('search').value = 'foo'; document.getElementById('search').dispatchEvent(new Event('input'))")
        self.assertEqual(self.run_js("[typeof window.attacked, document.scripts.length, document.images.length]"), ["undefined", 3, 0])

    def test_names_and_roles(self):
        self.open(self.sample("sdpa"))
        nodes = self.browser.call("Accessibility.getFullAXTree")["nodes"]
        named = [(n.get("role", {}).get("value"), n.get("name", {}).get("value", "")) for n in nodes if not n.get("ignored")]
        roles = [role for role, _ in named]
        for role in (
            "banner",
            "navigation",
            "main",
            "complementary",
            "tree",
            "treeitem",
            "tablist",
            "tab",
            "combobox",
            "toolbar",
            "application",
            "search",
        ):
            self.assertIn(role, roles)
        for role, name in named:
            if role in ("button", "tab", "combobox", "tree", "treeitem", "application", "navigation", "toolbar"):
                self.assertTrue(name.strip(), role)
        self.assertEqual(roles.count("application"), 2)


if __name__ == "__main__":
    main()
