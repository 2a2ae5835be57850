// SPDX-License-Identifier: MIT
// Random numbers that are the same everywhere (the distributions of the standard library are not), and elements of tensors.
#pragma once

#include <cstdint>
#include <random>

#include <aton/runtime/tensor.hpp>
#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

class random_source {
public:
    explicit random_source(std::uint64_t seed) : engine_(seed) {}

    /// Both included.
    [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most) {
        if (most <= least) return least;
        auto const count = static_cast<std::uint64_t>(most - least) + 1;
        return least + static_cast<std::int64_t>(engine_() % count);
    }
    /// In [0, 1).
    [[nodiscard]] double fraction() { return static_cast<double>(engine_() >> 11U) * 0x1p-53; }
    [[nodiscard]] bool chance(double share) { return fraction() < share; }

private:
    std::mt19937_64 engine_;
};

/// What elements may be.
struct element_range {
    double least = -4;
    double most = 4;
    bool bounded = false;  ///< by the rule: no special values
    bool moderate = false; ///< by the rule: none of the largest numbers
    bool whole = false;    ///< by the rule: no fractions
};

/// A contiguous tensor of random elements.
[[nodiscard]] runtime::tensor random_tensor(random_source& random, dtype t, runtime::sizes const& of,
                                            value_theme values, element_range const& range);
/// A number for an argument beside tensors of this dtype: infinities, NaN, what the dtype does not hold, 0 and 1 of both signs. Integers
/// and bools among them where the argument may be `any` of Python's numbers.
[[nodiscard]] scalar extreme_number(random_source& random, dtype t, bool any);
/// A mask, of bools or of floats that are added, some of whose rows hide everything.
[[nodiscard]] runtime::tensor hiding_rows(random_source& random, runtime::tensor const& x);
/// The same elements, some of them changed, all of them a little, or none.
[[nodiscard]] runtime::tensor near(random_source& random, runtime::tensor const& x);
/// The same elements, those of each row in rising order, and none of them NaN.
[[nodiscard]] runtime::tensor in_order(runtime::tensor const& x);
/// Other indices of as many sizes, no two of which are equal where there are enough of them below `end`.
[[nodiscard]] runtime::tensor distinct_indices(random_source& random, runtime::tensor const& x, std::int64_t end);
/// The same elements, not side by side.
[[nodiscard]] runtime::tensor scattered(runtime::tensor const& x);

} // namespace ATON_NAMESPACE::verify
