// SPDX-License-Identifier: MIT
// A graph that grows by random calls: operands of every kind of shape, numbers that are constants, initializers, inputs or computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/dsl/attr.hpp>
#include <aton/dsl/node_builder.hpp>
#include <aton/dsl/value.hpp>
#include <aton/ir/graph.hpp>

namespace random_graphs {

using aton::dim;
using aton::dtype;
using aton::dsl::absent;
using aton::dsl::attr_f;
using aton::dsl::attr_i;
using aton::dsl::attr_s;
using aton::dsl::attr_t;
using aton::dsl::value;
using sizes = std::vector<std::int64_t>;

/// The sizes of the symbols and unknown dimensions of inputs when such a graph is run.
inline std::int64_t const symbol_sizes[] = {2, 3, 4};
inline char const* const symbols[] = {"two", "three", "four"};

/// "2,3,4"
inline std::string joined_numbers(sizes const& numbers) {
    std::string out;
    for (std::int64_t n : numbers) out += (out.empty() ? "" : ",") + std::to_string(n);
    return out;
}

class random_graph {
public:
    random_graph(std::uint64_t seed, int opset) : rng_(seed) {
        data.name = "random";
        data.opset = opset;
    }

    aton::graph_data data;
    /// The sizes of every graph input when the graph is run, and the required contents of some.
    std::map<std::string, sizes> input_sizes;
    std::map<std::string, sizes> input_values;
    std::vector<value> results; ///< of all calls

    [[nodiscard]] int opset() const { return data.opset; }
    /// A number in [low, high].
    std::int64_t number(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(rng_);
    }
    bool chance(int percent) { return number(1, 100) <= percent; }
    /// An axis of `rank`, sometimes counted from the end.
    std::int64_t axis(std::int64_t rank) {
        std::int64_t const a = number(0, rank - 1);
        return opset() >= 11 && chance(40) ? a - rank : a;
    }
    /// Several different axes, in random order.
    sizes axes(std::int64_t rank, std::int64_t at_least = 0) {
        sizes all;
        for (std::int64_t i = 0; i != rank; ++i) all.push_back(i);
        std::shuffle(all.begin(), all.end(), rng_);
        all.resize(static_cast<std::size_t>(number(std::min(at_least, rank), rank)));
        for (std::int64_t& a : all)
            if (opset() >= 11 && chance(30)) a -= rank;
        return all;
    }
    sizes random_sizes(std::int64_t rank, std::int64_t low = 1, std::int64_t high = 6) {
        sizes out;
        for (std::int64_t i = 0; i != rank; ++i) out.push_back(chance(15) ? 1 : number(low, high));
        return out;
    }

    /// A new input of these sizes; the graph knows some of them as numbers, some as symbols, some not at all.
    value input(dtype type, sizes const& run, bool blur = true) {
        std::vector<dim> dims;
        for (std::int64_t s : run) {
            std::int64_t const way = blur ? number(1, 100) : 0;
            if (way <= 70) dims.emplace_back(s);
            else if (way <= 85 && s >= 2 && s <= 4) dims.emplace_back(std::string(symbols[s - 2]));
            else dims.emplace_back();
        }
        bool const unranked = blur && chance(3);
        std::string const name = "input_" + std::to_string(data.inputs.size());
        input_sizes[name] = run;
        return {data, data.add_input(name, {type, unranked ? aton::shape() : aton::shape(dims)})};
    }
    /// An earlier result or input of this dtype and a rank in the range whose sizes at run time are known; often a new input.
    value operand(dtype type, std::int64_t low = 0, std::int64_t high = 5) {
        return input(type, random_sizes(number(low, high)));
    }
    /// The sizes of an operand when the graph is run; known only for inputs.
    [[nodiscard]] sizes run_sizes(value const& v) const { return input_sizes.at(data.values[v.id()].name); }

    /// Integers for an input of an operator, in every form that a graph can have them.
    value numbers(sizes const& v, dtype type = dtype::int64, bool scalar = false) {
        aton::tensor t{type, scalar ? sizes{} : sizes{static_cast<std::int64_t>(v.size())}, {}};
        for (std::int64_t n : v) t.append(n);
        std::int64_t const way = number(1, 100);
        if (way <= 60) return {data, aton::dsl::detail::append_constant(data, std::move(t))};
        if (way <= 70) {
            std::vector<dim> dims(t.sizes.begin(), t.sizes.end());
            value const out(
                data, data.add_value({type, aton::shape(dims)}, "initializer_" + std::to_string(data.values.size())));
            data.set_initializer(out.id(), std::move(t));
            return out;
        }
        if (way <= 80 && type == dtype::int64 && !scalar && !v.empty()) return traced(v);
        value const out = input(type, t.sizes, way > 95);
        input_values[data.values[out.id()].name] = v;
        return out;
    }

    /// Calls an operator; returns an empty list if the target opset refuses it.
    template <class... Args>
    std::vector<value> call(char const* op, std::size_t outputs, Args const&... args) {
        aton::dsl::detail::node_builder node(data, "", op, aton::onnx::find("", op, opset()), opset(), opset());
        (node.add(args), ...);
        node.add(aton::dsl::output_list(outputs));
        std::vector<value> out;
        try {
            aton::value_id const first = node.finish();
            for (std::size_t i = 0; i != outputs; ++i) out.emplace_back(data, static_cast<aton::value_id>(first + i));
        } catch (aton::illegal_call const&) {
            return out;
        }
        results.insert(results.end(), out.begin(), out.end());
        return out;
    }

private:
    /// The same numbers as a concatenation of constants and sizes from Shape.
    value traced(sizes const& v) {
        std::vector<value> parts;
        for (std::int64_t n : v) {
            value part;
            if (n >= 1 && n <= 6 && chance(70)) {
                value const shape = call("Shape", 1, input(dtype::float32, {number(1, 3), n, 2}))[0];
                value const index(data, aton::dsl::detail::append_constant(data, aton::int64_tensor(sizes{1})));
                part = call("Gather", 1, shape, index, attr_i<"axis">(0))[0];
            } else {
                part = {data, aton::dsl::detail::append_constant(data, aton::int64_tensor(sizes{n}))};
            }
            parts.push_back(part);
        }
        return call("Concat", 1, std::span<value const>(parts), attr_i<"axis">(0))[0];
    }

    std::mt19937_64 rng_;
};

} // namespace random_graphs
