// Everything about the selected box, or about the model.
const MOST_LISTED = 200;

// element("p", { class: "kind" }, "text", child, ...)
function element(name, attributes, ...children) {
    const out = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {}))
        if (key.startsWith("on")) out.addEventListener(key.slice(2), value);
        else out.setAttribute(key, value);
    out.append(...children.filter((child) => child !== null));
    return out;
}

// Code, which may be broken after dots, underscores, slashes and colons.
function codeOf(string) {
    return element("code", null, ...string.split(/(?<=[._/]|::)/).flatMap((part, i) => (i === 0 ? [part] : [document.createElement("wbr"), part])));
}

class Details {
    constructor(panel, onSelect) {
        this.panel = panel;
        this.onSelect = onSelect;
    }

    show(view, box) {
        let parts = [];
        if (!box) parts = this.ofModel(view);
        else if (box.node) parts = this.ofNode(view, box.node);
        else if (box.isGroup) parts = this.ofGroup(box);
        else parts = this.ofTerminal(view, box);
        this.panel.replaceChildren(...parts.filter((part) => part !== null));
        this.panel.scrollTop = 0;
    }

    link(view, box, label) {
        return element("button", { class: "link", onclick: () => this.onSelect(view, box, true) }, label);
    }

    section(title, list) {
        if (list.length === 0) return [];
        const shown = list.slice(0, MOST_LISTED);
        if (shown.length !== list.length) shown.push(element("li", null, `... and ${(list.length - shown.length).toLocaleString("en")} more`));
        return [element("h3", null, title), element("ul", null, ...shown)];
    }

    pairs(title, list, kind = "") {
        if (list.length === 0) return [];
        const rows = list.flatMap(([name, value]) => [element("dt", null, name), element("dd", null, value)]);
        return [element("h3", null, title), element("dl", { class: kind }, ...rows)];
    }

    // A value with its type, and a link to the node that computes it.
    value(view, v, partners) {
        const { name, type, role } = view.model.values[v];
        const code = codeOf(name);
        const boxes = partners.filter(Boolean);
        const links = boxes.slice(0, 12).flatMap((box) => [" ", this.link(view, box, box.label)]);
        if (boxes.length > 12) links.push(` and ${boxes.length - 12} more`);
        const direction = boxes[0] === view.model.producers[v] ? "from" : "to";
        const where = links.length ? [element("br"), direction, ...links] : [];
        return element("li", null, code, type ? ` ${type}` : "", role === ROLE.weight ? " (weight)" : "", ...where);
    }

    ofNode(view, node) {
        const { model } = view;
        const facts = [];
        if (node.name) facts.push(["Name", codeOf(node.name)]);
        if (node.overload) facts.push(["ATen", codeOf(node.overload)]);
        if (node.module) {
            const group = node.box.isModule ? node.box : node.box.parent;
            const path = codeOf(node.module);
            facts.push(["Module", group === view.root ? path : this.link(view, group, path)]);
        }
        if (node.moduleType) facts.push(["Class", codeOf(node.moduleType)]);
        if (node.source) facts.push(["Source", codeOf(node.source)]);
        const unique = [...new Set(node.inputs)];
        const isProgram = model.kind === "program";
        const attributes = node.attributes.map(([name, value]) => [name || "-", codeOf(value)]);
        return [
            element("p", { class: "kind" }, isProgram ? "Node of the program" : "Node of the graph"),
            element("h2", null, ...codeOf(node.op).childNodes),
            node.refusal ? element("p", { class: "refusal" }, "Cannot be converted: " + node.refusal) : null,
            data.comparison ? this.errorOf(node) : null,
            ...this.pairs("Origin", facts),
            node.code ? element("pre", null, codeOf(node.code)) : null,
            ...this.pairs(isProgram ? "Arguments" : "Attributes", attributes),
            ...this.section("Inputs", unique.map((v) => this.value(view, v, [model.producers[v]]))),
            ...this.section("Results", node.results.map((v) => this.value(view, v, model.consumers[v] || []))),
            ...this.counterparts(view, node),
        ];
    }

    errorOf(node) {
        const isBad = node.verdict === VERDICT.different;
        return element("p", { class: isBad ? "refusal" : "error" }, `${node.isFirst ? "First difference. " : ""}Error: ${errorText(node)}`);
    }

