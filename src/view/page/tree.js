// Boxes: what is drawn. Nodes are folded by the modules that they belong to, and long lists of nodes in sections.
const MAX_DEPTH = 32; // of module paths
const MAX_CHILDREN = 90; // of a group; more become sections, so that every layout is small
const MAX_TOP = 40; // of the outermost group, whose boxes are the first that is seen
const MAX_PORTS = 6; // of one side of a group
const MAX_LOOSE = 8; // nodes beside modules in a group; of more, those that follow each other become sections
const MIN_RUN = 4; // nodes of such a section

let boxCount = 0;
class Box {
    constructor(kind, label, parent) {
        this.id = boxCount++;
        this.kind = kind; // "node", "input", "output", "group", "more": an input or output of many
        this.label = label;
        this.parent = null;
        this.depth = 0;
        this.children = [];
        this.node = null; // of "node", and of a group that stands for a node with graphs
        this.value = -1; // of "input" and "output"
        this.size = 0; // nodes inside
        this.refused = 0; // of them
        this.verdict = VERDICT.unknown; // the worst of them, and the largest error
        this.error = 0;
        this.expanded = false; // what is wanted
        this.open = false; // what is drawn
        this.isModule = false;
        this.isSection = false;
        this.module = ""; // of a node that is all of its module: the module's name
        this.moduleType = "";
        this.edges = new Map(); // between children, and from and to ports
        this.ports = { in: new Map(), out: new Map() };
        this.x = this.y = this.width = this.height = 0; // x and y: relative to the parent
        this.level = null; // layout.js
        if (parent) parent.add(this);
    }
    get isBad() { return this.refused !== 0 || this.verdict === VERDICT.different; }
    get isGroup() { return this.children.length !== 0; }
    add(child) {
        child.parent = this;
        this.children.push(child);
    }
    // The outermost folded group around the box, or the box.
    shown() {
        let out = this;
        for (let at = this.parent; at; at = at.parent) if (!at.expanded) out = at;
        return out;
    }
}

function partsOf(module) {
    const parts = module.split(module.startsWith("/") ? "/" : ".").filter((part) => part !== "");
    return parts.length <= MAX_DEPTH ? parts : [...parts.slice(0, MAX_DEPTH - 1), parts.slice(MAX_DEPTH - 1).join(".")];
}

class TreeBuilder {
    constructor(model) {
        this.model = model;
        this.root = new Box("group", model.title, null);
        this.modules = new Map(); // groups by the id of the group around them and their name
    }

    build() {
        const { model } = this;
        for (const node of model.nodes) {
            node.box = new Box("node", shortOp(node.op), null);
            node.box.node = node;
        }
        const containers = model.graphs.map((graph, i) => {
            if (i === 0) return this.root;
            const owner = graph.owner < 0 ? this.root : model.nodes[graph.owner].box;
            return new Box("group", graph.label || "graph", owner);
        });
        const nodesOf = model.graphs.map(() => []);
        for (const node of model.nodes) nodesOf[node.graph].push(node);
        const predecessors = this.predecessors();
        model.graphs.forEach((graph, i) => this.fill(containers[i], graph, nodesOf[i], predecessors));
        this.simplify(this.root);
        this.measure(this.root, 0);
        this.link();
        return this.root;
    }

    // The nodes of the same graph whose results each node uses, itself or in a graph of its own.
    predecessors() {
        const { model } = this;
        const makers = [];
        for (const node of model.nodes) for (const v of node.results) makers[v] = node;
        const all = model.nodes.map(() => []);
        for (const node of model.nodes)
            for (const v of node.inputs) {
                let at = node;
                while (makers[v] && at && at.graph !== makers[v].graph) at = model.nodes[model.graphs[at.graph].owner];
                if (makers[v] && at && makers[v].index < at.index) all[at.index].push(makers[v].index);
            }
        return all;
    }

