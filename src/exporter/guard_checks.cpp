// SPDX-License-Identifier: MIT
// Adds checks of guards to a model: arithmetic on the sizes of its inputs, and a Reshape that fails if the result is false.
#include "converter.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <unordered_set>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/passes/passes.hpp>

namespace ATON_NAMESPACE::exporter {

namespace {

using dsl::value;
using program::expression;
using program::expression_kind;
using ops = dsl::graph<oldest_export_opset>;

struct not_expressible {
    std::string what;
};

bool never_negative(expression const& e) {
    switch (e.kind) {
    case expression_kind::symbol: return true;
    case expression_kind::integer: return e.number >= 0;
    case expression_kind::add:
    case expression_kind::mul:
    case expression_kind::floor_div:
    case expression_kind::mod: return std::all_of(e.operands.begin(), e.operands.end(), never_negative);
    default: return false;
    }
}

/// Converts Python arithmetic to nodes on 0-d int64, float64 and bool values. Only supports operations that IEEE 754 rounds correctly.
class condition_writer {
public:
    using source_map = std::map<std::string, program::guard_source, std::less<>>;

    condition_writer(ops g, source_map const& sources, std::vector<value_id> inputs)
        : g_(g),
          sources_(sources),
          inputs_(std::move(inputs)) {}

    [[nodiscard]] value condition(expression const& e) { return as(make(e), dtype::bool_); }

    /// Conditions for which Python would raise an exception: divisors must not be 0.
    [[nodiscard]] std::vector<value> const& also_required() const { return required_; }

private:
    [[nodiscard]] value as(value x, dtype t) const { return g_.cast(x, t); }

    /// Equal expressions, such as the size after a few convolutions, are computed once.
    value make(expression const& e) {
        std::string text = program::to_string(e);
        if (auto const found = made_.find(text); found != made_.end()) return found->second;
        value const out = make_anew(e);
        made_.emplace(std::move(text), out);
        return out;
    }

    value make_anew(expression const& e) {
        switch (e.kind) {
        case expression_kind::integer: return g_.scalar(e.number, dtype::int64);
        case expression_kind::boolean: return g_.scalar(e.number != 0, dtype::bool_);
        case expression_kind::real: return g_.scalar(e.real, dtype::float64);
        case expression_kind::symbol: return number(e.symbol);
        case expression_kind::piecewise: return chosen(e);
        default: break;
        }
        std::vector<value> x;
        for (expression const& each : e.operands) x.push_back(make(each));
        if (x.size() == 1) return unary(e, x[0]);
        if (x.size() == 2 && is_comparison(e.kind)) return compared(e.kind, x[0], x[1]);
        if (x.empty() || (x.size() != 2 && !takes_many(e.kind))) refuse(e);
        value out = x[0];
        for (std::size_t i = 1; i != x.size(); ++i) out = binary(e, out, x[i]);
        return out;
    }

    [[noreturn]] static void refuse(expression const& e) { throw not_expressible{program::to_string(e)}; }

    value number(std::string const& name) {
        program::guard_source const& source = sources_.at(name);
        value const x(g_.data(), inputs_.at(source.input));
        value out = x;
        if (source.axis >= 0) {
            auto const [shape, is_new] = shapes_.try_emplace(source.input);
            if (is_new) shape->second = g_.op<"Shape">(x);
            out = g_.op<"Gather">(shape->second, g_.scalar(source.axis, dtype::int64), dsl::attr::axis_i(0));
        }
        return out;
    }

    static bool takes_many(expression_kind k) {
        return k == expression_kind::add || k == expression_kind::mul || k == expression_kind::maximum ||
               k == expression_kind::minimum || k == expression_kind::all_of || k == expression_kind::any_of;
    }
    static bool is_comparison(expression_kind k) {
        return k == expression_kind::equal || k == expression_kind::unequal || k == expression_kind::greater ||
               k == expression_kind::greater_equal || k == expression_kind::less || k == expression_kind::less_equal;
    }
    /// The common dtype as in Python: bools are integers, and integers become floats next to floats.
    static dtype common(value const& a, value const& b) {
        return a.dtype() == dtype::float64 || b.dtype() == dtype::float64 ? dtype::float64 : dtype::int64;
    }

