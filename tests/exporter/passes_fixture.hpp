// SPDX-License-Identifier: MIT
// A graph to be optimized, and queries on the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aton.hpp>
#include <aton/core/stored_tensor.hpp>
#include <aton/passes/passes.hpp>

namespace passes_tests {

using namespace aton::dsl;
using aton::dim;
using aton::dtype;
using sizes = std::vector<std::int64_t>;

inline constexpr double infinity = std::numeric_limits<double>::infinity();

template <int Since = 14>
struct optimized {
    explicit optimized(int opset = 20) : g(data, opset) { data.opset = opset; }

    aton::graph_data data;
    graph<Since> g;
    std::deque<aton::stored_tensor> weights;
    std::deque<std::vector<float>> files; ///< the data of stored tensors

    value input(std::string name, aton::shape shape, dtype type = dtype::float32) {
        return {data, data.add_input(std::move(name), {type, std::move(shape)})};
    }
    /// A weight in a file: 0.5, 1, 1.5, ... after three other elements.
    value weight(std::string name, sizes const& s) {
        aton::stored_tensor t{dtype::float32, s, {}};
        auto& file = files.emplace_back(3, -1000.0F);
        for (std::int64_t i = 1; i <= t.element_count(); ++i) file.push_back(0.5F * static_cast<float>(i));
        return stored(std::move(name), std::move(t), file, 3);
    }
    value stored(std::string name, aton::stored_tensor t, std::vector<float> const& file, std::int64_t offset) {
        std::vector<std::int64_t> strides(t.sizes.size(), 1);
        for (std::size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * t.sizes[i];
        aton::file_span const bytes{
            reinterpret_cast<std::byte const*>(file.data()), file.size() * sizeof(float), 0, -1};
        t.parts.push_back({bytes, t.sizes, strides, offset, {}});
        value const v(data, data.add_value({t.type, aton::shape(t.sizes)}, std::move(name)));
        given.push_back(std::move(t));
        data.set_initializer(v.id(), aton::tensor{}, &given.back());
        return v;
    }
    value constant(dtype type, sizes const& s, std::vector<double> const& numbers) {
        aton::tensor t{type, s, {}};
        for (double n : numbers) t.append(n);
        return g.constant(std::move(t));
    }
    /// Sets the type of a value, which no operator implies.
    value typed(value v, aton::shape shape) {
        data.values[v.id()].type.shape = std::move(shape);
        return v;
    }

    /// Runs the passes. Returns the remaining operators in order: "Shape Add".
    std::string operator()(value output) { return operator()({output}); }
    /// A braced list evaluates operands from left to right.
    std::string operator()(std::initializer_list<value> outputs) {
        for (value const& v : outputs) data.outputs.push_back(v.id());
        return run();
    }
    std::string run(aton::pass_options const& options = {}) {
        aton::optimize(data, weights, options);
        std::string ops;
        for (auto const& n : data.nodes) ops += (ops.empty() ? "" : " ") + n.op;
        return ops;
    }

    /// The constant that output `i` has become.
    [[nodiscard]] aton::tensor result(std::size_t i = 0) const {
        aton::tensor const* const t = data.constant(data.outputs[i]);
        return t == nullptr ? aton::tensor{} : *t;
    }
    [[nodiscard]] std::vector<double> numbers(std::size_t i = 0) const { return numbers_of(result(i)); }
    static std::vector<double> numbers_of(aton::tensor const& t) {
        std::vector<double> out;
        for (std::size_t k = 0; t.type != dtype::undefined && k != static_cast<std::size_t>(t.element_count()); ++k)
            out.push_back(t.at(k).template to<double>());
        return out;
    }
    /// The integers of a constant input of a node.
    [[nodiscard]] sizes integers(std::size_t node, std::size_t i) const {
        sizes out;
        aton::tensor const* const t = data.constant(data.nodes.at(node).inputs.at(i));
        if (t != nullptr)
            for (std::size_t k = 0; k != static_cast<std::size_t>(t->element_count()); ++k)
                out.push_back(t->at(k).template to<std::int64_t>());
        return out;
    }
    [[nodiscard]] aton::stored_tensor const* stored_input(std::size_t node, std::size_t i) const {
        std::int64_t const at = data.values[data.nodes.at(node).inputs.at(i)].initializer;
        return at < 0 ? nullptr : data.initializers[static_cast<std::size_t>(at)].stored;
    }
    /// An int attribute of a node; -1000 if it has none.
    [[nodiscard]] std::int64_t attribute(std::size_t node, std::string const& name) const {
        for (auto const& a : data.nodes.at(node).attributes)
            if (a.name == name) return a.type == aton::onnx::attr_type::i ? a.i : -1000;
        return -1000;
    }

    std::deque<aton::stored_tensor> given;
};

/// Checks the indices in a graph and its nested graphs.
inline void check_consistent(aton::graph_data const& g, aton::graph_data const* around = nullptr) {
    for (std::size_t i = 0; i != g.initializers.size(); ++i)
        CHECK(g.values[g.initializers[i].value].initializer == static_cast<std::int64_t>(i));
    std::vector<bool> there(g.values.size());
    for (aton::value_id id : g.inputs) there[id] = true;
    for (aton::value_id id = 0; id != g.values.size(); ++id) {
        if (g.values[id].initializer >= 0) there[id] = true;
        if (g.values[id].outer == aton::no_value) continue;
        there[id] = true;
        REQUIRE(around != nullptr);
        CHECK(g.values[id].outer < around->values.size());
        CHECK(g.values[id].producer == -1);
    }
    for (std::size_t i = 0; i != g.nodes.size(); ++i) {
        for (aton::value_id id : g.nodes[i].inputs) CHECK((id == aton::no_value || there[id]));
        for (auto const& a : g.nodes[i].attributes)
            for (aton::graph_data const& nested : a.graphs) {
                check_consistent(nested, &g);
                for (aton::graph_value const& v : nested.values)
                    if (v.outer != aton::no_value) CHECK(there[v.outer]);
            }
        for (aton::value_id id : g.nodes[i].outputs) {
            CHECK(g.values[id].producer == static_cast<std::int64_t>(i));
            there[id] = true;
        }
    }
    for (aton::value_id id : g.outputs) CHECK(there[id]);
}

} // namespace passes_tests
