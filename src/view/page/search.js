// Search: all words must be in what is known about a node.
const MOST_FOUND = 100;

class Search {
    constructor(input, list, onSelect) {
        this.input = input;
        this.list = list;
        this.onSelect = onSelect;
        this.found = [];
        this.at = -1;
        input.addEventListener("input", () => this.find());
        input.addEventListener("focus", () => input.value && this.find());
        input.addEventListener("blur", () => setTimeout(() => this.close(), 150));
        input.addEventListener("keydown", (e) => this.key(e));
        list.addEventListener("mousedown", (e) => {
            const item = e.target.closest("[role=option]");
            if (item) this.choose(Number(item.dataset.at));
            e.preventDefault();
        });
    }

    // The text of each box that can be found, made once.
    entries() {
        if (this.all) return this.all;
        this.all = [];
        for (const view of views) {
            const { model } = view;
            eachBox(view.root, (box) => {
                if (box === view.root || box.isSection) return;
                const { node } = box;
                const values = node ? node.results : box.value >= 0 ? [box.value] : [];
                const words = [box.label, box.moduleType, ...values.flatMap((v) => [model.values[v].name, model.values[v].type])];
                if (node) words.push(node.op, node.name, node.overload, node.module, node.source, node.code, node.refusal);
                this.all.push({ view, box, text: words.join("\n").toLowerCase() });
            });
        }
        return this.all;
    }

    find() {
        const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
        if (words.length === 0) return this.close();
        const all = this.entries().filter((entry) => words.every((word) => entry.text.includes(word)));
        this.found = all.slice(0, MOST_FOUND);
        this.at = this.found.length ? 0 : -1;
        const items = this.found.map(({ view, box }, i) => {
            const what = box.node ? box.node.name : box.isGroup ? counted(box.size, "node") : box.kind;
            const note = [what, box.node ? box.node.module : "", views.length > 1 ? view.model.title.toLowerCase() : ""];
            const attributes = { role: "option", id: "found-" + i, "data-at": i, "aria-selected": String(i === this.at) };
            return element("li", attributes, box.label, element("small", null, note.filter(Boolean).join(", ")));
        });
        const rest = all.length - this.found.length;
        if (all.length === 0) items.push(element("li", { class: "note", role: "presentation" }, "Nothing was found"));
        if (rest > 0) items.push(element("li", { class: "note", role: "presentation" }, `and ${rest.toLocaleString("en")} more`));
        this.list.replaceChildren(...items);
        this.list.hidden = false;
        this.input.setAttribute("aria-expanded", "true");
        this.mark();
        say(`${counted(all.length, "node")} found`);
    }

    mark() {
        [...this.list.querySelectorAll("[role=option]")].forEach((item, i) => item.setAttribute("aria-selected", String(i === this.at)));
        if (this.at >= 0) {
            this.input.setAttribute("aria-activedescendant", "found-" + this.at);
            this.list.children[this.at].scrollIntoView({ block: "nearest" });
        } else this.input.removeAttribute("aria-activedescendant");
    }

    close() {
        this.list.hidden = true;
        this.input.setAttribute("aria-expanded", "false");
        this.input.removeAttribute("aria-activedescendant");
    }

    choose(at) {
        const entry = this.found[at];
        if (!entry) return;
        this.at = at;
        this.mark();
        this.onSelect(entry.view, entry.box, true);
    }

    key(e) {
        if (e.key === "Escape") this.close();
        else if (e.key === "Enter" && this.list.hidden) this.find();
        else if (e.key === "Enter") this.choose(this.at);
        else if ((e.key === "ArrowDown" || e.key === "ArrowUp") && this.found.length) {
            this.at = (this.at + (e.key === "ArrowDown" ? 1 : -1) + this.found.length) % this.found.length;
            this.mark();
        } else return;
        e.preventDefault();
    }
}
