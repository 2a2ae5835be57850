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

class Details {
    constructor(panel, onSelect) {
        this.panel = panel;
        this.onSelect = onSelect;
    }

    show(view, box) {
        const parts = !box ? this.ofModel(view) : box.node ? this.ofNode(view, box.node) : box.isGroup ? this.ofGroup(box) : this.ofTerminal(view, box);
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
        const code = element("code", null, name);
        const boxes = partners.filter(Boolean);
        const links = boxes.slice(0, 12).flatMap((box) => [" ", this.link(view, box, box.label)]);
        if (boxes.length > 12) links.push(` and ${boxes.length - 12} more`);
        return element("li", null, code, type ? ` ${type}` : "", role === ROLE.weight ? " (weight)" : "", ...(links.length ? [element("br"), boxes[0] === view.model.producers[v] ? "from" : "to", ...links] : []));
    }

    ofNode(view, node) {
        const { model } = view;
        const facts = [];
        if (node.name) facts.push(["Name", element("code", null, node.name)]);
        if (node.overload) facts.push(["ATen", element("code", null, node.overload)]);
        if (node.module) {
            const group = node.box.isModule ? node.box : node.box.parent;
            const path = element("code", null, node.module);
            facts.push(["Module", group === view.root ? path : this.link(view, group, path)]);
        }
        if (node.moduleType) facts.push(["Class", element("code", null, node.moduleType)]);
        if (node.source) facts.push(["Source", element("code", null, node.source)]);
        const unique = [...new Set(node.inputs)];
        const other = correspondents(model, node);
        const otherView = views.find((each) => each !== view);
        const missing = otherView && other.length === 0
            ? element("p", { class: "kind" }, model.kind === "program" ? "No node of the graph is this node's alone: it was folded into constants or joined with others." : "No node of the program corresponds.")
            : null;
        return [
            element("p", { class: "kind" }, model.kind === "program" ? "Node of the program" : "Node of the graph"),
            element("h2", null, node.op),
            node.refusal ? element("p", { class: "refusal" }, "Cannot be converted: " + node.refusal) : null,
            data.comparison ? element("p", { class: node.verdict === VERDICT.different ? "refusal" : "error" }, (node.isFirst ? "First difference. " : "") + "Error: " + errorText(node)) : null,
            ...this.pairs("Origin", facts),
            node.code ? element("pre", null, element("code", null, node.code)) : null,
            ...this.pairs(model.kind === "program" ? "Arguments" : "Attributes", node.attributes.map(([name, value]) => [name || "-", element("code", null, value)])),
            ...this.section("Inputs", unique.map((v) => this.value(view, v, [model.producers[v]]))),
            ...this.section("Results", node.results.map((v) => this.value(view, v, model.consumers[v] || []))),
            ...(otherView ? this.section(model.kind === "program" ? "In the graph" : "In the program", other.map((n) => element("li", null, this.link(otherView, n.box, n.op), " ", element("code", null, n.name || ""))))
                : []),
            missing,
        ];
    }

    ofTerminal(view, box) {
        const { model } = view;
        const partners = box.kind === "input" ? model.consumers[box.value] || [] : [model.producers[box.value]];
        return [element("p", { class: "kind" }, box.kind === "input" ? "Input" : "Output"), element("h2", null, box.label), ...this.section("Value", [this.value(view, box.value, partners)])];
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
        return this.pairs("Operators", sorted.slice(0, MOST_LISTED).map(([op, n]) => [n.toLocaleString("en"), element("code", null, op)]), "counts");
    }

    ofModel(view) {
        const { model } = view;
        const list = (values) => values.map((v) => element("li", null, element("code", null, model.values[v].name), ` ${model.values[v].type}`));
        const main = model.graphs[0];
        const refused = new Map();
        for (const node of model.nodes)
            if (node.refusal) refused.set(node.op, [...(refused.get(node.op) || []), node]);
        const different = programModel ? programModel.nodes.filter((n) => n.verdict === VERDICT.different || n.isFirst) : [];
        const programView = views.find((each) => each.model === programModel);
        const scale = ["exact", "1e-4", "0.01", "tolerance"].map((label, i) => element("span", { style: `--color: ${errorColor([0, 1e-4, 0.01, 1][i])}` }, label));
        const families = FAMILIES.map(([name, label]) => element("span", { style: `--color: var(--${name})` }, label));
        return [
            element("p", { class: "kind" }, model.title),
            element("h2", null, data.title),
            element("p", null, [...data.facts, counted(model.nodes.length, "node")].join(", ")),
            ...this.section("Cannot be converted", [...refused].map(([op, nodes]) => element("li", { class: "refusal" }, this.link(view, nodes[0].box, op), ` ${nodes.length === 1 ? "once" : nodes.length + " times"}: ${nodes[0].refusal}`))),
            ...(data.comparison ? [element("h3", null, "Verification"), element("p", { class: different.length || firstDivergence ? "refusal" : "" }, data.comparison)] : []),
            ...this.section("Nodes that differ", different.map((n) => element("li", null, this.link(programView, n.box, n.op), " ", element("code", null, n.name), n.isFirst ? " (first)" : ""))),
            ...(data.comparison ? [element("h3", null, "Error of a node, as a fraction of the tolerance"), element("p", { class: "keys" }, ...scale)] : []),
            ...this.section("Warnings", data.warnings.map((warning) => element("li", null, warning))),
            ...this.section("Inputs", list(main.inputs.filter((v) => model.values[v].role === ROLE.input))),
            ...this.section("Outputs", main.outputs.filter(([, v]) => v >= 0).map(([name, v]) => element("li", null, element("code", null, name), ` ${model.values[v].type}`))),
            ...this.operators(model.nodes),
            element("h3", null, "Colors"),
            element("p", { class: "keys" }, ...families),
        ];
    }
}
