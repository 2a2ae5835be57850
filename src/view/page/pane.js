// A pane: its camera, and what pointer and keyboard do.
const MIN_SCALE = 0.002, MAX_SCALE = 3;
const READABLE = 0.62;
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

class View {
    constructor(model, root, onSelect) {
        this.model = model;
        this.root = root;
        this.onSelect = onSelect;
        this.layout = new Layout(model, root);
        this.camera = { x: 0, y: 0, k: 1 };
        this.size = { width: 1, height: 1 };
        this.selected = null;
        this.linked = new Set(); // boxes that correspond to the selection of the other pane
        this.strongValues = new Set();
        this.busy = Promise.resolve(); // the layouts that run
        this.moved = false; // by the user: no longer fitted to the window
        this.element = document.createElement("section");
        this.element.className = "pane";
        this.element.setAttribute("aria-label", model.title);
        const heading = document.createElement("h2");
        heading.textContent = `${model.title}, ${counted(model.nodes.length, "node")}`;
        this.canvas = document.createElement("canvas");
        this.canvas.tabIndex = 0;
        this.canvas.setAttribute("role", "application");
        this.canvas.setAttribute("aria-roledescription", "graph");
        this.canvas.setAttribute("aria-label", `${model.title}, ${counted(model.nodes.length, "node")}`);
        this.canvas.setAttribute("aria-describedby", "help");
        this.element.append(this.canvas, heading);
        this.painter = new Painter(this);
        this.listen();
    }

    redraw() {
        if (this.pending) return;
        this.pending = true;
        requestAnimationFrame(() => {
            this.pending = false;
            this.painter.paint();
        });
    }

    isStrong(route) {
        if (this.selected && (route.from === this.selected || route.to === this.selected)) return true;
        for (const v of this.strongValues) if (route.values.has(v)) return true;
        return false;
    }

    listen() {
        new ResizeObserver(() => {
            const { clientWidth, clientHeight } = this.element;
            this.size = { width: clientWidth, height: clientHeight };
            if (this.root.level && !this.moved) this.whole(false);
            this.redraw();
        }).observe(this.element);
        const { canvas } = this;
        const pointers = new Map();
        let travelled = 0;
        canvas.addEventListener("pointerdown", (e) => {
            canvas.setPointerCapture(e.pointerId);
            pointers.set(e.pointerId, [e.offsetX, e.offsetY]);
            travelled = 0;
        });
        canvas.addEventListener("pointermove", (e) => {
            const before = pointers.get(e.pointerId);
            if (!before) return this.hover(e);
            const now = [e.offsetX, e.offsetY];
            const others = [...pointers].filter(([id]) => id !== e.pointerId).map(([, at]) => at);
            if (others.length !== 0) { // two fingers zoom
                const distance = (a) => Math.hypot(a[0] - others[0][0], a[1] - others[0][1]);
                this.zoom(distance(now) / Math.max(1, distance(before)), others[0][0], others[0][1]);
            }
            travelled += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
            if (others.length === 0 && travelled > 3) this.pan(now[0] - before[0], now[1] - before[1]);
            pointers.set(e.pointerId, now);
        });
        const release = (e) => {
            const wasDown = pointers.delete(e.pointerId);
            if (!wasDown || e.type !== "pointerup" || travelled > 3) return;
            const { box, onSign } = this.hit(e.offsetX, e.offsetY);
            if (box && box.isGroup && onSign) this.toggle(box);
            this.onSelect(this, box);
        };
        canvas.addEventListener("pointerup", release);
        canvas.addEventListener("pointercancel", release);
        canvas.addEventListener("dblclick", (e) => {
            const { box, onSign } = this.hit(e.offsetX, e.offsetY);
            if (box && box.isGroup && !onSign) this.toggle(box);
        });
        canvas.addEventListener("wheel", (e) => {
            e.preventDefault();
            if (e.shiftKey) return this.pan(-e.deltaY - e.deltaX, 0);
            const lines = e.deltaMode === 1 ? 18 : 1;
            this.zoom(Math.exp(-Math.max(-120, Math.min(120, e.deltaY * lines)) * (e.ctrlKey ? 0.01 : 0.002)), e.offsetX, e.offsetY);
        }, { passive: false });
        canvas.addEventListener("keydown", (e) => this.key(e));
        canvas.addEventListener("focus", () => this.onSelect(this, this.selected));
    }

    key(e) {
        const arrows = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
        if (e.ctrlKey || e.metaKey || e.altKey) return;
        if (arrows[e.key] && (e.shiftKey || !this.selected)) {
            const [dx, dy] = arrows[e.key];
            if (e.shiftKey) this.pan(-60 * dx, -60 * dy);
            else this.onSelect(this, this.root.children[0], true);
        } else if (arrows[e.key]) this.follow(...arrows[e.key]);
        else if (e.key === "+" || e.key === "=") this.zoom(1.25);
        else if (e.key === "-") this.zoom(0.8);
        else if (e.key === "0") this.whole();
        else if (e.key === "Enter" && this.selected && this.selected.isGroup) this.toggle(this.selected);
        else if (e.key === "Escape") this.onSelect(this, this.selected && this.selected.parent !== this.root ? this.selected.parent : null, true);
        else return;
        e.preventDefault();
    }

