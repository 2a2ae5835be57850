// SPDX-License-Identifier: MIT
// What a graph, with its subgraphs and functions, requires of its model: IR version and opset imports.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::detail {

struct model_needs {
    int ir = 3;                                       ///< the lowest legal version
    std::vector<std::pair<std::string, int>> domains; ///< except the default domain
};

[[nodiscard]] model_needs needs_of(graph_data const& graph);

/// Throws aton::error if two functions have the same name and overload, or a function calls itself, directly or indirectly.
void require_callable_functions(graph_data const& graph);

/// "domain::name" or "domain::name.overload".
[[nodiscard]] std::string full_name(std::string_view domain, std::string_view name, std::string_view overload);

/// "" for both names of the default domain.
[[nodiscard]] std::string_view plain_domain(std::string_view domain);

} // namespace ATON_NAMESPACE::detail