    value chosen(expression const& e) {
        if (e.operands.size() < 4 || e.operands.size() % 2 != 0) refuse(e);
        value out = make(e.operands[e.operands.size() - 2]); // the value for the condition True
        for (std::size_t i = e.operands.size() - 2; i >= 2; i -= 2) {
            value const x = make(e.operands[i - 2]);
            dtype const t = common(x, out);
            out = mappings::where(g_, condition(e.operands[i - 1]), as(x, t), as(out, t));
        }
        return out;
    }

    value compared(expression_kind k, value a, value b) {
        dtype const t = common(a, b);
        a = as(a, t);
        b = as(b, t);
        switch (k) {
        case expression_kind::equal: return mappings::is_equal(g_, a, b);
        case expression_kind::unequal: return g_.op<"Not">(mappings::is_equal(g_, a, b));
        case expression_kind::greater: return mappings::is_greater(g_, a, b);
        case expression_kind::less: return mappings::is_less(g_, a, b);
        case expression_kind::greater_equal: return mappings::is_at_least(g_, a, b);
        default: return mappings::is_at_most(g_, a, b);
        }
    }

    value unary(expression const& e, value x) {
        bool const is_real = x.dtype() == dtype::float64;
        if (!is_real)
            x = e.kind == expression_kind::negation || e.kind == expression_kind::all_of ? x : as(x, dtype::int64);
        switch (e.kind) {
        case expression_kind::negation: return g_.op<"Not">(as(x, dtype::bool_));
        case expression_kind::all_of: return as(x, dtype::bool_);
        case expression_kind::to_float: return as(x, dtype::float64);
        case expression_kind::absolute: return g_.op<"Abs">(x);
        case expression_kind::truncate: return as(x, dtype::int64);
        case expression_kind::floor: return is_real ? as(g_.op<"Floor">(x), dtype::int64) : x;
        case expression_kind::ceiling: return is_real ? as(g_.op<"Ceil">(x), dtype::int64) : x;
        case expression_kind::round: return is_real ? as(mappings::round_to_even(g_, x), dtype::int64) : x;
        case expression_kind::other:
            if (e.symbol == "sqrt") return g_.op<"Sqrt">(as(x, dtype::float64));
            break;
        default: break;
        }
        refuse(e);
    }

    /// A divisor with 0 replaced by 1, and the additional condition that it is not 0.
    value divisor(expression const& e, value x) {
        if (e.kind == expression_kind::integer && e.number != 0) return x;
        std::string const text = program::to_string(e);
        if (auto const found = divisors_.find(text); found != divisors_.end()) return found->second;
        value const zero = g_.scalar(std::int64_t{0}, dtype::int64);
        value const is_zero = mappings::is_equal(g_, as(x, dtype::int64), zero);
        required_.push_back(g_.op<"Not">(is_zero));
        value const out = mappings::where(g_, is_zero, g_.scalar(std::int64_t{1}, dtype::int64), x);
        divisors_.emplace(text, out);
        return out;
    }

    value binary(expression const& e, value a, value b) {
        switch (e.kind) {
        case expression_kind::all_of: return g_.op<"And">(as(a, dtype::bool_), as(b, dtype::bool_));
        case expression_kind::any_of: return g_.op<"Or">(as(a, dtype::bool_), as(b, dtype::bool_));
        default: break;
        }
        dtype const t = common(a, b);
        a = as(a, t);
        b = as(b, t);
        switch (e.kind) {
        case expression_kind::add: return g_.op<"Add">(a, b);
        case expression_kind::mul: return g_.op<"Mul">(a, b);
        case expression_kind::maximum: return mappings::max_of(g_, a, b);
        case expression_kind::minimum: return mappings::min_of(g_, a, b);
        case expression_kind::true_div: return g_.op<"Div">(as(a, dtype::float64), as(b, dtype::float64));
        default: break;
        }
        if (t != dtype::int64) refuse(e);
        b = divisor(e.operands[1], b);
        if (e.kind == expression_kind::mod) return mappings::floor_remainder(g_, a, b);
        if (e.kind != expression_kind::floor_div) refuse(e);
        if (never_negative(e)) return g_.op<"Div">(a, b);
        return g_.op<"Div">(g_.op<"Sub">(a, mappings::floor_remainder(g_, a, b)), b);
    }

