// The model: panes with values, graphs and nodes, as src/view/pane.cpp writes them.
const data = JSON.parse(document.getElementById("data").textContent);
const text = (number) => (number === undefined ? "" : data.strings[number]);

const VERDICT = { unknown: 0, same: 1, different: 2 };
const ROLE = { computed: 0, input: 1, weight: 2 };

class Model {
    constructor(raw, number) {
        this.number = number;
        this.kind = raw.kind;
        this.title = raw.kind === "program" ? "Program" : "Graph";
        this.values = raw.values.map(([name, type, role]) => ({ name, type: text(type), role }));
        this.graphs = raw.graphs;
        this.nodes = raw.nodes.map((n, index) => ({
            index,
            graph: n.graph,
            op: text(n.op),
            name: n.name,
            inputs: n.inputs,
            results: n.results,
            overload: text(n.overload),
            module: text(n.module),
            moduleType: text(n.type),
            source: text(n.source),
            code: text(n.code),
            refusal: text(n.refusal),
            attributes: (n.attributes || []).map(([name, value]) => [text(name), text(value)]),
            origin: n.origin === undefined ? -1 : n.origin,
            verdict: n.verdict === undefined ? VERDICT.unknown : n.verdict, // with --verify
            error: n.error || 0, // of the tolerance
            why: text(n.why),
            isFirst: Boolean(n.first), // the first divergence
            box: null, // tree.js
        }));
        this.producers = []; // the boxes, by value: tree.js
        this.consumers = [];
    }

    typeOf(node) {
        const first = node.results.find((v) => this.values[v].type);
        return first === undefined ? "" : this.values[first].type;
    }
}

const models = data.panes.map((raw, number) => new Model(raw, number));
const programModel = models.find((m) => m.kind === "program");
const graphModel = models.find((m) => m.kind === "graph");

// The nodes of the graph that were made from each node of the program.
const madeFrom = new Map();
if (programModel && graphModel)
    for (const node of graphModel.nodes)
        if (node.origin >= 0) {
            if (!madeFrom.has(node.origin)) madeFrom.set(node.origin, []);
            madeFrom.get(node.origin).push(node);
            const { verdict, error, why } = programModel.nodes[node.origin];
            Object.assign(node, { verdict, error, why });
        }
const firstDivergence = programModel && programModel.nodes.find((n) => n.isFirst);

// What is known about the numbers of a node: "0.012 of the tolerance".
function errorText({ verdict, error, why }) {
    if (!data.comparison) return "";
    if (verdict === VERDICT.unknown) return "not compared: the graph has no value of its own for it";
    if (verdict === VERDICT.different) return `differs: ${why}`;
    return error === 0 ? "exact" : `${error.toPrecision(2)} of the tolerance`;
}

// The nodes of the other pane that correspond to a node.
function correspondents(model, node) {
    if (!programModel || !graphModel) return [];
    if (model === programModel) return madeFrom.get(node.index) || [];
    return node.origin < 0 ? [] : [programModel.nodes[node.origin]];
}

// Families of operators, which have a color each.
const FAMILIES = [
    ["matrix", "products and convolutions", /conv|matmul|gemm|linear|addmm|\bmm\b|bmm|einsum|attention|lstm|gru|rnn/],
    ["norm", "normalization", /norm|dropout/],
    ["activation", "activations", /relu|gelu|silu|sigmoid|tanh|softmax|softplus|elu\b|swish|hardswish|erf\b|mish/],
    ["reduction", "reductions and pooling", /pool|reduce|mean|sum\b|amax|argmax|argmin|topk|cumsum|max\b|min\b/],
    ["control", "control flow", /^(if|loop|scan)$|higher_order/],
    ["layout", "layout", /shape|view|transpose|permute|expand|squeeze|slice|concat|\bcat\b|split|stack|tile|pad\b|flatten|select|gather|index/],
    ["layout", "layout", /embedding|getitem|sym_size|clone|contiguous|identity|cast|constant|_to_copy/],
];
const familyCache = new Map();
function familyOf(op) {
    if (!familyCache.has(op)) {
        const name = op.toLowerCase().replace(/^aten::/, "");
        const found = FAMILIES.find(([, , pattern]) => pattern.test(name));
        familyCache.set(op, found ? found[0] : "");
    }
    return familyCache.get(op);
}

const counted = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
const shortOp = (op) => op.replace(/^(aten|onnx|prims|higher_order)::/, "").replace(/\.default$/, "");
