// SPDX-License-Identifier: MIT
// The results of the functional form of an operator that writes to its arguments: the results of its schema, then the new
// value of each argument that it writes to and does not return, in the order of the schema.
// Internal header.
#pragma once

#include <cstddef>
#include <string_view>

#include <aton/aten/function_schema.hpp>

namespace ATON_NAMESPACE::aten {

/// The name of the alias set of a type: "a" of "a!" and of "a! -> *"; empty: none.
constexpr std::string_view alias_set(schema_type const& type) {
    std::string_view const all = type.alias;
    std::size_t end = 0;
    while (end != all.size() && all[end] != '!' && all[end] != ' ' && all[end] != '-') ++end;
    return all.substr(0, end);
}

/// Whether a result is a written argument: `f(Tensor(a!) x) -> Tensor(a!)`.
constexpr bool is_same_tensor(schema_type const& returned, schema_type const& written) {
    return returned.mutates && written.mutates && returned.list == written.list && !alias_set(returned).empty() &&
           alias_set(returned) == alias_set(written);
}

/// The index of the result that is this written argument; -1: none. Among several arguments of one alias set, only the first is returned.
constexpr int returned_as(std::string_view schema, schema_argument const& written) {
    return_cursor returns(schema);
    schema_return each;
    int result = 0;
    while (returns.next(each) && !is_same_tensor(each.type, written.type)) ++result;
    if (!is_same_tensor(each.type, written.type)) return -1;
    argument_cursor arguments(schema);
    for (schema_argument a; arguments.next(a) && a.name != written.name;)
        if (is_same_tensor(each.type, a.type)) return -1;
    return result;
}

/// A result of the functional form.
struct functional_result {
    schema_type type;
    std::string_view written; ///< the argument whose new value this is; empty: a result of the schema
};

/// Iterates over the results of the functional form.
class functional_cursor {
public:
    constexpr explicit functional_cursor(std::string_view schema)
        : schema_(schema),
          returns_(schema),
          arguments_(schema) {}

    constexpr bool next(functional_result& out) {
        if (schema_return each; returns_.next(each)) {
            out = {each.type, {}};
            return true;
        }
        for (schema_argument each; arguments_.next(each);) {
            if (!each.type.mutates || returned_as(schema_, each) >= 0) continue;
            out = {each.type, each.name};
            return true;
        }
        return false;
    }

private:
    std::string_view schema_;
    return_cursor returns_;
    argument_cursor arguments_;
};

/// Whether the operator writes to an argument.
constexpr bool writes(std::string_view schema) {
    schema_argument each;
    for (argument_cursor arguments(schema); arguments.next(each);)
        if (each.type.mutates) return true;
    return false;
}

} // namespace ATON_NAMESPACE::aten
