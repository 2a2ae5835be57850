// SPDX-License-Identifier: MIT
// The C++ parameter types of a mapping for each type of an ATen schema, and how they get their argument.
// Internal header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <aton/aten/function_schema.hpp>
#include <aton/core/dtype.hpp>
#include <aton/core/error.hpp>
#include <aton/core/safe_list.hpp>
#include <aton/core/scalar.hpp>
#include <aton/dsl/argument.hpp>
#include <aton/dsl/complex_value.hpp>
#include <aton/dsl/number.hpp>
#include <aton/dsl/value.hpp>

namespace ATON_NAMESPACE::dsl {

namespace detail {

using aten::base_type;
using aten::schema_type;

constexpr bool is_single(schema_type const& t, base_type base) { return t.base == base && !t.list && !t.optional; }
constexpr bool is_list(schema_type const& t, base_type base) {
    return t.base == base && t.list && !t.optional && !t.element_optional;
}

constexpr bool is_number_type(base_type t) {
    return t == base_type::scalar || t == base_type::float_ || t == base_type::int_ || t == base_type::sym_int ||
           t == base_type::bool_ || t == base_type::sym_float || t == base_type::sym_bool || t == base_type::complex;
}

/// Refuses a list with a number that the program computes.
template <class Argument>
void require_constants(Argument const& a) {
    for (auto const& n : a.numbers) (void)n.constant();
}

/// How a C++ parameter type takes an argument: whether it `accepts` a schema type, and how to `get` it from a bound argument.
/// `wanted` is the type that it accepts, in ATen's terms. Types without a specialization cannot be parameters.
/// (`get` is a template where it makes spans, so that an include that converts nothing does not instantiate them.)
template <class P>
struct parameter {
    static constexpr std::string_view wanted = "";
    static constexpr bool accepts(schema_type const&) { return false; }
    static P get(bound_argument const&) { throw error("not a parameter type"); }
};

template <>
struct parameter<value> {
    static constexpr std::string_view wanted = "Tensor";
    static constexpr bool accepts(schema_type const& t) { return is_single(t, base_type::tensor); }
    static value get(bound_argument const& a) { return *a.tensor; }
};
/// A complex tensor, or a real one, which is promoted.
template <>
struct parameter<complex_value> {
    static constexpr std::string_view wanted = "Tensor";
    static constexpr bool accepts(schema_type const& t) { return is_single(t, base_type::tensor); }
    static complex_value get(bound_argument const& a) { return complex_value(*a.tensor); }
};
template <>
struct parameter<safe_vector<complex_value>> {
    static constexpr std::string_view wanted = "Tensor[]";
    static constexpr bool accepts(schema_type const& t) { return is_list(t, base_type::tensor); }
    template <class Argument>
    static safe_vector<complex_value> get(Argument const& a) {
        safe_vector<complex_value> all;
        for (value const& v : a.values) all.emplace_back(v);
        return all;
    }
};
template <>
struct parameter<optional_value> {
    static constexpr std::string_view wanted = "Tensor?";
    static constexpr bool accepts(schema_type const& t) { return t.base == base_type::tensor && !t.list && t.optional; }
    static optional_value get(bound_argument const& a) { return a.tensor ? a.tensor : optional_value(absent, a.name); }
};
template <>
struct parameter<std::span<value const>> {
    static constexpr std::string_view wanted = "Tensor[]";
    static constexpr bool accepts(schema_type const& t) { return is_list(t, base_type::tensor); }
    template <class Argument>
    static std::span<value const> get(Argument const& a) {
        return a.values;
    }
};
template <>
struct parameter<std::span<optional_value const>> {
    static constexpr std::string_view wanted = "Tensor?[]";
    static constexpr bool accepts(schema_type const& t) {
        return t.base == base_type::tensor && t.list && t.element_optional && !t.optional;
    }
    template <class Argument>
    static std::span<optional_value const> get(Argument const& a) {
        return a.tensors;
    }
};
template <>
struct parameter<number> {
    static constexpr std::string_view wanted = "Scalar, float, int, SymInt or bool";
    static constexpr bool accepts(schema_type const& t) { return is_number_type(t.base) && !t.list && !t.optional; }
    static number get(bound_argument const& a) { return a.number; }
};
template <>
struct parameter<scalar> {
    static constexpr std::string_view wanted = "Scalar, float or complex";
    static constexpr bool accepts(schema_type const& t) {
        return is_single(t, base_type::scalar) || is_single(t, base_type::float_) ||
               is_single(t, base_type::sym_float) || is_single(t, base_type::complex);
    }
    static scalar get(bound_argument const& a) { return a.number.constant(); }
};
template <>
struct parameter<double> {
    static constexpr std::string_view wanted = "float or Scalar";
    static constexpr bool accepts(schema_type const& t) {
        return is_single(t, base_type::float_) || is_single(t, base_type::scalar) || is_single(t, base_type::sym_float);
    }
    static double get(bound_argument const& a) { return a.number.constant<double>(); }
};
template <>
struct parameter<std::int64_t> {
    static constexpr std::string_view wanted = "int or a constant SymInt";
    static constexpr bool accepts(schema_type const& t) {
        return is_single(t, base_type::int_) || is_single(t, base_type::sym_int);
    }
    static std::int64_t get(bound_argument const& a) { return a.number.constant<std::int64_t>(); }
};
template <>
struct parameter<bool> {
    static constexpr std::string_view wanted = "bool";
    static constexpr bool accepts(schema_type const& t) {
        return is_single(t, base_type::bool_) || is_single(t, base_type::sym_bool);
    }
    static bool get(bound_argument const& a) { return a.number.constant<bool>(); }
};
template <>
struct parameter<std::string_view> {
    static constexpr std::string_view wanted = "str";
    static constexpr bool accepts(schema_type const& t) { return is_single(t, base_type::str); }
    static std::string_view get(bound_argument const& a) { return a.text; }
};
template <>
struct parameter<sym_int> {
    static constexpr std::string_view wanted = "SymInt";
    static constexpr bool accepts(schema_type const& t) {
        return is_single(t, base_type::sym_int) || is_single(t, base_type::int_);
    }
    static sym_int get(bound_argument const& a) { return a.number.to_size(); }
};
template <>
struct parameter<std::span<number const>> {
    static constexpr std::string_view wanted = "a list of Scalar, float, int, SymInt or bool";
    static constexpr bool accepts(schema_type const& t) {
        return is_number_type(t.base) && t.list && !t.optional && !t.element_optional;
    }
    template <class Argument>
    static std::span<number const> get(Argument const& a) {
        return a.numbers;
    }
};
template <>
struct parameter<std::span<sym_int const>> {
    static constexpr std::string_view wanted = "SymInt[]";
    static constexpr bool accepts(schema_type const& t) {
        return is_list(t, base_type::sym_int) || is_list(t, base_type::int_);
    }
    template <class Argument>
    static std::span<sym_int const> get(Argument const& a) {
        return a.sizes;
    }
};
template <>
struct parameter<std::span<std::int64_t const>> {
    static constexpr std::string_view wanted = "int[] or a constant SymInt[]";
    static constexpr bool accepts(schema_type const& t) {
        return is_list(t, base_type::int_) || is_list(t, base_type::sym_int);
    }
    template <class Argument>
    static std::span<std::int64_t const> get(Argument const& a) {
        require_constants(a);
        return a.ints;
    }
};
template <>
struct parameter<std::span<double const>> {
    static constexpr std::string_view wanted = "float[]";
    static constexpr bool accepts(schema_type const& t) { return is_list(t, base_type::float_); }
    template <class Argument>
    static std::span<double const> get(Argument const& a) {
        require_constants(a);
        return a.floats;
    }
};
template <>
struct parameter<std::span<scalar const>> {
    static constexpr std::string_view wanted = "Scalar[]";
    static constexpr bool accepts(schema_type const& t) { return is_list(t, base_type::scalar); }
    template <class Argument>
    static std::span<scalar const> get(Argument const& a) {
        require_constants(a);
        return a.scalars;
    }
};
template <>
struct parameter<std::span<bool const>> {
    static constexpr std::string_view wanted = "bool[]";
    static constexpr bool accepts(schema_type const& t) { return is_list(t, base_type::bool_); }
    template <class Argument>
    static std::span<bool const> get(Argument const& a) {
        require_constants(a);
        return a.bools.view();
    }
};
template <>
struct parameter<std::span<std::string const>> {
    static constexpr std::string_view wanted = "str[]";
    static constexpr bool accepts(schema_type const& t) { return is_list(t, base_type::str); }
    template <class Argument>
    static std::span<std::string const> get(Argument const& a) {
        return a.texts;
    }
};
template <>
struct parameter<std::vector<std::vector<std::int64_t>>> {
    static constexpr std::string_view wanted = "int[][]";
    static constexpr bool accepts(schema_type const& t) {
        base_type const base = base_of_lists(t);
        return !t.optional && (base == base_type::int_ || base == base_type::sym_int);
    }
    template <class Argument>
    static auto get(Argument const& a) {
        return aten::lists_of(a, [](auto const& n) { return n.template constant<std::int64_t>(); });
    }
};
template <>
struct parameter<std::vector<std::vector<double>>> {
    static constexpr std::string_view wanted = "float[][]";
    static constexpr bool accepts(schema_type const& t) { return !t.optional && base_of_lists(t) == base_type::float_; }
    template <class Argument>
    static auto get(Argument const& a) {
        return aten::lists_of(a, [](auto const& n) { return n.template constant<double>(); });
    }
};
template <std::size_t N>
struct parameter<std::array<value, N>> {
    static constexpr std::string_view wanted = "a tuple of tensors";
    static constexpr bool accepts(schema_type const& t) { return tensors_of_tuple(t) == N; }
    template <class Argument>
    static std::array<value, N> get(Argument const& a) {
        std::array<value, N> all;
        for (std::size_t i = 0; i != N; ++i) all[i] = a.values[i];
        return all;
    }
};
template <>
struct parameter<dtype> {
    static constexpr std::string_view wanted = "ScalarType";
    static constexpr bool accepts(schema_type const& t) { return is_single(t, base_type::scalar_type); }
    static dtype get(bound_argument const& a) { return a.type; }
};

/// Lists with checked access.
template <class T>
struct parameter<safe_span<T>> : parameter<std::span<T>> {
    template <class Argument>
    static safe_span<T> get(Argument const& a) {
        return parameter<std::span<T>>::get(a);
    }
};

template <class Tag, base_type Base>
struct tag_parameter {
    static constexpr bool accepts(schema_type const& t) { return t.base == Base && !t.list; }
    static Tag get(bound_argument const& a) {
        if constexpr (Base == base_type::generator) {
            return {};
        } else {
            return {a.text};
        }
    }
};
template <>
struct parameter<layout> : tag_parameter<layout, base_type::layout> {
    static constexpr std::string_view wanted = "Layout";
};
template <>
struct parameter<device> : tag_parameter<device, base_type::device> {
    static constexpr std::string_view wanted = "Device";
};
template <>
struct parameter<memory_format> : tag_parameter<memory_format, base_type::memory_format> {
    static constexpr std::string_view wanted = "MemoryFormat";
};
template <>
struct parameter<generator> : tag_parameter<generator, base_type::generator> {
    static constexpr std::string_view wanted = "Generator";
};

/// `T?` of any type taken by value.
template <class T>
struct parameter<std::optional<T>> {
    static constexpr std::string_view wanted = "an optional (T?)";
    static constexpr bool accepts(schema_type const& t) {
        schema_type given = t;
        given.optional = false;
        return t.optional && parameter<T>::accepts(given);
    }
    template <class Argument>
    static std::optional<T> get(Argument const& a) {
        if (a.kind == argument_kind::none) return std::nullopt;
        return parameter<T>::get(a);
    }
};

/// Whether a parameter takes complex tensors.
template <class P>
inline constexpr bool is_complex_parameter = false;
template <>
inline constexpr bool is_complex_parameter<complex_value> = true;
template <>
inline constexpr bool is_complex_parameter<safe_vector<complex_value>> = true;
template <>
inline constexpr bool is_complex_parameter<std::optional<complex_value>> = true;

/// The C++ type to write for an argument, for messages; empty: there is none.
constexpr std::string_view suggested_parameter(aten::schema_type const& t) {
    using aten::base_type;
    if (t.element_optional && t.base != base_type::tensor) return "";
    switch (t.base) {
    case base_type::tensor:
        if (t.list) return t.element_optional ? "std::span<optional_value const>" : "std::span<value const>";
        return t.optional ? "optional_value" : "value";
    case base_type::scalar: return t.list ? "std::span<scalar const>" : t.optional ? "std::optional<scalar>" : "scalar";
    case base_type::float_: return t.list ? "std::span<double const>" : t.optional ? "std::optional<double>" : "double";
    case base_type::int_:
        return t.list ? "std::span<std::int64_t const>" : t.optional ? "std::optional<std::int64_t>" : "std::int64_t";
    case base_type::sym_int: return t.list ? "std::span<size const>" : t.optional ? "std::optional<size>" : "size";
    case base_type::bool_: return t.list ? "std::span<bool const>" : t.optional ? "std::optional<bool>" : "bool";
    case base_type::sym_float:
    case base_type::sym_bool:
        return t.list ? "std::span<number const>" : t.optional ? "std::optional<number>" : "number";
    case base_type::complex:
        return t.list ? "std::span<number const>" : t.optional ? "std::optional<scalar>" : "scalar";
    case base_type::other: {
        base_type const of_lists = base_of_lists(t);
        if (of_lists == base_type::int_ || of_lists == base_type::sym_int)
            return "std::vector<std::vector<std::int64_t>>";
        if (of_lists == base_type::float_) return "std::vector<std::vector<double>>";
        if (t.list) return "";
        constexpr std::string_view arrays[] = {
            "", "std::array<value, 1>", "std::array<value, 2>", "std::array<value, 3>", "std::array<value, 4>"};
        std::size_t const count = aten::tensors_of_tuple(t);
        return count < std::size(arrays) ? arrays[count] : "std::array<value, N>";
    }
    case base_type::str:
        if (t.list) return "std::span<std::string const>";
        return t.optional ? "std::optional<std::string_view>" : "std::string_view";
    case base_type::scalar_type: return t.list ? "" : t.optional ? "std::optional<dtype>" : "dtype";
    case base_type::layout: return t.list ? "" : "layout";
    case base_type::device: return t.list ? "" : "device";
    case base_type::memory_format: return t.list ? "" : "memory_format";
    case base_type::generator: return t.list ? "" : "generator";
    default: return "";
    }
}

/// What the schema of an operator may have in place of a type without a C++ parameter type, for messages.
constexpr std::string_view writable_instead(aten::schema_type const& t) {
    if (t.base == base_type::any) return "the type of what is passed";
    if (t.text.substr(0, 5) == "Dict(") return "a list of its keys and one of its values";
    if (t.list && t.base == base_type::other) return "one list for each of its lists or parts";
    if (t.base == base_type::other) return "one argument for each of its parts";
    return "a type that docs/language.md lists";
}

} // namespace detail

} // namespace ATON_NAMESPACE::dsl
