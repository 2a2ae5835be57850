// SPDX-License-Identifier: MIT
// The size expressions of a program: each string is parsed once, and equal expressions share an index.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <aton/program/program.hpp>

#include "json_reader.hpp"

namespace ATON_NAMESPACE::pt2 {

class expression_table {
public:
    /// `out`: program::expressions, to which every new expression is appended.
    explicit expression_table(std::vector<program::expression>& out) : out_(out) {}

    /// Reads a SymInt: {"as_int": 4} or {"as_expr": {"expr_str": "Symbol('s0')"}}.
    [[nodiscard]] program::extent extent(json_value const& sym_int);

private:
    [[nodiscard]] program::extent of_text(json_value const& text);

    std::vector<program::expression>& out_;
    std::unordered_map<std::string_view, program::extent> texts_;
    std::unordered_map<std::string, program::extent> distinct_; ///< by their to_string()
};

} // namespace ATON_NAMESPACE::pt2
