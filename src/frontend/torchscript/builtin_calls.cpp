// SPDX-License-Identifier: MIT
// Calls of functions on constants, and of their counterparts for numbers that the program computes.
#include "builtins.hpp"
#include "interpreter.hpp"

#include <algorithm>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;

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

/// A function on constants; nothing if there is no such function, or if an argument is not a constant.
std::optional<value> interpreter::call_builtin(std::string_view name, std::vector<value> const& x) {
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
        items.push_back(each.is() == kind::text ? made_text(each.text()) : value(each));
    }
    if (result.is == builtin_result::shape::one) return items.at(0);
    return result.is == builtin_result::shape::list ? heap_.list(std::move(items)) : heap_.tuple(std::move(items));
}

/// A function of numbers of which at least one is computed by the program, as an operator on 0-d tensors.
std::optional<value> interpreter::call_on_computed(std::string_view name, std::vector<value> const& x) {
    auto const is_open = [](value const& v) { return v.is() == kind::symbol && !v.is_number_as_tensor(); };
    auto const is_number = [](value const& v) { return v.is_any_number() && !v.is_number_as_tensor(); };
    if (!std::any_of(x.begin(), x.end(), is_open) || !std::all_of(x.begin(), x.end(), is_number)) return {};
    auto const function = std::find_if(
        std::begin(computed), std::end(computed), [&](computed_function const& each) { return each.name == name; });
    if (function == std::end(computed)) return {};
    auto const is_bool = [&](value const& v) { return type_of_number(v, dtype::float64) == dtype::bool_; };
    if (function->operand == "int" && std::all_of(x.begin(), x.end(), is_bool)) return {};
    if (name == "log" && x.size() == 2)
        return arithmetic("_operator.truediv",
                          {call_path("torch.log", {{x[0]}, {}}), call_path("torch.log", {{x[1]}, {}})});
    call_arguments operands;
    for (value const& each : x)
        operands.positional.push_back(value::of(kind::tensor,
                                                tensor_of(convert_number(function->operand, each),
                                                          function->operand == "int" ? dtype::int64 : dtype::float64)));
    return convert_number(function->result, call_operator("aten::" + std::string(function->op), operands));
}

/// Refuses a function of Python that gets a value that the model computes: it has no operator.
void interpreter::expect_computable(std::string_view name, std::vector<value> const& x) {
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

} // namespace ATON_NAMESPACE::torchscript
