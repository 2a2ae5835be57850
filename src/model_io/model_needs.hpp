// SPDX-License-Identifier: MIT
// What a graph, its subgraphs and its functions need from the model around them: IR version and opset imports.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::detail {

struct model_needs {
    int ir = 3;                                       ///< the lowest that is legal
    std::vector<std::pair<std::string, int>> domains; ///< but the default one
};

[[nodiscard]] model_needs needs_of(graph_data const& graph);

/// Throws aton::error where two functions have the same name and overload, or one calls itself, directly or through others.
void require_callable_functions(graph_data const& graph);

/// "domain::name", and after a dot the overload.
[[nodiscard]] std::string full_name(std::string_view domain, std::string_view name, std::string_view overload);

/// "" for both names of the default domain.
[[nodiscard]] std::string_view plain_domain(std::string_view domain);

} // namespace ATON_NAMESPACE::detail
