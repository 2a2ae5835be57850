// SPDX-License-Identifier: MIT
// "Did you mean ...?": finds the most similar name, at compile time and at run time.
// Internal header.
#pragma once

#include <cstddef>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE {

namespace detail {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// The maximum length of names that edit distances are computed for; longer names are never near.
inline constexpr std::size_t max_name = 63;

constexpr std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }

/// Edit distance (insert, delete, replace, swap of adjacent letters), ignoring case; `limit + 1` if it exceeds `limit`.
/// Computes only the band of cells that can stay below the limit, to save constexpr steps.
constexpr std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
    std::size_t const over = limit + 1;
    if (a.size() > max_name || b.size() > max_name) return over;
    if (a.size() > b.size() + limit || b.size() > a.size() + limit) return over;
    std::size_t before[max_name + 1]{}; // the row above the last one
    std::size_t last[max_name + 1]{};
    std::size_t row[max_name + 1]{};
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t const begin = i > limit ? i - limit : 1;
        std::size_t const end = smaller(b.size(), i + limit);
        row[begin - 1] = begin == 1 ? i : over;
        std::size_t best = row[begin - 1];
        for (std::size_t j = begin; j <= end; ++j) {
            bool const same = lower(a[i - 1]) == lower(b[j - 1]);
            std::size_t cell = last[j - 1] + (same ? 0U : 1U);
            cell = smaller(cell, row[j - 1] + 1);
            if (j < i + limit) cell = smaller(cell, last[j] + 1); // else outside the band
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
                cell = smaller(cell, before[j - 2] + 1);
            row[j] = cell;
            best = smaller(best, cell);
        }
        if (best > limit) return over;
        for (std::size_t j = begin - 1; j <= end; ++j) {
            before[j] = last[j];
            last[j] = row[j];
        }
    }
    return smaller(last[b.size()], over);
}

} // namespace detail

/// Edit distance ignoring case; `limit + 1` if it exceeds `limit`.
constexpr int edit_distance(std::string_view a, std::string_view b, int limit = static_cast<int>(detail::max_name)) {
    return limit < 0 ? 0 : static_cast<int>(detail::edit_distance(a, b, static_cast<std::size_t>(limit)));
}

/// Keeps the nearest of the names offered to it: a name that differs only in case, else the one with the fewest edits, else the first
/// offered. A name is not near if it needs edits for more than a third of the letters.
class nearest {
public:
    constexpr explicit nearest(std::string_view wanted)
        : wanted_(wanted),
          limit_(wanted.size() < 3 ? 1 : (wanted.size() + 2) / 3),
          found_at_(limit_ + 1) {}

    constexpr void offer(std::string_view name) {
        if (found_at_ == 0 || limit_ == 0) return;
        std::size_t const distance = detail::edit_distance(wanted_, name, found_at_ - 1);
        // At least one letter must match: "Ab" is not near "Or".
        if (distance >= found_at_ || distance >= name.size() || distance >= wanted_.size()) return;
        found_ = name;
        found_at_ = distance;
    }

    /// Empty if no name was near.
    [[nodiscard]] constexpr std::string_view found() const { return found_; }

private:
    std::string_view wanted_;
    std::size_t limit_;
    std::string_view found_{};
    std::size_t found_at_;
};

} // namespace ATON_NAMESPACE
