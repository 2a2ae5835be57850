// SPDX-License-Identifier: MIT
#include "number_functions.hpp"

#include <algorithm>

#include <aton/aten/scalar_type.hpp>

#include "builtins.hpp"
#include "frontend/files/text.hpp"
#include "texts.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;

/// A function of numbers and what Python calls it.
struct number_function {
    std::string_view name;
    std::string_view python;
    std::size_t operands;
};

constexpr number_function python_functions[] = {{"add", "_operator.add", 2},
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

/// A function of numbers as an operator on 0-d tensors.
struct computed_function {
    std::string_view name;
    std::string_view op;
    std::string_view operand; ///< "float" or "int"
    std::string_view result;
};

constexpr computed_function computed[] = {
    {"exp", "exp", "float", "float"},
    {"expm1", "expm1", "float", "float"},
    {"log", "log", "float", "float"},
    {"log2", "log2", "float", "float"},
    {"log10", "log10", "float", "float"},
    {"log1p", "log1p", "float", "float"},
    {"sin", "sin", "float", "float"},
    {"cos", "cos", "float", "float"},
    {"tan", "tan", "float", "float"},
    {"asin", "asin", "float", "float"},
    {"acos", "acos", "float", "float"},
    {"atan", "atan", "float", "float"},
    {"sinh", "sinh", "float", "float"},
    {"cosh", "cosh", "float", "float"},
    {"tanh", "tanh", "float", "float"},
    {"asinh", "asinh", "float", "float"},
    {"acosh", "acosh", "float", "float"},
    {"atanh", "atanh", "float", "float"},
    {"erf", "erf", "float", "float"},
    {"erfc", "erfc", "float", "float"},
    {"lgamma", "lgamma", "float", "float"},
    {"fabs", "abs", "float", "float"},
    {"degrees", "rad2deg", "float", "float"},
    {"radians", "deg2rad", "float", "float"},
    {"atan2", "atan2", "float", "float"},
    {"copysign", "copysign", "float", "float"},
    {"fmod", "fmod", "float", "float"},
    {"isnan", "isnan", "float", "bool"},
    {"isinf", "isinf", "float", "bool"},
    {"isfinite", "isfinite", "float", "bool"},
    {"gcd", "gcd", "int", "int"},
    {"__and__", "bitwise_and", "int", "int"},
    {"__or__", "bitwise_or", "int", "int"},
    {"__xor__", "bitwise_xor", "int", "int"},
};

} // namespace

std::optional<value> number_functions::call_builtin(std::string_view name, std::vector<value> const& x) {
    std::vector<constant> arguments;
    std::size_t length = 0;
    for (value const& each : x) {
        if (each.known() == nullptr || each.is_number_as_tensor()) return {};
        arguments.push_back(*each.known());
        length += each.text() != nullptr ? each.text()->size() : 0;
    }
    builtin const* const function = find_builtin(name, arguments);
    if (function == nullptr) return {};
    at_.spend(1 + length / 16);
    builtin_result const result = function->run(builtin_arguments(arguments));
    if (result.is == builtin_result::shape::refused)
        at_.fail("calls " + in_quotes(name) + ": " + std::string(result.refusal));
    std::vector<value> items;
    for (constant const& each : result.items) {
        at_.spend(4); // what lists hold stays until the end
        items.push_back(each.is() == kind::text ? made_text(at_, each.text()) : value(each));
    }
    if (result.is == builtin_result::shape::one) return items.at(0);
    return result.is == builtin_result::shape::list ? heap_.list(std::move(items)) : heap_.tuple(std::move(items));
}

/// A function of numbers of which at least one is computed by the program, as an operator on 0-d tensors.
std::optional<value> number_functions::call_on_computed(std::string_view name, std::vector<value> const& x) {
    auto const is_open = [](value const& v) { return v.is() == kind::symbol && !v.is_number_as_tensor(); };
    auto const is_number = [](value const& v) { return v.is_any_number() && !v.is_number_as_tensor(); };
    if (!std::any_of(x.begin(), x.end(), is_open) || !std::all_of(x.begin(), x.end(), is_number)) return {};
    auto const function = std::find_if(
        std::begin(computed), std::end(computed), [&](computed_function const& each) { return each.name == name; });
    if (function == std::end(computed)) return {};
    auto const is_bool = [&](value const& v) { return values_.type_of_number(v, dtype::float64) == dtype::bool_; };
    if (function->operand == "int" && std::all_of(x.begin(), x.end(), is_bool)) return {};
    if (name == "log" && x.size() == 2)
        return values_.arithmetic(
            "_operator.truediv",
            {caller_.call_path("torch.log", {{x[0]}, {}}), caller_.call_path("torch.log", {{x[1]}, {}})});
    call_arguments operands;
    for (value const& each : x)
        operands.positional.push_back(
            value::of(kind::tensor,
                      values_.tensor_of(values_.convert_number(function->operand, each),
                                        function->operand == "int" ? dtype::int64 : dtype::float64)));
    return values_.convert_number(function->result,
                                  caller_.call_operator("aten::" + std::string(function->op), operands));
}

