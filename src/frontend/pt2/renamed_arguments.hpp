// SPDX-License-Identifier: MIT
// Arguments of ATen operators that another release of torch calls differently (docs/drift.md).
#pragma once

#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::pt2 {

struct renamed_argument {
    std::string_view overload;
    std::string_view there; ///< the name in a program of another release
    std::string_view here;  ///< the name in Aton's schema
};

inline constexpr renamed_argument renamed_arguments[] = {
    {"aten::_cdist_backward", "grad", "grad_output"},
    {"aten::_pdist_backward", "grad", "grad_output"},
};

/// The name that Aton's schema has for an argument of a program.
[[nodiscard]] constexpr std::string_view name_here(std::string_view overload, std::string_view there) {
    for (renamed_argument const& each : renamed_arguments)
        if (each.overload == overload && each.there == there) return each.here;
    return there;
}

} // namespace ATON_NAMESPACE::pt2
