// SPDX-License-Identifier: MIT
// The C++ arguments of `call_aten`: their kinds, whether an ATen schema takes them, and their conversion to arguments at run time.
// Internal header.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <aton/aten/function_schema.hpp>
#include <aton/core/error.hpp>
#include <aton/core/fixed_string.hpp>
#include <aton/dsl/argument.hpp>
#include <aton/dsl/attr.hpp>
#include <aton/dsl/function_traits.hpp>
#include <aton/dsl/number.hpp>
#include <aton/dsl/value.hpp>

namespace ATON_NAMESPACE::dsl {

namespace detail {

/// An argument by its name in the schema.
template <fixed_string Name, class T>
struct named_argument_value {
    static constexpr std::string_view name = Name.view();
    T const& given;
};

} // namespace detail

/// Names an argument of `call_aten`: `arg<"approximate">("tanh")`. The argument must live until the end of the call.
template <fixed_string Name, class T>
constexpr detail::named_argument_value<Name, T> arg(T const& given) {
    return {given};
}

namespace detail {

enum class given_kind : std::uint8_t {
    unusable,
    none,
    value,
    values,
    optional_values,
    boolean,
    integer,
    floating,
    scalar,
    number,
    size,
    text,
    type,
    tag,
    bools,
    integers,
    sizes,
    floats,
    scalars,
    numbers,
    anything, ///< of a pattern
};

constexpr std::string_view describe(given_kind k) {
    constexpr std::string_view names[] = {"an object of another type",
                                          "nothing",
                                          "a value",
                                          "a list of values",
                                          "a list of optional values",
                                          "a bool",
                                          "an integer",
                                          "a floating-point number",
                                          "a scalar",
                                          "a number",
                                          "a size",
                                          "a string",
                                          "a dtype",
                                          "a layout, device or memory format",
                                          "a list of bools",
                                          "a list of integers",
                                          "a list of sizes",
                                          "a list of floating-point numbers",
                                          "a list of scalars",
                                          "a list of numbers",
                                          "anything"};
    return names[static_cast<std::size_t>(k)];
}

/// Recognized by its members, because nvcc 13 (EDG) does not deduce string template arguments.
template <class T>
concept named_argument_like = requires(T const& a) {
    { T::name } -> std::convertible_to<std::string_view>;
    a.given;
};

template <class T>
concept tag_like = std::same_as<T, layout> || std::same_as<T, device> || std::same_as<T, memory_format>;

template <class List>
constexpr given_kind kind_of_list() {
    using element = element_of<List>;
    if constexpr (std::same_as<element, bool>) return given_kind::bools;
    else if constexpr (std::integral<element>) return given_kind::integers;
    else if constexpr (std::same_as<element, sym_int>) return given_kind::sizes;
    else if constexpr (std::floating_point<element>) return given_kind::floats;
    else if constexpr (std::same_as<element, scalar>) return given_kind::scalars;
    else if constexpr (std::same_as<element, number>) return given_kind::numbers;
    else return given_kind::unusable;
}

template <class T>
constexpr given_kind kind_of() {
    if constexpr (is_optional<T>) return kind_of<typename T::value_type>();
    else if constexpr (std::derived_from<T, value> || std::same_as<T, optional_value>) return given_kind::value;
    else if constexpr (std::same_as<T, absent_t> || std::same_as<T, std::nullopt_t>) return given_kind::none;
    else if constexpr (std::same_as<T, bool>) return given_kind::boolean;
    else if constexpr (std::integral<T>) return given_kind::integer;
    else if constexpr (std::floating_point<T>) return given_kind::floating;
    else if constexpr (std::same_as<T, scalar>) return given_kind::scalar;
    else if constexpr (std::same_as<T, number>) return given_kind::number;
    else if constexpr (std::same_as<T, sym_int>) return given_kind::size;
    else if constexpr (std::same_as<T, dtype> || is_dtype_constant<T>) return given_kind::type;
    else if constexpr (tag_like<T>) return given_kind::tag;
    else if constexpr (std::convertible_to<T const&, std::string_view>) return given_kind::text;
    else if constexpr (std::convertible_to<T const&, std::span<value const>>) return given_kind::values;
    else if constexpr (std::convertible_to<T const&, std::span<optional_value const>>)
        return given_kind::optional_values;
    else if constexpr (list_like<T>) return kind_of_list<T>();
    else return given_kind::unusable;
}

/// One argument of a call, by its C++ type.
struct given_argument {
    given_kind kind = given_kind::unusable;
    bool optional = false;      ///< may be missing
    std::string_view name = {}; ///< empty: by position
};

template <class T>
struct given_facts {
    static constexpr given_argument value{
        kind_of<T>(), is_optional<T> || std::same_as<T, optional_value> || kind_of<T>() == given_kind::none, {}};
};
template <named_argument_like T>
struct given_facts<T> {
    using facts = given_facts<std::remove_cvref_t<decltype(T::given)>>;
    static constexpr given_argument value{facts::value.kind, facts::value.optional, T::name};
};

constexpr bool is_number_kind(given_kind k) { return k >= given_kind::boolean && k <= given_kind::size; }

/// Whether a number of this kind may be an element of the type; what a scalar or a number is is known only when the graph is built.
constexpr bool takes_number(aten::base_type t, given_kind k) {
    using aten::base_type;
    if (k == given_kind::scalar || k == given_kind::number) return true;
    bool const integer = k == given_kind::integer || k == given_kind::size;
    switch (t) {
    case base_type::scalar: return true;
    case base_type::float_:
    case base_type::sym_float: return integer || k == given_kind::floating;
    case base_type::int_:
    case base_type::sym_int: return integer;
    case base_type::bool_:
    case base_type::sym_bool: return k == given_kind::boolean;
    default: return false;
    }
}

constexpr given_kind element_kind(given_kind list) {
    switch (list) {
    case given_kind::bools: return given_kind::boolean;
    case given_kind::integers: return given_kind::integer;
    case given_kind::sizes: return given_kind::size;
    case given_kind::floats: return given_kind::floating;
    case given_kind::scalars: return given_kind::scalar;
    case given_kind::numbers: return given_kind::number;
    default: return given_kind::unusable;
    }
}

constexpr bool is_number_base(aten::base_type t) {
    return takes_number(t, given_kind::boolean) || takes_number(t, given_kind::integer);
}

/// A single number is repeated to the length of `int[2]`.
constexpr bool takes_list(aten::schema_type const& t, given_kind k) {
    if (t.base == aten::base_type::tensor)
        return k == given_kind::values || (k == given_kind::optional_values && t.element_optional);
    if (!is_number_base(t.base)) return false;
    if (t.list_size != 0 && is_number_kind(k)) return takes_number(t.base, k);
    given_kind const element = element_kind(k);
    return element != given_kind::unusable && takes_number(t.base, element);
}

/// Whether an argument of this schema type takes it. A Python number is a tensor, too.
constexpr bool takes(aten::schema_type const& t, given_argument const& given) {
    using aten::base_type;
    given_kind const k = given.kind;
    if (k == given_kind::anything) return true;
    if (given.optional && !t.optional) return false;
    if (k == given_kind::none) return true;
    if (t.list) return takes_list(t, k);
    switch (t.base) {
    case base_type::tensor: return k == given_kind::value || (is_number_kind(k) && !given.optional);
    case base_type::str: return k == given_kind::text;
    case base_type::scalar_type: return k == given_kind::type;
    case base_type::layout:
    case base_type::device:
    case base_type::memory_format: return k == given_kind::tag;
    default: return is_number_base(t.base) && is_number_kind(k) && takes_number(t.base, k);
    }
}

/// A number of C++; refuses an integer beyond int64.
template <class T>
number to_number(T const& n) {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(std::int64_t)) {
        if (n > static_cast<T>(std::numeric_limits<std::int64_t>::max()))
            throw unsupported_error("the argument " + std::to_string(n) + " does not fit int64");
        return number(static_cast<std::int64_t>(n));
    } else {
        return number(n);
    }
}

/// The argument at run time. Binding converts it to the form that the schema demands.
template <class T>
argument to_argument(T const& given) {
    constexpr given_kind k = kind_of<T>();
    if constexpr (named_argument_like<T>) {
        return to_argument(given.given);
    } else if constexpr (is_optional<T>) {
        return given ? to_argument(*given) : argument::none();
    } else if constexpr (k == given_kind::none) {
        return argument::none();
    } else if constexpr (k == given_kind::value) {
        return argument::of_tensor(given);
    } else if constexpr (k == given_kind::values) {
        std::span<value const> const list = given;
        return argument::of_tensors(std::vector<optional_value>(list.begin(), list.end()));
    } else if constexpr (k == given_kind::optional_values) {
        std::span<optional_value const> const list = given;
        return argument::of_tensors(std::vector<optional_value>(list.begin(), list.end()));
    } else if constexpr (is_number_kind(k)) {
        return argument::of_number(to_number(given));
    } else if constexpr (k == given_kind::text) {
        return argument::of_text(std::string(std::string_view(given)));
    } else if constexpr (k == given_kind::type) {
        return argument::of_type(given);
    } else if constexpr (k == given_kind::tag) {
        return given.name.empty() ? argument::none() : argument::of_tag(std::string(given.name));
    } else {
        std::vector<number> all;
        for (auto const each : given) all.push_back(to_number(each));
        return argument::of_numbers(std::move(all));
    }
}
} // namespace detail

} // namespace ATON_NAMESPACE::dsl
