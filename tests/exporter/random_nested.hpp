// SPDX-License-Identifier: MIT
// Random nested graphs: If, Loop and Scan inside each other, with captures from any depth, captured outputs, and everything that passes
// look for, except for consecutive casts: ONNX Runtime 1.31 loses the result if a nested graph captures it. Few names, so that they clash
// between scopes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <aton/aton.hpp>

namespace random_graphs {

using namespace aton::dsl;
using aton::dim;
using aton::dtype;

class random_nested {
public:
    using ops = graph<14>;

    random_nested(std::uint64_t seed, int opset) : rng_(seed) {
        data.name = "nested";
        data.opset = opset;
        ops const g(data, opset);
        scope s;
        aton::shape const number_shape(std::vector<dim>{});
        for (char const* name : {"x", "y"}) s.floats.push_back(input(name, {dtype::float32, {2, 3}}));
        for (char const* name : {"yes", "no"}) s.flags.push_back(input(name, {dtype::bool_, number_shape}));
        s.counts.push_back(input("n", {dtype::int64, number_shape}));
        aton::value_id const w = data.add_value(aton::value_type{dtype::float32, {2, 3}}, "w");
        data.set_initializer(w, matrix());
        s.floats.emplace_back(data, w);
        grow(g, s, 0, number(3, 7));
        for (std::int64_t i = number(1, 3); i != 0; --i) data.outputs.push_back(some(s.floats).id());
        // Unnamed values are mostly unused: the last values depend on most of the graph.
        data.outputs.push_back(s.floats.back().id());
    }

    aton::graph_data data;

private:
    struct scope {
        std::vector<value> floats; ///< 2 x 3
        std::vector<value> flags;
        std::vector<value> counts;
    };