    // A module that is called again with what was computed from its results is another group: numbers the calls of each module on the path
    // of each node. On every path through the graph, a group is entered once.
    numberCalls(nodes, paths, predecessors) {
        const modules = new Map();
        nodes.forEach((node) => {
            let path = "";
            paths[node.index].forEach((part, depth) => {
                path += "/" + part;
                if (!modules.has(path)) modules.set(path, { depth, members: [] });
                modules.get(path).members.push(node);
            });
        });
        const position = new Map(nodes.map((node, i) => [node.index, i]));
        const calls = new Map(nodes.map((node) => [node.index, []]));
        for (const { depth, members } of modules.values()) {
            const first = position.get(members[0].index);
            const last = position.get(members[members.length - 1].index);
            const inside = new Set(members);
            const entered = new Map(); // how often the module was left on a path to a node
            for (let i = first; i <= last; ++i) {
                let count = 0;
                for (const before of predecessors[nodes[i].index]) {
                    if (!entered.has(before)) continue;
                    const leaves = inside.has(this.model.nodes[before]) && !inside.has(nodes[i]);
                    count = Math.max(count, entered.get(before) + (leaves ? 1 : 0));
                }
                entered.set(nodes[i].index, count);
                if (inside.has(nodes[i])) calls.get(nodes[i].index)[depth] = count;
            }
        }
        return calls;
    }

    fill(container, graph, nodes, predecessors) {
        const { model } = this;
        const around = graph.owner < 0 ? [] : partsOf(model.nodes[graph.owner].module);
        this.terminals(container, "input", graph.inputs.map((v) => [model.values[v].name, v]).filter(([, v]) => model.values[v].role === ROLE.input));
        const paths = [];
        for (const node of nodes) {
            const parts = partsOf(node.module);
            let skip = 0;
            while (skip < around.length && skip < parts.length && parts[skip] === around[skip]) ++skip;
            paths[node.index] = parts.slice(skip);
        }
        const calls = this.numberCalls(nodes, paths, predecessors);
        for (const node of nodes) {
            let group = container;
            paths[node.index].forEach((part, depth) => { group = this.moduleIn(group, part, calls.get(node.index)[depth]); });
            if (node.moduleType && group !== container) group.moduleType = node.moduleType;
            group.add(node.box);
        }
        this.terminals(container, "output", graph.outputs.filter(([, v]) => v >= 0));
    }

    terminals(container, kind, all) {
        const group = all.length > 12 ? new Box("group", counted(all.length, kind), container) : container;
        for (const [name, value] of all) new Box(kind, name, group).value = value;
    }

    moduleIn(group, name, call) {
        const key = `${group.id}/${call}/${name}`;
        let found = this.modules.get(key);
        if (!found) {
            found = new Box("group", name, group);
            found.isModule = true;
            this.modules.set(key, found);
        }
        return found;
    }

    // Joins a group with its only child, and divides groups of many children.
    simplify(group) {
        group.children = group.children.map((child) => {
            if (!child.isGroup) return child;
            this.simplify(child);
            if (!child.isModule || child.children.length !== 1) return child;
            const only = child.children[0];
            if (only.kind === "group" && !only.isModule) return child;
            if (only.isModule) {
                only.label = child.label + "." + only.label;
            } else if (only.node && !only.isGroup) {
                only.module = child.label;
            }
            only.parent = group;
            return only;
        });
        this.gatherRuns(group);
        if (group === this.root && group.children.length > MAX_TOP) this.divide(group, Math.max(4, Math.ceil(group.children.length / 20)));
        this.divideMany(group);
    }

    // Beside modules, nodes that follow each other become a section, so that the modules are what is seen. Not if a module has nodes before and
    // after them: edges would lead from the section to it and back.
    gatherRuns(group) {
        const loose = group.children.filter((child) => child.kind === "node" && !child.isGroup);
        if (loose.length <= MAX_LOOSE || !group.children.some((child) => child.isModule)) return;
        const at = []; // the children that the nodes belong to, by the nodes' indices
        const ends = new Map();
        for (const child of group.children)
            eachBox(child, ({ node }) => {
                if (!node || node.graph !== loose[0].node.graph) return;
                at[node.index] = child;
                const [first, last] = ends.get(child) || [node.index, node.index];
                ends.set(child, [Math.min(first, node.index), Math.max(last, node.index)]);
            });
        let run = [];
        const finish = () => {
            const [a, b] = run.length ? [run[0].node.index, run[run.length - 1].node.index] : [];
            if (run.length >= MIN_RUN && ![...ends.values()].some(([first, last]) => first < a && last > b)) this.gather(group, run);
            run = [];
        };
        for (const child of at) {
            if (!child) continue;
            if (child.kind === "node" && !child.isGroup) run.push(child);
            else finish();
        }
        finish();
    }

