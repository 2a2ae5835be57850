// SPDX-License-Identifier: MIT
// The origins of nodes: module and source line, from the metadata that torch.export stores with every node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::pt2 {

class origin_table {
public:
    /// `out`: program::origins, to which every new origin is appended.
    explicit origin_table(std::vector<program::origin>& out) : out_(out) {}

    /// nn_module_stack: "key,path,type;key,path,type", the innermost last; stack_trace: Python's, the innermost frame last.
    /// Both strings must outlive the table.
    [[nodiscard]] std::uint32_t find(std::string_view module_stack, std::string_view stack_trace);

private:
    using texts = std::pair<std::string_view, std::string_view>;
    struct hash_texts {
        std::size_t operator()(texts const& t) const {
            std::hash<std::string_view> const hash;
            return hash(t.first) * 31 + hash(t.second);
        }
    };

    std::vector<program::origin>& out_;
    std::unordered_map<texts, std::uint32_t, hash_texts> seen_;
    std::unordered_map<std::string, std::uint32_t> distinct_; ///< many traces end in the same line
};

} // namespace ATON_NAMESPACE::pt2
