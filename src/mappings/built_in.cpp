// SPDX-License-Identifier: MIT
#include <aton/mappings/built_in.hpp>

#include <aton/mappings.hpp>

namespace ATON_NAMESPACE::mappings {

std::span<dsl::table_view const> built_in_tables() { return library(); }

} // namespace ATON_NAMESPACE::mappings
