// SPDX-License-Identifier: MIT
// Mappings of operators that write to their arguments, as mutable_run_test.py declares them, and of rows that throw.
#include <span>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <vector>

#include <aton/aton.hpp>
#include <aton/plugin.hpp>

using namespace aton::dsl;

inline constexpr auto mutable_ops = table(
    symbolic<"mut::bump_(Tensor(a!) x, float by) -> ()">(
        [](graph<13> g, value x, double by) -> value { return g.op<"Add">(x, by); }),
    symbolic<"mut::scaled_(Tensor(a!) x, float by) -> Tensor(a!)">(
        [](graph<13> g, value x, double by) -> value { return g.op<"Mul">(x, by); }),
    symbolic<"mut::total(Tensor(a!) x, Tensor y) -> Tensor">(
        [](graph<13> g, value x, value y) -> std::tuple<value, value> {
            value const now = g.op<"Sub">(x, y);
            return {g.op<"ReduceSum">(now, attr::keepdims_i(0)), now};
        }),
    // The result y is in its place; the new value of x follows the results.
    symbolic<"mut::swap(Tensor(a!) x, Tensor(b!) y) -> (Tensor, Tensor(b!))">(
        [](graph<13> g, value x, value y) -> std::tuple<value, value, value> { return {g.op<"Neg">(x), x, y}; }),
    symbolic<"mut::swap_(Tensor(a!) x, Tensor(b!) y) -> ()">(
        [](graph<13>, value x, value y) -> std::tuple<value, value> { return {y, x}; }),
    symbolic<"mut::spread(Tensor(a!)? x, Tensor(b!)[] ys, float by=2.0, *, Tensor(c!) out) -> ()">(
        [](graph<13> g, optional_value x, std::span<value const> ys, double by,
           value) -> std::tuple<optional_value, std::vector<value>, value> {
            value sum = g.op<"ReduceSum">(ys[0], attr::keepdims_i(0));
            std::vector<value> now;
            double factor = by;
            for (value const& y : ys) now.push_back(g.op<"Mul">(y, factor++));
            if (!x) return {absent, now, sum};
            return {g.op<"Add">(*x, 1.0), now, g.op<"Add">(sum, 100.0)};
        }),
    symbolic<"mut::throws(Tensor(a!) x, str what) -> ()">([](graph<13> g, value x, std::string_view what) -> value {
        if (what == "at") return std::vector<value>{}.at(7);
        if (what == "own") throw std::runtime_error("axes must be\nsorted");
        if (what == "number") throw 42;
        return g.op<"Neg">(x);
    }));

ATON_PLUGIN(mutable_ops)
