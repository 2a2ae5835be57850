// The first look at a model: all of it, unfolded as far as its boxes can be read, the panes at the same modules.
const FEW_BOXES = 10, MANY_BOXES = 40; // in a pane
const FIRST_SCALE = 0.5; // at which labels can be read

const shownIn = (box) => (box.isGroup && box.expanded ? box.children.reduce((sum, child) => sum + shownIn(child), 0) : 1);

// The modules of a pane whose parents are unfolded, by their paths.
function foldedModules(root) {
    const out = new Map();
    const visit = (box, path) => {
        for (const child of box.children) {
            if (!child.isGroup || child.isSection) continue;
            const name = `${path}/${child.label}`;
            if (child.expanded) visit(child, name);
            else out.set(name, [...(out.get(name) || []), child]);
        }
    };
    visit(root, "");
    return out;
}

// Unfolds modules in all panes, unless too much is shown then.
async function tryToUnfold(views, boxes) {
    for (const box of boxes) box.expanded = true;
    if (views.every((view) => shownIn(view.root) <= MANY_BOXES)) {
        await Promise.all(views.map((view) => view.relayout()));
        if (views.every((view) => view.wholeScale() >= FIRST_SCALE)) return true;
    }
    for (const box of boxes) box.expanded = false;
    return false;
}

// Unfolds all modules of one level after the other; of the first level that is too much, the modules that are not, if few boxes are shown.
async function unfoldFirst(views) {
    for (const view of views) view.root.expanded = true;
    await Promise.all(views.map((view) => view.relayout()));
    for (;;) {
        const level = new Map();
        for (const view of views)
            for (const [name, boxes] of foldedModules(view.root)) level.set(name, [...(level.get(name) || []), ...boxes]);
        if (level.size === 0) break;
        if (await tryToUnfold(views, [...level.values()].flat())) continue;
        let changed = false;
        for (const boxes of level.values())
            if (views.some((view) => shownIn(view.root) < FEW_BOXES)) changed = (await tryToUnfold(views, boxes)) || changed;
        if (!changed) break;
    }
    await Promise.all(views.map((view) => view.relayout()));
}