    ops g_;
    source_map const& sources_;
    std::vector<value_id> inputs_;                   ///< of the graph, by value of the program
    std::map<std::string, value, std::less<>> made_; ///< by the text of the expression
    std::map<std::string, value, std::less<>> divisors_;
    std::map<program::value_index, value> shapes_;
    std::vector<value> required_;
};

/// Inputs of the graph by value of the program, in the order of converter::add_inputs().
std::vector<value_id> inputs_of(graph_data const& graph, program::program const& p, export_options const& options) {
    std::unordered_set<std::string_view> mutated;
    for (program::output const& out : p.outputs)
        if (out.kind == program::output_kind::buffer_mutation || out.kind == program::output_kind::parameter_mutation)
            mutated.insert(out.target);
    std::vector<value_id> out(p.values.size(), aton::no_value);
    std::size_t next = 0;
    for (program::input const& in : p.inputs) {
        bool const is_user = in.kind == program::input_kind::user;
        bool const is_weight = in.kind == program::input_kind::parameter || in.kind == program::input_kind::buffer ||
                               in.kind == program::input_kind::constant;
        bool const is_state = options.state == state_mode::inputs && is_weight && mutated.contains(in.target);
        if (in.value == program::no_value || (!is_user && !is_state)) continue;
        out[in.value] = graph.inputs.at(next++);
    }
    return out;
}

std::string guard_label(std::vector<program::guard const*> const& guards) {
    constexpr std::size_t max_length = 160;
    std::string out = "guard";
    for (program::guard const* g : guards) {
        if (out.size() + g->text.size() > max_length) return out + " ...";
        out += ' ' + g->text + (g == guards.back() ? "" : ",");
    }
    return clipped(std::move(out), std::string::npos);
}

/// The first output of known rank, preferably not of rank 0.
std::size_t output_to_check(graph_data const& graph, std::string const& file) {
    for (std::size_t min_rank : {1, 0})
        for (std::size_t i = 0; i != graph.outputs.size(); ++i) {
            value_type const& type = graph.values[graph.outputs[i]].type;
            if (type.kind == aton::value_kind::tensor && type.shape.has_rank() && type.shape.rank() >= min_rank)
                return i;
        }
    throw error(file + ": no output has a known rank, so the guards of the program cannot be checked");
}

/// x[start:] along the first axis, for a computed start.
value sliced(ops g, value const& x, value const& start) {
    if (g.opset() < 10) mappings::detail::refuse_below(10, "a check of the program's guards");
    value const end = g.ints({std::numeric_limits<std::int64_t>::max()});
    return g.within<10>().op<"Slice">(x, start, end, g.ints({0}));
}

/// Inserts a Slice from element 0 before an output. That 0 passes through a Reshape whose target is invalid if the condition is false. The
/// output itself does not, because ONNX Runtime fuses consecutive Reshapes.
void fail_unless(graph_data& graph, ops g, value const& condition, std::size_t output) {
    constexpr std::int64_t prime = 2147483647;
    using numbers = std::vector<std::int64_t>;
    auto const list = [&](numbers const& n) { return g.constant(int64_tensor(n)); };
    value_id& id = graph.outputs[output];
    value const x(graph, id);
    std::string const name = graph.values[id].name;
    value_type const type = graph.values[id].type;
    bool const is_scalar = type.shape.rank() == 0;
    value const fitting = list({is_scalar ? 0 : 1});
    value const passed = g.op<"Reshape">(list(is_scalar ? numbers() : numbers{0}),
                                         mappings::where(g, condition, fitting, list({prime})));
    value const checked = is_scalar ? mappings::expand_by(g, x, passed) : sliced(g, x, passed);
    graph.values[id].name.clear();
    id = checked.id();
    graph.values[id].name = name;
    graph.values[id].type = type;
}

/// Guards for the ranges of dimensions. The module ignores lower bounds up to 2.
std::vector<program::guard> range_guards(program::program const& p,
                                         std::map<std::string, program::guard_source, std::less<>>& sources) {
    std::vector<program::guard> out;
    for (program::input const& in : p.inputs) {
        if (in.kind != program::input_kind::user || in.value == program::no_value) continue;
        program::value const& v = p.values[in.value];
        auto const add = [&](program::extent const& e, std::int64_t axis) {
            if (e.is_number() || p.expressions[e.expression].kind != expression_kind::symbol) return;
            auto const range = p.ranges.find(p.expressions[e.expression].symbol);
            if (range == p.ranges.end()) return;
            std::string const name = v.name + (axis < 0 ? "" : ".size()[" + std::to_string(axis) + "]");
            auto const bound = [&](expression_kind kind, char const* sign, std::int64_t n) {
                expression number;
                number.number = n;
                expression symbol;
                symbol.kind = expression_kind::symbol;
                symbol.symbol = name;
                sources.emplace(name, program::guard_source{in.value, axis});
                out.push_back({name + sign + std::to_string(n), expression{kind, 0, 0, {}, {symbol, number}}});
            };
            if (range->second.min > 2) bound(expression_kind::greater_equal, " >= ", range->second.min);
            if (range->second.max < std::int64_t{1} << 48)
                bound(expression_kind::less_equal, " <= ", range->second.max);
        };
        for (std::size_t i = 0; i != v.sizes.size(); ++i) add(v.sizes[i], static_cast<std::int64_t>(i));
        if (v.symbolic) add(*v.symbolic, -1);
    }
    return out;
}

/// Turns Constant nodes from index `first` on into initializers, as the passes do.
void move_constants(graph_data& graph, std::size_t first) {
    std::size_t kept = first;
    for (std::size_t i = first; i != graph.nodes.size(); ++i) {
        graph_node& n = graph.nodes[i];
        if (n.op == "Constant" && n.domain.empty()) {
            graph.values[n.outputs[0]].producer = -1;
            graph.set_initializer(n.outputs[0], std::move(n.attributes[0].tensors[0]));
            continue;
        }
        for (value_id id : n.outputs) graph.values[id].producer = static_cast<std::int64_t>(kept);
        if (kept != i) graph.nodes[kept] = std::move(n);
        ++kept;
    }
    graph.nodes.resize(kept);
}

} // namespace

} // namespace ATON_NAMESPACE::exporter

