# SPDX-License-Identifier: MIT
"""Graphs: message passing with dynamic numbers of nodes and edges, dense graph nets, molecules."""

import torch

from nets import BATCH, dim, ids, method, net, normal

NODES, EDGES = dim("nodes", 2, 999), dim("edges", 2, 999)


def graph(module, width=12, *, edge_width=0):
    """A module of nodes' features, edges and, with `edge_width`, the edges' features."""

    def arguments(nodes, edges):
        return normal(nodes, width), ids(2, edges, below=nodes), *([normal(edges, edge_width)] if edge_width else [])

    dynamic = ({0: NODES}, {1: EDGES}) + (({0: EDGES},) if edge_width else ())
    call = lambda m, x, e, *a: m(x, e, *a)  # noqa: E731
    return method(module, call, *arguments(6, 11), dynamic=dynamic, other=arguments(8, 17))


def convolution(name, *words, **options):
    import torch_geometric.nn as pyg

    return graph(getattr(pyg, name)(*words, **options))


@net("torch-geometric")
def graph_sage():
    return convolution("GraphSAGE", 12, 16, 2, 7, aggr="max")


@net("torch-geometric")
def gat_v2():
    return convolution("GAT", 12, 16, 2, 7, heads=2, v2=True)


@net("torch-geometric")
def pna():
    return convolution("PNA", 12, 16, 2, 7, aggregators=["mean", "min", "max", "std"], scalers=["identity", "amplification"],
                       deg=torch.tensor([1, 3, 2]))


@net("torch-geometric")
def edge_cnn():
    return convolution("EdgeCNN", 12, 16, 2, 7)


@net("torch-geometric")
def transformer_conv():
    return convolution("TransformerConv", 12, 8, heads=2, beta=True)


@net("torch-geometric")
def cheb_conv():
    return convolution("ChebConv", 12, 8, K=3)


@net("torch-geometric")
def tag_and_sg():
    import torch_geometric.nn as pyg

    module = torch.nn.ModuleList([pyg.TAGConv(12, 8, K=2), pyg.SGConv(12, 8, K=2), pyg.APPNP(2, 0.1), pyg.GraphConv(12, 8)])
    return graph_of_parts(module)


def graph_of_parts(module):
    made = graph(torch.nn.Identity())
    return method(module, lambda parts, x, e: [part(x, e) for part in parts], *made.args, dynamic=made.dynamic[0], other=made.other)


@net("torch-geometric")
def gated_and_residual():
    import torch_geometric.nn as pyg

    parts = pyg.GatedGraphConv(12, 2), pyg.ResGatedGraphConv(12, 8), pyg.ARMAConv(12, 8), pyg.FeaStConv(12, 8, heads=2)
    return graph_of_parts(torch.nn.ModuleList(parts))


@net("torch-geometric")
def edge_conditioned():
    import torch_geometric.nn as pyg

    return graph(pyg.NNConv(12, 8, torch.nn.Linear(5, 96)), edge_width=5)


@net("torch-geometric")
def gine():
    import torch_geometric.nn as pyg

    return graph(pyg.GINEConv(torch.nn.Linear(12, 8), edge_dim=5), edge_width=5)


@net("torch-geometric")
def light_gcn():
    from torch_geometric.nn.models import LightGCN

    module = LightGCN(num_nodes=9, embedding_dim=8, num_layers=2)
    return method(module, lambda m, e: m(e), ids(2, 11, below=9), dynamic=({1: EDGES},), other=(ids(2, 17, below=9),))


@net("torch-geometric")
def dense_pooling():
    import torch_geometric.nn as pyg

    graph_isomorphism = pyg.DenseGINConv(torch.nn.Linear(12, 8))
    module = torch.nn.ModuleList([pyg.DenseGCNConv(12, 8), pyg.DenseSAGEConv(12, 3), pyg.DenseGraphConv(8, 8), graph_isomorphism])

    def pool(module, x, adjacency):
        adjacency = adjacency.sigmoid()
        hidden, groups = module[0](x, adjacency), module[1](x, adjacency)
        return pyg.dense_diff_pool(hidden, adjacency, groups), pyg.dense_mincut_pool(hidden, adjacency, groups), module[3](x, adjacency)

    args, other = ((normal(n, 9, 12), normal(n, 9, 9)) for n in (2, 3))
    return method(module, pool, *args, dynamic=({0: BATCH}, {0: BATCH}), other=other)


@net("torch-geometric")
def global_pools():
    import torch_geometric.nn as pyg

    def pool(module, x, batch):
        return pyg.global_mean_pool(x, batch, 3), pyg.global_max_pool(x, batch, 3), pyg.global_add_pool(x, batch, 3)

    def arguments(n):
        return normal(n, 12), ids(n, below=3).sort()[0]

    return method(torch.nn.Identity(), pool, *arguments(7), dynamic=({0: NODES}, {0: NODES}), other=arguments(10))


@net("torch-geometric")
def norms():
    import torch_geometric.nn as pyg

    parts = [pyg.GraphNorm(12), pyg.PairNorm(), pyg.MessageNorm(True), pyg.BatchNorm(12), pyg.DiffGroupNorm(12, 3)]
    module = torch.nn.ModuleList([*parts, pyg.MeanSubtractionNorm()])

    def normalize(module, x):
        return module[0](x), module[1](x), module[2](x, x * 2 + 1), module[3](x), module[4](x), module[5](x)

    return method(module, normalize, normal(7, 12), dynamic=({0: NODES},), other=(normal(10, 12),))


@net("torch-geometric")
def set2set():
    from torch_geometric.nn.aggr import Set2Set

    def pool(module, x, index):
        return module(x, index, dim_size=3)

    def arguments(n):
        return normal(n, 12), ids(n, below=3).sort()[0]

    return method(Set2Set(12, 3), pool, *arguments(7), dynamic=({0: NODES}, {0: NODES}), other=arguments(10))


@net("torch-geometric")
def schnet_block():
    from torch_geometric.nn.models.schnet import GaussianSmearing, InteractionBlock

    module = torch.nn.ModuleList([GaussianSmearing(0.0, 5.0, 10), InteractionBlock(12, 10, 8, 5.0)])

    def interact(module, x, edges, place):
        distance = (place[edges[0]] - place[edges[1]]).norm(dim=-1)
        return module[1](x, edges, distance, module[0](distance))

    def arguments(n, e):
        return normal(n, 12), ids(2, e, below=n), normal(n, 3)

    return method(module, interact, *arguments(6, 11), dynamic=({0: NODES}, {1: EDGES}, {0: NODES}), other=arguments(8, 17))


@net("torch-geometric")
def variational_decoder():
    from torch_geometric.nn.models import InnerProductDecoder

    def decode(module, x, edges):
        return module(x, edges), module.forward_all(x)

    made = graph(torch.nn.Identity())
    return method(InnerProductDecoder(), decode, *made.args, dynamic=made.dynamic[0], other=made.other)
