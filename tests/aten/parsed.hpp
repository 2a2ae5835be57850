// SPDX-License-Identifier: MIT
// Parts of parsed schemas, for the tests of this folder.
#pragma once

#include <string_view>

#include <aton/aten/function_schema.hpp>

namespace ATON_NAMESPACE::aten::tests {

constexpr schema_argument argument(std::string_view schema, std::string_view name) {
    schema_argument out;
    int position = 0;
    return find_argument(schema, name, out, position) ? out : schema_argument{};
}
constexpr schema_argument registered(std::string_view overload, std::string_view name) {
    return argument(find_schema(overload), name);
}
constexpr int position(std::string_view overload, std::string_view name) {
    schema_argument out;
    int at = 0;
    return find_argument(find_schema(overload), name, out, at) ? at : -1;
}
constexpr schema_type type(std::string_view text) {
    schema_type out;
    return parse_type(text, out) ? out : schema_type{};
}
constexpr schema_return result(std::string_view schema, int index) {
    schema_return out;
    return_cursor each{schema};
    for (int i = 0; i <= index; ++i)
        if (!each.next(out)) return {};
    return out;
}

} // namespace ATON_NAMESPACE::aten::tests
