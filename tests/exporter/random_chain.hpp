// SPDX-License-Identifier: MIT
// Random graphs of chained calls with everything that passes look for: no-ops, computed shapes, constants, layers to fuse.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "../dsl/random_graph.hpp"

namespace random_graphs {

class random_chain {
public:
    explicit random_chain(random_graph& graph) : g_(graph) {
        for (std::int64_t i = g_.number(1, 3); i > 0 || floats_.empty(); --i)
            keep(g_.input(dtype::float32, g_.random_sizes(g_.number(1, 4), 1, 4)));
        for (std::int64_t i = g_.number(6, 24); i != 0; --i) grow();
        choose_outputs();
    }

private:
    static std::int64_t size_of(dim const& d) { // 0 if unknown
        for (std::int64_t i = 0; i != 3; ++i)
            if (d.is_symbolic() && d.symbol() == symbols[i]) return symbol_sizes[i];
        return d.is_static() ? d.size() : 0;
    }
    static bool is_known(value const& v) {
        return v.has_rank() && std::all_of(v.shape().dims().begin(), v.shape().dims().end(), [](dim const& d) {
                   return size_of(d) != 0;
               });
    }
    static sizes sizes_of(value const& v) {
        sizes out;
        for (dim const& d : v.shape().dims()) out.push_back(size_of(d));
        return out;
    }
    value constant(aton::tensor t) { return {g_.data, aton::dsl::detail::append_constant(g_.data, std::move(t))}; }
    value ints(sizes const& list) { return constant(aton::int64_tensor(list)); }
    value scalar(aton::scalar s, dtype t = dtype::int64) { return constant(aton::scalar_tensor(s, t)); }
    value weight(sizes const& s, double low = -1) {
        aton::tensor t{dtype::float32, s, {}};
        for (std::int64_t i = t.element_count(); i != 0; --i)
            t.append(low + static_cast<double>(g_.number(1, 1000)) / 700.0);
        return constant(std::move(t));
    }
    value some() {
        return floats_[static_cast<std::size_t>(g_.number(0, static_cast<std::int64_t>(floats_.size()) - 1))];
    }
    value some_list() {
        return lists_[static_cast<std::size_t>(g_.number(0, static_cast<std::int64_t>(lists_.size()) - 1))];
    }
    template <class... Args>
    value one(char const* op, Args const&... args) {
        std::vector<value> const out = g_.call(op, 1, args...);
        return out.empty() ? floats_[0] : out[0];
    }
    void keep(value v) {
        if (v.dtype() == dtype::float32 && v.has_rank()) floats_.push_back(v);
    }

    value size(value x, std::int64_t i) {
        return one("Gather", one("Shape", x), scalar(g_.chance(50) ? i : i - x.rank()), attr_i<"axis">(0));
    }
    value as_list(value v) {
        if (g_.chance(50)) return one("Reshape", v, ints({g_.chance(50) ? 1 : -1}));
        return one("Unsqueeze", v, ints({0}));
    }
    /// The shape of x in some form: a Shape, or a Concat of sizes.
    value computed_shape(value x, sizes const& to) {
        if (g_.chance(20) && to == sizes_of(x)) return one("Shape", x);
        std::vector<value> parts;
        for (std::int64_t n : to) {
            auto const rank = static_cast<std::int64_t>(sizes_of(x).size());
            value part = ints({n});
            for (std::int64_t d = 0; d != rank; ++d)
                if (size_of(x.size(d)) == n && g_.chance(70)) part = as_list(size(x, d));
            parts.push_back(part);
        }
        return parts.empty() ? ints({}) : one("Concat", std::span<value const>(parts), attr_i<"axis">(0));
    }
    sizes other_factors(sizes s) {
        if (s.size() > 1 && g_.chance(50)) {
            std::int64_t const n = s.back();
            s.pop_back();
            s.back() *= n;
        }
        if (g_.chance(40)) s.insert(s.begin() + g_.number(0, static_cast<std::int64_t>(s.size())), 1);
        return s;
    }

