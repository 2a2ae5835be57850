// SPDX-License-Identifier: MIT
// Schemas as run-time values, and their text in the form that PyTorch prints, reconstructed from the parsed parts.
// Spelling: operator<< of c10::FunctionSchema, ATen/core/function_schema.h.
// Internal header.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <aton/aten/function_schema.hpp>

namespace ATON_NAMESPACE::aten {

/// A whole schema. Its views refer to the text that it was parsed from.
struct function_schema {
    schema_head head;
    std::vector<schema_argument> arguments;
    std::vector<schema_return> returns;
    bool vararg = false; ///< the arguments end in "..."
    bool varret = false; ///< the returns end in "..."
};

/// Parses a whole schema; nullopt if it is malformed, see describe_syntax_error().
inline std::optional<function_schema> parse_schema(std::string_view schema) {
    if (!syntax_error(schema).empty()) return std::nullopt;
    function_schema out;
    out.head = parse_head(schema);
    argument_cursor arguments{schema};
    for (schema_argument each; arguments.next(each);) out.arguments.push_back(each);
    out.vararg = arguments.is_vararg();
    return_cursor returns{schema};
    for (schema_return each; returns.next(each);) out.returns.push_back(each);
    out.varret = returns.is_vararg();
    return out;
}

/// "expected a type at offset 9 of 'aten::f(, int x) -> ()'"; empty if the schema is well-formed.
inline std::string describe_syntax_error(std::string_view schema) {
    parse_error_info const error = check_syntax(schema);
    if (error.what.empty()) return {};
    std::string out{error.what};
    return out.append(" at offset ").append(std::to_string(error.offset)).append(" of '").append(schema).append("'");
}

inline std::string to_string(schema_type const& type);

namespace detail {

/// `Dict(str, t)`, `(int, Tensor)`, `(int) -> Tensor`, a list inside a list, or a name.
inline std::string innermost_to_string(schema_type const& type) {
    if (type.base != base_type::other) return std::string{base_type_names[static_cast<std::size_t>(type.base)].name};
    scanner scan{type.base_text};
    schema_type inner;
    if (read_type(scan, inner) && inner.list) return aten::to_string(inner); // the element of a list of lists
    std::size_t const open = type.base_text.find('(');
    std::string out{type.base_text.substr(0, open)};
    if (open == std::string_view::npos) return out;
    scan = scanner{type.base_text.substr(open)};
    std::string_view separator = "(";
    if (scan.take('('), scan.next() == ')') out += separator;
    while (!scan.take(')') && read_type(scan, inner)) {
        out.append(separator).append(aten::to_string(inner));
        separator = ", ";
        scan.take(',');
    }
    out += ')';
    if (scan.take("->") && read_type(scan, inner)) out.append(" -> ").append(aten::to_string(inner));
    return out;
}

inline std::string alias_to_string(std::string_view alias) {
    return alias.empty() || alias == "!" ? std::string{alias} : std::string{"("}.append(alias).append(")");
}

} // namespace detail

/// "Tensor(a!)?[]".
inline std::string to_string(schema_type const& type) {
    std::string out = detail::innermost_to_string(type);
    if (type.alias.data() != type.list_alias.data()) out += detail::alias_to_string(type.alias);
    if (type.element_optional) out += '?';
    if (type.list) {
        out += '[';
        if (type.list_size != 0) out += std::to_string(type.list_size);
        out.append("]").append(detail::alias_to_string(type.list_alias));
    }
    if (type.optional) out += '?';
    return out;
}

/// "Scalar alpha=1".
inline std::string to_string(schema_argument const& argument) {
    std::string out = to_string(argument.type).append(" ").append(argument.name);
    return argument.has_default ? out.append("=").append(argument.default_text) : out;
}

/// "Tensor values", or "Tensor".
inline std::string to_string(schema_return const& each) {
    std::string out = to_string(each.type);
    return each.name.empty() ? out : out.append(" ").append(each.name);
}

/// "aten::add.Tensor".
inline std::string to_string(schema_head const& head) {
    std::string out{head.ns};
    if (!head.ns.empty()) out += "::";
    out += head.name;
    return head.overload.empty() ? out : out.append(".").append(head.overload);
}

/// The whole schema on one line.
inline std::string to_string(function_schema const& schema) {
    std::string arguments;
    auto const append = [](std::string& list, std::string_view next) {
        if (!list.empty()) list += ", ";
        list += next;
    };
    bool keyword_only = false;
    for (schema_argument const& each : schema.arguments) {
        if (each.keyword_only && !keyword_only) append(arguments, "*");
        keyword_only = each.keyword_only;
        append(arguments, to_string(each));
    }
    if (schema.vararg) append(arguments, "...");
    std::string returns;
    for (schema_return const& each : schema.returns) append(returns, to_string(each));
    if (schema.varret) append(returns, "...");
    // A single return has no parentheses, unless it is a tuple itself.
    bool const alone = schema.returns.size() + (schema.varret ? 1 : 0) == 1 && returns.front() != '(';
    std::string out = to_string(schema.head).append("(").append(arguments).append(") -> ");
    return alone ? out.append(returns) : out.append("(").append(returns).append(")");
}

} // namespace ATON_NAMESPACE::aten
