// Runs in a worker, after dagre: lays out one level of the graph. A message has the sizes of boxes, and edges (null: not laid out); the answer
// has the centers of the boxes and the points of the edges.
function layOut({ sizes, edges }) {
    const graph = new dagre.graphlib.Graph({ multigraph: true });
    graph.setGraph({ nodesep: 22, edgesep: 12, ranksep: 44 });
    sizes.forEach(([width, height], i) => graph.setNode(String(i), { width, height }));
    edges.forEach((edge, i) => edge && graph.setEdge(String(edge[0]), String(edge[1]), { weight: edge[2], minlen: 1 }, String(i)));
    dagre.layout(graph);
    const points = [];
    for (const edge of graph.edges()) points[Number(edge.name)] = graph.edge(edge).points.map(({ x, y }) => [x, y]);
    return { centers: sizes.map((_, i) => [graph.node(String(i)).x, graph.node(String(i)).y]), points };
}
if (typeof WorkerGlobalScope !== "undefined") self.onmessage = ({ data: { id, level } }) => self.postMessage({ id, result: layOut(level) });
else self.layOut = layOut;
