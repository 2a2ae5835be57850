// SPDX-License-Identifier: MIT
// Operators whose meaning changed since torch 1.6: in archives of older formats, they do what they did then. Those of torch's list of
// upgraders; docs/torchscript.md has them in a table.
#include <algorithm>

#include <aton/aten/scalar_type.hpp>

#include "interpreter.hpp"

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

/// The result of a call whose meaning differs in the format of the archive; nothing if it does not.
std::optional<value> interpreter::call_as_saved(std::string_view name, call_arguments const& given) {
    std::int64_t const format = code_.format();
    if (format > last_logspace_without_steps || given.positional.empty()) return {};
    std::string const path = "torch." + std::string(name);
    if (format <= last_integer_division && (name == "div" || name == "div_") && given.positional.size() >= 2) {
        auto const acts = [](value const& v) { return v.acts_as_tensor(); };
        auto const is_floating_value = [&](value const& v) {
            if (v.is() == kind::tensor || v.is() == kind::weight)
                return is_floating(types_.type_of(values_.tensor_of(v)).type);
            if (v.is() == kind::symbol) return build_.kind_of(v) == program::value_kind::sym_float;
            return v.is() == kind::real;
        };
        if (has(given, "rounding_mode") || std::none_of(given.positional.begin(), given.positional.end(), acts) ||
            std::any_of(given.positional.begin(), given.positional.end(), is_floating_value))
            return {};
        call_arguments truncated = given;
        std::erase_if(truncated.named, [](auto const& each) { return each.first == "rounding_mode"; });
        truncated.named.emplace_back("rounding_mode", value::of(kind::text, std::string("trunc")));
        return call_path(path, truncated);
    }
    if (format <= last_float_full && name == "full" && given.positional.size() >= 2 && !has(given, "dtype") &&
        given.positional[1].is_any_number() &&
        values_.type_of_number(given.positional[1], dtype::float32) != dtype::float32) {
        call_arguments real = given;
        real.positional[1] = values_.convert_number("float", given.positional[1]);
        return call_path(path, real);
    }
    bool const needs_steps = (name == "linspace" && format <= last_linspace_without_steps) || name == "logspace";
    if (needs_steps && lacks_steps(given) && given.positional.size() >= 2) {
        call_arguments hundred = given;
        std::erase_if(hundred.named, [](auto const& each) { return each.first == "steps"; });
        if (hundred.positional.size() == 2) hundred.positional.emplace_back();
        hundred.positional[2] = value::of(std::int64_t{100});
        return call_path(path, hundred);
    }
    return {};
}

} // namespace ATON_NAMESPACE::torchscript