void number_functions::expect_computable(std::string_view name, std::vector<value> const& x) const {
    auto const has = [&](std::span<builtin const> all) {
        return std::any_of(all.begin(), all.end(), [&](builtin const& each) { return each.name == name; });
    };
    auto const is_open = [](value const& v) {
        return (v.is() == kind::symbol && !v.is_number_as_tensor()) || v.is() == kind::open_text;
    };
    auto const is_tensor = [](value const& v) { return v.acts_as_tensor() || v.is() == kind::list; };
    auto const open = std::find_if(x.begin(), x.end(), is_open);
    if (open == x.end() || std::any_of(x.begin(), x.end(), is_tensor)) return;
    if (has(text_builtins()) || has(number_builtins()))
        at_.fail_undecidable("an argument of " + in_quotes(name), *open);
}

/// torch.__range_length(start, stop, step) and torch.__derive_index(i, start, step): a loop over a range, written as a count.
std::optional<value> number_functions::call_on_range(std::string_view name, std::vector<value> const& x) {
    if (x.size() != 3) return {};
    if (name == "__derive_index")
        return values_.arithmetic("_operator.add", {x[1], values_.arithmetic("_operator.mul", {x[0], x[2]})});
    if (name != "__range_length") return {};
    std::optional<std::int64_t> const step = x[2].integer();
    if (step == 0) at_.fail("range() with a step of 0");
    if (!step) { // rounded up, whatever the sign of the step is
        value const back =
            values_.arithmetic("_operator.floordiv", {values_.arithmetic("_operator.sub", {x[0], x[1]}), x[2]});
        return values_.arithmetic("torch.sym_max",
                                  {values_.arithmetic("_operator.neg", {back}), value::of(std::int64_t{0})});
    }
    value const one = value::of(std::int64_t{*step > 0 ? 1 : -1});
    // (stop - start + step - 1) / step, and 0 for an empty range
    value const span = values_.arithmetic(
        "_operator.add",
        {values_.arithmetic("_operator.sub", {x[1], x[0]}), values_.arithmetic("_operator.sub", {x[2], one})});
    return values_.arithmetic("torch.sym_max",
                              {values_.arithmetic("_operator.floordiv", {span, x[2]}), value::of(std::int64_t{0})});
}

std::optional<value> number_functions::call_on_numbers(std::string_view name, call_arguments const& given) {
    std::vector<value> x = given.positional;
    if (std::optional<value> out = call_on_range(name, x)) return out;
    bool any_number = false;
    for (value& each : x) any_number = any_number || each.is_any_number();
    if (x.empty() || !any_number) return {};
    if (name == "divmod" && x.size() == 2 && x[0].is_any_number() && x[1].is_any_number())
        return heap_.tuple({values_.arithmetic("_operator.floordiv", x), values_.arithmetic("_operator.mod", x)});
    if (std::optional<value> out = call_on_computed(name, x)) return out;
    bool const starts_as_tensor = x[0].is_number_as_tensor();
    if (starts_as_tensor &&
        (name == "detach" || name == "clone" || name == "contiguous" || name == "lift_fresh" || name == "alias"))
        return x[0];
    if (starts_as_tensor && name == "to") {
        for (std::size_t i = 1; i != x.size(); ++i)
            if (x[i].integer() && !x[i].is_number_as_tensor()) {
                dtype const type = aten::scalar_type(*x[i].integer());
                return values_.convert_number(is_floating(type) ? "float" : "int", x[0]).as_tensor(type);
            }
        return x[0];
    }
    if ((name == "IntImplicit" || name == "FloatImplicit" || name == "ScalarImplicit" || name == "item") &&
        x.size() == 1)
        return values_.convert_number(name == "IntImplicit" ? "int" : name == "FloatImplicit" ? "float" : "item", x[0]);
    // Traced code calculates with 0-d tensors: sizes, and constants of the archive with dtypes that a number implies.
    bool const has_size = std::any_of(x.begin(), x.end(), [](value const& each) { return each.is_number_as_tensor(); });
    std::vector<dtype> types; // of the tensors
    for (value& each : x) {
        if (each.is() == kind::weight && has_size) {
            stored_tensor const& t = heap_.weights[each.weight()].data;
            bool const is_implied = t.type == dtype::int64 || t.type == dtype::float32 || t.type == dtype::bool_;
            if (std::optional<value> const constant =
                    is_implied && t.sizes.empty() ? values_.constant_of(each) : std::nullopt)
                each = *constant;
        }
        if (!each.is_any_number()) return {};
        if (each.is_number_as_tensor()) types.push_back(each.tensor_type());
    }
    auto const made = [&](value out) { return types.empty() ? out : values_.as_result_of(types, out); };
    std::string_view op;
    for (number_function const& each : python_functions)
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
    value const out = made(values_.arithmetic(op, x));
    // round(2) and 2 ** 3 are floats, in contrast to Python's.
    return types.empty() && (name == "round" || name == "pow") ? values_.convert_number("float", out) : out;
}

} // namespace ATON_NAMESPACE::torchscript
