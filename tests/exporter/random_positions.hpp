// SPDX-License-Identifier: MIT
// Random graphs that compute with positions as models do for their masks: ranges over sizes, views and sums of them, comparisons,
// elements selected at positions, and attention that a comparison masks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../dsl/random_graph.hpp"

namespace random_graphs {

class random_positions {
public:
    explicit random_positions(random_graph& graph) : g_(graph) {
        for (std::int64_t rank : {g_.number(2, 3), g_.number(1, 3)}) floats_.push_back(symbolic_input(rank));
        for (std::int64_t i = 3; i != 0; --i) count();
        for (std::int64_t i = g_.number(8, 30); i != 0; --i) grow();
        if (g_.chance(60)) attention();
        choose_outputs();
    }

private:
    /// A value and its sizes when the graph is run.
    struct known {
        value v;
        sizes run;
    };
    using values = std::vector<known>;

    known const& pick(values const& from) {
        return from[static_cast<std::size_t>(g_.number(0, static_cast<std::int64_t>(from.size()) - 1))];
    }
    value constant(aton::tensor t) { return {g_.data, aton::dsl::detail::append_constant(g_.data, std::move(t))}; }
    value ints(sizes const& list) { return constant(aton::int64_tensor(list)); }
    value scalar(aton::scalar s, dtype t = dtype::int64) { return constant(aton::scalar_tensor(s, t)); }
    template <class... Args>
    std::optional<value> call(char const* op, Args const&... args) {
        std::vector<value> const out = g_.call(op, 1, args...);
        return out.empty() ? std::nullopt : std::optional(out[0]);
    }
    /// Keeps a result; as in exported programs, its dimensions often have the names that the program recorded.
    void keep(std::optional<value> v, sizes const& run) {
        if (!v || run.size() > 5) return;
        if (g_.chance(60)) {
            std::vector<dim> dims;
            for (std::int64_t s : run) dims.push_back(recorded(s));
            g_.data.values[v->id()].type.shape = aton::shape(dims);
        }
        (v->dtype() == dtype::bool_ ? masks_ : v->dtype() == dtype::int64 ? integers_ : floats_).push_back({*v, run});
    }
    dim recorded(std::int64_t size) {
        if (size >= 2 && size <= 4 && g_.chance(70)) return {std::string(symbols[size - 2])};
        if (size >= 3 && size <= 5 && g_.chance(70)) return {std::string(symbols[size - 3]) + " + 1"};
        if (size == 6 && g_.chance(70)) return {std::string("2*three")};
        return size == 1 || g_.chance(30) ? dim(size) : dim();
    }
    known symbolic_input(std::int64_t rank) {
        sizes run;
        std::vector<dim> dims;
        for (std::int64_t i = 0; i != rank; ++i) {
            run.push_back(g_.chance(20) ? 1 : g_.number(2, 4));
            if (run.back() == 1) dims.emplace_back(1);
            else dims.emplace_back(std::string(symbols[run.back() - 2]));
        }
        std::string const name = "input_" + std::to_string(g_.data.inputs.size());
        g_.input_sizes[name] = run;
        return {{g_.data, g_.data.add_input(name, {dtype::float32, aton::shape(dims)})}, run};
    }
    /// A size as a 0-d tensor.
    std::optional<value> size(known const& x, std::size_t axis) {
        std::optional<value> const s = call("Shape", x.v);
        return s ? call("Gather", *s, scalar(static_cast<std::int64_t>(axis)), attr_i<"axis">(0)) : std::nullopt;
    }
    static std::optional<sizes> broadcast(sizes a, sizes b) {
        if (a.size() < b.size()) std::swap(a, b);
        for (std::size_t i = 0; i != b.size(); ++i) {
            std::int64_t& s = a[a.size() - b.size() + i];
            if (s == 1) s = b[i];
            else if (b[i] != 1 && b[i] != s) return {};
        }
        return a;
    }