    void view() {
        value const x = some();
        if (!is_known(x)) return;
        sizes const s = sizes_of(x);
        auto const rank = static_cast<std::int64_t>(s.size());
        switch (g_.number(0, 5)) {
        case 0: return keep(one("Flatten", x, attr_i<"axis">(g_.number(0, rank))));
        case 1: return keep(one("Unsqueeze", x, ints({g_.number(0, rank)})));
        case 2: {
            sizes axes;
            for (std::int64_t i = 0; i != rank; ++i)
                if (x.size(i).is(1)) axes.push_back(i);
            return axes.empty() ? void() : keep(one("Squeeze", x, ints(axes)));
        }
        case 3: return keep(one("Reshape", x, ints(other_factors(s))));
        case 4: return keep(one("Expand", x, computed_shape(x, s)));
        default: return keep(one("Reshape", x, computed_shape(x, other_factors(s))));
        }
    }
    void transpose() {
        value const x = some();
        if (!x.has_rank()) return;
        sizes perm;
        for (std::int64_t a : g_.axes(x.rank(), x.rank())) perm.push_back(a < 0 ? a + x.rank() : a);
        keep(one("Transpose", x, attr_i<"perm">(std::span(perm))));
    }
    void cast() {
        value v = some();
        dtype const types[] = {
            dtype::float64, dtype::int32, dtype::int64, dtype::bool_, dtype::float16, dtype::float32};
        for (std::int64_t i = g_.number(1, 3); i != 0; --i) v = one("Cast", v, attr_i<"to">(types[g_.number(0, 5)]));
        keep(one("Cast", v, attr_i<"to">(dtype::float32)));
    }
    void arithmetic() {
        value const x = some();
        double const numbers[] = {0, 1, -1, 2, 0.5, -0.0};
        char const* const ops[] = {"Add", "Sub", "Mul", "Div", "Max"};
        char const* const op = ops[g_.number(0, 4)];
        std::int64_t const which = g_.number(op == ops[3] ? 1 : 0, op == ops[3] ? 4 : 5);
        aton::tensor t{dtype::float32, sizes(static_cast<std::size_t>(g_.number(0, 2)), 1), {}};
        t.append(numbers[which]);
        value const c = constant(std::move(t));
        keep(g_.chance(70) || op == ops[3] ? one(op, x, c) : one(op, c, x));
    }
    void binary() {
        value a = some();
        value b = some();
        if (!is_known(a) || !is_known(b)) return;
        sizes s = sizes_of(a);
        sizes t = sizes_of(b);
        while (s.size() < t.size()) s.insert(s.begin(), 1);
        while (t.size() < s.size()) t.insert(t.begin(), 1);
        for (std::size_t i = 0; i != s.size(); ++i)
            if (s[i] != t[i] && s[i] != 1 && t[i] != 1) return;
        if (g_.chance(40)) a = one("Expand", a, one("Shape", b));
        keep(one(g_.chance(50) ? "Add" : "Mul", a, b));
    }
    void cut() {
        value const x = some();
        if (!is_known(x) || x.rank() == 0) return;
        std::int64_t const axis = g_.number(0, x.rank() - 1);
        std::int64_t const n = size_of(x.size(axis));
        switch (g_.number(0, 3)) {
        case 0: return keep(one("Slice", x, ints({0}), ints({INT64_MAX}), ints({axis})));
        case 1: return keep(one("Slice", x, ints({-1}), ints({-n - 1}), ints({axis}), ints({-1})));
        case 2: {
            if (n < 2) return;
            std::vector<value> const parts =
                g_.call("Split", 2, x, ints({1, n - 1}), attr_i<"axis">(axis - (g_.chance(50) ? x.rank() : 0)));
            if (parts.size() == 2) keep(one("Concat", parts[1], parts[0], attr_i<"axis">(axis)));
            return;
        }
        default: return keep(one("Concat", x, attr_i<"axis">(axis)));
        }
    }
    void choice() {
        value const x = some();
        bool const all = g_.chance(50);
        value const condition = g_.chance(50) ? scalar(all, dtype::bool_) : one("Not", scalar(!all, dtype::bool_));
        if (g_.chance(60)) return keep(one("Where", condition, x, one("Neg", x)));
        value const large = one(g_.chance(50) ? "Greater" : "Less", x, scalar(0.5, dtype::float32));
        keep(one("Where", one("Not", large), x, scalar(2.0, dtype::float32)));
    }
    void nothing() {
        value const x = some();
        if (!is_known(x)) return;
        sizes const zeros(2 * static_cast<std::size_t>(x.rank()), 0);
        switch (g_.number(0, 3)) {
        case 0: return keep(one("Identity", x));
        case 1: return keep(one("Dropout", x));
        case 2: return x.rank() == 0 ? void() : keep(one("Pad", x, ints(zeros)));
        default: return keep(one("Tile", x, ints(sizes(static_cast<std::size_t>(x.rank()), 1))));
        }
    }
    void product() {
        value x = some();
        if (!is_known(x) || x.rank() < 2) return;
        std::int64_t const n = g_.number(2, 5);
        if (g_.chance(30) && x.rank() == 2) x = one("Transpose", x);
        std::int64_t const k = size_of(x.size(-1));
        value const w = g_.chance(50) ? weight({k, n}) : one("Transpose", weight({n, k}), attr_i<"perm">({1, 0}));
        value y = one("MatMul", x, w);
        if (g_.chance(70)) y = g_.chance(50) ? one("Add", y, weight({n})) : one("Add", weight({n}), y);
        keep(y);
    }
    /// A product with flattened leading dimensions, as in decomposed programs.
    void stacked_product() {
        value const x = some();
        if (!is_known(x) || x.rank() < 3) return;
        sizes const s = sizes_of(x);
        std::int64_t const k = s.back();
        std::int64_t const n = g_.number(2, 5);
        if (g_.chance(50)) {
            bool const flip = g_.chance(50);
            value const flat = one("Reshape", x, ints({-1, k}));
            value const w = weight(flip ? sizes{n, k} : sizes{k, n});
            auto const transposed = attr_i<"transB">(flip ? 1 : 0);
            value const y =
                g_.chance(60) ? one("Gemm", flat, w, weight({n}), transposed) : one("Gemm", flat, w, transposed);
            sizes to = s;
            to.back() = n;
            return keep(one("Reshape", y, computed_shape(x, to)));
        }
        if (x.rank() < 4) return;
        sizes right = s;
        right[right.size() - 2] = k;
        right.back() = n;
        value const w = weight(right);
        value const b =
            g_.chance(60) ? one("Reshape", w, ints({-1, k, n})) : one("Reshape", one("Neg", w), ints({-1, k, n}));
        value const y = one("MatMul", one("Reshape", x, ints({-1, s[s.size() - 2], k})), b);
        sizes to = s;
        to.back() = n;
        keep(one("Reshape", y, computed_shape(x, to)));
    }
    /// Scores with a mask that may hide whole rows, and attention's guard against them.
    void attention() {
        value const x = some();
        if (!is_known(x) || x.rank() < 2) return;
        double const infinity = std::numeric_limits<double>::infinity();
        sizes const s = sizes_of(x);
        aton::tensor mask{dtype::bool_, {s[s.size() - 2], s.back()}, {}};
        bool const none_hidden = g_.chance(50);
        for (std::int64_t i = 0; i != mask.element_count(); ++i)
            mask.append((none_hidden && i % s.back() == 0) || g_.chance(30));
        value const scores = one("Where", constant(std::move(mask)), x, scalar(-infinity, dtype::float32));
        value const weights = one("Softmax", scores, attr_i<"axis">(-1));
        auto const rows = [&](value v) {
            if (g_.opset() >= 18) return one("ReduceMax", v, ints({x.rank() - 1}), attr_i<"keepdims">(1));
            return one("ReduceMax", v, attr_i<"axes">({x.rank() - 1}), attr_i<"keepdims">(1));
        };
        if (g_.chance(50)) {
            value const hidden = one("Equal", rows(scores), scalar(-infinity, dtype::float32));
            return keep(one("Where", hidden, scalar(0, dtype::float32), weights));
        }
        value const seen = one("Not", one("Equal", scores, scalar(-infinity, dtype::float32)));
        value const any = one("Cast", rows(one("Cast", seen, attr_i<"to">(dtype::int32))), attr_i<"to">(dtype::bool_));
        value const zeros = g_.chance(50) ? scalar(0, dtype::float32) : one("ConstantOfShape", one("Shape", scores));
        keep(one("Where", any, weights, zeros));
    }
    value normalized(value x, std::int64_t channels) {
        return one("BatchNormalization",
                   x,
                   weight({channels}),
                   weight({channels}),
                   weight({channels}),
                   weight({channels}, 0.1),
                   attr_f<"epsilon">(0.01));
    }
    void layer() {
        value const x = some();
        if (!is_known(x) || x.rank() < 2 || x.size(1).size_or(0) <= 0) return;
        std::int64_t const in = x.size(1).size();
        std::int64_t const group = in % 2 == 0 && g_.chance(40) ? 2 : 1;
        std::int64_t const each = g_.number(2, 3);
        sizes const kernel(static_cast<std::size_t>(x.rank()) - 2, 1);
        auto const with_kernel = [&](sizes s) {
            s.insert(s.end(), kernel.begin(), kernel.end());
            return s;
        };
        if (x.rank() == 2) {
            bool const flip = g_.chance(50);
            value const w = weight(flip ? sizes{each, in} : sizes{in, each});
            auto const transposed = attr_i<"transB">(flip ? 1 : 0);
            value const y =
                g_.chance(50) ? one("Gemm", x, w, transposed) : one("Gemm", x, w, weight({each}), transposed);
            return keep(normalized(y, each));
        }
        bool const biased = g_.chance(50);
        bool const flip = g_.chance(50);
        char const* const op = flip ? "ConvTranspose" : "Conv";
        value const w = weight(with_kernel(flip ? sizes{in, each} : sizes{each * group, in / group}));
        value const y = biased ? one(op, x, w, weight({each * group}), attr_i<"group">(group))
                               : one(op, x, w, attr_i<"group">(group));
        keep(normalized(y, each * group));
    }
    /// Computed integers, sometimes from constants only, that are cast to a float tensor.
    void numbers() {
        if (lists_.empty() || g_.chance(40)) {
            value const x = some();
            lists_.push_back(g_.chance(50) || x.rank() == 0 ? scalar(g_.number(-5, 9))
                                                            : size(x, g_.number(0, x.rank() - 1)));
        }
        value const a = some_list();
        value const b = g_.chance(60) ? scalar(g_.number(1, 4)) : some_list();
        char const* const ops[] = {"Add", "Sub", "Mul", "Min", "Max"};
        value v = one(ops[g_.number(0, 4)], a, b);
        if (g_.chance(30)) v = one(g_.chance(50) ? "Div" : "Mod", v, scalar(g_.number(0, 1) * 5 - 3));
        if (g_.chance(20)) v = one("Abs", one("Neg", v));
        lists_.push_back(v);
        if (g_.chance(50)) {
            value const end = one("Min", one("Abs", v), scalar(6));
            value r = one("Range", scalar(0), end, scalar(1));
            if (g_.chance(50)) r = one("CumSum", r, scalar(0), attr_i<"exclusive">(g_.number(0, 1)));
            if (g_.chance(30)) r = one("Unsqueeze", r, ints({1}));
            keep(one("Cast", one("ReduceSum", r, ints({0}), attr_i<"keepdims">(1)), attr_i<"to">(dtype::float32)));
        }
        if (g_.chance(50)) keep(one("Cast", v, attr_i<"to">(dtype::float32)));
    }
    void math() {
        value c = weight(g_.random_sizes(g_.number(0, 2), 1, 3), 0.1);
        char const* const ops[] = {
            "Sqrt", "Reciprocal", "Exp", "Cos", "Sin", "Floor", "Ceil", "Sign", "Log", "Neg", "Round"};
        for (std::int64_t i = g_.number(1, 2); i != 0; --i) c = one(ops[g_.number(0, 9)], one("Abs", c));
        if (g_.chance(50)) c = one("Mul", c, scalar(1.5, dtype::float32));
        if (g_.chance(30)) c = one("Pow", one("Abs", c), scalar(2.0, dtype::float32));
        keep(c);
        if (c.rank() == 2 && g_.opset() >= 14) keep(one("Trilu", c, attr_i<"upper">(g_.number(0, 1))));
    }
    void again() { // the same call once more
        if (g_.data.nodes.empty()) return;
        aton::graph_node const n =
            g_.data.nodes[static_cast<std::size_t>(g_.number(0, static_cast<std::int64_t>(g_.data.nodes.size()) - 1))];
        if (n.op == "Constant" || n.outputs.size() != 1) return;
        value const out(g_.data, g_.data.add_value(g_.data.values[n.outputs[0]].type));
        g_.data.values[out.id()].producer = static_cast<std::int64_t>(g_.data.nodes.size());
        g_.data.nodes.push_back(n);
        g_.data.nodes.back().outputs = {out.id()};
        g_.results.push_back(out);
        keep(out);
    }
    void grow() {
        switch (g_.number(0, 15)) {
        case 0:
        case 1:
        case 2: return view();
        case 3: return transpose();
        case 4: return cast();
        case 5: return arithmetic();
        case 6: return binary();
        case 7: return cut();
        case 8: return choice();
        case 9: return nothing();
        case 10: return product();
        case 11: return layer();
        case 12: return g_.chance(70) ? numbers() : math();
        case 13: return stacked_product();
        case 14: return attention();
        default: return again();
        }
    }
    void choose_outputs() {
        for (std::size_t i = 0; i != floats_.size(); ++i)
            if (i + 3 >= floats_.size() || g_.chance(15)) g_.data.outputs.push_back(floats_[i].id());
    }

    random_graph& g_;
    std::vector<value> floats_; ///< float32 tensors
    std::vector<value> lists_;  ///< 0-d int64
};

} // namespace random_graphs
