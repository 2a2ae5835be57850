// Draws what of a pane is in its window. Details appear as they become readable.
const TEXT_FROM = 0.42; // scale
const INSIDE_FROM = 34; // pixels: the height below which a group is a plain block

let colors = {};
function readColors() {
    const style = getComputedStyle(document.documentElement);
    const names = ["page", "text", "muted", "accent", "box", "box-line", "group", "group-alternate", "edge", "input", "input-line", "bad", "bad-soft",
        "linked", "linked-soft", "exact", "middle", "inexact", "matrix", "layout", "norm", "activation", "reduction", "control"];
    colors = Object.fromEntries(names.map((name) => [name, style.getPropertyValue("--" + name).trim()]));
}

const clippedTexts = new Map();
function fitted(string, font, width) {
    if (widthOf(string, font) <= width) return string;
    const key = Math.floor(width) + font + string;
    if (!clippedTexts.has(key)) {
        let [low, high] = [0, string.length];
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (widthOf(string.slice(0, middle) + "\u2026", font) <= width) low = middle;
            else high = middle - 1;
        }
        clippedTexts.set(key, low === 0 ? "" : string.slice(0, low) + "\u2026");
    }
    return clippedTexts.get(key);
}

function mixed(a, b, t) {
    const part = (color, i) => parseInt(color.slice(i, i + 2), 16);
    return `rgb(${[1, 3, 5].map((i) => Math.round(part(a, i) + (part(b, i) - part(a, i)) * t)).join(" ")})`;
}

// From exact to the tolerance, by orders of magnitude.
function errorColor(error) {
    const t = error <= 0 ? 0 : Math.min(1, Math.max(0, (Math.log10(error) + 5) / 5));
    return t < 0.5 ? mixed(colors.exact, colors.middle, 2 * t) : mixed(colors.middle, colors.inexact, 2 * t - 1);
}

class Painter {
    constructor(view) {
        this.view = view;
        this.context = view.canvas.getContext("2d");
    }

    paint() {
        const { view, context } = this;
        const ratio = window.devicePixelRatio || 1;
        const { width, height } = view.size;
        if (view.canvas.width !== Math.round(width * ratio) || view.canvas.height !== Math.round(height * ratio)) {
            view.canvas.width = Math.round(width * ratio);
            view.canvas.height = Math.round(height * ratio);
        }
        const { x, y, k } = view.camera;
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.fillStyle = colors.page;
        context.fillRect(0, 0, width, height);
        context.setTransform(ratio * k, 0, 0, ratio * k, ratio * x, ratio * y);
        this.k = k;
        this.window = [-x / k, -y / k, (width - x) / k, (height - y) / k];
        this.drawn = 0;
        this.inside(view.root, 0, 0);
        if (firstDivergence && view.model === programModel) this.flag(firstDivergence.box.shown(), "first difference");
    }

    // A label above a box, in the same size at every scale.
    flag(box, label) {
        const { view, context } = this;
        const { x, y, k } = view.camera;
        const [left, top] = view.corner(box);
        const ratio = window.devicePixelRatio || 1;
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.font = LABEL_FONT;
        const width = widthOf(label, LABEL_FONT) + 14;
        const [px, py] = [left * k + x + (box.width * k - width) / 2, top * k + y - 24];
        context.beginPath();
        context.roundRect(px, py, width, 20, 4);
        context.fillStyle = colors.bad;
        context.fill();
        context.fillStyle = colors.page;
        context.textBaseline = "middle";
        context.fillText(label, px + 7, py + 10.5);
    }

    sees(left, top, right, bottom) {
        const [l, t, r, b] = this.window;
        return right >= l && left <= r && bottom >= t && top <= b;
    }

    // The children of an unfolded group, whose corner is at (x, y).
    inside(group, x, y) {
        const { view } = this;
        const strong = [];
        this.context.lineWidth = Math.max(1.1, 0.7 / this.k);
        for (const route of group.routes || []) {
            const [l, t, r, b] = route.extent;
            if (!this.sees(x + l - 20, y + t - 20, x + r + 20, y + b + 20)) continue;
            if (view.isStrong(route)) strong.push(route);
            else this.edge(route, x, y, colors.edge);
        }
        for (const child of group.children) {
            const [left, top] = [x + child.x, y + child.y];
            if (!this.sees(left - 8, top - 8, left + child.width + 8, top + child.height + 8)) continue;
            ++this.drawn;
            if (child.open) this.unfolded(child, left, top);
            else this.folded(child, left, top);
        }
        this.context.lineWidth = Math.max(2.2, 1.6 / this.k);
        for (const route of strong) this.edge(route, x, y, colors.accent);
    }