    gather(group, run) {
        const section = new Box("group", `${run[0].label} to ${run[run.length - 1].label}`, null);
        section.isSection = true;
        group.children[group.children.indexOf(run[0])] = section;
        section.parent = group;
        run.forEach((child) => section.add(child));
        const inside = new Set(run);
        group.children = group.children.filter((child) => !inside.has(child));
    }

    divideMany(group, start = 0) {
        const count = group.children.length;
        if (count > MAX_CHILDREN) this.divide(group, Math.max(20, Math.ceil(count / MAX_CHILDREN)), start);
    }

    // Divides children in sections of a size. `start`: how many are in sections before this group.
    divide(group, size, start = 0) {
        const isEnd = (child) => child.kind === "input" || child.kind === "output";
        const [inputs, all, outputs] = ["input", "", "output"].map((kind) => group.children.filter((c) => (kind ? c.kind === kind : !isEnd(c))));
        group.children = inputs;
        for (let i = 0; i < all.length; i += size) {
            const section = new Box("group", "", group);
            section.isSection = true;
            for (const child of all.slice(i, i + size)) section.add(child);
            const [first, last] = [section.children[0], section.children[section.children.length - 1]];
            const hasNames = first.isModule && last.isModule && first !== last;
            const ends = hasNames ? [first.label, last.label] : [start + i + 1, start + i + section.children.length];
            section.label = ends.join(" to ");
            this.divideMany(section, start + i);
        }
        group.children.push(...outputs);
    }

    measure(box, depth) {
        box.depth = depth;
        box.size = box.node && !box.isGroup ? 1 : 0;
        if (box.node && box.isGroup) box.size = 1;
        box.refused = box.node && box.node.refusal ? 1 : 0;
        if (box.node) [box.verdict, box.error] = [box.node.verdict, box.node.error];
        for (const child of box.children) {
            this.measure(child, depth + 1);
            box.size += child.size;
            box.refused += child.refused;
            box.verdict = Math.max(box.verdict, child.verdict);
            box.error = Math.max(box.error, child.error);
        }
    }

    link() {
        const { model } = this;
        const visit = (box) => {
            if (box.kind === "input") model.producers[box.value] = box;
            if (box.kind === "output") this.consume(box.value, box);
            box.children.forEach(visit);
        };
        visit(this.root);
        for (const node of model.nodes) {
            for (const v of node.results) model.producers[v] = node.box;
            for (const v of node.inputs) this.consume(v, node.box);
        }
        model.consumers.forEach((boxes, v) => {
            const from = model.producers[v];
            if (from) for (const to of new Set(boxes)) this.connect(from, to, v);
        });
    }

    consume(value, box) {
        (this.model.consumers[value] = this.model.consumers[value] || []).push(box);
    }

    // Adds an edge where both ends have a common parent, and from or to a port in each group on the way.
    connect(from, to, value) {
        while (from.parent !== to.parent) {
            if (from.depth >= to.depth) {
                this.edge(from.parent, from, this.port(from.parent, "out", value), value);
                from = from.parent;
            } else {
                this.edge(to.parent, this.port(to.parent, "in", value), to, value);
                to = to.parent;
            }
        }
        if (from !== to) this.edge(from.parent, from, to, value);
    }

    port(group, side, value) {
        const ports = group.ports[side];
        if (!ports.has(value)) ports.set(value, { id: side + value, side, values: [value] });
        return ports.get(value);
    }

    edge(group, from, to, value) {
        const key = from.id + ">" + to.id;
        const known = group.edges.get(key);
        if (known) known.values.add(value);
        else group.edges.set(key, { from, to, values: new Set([value]) });
    }
}

// Unfolds groups level by level, as long as at most so many boxes are shown.
function unfoldUpTo(root, most) {
    root.expanded = true;
    let shown = root.children.length;
    for (let level = root.children; level.length !== 0; ) {
        const next = [];
        for (const box of level) {
            if (!box.isGroup || shown + box.children.length > most) continue;
            box.expanded = true;
            shown += box.children.length;
            next.push(...box.children);
        }
        level = next;
    }
}

// Calls f with every box of the tree, outermost first.
function eachBox(box, f) {
    f(box);
    for (const child of box.children) eachBox(child, f);
}
