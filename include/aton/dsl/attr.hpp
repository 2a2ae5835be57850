// SPDX-License-Identifier: MIT
// The attributes of a call: `attr::alpha_f(1.0)` for every attribute name of ONNX, `attr_f<"anything">(1.0)` for others.
// Public header.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/exactly_equal.hpp>
#include <aton/core/fixed_string.hpp>
#include <aton/core/scalar.hpp>
#include <aton/core/tensor.hpp>
#include <aton/dsl/by_reference.hpp>
#include <aton/dsl/capture.hpp>
#include <aton/dsl/function_traits.hpp>
#include <aton/dsl/number_text.hpp>
#include <aton/ir/graph.hpp>
#include <aton/onnx/schema.hpp>

namespace ATON_NAMESPACE::dsl {

/// A dtype known at compile time; `g.op<"Cast">(x, attr::to_i(dtype_c<dtype::float32>))` returns a typed value.
template <dtype Type>
struct dtype_constant {
    /// The dtype as a value.
    static constexpr dtype value = Type;
    /// The dtype, where one is expected.
    // NOLINTNEXTLINE(google-explicit-constructor): a constant is a dtype.
    constexpr operator dtype() const { return Type; }
};
/// The constant of a dtype: `dtype_c<dtype::float32>`.
template <dtype Type>
inline constexpr dtype_constant<Type> dtype_c{};

/// Whether `T` is a `dtype_constant`.
template <class T>
inline constexpr bool is_dtype_constant = false;
template <dtype Type>
inline constexpr bool is_dtype_constant<dtype_constant<Type>> = true;

/// An attribute with its value, the result of `attr::alpha_f(1.0)`; name and type are part of the C++ type.
template <fixed_string Name, onnx::attr_type Type, class Payload>
struct attribute_argument {
    /// The name of the attribute in the schema.
    static constexpr std::string_view name = Name.view();
    /// The type of the attribute in the schema.
    static constexpr onnx::attr_type type = Type;
    Payload payload;
};

/// An attribute that may be missing, the result of `attr::alpha_f(std::optional<double>())`.
template <class Attribute>
struct optional_attribute {
    /// The name of the attribute in the schema.
    static constexpr std::string_view name = Attribute::name;
    /// The type of the attribute in the schema.
    static constexpr onnx::attr_type type = Attribute::type;
    std::optional<decltype(Attribute::payload)> payload;
};

/// Whether `T` is an `optional_attribute`.
template <class T>
inline constexpr bool is_optional_attribute = false;
template <class Attribute>
inline constexpr bool is_optional_attribute<optional_attribute<Attribute>> = true;

/// An attribute_argument or optional_attribute. Recognized by its members, because nvcc 13 (EDG) does not deduce string template arguments.
template <class T>
concept attribute_like = requires(T const& a) {
    { T::type } -> std::convertible_to<onnx::attr_type>;
    { T::name } -> std::convertible_to<std::string_view>;
    a.payload;
};

namespace detail {

template <class Out, class In>
std::vector<Out> copy_list(In const& list) {
    std::vector<Out> out;
    for (auto const& each : list) out.push_back(static_cast<Out>(each));
    return out;
}

/// A number as ONNX attributes store it: a float rounded to float32, an integer within int64. Refuses others.
template <class T>
constexpr float to_float32(std::string_view attribute, T const& v) {
    if constexpr (std::same_as<T, scalar>) {
        if (v.imaginary() != 0 || aton::detail::rounds_to_infinity(v.template to<double>(), dtype::float32))
            refuse_attribute(attribute, to_text(v), "float32");
        return v.template to<float>();
    } else {
        auto const number = static_cast<double>(v);
        bool overflows = aton::detail::rounds_to_infinity(number, dtype::float32);
        if constexpr (std::same_as<T, long double>)
            overflows = overflows ||
                        (!exactly_equal(number - number, 0) && exactly_equal(v - v, 0)); // out of range of double, too
        if (overflows) refuse_attribute(attribute, to_text(scalar(number)), "float32");
        return static_cast<float>(v);
    }
}
template <class T>
constexpr std::int64_t to_int64(std::string_view attribute, T const& v) {
    auto const number = static_cast<std::int64_t>(v);
    if constexpr (std::integral<T> && sizeof(T) >= sizeof(number)) {
        bool lost = static_cast<T>(number) != v;
        if constexpr (std::is_unsigned_v<T>) lost = lost || number < 0;
        if (lost) refuse_attribute(attribute, std::to_string(static_cast<std::uint64_t>(v)), "int64");
    }
    return number;
}

template <class T>
concept list_like = requires(T const& list) {
    std::begin(list);
    std::end(list);
} && !std::convertible_to<T const&, std::string_view>;
template <class List>
using element_of = std::remove_cvref_t<decltype(*std::begin(std::declval<List const&>()))>;
template <class List>
concept list_of_integers = list_like<List> && std::integral<element_of<List>> && !std::same_as<element_of<List>, bool>;

template <class T>
struct unwrapped {
    using type = T;
};
template <class T>
struct unwrapped<std::optional<T>> {
    using type = T;
};

/// The attribute that `make` makes from the value, or none.
template <class Make, class Optional>
constexpr auto make_optional_attribute(Make const& make, Optional const& v) {
    optional_attribute<decltype(make(*v))> out;
    if (v) out.payload = std::move(make(*v).payload);
    return out;
}

// Return types are deduced and parameters few, because every attribute name of ONNX instantiates such a class.

template <fixed_string Name>
struct float_attribute {
    /// One number (or ATen Scalar) or a list of numbers, rounded to float32.
    template <class T>
    constexpr auto operator()(T const& v) const {
        using content = typename unwrapped<T>::type;
        constexpr bool fits = std::convertible_to<content const&, double> || std::same_as<content, scalar> ||
                              list_like<content> || captures_any<T, double, scalar> ||
                              refers_to<content, onnx::attr_type::f, onnx::attr_type::floats>;
        static_assert(fits, "a float attribute takes a number, a scalar or a list of numbers");
        if constexpr (is_by_reference<T>) return attribute_argument<Name, type_referred_to<T>, T>{v};
        else if constexpr (is_capture<T>) return attribute_argument<Name, onnx::attr_type::f, T>{v};
        else if constexpr (is_optional<T> && fits) return make_optional_attribute(*this, v);
        else return present(v);
    }
    template <class T = double>
    constexpr auto operator()(std::initializer_list<T> v) const {
        return of_list(v);
    }

private:
    template <class T>
    static constexpr auto present(T const& v) {
        constexpr bool is_list = list_like<T> && !std::convertible_to<T const&, double>;
        if constexpr (is_list) {
            return of_list(v);
        } else {
            attribute_argument<Name, onnx::attr_type::f, float> out{};
            if constexpr (std::convertible_to<T const&, double> || std::same_as<T, scalar>)
                out.payload = to_float32(Name.view(), v);
            return out;
        }
    }
    template <class List>
    static constexpr auto of_list(List const& list) {
        attribute_argument<Name, onnx::attr_type::floats, std::vector<float>> out;
        for (auto const& each : list) out.payload.push_back(to_float32(Name.view(), each));
        return out;
    }
};

template <fixed_string Name>
struct int_attribute {
    /// One integer, one dtype (for Cast's `to`), or a list of integers.
    template <class T>
    constexpr auto operator()(T const& v) const {
        using content = typename unwrapped<T>::type;
        constexpr bool list = list_like<content> || captures_any<T, std::vector<std::int64_t>>;
        constexpr bool single = std::integral<content> || std::same_as<content, dtype> || is_dtype_constant<content> ||
                                captures_any<T, std::int64_t, dtype>;
        constexpr bool fits = single || list || refers_to<content, onnx::attr_type::i, onnx::attr_type::ints>;
        static_assert(fits, "an int attribute takes an integer, a dtype or a list of integers");
        if constexpr (is_by_reference<T>) {
            return attribute_argument<Name, type_referred_to<T>, T>{v};
        } else if constexpr (is_capture<T> && list) {
            return attribute_argument<Name, onnx::attr_type::ints, T>{v};
        } else if constexpr (is_optional<T> && fits) {
            return make_optional_attribute(*this, v);
        } else if constexpr (is_dtype_constant<T> || is_capture<T>) {
            return attribute_argument<Name, onnx::attr_type::i, T>{v};
        } else {
            return run_time(v);
        }
    }
    template <class T = std::int64_t>
    constexpr auto operator()(std::initializer_list<T> v) const {
        return of_list<T>(v);
    }

private:
    template <class T>
    static constexpr auto run_time(T const& v) {
        constexpr bool is_number = std::integral<T> || std::same_as<T, dtype>;
        if constexpr (list_like<T>) {
            return of_list<element_of<T>>(v);
        } else {
            attribute_argument<Name, onnx::attr_type::i, std::int64_t> out{};
            if constexpr (is_number) out.payload = to_int64(Name.view(), v);
            return out;
        }
    }
    template <class T, class List>
    static constexpr auto of_list(List const& list) {
        constexpr bool fits = std::integral<T>;
        static_assert(fits, "an int attribute takes a list of integers");
        attribute_argument<Name, onnx::attr_type::ints, std::vector<std::int64_t>> out;
        if constexpr (fits)
            for (T each : list) out.payload.push_back(to_int64(Name.view(), each));
        return out;
    }
};

template <fixed_string Name>
struct string_attribute {
    template <class T>
    constexpr auto operator()(T const& v) const {
        using content = typename unwrapped<T>::type;
        constexpr bool fits = std::convertible_to<content const&, std::string_view> || list_like<content> ||
                              captures_any<T, std::string> ||
                              refers_to<content, onnx::attr_type::s, onnx::attr_type::strings>;
        static_assert(fits, "a string attribute takes a string or a list of strings");
        if constexpr (is_by_reference<T>) {
            return attribute_argument<Name, type_referred_to<T>, T>{v};
        } else if constexpr (is_capture<T>) {
            return attribute_argument<Name, onnx::attr_type::s, T>{v};
        } else if constexpr (is_optional<T> && fits) {
            return make_optional_attribute(*this, v);
        } else if constexpr (list_like<T>) {
            return attribute_argument<Name, onnx::attr_type::strings, std::vector<std::string>>{
                copy_list<std::string>(v)};
        } else {
            attribute_argument<Name, onnx::attr_type::s, std::string> out;
            if constexpr (std::convertible_to<T const&, std::string_view>) out.payload = std::string_view(v);
            return out;
        }
    }
    template <class T = std::string_view>
    auto operator()(std::initializer_list<T> v) const {
        return attribute_argument<Name, onnx::attr_type::strings, std::vector<std::string>>{copy_list<std::string>(v)};
    }
};

template <fixed_string Name>
struct tensor_attribute {
    template <class T>
    auto operator()(T const& v) const {
        using content = typename unwrapped<T>::type;
        constexpr bool fits =
            std::same_as<content, tensor> || list_like<content> || refers_to<content, onnx::attr_type::t>;
        static_assert(fits, "a tensor attribute takes a tensor or a list of tensors");
        if constexpr (is_by_reference<T>) {
            return attribute_argument<Name, type_referred_to<T>, T>{v};
        } else if constexpr (is_optional<T> && fits) {
            return make_optional_attribute(*this, v);
        } else if constexpr (!list_like<T>) {
            attribute_argument<Name, onnx::attr_type::t, tensor> out;
            if constexpr (std::same_as<T, tensor>) out.payload = v;
            return out;
        } else {
            return attribute_argument<Name, onnx::attr_type::tensors, std::vector<tensor>>{copy_list<tensor>(v)};
        }
    }
    template <class T = tensor>
    auto operator()(std::initializer_list<T> v) const {
        return attribute_argument<Name, onnx::attr_type::tensors, std::vector<tensor>>{copy_list<tensor>(v)};
    }
};

template <fixed_string Name>
struct graph_attribute {
    /// A graph, or a lambda that builds it: `attr::body_g([&](graph<13> g, value i, value condition) { ... })`.
    template <class T>
    auto operator()(T v) const {
        constexpr bool fits = std::same_as<T, graph_data> || std::same_as<T, std::optional<graph_data>> ||
                              graph_body<T> || has_reported_error<T>();
        require_reported_error<T>();
        static_assert(
            fits,
            "a graph attribute takes a lambda whose first parameter is a graph<...> by value, with no auto parameters; "
            "if it has an error, correct that first");
        static_assert(bindable<T>, "a parameter of the lambda is a non-const reference; take it by value");
        if constexpr (is_optional<T>) return make_optional_attribute(*this, v);
        else return attribute_argument<Name, onnx::attr_type::g, T>{std::move(v)};
    }
};

template <class Payload>
void store(node_attribute& a, Payload const& v) {
    if constexpr (is_by_reference<Payload>) v.store_in(a);
    if constexpr (std::same_as<Payload, float>) a.f = v;
    if constexpr (std::same_as<Payload, std::int64_t>) a.i = v;
    if constexpr (is_dtype_constant<Payload>) a.i = static_cast<std::int64_t>(Payload::value);
    if constexpr (std::same_as<Payload, std::string>) a.s = v;
    if constexpr (std::same_as<Payload, tensor>) a.tensors.push_back(v);
    if constexpr (std::same_as<Payload, graph_data>) a.graphs.push_back(v);
    if constexpr (std::same_as<Payload, std::vector<float>>) a.floats = v;
    if constexpr (std::same_as<Payload, std::vector<std::int64_t>>) a.ints = v;
    if constexpr (std::same_as<Payload, std::vector<std::string>>) a.strings = v;
    if constexpr (std::same_as<Payload, std::vector<tensor>>) a.tensors = v;
}

} // namespace detail

/// Attributes by any name, for operators outside ONNX: `attr_f<"alpha">(0.5)`, `attr_i<"axes">({0, 1})`.
template <fixed_string Name>
inline constexpr detail::float_attribute<Name> attr_f{};
/// An attribute with an integer, a dtype, or a list of integers: `attr_i<"axes">({0, 1})`. Throws illegal_call for a number outside int64.
template <fixed_string Name>
inline constexpr detail::int_attribute<Name> attr_i{};
/// An attribute with a string or a list of strings: `attr_s<"mode">("linear")`.
template <fixed_string Name>
inline constexpr detail::string_attribute<Name> attr_s{};
/// An attribute with a tensor or a list of tensors.
template <fixed_string Name>
inline constexpr detail::tensor_attribute<Name> attr_t{};
/// An attribute with a graph, or with the lambda that builds it.
template <fixed_string Name>
inline constexpr detail::graph_attribute<Name> attr_g{};

/// Every attribute name of ONNX's schemas with its type: `attr::alpha_f`, `attr::axes_i`, `attr::mode_s`, `attr::value_t`, `attr::body_g`.
/// ```cpp body
/// value const soft = g.op<"Softmax">(x, attr::axis_i(-1));
/// value const near = g.op<"Softmax">(x, attr::axis_i(n.is_constant() ? std::optional(n.constant()) : std::nullopt)); // nothing if empty
/// value const any = g.op<"If">(g.cast<dtype::bool_>(y), // a graph attribute takes a lambda, which may use the values around it
///                              attr::then_branch_g([&](graph<13> inner) { return inner.op<"Neg">(x); }),
///                              attr::else_branch_g([&](graph<13> inner) { return inner.op<"Abs">(x); }));
/// ```
namespace attr {
#define ATON_ATTRIBUTE_F(name) inline constexpr detail::float_attribute<#name> name##_f{};
#define ATON_ATTRIBUTE_I(name) inline constexpr detail::int_attribute<#name> name##_i{};
#define ATON_ATTRIBUTE_S(name) inline constexpr detail::string_attribute<#name> name##_s{};
#define ATON_ATTRIBUTE_T(name) inline constexpr detail::tensor_attribute<#name> name##_t{};
#define ATON_ATTRIBUTE_G(name) inline constexpr detail::graph_attribute<#name> name##_g{};
#define ATON_ATTRIBUTE_SPARSE(name) // a mapping cannot write sparse tensors and types
#define ATON_ATTRIBUTE_TP(name)
#include <aton/onnx/generated/attributes.inc>
#undef ATON_ATTRIBUTE_F
#undef ATON_ATTRIBUTE_I
#undef ATON_ATTRIBUTE_S
#undef ATON_ATTRIBUTE_T
#undef ATON_ATTRIBUTE_G
#undef ATON_ATTRIBUTE_SPARSE
#undef ATON_ATTRIBUTE_TP
} // namespace attr

} // namespace ATON_NAMESPACE::dsl