    edge({ verticals, up, to, isLoose }, x, y, color) {
        const { context } = this;
        context.globalAlpha = isLoose && color === colors.edge ? 0.2 : 1;
        context.beginPath();
        verticals.forEach(([vx, from, until], i) => {
            if (i === 0) {
                context.moveTo(x + vx, y + from);
            } else {
                const [px, , py] = verticals[i - 1];
                const middle = (py + from) / 2;
                if (Math.abs(px - vx) < 0.5) context.lineTo(x + vx, y + from);
                else context.bezierCurveTo(x + px, y + middle, x + vx, y + middle, x + vx, y + from);
            }
            if (until !== from) context.lineTo(x + vx, y + until);
        });
        context.strokeStyle = color;
        context.setLineDash(up ? [5, 4] : []);
        context.stroke();
        context.setLineDash([]);
        context.globalAlpha = 1;
        if (this.k < TEXT_FROM || to.side) return;
        const [vx, , end] = verticals[verticals.length - 1];
        const d = up ? 5 : -5;
        context.beginPath();
        context.moveTo(x + vx, y + end);
        context.lineTo(x + vx - 3.5, y + end + d);
        context.lineTo(x + vx + 3.5, y + end + d);
        context.fillStyle = color;
        context.fill();
    }

    outline(box, left, top, radius, line, fill) {
        const { context, view } = this;
        const selected = view.selected === box;
        const linked = view.linked.has(box);
        context.beginPath();
        context.roundRect(left, top, box.width, box.height, radius);
        context.fillStyle = linked ? colors["linked-soft"] : fill;
        context.fill();
        context.lineWidth = selected || linked ? Math.max(2.2, 2 / this.k) : Math.max(1, 0.7 / this.k);
        context.strokeStyle = selected ? colors.accent : linked ? colors.linked : line;
        context.stroke();
    }

    unfolded(box, left, top) {
        const { context } = this;
        this.outline(box, left, top, 8, box.isBad ? colors.bad : colors["box-line"], box.depth % 2 ? colors.group : colors["group-alternate"]);
        if (box.height * this.k < INSIDE_FROM) return;
        this.inside(box, left, top);
        // A label keeps its size on the screen while there is space for it.
        const size = Math.min(Math.max(12, 11 / this.k), HEADER * 0.8, 40);
        if (size * this.k < 7) return;
        context.font = `600 ${size}px ${FONT}`;
        const label = fitted(box.label, LABEL_FONT, (box.width - 30) * 12 / size);
        context.fillStyle = box.isBad ? colors.bad : colors.text;
        context.textBaseline = "middle";
        context.fillText("\u2212", left + 9, top + HEADER / 2);
        context.fillText(label, left + 10 + size, top + HEADER / 2);
        if (this.k < TEXT_FROM || !box.moduleType) return;
        const used = 10 + size + widthOf(label, LABEL_FONT) * size / 12 + 8;
        context.font = SMALL_FONT;
        context.fillStyle = colors.muted;
        context.fillText(fitted(box.moduleType.split(".").pop(), SMALL_FONT, box.width - used - 10), left + used, top + HEADER / 2);
    }

    folded(box, left, top) {
        const { context, view } = this;
        const isTerminal = box.kind === "input" || box.kind === "output";
        const bad = box.isBad;
        const fill = bad ? colors["bad-soft"] : isTerminal ? colors.input : box.verdict === VERDICT.same ? errorColor(box.error) : colors.box;
        const line = bad ? colors.bad : isTerminal ? colors["input-line"] : colors["box-line"];
        if (box.isGroup && this.k >= 0.2) { // a second sheet behind the first one
            context.beginPath();
            context.roundRect(left + 4, top + 4, box.width, box.height, 6);
            context.fillStyle = fill;
            context.fill();
            context.lineWidth = 1;
            context.strokeStyle = line;
            context.stroke();
        }
        this.outline(box, left, top, isTerminal ? box.height / 2 : 6, line, fill);
        const family = box.node && !box.isGroup ? familyOf(box.node.op) : "";
        if (family) {
            context.beginPath();
            context.roundRect(left, top, 5, box.height, [6, 0, 0, 6]);
            context.fillStyle = colors[family];
            context.fill();
        }
        if (this.k < TEXT_FROM) return;
        const start = left + (box.isGroup ? 26 : 14);
        const space = box.width - (start - left) - 8;
        const subtitle = view.layout.subtitle(box);
        context.textBaseline = "middle";
        context.font = LABEL_FONT;
        context.fillStyle = bad ? colors.bad : colors.text;
        if (box.isGroup) context.fillText("+", left + 10, top + box.height / 2);
        context.fillText(fitted(box.label, LABEL_FONT, space), start, top + (subtitle ? 0.34 : 0.5) * box.height);
        if (!subtitle) return;
        context.font = SMALL_FONT;
        context.fillStyle = colors.muted;
        context.fillText(fitted(subtitle, SMALL_FONT, space), start, top + 0.69 * box.height);
    }
}
