// SPDX-License-Identifier: MIT
// Numbers: constants are computed; what depends on a dynamic size becomes nodes of Python's arithmetic, as in programs of torch.export.
#include "bounds.hpp"
#include "interpreter.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <aton/aten/scalar_type.hpp>
#include <aton/program/arithmetic.hpp>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;
using ek = program::expression_kind;

struct number_function {
    std::string_view name;
    std::string_view python;
    std::size_t operands;
};

constexpr number_function functions[] = {{"add", "_operator.add", 2},
                                         {"sub", "_operator.sub", 2},
                                         {"subtract", "_operator.sub", 2},
                                         {"mul", "_operator.mul", 2},
                                         {"multiply", "_operator.mul", 2},
                                         {"div", "_operator.truediv", 2},
                                         {"true_divide", "_operator.truediv", 2},
                                         {"truediv", "_operator.truediv", 2},
                                         {"floordiv", "_operator.floordiv", 2},
                                         {"floor_divide", "_operator.floordiv", 2},
                                         {"remainder", "_operator.mod", 2},
                                         {"pow", "_operator.pow", 2},
                                         {"lt", "_operator.lt", 2},
                                         {"le", "_operator.le", 2},
                                         {"gt", "_operator.gt", 2},
                                         {"ge", "_operator.ge", 2},
                                         {"eq", "_operator.eq", 2},
                                         {"ne", "_operator.ne", 2},
                                         {"__and__", "_operator.and_", 2},
                                         {"__or__", "_operator.or_", 2},
                                         {"__xor__", "_operator.xor", 2},
                                         {"__lshift__", "_operator.lshift", 2},
                                         {"__rshift__", "_operator.rshift", 2},
                                         {"minimum", "torch.sym_min", 2},
                                         {"maximum", "torch.sym_max", 2},
                                         {"neg", "_operator.neg", 1},
                                         {"abs", "_operator.abs", 1},
                                         {"floor", "math.floor", 1},
                                         {"ceil", "math.ceil", 1},
                                         {"round", "round", 1},
                                         {"sqrt", "torch._sym_sqrt", 1},
                                         {"__not__", "torch.sym_not", 1},
                                         {"trunc", "math.trunc", 1}};

bool is_comparison(std::string_view op) {
    return op == "_operator.lt" || op == "_operator.le" || op == "_operator.gt" || op == "_operator.ge" ||
           op == "_operator.eq" || op == "_operator.ne";
}

} // namespace

/// The number that a value is: a constant, or the element of a constant tensor with one element. Other tensors of the module may change.
std::optional<value> number_in(stored_tensor const& t) {
    if (t.element_count() != 1 || t.parts.size() != 1) return {};
    stored_part const& part = t.parts[0];
    std::byte const* const at = part.bytes.data + static_cast<std::size_t>(part.offset) * (bits(t.type) / 8);
    auto const read = [&]<class T>(T number) {
        std::memcpy(&number, at, sizeof number);
        return number;
    };
    value out;
    switch (t.type) {
    case dtype::int64: out = value::of(read(std::int64_t{})); break;
    case dtype::int32: out = value::of(std::int64_t{read(std::int32_t{})}); break;
    case dtype::int16: out = value::of(std::int64_t{read(std::int16_t{})}); break;
    case dtype::int8: out = value::of(std::int64_t{read(std::int8_t{})}); break;
    case dtype::uint8: out = value::of(std::int64_t{read(std::uint8_t{})}); break;
    case dtype::bool_: out = value::of(read(std::uint8_t{}) != 0); break;
    case dtype::float32: out = value::of(static_cast<double>(read(float{}))); break;
    case dtype::float64: out = value::of(read(double{})); break;
    default: return {};
    }
    return out.as_tensor(t.type);
}

std::optional<value> interpreter::constant_of(value const& v) {
    if (v.is_number()) return v;
    if (v.is() == kind::tensor) return elements_.number_of(v.computed());
    if (v.is() != kind::weight) return {};
    weight const& w = heap_.weights[v.weight()];
    if (w.role != program::input_kind::constant || (w.value != program::no_value && !elements_.is_known(w.value)))
        return {};
    return number_in(w.data);
}