    // Selects the box at the other end of an edge (up, down), or beside this one (left, right).
    follow(dx, dy) {
        const at = this.selected.shown();
        const group = at.parent;
        const middle = (box) => box.x + box.width / 2;
        let boxes = [];
        if (dy !== 0) {
            const ends = (group.routes || []).map((r) => (dy > 0 ? [r.from, r.to] : [r.to, r.from]));
            boxes = ends.filter(([from, to]) => from === at && !to.side).map(([, to]) => to);
            if (boxes.length === 0 && group !== this.root) boxes = [group];
        } else {
            const isBeside = (box) => Math.abs(box.y + box.height / 2 - at.y - at.height / 2) < 1;
            boxes = group.children.filter((box) => isBeside(box) && (middle(box) - middle(at)) * dx > 0);
        }
        boxes.sort((a, b) => Math.abs(middle(a) - middle(at)) - Math.abs(middle(b) - middle(at)));
        if (boxes.length !== 0) this.onSelect(this, boxes[0], true);
    }

    hover(e) {
        const { box, onSign } = this.hit(e.offsetX, e.offsetY);
        this.canvas.style.cursor = box ? "pointer" : "";
        this.canvas.title = box && this.camera.k < TEXT_FROM ? box.label : box && onSign ? (box.open ? "Fold" : "Unfold") : "";
    }

    // The innermost box at a point of the canvas, and whether the point is on its sign + or -.
    hit(px, py) {
        const { x, y, k } = this.camera;
        let [gx, gy] = [(px - x) / k, (py - y) / k];
        let group = this.root;
        let box = null;
        for (;;) {
            const inside = group.children.find((c) => gx >= c.x && gy >= c.y && gx <= c.x + c.width && gy <= c.y + c.height);
            if (!inside) break;
            box = inside;
            gx -= box.x;
            gy -= box.y;
            if (!box.open || box.height * k < INSIDE_FROM) break;
            group = box;
        }
        return { box, onSign: Boolean(box) && box.isGroup && gx < 26 && (!box.open || gy < HEADER) };
    }

    corner(box) {
        let [x, y] = [0, 0];
        for (let at = box; at.parent; at = at.parent) {
            x += at.x;
            y += at.y;
        }
        return [x, y];
    }

    pan(dx, dy) {
        this.moved = true;
        this.camera.x += dx;
        this.camera.y += dy;
        this.redraw();
    }

    zoom(factor, px = this.size.width / 2, py = this.size.height / 2) {
        this.moved = true;
        const { camera } = this;
        const k = Math.min(MAX_SCALE, Math.max(MIN_SCALE, camera.k * factor));
        camera.x = px - ((px - camera.x) * k) / camera.k;
        camera.y = py - ((py - camera.y) * k) / camera.k;
        camera.k = k;
        this.redraw();
    }

    // Moves the camera; in a few steps, unless the user prefers calm pages.
    fly(to, animate = true) {
        const from = { ...this.camera };
        const start = performance.now();
        const flight = (this.flight = {});
        if (!animate || calm.matches || document.hidden) {
            this.camera = to;
            return this.redraw();
        }
        const step = (now) => {
            if (this.flight !== flight) return;
            const t = Math.min(1, Math.max(0, (now - start) / 220));
            const s = t * t * (3 - 2 * t);
            for (const name of ["x", "y", "k"]) this.camera[name] = from[name] + (to[name] - from[name]) * s;
            this.redraw();
            if (t < 1) requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
    }

    // Shows everything; what would be too small to read, from its top.
    fit(animate = true) {
        const { width } = this.size;
        if (this.wholeScale() >= READABLE) return this.whole(animate);
        const first = this.root.children.find((box) => box.kind === "input") || this.root;
        this.moved = true;
        this.fly({ x: width / 2 - (this.corner(first)[0] + first.width / 2) * READABLE, y: 24, k: READABLE }, animate);
    }

    wholeScale() {
        const { width, height } = this.size;
        return Math.max(MIN_SCALE, Math.min(1.1, (width - 24) / this.root.width, (height - 44) / this.root.height));
    }

    whole(animate = true) {
        const { width, height } = this.size;
        const k = this.wholeScale();
        this.moved = false;
        this.fly({ x: (width - this.root.width * k) / 2, y: (height - this.root.height * k) / 2 + 10, k }, animate);
    }

    // Moves the camera so that a box is in the window, and readable if `near`.
    show(box, near = false) {
        const [x, y] = this.corner(box);
        const { camera, size } = this;
        let k = camera.k;
        if (near && k < TEXT_FROM * 1.4) k = 0.9;
        if (box.width * k > size.width) k = Math.max(MIN_SCALE, (size.width - 20) / box.width);
        const [left, top] = [x * k + camera.x, y * k + camera.y];
        const height = Math.min(box.height * k, size.height - 60);
        const fits = left >= 8 && top >= 30 && left + box.width * k <= size.width - 8 && top + height <= size.height - 8;
        if (k === camera.k && fits) return this.redraw();
        this.moved = true;
        this.fly({ x: (size.width - box.width * k) / 2 - x * k, y: (size.height - height) / 2 - y * k, k });
    }

    // Unfolds or folds; the box stays where it is on the screen.
    async toggle(box) {
        box.expanded = !box.expanded;
        await this.relayout(box);
        this.onSelect(this, box);
    }

    async relayout(anchor = null) {
        let before = null;
        this.busy = this.busy.then(() => {
            before = anchor && this.corner(anchor);
            return this.layout.run();
        });
        await this.busy;
        if (before) {
            const after = this.corner(anchor);
            this.flight = null;
            this.camera.x += (before[0] - after[0]) * this.camera.k;
            this.camera.y += (before[1] - after[1]) * this.camera.k;
        }
        this.redraw();
    }

    // Unfolds what is around a box.
    async reveal(box) {
        let changed = false;
        for (let at = box.parent; at; at = at.parent) {
            changed = changed || !at.expanded;
            at.expanded = true;
        }
        if (changed) await this.relayout();
    }
}
