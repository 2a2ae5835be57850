// Layout, level by level: each unfolded group is laid out alone, with its unfolded groups as boxes of their sizes. dagre does it in a worker.
const HEADER = 26; // of an unfolded group
const PADDING = 14;
const MAX_CROSSED = 1500; // rows that the edges of a level may cross in all

const measuring = document.createElement("canvas").getContext("2d");
const FONT = 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const widths = new Map();
function widthOf(string, font) {
    const key = font + string;
    if (!widths.has(key)) {
        measuring.font = font;
        widths.set(key, measuring.measureText(string).width);
    }
    return widths.get(key);
}
const LABEL_FONT = "600 12px " + FONT;
const SMALL_FONT = "11px " + FONT;

function startWorker(source) {
    let script = null;
    try {
        const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
        const pending = new Map();
        let count = 0;
        worker.onmessage = ({ data: { id, result } }) => {
            pending.get(id)(result);
            pending.delete(id);
        };
        return (level) => new Promise((resolve) => {
            pending.set(++count, resolve);
            worker.postMessage({ id: count, level });
        });
    } catch { // no workers here: on this thread
        script = document.createElement("script");
        script.textContent = source;
        document.head.append(script);
        return (level) => Promise.resolve(window.layOut(level));
    }
}
const layOutLevel = startWorker(document.getElementById("layout").textContent);

class Layout {
    constructor(model, root) {
        this.model = model;
        this.root = root;
    }

    // What is written below the label of a box.
    subtitle(box) {
        if (box.kind === "input" || box.kind === "output") return this.model.values[box.value].type;
        if (box.isGroup) return (box.moduleType ? box.moduleType.split(".").pop() + ", " : "") + counted(box.size, "node");
        return box.module || this.model.typeOf(box.node);
    }

    sizeFolded(box) {
        const width = Math.max(widthOf(box.label, LABEL_FONT), widthOf(this.subtitle(box), SMALL_FONT));
        box.wanted = [Math.round(Math.min(Math.max(width + (box.isGroup ? 38 : 26), 84), 240)), box.kind === "node" || box.isGroup ? 42 : 38];
    }

    // Lays out what is unfolded. What is drawn changes only when everything is known.
    async run() {
        await this.prepare(this.root);
        this.place(this.root);
    }

    async prepare(box) {
        if (!box.isGroup || !box.expanded) return this.sizeFolded(box);
        await Promise.all(box.children.map((child) => this.prepare(child)));
        const { items, edges } = this.levelOf(box);
        const sizes = items.map((item) => (item.side ? [10, 6] : item.wanted));
        const signature = sizes.join(";");
        if (!box.level || box.level.signature !== signature) {
            this.loosen(items.length, edges);
            const plain = edges.map((e) => (e.isLoose ? null : [e.fromIndex, e.toIndex, e.weight]));
            const result = await layOutLevel({ sizes, edges: plain });
            box.level = this.finish(box, signature, items, edges, result);
        }
        box.wanted = [box.level.width, box.level.height];
    }

    // The boxes and ports of a group, and its edges; many ports become one. Invisible edges keep the ports at the borders.
    levelOf(box) {
        const merged = {};
        const items = [...box.children];
        for (const side of ["in", "out"]) {
            const ports = [...box.ports[side].values()];
            if (ports.length > MAX_PORTS) merged[side] = { id: side, side, values: ports.flatMap((p) => p.values) };
            items.push(...(merged[side] ? [merged[side]] : ports));
        }
        const indices = new Map(items.map((item, i) => [item, i]));
        const known = new Map();
        for (const { from, to, values } of box.edges.values()) {
            const a = from.side ? merged[from.side] || from : from;
            const b = to.side ? merged[to.side] || to : to;
            const key = a.id + ">" + b.id;
            const edge = known.get(key) || { from: a, to: b, values: new Set(), fromIndex: indices.get(a), toIndex: indices.get(b), weight: 1 };
            values.forEach((v) => edge.values.add(v));
            known.set(key, edge);
        }
        const edges = [...known.values()];
        for (const side of ["in", "out"]) {
            const ports = items.filter((item) => item.side === side);
            if (ports.length === 0) continue;
            const end = items.push({ side: "end", id: "end" + side, values: [] }) - 1;
            for (const port of ports) {
                const at = indices.get(port);
                edges.push({ hidden: true, fromIndex: side === "in" ? end : at, toIndex: side === "in" ? at : end, weight: 100 });
            }
        }
        return { items, edges };
    }

