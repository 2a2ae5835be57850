// SPDX-License-Identifier: MIT
// Patterns of nodes or of ATen calls, and the rewrites that replace them, as plain data. The DSL makes them (dsl/rewrite.hpp), the passes
// match nodes, and the exporter matches calls.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/exactly_equal.hpp>
#include <aton/core/scalar.hpp>
#include <aton/ir/graph.hpp>
#include <aton/onnx/schema.hpp>

namespace ATON_NAMESPACE {

/// What a pattern captures: a value of the graph; a constant tensor; a constant of one element, or an attribute that is a number; a list of
/// integers; a string; a dtype; of calls, a bool.
enum class capture_kind : std::uint8_t { value, constant, number, real, integer, integers, text, type, boolean };

/// A part of a pattern: what an operand of a node, an argument of a call, or the result of the whole must be.
struct pattern_term {
    /// `number` and `integers` are constants with these elements, `either` is any of several terms. Only calls have the others: the default
    /// of the schema, a string, a dtype, a list of tensors, and whatever there is.
    enum class kind : std::uint8_t {
        absent,
        node,
        capture,
        number,
        integers,
        either,
        by_default,
        text,
        type,
        list,
        anything
    };

    kind what = kind::absent;
    std::uint8_t output = 0; ///< of the node
    std::int16_t index =
        0; ///< of the node or capture; of the first integer, character, alternative or element; the dtype
    std::int16_t count = 0; ///< of integers, characters, alternatives or elements
    double number = 0;

    friend constexpr bool operator==(pattern_term const& a, pattern_term const& b) {
        return a.what == b.what && a.output == b.output && a.index == b.index && a.count == b.count &&
               exactly_equal(a.number, b.number);
    }
};

/// An attribute that a node of a pattern must have: this value, or one that is captured.
struct pattern_attribute {
    std::string_view name;
    onnx::attr_type type = onnx::attr_type::undefined;
    std::int16_t capture = -1; ///< the index of the capture; -1: the value is given
    std::int16_t first = 0;    ///< of the integers or characters of the value
    std::int16_t count = 0;
    std::int64_t i = 0;
    float f = 0;
};

/// A node of a pattern. Attributes that it does not name must have their defaults.
struct pattern_node {
    std::string_view domain; ///< "" is ai.onnx
    std::string_view op;     ///< of a call, the overload: "aten::add.Tensor"
    std::string_view schema; ///< of a call, whose operands are the arguments of the schema; empty: a node of ONNX
    std::int16_t first_operand = 0;
    std::int16_t operand_count = 0;
    std::int16_t first_attribute = 0;
    std::int16_t attribute_count = 0;
    bool commutes = false; ///< the two operands may come in either order; of the two, a constant is the second one
    bool shared = false;   ///< nodes outside the match may use its results
    std::uint8_t list_length = 0; ///< of a call that returns a list: the number of its elements
};

/// A pattern: nodes in topological order, whose parts are ranges of the lists.
struct pattern_view {
    std::span<pattern_node const> nodes;
    std::span<pattern_term const> terms; ///< operands of nodes, and alternatives
    std::span<pattern_attribute const> attributes;
    std::span<std::int64_t const> integers;
    std::string_view text; ///< the characters of string attributes and arguments
    std::span<capture_kind const> captures;
    pattern_term root; ///< the result that is replaced
    /// More results of nodes of the match that are replaced; nodes outside the match may use them.
    std::span<pattern_term const> further = {};

    /// The number of results that are replaced.
    [[nodiscard]] constexpr std::size_t result_count() const { return 1 + further.size(); }
    /// Whether the nodes are ATen calls, which are replaced before a program is converted.
    [[nodiscard]] constexpr bool is_of_calls() const { return !nodes.empty() && !nodes[0].schema.empty(); }
};

/// Whether a term is always a constant.
constexpr bool is_constant_term(pattern_term const& t, std::span<capture_kind const> captures) {
    using enum pattern_term::kind;
    return t.what == number || t.what == integers ||
           (t.what == capture && captures[static_cast<std::size_t>(t.index)] != capture_kind::value);
}

/// Whether both orders of the operands of a commutative node have to be tried.
constexpr bool has_two_orders(pattern_node const& n, std::span<pattern_term const> terms,
                              std::span<capture_kind const> captures) {
    if (!n.commutes) return false;
    pattern_term const& a = terms[static_cast<std::size_t>(n.first_operand)];
    pattern_term const& b = terms[static_cast<std::size_t>(n.first_operand) + 1];
    return !(a == b) && !is_constant_term(a, captures) && !is_constant_term(b, captures);
}

/// What a capture has matched. Its kind says which member is set.
struct captured {
    value_id value = no_value;
    tensor const* constant = nullptr;
    scalar number;
    std::vector<std::int64_t> integers;
    std::string text;
    dtype type = dtype::undefined;
};

/// A rewrite without its C++ types.
struct rewrite_entry {
    std::string_view name; ///< "swish"
    int since = 1;         ///< the opsets at which it holds
    int until = 0;
    pattern_view pattern;
    /// Whether the side condition holds; null if there is none.
    bool (*holds)(graph_data&, int opset, std::span<captured const>) = nullptr;
    /// Appends the replacement to the graph, and sets its results. Throws unsupported_error or declined if there is none for these captures.
    void (*build)(graph_data&, int opset, std::span<captured const>, std::span<value_id> results) = nullptr;

    /// Whether the rewrite covers this opset.
    [[nodiscard]] constexpr bool holds_at(int opset) const { return since <= opset && opset <= until; }
};

/// The rewrites of a table.
using rewrites_view = std::span<rewrite_entry const>;

} // namespace ATON_NAMESPACE