/// The dtype of a number as a 0-d tensor, if that of a float is `real`.
dtype interpreter::type_of_number(value const& v, dtype real) const {
    if (v.is_number_as_tensor()) return v.tensor_type();
    if (v.is() == kind::complex) return real == dtype::float64 ? dtype::complex128 : dtype::complex64;
    if (v.is() != kind::symbol)
        return v.is() == kind::boolean ? dtype::bool_ : v.is() == kind::integer ? dtype::int64 : real;
    program::value_kind const k = build_.kind_of(v);
    return k == program::value_kind::sym_float  ? real
           : k == program::value_kind::sym_bool ? dtype::bool_
                                                : dtype::int64;
}

/// A number that a function of 0-d tensors of these dtypes computes, as a tensor of the dtype to which torch promotes them.
value interpreter::as_result_of(std::vector<dtype> const& types, value const& number) const {
    bool const any_double = std::find(types.begin(), types.end(), dtype::float64) != types.end();
    dtype const type = type_of_number(number.as_number(), any_double ? dtype::float64 : dtype::float32);
    bool const rounds = number.is() == kind::real && type == dtype::float32;
    value const rounded = rounds ? value::of(static_cast<double>(number.number()->to<float>())) : number;
    return rounded.as_tensor(type);
}

std::optional<bool> interpreter::decide(value const& condition) {
    switch (condition.is()) {
    case kind::boolean:
    case kind::integer:
    case kind::real:
    case kind::complex: return !(*condition.number() == scalar(0));
    case kind::symbol: return {};
    case kind::tensor:
    case kind::weight: {
        std::optional<value> const constant = constant_of(condition);
        return constant ? decide(*constant) : std::nullopt; // a buffer may change between calls
    }
    default: at_.fail("uses " + std::string(describe(condition)) + " as a condition");
    }
}

/// torch.__range_length(start, stop, step) and torch.__derive_index(i, start, step): a loop over a range, written as a count.
std::optional<value> interpreter::call_on_range(std::string_view name, std::vector<value> const& x) {
    if (x.size() != 3) return {};
    if (name == "__derive_index") return arithmetic("_operator.add", {x[1], arithmetic("_operator.mul", {x[0], x[2]})});
    if (name != "__range_length") return {};
    std::optional<std::int64_t> const step = x[2].integer();
    if (step == 0) at_.fail("range() with a step of 0");
    if (!step) { // rounded up, whatever the sign of the step is
        value const back = arithmetic("_operator.floordiv", {arithmetic("_operator.sub", {x[0], x[1]}), x[2]});
        return arithmetic("torch.sym_max", {arithmetic("_operator.neg", {back}), value::of(std::int64_t{0})});
    }
    value const one = value::of(std::int64_t{*step > 0 ? 1 : -1});
    // (stop - start + step - 1) / step, and 0 for an empty range
    value const span = arithmetic(
        "_operator.add", {arithmetic("_operator.sub", {x[1], x[0]}), arithmetic("_operator.sub", {x[2], one})});
    return arithmetic("torch.sym_max", {arithmetic("_operator.floordiv", {span, x[2]}), value::of(std::int64_t{0})});
}

