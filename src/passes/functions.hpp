// SPDX-License-Identifier: MIT
// Functions of a graph: look-up by call.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include <aton/ir/graph.hpp>

#include "attributes.hpp"

namespace ATON_NAMESPACE::passes {

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