    // The nodes of the other pane that correspond to a node.
    counterparts(view, node) {
        const other = views.find((each) => each !== view);
        if (!other) return [];
        const nodes = correspondents(view.model, node);
        const isProgram = view.model === programModel;
        if (nodes.length !== 0) {
            const items = nodes.map((n) => element("li", null, this.link(other, n.box, n.op), " ", codeOf(n.name)));
            return this.section(isProgram ? "In the graph" : "In the program", items);
        }
        const why = isProgram
            ? "No node of the graph is this node's alone: it was folded into constants or joined with others."
            : "No node of the program corresponds.";
        return [element("p", { class: "kind" }, why)];
    }

    ofTerminal(view, box) {
        const { model } = view;
        const partners = box.kind === "input" ? model.consumers[box.value] || [] : [model.producers[box.value]];
        return [
            element("p", { class: "kind" }, box.kind === "input" ? "Input" : "Output"),
            element("h2", null, box.label),
            ...this.section("Value", [this.value(view, box.value, partners)]),
        ];
    }

    ofGroup(box) {
        const all = [];
        eachBox(box, (each) => each.node && all.push(each.node));
        return [
            element("p", { class: "kind" }, box.isSection ? "Section" : box.isModule ? "Module" : "Group"),
            element("h2", null, box.label),
            element("p", null, (box.moduleType ? box.moduleType + ", " : "") + counted(box.size, "node")),
            box.refused ? element("p", { class: "refusal" }, `${counted(box.refused, "node")} in it cannot be converted`) : null,
            ...this.operators(all),
        ];
    }

    operators(nodes) {
        const counts = new Map();
        for (const { op } of nodes) counts.set(op, (counts.get(op) || 0) + 1);
        const sorted = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
        return this.pairs("Operators", sorted.slice(0, MOST_LISTED).map(([op, n]) => [n.toLocaleString("en"), codeOf(op)]), "counts");
    }

    ofModel(view) {
        const { model } = view;
        const list = (values) => values.map((v) => element("li", null, codeOf(model.values[v].name), ` ${model.values[v].type}`));
        const main = model.graphs[0];
        const outputs = main.outputs.filter(([, v]) => v >= 0);
        const refused = new Map();
        for (const node of model.nodes)
            if (node.refusal) refused.set(node.op, [...(refused.get(node.op) || []), node]);
        const families = [...new Map(FAMILIES)].map(([name, label]) => element("span", { style: `--color: var(--${name})` }, label));
        return [
            element("p", { class: "kind" }, model.title),
            element("h2", null, data.title),
            element("p", null, [...data.facts, counted(model.nodes.length, "node")].join(", ")),
            ...this.section("Cannot be converted", [...refused].map(([op, nodes]) => this.refusal(view, op, nodes))),
            ...(data.comparison ? this.verification() : []),
            ...this.section("Warnings", data.warnings.map((warning) => element("li", null, warning))),
            ...this.section("Inputs", list(main.inputs.filter((v) => model.values[v].role === ROLE.input))),
            ...this.section("Outputs", outputs.map(([name, v]) => element("li", null, codeOf(name), ` ${model.values[v].type}`))),
            ...this.operators(model.nodes),
            element("h3", null, "Colors"),
            element("p", { class: "keys" }, ...families),
        ];
    }

    refusal(view, op, nodes) {
        const count = nodes.length === 1 ? "once" : `${nodes.length} times`;
        return element("li", { class: "refusal" }, this.link(view, nodes[0].box, op), ` ${count}: ${nodes[0].refusal}`);
    }

    // What --verify found: the nodes that differ, and the meaning of the colors.
    verification() {
        const view = views.find((each) => each.model === programModel);
        const different = programModel.nodes.filter((n) => n.verdict === VERDICT.different || n.isFirst);
        const items = different.map((n) => element("li", null, this.link(view, n.box, n.op), " ", codeOf(n.name), n.isFirst ? " (first)" : ""));
        const steps = [["exact", 0], ["1e-4", 1e-4], ["0.01", 0.01], ["tolerance", 1]];
        const scale = steps.map(([label, error]) => element("span", { style: `--color: ${errorColor(error)}` }, label));
        return [
            element("h3", null, "Verification"),
            element("p", { class: different.length ? "refusal" : "" }, data.comparison),
            ...this.section("Nodes that differ", items),
            element("h3", null, "Error of a node, as a fraction of the tolerance"),
            element("p", { class: "keys" }, ...scale),
        ];
    }
}