namespace ATON_NAMESPACE {

void check_guards(graph_data& graph, program::program const& p, export_options const& options) {
    std::vector<program::guard const*> guards;
    for (program::guard const& g : p.guards)
        if (g.state == program::guard_state::frozen ||
            (options.guards == guard_mode::all && g.state == program::guard_state::open))
            guards.push_back(&g);
    std::map<std::string, program::guard_source, std::less<>> sources = p.guard_sources;
    std::vector<program::guard> ranges;
    if (options.guards == guard_mode::all) ranges = exporter::range_guards(p, sources);
    for (program::guard const& g : ranges) guards.push_back(&g);
    if (guards.empty()) return;
    std::size_t const first = graph.nodes.size();
    graph.context = {};
    graph.context.origin = static_cast<std::uint32_t>(graph.origins.size());
    graph.origins.push_back({exporter::guard_label(guards), {}, {}});
    std::size_t const output = exporter::output_to_check(graph, p.file);
    exporter::ops const g(graph, graph.opset);
    exporter::condition_writer writer(g, sources, exporter::inputs_of(graph, p, options));
    std::vector<dsl::value> conditions;
    for (program::guard const* each : guards) {
        std::string why = "it cannot be parsed";
        try {
            if (each->condition) {
                conditions.push_back(writer.condition(*each->condition));
                continue;
            }
        } catch (exporter::not_expressible const& e) {
            why = "ONNX has no exact equivalent of " + e.what;
        }
        throw error(p.file + ": the guard " + each->text + " of the program cannot be checked by the model: " + why +
                    (each->state == program::guard_state::frozen
                         ? "; a number of the program depends on it, so export the model again with numbers that do "
                           "not depend on sizes"
                         : "; export without --check-guards"));
    }
    for (dsl::value const& each : writer.also_required()) conditions.push_back(each);
    dsl::value all = conditions[0];
    for (std::size_t i = 1; i != conditions.size(); ++i) all = g.op<"And">(all, conditions[i]);
    exporter::fail_unless(graph, g, all, output);
    graph.context = {};
    exporter::move_constants(graph, first);
    order_canonically(graph);
}

} // namespace ATON_NAMESPACE