std::optional<value> interpreter::call_on_numbers(std::string_view name, call_arguments const& given) {
    std::vector<value> x = given.positional;
    if (std::optional<value> out = call_on_range(name, x)) return out;
    bool any_number = false;
    for (value& each : x) any_number = any_number || each.is_any_number();
    if (x.empty() || !any_number) return {};
    if (name == "divmod" && x.size() == 2 && x[0].is_any_number() && x[1].is_any_number())
        return heap_.tuple({arithmetic("_operator.floordiv", x), arithmetic("_operator.mod", x)});
    if (std::optional<value> out = call_on_computed(name, x)) return out;
    bool const starts_as_tensor = x[0].is_number_as_tensor();
    if (starts_as_tensor &&
        (name == "detach" || name == "clone" || name == "contiguous" || name == "lift_fresh" || name == "alias"))
        return x[0];
    if (starts_as_tensor && name == "to") {
        for (std::size_t i = 1; i != x.size(); ++i)
            if (x[i].integer() && !x[i].is_number_as_tensor()) {
                dtype const type = aten::scalar_type(*x[i].integer());
                return convert_number(is_floating(type) ? "float" : "int", x[0]).as_tensor(type);
            }
        return x[0];
    }
    if ((name == "IntImplicit" || name == "FloatImplicit" || name == "ScalarImplicit" || name == "item") &&
        x.size() == 1)
        return convert_number(name == "IntImplicit" ? "int" : name == "FloatImplicit" ? "float" : "item", x[0]);
    // Traced code calculates with 0-d tensors: sizes, and constants of the archive with dtypes that a number implies.
    bool const has_size = std::any_of(x.begin(), x.end(), [](value const& each) { return each.is_number_as_tensor(); });
    std::vector<dtype> types; // of the tensors
    for (value& each : x) {
        if (each.is() == kind::weight && has_size) {
            stored_tensor const& t = heap_.weights[each.weight()].data;
            bool const is_implied = t.type == dtype::int64 || t.type == dtype::float32 || t.type == dtype::bool_;
            if (std::optional<value> const constant = is_implied && t.sizes.empty() ? constant_of(each) : std::nullopt)
                each = *constant;
        }
        if (!each.is_any_number()) return {};
        if (each.is_number_as_tensor()) types.push_back(each.tensor_type());
    }
    auto const made = [&](value out) { return types.empty() ? out : as_result_of(types, out); };
    std::string_view op;
    for (number_function const& each : functions)
        if (each.name == name && each.operands == x.size()) op = each.python;
    if (name == "rsub" && x.size() == 2) std::swap(x[0], x[1]), op = "_operator.sub";
    if (op.empty() && !types.empty()) { // numbers as 0-d tensors
        std::vector<value> numbers;
        for (value const& each : x) numbers.push_back(each.as_number());
        std::optional<value> const out = call_builtin(name, numbers);
        if (out && out->is_number()) return made(*out);
    }
    if (op.empty()) return {};
    for (auto const& [key, each] : given.named) {
        if (key == "alpha" && each.number() == scalar(1)) continue;
        if (key == "rounding_mode" && each.is() == kind::none) continue;
        if (key != "rounding_mode" || each.text() == nullptr || name != "div") return {};
        if (*each.text() == "floor") op = "_operator.floordiv";
        else op = "trunc"; // sizes are not negative
    }
    if (op == "trunc") {
        std::optional<std::int64_t> const a = x[0].integer();
        std::optional<std::int64_t> const b = x[1].integer();
        if (a && b && *b != 0 && *b != -1) return made(value::of(*a / *b));
        for (value const& each : x) {
            bounds const b = bounds_of(build_.expression_of(build_.extent_of(each)), build_.made().ranges);
            if (!b.min || *b.min < 0)
                at_.fail("divides a size that may be negative and rounds towards zero, which is not supported");
        }
        op = "_operator.floordiv";
    }
    value const out = made(arithmetic(op, x));
    // round(2) and 2 ** 3 are floats, in contrast to Python's.
    return types.empty() && (name == "round" || name == "pow") ? convert_number("float", out) : out;
}

value interpreter::arithmetic(std::string_view op, std::vector<value> const& x) {
    std::vector<scalar> numbers;
    bool all_integral = true;
    bool any_bool = false;
    for (value const& each : x) {
        if (each.is() == kind::complex)
            at_.fail("calculates with a complex number and a number that the model computes, or with " + in_quotes(op));
        if (each.is_number()) numbers.push_back(*each.number());
        else if (each.is() != kind::symbol) at_.fail("calculates with " + std::string(describe(each)));
        program::value_kind const k = each.is() == kind::symbol ? build_.kind_of(each) : program::value_kind::sym_int;
        all_integral = all_integral && each.is() != kind::real && k != program::value_kind::sym_float;
        any_bool = any_bool || k == program::value_kind::sym_bool;
    }
    if (numbers.size() == x.size()) {
        std::optional<scalar> const result = program::compute(op, numbers);
        if (!result)
            at_.fail("cannot compute " + in_quotes(op) + ": it overflows, divides by zero, or is not supported");
        bool const is_from_tensor =
            std::any_of(x.begin(), x.end(), [](value const& each) { return each.is_from_tensor(); });
        return value::of(*result, is_from_tensor);
    }
    if (is_comparison(op)) {
        if (std::optional<bool> const known = compare_symbols(op, x)) return value::of(*known);
        return add_python_node(op, x, program::value_kind::sym_bool, {});
    }
    if (op == "torch.sym_not" || op == "_operator.and_" || op == "_operator.or_")
        return add_python_node(op, x, program::value_kind::sym_bool, {});
    bool const to_int =
        op == "math.floor" || op == "math.ceil" || op == "math.trunc" || op == "round" || op == "torch.sym_int";
    if (op == "_operator.truediv" || op == "torch.sym_float" || op == "torch._sym_sqrt" || (!all_integral && !to_int))
        return add_python_node(op, x, program::value_kind::sym_float, {});
    if (!all_integral || any_bool) return add_python_node(op, x, program::value_kind::sym_int, build_.fresh_extent());
    if (to_int) return x[0];
    std::vector<program::expression> e;
    for (value const& each : x) e.push_back(build_.expression_of(build_.extent_of(each)));
    program::expression made;
    if (op == "_operator.add") made = make_expression(ek::add, e);
    else if (op == "_operator.sub")
        made = make_expression(ek::add, {e[0], make_expression(ek::mul, {integer_expression(-1), e[1]})});
    else if (op == "_operator.mul") made = make_expression(ek::mul, e);
    else if (op == "_operator.neg") made = make_expression(ek::mul, {integer_expression(-1), e[0]});
    else if (op == "_operator.floordiv") made = make_expression(ek::floor_div, e);
    else if (op == "_operator.mod") made = make_expression(ek::mod, e);
    else if (op == "torch.sym_max") made = make_expression(ek::maximum, e);
    else if (op == "torch.sym_min") made = make_expression(ek::minimum, e);
    else return add_python_node(op, x, program::value_kind::sym_int, build_.fresh_extent());
    program::extent const size = build_.extent_of(std::move(made));
    if (size.is_number()) return value::of(size.number);
    return add_python_node(op, x, program::value_kind::sym_int, size);
}

