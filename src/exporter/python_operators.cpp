// SPDX-License-Identifier: MIT
// Converts Python arithmetic on sizes ("_operator.floordiv", "math.trunc", "torch.sym_max"): computed at export if all operands are
// numbers, otherwise with 0-d int64, float64 and bool values.
#include "converter.hpp"

#include <algorithm>

#include <aton/core/error.hpp>
#include <aton/dsl/tables.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/program/arithmetic.hpp>

namespace ATON_NAMESPACE::exporter {

namespace {

using g_type = dsl::graph<oldest_export_opset>;
using dsl::value;

/// Operands in the graph.
struct operands {
    g_type g;
    std::vector<value> x;

    [[nodiscard]] dtype common() const {
        dtype t = dtype::bool_;
        for (value const& v : x) {
            if (v.dtype() == dtype::float64) return dtype::float64;
            if (v.dtype() == dtype::int64) t = dtype::int64;
        }
        return t;
    }
    void cast_all(dtype t) {
        for (value& v : x) v = g.cast(v, t);
    }
};

/// Python rounds down, ONNX's Div towards zero; both are the same for non-negative operands.
value floor_division(operands const& o, bool may_be_negative) {
    if (!may_be_negative) return o.g.op<"Div">(o.x[0], o.x[1]);
    value const rest = mappings::floor_remainder(o.g, o.x[0], o.x[1]);
    return o.g.op<"Div">(o.g.op<"Sub">(o.x[0], rest), o.x[1]);
}

/// The remainder of floats with the sign of the divisor.
value real_remainder(g_type g, value x, value y) {
    if (g.opset() < 10) throw unsupported_error("a remainder of floats needs opset 10");
    auto const since = g.within<10>();
    value const rest = since.op<"Mod">(x, y, dsl::attr::fmod_i(1)); // with the sign of the dividend
    value const is_off = since.op<"Less">(since.op<"Mul">(since.op<"Sign">(rest), since.op<"Sign">(y)), 0);
    return since.op<"Where">(is_off, since.op<"Add">(rest, y), rest);
}

value to_int(g_type g, value x) { return g.cast(x, dtype::int64); }

value one_operand(operands o, std::string_view op) {
    g_type const g = o.g;
    value const x = o.x[0];
    bool const is_real = x.dtype() == dtype::float64;
    if (op == "torch.sym_not" || op == "_operator.not_") return g.op<"Not">(g.cast(x, dtype::bool_));
    if (op == "torch.sym_float") return g.cast(x, dtype::float64);
    if (op == "_operator.neg") return g.op<"Neg">(x);
    if (op == "_operator.abs") return g.op<"Abs">(x);
    if (op == "_operator.pos") return x;
    if (op == "torch._sym_sqrt") return g.op<"Sqrt">(g.cast(x, dtype::float64));
    if (op == "math.floor") return is_real ? to_int(g, g.op<"Floor">(x)) : x;
    if (op == "math.ceil") return is_real ? to_int(g, g.op<"Ceil">(x)) : x;
    if (op == "round") return is_real ? to_int(g, mappings::round_to_even(g, x)) : x;
    if (op == "math.trunc" || op == "torch.sym_int") return to_int(g, x); // Cast truncates
    return g.unsupported("no mapping");
}

value two_operands(operands o, std::string_view op, bool may_be_negative) {
    g_type const g = o.g;
    bool const is_bool = o.common() == dtype::bool_;
    if (op == "_operator.and_" && is_bool) return g.op<"And">(o.x[0], o.x[1]);
    if (op == "_operator.or_" && is_bool) return g.op<"Or">(o.x[0], o.x[1]);
    o.cast_all(op == "_operator.truediv" ? dtype::float64 : is_bool ? dtype::int64 : o.common());
    value const a = o.x[0];
    value const b = o.x[1];
    bool const is_integral = a.dtype() == dtype::int64;
    if (op == "_operator.add") return g.op<"Add">(a, b);
    if (op == "_operator.sub") return g.op<"Sub">(a, b);
    if (op == "_operator.mul") return g.op<"Mul">(a, b);
    if (op == "_operator.truediv") return g.op<"Div">(a, b);
    if (op == "_operator.pow") return g.op<"Pow">(a, b);
    if (op == "_operator.floordiv" && is_integral) return floor_division(o, may_be_negative);
    if (op == "_operator.floordiv") return g.op<"Floor">(g.op<"Div">(a, b));
    if (op == "_operator.mod" && is_integral) return mappings::floor_remainder(g, a, b);
    if (op == "_operator.mod") return real_remainder(g, a, b);
    if (op == "_operator.eq") return mappings::is_equal(g, a, b);
    if (op == "_operator.ne") return g.op<"Not">(mappings::is_equal(g, a, b));
    if (op == "_operator.lt") return mappings::is_less(g, a, b);
    if (op == "_operator.gt") return mappings::is_greater(g, a, b);
    if (op == "_operator.le") return mappings::is_at_most(g, a, b);
    if (op == "_operator.ge") return mappings::is_at_least(g, a, b);
    if (op == "torch.sym_max") return mappings::max_of(g, a, b);
    if (op == "torch.sym_min") return mappings::min_of(g, a, b);
    if (op == "_operator.lshift" && is_integral)
        return g.op<"Mul">(a, g.op<"Pow">(g.scalar(std::int64_t{2}, dtype::int64), b));
    if (op == "_operator.rshift" && is_integral)
        return floor_division({g, {a, g.op<"Pow">(g.scalar(std::int64_t{2}, dtype::int64), b)}}, true);
    return g.unsupported("no mapping");
}

value sum(operands const& o) {
    value y = o.x[0];
    for (std::size_t i = 1; i != o.x.size(); ++i) y = o.g.op<"Add">(y, o.x[i]);
    return y;
}

value conditional(operands const& o) {
    dtype const t = operands{o.g, {o.x[1], o.x[2]}}.common();
    return mappings::where(o.g, o.g.cast(o.x[0], dtype::bool_), o.g.cast(o.x[1], t), o.g.cast(o.x[2], t));
}

value any_operands(operands const& o, std::string_view op, bool may_be_negative) {
    if (op == "torch.sym_sum" && !o.x.empty()) return sum(o);
    if (op == "torch.sym_ite" && o.x.size() == 3) return conditional(o);
    if (o.x.size() == 1) return one_operand(o, op);
    if (o.x.size() == 2) return two_operands(o, op, may_be_negative);
    throw unsupported_error("no mapping");
}

/// The arguments, with the elements in the place of a list of numbers: torch.sym_sum([a, b, c]).
std::vector<program::argument> flat_arguments(program::node const& n) {
    std::vector<program::argument> out;
    for (program::argument const& a : n.arguments) {
        if (a.kind != program::argument_kind::numbers) out.push_back(a);
        else
            for (program::number const& each : a.numbers) out.push_back(program::argument::of_number(each));
    }
    return out;
}

bool may_be_negative(program::program const& p, program::argument const& a) {
    if (std::optional<std::int64_t> const n = program::integer_of(a)) return *n < 0;
    program::value_index const v = program::value_of(a);
    if (v == program::no_value) return false;
    std::optional<program::extent> const& size = p.values[v].symbolic;
    return !size || min_value(p, *size).value_or(-1) < 0;
}

/// The result, if all operands are numbers.
std::optional<scalar> computed(std::string_view op, std::vector<binding> const& operands) {
    if (operands.empty() || op == "torch.sym_sum") return {};
    std::vector<scalar> numbers;
    for (binding const& b : operands) {
        if (!b.number.has_value()) return {};
        numbers.push_back(*b.number);
    }
    return program::compute(op, numbers);
}

} // namespace

/// Converts a node that is not ATen's with a row of the user's tables: "_operator.mul" by the row "_operator::mul", "round" by
/// "builtins::round", "higher_order::foo" by itself. Arguments are positional.
bool converter::convert_with_user_row(program::node const& n) {
    if (options_.tables.empty()) return false;
    std::string name = n.op;
    if (n.kind == program::node_kind::python) {
        std::size_t const dot = name.rfind('.');
        name = dot == std::string::npos ? "builtins::" + name : name.replace(dot, 1, "::");
    }
    dsl::entry const* const row = dsl::find(options_.tables, name, options_.opset);
    if (row == nullptr) return false;
    dsl::graph_mark const before(*graph_);
    try {
        convert_with_row(n, row);
    } catch (declined const&) { // the row below is Aton's own handling
        before.restore();
        return false;
    }
    return true;
}

binding converter::python_operand(program::argument const& a) const {
    switch (a.kind) {
    case program::argument_kind::tensor: return bound(a.tensor.index);
    case program::argument_kind::number:
        if (a.number.is_computed()) return bound(a.number.computed);
        if (a.number.constant.is_complex()) throw unsupported_error("no mapping");
        return bound(a.number);
    default: throw unsupported_error("no mapping");
    }
}

void converter::convert_python(program::node const& n) {
    if (convert_with_user_row(n)) return;
    if (n.results.size() != 1 || n.results[0].values.size() != 1) throw unsupported_error("no mapping");
    program::value_index const out = n.results[0].values[0];
    program::value const& result = program_.values[out];
    if (result.symbolic && result.symbolic->is_number()) return bind(out, {{}, result.symbolic->number, {}});

    std::vector<program::argument> const arguments = flat_arguments(n);
    std::vector<binding> given;
    for (program::argument const& a : arguments) given.push_back(python_operand(a));
    if (std::optional<scalar> const number = computed(n.op, given)) return bind(out, {{}, number, {}});

    operands o{g_type(*graph_, options_.opset), {}};
    for (binding const& b : given)
        o.x.push_back(as_value(b, b.number.has_value() ? dtype_of(*b.number) : dtype::undefined));
    bool const negative = std::any_of(
        arguments.begin(), arguments.end(), [&](program::argument const& a) { return may_be_negative(program_, a); });
    bind(out, {conform(any_operands(o, n.op, negative), type_of(out), "the operator returns"), {}, {}});
}

} // namespace ATON_NAMESPACE::exporter
