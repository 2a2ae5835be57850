// SPDX-License-Identifier: MIT
// Attributes that the body of an operator passes on without reading them, so that one function serves all of their values.
// Public header.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <aton/core/tensor.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::dsl {

namespace detail {

/// The type of the attribute that a C++ type takes; undefined: none.
template <class T>
inline constexpr onnx::attr_type attribute_type_of = onnx::attr_type::undefined;
template <>
inline constexpr onnx::attr_type attribute_type_of<double> = onnx::attr_type::f;
template <>
inline constexpr onnx::attr_type attribute_type_of<std::int64_t> = onnx::attr_type::i;
template <>
inline constexpr onnx::attr_type attribute_type_of<std::string_view> = onnx::attr_type::s;
template <>
inline constexpr onnx::attr_type attribute_type_of<tensor> = onnx::attr_type::t;
template <>
inline constexpr onnx::attr_type attribute_type_of<std::span<float const>> = onnx::attr_type::floats;
template <>
inline constexpr onnx::attr_type attribute_type_of<std::span<std::int64_t const>> = onnx::attr_type::ints;
template <>
inline constexpr onnx::attr_type attribute_type_of<std::span<std::string const>> = onnx::attr_type::strings;

template <class Graph, class Attribute>
value_id append_reference(Graph& graph, Attribute const& a);

} // namespace detail

/// A parameter of the lambda of `body<...>` for an attribute of the operator that C++ does not read: `by_reference<double>` instead of
/// `double`. It can be the attribute of a node, an operand in place of a number, and the argument of `g.to_value`. The model has one function
/// for all values of the attribute, which refers to that of the call; an attribute that C++ reads is part of the function.
/// ```cpp
/// inline constexpr auto capped = [](graph<13> g, value x, by_reference<double> cap) {
///     return g.op<"Mul">(g.op<"Tanh">(g.op<"Div">(x, cap)), cap);
/// };
/// inline constexpr auto caps = domain<"caps", 1, op<"Cap(T X, float cap=30.0) -> (T Y = like(X))", "T: float", body<capped>>>{};
/// ```
template <class T>
class by_reference {
public:
    /// The type of the attribute.
    static constexpr onnx::attr_type type = detail::attribute_type_of<T>;

private:
    static constexpr bool is_readable = type != onnx::attr_type::undefined;
    static_assert(
        is_readable,
        "by_reference<T> takes double, std::int64_t, std::string_view, tensor, or a std::span of const float, "
        "std::int64_t or std::string");

public:
    /// The attribute of this name of the call, which must outlive the reference.
    template <class Attribute = node_attribute>
    explicit by_reference(Attribute const& given) : given_(&given) {}

    /// The name of the attribute of the call.
    [[nodiscard]] std::string const& name() const { return given_->name; }

    /// Makes `to` refer to the attribute, with its value in this call, from which types follow. For `attr_f` and the others.
    template <class Attribute>
    void store_in(Attribute& to) const {
        std::string attribute_name = std::move(to.name);
        to = *given_;
        to.name = std::move(attribute_name);
        to.reference = given_->name;
    }
    /// Appends a Constant with the value of the attribute. For `g.to_value`.
    template <class Graph>
    [[nodiscard]] value_id append_to(Graph& graph) const {
        return detail::append_reference(graph, *given_);
    }

private:
    node_attribute const* given_;
};

namespace detail {

/// Whether T is a by_reference.
template <class T>
inline constexpr bool is_by_reference = false;
template <class T>
inline constexpr bool is_by_reference<by_reference<T>> = true;

/// The type of the attribute that T refers to; undefined if it is no by_reference.
template <class T>
inline constexpr onnx::attr_type type_referred_to = onnx::attr_type::undefined;
template <class T>
inline constexpr onnx::attr_type type_referred_to<by_reference<T>> = by_reference<T>::type;

/// Whether T refers to an attribute of one of these types.
template <class T, onnx::attr_type... Types>
inline constexpr bool refers_to = is_by_reference<T> && ((type_referred_to<T> == Types) || ...);

} // namespace detail

} // namespace ATON_NAMESPACE::dsl
