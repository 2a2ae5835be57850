// SPDX-License-Identifier: MIT
// The operator that a node's target, "torch.ops.aten.add.Tensor", names; each is looked up once.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <aton/aten/function_schema.hpp>
#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::pt2 {

struct operator_info {
    program::node_kind kind = program::node_kind::aten;
    std::string op;          ///< "aten::add.Tensor"
    std::string_view schema; ///< empty if torch declares none
    std::vector<aten::schema_argument> arguments;
    std::vector<aten::schema_return> returns;
    bool any_arguments = true; ///< there is no schema, or it ends in "..."
    bool any_returns = true;
};

class operator_table {
public:
    /// The same object for the same target. `target` must outlive the table.
    [[nodiscard]] operator_info const& find(std::string_view target);

private:
    std::unordered_map<std::string_view, operator_info> known_;
};

} // namespace ATON_NAMESPACE::pt2
