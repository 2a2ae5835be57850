// SPDX-License-Identifier: MIT
// Operators whose meaning changed since torch 1.6: in archives of older formats, they do what they did then. Those of torch's list of
// upgraders; docs/torchscript.md has them in a table.
#include "upgraders.hpp"

#include <algorithm>
#include <string>

namespace ATON_NAMESPACE::torchscript {

namespace {

/// The last formats in which an operator had its old meaning.
constexpr std::int64_t last_integer_division = 3;
constexpr std::int64_t last_float_full = 4;
constexpr std::int64_t last_linspace_without_steps = 7;
constexpr std::int64_t last_logspace_without_steps = 8;

bool has(call_arguments const& given, std::string_view name) {
    return std::any_of(given.named.begin(), given.named.end(), [&](auto const& each) {
        return each.first == name && each.second.is() != kind::none;
    });
}

/// `steps`, which torch.linspace() and torch.logspace() did not need.
bool lacks_steps(call_arguments const& given) {
    return !has(given, "steps") && (given.positional.size() < 3 || given.positional[2].is() == kind::none);
}

} // namespace

bool upgraders::is_floating_value(value const& v) {
    if (v.is() == kind::tensor || v.is() == kind::weight) return is_floating(types_.type_of(values_.tensor_of(v)).type);
    if (v.is() == kind::symbol) return build_.kind_of(v) == program::value_kind::sym_float;
    return v.is() == kind::real;
}

/// A division of integers, of which one is a tensor, gave an integer.
std::optional<call_arguments> upgraders::truncated_division(call_arguments const& given) {
    auto const acts = [](value const& v) { return v.acts_as_tensor(); };
    auto const is_real = [&](value const& v) { return is_floating_value(v); };
    if (has(given, "rounding_mode") || std::none_of(given.positional.begin(), given.positional.end(), acts) ||
        std::any_of(given.positional.begin(), given.positional.end(), is_real))
        return {};
    call_arguments out = given;
    std::erase_if(out.named, [](auto const& each) { return each.first == "rounding_mode"; });
    out.named.emplace_back("rounding_mode", value::of(kind::text, std::string("trunc")));
    return out;
}

std::optional<call_arguments> upgraders::upgraded(std::string_view name, call_arguments const& given) {
    if (format_ > last_logspace_without_steps || given.positional.empty()) return {};
    if (format_ <= last_integer_division && (name == "div" || name == "div_") && given.positional.size() >= 2)
        return truncated_division(given);
    if (format_ <= last_float_full && name == "full" && given.positional.size() >= 2 && !has(given, "dtype") &&
        given.positional[1].is_any_number() &&
        values_.type_of_number(given.positional[1], dtype::float32) != dtype::float32) {
        call_arguments real = given;
        real.positional[1] = values_.convert_number("float", given.positional[1]);
        return real;
    }
    bool const needs_steps = (name == "linspace" && format_ <= last_linspace_without_steps) || name == "logspace";
    if (needs_steps && lacks_steps(given) && given.positional.size() >= 2) {
        call_arguments hundred = given;
        std::erase_if(hundred.named, [](auto const& each) { return each.first == "steps"; });
        if (hundred.positional.size() == 2) hundred.positional.emplace_back();
        hundred.positional[2] = value::of(std::int64_t{100});
        return hundred;
    }
    return {};
}

} // namespace ATON_NAMESPACE::torchscript
