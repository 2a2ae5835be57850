// SPDX-License-Identifier: MIT
#include "program_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <aton/aten/schema_table.hpp>
#include <aton/program/arithmetic.hpp>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;
using ek = program::expression_kind;

bool is_comparison(std::string_view op) {
    return op == "_operator.lt" || op == "_operator.le" || op == "_operator.gt" || op == "_operator.ge" ||
           op == "_operator.eq" || op == "_operator.ne";
}

} // namespace

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

std::optional<value> program_values::constant_of(value const& v) {
    if (v.is_number()) return v;
    if (v.is() == kind::tensor) return elements_.number_of(v.computed());
    if (v.is() != kind::weight) return {};
    weight const& w = heap_.weights[v.weight()];
    if (w.role != program::input_kind::constant || (w.value != program::no_value && !elements_.is_known(w.value)))
        return {};
    return number_in(w.data);
}

dtype program_values::type_of_number(value const& v, dtype real) const {
    if (v.is_number_as_tensor()) return v.tensor_type();
    if (v.is() == kind::complex) return real == dtype::float64 ? dtype::complex128 : dtype::complex64;
    if (v.is() != kind::symbol)
        return v.is() == kind::boolean ? dtype::bool_ : v.is() == kind::integer ? dtype::int64 : real;
    program::value_kind const k = build_.kind_of(v);
    return k == program::value_kind::sym_float  ? real
           : k == program::value_kind::sym_bool ? dtype::bool_
                                                : dtype::int64;
}

value program_values::as_result_of(std::vector<dtype> const& types, value const& number) const {
    bool const any_double = std::find(types.begin(), types.end(), dtype::float64) != types.end();
    dtype const type = type_of_number(number.as_number(), any_double ? dtype::float64 : dtype::float32);
    bool const rounds = number.is() == kind::real && type == dtype::float32;
    value const rounded = rounds ? value::of(static_cast<double>(number.number()->to<float>())) : number;
    return rounded.as_tensor(type);
}

