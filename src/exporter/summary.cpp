// SPDX-License-Identifier: MIT
#include "summary.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::exporter {

namespace {

constexpr std::size_t max_named = 8;
/// No operator after the first exceeds this length; the path of the file comes in front.
constexpr std::size_t max_names_length = max_message * 4 / 5;

} // namespace

std::string summary(std::vector<unconvertible> const& all, std::string const& what) {
    std::string out = std::to_string(all.size()) + (all.size() == 1 ? " operator " : " operators ") + what + ": ";
    std::size_t named = 0;
    for (; named != std::min(all.size(), max_named); ++named) {
        unconvertible const& u = all[named];
        std::string each = (named == 0 ? "" : "; ") + clipped(u.op, 80) + " (" + clipped(u.reason, max_message / 2);
        if (!u.nearest.empty()) each += "; nearest: " + u.nearest;
        each += u.count == 1 ? "; at " : "; " + std::to_string(u.count) + " times, first at ";
        each += clipped(u.places.front(), 80) + ')';
        if (named != 0 && out.size() + each.size() > max_names_length) break;
        out += each;
    }
    if (all.size() > named) out += "; and " + std::to_string(all.size() - named) + " more";
    return out + (all.size() > 1 || all[0].count > 1 ? " (aton unconvertible lists every place)" : "");
}

bool unconvertible_list::add(std::string const& key, std::string const& op, refused_call call,
                             std::string const& place) {
    auto const [at, is_new] = at_.try_emplace(key, all_.size());
    if (is_new) add({op, call.reason, {}, {}, 0});
    unconvertible& to = all_[at->second];
    ++to.count;
    to.calls.push_back(std::move(call));
    if (places_[at->second].insert(place).second) to.places.push_back(place);
    return is_new;
}

void unconvertible_list::add(unconvertible one) {
    all_.push_back(std::move(one));
    places_.emplace_back();
}

} // namespace ATON_NAMESPACE::exporter
