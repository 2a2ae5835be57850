// SPDX-License-Identifier: MIT
// The closed lists of words among the string attributes of ONNX: which words an attribute may have at an opset.
// Internal header.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <aton/core/nearest.hpp>
#include <aton/onnx/generated/attribute_words.hpp>
#include <aton/onnx/registry.hpp>

namespace ATON_NAMESPACE::onnx {

namespace detail {

/// Iterates over words that are separated by spaces.
class word_cursor {
public:
    constexpr explicit word_cursor(std::string_view words) : rest_(words) {}

    constexpr bool next(std::string_view& out) {
        if (rest_.empty()) return false;
        out = rest_.substr(0, rest_.find(' '));
        rest_.remove_prefix(out.size() == rest_.size() ? out.size() : out.size() + 1);
        return true;
    }

private:
    std::string_view rest_;
};

/// The names of activation functions are the only words in which runtimes ignore case.
constexpr bool has_word(std::string_view attribute, std::string_view words, std::string_view word) {
    std::string_view each;
    for (word_cursor all(words); all.next(each);)
        if (each == word || (attribute == "activations" && edit_distance(each, word, 0) == 0)) return true;
    return false;
}

constexpr bool is_about(generated::word_row const& row, op_schema schema, std::string_view attribute) {
    return schema.domain() == row.domain && schema.name() == row.op && attribute == row.attribute;
}

} // namespace detail

/// The words of an attribute in one version of its operator, separated by spaces; empty if it may be any text.
constexpr std::string_view attribute_words(op_schema schema, std::string_view attribute) {
    std::string_view found;
    for (generated::word_row const& row : generated::words)
        if (detail::is_about(row, schema, attribute) && row.since <= schema.since()) found = row.words;
    return found;
}

/// Why an attribute cannot have this value, "attribute 'reduction' is 'max', ..."; empty if it can.
inline std::string refused_word(op_schema schema, std::string_view attribute, std::string_view value) {
    std::string_view const words = attribute_words(schema, attribute);
    if (words.empty() || detail::has_word(attribute, words, value)) return {};
    std::string out = "attribute '" + std::string(attribute) + "' is '" + std::string(value) + "'";
    int since = 0;
    int until = 0;
    for (generated::word_row const& row : generated::words) {
        if (!detail::is_about(row, schema, attribute)) continue;
        bool const has = detail::has_word(attribute, row.words, value);
        if (has && row.since > schema.since() && since == 0) since = row.since;
        if (row.since > schema.since()) continue;
        if (!has && until < 0) until = row.since - 1;
        if (has) until = -1;
    }
    std::string list;
    std::string_view each;
    nearest near(value);
    for (detail::word_cursor all(words); all.next(each);) {
        list += (list.empty() ? "" : ", ") + std::string(each);
        near.offer(each);
    }
    if (since != 0) out += ", which exists since opset " + std::to_string(since);
    else if (until > 0) out += ", which exists only until opset " + std::to_string(until);
    else if (!near.found().empty()) out += "; did you mean '" + std::string(near.found()) + "'?";
    return out + (near.found().empty() || since != 0 || until > 0 ? "; allowed: " : " allowed: ") + list;
}

} // namespace ATON_NAMESPACE::onnx
