// SPDX-License-Identifier: MIT
// Functions of a graph: look-up by call, and the types in their bodies.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include <aton/ir/graph.hpp>

#include "attributes.hpp"

namespace ATON_NAMESPACE::passes {

/// Clears the types in a body, because calls differ in shapes and, unless `keep_dtypes`, in dtypes.
inline void clear_types(graph_data& body, bool keep_dtypes) {
    for (graph_value& v : body.values)
        if (v.initializer < 0) v.type = {keep_dtypes ? v.type.dtype : dtype::undefined, shape(), v.type.kind};
    for (graph_node& n : body.nodes)
        for (node_attribute& a : n.attributes)
            for (graph_data& nested : a.graphs) clear_types(nested, keep_dtypes);
}

/// The functions of a graph by their names. The graph must outlive the table.
class function_table {
public:
    static constexpr std::size_t none = ~std::size_t{0};

    explicit function_table(graph_data const& g) : functions_(g.functions) {
        for (std::size_t i = 0; i != functions_.size(); ++i)
            index_.emplace(key(functions_[i].domain, functions_[i].name, functions_[i].overload), i);
    }

    /// The index of the function, or none.
    [[nodiscard]] std::size_t find(graph_node const& n) const {
        if (index_.empty()) return none;
        auto const found = index_.find(key(n.domain, n.op, n.overload));
        return found == index_.end() ? none : found->second;
    }
    [[nodiscard]] graph_function const& operator[](std::size_t i) const { return functions_[i]; }

private:
    static std::string key(std::string const& domain, std::string const& name, std::string const& overload) {
        return std::string(plain_domain(domain)) + '\n' + name + '\n' + overload;
    }

    std::vector<graph_function> const& functions_;
    std::unordered_map<std::string, std::size_t> index_;
};

} // namespace ATON_NAMESPACE::passes
