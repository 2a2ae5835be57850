// SPDX-License-Identifier: MIT
// Lists of operators' names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::program {

template <std::size_t N>
[[nodiscard]] bool is_one_of(std::string_view name, std::string_view const (&names)[N]) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

} // namespace ATON_NAMESPACE::program