std::optional<bool> program_values::decide(value const& condition) {
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

value program_values::arithmetic(std::string_view op, std::vector<value> const& x) {
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

value program_values::convert_number(std::string_view type, value const& v) {
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
            return convert_number("bool", caller_.call_operator("aten::ne", {{v, value::of(std::int64_t{0})}, {}}));
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

value program_values::add_python_node(std::string_view op, std::vector<value> const& x, program::value_kind k,
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

/// The result of a comparison that follows from the ranges of symbols.
std::optional<bool> program_values::compare_symbols(std::string_view op, std::vector<value> const& x) {
    for (value const& each : x) {
        bool const is_integer = each.is() == kind::integer ||
                                (each.is() == kind::symbol && build_.kind_of(each) == program::value_kind::sym_int);
        if (!is_integer) return {};
    }
    bounds const b = build_.bounds_of_difference(build_.extent_of(x[0]), build_.extent_of(x[1]));
    bool const positive = b.min && *b.min > 0;
    bool const negative = b.max && *b.max < 0;
    bool const not_negative = b.min && *b.min >= 0;
    bool const not_positive = b.max && *b.max <= 0;
    auto const answer = [](bool yes, bool no) {
        return yes ? std::optional(true) : no ? std::optional(false) : std::nullopt;
    };
    if (op == "_operator.lt") return answer(negative, not_negative);
    if (op == "_operator.le") return answer(not_positive, positive);
    if (op == "_operator.gt") return answer(positive, not_positive);
    if (op == "_operator.ge") return answer(not_negative, negative);
    bool const same = not_negative && not_positive;
    return op == "_operator.eq" ? answer(same, positive || negative) : answer(positive || negative, same);
}

value program_values::size_value(program::value_index tensor, std::size_t axis) {
    inferred_type const type = types_.type_of(tensor);
    program::extent const size = type.sizes.at(axis).value();
    if (size.is_number()) return value::of(size.number);
    auto const [known, is_new] = sizes_.try_emplace({tensor, axis}, program::no_value);
    if (is_new) {
        program::node n;
        n.op = "aten::sym_size.int";
        n.schema = aten::find_schema(n.op);
        n.arguments.push_back(program::argument::of_tensor(tensor).named("self"));
        n.arguments.push_back(program::argument::of_number(static_cast<std::int64_t>(axis)).named("dim"));
        n.origin = build_.origin_here();
        known->second = build_.add_value("sym_size_int", program::value_kind::sym_int);
        build_.value_at(known->second).symbolic = size;
        build_.add_node(std::move(n), known->second);
    }
    return value::of(kind::symbol, known->second);
}

program::number program_values::number_of(value const& v) {
    if (v.is() == kind::symbol) return program::number::of_value(v.computed());
    if (std::optional<value> const constant = constant_of(v)) return *constant->number();
    if (v.is() == kind::tensor || v.is() == kind::weight) return number_of(convert_number("item", v));
    at_.fail("uses " + std::string(describe(v)) + " as a number");
}

program::value_index program_values::tensor_of(value const& v, std::optional<dtype> wanted) {
    if (v.is() == kind::tensor) return v.computed();
    if (v.is() == kind::weight) return use_weight(v.weight());
    if (!v.is_any_number()) at_.fail("uses " + std::string(describe(v)) + " as a tensor");
    dtype const type = wanted ? *wanted : type_of_number(v, dtype::float32);
    program::node n;
    n.op = "aten::scalar_tensor";
    n.schema = aten::find_schema(n.op);
    n.arguments.push_back(program::argument::of_number(number_of(v.as_number())).named("s"));
    n.arguments.push_back(program::argument::of_type(type).named("dtype"));
    n.origin = build_.origin_here();
    program::value_index const made = build_.add_tensor("scalar_tensor", {type, true, {}, {}});
    if (v.is_number() && tensor::can_hold(type)) {
        auto const elements = std::make_shared<tensor>(tensor{type, {}, {}});
        elements->append(*v.number());
        elements_.note(made, elements);
    }
    build_.add_node(std::move(n), made);
    return made;
}

program::value_index program_values::use_weight(std::size_t index) {
    weight& w = heap_.weights[index];
    if (w.value != program::no_value) return w.value;
    inferred_type type{w.data.type, true, {}, {}};
    for (std::int64_t const s : w.data.sizes) type.sizes.emplace_back(program::extent{s, program::extent::none});
    std::string name = w.name.empty() ? "constant_" + std::to_string(index) : w.name;
    std::string plain = name;
    std::replace(plain.begin(), plain.end(), '.', '_');
    w.value = build_.add_tensor((w.role == program::input_kind::parameter ? "p_"
                                 : w.role == program::input_kind::buffer  ? "b_"
                                                                          : "c_") +
                                    plain,
                                type);
    if (w.data.parts.size() == 1)
        for (std::int64_t const s : w.data.parts[0].strides)
            build_.value_at(w.value).strides.push_back({s, program::extent::none});
    program::input in;
    in.kind = w.role;
    in.value = w.value;
    in.target = std::move(name);
    in.data = w.data;
    if (w.requires_gradient) gradients_.require(w.value);
    if (w.role == program::input_kind::constant) elements_.note_stored(w.value);
    build_.add_input(std::move(in));
    return w.value;
}

value program_values::both(value const& a, value const& b) {
    if (a.known() != nullptr) return is_false(a) ? a : b;
    if (b.known() != nullptr) return is_false(b) ? b : a;
    return arithmetic("_operator.and_", {a, b});
}

value program_values::negated(value const& condition) { return arithmetic("torch.sym_not", {condition}); }

program::argument program_values::condition_argument(value const& condition) {
    if (condition.is() == kind::symbol)
        return program::argument::of_number(number_of(convert_number("bool", condition)));
    if (condition.is_number()) return program::argument::of_number(number_of(convert_number("bool", condition)));
    program::value_index const t = tensor_of(condition);
    if (types_.type_of(t).type == dtype::bool_) return program::argument::of_tensor(t);
    return program::argument::of_tensor(
        tensor_of(caller_.call_operator("aten::ne", {{condition, value::of(std::int64_t{0})}, {}})));
}

program::value_kind program_values::common_kind(value const& a, value const& b) const {
    auto const kind_of = [&](value const& v) {
        if (v.is() == kind::symbol) return build_.kind_of(v);
        return v.is() == kind::real      ? program::value_kind::sym_float
               : v.is() == kind::boolean ? program::value_kind::sym_bool
                                         : program::value_kind::sym_int;
    };
    program::value_kind const x = kind_of(a);
    program::value_kind const y = kind_of(b);
    if (x != y) at_.fail("a number has another type after a branch or an iteration that depends on data");
    return x;
}

program::value_index program_values::tensor_in(std::vector<program::node>& nodes, value const& v) {
    std::swap(build_.nodes(), nodes);
    program::value_index const out = tensor_of(v);
    std::swap(build_.nodes(), nodes);
    return out;
}

} // namespace ATON_NAMESPACE::torchscript
