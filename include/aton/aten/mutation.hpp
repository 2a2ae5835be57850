// SPDX-License-Identifier: MIT
// What an operator that writes to its arguments gives when it is made functional: the results of its schema, then the new
// value of each argument that it writes to and does not return, in the order of the schema.
// Internal header.
#pragma once

#include <cstddef>
#include <string_view>

#include <aton/aten/function_schema.hpp>

namespace ATON_NAMESPACE::aten {

/// The alias set of a type: "a" of "a!" and of "a! -> *"; empty: it has none with a name.
constexpr std::string_view alias_set(schema_type const& type) {
    std::string_view const all = type.alias;
    std::size_t end = 0;
    while (end != all.size() && all[end] != '!' && all[end] != ' ' && all[end] != '-') ++end;
    return all.substr(0, end);
}

/// Whether a result is an argument that is written to: `f(Tensor(a!) x) -> Tensor(a!)`.
constexpr bool is_same_tensor(schema_type const& returned, schema_type const& written) {
    return returned.mutates && written.mutates && returned.list == written.list && !alias_set(returned).empty() &&
           alias_set(returned) == alias_set(written);
}

/// The result that an argument which is written to is; -1: none. Of several arguments of one alias set it is the first.
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
    std::string_view written; ///< the argument whose new value it is; empty: a result of the schema
};

/// Hands out the results of the functional form, one after the other.
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

/// Whether some argument is written to.
constexpr bool writes(std::string_view schema) {
    schema_argument each;
    for (argument_cursor arguments(schema); arguments.next(each);)
        if (each.type.mutates) return true;
    return false;
}

} // namespace ATON_NAMESPACE::aten