    std::int64_t number(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(rng_);
    }
    bool chance(int percent) { return number(1, 100) <= percent; }
    value some(std::vector<value> const& list) {
        return list[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(list.size()) - 1))];
    }
    value input(std::string name, aton::value_type type) {
        return {data, data.add_input(std::move(name), std::move(type))};
    }
    aton::tensor matrix() {
        aton::tensor t{dtype::float32, {2, 3}, {}};
        for (int i = 0; i != 6; ++i) t.append(static_cast<double>(number(-20, 20)) / 8);
        return t;
    }
    void keep(scope& s, value v) {
        v.set_shape({2, 3});
        if (chance(40)) v.owner().values[v.id()].name = std::string(1, "abx"[number(0, 2)]);
        s.floats.push_back(v);
    }

    /// Outputs of a body: computed in it or not, sometimes duplicated.
    std::vector<value> results(scope const& s, std::size_t count) {
        std::vector<value> out;
        while (out.size() != count)
            out.push_back(!out.empty() && chance(25) ? out.back() : chance(50) ? s.floats.back() : some(s.floats));
        return out;
    }

    void grow(ops g, scope& s, int depth, std::int64_t steps) {
        for (; steps != 0; --steps) {
            std::int64_t const kind = number(0, depth < 3 ? 17 : 11);
            value const a = some(s.floats);
            value const b = some(s.floats);
            if (kind == 0) keep(s, g.op<"Tanh">(a));
            else if (kind == 1) keep(s, g.op<"Identity">(a));
            else if (kind == 2) keep(s, g.op<"Add">(a, b));
            else if (kind == 3) keep(s, g.op<"Mul">(g.op<"Tanh">(a), b));
            else if (kind == 4) keep(s, g.op<"Add">(a, g.constant(matrix())));
            else if (kind == 5) keep(s, g.op<"Mul">(a, g.scalar(static_cast<double>(number(0, 2)), dtype::float32)));
            else if (kind == 6) keep(s, g.op<"Where">(some(s.flags), a, b));
            else if (kind == 7) s.flags.push_back(greater(g, a));
            else if (kind == 8) s.flags.push_back(g.constant(aton::scalar_tensor(chance(50), dtype::bool_)));
            else if (kind == 9) s.counts.push_back(g.scalar(number(0, 3), dtype::int64));
            else if (kind == 10) keep(s, g.op<"Reshape">(g.op<"Transpose">(a, attr::perm_i({1, 0})), g.op<"Shape">(b)));
            else if (kind == 11)
                keep(s, g.op<"Transpose">(g.op<"Transpose">(a, attr::perm_i({1, 0})), attr::perm_i({1, 0})));
            else if (kind < 14) add_if(g, s, depth);
            else if (kind < 16) add_loop(g, s, depth);
            else add_scan(g, s, depth);
        }
    }

    static value greater(ops g, value a) {
        value const sum = g.op<"ReduceSum">(g.op<"Tanh">(a), g.ints({0, 1}), attr::keepdims_i(0));
        return g.op<"Greater">(sum, g.scalar(0.1, dtype::float32));
    }

    void add_if(ops g, scope& s, int depth) {
        auto const count = static_cast<std::size_t>(number(1, 3));
        auto const branch = [&](ops b) {
            scope inner = s;
            grow(b, inner, depth + 1, number(0, 4));
            return results(inner, count);
        };
        for (value const& v :
             g.op<"If">(some(s.flags), attr::then_branch_g(branch), attr::else_branch_g(branch), output_list(count)))
            keep(s, v);
    }

    void add_loop(ops g, scope& s, int depth) {
        std::vector<value> start{some(s.floats)};
        if (chance(50)) start.push_back(some(s.floats));
        bool const stacks = chance(50);
        bool const goes_on = chance(50);
        auto const body = [&](ops b, value turn, value condition, std::span<value const> carried) {
            scope inner = s;
            inner.flags.push_back(condition);
            inner.counts.push_back(b.op<"Min">(turn, b.scalar(2, dtype::int64)));
            for (value const& v : carried) inner.floats.emplace_back(v.set_shape({2, 3}));
            grow(b, inner, depth + 1, number(1, 4));
            std::vector<value> out = results(inner, carried.size() + (stacks ? 1 : 0));
            out.insert(out.begin(), goes_on ? condition : greater(b, inner.floats.back()));
            return out;
        };
        value const turns = some(s.counts);
        value const condition = chance(50) ? some(s.flags) : g.constant(aton::scalar_tensor(true, dtype::bool_));
        std::vector<value> const all =
            g.op<"Loop">(turns, condition, start, attr::body_g(body), output_list(start.size() + (stacks ? 1 : 0)));
        for (std::size_t i = 0; i != start.size(); ++i) keep(s, all[i]);
        if (stacks) keep(s, g.op<"ReduceSum">(all.back(), g.ints({0}), attr::keepdims_i(0)));
    }

    void add_scan(ops g, scope& s, int depth) {
        value const steps = g.op<"Unsqueeze">(some(s.floats), g.ints({0}));
        value const scanned =
            chance(50) ? value(g.op<"Concat">(std::vector<value>{steps, steps}, attr::axis_i(0))) : steps;
        auto const body = [&](ops b, value state, value slice) {
            scope inner = s;
            inner.floats.emplace_back(state.set_shape({2, 3}));
            inner.floats.emplace_back(slice.set_shape({2, 3}));
            grow(b, inner, depth + 1, number(0, 3));
            return results(inner, 2);
        };
        std::vector<value> const all = g.op<"Scan">(std::vector<value>{some(s.floats), scanned},
                                                    attr::body_g(body),
                                                    attr::num_scan_inputs_i(1),
                                                    attr::scan_output_axes_i({1}),
                                                    output_list(2));
        keep(s, all[0]);
        keep(s, g.op<"ReduceSum">(all[1], g.ints({1}), attr::keepdims_i(0)));
    }

    std::mt19937_64 rng_;
};

} // namespace random_graphs
