// SPDX-License-Identifier: MIT
#include <aton/mappings/built_in.hpp>

#include <array>
#include <cstddef>
#include <iterator>

#include <aton/mappings.hpp>

namespace ATON_NAMESPACE::mappings {

std::span<dsl::table_view const> built_in_tables() { return library(); }

std::span<std::string_view const> built_in_names() {
    static constexpr auto names = [] {
        std::array<std::string_view, std::size(named_families)> out{};
        for (std::size_t i = 0; i != out.size(); ++i) out[i] = named_families[i].name;
        return out;
    }();
    return names;
}

} // namespace ATON_NAMESPACE::mappings
