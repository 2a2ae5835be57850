// SPDX-License-Identifier: MIT
// A graph that a test builds node by node, and its mutants.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <aton/ir/graph.hpp>
#include <aton/verify/mutation.hpp>

namespace aton::tests {

/// A graph with two inputs of (3, 4).
struct planned {
    graph_data data;
    value_id x = no_value;
    value_id y = no_value;

    planned() {
        data.opset = 18;
        x = data.add_input("x", value_type{dtype::float32, shape({3, 4})});
        y = data.add_input("y", value_type{dtype::float32, shape({3, 4})});
    }
    value_id node(std::string op, std::vector<value_id> inputs, dtype type = dtype::float32) {
        value_id const out = data.add_value(value_type{type, shape({3, 4})});
        data.values[out].producer = static_cast<std::int64_t>(data.nodes.size());
        data.nodes.push_back({"", std::move(op), "", std::move(inputs), {out}, {}, {}, 0});
        return out;
    }
    value_id constant(aton::tensor t) {
        value_id const out = node("Constant", {}, t.type);
        data.values[out].type.shape = shape(t.sizes);
        node_attribute a;
        a.name = "value";
        a.type = onnx::attr_type::t;
        a.tensors.push_back(std::move(t));
        data.nodes.back().attributes.push_back(std::move(a));
        return out;
    }
    value_id constant(double number) { return constant(aton::scalar_tensor(number, dtype::float32)); }
    value_id integers(std::vector<std::int64_t> const& all) {
        aton::tensor t{dtype::int64, {static_cast<std::int64_t>(all.size())}, {}};
        for (std::int64_t const n : all) t.append(static_cast<long long>(n));
        return constant(std::move(t));
    }
    /// The mutants of the graph with this output, each with the index of its node in front.
    std::set<std::string> mutants_of(value_id result) {
        data.outputs = {result};
        std::set<std::string> out;
        for (verify::mutation const& m : verify::mutations_of(data)) out.insert(std::to_string(m.node) + ' ' + m.what);
        return out;
    }
};

} // namespace aton::tests
