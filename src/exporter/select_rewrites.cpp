// SPDX-License-Identifier: MIT
#include "select_rewrites.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include <aton/core/error.hpp>
#include <aton/core/nearest.hpp>
#include <aton/fusions/built_in.hpp>

namespace ATON_NAMESPACE::exporter {

namespace {

/// Whether a name is that of the rewrite, or of its group: "attention" of "attention.product".
bool names(std::string_view name, rewrite_entry const& r) {
    return r.name == name || (r.name.starts_with(name) && r.name.substr(name.size()).starts_with('.'));
}

} // namespace

selected_rewrites select_rewrites(export_options const& options) {
    std::vector<rewrite_entry> all;
    for (rewrites_view const& table : options.rewrites) all.insert(all.end(), table.begin(), table.end());
    if (options.target != nullptr)
        all.insert(all.end(), options.target->rewrites.begin(), options.target->rewrites.end());
    rewrites_view const built_in = fusions::built_in_rewrites();
    all.insert(all.end(), built_in.begin(), built_in.end());
    std::size_t const first_of_last = all.size();
    if (options.target != nullptr)
        all.insert(all.end(), options.target->last_rewrites.begin(), options.target->last_rewrites.end());
    for (std::string const& name : options.without_rewrites) {
        auto const has_name = [&](rewrite_entry const& r) { return names(name, r); };
        if (std::none_of(all.begin(), all.end(), has_name)) {
            nearest near(name);
            for (rewrite_entry const& r : all) near.offer(r.name);
            throw error("no rewrite has the name " + name +
                        (near.found().empty() ? "; aton ops --rewrites lists them"
                                              : "; did you mean " + std::string(near.found()) + "?"));
        }
    }
    auto const is_left_out = [&](rewrite_entry const& r) {
        auto const& all_names = options.without_rewrites;
        return std::any_of(all_names.begin(), all_names.end(), [&](std::string const& name) { return names(name, r); });
    };
    auto const last = all.begin() + static_cast<std::ptrdiff_t>(first_of_last);
    selected_rewrites out;
    std::remove_copy_if(all.begin(), last, std::back_inserter(out.first), is_left_out);
    std::remove_copy_if(last, all.end(), std::back_inserter(out.last), is_left_out);
    return out;
}

} // namespace ATON_NAMESPACE::exporter
