// Puts the page together: one selection, in the outline, the panes and the details.
const byId = (id) => document.getElementById(id);
const say = (what) => { byId("status").textContent = what; };

let active = null;
const outline = new Outline(byId("outline"), select);
const details = new Details(byId("details"), select);
const views = models.map((model) => {
    const view = new View(model, new TreeBuilder(model).build(), select);
    outline.addTab(view);
    byId("panes").append(view.element);
    return view;
});
const search = new Search(byId("search"), byId("found"), select);

const nodesIn = (box) => {
    const out = [];
    eachBox(box, (each) => each.node && out.push(each.node));
    return out;
};

function describe(view, box) {
    if (!box) return view.model.title;
    const { node } = box;
    if (!node) return `${box.label}, ${box.isGroup ? `${counted(box.size, "node")}, ${box.expanded ? "unfolded" : "folded"}` : box.kind}`;
    const refusal = node.refusal && "cannot be converted";
    return [node.op, node.name, view.model.typeOf(node), node.module, refusal, errorText(node)].filter(Boolean).join(", ");
}

// Selects a box, or nothing. `go`: also moves the camera of its pane to it.
async function select(view, box, go = false) {
    const isSame = active === view && view.selected === box;
    active = view;
    view.selected = box;
    view.strongValues = new Set(box ? (box.node ? [...box.node.inputs, ...box.node.results] : box.value >= 0 ? [box.value] : []) : []);
    for (const each of views) each.element.classList.toggle("active", each === view);
    if (box && go) await view.reveal(box);
    if (active !== view || view.selected !== box) return;
    for (const other of views) {
        other.linked = new Set();
        if (other === view) continue;
        other.selected = null;
        const nodes = box ? nodesIn(box).flatMap((node) => correspondents(view.model, node)) : [];
        other.linked = new Set(nodes.map((node) => node.box.shown()));
        other.strongValues = new Set();
        const [first] = other.linked;
        if (first && !isSame) other.show(first);
        else other.redraw();
    }
    if (box && go) view.show(box, true);
    else view.redraw();
    outline.show(view);
    details.show(view, box);
    if (!isSame || box) say(describe(view, box));
}

// At most 20,000 boxes are unfolded at once, which takes seconds.
async function unfoldAll(expanded) {
    const button = byId(expanded ? "unfold" : "fold");
    button.disabled = true;
    say("Laying out");
    for (const view of views) {
        eachBox(view.root, (box) => { box.expanded = box === view.root; });
        if (expanded) unfoldUpTo(view.root, 20000);
        if (!expanded && view.selected) view.selected = view.selected.shown();
        await view.relayout();
        view.fit();
    }
    button.disabled = false;
    await select(active, active.selected);
}

const THEMES = ["", "light", "dark"];
function setTheme(theme) {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    byId("theme").textContent = { "": "Auto", light: "Light", dark: "Dark" }[theme];
    readColors();
    views.forEach((view) => view.redraw());
}
byId("theme").addEventListener("click", () => setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme || "") + 1) % 3]));
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme(document.documentElement.dataset.theme || ""));

byId("in").addEventListener("click", () => active.zoom(1.3));
byId("out").addEventListener("click", () => active.zoom(1 / 1.3));
byId("fit").addEventListener("click", () => views.forEach((view) => view.whole()));
byId("fold").addEventListener("click", () => unfoldAll(false));
byId("unfold").addEventListener("click", () => unfoldAll(true));
document.addEventListener("keydown", (e) => {
    if (e.key !== "/" || e.target.matches("input")) return;
    byId("search").focus();
    e.preventDefault();
});

// page.html#conv2d_1 selects the node of this name.
function followAddress() {
    let wanted = location.hash.slice(1);
    try { wanted = decodeURIComponent(wanted); } catch { /* as it is */ }
    for (const view of wanted ? views : []) {
        const node = view.model.nodes.find((n) => n.name === wanted);
        if (node) return select(view, node.box, true);
    }
}
window.addEventListener("hashchange", followAddress);

function addIcon() {
    const icon = document.createElement("link");
    icon.rel = "icon";
    icon.href = "data:image/svg+xml," + encodeURIComponent(byId("mark").innerHTML.trim());
    document.head.append(icon);
}

async function start() {
    addIcon();
    byId("facts").textContent = [...data.facts, ...models.map((m) => `${counted(m.nodes.length, "node")} of the ${m.kind}`)].join(" \u00b7 ");
    if (data.failure) {
        byId("failure").textContent = data.failure;
        byId("failure").hidden = false;
    }
    setTheme("");
    if (views.length === 0) return;
    await unfoldFirst(views);
    views.forEach((view) => view.whole(false));
    await select(views[0], null);
    if (firstDivergence) await select(views.find((view) => view.model === programModel), firstDivergence.box, true);
    await followAddress();
    document.documentElement.dataset.ready = "true";
}
window.aton = { views, select, ready: start() }; // for tests
