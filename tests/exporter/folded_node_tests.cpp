// SPDX-License-Identifier: MIT
// Constant folding against ONNX's backend tests: the inputs become constants, and what the passes compute must be the expected outputs.
//
//   folded_node_tests FOLDER --least-cases N
//
// FOLDER: as written by tests/runtime/make_node_tests.py. --least-cases: the program fails if fewer cases are folded.
#include <algorithm>
#include <cstddef>
#include <deque>
#include <exception>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/passes/passes.hpp>
#include <aton/runtime/compute.hpp>

#include "../runtime/compare_values.hpp"
#include "../runtime/node_cases.hpp"
#include "passes/evaluate.hpp"

namespace {

using aton::graph_data;
using aton::tests::node_case;

/// Whether the values can become initializers.
bool are_constants(std::vector<aton::runtime::value> const& values) {
    for (aton::runtime::value const& v : values)
        if (!v.is_tensor() || !v.one() || v.one().is_strings()) return false;
    return true;
}

/// The outputs that have become constants; nothing for the others.
std::vector<aton::runtime::value> folded(graph_data graph, std::vector<aton::runtime::value> const& inputs) {
    std::size_t next = 0;
    for (aton::value_id const id : std::vector(std::exchange(graph.inputs, {})))
        if (graph.values[id].initializer < 0) graph.set_initializer(id, inputs.at(next++).one().to_constant());
    std::deque<aton::stored_tensor> weights;
    aton::optimize(graph, weights);
    std::vector<aton::runtime::value> out;
    for (aton::value_id const id : graph.outputs) {
        aton::tensor const* const t = graph.constant(id);
        out.push_back(t == nullptr ? aton::runtime::value()
                                   : aton::runtime::value(aton::runtime::tensor::from_constant(*t)));
    }
    return out;
}

struct counts {
    std::size_t cases = 0;
    std::size_t wrong = 0;
    std::map<std::string, int> operators;
};

void check(std::string const& folder, node_case const& c, counts& to) {
    graph_data const graph = aton::read_model(folder + "/" + c.name + "/model.onnx").graph;
    if (graph.nodes.size() != 1) return;
    std::string const& op = graph.nodes[0].op;
    if (aton::passes::find_evaluator(op) == nullptr && op != "Split") return;
    for (std::string const& set : aton::tests::data_sets_of(folder + "/" + c.name)) {
        auto const data = aton::tests::read_data_set(folder + "/" + c.name + "/" + set, graph);
        if (!are_constants(data.inputs)) return;
        std::vector<aton::runtime::value> const got = folded(graph, data.inputs);
        for (std::size_t i = 0; i != got.size(); ++i) {
            if (!got[i]) continue;
            ++to.cases;
            ++to.operators[op];
            // In place of a 0, the expected numbers have the errors of float32: 1.9e-7 in test_dft_inverse.
            double const absolute = std::max(c.absolute, 1e-6);
            std::string const why = aton::tests::difference(got[i], data.outputs.at(i), {c.relative, absolute});
            if (why.empty()) continue;
            ++to.wrong;
            std::cout << c.name << ": " << why << '\n';
        }
    }
}

} // namespace

int main(int count, char** words) {
    try {
        if (count != 4 || std::string(words[2]) != "--least-cases")
            throw aton::error("usage: folded_node_tests FOLDER --least-cases N");
        counts all;
        for (node_case const& c : aton::tests::read_index(words[1]))
            if (c.kind == "node" && c.check == "values") check(words[1], c, all);
        std::cout << all.cases << " outputs of " << all.operators.size() << " operators are folded, " << all.wrong
                  << " are wrong\n";
        return all.wrong == 0 && all.cases >= std::stoul(words[3]) ? 0 : 1;
    } catch (std::exception const& e) {
        std::cerr << "folded_node_tests: " << e.what() << '\n';
        return 2;
    }
}