    // The time of a layout grows with the rows that edges cross. Beyond a limit, the longest edges are left out, and drawn straight.
    loosen(count, edges) {
        const outgoing = Array.from({ length: count }, () => []);
        const waiting = new Array(count).fill(0);
        for (const edge of edges) {
            outgoing[edge.fromIndex].push(edge);
            ++waiting[edge.toIndex];
        }
        const row = new Array(count).fill(0);
        const ready = row.map((_, i) => i).filter((i) => waiting[i] === 0);
        for (const at of ready) // grows meanwhile
            for (const { toIndex } of outgoing[at]) {
                row[toIndex] = Math.max(row[toIndex], row[at] + 1);
                if (--waiting[toIndex] === 0) ready.push(toIndex);
            }
        const length = (edge) => Math.abs(row[edge.toIndex] - row[edge.fromIndex]);
        let crossed = 0;
        for (const edge of [...edges].sort((a, b) => length(a) - length(b))) {
            crossed += length(edge);
            edge.isLoose = !edge.hidden && crossed > MAX_CROSSED && length(edge) > 1;
        }
    }

    finish(box, signature, items, edges, { centers, points }) {
        const real = items.map((item, i) => i).filter((i) => items[i].side !== "end");
        const half = (i) => (items[i].side ? [5, 3] : items[i].wanted.map((size) => size / 2));
        let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
        for (const i of real) {
            const [w, h] = half(i);
            left = Math.min(left, centers[i][0] - w);
            right = Math.max(right, centers[i][0] + w);
            if (items[i].side) continue;
            top = Math.min(top, centers[i][1] - h);
            bottom = Math.max(bottom, centers[i][1] + h);
        }
        const hidden = edges.map((e) => e.hidden);
        points.forEach((list, i) => {
            if (hidden[i] || !list) return;
            for (const [x] of list) {
                left = Math.min(left, x);
                right = Math.max(right, x);
            }
        });
        const hasIn = items.some((item) => item.side === "in");
        const hasOut = items.some((item) => item.side === "out");
        const dx = PADDING - left;
        const dy = HEADER + (hasIn ? 26 : 8) - top;
        const width = Math.max(right - left + 2 * PADDING, Math.min(widthOf(box.label, LABEL_FONT) + 60, 260));
        const shift = (width - (right - left + 2 * PADDING)) / 2;
        const height = bottom + dy + (hasOut ? 26 : PADDING);
        const at = centers.map(([x, y]) => [x + dx + shift, y + dy]);
        // Ports are on the borders; the rows of boxes have their extents, which edges cross vertically.
        const rows = new Map();
        const portAt = { in: new Map(), out: new Map() };
        for (const i of real) {
            const item = items[i];
            if (item.side) {
                at[i][1] = item.side === "in" ? HEADER : height;
                for (const v of item.values) portAt[item.side].set(v, at[i][0]);
            } else {
                const row = Math.round(at[i][1]);
                const [, h] = half(i);
                const known = rows.get(row);
                rows.set(row, known ? [Math.min(known[0], at[i][1] - h), Math.max(known[1], at[i][1] + h)] : [at[i][1] - h, at[i][1] + h]);
            }
        }
        const visible = [];
        edges.forEach((edge, i) => {
            if (!edge.hidden) visible.push({ ...edge, inner: (points[i] || []).slice(1, -1).map(([x, y]) => [x + dx + shift, y + dy]) });
        });
        return { signature, width, height, at, items, rows, portAt, edges: visible };
    }

    // Sets the size of a box, the positions of its children and the routes of its edges.
    place(box) {
        [box.width, box.height] = box.wanted;
        box.open = box.isGroup && box.expanded;
        if (!box.open) return;
        box.children.forEach((child) => this.place(child));
        const { at, items, rows, edges } = box.level;
        items.forEach((item, i) => {
            if (item.side) return;
            item.x = at[i][0] - item.width / 2;
            item.y = at[i][1] - item.height / 2;
        });
        box.routes = edges.map((edge) => {
            const [y0, y1] = [at[edge.fromIndex][1], at[edge.toIndex][1]];
            const up = y0 > y1;
            const ends = [this.end(edge.from, edge, "out", at[edge.fromIndex], rows, up), this.end(edge.to, edge, "in", at[edge.toIndex], rows, up)];
            const inner = edge.inner.map(([x, y]) => [x, rows.get(Math.round(y))]).filter(([, row]) => row);
            const verticals = [ends[0], ...inner.map(([x, [top, bottom]]) => (up ? [x, bottom, top] : [x, top, bottom])), ends[1]];
            const xs = verticals.map(([x]) => x);
            const extent = [Math.min(...xs), Math.min(y0, y1), Math.max(...xs), Math.max(y0, y1)];
            return { from: edge.from, to: edge.to, values: edge.values, isLoose: edge.isLoose, verticals, up, extent };
        });
    }

    // Where an edge leaves or enters a box: [x, y, y], a vertical line within the row of the box.
    end(item, edge, side, [x, y], rows, up) {
        if (item.side) return [x, y, y];
        const row = rows.get(Math.round(y)) || [y, y];
        let at = x;
        if (item.open) {
            const port = [...edge.values].map((v) => item.level.portAt[side].get(v)).find((p) => p !== undefined);
            if (port !== undefined) at = item.x + port;
        }
        const atBottom = (side === "out") !== up;
        const border = atBottom ? item.y + item.height : item.y;
        const limit = atBottom ? row[1] : row[0];
        return side === "out" ? [at, border, limit] : [at, limit, border];
    }
}
