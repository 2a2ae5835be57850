// SPDX-License-Identifier: MIT
// Compares the shape rules with ONNX's own inference on random graphs: no contradictions, and rarely less is known.
#include <aton/ir/shapes/rules.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <onnx/shape_inference/implementation.h>

#include <aton/ir/print.hpp>
#include <aton/model_io/model_io.hpp>

#include "random_layers.hpp"

namespace {

using namespace random_graphs;

/// The types that libonnx infers for all values of a graph from the inputs.
std::map<std::string, aton::value_type> libonnx_types(aton::graph_data const& graph) {
    ::onnx::ModelProto model;
    REQUIRE(model.ParseFromString(to_model_proto(graph)));
    model.mutable_graph()->clear_value_info();
    for (auto& o : *model.mutable_graph()->mutable_output()) o.clear_type();
    ::onnx::shape_inference::InferShapes(
        model, ::onnx::OpSchemaRegistry::Instance(), ::onnx::ShapeInferenceOptions(false, 0, true));
    aton::graph_data const inferred = aton::parse_model(model.SerializeAsString()).graph;
    std::map<std::string, aton::value_type> out;
    for (aton::graph_value const& v : inferred.values) out[v.name] = v.type;
    return out;
}

struct tally {
    int ranks = 0, missed_ranks = 0, sizes = 0, missed_sizes = 0, dtypes = 0, missed_dtypes = 0;
};

/// A contradiction between two types; empty: none.
std::string contradiction(aton::value_type const& ours, aton::value_type const& theirs) {
    if (theirs.dtype == dtype::undefined) return {};
    if (ours.dtype != dtype::undefined && ours.dtype != theirs.dtype) return "dtype";
    if (ours.dtype != dtype::undefined && ours.kind != theirs.kind) return "kind";
    if (!ours.shape.has_rank() || !theirs.shape.has_rank()) return {};
    if (ours.shape.rank() != theirs.shape.rank()) return "rank";
    for (std::size_t i = 0; i != ours.shape.rank(); ++i) {
        dim const& a = ours.shape[i];
        dim const& b = theirs.shape[i];
        if (a.is_static() && b.is_static() && a.size() != b.size()) return "size " + std::to_string(i);
        if (a.is_symbolic() && b.is_symbolic() && !b.symbol().starts_with("unk__") && a.symbol() != b.symbol())
            return "symbol " + std::to_string(i);
    }
    return {};
}

void count_known(aton::value_type const& ours, aton::value_type const& theirs, tally& t) {
    if (theirs.dtype == dtype::undefined) return;
    ++t.dtypes;
    if (ours.dtype == dtype::undefined) ++t.missed_dtypes;
    if (!theirs.shape.has_rank()) return;
    ++t.ranks;
    if (!ours.shape.has_rank()) return void(++t.missed_ranks);
    for (std::size_t i = 0; i != ours.shape.rank() && i != theirs.shape.rank(); ++i) {
        if (!theirs.shape[i].is_static()) continue;
        ++t.sizes;
        if (!ours.shape[i].is_static()) ++t.missed_sizes;
    }
}

/// The node in the printed graph, with its operands.
std::string around(aton::graph_data const& graph, aton::graph_node const& n) {
    aton::graph_data part = graph;
    part.nodes = {n};
    part.inputs.clear();
    for (aton::value_id id : n.inputs)
        if (id != aton::no_value) part.inputs.push_back(id);
    part.outputs = n.outputs;
    return to_string(part);
}

} // namespace

TEST_CASE("shape rules never contradict libonnx and rarely know less") {
    std::map<std::string, tally> tallies;
    int contradictions = 0;
    for (int opset : {7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18, 20, 21, 23, 26, 28}) {
        for (std::uint64_t seed = 0; seed != 40; ++seed) {
            random_graph g(seed * 1000 + static_cast<std::uint64_t>(opset), opset);
            for (int i = 0; i != 20; ++i) add_random_call(g);
            for (value const& v : g.results) g.data.outputs.push_back(v.id());
            auto const theirs = libonnx_types(g.data);
            for (aton::graph_node const& n : g.data.nodes)
                for (aton::value_id id : n.outputs) {
                    aton::value_type const& ours = g.data.values[id].type;
                    aton::value_type const& expected = theirs.at(std::to_string(id));
                    std::string const problem = contradiction(ours, expected);
                    count_known(ours, expected, tallies[n.op]);
                    if (problem.empty()) continue;
                    if (++contradictions > 20) continue;
                    FAIL_CHECK("opset ",
                               opset,
                               ", seed ",
                               seed,
                               ": ",
                               problem,
                               " of %",
                               id,
                               " = ",
                               n.op,
                               ": ours ",
                               to_string(ours),
                               ", libonnx ",
                               to_string(expected),
                               "\n",
                               around(g.data, n));
                }
        }
    }
    CHECK(contradictions == 0);
    tally all;
    for (auto const& [op, t] : tallies) {
        if (t.missed_ranks != 0 || t.missed_dtypes != 0 || 10 * t.missed_sizes > t.sizes)
            MESSAGE(op,
                    ": ranks ",
                    t.missed_ranks,
                    " of ",
                    t.ranks,
                    ", sizes ",
                    t.missed_sizes,
                    " of ",
                    t.sizes,
                    ", dtypes ",
                    t.missed_dtypes,
                    " of ",
                    t.dtypes,
                    " known to libonnx only");
        all.ranks += t.ranks, all.missed_ranks += t.missed_ranks, all.sizes += t.sizes,
            all.missed_sizes += t.missed_sizes;
        all.dtypes += t.dtypes, all.missed_dtypes += t.missed_dtypes;
    }
    MESSAGE("all: ranks ",
            all.missed_ranks,
            "/",
            all.ranks,
            " sizes ",
            all.missed_sizes,
            "/",
            all.sizes,
            " dtypes ",
            all.missed_dtypes,
            "/",
            all.dtypes);
    CHECK(all.ranks > 10000);
    CHECK(100 * all.missed_ranks <= all.ranks);
    CHECK(100 * all.missed_sizes <= all.sizes);
    CHECK(all.missed_dtypes == 0);
}