value interpreter::convert_number(std::string_view type, value const& v) {
    if (std::string const* const text = v.text(); text != nullptr && (type == "float" || type == "int")) {
        char* stop = nullptr;
        double const real = std::strtod(text->c_str(), &stop);
        if (text->empty() || stop != text->c_str() + text->size())
            at_.fail("the string " + in_quotes(*text) + " is not a number");
        return type == "float" ? value::of(real) : convert_number("int", value::of(real));
    }
    std::optional<value> const constant = constant_of(v);
    if (constant) {
        scalar const n = *constant->number();
        bool const is_from_tensor = constant->is_from_tensor();
        if (type == "bool") return value::of(scalar(!(n == scalar(0))), is_from_tensor);
        if (type == "float") return value::of(scalar(n.to<double>()), is_from_tensor);
        if (type == "int") {
            if (n.is_floating() && !(std::abs(n.to<double>()) < 9.0e18))
                at_.fail("int() of a float that does not fit in 64 bits");
            return value::of(scalar(n.to<std::int64_t>()), is_from_tensor);
        }
        return constant->as_number();
    }
    if (v.is() == kind::tensor || v.is() == kind::weight) {
        program::value_index const t = tensor_of(v);
        inferred_type const given = types_.type_of(t);
        dtype const held = given.type;
        if (type == "bool" && held != dtype::bool_ && given.has_rank && given.sizes.empty())
            return convert_number("bool", call_operator("aten::ne", {{v, value::of(std::int64_t{0})}, {}}));
        program::node n;
        n.op = "aten::item";
        n.schema = aten::find_schema(n.op);
        n.arguments.push_back(program::argument::of_tensor(t).named("self"));
        n.origin = build_.origin_here();
        program::value_kind const k = is_floating(held)      ? program::value_kind::sym_float
                                      : held == dtype::bool_ ? program::value_kind::sym_bool
                                                             : program::value_kind::sym_int;
        program::value_index const made = build_.add_value("item", k);
        if (k == program::value_kind::sym_int) build_.value_at(made).symbolic = build_.fresh_extent();
        build_.add_node(std::move(n), made);
        return convert_number(type, value::of(kind::symbol, made));
    }
    if (v.is() != kind::symbol) at_.fail(std::string(type) + "() of " + std::string(describe(v)));
    value const out = v.as_number();
    program::value_kind const k = build_.kind_of(v);
    if (type == "int" && k != program::value_kind::sym_int) return arithmetic("torch.sym_int", {out});
    if (type == "float" && k != program::value_kind::sym_float) return arithmetic("torch.sym_float", {out});
    if (type == "bool" && k != program::value_kind::sym_bool)
        return arithmetic("_operator.ne", {out, value::of(std::int64_t{0})});
    return out;
}

value interpreter::add_python_node(std::string_view op, std::vector<value> const& x, program::value_kind k,
                                   std::optional<program::extent> size) {
    program::node n;
    n.kind = program::node_kind::python;
    n.op = op;
    for (value const& each : x) n.arguments.push_back(program::argument::of_number(number_of(each)));
    n.origin = build_.origin_here();
    program::value_index const made = build_.add_value(op.substr(op.rfind('.') + 1), k);
    build_.value_at(made).symbolic = size;
    build_.add_node(std::move(n), made);
    at_.spend(1);
    return value::of(kind::symbol, made);
}

} // namespace ATON_NAMESPACE::torchscript
