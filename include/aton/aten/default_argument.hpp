// SPDX-License-Identifier: MIT
// The default of an argument of a schema as an argument of a call.
// Internal header.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <aton/aten/argument.hpp>
#include <aton/aten/default_value.hpp>
#include <aton/aten/function_schema.hpp>
#include <aton/core/scalar.hpp>

namespace ATON_NAMESPACE::aten {

/// The default as an `Argument`, a basic_argument. Enumerations stay as they are written: a number, or a tag with their name.
template <class Argument>
Argument default_argument(schema_argument const& a) {
    using kind = default_kind;
    default_value const d = parse_default(a);
    decltype(Argument::numbers) numbers;
    std::string text;
    decltype(Argument::texts) texts;
    switch (d.kind()) {
    case kind::boolean: return Argument::of_number(d.as_bool());
    case kind::integer: return Argument::of_number(d.as_int());
    case kind::floating: return Argument::of_number(d.as_double());
    case kind::complex: return Argument::of_number(scalar::complex(d.real(), d.imaginary()));
    case kind::string: unescape(d.text(), [&](char c) { text += c; }); return Argument::of_text(std::move(text));
    case kind::identifier: // a name of an enumeration whose values are int: `int reduction=Mean`
        if (a.type.base == base_type::int_ && d.text() == "Mean") return Argument::of_number(1);
        return Argument::of_tag(std::string(d.text()));
    case kind::int_list:
        for (std::size_t i = 0; i != d.size(); ++i) numbers.emplace_back(d.int_at(i));
        return Argument::of_numbers(std::move(numbers));
    case kind::float_list:
        for (std::size_t i = 0; i != d.size(); ++i) numbers.emplace_back(d.double_at(i));
        return Argument::of_numbers(std::move(numbers));
    case kind::bool_list:
        for (std::size_t i = 0; i != d.size(); ++i) numbers.emplace_back(d.bool_at(i));
        return Argument::of_numbers(std::move(numbers));
    case kind::string_list:
        for (std::size_t i = 0; i != d.size(); ++i)
            unescape(d.element(i), [&, c = &texts.emplace_back()](char each) { *c += each; });
        return Argument::of_texts(std::move(texts));
    default: return Argument::none();
    }
}

} // namespace ATON_NAMESPACE::aten
