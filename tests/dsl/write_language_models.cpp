// SPDX-License-Identifier: MIT
// Writes models with graphs in graphs, sequences, optionals and declared operators: language_models_run_test.py runs them.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <aton/aton.hpp>
#include <aton/model_io/model_io.hpp>

using namespace aton::dsl;

namespace {

/// One model: inputs by name, results in order.
struct model {
    graph_data data;
    int opset;

    explicit model(int target) : opset(target) { data.opset = target; }
    template <class Graph = graph<13>>
    Graph graph_of() {
        return {data, opset};
    }
    value floats(std::string name, std::vector<dim> const& dims) {
        return input(std::move(name), dtype::float32, dims);
    }
    value flag(std::string name) { return input(std::move(name), dtype::bool_, {}); }
    value count(std::string name) { return input(std::move(name), dtype::int64, {}); }
    /// ONNX requires the rank of every output; for results of loops and sequences it is in `ranks`.
    void write(std::string const& folder, std::string const& name, std::vector<value> const& results,
               std::vector<std::size_t> const& ranks = {}) {
        for (value const& v : results) {
            if (std::size_t const i = data.outputs.size(); i < ranks.size())
                v.set_shape(aton::shape(std::vector<dim>(ranks[i])));
            data.values[v.id()].name = "result_" + std::to_string(data.outputs.size());
            data.outputs.push_back(v.id());
        }
        write_model(data, folder + "/" + name + "_" + std::to_string(opset) + ".onnx");
    }

private:
    value input(std::string name, dtype type, std::vector<dim> const& dims) {
        return {data, data.add_input(std::move(name), {type, aton::shape(dims)})};
    }
};

/// max(x, -2) or x / 2; each branch captures values.
void branches(std::string const& folder, int opset) {
    model m(opset);
    auto const g = m.graph_of();
    value const c = m.flag("c");
    value const x = m.floats("x", {2, 3});
    value const low = g.op<"Neg">(g.scalar(2, dtype::float32));
    auto const [y, same] =
        g.op<"If">(c,
                   outputs<2>,
                   attr::then_branch_g([&](graph<13> b) { return std::pair<value, value>(b.op<"Max">(x, low), x); }),
                   attr::else_branch_g(
                       [&](graph<13> b) { return std::pair<value, value>(b.op<"Div">(x, 2.0), b.op<"Mul">(x, low)); }));
    m.write(folder, "branches", {y, g.op<"Identity">(same)});
}

/// Sums x * i while the sum of all is below a limit; in each iteration a branch captures values of three levels.
void loops(std::string const& folder, int opset) {
    model m(opset);
    auto const g = m.graph_of();
    value const n = m.count("n");
    value const go = m.flag("go");
    value const x = m.floats("x", {3});
    value const limit = m.floats("limit", {});
    auto const [total, steps, all] = g.op<"Loop">(
        n,
        go,
        g.op<"Sub">(x, x),
        g.scalar(0, dtype::int64),
        outputs<3>,
        attr::body_g([&](graph<13> b, value i, value, value sum, value step) -> std::tuple<value, value, value, value> {
            value const turn = b.cast<dtype::float32>(i);
            value const next = b.op<"Add">(sum, b.op<"Mul">(x, turn));
            value const odd = b.op<"Equal">(b.op<"Mod">(i, 2), 1);
            value const shown =
                b.op<"If">(odd,
                           attr::then_branch_g([&](graph<13> q) { return q.op<"Sub">(next, limit); }),
                           attr::else_branch_g([&](graph<13> q) {
                               return q.op<"If">(go,
                                                 attr::then_branch_g([&](graph<13> r) { return r.op<"Add">(x, turn); }),
                                                 attr::else_branch_g([&](graph<13>) { return x; }));
                           }));
            shown.set_shape({3}); // ONNX Runtime uses these sizes for zero iterations
            value const keep = b.op<"Less">(b.op<"ReduceSum">(next, attr::keepdims_i(0)), limit);
            return {keep, next, b.op<"Add">(step, 1), shown};
        }));
    m.write(folder, "loops", {total, steps, all}, {1, 0, 2});
}

/// A loop without a condition, and one without a trip count.
void plain_loops(std::string const& folder, int opset) {
    model m(opset);
    auto const g = m.graph_of();
    value const n = m.count("n");
    value const x = m.floats("x", {2});
    value const counted = g.op<"Loop">(n, absent, x, attr::body_g([&](graph<13> b, value, value keep, value a) {
                                           return std::pair<value, value>(b.op<"Identity">(keep), b.op<"Add">(a, a));
                                       }));
    auto const [last, seen] =
        g.op<"Loop">(absent,
                     g.op<"Less">(g.scalar(0, dtype::int64), n),
                     n,
                     outputs<2>,
                     attr::body_g([&](graph<13> b, value i, value, value left) -> std::vector<value> {
                         value const less = b.op<"Sub">(left, 1);
                         return {b.op<"Less">(b.scalar(0, dtype::int64), less), less, b.op<"Mul">(i, left)};
                     }));
    m.write(folder, "plain_loops", {counted, last, seen}, {1, 0, 1});
}

/// Two states; one input is scanned backwards, the other along axis 1; one output is stacked backwards along axis 1.
void scans(std::string const& folder, int opset) {
    model m(opset);
    auto const g = m.graph_of();
    value const a = m.floats("a", {3});
    value const b = m.floats("b", {3});
    value const xs = m.floats("xs", {4, 3});
    value const ys = m.floats("ys", {3, 4});
    auto const [sum, product, rows, columns] = g.op<"Scan">(
        a,
        b,
        xs,
        ys,
        outputs<4>,
        attr::num_scan_inputs_i(2),
        attr::scan_input_directions_i({1, 0}),
        attr::scan_input_axes_i({0, 1}),
        attr::scan_output_directions_i({0, 1}),
        attr::scan_output_axes_i({0, 1}),
        attr::body_g([&](graph<13> s, value p, value q, value x, value y) -> std::tuple<value, value, value, value> {
            value const next = s.op<"Add">(p, x);
            return {next, s.op<"Mul">(q, y), s.op<"Sub">(next, y), s.op<"Add">(q, b)};
        }));
    m.write(folder, "scans", {sum, product, rows, columns});
}

void sequences(std::string const& folder, int opset) {
    model m(opset);
    auto const g = m.graph_of();
    value const x = m.floats("x", {2, 3});
    value const y = m.floats("y", {2, 3});
    value const n = m.count("n");
    value const two = g.sequence({x, y});
    value const three = g.op<"SequenceInsert">(two, g.op<"Neg">(x), g.scalar(1, dtype::int64));
    value const less = g.op<"SequenceErase">(three, n);
    value const joined = g.op<"ConcatFromSequence">(less, attr::axis_i(1));
    value const stacked = g.op<"ConcatFromSequence">(three, attr::axis_i(-1), attr::new_axis_i(1));
    value const empty = g.sequence({}, dtype::float32);
    value const one = g.op<"SequenceInsert">(empty, y);
    value const parts = g.op<"SplitToSequence">(x, g.ints({1, 2}), attr::axis_i(1));
    std::vector<value> const both = g.elements(parts, 2);
    m.write(folder,
            "sequences",
            {joined,
             stacked,
             g.op<"SequenceLength">(less),
             g.op<"SequenceLength">(empty),
             g.op<"SequenceAt">(one, g.scalar(-1, dtype::int64)),
             both[0],
             both[1],
             g.op<"SequenceAt">(three, n)},
            {2, 3, 0, 0, 2, 2, 2, 2});
}

/// The sequence is an argument of the body, and something captured too.
void mapped(std::string const& folder, int opset) {
    model m(opset);
    auto const g = m.graph_of<graph<17>>();
    value const x = m.floats("x", {4, 2});
    value const y = m.floats("y", {2});
    value const parts = g.op<"SplitToSequence">(x, g.scalar(1, dtype::int64));
    auto const [sums, sizes] =
        g.op<"SequenceMap">(parts, y, outputs<2>, attr::body_g([&](graph<17> b, value each, value add) {
                                value const sum = b.op<"Add">(each, b.op<"Add">(add, y));
                                return std::pair<value, value>(sum, b.op<"Size">(each));
                            }));
    m.write(folder,
            "mapped",
            {g.op<"ConcatFromSequence">(sums, attr::axis_i(0)),
             g.op<"ConcatFromSequence">(sizes, attr::axis_i(0), attr::new_axis_i(1))});
}

void optionals(std::string const& folder, int opset) {
    model m(opset);
    auto const g = m.graph_of<graph<15>>();
    value const x = m.floats("x", {2, 3});
    value const some = g.op<"Optional">(x);
    value const list = g.op<"Optional">(g.sequence({x, g.op<"Neg">(x)}));
    m.write(folder,
            "optionals",
            {g.op<"Identity">(g.op<"OptionalGetElement">(some)),
             g.op<"OptionalHasElement">(some),
             g.op<"SequenceAt">(g.op<"OptionalGetElement">(list), g.scalar(1, dtype::int64))});
}

// Declared operators with bodies, none of which ONNX Runtime has.

inline constexpr auto scaled_body = [](graph<13> g, value x, optional_value bias, double alpha,
                                       std::int64_t n) -> value {
    value y = g.op<"Mul">(x, alpha);
    for (std::int64_t i = 0; i != n; ++i) y = g.op<"Add">(y, x);
    return bias.has_value() ? value(g.op<"Sub">(y, *bias)) : y;
};
inline constexpr auto clamped_body = [](graph<13> g, value c, value x) -> value {
    return g.op<"If">(c,
                      attr::then_branch_g([&](graph<13> b) { return b.op<"Max">(x, b.scalar(-0.5, x.dtype())); }),
                      attr::else_branch_g([&](graph<13>) { return x; }));
};
inline constexpr auto basics = domain<
    "test.basics", 2,
    op<"Scaled(T X, T? Bias, float alpha=0.5, int n=1) -> (T Y = like(X))", "T: float, double", body<scaled_body>>,
    op<"Clamped(tensor(bool) C, T X) -> (T Y = like(X))", "T: float, double", body<clamped_body>>>{};
inline constexpr auto twice_body = [](graph<13, basics> g, value c, value x) -> std::pair<value, value> {
    value const y = g.op<"test.basics::Scaled">(g.op<"test.basics::Clamped">(c, x), x, attr_f<"alpha">(2.0));
    return {y, x};
};
inline constexpr auto more = domain<
    "test.more", 1,
    op<"Twice(tensor(bool) C, T X) -> (T Y = like(X), T Same = like(X))", "T: float, double", body<twice_body>>>{};
using graph_of_ours = graph<13, basics, more>;

void functions(std::string const& folder, int opset) {
    model m(opset);
    auto const g = m.graph_of<graph_of_ours>();
    value const c = m.flag("c");
    value const x = m.floats("x", {2, 3});
    value const half = g.op<"test.basics::Scaled">(x);
    value const biased = g.op<"test.basics::Scaled">(x, half, attr_f<"alpha">(-3.0), attr_i<"n">(2));
    auto const [twice, same] = g.op<"test.more::Twice">(c, biased, outputs<2>);
    value const branch =
        g.op<"If">(c,
                   attr::then_branch_g([&](graph_of_ours b) { return b.op<"test.basics::Scaled">(x, attr_i<"n">(0)); }),
                   attr::else_branch_g([&](graph_of_ours b) {
                       auto const results = b.op<"test.more::Twice">(c, half, outputs<2>);
                       return std::get<0>(results);
                   }));
    m.write(folder, "functions", {half, biased, twice, same, branch});
}

/// A function with a Loop serves calls of other dtypes and shapes; a call need not ask for an optional output.
inline constexpr auto repeated_body = [](graph<13> g, value x, std::int64_t want) {
    auto const [last, all] = g.op<"Loop">(
        g.scalar(2, dtype::int64), absent, x, outputs<2>, attr::body_g([&](graph<13> b, value, value c, value s) {
            value const next = b.op<"Add">(s, x);
            return std::tuple(b.op<"Identity">(c), next, next);
        }));
    value const sum = g.op<"ReduceSum">(all, g.ints({0}), attr::keepdims_i(0));
    return std::tuple<value, optional_value>(g.op<"Add">(last, sum), want != 0 ? optional_value(last) : absent);
};
inline constexpr auto repeating =
    domain<"test.repeating", 1,
           op<"Repeated(T X, int want=1) -> (T Y = like(X), T? Last)", "T: float, double", body<repeated_body>>>{};

void shared_functions(std::string const& folder, int opset) {
    model m(opset);
    auto const g = m.graph_of<graph<13, repeating>>();
    value const x = m.floats("x", {2, 3});
    value const wide = g.cast(m.floats("w", {4}), dtype::float64);
    auto const [y, last] = g.op<"test.repeating::Repeated">(x, outputs<2>);
    m.write(folder,
            "shared_functions",
            {y, last, g.op<"test.repeating::Repeated">(wide), g.op<"test.repeating::Repeated">(x, attr_i<"want">(0))},
            {2, 2, 1, 2});
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) return std::fputs("usage: write_language_models FOLDER OPSET...\n", stderr), 2;
    try {
        for (int i = 2; i != argc; ++i) {
            int const opset = std::stoi(argv[i]);
            for (auto* write : {branches, loops, plain_loops, scans, sequences, functions, shared_functions})
                write(argv[1], opset);
            if (opset >= 15) optionals(argv[1], opset);
            if (opset >= 17) mapped(argv[1], opset);
        }
    } catch (std::exception const& e) {
        return std::fprintf(stderr, "%s\n", e.what()), 1;
    }
    return 0;
}