    /// start, start + 1, ... as many as a size.
    void count() {
        known const& x = pick(floats_);
        if (x.run.empty()) return;
        auto const axis = static_cast<std::size_t>(g_.number(0, static_cast<std::int64_t>(x.run.size()) - 1));
        std::optional<value> end = size(x, axis);
        std::int64_t const start = g_.chance(70) ? 0 : g_.number(-2, 2);
        std::int64_t count = x.run[axis];
        if (end && g_.chance(30)) {
            std::int64_t const more = g_.number(0, 2);
            end = call("Add", *end, scalar(more));
            count += more;
        }
        if (end && start != 0 && g_.chance(60)) end = call("Add", *end, scalar(start));
        else count = std::max<std::int64_t>(count - start, 0);
        if (end) keep(call("Range", scalar(start), *end, scalar(1)), {count});
    }
    void view() {
        known const x = pick(g_.chance(80) ? integers_ : masks_.empty() ? integers_ : masks_);
        auto const rank = static_cast<std::int64_t>(x.run.size());
        sizes run = x.run;
        switch (g_.number(0, 3)) {
        case 0: {
            std::int64_t const axis = g_.number(0, rank);
            run.insert(run.begin() + axis, 1);
            return keep(call("Unsqueeze", x.v, ints({axis})), run);
        }
        case 1: {
            sizes perm;
            for (std::int64_t a : g_.axes(rank, rank)) perm.push_back(a < 0 ? a + rank : a);
            for (std::size_t i = 0; i != run.size(); ++i) run[i] = x.run[static_cast<std::size_t>(perm[i])];
            return keep(call("Transpose", x.v, attr_i<"perm">(std::span(perm))), run);
        }
        case 2: {
            known const& like = pick(floats_);
            std::optional<sizes> const to = broadcast(run, like.run);
            std::optional<value> const shape = call("Shape", like.v);
            return to && shape ? keep(call("Expand", x.v, *shape), *to) : void();
        }
        default: {
            if (std::find(run.begin(), run.end(), 0) != run.end()) return;
            sizes target;
            for (std::int64_t s : run)
                if (s != 1 || g_.chance(50)) target.push_back(s);
            if (g_.chance(60))
                target.insert(target.begin() + g_.number(0, static_cast<std::int64_t>(target.size())), 1);
            return keep(call("Reshape", x.v, ints(target)), target);
        }
        }
    }
    void cut() {
        known const x = pick(integers_);
        if (x.run.empty()) return;
        std::int64_t const axis = g_.number(0, static_cast<std::int64_t>(x.run.size()) - 1);
        auto const at = static_cast<std::size_t>(axis);
        std::int64_t const n = x.run[at];
        std::int64_t const start = g_.chance(70) ? g_.number(0, 2) : g_.number(-3, -1);
        std::int64_t const end = g_.chance(50) ? INT64_MAX : g_.number(-2, 4);
        std::int64_t const step = g_.chance(75) ? 1 : 2;
        auto const clamped = [&](std::int64_t p) { return std::clamp<std::int64_t>(p < 0 ? p + n : p, 0, n); };
        sizes run = x.run;
        run[at] = std::max<std::int64_t>((clamped(end) - clamped(start) + step - 1) / step, 0);
        keep(call("Slice", x.v, ints({start}), ints({end}), ints({axis}), ints({step})), run);
        if (step == 1 && start > 0 && end == INT64_MAX && g_.chance(50)) { // the rest after its predecessor
            std::optional<value> const head = call("Slice", x.v, ints({0}), ints({start}), ints({axis}));
            if (!head || integers_.back().run != run || run.size() != x.run.size()) return;
            keep(call("Concat", *head, integers_.back().v, attr_i<"axis">(axis)), x.run);
        }
    }
    void join() {
        known const a = pick(integers_);
        known const b = pick(integers_);
        if (a.run.empty() || a.run.size() != b.run.size()) return;
        std::int64_t const axis = g_.number(0, static_cast<std::int64_t>(a.run.size()) - 1);
        sizes run = a.run;
        for (std::size_t i = 0; i != run.size(); ++i)
            if (static_cast<std::int64_t>(i) == axis) run[i] += b.run[i];
            else if (run[i] != b.run[i]) return;
        keep(call("Concat", a.v, b.v, attr_i<"axis">(axis)), run);
    }
    void arithmetic() {
        known const a = pick(integers_);
        char const* const ops[] = {"Add", "Sub", "Mul"};
        if (g_.chance(50)) return keep(call(ops[g_.number(0, 2)], a.v, scalar(g_.number(-2, 3))), a.run);
        known const b = pick(integers_);
        std::optional<sizes> const run = broadcast(a.run, b.run);
        if (run) keep(call(ops[g_.number(0, 1)], a.v, b.v), *run);
    }
    void compare() {
        known const a = pick(integers_);
        known const b = g_.chance(70) ? pick(integers_) : known{scalar(g_.number(-1, 3)), {}};
        char const* const ops[] = {"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"};
        std::optional<sizes> const run = broadcast(a.run, b.run);
        if (run) keep(call(ops[g_.number(0, 4)], a.v, b.v), *run);
    }
    void logic() {
        if (masks_.empty()) return compare();
        known const a = pick(masks_);
        known const b = pick(masks_);
        std::optional<sizes> const run = broadcast(a.run, b.run);
        switch (g_.number(0, 3)) {
        case 0: return keep(call("Not", a.v), a.run);
        case 1: return keep(call("Cast", a.v, attr_i<"to">(dtype::int64)), a.run);
        case 2: {
            known const x = pick(integers_);
            std::optional<sizes> const all = broadcast(a.run, x.run);
            return all ? keep(call("Where", a.v, x.v, scalar(g_.number(-1, 2))), *all) : void();
        }
        default: return run ? keep(call(g_.chance(60) ? "And" : "Or", a.v, b.v), *run) : void();
        }
    }
    void accumulate() {
        known const x = pick(integers_);
        if (x.run.empty()) return;
        std::int64_t const axis = g_.number(0, static_cast<std::int64_t>(x.run.size()) - 1);
        keep(call("CumSum", x.v, scalar(axis), attr_i<"exclusive">(g_.chance(30)), attr_i<"reverse">(g_.chance(20))),
             x.run);
    }
    /// An index into an axis of this size, as a tensor of some shape.
    std::optional<known> index(std::int64_t size) {
        if (size == 0) return {};
        for (int tries = 0; tries != 6; ++tries) {
            known const& x = pick(integers_);
            if (g_.chance(50)) { // any numbers, limited to the axis
                std::optional<value> const low = call("Max", x.v, scalar(std::int64_t{0}));
                std::optional<value> const high = low ? call("Min", *low, scalar(size - 1)) : std::nullopt;
                if (high) return known{*high, x.run};
                continue;
            }
            for (known const& f : floats_) // all positions of an axis
                for (std::size_t axis = 0; axis != f.run.size(); ++axis) {
                    if (f.run[axis] != size || g_.chance(40)) continue;
                    std::optional<value> const end = this->size(f, axis);
                    std::optional<value> r =
                        end ? call("Range", scalar(std::int64_t{0}), *end, scalar(1)) : std::nullopt;
                    sizes run{size};
                    for (std::int64_t i = g_.number(0, 2); r && i != 0; --i) {
                        std::int64_t const at = g_.number(0, static_cast<std::int64_t>(run.size()));
                        r = call("Unsqueeze", *r, ints({at}));
                        run.insert(run.begin() + at, 1);
                    }
                    if (r) return known{*r, run};
                }
        }
        return known{scalar(g_.number(0, size - 1)), {}};
    }
    void gather() {
        known const x = pick(g_.chance(50) ? integers_ : floats_);
        if (x.run.empty()) return;
        std::int64_t const axis = g_.number(0, static_cast<std::int64_t>(x.run.size()) - 1);
        std::optional<known> const at = index(x.run[static_cast<std::size_t>(axis)]);
        if (!at) return;
        sizes run(x.run.begin(), x.run.begin() + axis);
        run.insert(run.end(), at->run.begin(), at->run.end());
        run.insert(run.end(), x.run.begin() + axis + 1, x.run.end());
        keep(call("Gather", x.v, at->v, attr_i<"axis">(axis)), run);
    }
    /// As a mapping indexes with several tensors: they are expanded to a common shape and joined.
    void gather_nd() {
        known const x = pick(g_.chance(50) ? integers_ : floats_);
        if (x.run.empty()) return;
        auto const count = static_cast<std::size_t>(g_.number(1, static_cast<std::int64_t>(x.run.size())));
        values parts;
        sizes all;
        for (std::size_t i = 0; i != count; ++i) {
            std::optional<known> const at = index(x.run[i]);
            std::optional<sizes> const more = at ? broadcast(all, at->run) : std::nullopt;
            if (!more) return;
            parts.push_back(*at);
            all = *more;
        }
        std::vector<value> columns;
        for (known const& p : parts) {
            std::optional<value> const wide = call("Expand", p.v, ints(all));
            std::optional<value> const column =
                wide ? call("Unsqueeze", *wide, ints({static_cast<std::int64_t>(all.size())})) : std::nullopt;
            if (!column) return;
            columns.push_back(*column);
        }
        std::optional<value> const indices =
            call("Concat", std::span<value const>(columns), attr_i<"axis">(static_cast<std::int64_t>(all.size())));
        sizes run = all;
        run.insert(run.end(), x.run.begin() + static_cast<std::ptrdiff_t>(count), x.run.end());
        if (indices) keep(call("GatherND", x.v, *indices), run);
    }
    /// Scores with a computed mask, and the guard against rows that it hides.
    void attention() {
        known const x = pick(floats_);
        if (x.run.size() < 2) return;
        std::size_t const rank = x.run.size();
        std::optional<value> const queries = size(x, rank - 2);
        std::optional<value> const keys = size(x, rank - 1);
        if (!queries || !keys) return;
        std::optional<value> const q = call("Range", scalar(std::int64_t{0}), *queries, scalar(1));
        std::optional<value> const k = call("Range", scalar(std::int64_t{0}), *keys, scalar(1));
        std::optional<value> column = q ? call("Unsqueeze", *q, ints({1})) : std::nullopt;
        if (column && g_.chance(50)) column = call("Add", *column, scalar(g_.number(-1, 2)));
        if (!column || !k) return;
        char const* const ops[] = {"LessOrEqual", "Less", "GreaterOrEqual", "Greater"};
        std::optional<value> mask = call(ops[g_.number(0, 3)], *k, *column);
        if (mask && g_.chance(40)) {
            std::optional<value> const first = call("Sub", *column, scalar(g_.number(0, 2)));
            std::optional<value> const window = first ? call(ops[g_.number(2, 3)], *k, *first) : std::nullopt;
            if (window) mask = call("And", *mask, *window);
        }
        double const infinity = std::numeric_limits<double>::infinity();
        std::optional<value> const scores = mask ? call("Where", *mask, x.v, scalar(-infinity, dtype::float32)) : mask;
        std::optional<value> const weights = scores ? call("Softmax", *scores, attr_i<"axis">(-1)) : scores;
        if (!weights) return;
        std::int64_t const last = static_cast<std::int64_t>(rank) - 1;
        std::optional<value> const rows =
            g_.opset() >= 18 ? call("ReduceMax", *scores, ints({last}), attr_i<"keepdims">(1))
                             : call("ReduceMax", *scores, attr_i<"axes">({last}), attr_i<"keepdims">(1));
        std::optional<value> const hidden = rows ? call("Equal", *rows, scalar(-infinity, dtype::float32)) : rows;
        if (hidden) keep(call("Where", *hidden, scalar(0, dtype::float32), *weights), x.run);
    }
    void grow() {
        if (integers_.empty()) return count();
        switch (g_.number(0, 13)) {
        case 0: return count();
        case 1:
        case 2:
        case 3: return view();
        case 4: return cut();
        case 5: return join();
        case 6:
        case 7: return arithmetic();
        case 8: return compare();
        case 9:
        case 10: return logic();
        case 11: return accumulate();
        case 12: return gather();
        default: return gather_nd();
        }
    }
    void choose_outputs() {
        for (values const* list : {&integers_, &masks_, &floats_})
            for (std::size_t i = 0; i != list->size(); ++i) {
                value const v = (*list)[i].v;
                bool const is_input = g_.data.values[v.id()].producer < 0;
                if (!is_input && (i + 2 >= list->size() || g_.chance(20))) g_.data.outputs.push_back(v.id());
            }
    }

    random_graph& g_;
    values integers_; ///< int64
    values masks_;    ///< bool
    values floats_;
};

} // namespace random_graphs
