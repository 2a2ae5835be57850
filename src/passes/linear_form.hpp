// SPDX-License-Identifier: MIT
// Integer tensors whose elements are a linear function of their coordinates: ranges, their views, and sums of them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::passes {

/// A number that is known only when the model runs.
struct unknown_number {
    enum class kind : std::uint8_t {
        size,  ///< a symbolic size, which is not negative
        value, ///< the element of a tensor that has one element
    };
    kind what = kind::size;
    std::size_t index = 0; ///< of a symbol of the rewriter, or of a value
    friend auto operator<=>(unknown_number const&, unknown_number const&) = default;
};

/// `constant + sum of factor * number`.
struct scalar_form {
    std::int64_t constant = 0;
    std::vector<std::pair<unknown_number, std::int64_t>> terms = {}; ///< sorted; no factor is 0

    [[nodiscard]] bool is_number() const { return terms.empty(); }
    friend bool operator==(scalar_form const&, scalar_form const&) = default;
};

/// The sizes of a tensor, as far as they are known.
using size_forms = std::vector<std::optional<scalar_form>>;

/// The element at [i, j, ...] is `origin + steps[0] * i + steps[1] * j + ...`.
struct linear_form {
    scalar_form origin;
    std::vector<std::int64_t> steps; ///< one per axis; 0 along an axis of size 1
    size_forms sizes;                ///< one per axis

    /// Whether all elements are equal.
    [[nodiscard]] bool is_uniform() const {
        for (std::int64_t s : steps)
            if (s != 0) return false;
        return true;
    }
    /// The number that all elements are, if it is known.
    [[nodiscard]] std::optional<std::int64_t> number() const {
        if (!origin.is_number() || !is_uniform()) return {};
        return origin.constant;
    }
    /// Whether the elements are the same.
    [[nodiscard]] bool same_as(linear_form const& other) const {
        return origin == other.origin && steps == other.steps;
    }
};

/// Coefficients beyond it are given up, so that no sum or product of two overflows.
inline constexpr std::int64_t max_coefficient = std::int64_t{1} << 30;

[[nodiscard]] constexpr bool is_coefficient(std::int64_t n) { return n >= -max_coefficient && n <= max_coefficient; }

/// The same number in a tensor of these sizes.
[[nodiscard]] inline linear_form uniform_form(scalar_form number, size_forms sizes) {
    std::size_t const rank = sizes.size();
    return {std::move(number), std::vector<std::int64_t>(rank, 0), std::move(sizes)};
}

/// `a + factor * b`; nothing if a coefficient exceeds max_coefficient.
[[nodiscard]] inline std::optional<scalar_form> add_multiple(scalar_form const& a, scalar_form const& b,
                                                             std::int64_t factor) {
    if (!is_coefficient(factor)) return {};
    bool fits = true;
    auto const sum = [&](std::int64_t x, std::int64_t y) {
        std::int64_t const total = x + factor * y;
        fits = fits && is_coefficient(total);
        return total;
    };
    scalar_form out{sum(a.constant, b.constant)};
    auto x = a.terms.begin();
    auto y = b.terms.begin();
    while (x != a.terms.end() || y != b.terms.end()) {
        bool const takes_x = y == b.terms.end() || (x != a.terms.end() && x->first <= y->first);
        bool const takes_y = x == a.terms.end() || (y != b.terms.end() && y->first <= x->first);
        unknown_number const of = takes_x ? x->first : y->first;
        std::int64_t const total = sum(takes_x ? x->second : 0, takes_y ? y->second : 0);
        if (total != 0) out.terms.emplace_back(of, total);
        if (takes_x) ++x;
        if (takes_y) ++y;
    }
    if (!fits) return {};
    return out;
}

/// `a + factor * b` for forms of the same sizes.
[[nodiscard]] inline std::optional<linear_form> add_multiple(linear_form const& a, linear_form const& b,
                                                             std::int64_t factor) {
    auto const origin = a.steps.size() == b.steps.size() ? add_multiple(a.origin, b.origin, factor) : std::nullopt;
    if (!origin) return {};
    linear_form out{*origin, {}, a.sizes};
    for (std::size_t i = 0; i != a.steps.size(); ++i) {
        out.steps.push_back(a.steps[i] + factor * b.steps[i]);
        if (!is_coefficient(out.steps[i])) return {};
    }
    return out;
}

/// The maximum of a sum of sizes, which are not negative; nothing if it has none.
[[nodiscard]] inline std::optional<std::int64_t> maximum(scalar_form const& f) {
    for (auto const& [number, factor] : f.terms)
        if (number.what != unknown_number::kind::size || factor > 0) return {};
    return f.constant;
}

/// The maximum of all elements, likewise.
[[nodiscard]] inline std::optional<std::int64_t> maximum(linear_form const& f) {
    std::optional<scalar_form> last = f.origin;
    for (std::size_t i = 0; i != f.steps.size() && last; ++i) {
        if (f.steps[i] <= 0) continue; // the maximum is at coordinate 0
        std::optional<scalar_form> coordinate;
        if (f.sizes[i]) coordinate = add_multiple(*f.sizes[i], scalar_form{1}, -1);
        last = coordinate ? add_multiple(*last, *coordinate, f.steps[i]) : std::nullopt;
    }
    return last ? maximum(*last) : std::nullopt;
}

[[nodiscard]] inline std::optional<std::int64_t> minimum(linear_form const& f) {
    std::optional<linear_form> const negated = add_multiple(uniform_form({}, f.sizes), f, -1);
    std::optional<std::int64_t> const found = negated ? maximum(*negated) : std::nullopt;
    return found ? std::optional(-*found) : std::nullopt;
}

} // namespace ATON_NAMESPACE::passes
