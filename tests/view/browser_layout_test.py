# SPDX-License-Identifier: MIT
"""Tests of what the page of `aton view` draws: boxes, edges, colors, sizes, speed. Usage in browser_case.py."""

import json

import onnx
from browser_case import HELPERS, SCREENSHOTS, SIZES, BrowserCase, chain, main
from onnx import TensorProto, helper


def luminance(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return sum(weight * (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4) for weight, c in zip((0.2126, 0.7152, 0.0722), parts))


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


class Drawing(BrowserCase):
    def test_every_node_is_one_box(self):
        for name in ("sdpa", "lstm", "arg_kinds", "kv_cache"):
            self.open(self.sample(name))
            for i in range(2):
                counts = self.run_js(
                    f"[help.boxes({i}).filter((b) => b.node).map((b) => b.node.index).sort((a, b) => a - b), aton.views[{i}].model.nodes.length, aton.views[{i}].root.size]"
                )
                self.assertEqual(counts[0], list(range(counts[1])), name)
                self.assertEqual(counts[1], counts[2])

    def test_the_layout_is_in_layers_without_overlaps(self):
        check = """(async (i) => {
            document.getElementById('unfold').click();
            await help.settle();
            const wrong = [];
            for (const group of help.boxes(i).filter((b) => b.open)) {
                const c = group.children;
                for (const [k, a] of c.entries()) {
                    if (a.x < 0 || a.y < 0 || a.x + a.width > group.width + 0.5 || a.y + a.height > group.height + 0.5) wrong.push(a.label + ' is outside of ' + group.label);
                    for (const b of c.slice(k + 1))
                        if (a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height) wrong.push(a.label + ' overlaps ' + b.label);
                }
                for (const r of group.routes) {
                    const [x, , end] = r.verticals[r.verticals.length - 1];
                    if (r.up) wrong.push('an edge goes up in ' + group.label);
                    if (!r.to.side && (Math.abs(end - r.to.y) > 0.5 || x < r.to.x || x > r.to.x + r.to.width)) wrong.push('an edge misses ' + r.to.label);
                    for (const [vx, a, b] of r.verticals) for (const box of c)
                        if (box !== r.from && box !== r.to && vx > box.x && vx < box.x + box.width && Math.max(a, b) > box.y && Math.min(a, b) < box.y + box.height) wrong.push('an edge crosses ' + box.label);
                }
            }
            return wrong;
        })"""
        for path in [self.sample("sdpa"), self.sample("kv_cache"), self.sample("arg_kinds"), self.save(chain(600))]:
            self.open(path)
            for i in range(self.run_js("aton.views.length")):
                self.assertEqual(self.run_js(f"{check}({i})"), [], path)

    def test_the_first_look_is_the_whole_model_at_the_same_modules(self):
        look = """aton.views.map((view) => {
            const open = new Set(), groups = new Set();
            const visit = (box, path) => box.children.forEach((child) => {
                if (!child.isGroup || child.isSection) return;
                const name = path + '/' + child.label;
                groups.add(name);
                if (child.open) open.add(name);
                visit(child, name);
            });
            visit(view.root, '');
            const { x, y, k } = view.camera, { width, height } = view.size;
            const isWhole = x >= 0 && y >= 0 && x + view.root.width * k <= width && y + view.root.height * k <= height;
            const shown = (box) => (box.open ? box.children.reduce((n, child) => n + shown(child), 0) : 1);
            return { isWhole, shown: shown(view.root), open: [...open], groups: [...groups] };
        })"""
        layers, flat = self.save(chain(3000), "sixty_layers.onnx"), self.save(chain(300, 300), "flat.onnx")
        for path, sizes in [(self.sample("sdpa"), SIZES), (self.sample("kv_cache"), SIZES), (layers, ["laptop"]), (flat, ["phone"])]:
            for size in sizes:
                self.browser.resize(*SIZES[size])
                self.open(path)
                panes = self.run_js(look)
                for pane in panes:
                    self.assertTrue(pane["isWhole"], (path, size))
                    self.assertLessEqual(pane["shown"], 40, (path, size))
                if len(panes) == 2:
                    both = set(panes[0]["groups"]) & set(panes[1]["groups"])
                    self.assertEqual(both & set(panes[0]["open"]), both & set(panes[1]["open"]), (path, size))
                if "layers" in str(path):
                    self.assertGreaterEqual(panes[0]["shown"], 10, size)

    def test_edges_are_those_of_the_graph(self):
        path = self.save(chain(300, 30))
        self.open(path)
        model = onnx.load(path)
        made = {n.output[0]: i for i, n in enumerate(model.graph.node)}
        wanted = sorted({(made[v], i) for i, n in enumerate(model.graph.node) for v in n.input if v in made})
        found = self.run_js("""(() => {
            // Follows each edge through ports to the nodes at its ends.
            const out = new Set();
            const ends = (item, group, value, side) => {
                if (item.side) return [...group.parent.edges.values()].filter((e) => e.values.has(value) && (side === 'from' ? e.to === group : e.from === group)).flatMap((e) => ends(e[side], group.parent, value, side));
                if (!item.isGroup) return [item];
                return [...item.edges.values()].filter((e) => e.values.has(value) && (side === 'from' ? e.to.side === 'out' : e.from.side === 'in')).flatMap((e) => ends(e[side], item, value, side));
            };
            for (const group of help.boxes(0)) for (const e of group.edges.values()) for (const v of e.values)
                for (const a of ends(e.from, group, v, 'from')) for (const b of ends(e.to, group, v, 'to')) if (a.node && b.node) out.add(a.node.index + ' ' + b.node.index);
            return [...out].map((t) => t.split(' ').map(Number));
        })()""")
        self.assertEqual(sorted(map(tuple, found)), wanted)

    def test_three_thousand_nodes(self):
        self.open(self.save(chain(3000)))
        times = self.run_js("""(async () => {
            let worst = 0, last = performance.now(), on = true;
            const tick = (now) => { worst = Math.max(worst, now - last); last = now; if (on) requestAnimationFrame(tick); };
            requestAnimationFrame(tick);
            document.getElementById('unfold').click();
            await help.settle();
            on = false;
            const v = aton.views[0], paints = [];
            for (const k of [0.03, 0.2, 0.6]) {
                v.zoom(k / v.camera.k, 0, 0);
                for (let i = 0; i < 20; ++i) {
                    v.pan(-3, -40);
                    const t = performance.now();
                    v.painter.paint();
                    paints.push(performance.now() - t);
                }
            }
            paints.sort((a, b) => a - b);
            return { unfolded: help.boxes(0).every((b) => !b.isGroup || b.open), worst, paint: paints[Math.floor(paints.length * 0.9)] };
        })()""")
        self.assertTrue(times["unfolded"])
        self.assertLess(times["worst"], 500)  # a frame while 180 groups are laid out; 17 ms on an idle machine
        self.assertLess(times["paint"], 16)

    def test_a_dense_level_is_laid_out_in_time(self):
        # A module of 85 nodes, for which dagre alone needs minutes, beside another node.
        nodes = [helper.make_node("Sum", [f"/dense/v{j}" for j in range(i + 1)], [f"/dense/v{i + 1}"]) for i in range(85)]
        nodes.append(helper.make_node("Relu", ["/dense/v85"], ["y"]))
        self.browser.timeout = 30
        self.open(
            self.save(
                helper.make_graph(
                    nodes,
                    "dense",
                    [helper.make_tensor_value_info("/dense/v0", TensorProto.FLOAT, [4])],
                    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])],
                )
            )
        )
        dense = "aton.views[0].root.children.find((b) => b.label === 'dense')"
        self.run_js(f"(async () => {{ {dense}.expanded || await aton.views[0].toggle({dense}); await help.settle(); }})()")
        self.browser.timeout = 60
        self.assertEqual(self.run_js(f"{dense}.routes.length"), 85 * 86 // 2 + 1)

    def test_a_hundred_thousand_nodes(self):
        self.open(self.save(chain(100_000)))
        self.assertEqual(self.run_js("aton.views[0].root.size"), 100_000)
        self.assertLessEqual(self.run_js("Math.max(...help.boxes(0).map((b) => b.children.length))"), 90)
        self.assertLess(self.run_js("document.querySelectorAll('*').length"), 500)  # the outline has the rows in its window only
        self.run_js(
            "document.getElementById('search').value = 'n98765'; document.getElementById('search').dispatchEvent(new Event('input'))"
        )
        self.assertEqual(self.run_js("document.querySelectorAll('#found [role=option]').length"), 1)

    def test_colors_have_contrast(self):
        self.open(self.sample("tied"))
        for is_dark in (False, True):
            self.browser.use_dark(is_dark)
            color = json.loads(
                self.run_js(
                    "JSON.stringify(Object.fromEntries(['text', 'muted', 'page', 'panel', 'box', 'group', 'group-alternate', 'bad', 'bad-soft', 'accent', 'linked-soft', 'input', 'accent-soft', 'exact', 'middle', 'inexact'].map((n) => [n, getComputedStyle(document.documentElement).getPropertyValue('--' + n).trim()])))"
                )
            )
            self.assertEqual(luminance(color["page"]) < 0.2, is_dark)
            for back in (
                "page",
                "panel",
                "box",
                "group",
                "group-alternate",
                "linked-soft",
                "input",
                "accent-soft",
                "exact",
                "middle",
                "inexact",
            ):
                self.assertGreater(contrast(color["text"], color[back]), 7, back)
                self.assertGreater(contrast(color["muted"], color[back]), 4.5, back)
            for front, back in (("bad", "bad-soft"), ("bad", "panel"), ("accent", "panel")):
                self.assertGreater(contrast(color[front], color[back]), 4.5, (front, back))

    def test_sizes_and_themes(self):
        page = self.open(self.sample("arg_kinds"))
        for size, (width, height) in SIZES.items():
            for is_dark in (False, True):
                self.browser.resize(width, height)
                self.browser.use_dark(is_dark)
                self.browser.open(page)
                self.browser.run(HELPERS)
                self.run_js("aton.views[0].onSelect(aton.views[0], aton.views[0].model.nodes[1].box, true), help.settle()")
                self.assertLessEqual(self.run_js("document.documentElement.scrollWidth"), width)
                for i in range(2):
                    drawn, clientWidth, clientHeight = self.run_js(
                        f"[aton.views[{i}].painter.drawn, aton.views[{i}].canvas.clientWidth, aton.views[{i}].canvas.clientHeight]"
                    )
                    self.assertGreater(drawn, 0)
                    self.assertGreater(min(clientWidth, clientHeight), 120)
                if SCREENSHOTS:
                    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
                    self.browser.screenshot(SCREENSHOTS / f"{size}_{'dark' if is_dark else 'light'}.png")


if __name__ == "__main__":
    main()
