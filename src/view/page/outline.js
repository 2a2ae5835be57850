// The outline: the boxes of a pane as a tree. Only the rows in its window exist.
const ROW = 24;

class Outline {
    constructor(element, onSelect) {
        this.tree = element.querySelector(".tree");
        this.rows = element.querySelector(".rows");
        this.tabs = element.querySelector(".tabs");
        this.onSelect = onSelect;
        this.view = null;
        this.boxes = [];
        this.active = 0;
        this.tree.addEventListener("scroll", () => this.draw());
        new ResizeObserver(() => this.draw()).observe(this.tree);
        this.tree.addEventListener("keydown", (e) => this.key(e));
        this.rows.addEventListener("click", (e) => {
            const row = e.target.closest(".row");
            if (!row) return;
            const box = this.boxes[Number(row.dataset.at)];
            if (box.isGroup && e.target.classList.contains("twist")) return this.view.toggle(box);
            this.onSelect(this.view, box, true);
        });
        this.rows.addEventListener("dblclick", (e) => {
            const row = e.target.closest(".row");
            const box = row && this.boxes[Number(row.dataset.at)];
            if (box && box.isGroup && !e.target.classList.contains("twist")) this.view.toggle(box);
        });
    }

    addTab(view) {
        const tab = document.createElement("button");
        tab.setAttribute("role", "tab");
        tab.textContent = view.model.title;
        tab.addEventListener("click", () => this.onSelect(view, view.selected));
        this.tabs.append(tab);
        view.tab = tab;
    }

    show(view) {
        this.view = view;
        for (const tab of this.tabs.children) tab.setAttribute("aria-selected", String(tab === view.tab));
        this.tree.setAttribute("aria-label", `${view.model.title}: nodes by module`);
        this.refresh();
    }

    refresh() {
        if (!this.view) return;
        this.boxes = [];
        const visit = (box, level) => box.children.forEach((child, i) => {
            child.row = { level, position: i + 1, of: box.children.length };
            this.boxes.push(child);
            if (child.isGroup && child.expanded) visit(child, level + 1);
        });
        visit(this.view.root, 1);
        this.rows.style.height = `${this.boxes.length * ROW}px`;
        const selected = this.view.selected ? this.boxes.indexOf(this.view.selected.shown()) : -1;
        this.active = Math.min(this.boxes.length - 1, selected >= 0 ? selected : Math.max(0, this.active));
        if (selected >= 0) this.scrollTo(selected);
        this.draw();
    }

    scrollTo(at) {
        const { scrollTop, clientHeight } = this.tree;
        if (at * ROW < scrollTop) this.tree.scrollTop = at * ROW - ROW;
        else if ((at + 1) * ROW > scrollTop + clientHeight) this.tree.scrollTop = (at + 2) * ROW - clientHeight;
    }

    draw() {
        const first = Math.max(0, Math.floor(this.tree.scrollTop / ROW) - 4);
        const last = Math.min(this.boxes.length, first + Math.ceil(this.tree.clientHeight / ROW) + 8);
        const made = [];
        for (let i = first; i < last; ++i) made.push(this.row(this.boxes[i], i));
        const isElsewhere = this.active < first || this.active >= last;
        if (isElsewhere && this.boxes[this.active]) made.push(this.row(this.boxes[this.active], this.active));
        this.rows.replaceChildren(...made);
        this.tree.setAttribute("aria-activedescendant", this.boxes.length ? "row-" + this.active : "");
    }

    row(box, at) {
        const row = document.createElement("div");
        const { level, position, of } = box.row;
        row.id = "row-" + at;
        row.dataset.at = at;
        row.className = "row";
        row.classList.toggle("group", box.isGroup);
        row.classList.toggle("bad", box.isBad);
        row.classList.toggle("linked", this.view.linked.has(box));
        row.classList.toggle("active", at === this.active);
        row.style.top = `${at * ROW}px`;
        row.style.paddingLeft = `${6 + 13 * (level - 1)}px`;
        row.setAttribute("role", "treeitem");
        row.setAttribute("aria-level", level);
        row.setAttribute("aria-posinset", position);
        row.setAttribute("aria-setsize", of);
        row.setAttribute("aria-selected", String(box === this.view.selected));
        if (box.isGroup) row.setAttribute("aria-expanded", String(box.expanded));
        const twist = document.createElement("span");
        twist.className = "twist";
        twist.setAttribute("aria-hidden", "true");
        twist.textContent = box.isGroup ? (box.expanded ? "\u25be" : "\u25b8") : "";
        const small = document.createElement("small");
        small.textContent = box.isGroup ? box.size.toLocaleString("en") : box.node ? box.node.name : box.kind;
        if (box.isBad) small.textContent += box.refused ? " cannot be converted" : box.node && box.node.isFirst ? " first difference" : " differs";
        row.append(twist, box.label, small);
        row.title = box.isGroup ? box.label : `${box.label} ${small.textContent}`;
        return row;
    }

    key(e) {
        const box = this.boxes[this.active];
        if (!box || e.ctrlKey || e.metaKey || e.altKey) return;
        const page = Math.max(1, Math.floor(this.tree.clientHeight / ROW) - 1);
        const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.boxes.length, End: this.boxes.length };
        const goTo = (at) => this.onSelect(this.view, this.boxes[Math.max(0, Math.min(this.boxes.length - 1, at))], true);
        if (moves[e.key]) goTo(this.active + moves[e.key]);
        else if (e.key === "ArrowRight" && box.isGroup) box.expanded ? goTo(this.active + 1) : this.view.toggle(box);
        else if (e.key === "ArrowLeft" && box.isGroup && box.expanded) this.view.toggle(box);
        else if (e.key === "ArrowLeft" && box.parent !== this.view.root) goTo(this.boxes.indexOf(box.parent));
        else if (e.key === "Enter" || e.key === " ") box.isGroup ? this.view.toggle(box) : this.onSelect(this.view, box, true);
        else if (e.key !== "ArrowRight" && e.key !== "ArrowLeft") return;
        e.preventDefault();
    }
}
