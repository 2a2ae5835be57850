// SPDX-License-Identifier: MIT
#include <aton/mappings/built_in.hpp>

#include <aton/mappings.hpp>

namespace ATON_NAMESPACE::mappings {

std::span<dsl::table_view const> built_in_tables() { return library(); }

std::string_view built_in_name(std::size_t i) noexcept { return named_families[i].name; }

} // namespace ATON_NAMESPACE::mappings
