// SPDX-License-Identifier: MIT
// `aton ops`: which ATen overloads have a mapping, and at which opsets.
#pragma once

#include <string>
#include <vector>

#include <aton/targets/target.hpp>

namespace aton::tool {

enum class list_format { text, json, markdown };

struct list_request {
    int opset = 0;      ///< 0: every opset
    bool mapped = true; ///< only overloads that have a mapping
    list_format format = list_format::text;
    std::vector<std::string> plugins; ///< files whose rows are also listed
    std::vector<std::string> names{}; ///< only these operators or overloads; empty: all
};

std::string list_operators(list_request const& request);
/// The rewrites of finished graphs, in the order in which they are tried.
std::string list_rewrites(list_request const& request);
/// What a target is stated to run. Throws aton::error if it has no table of operators.
std::string list_target(targets::target const& t, list_request const& request);
/// The passes of an export, with what they do.
std::string list_passes(list_format format);

} // namespace aton::tool
