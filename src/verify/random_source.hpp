// SPDX-License-Identifier: MIT
// Random numbers and tensors that are the same on every platform, which the distributions of the standard library do not guarantee.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include <aton/runtime/tensor.hpp>
#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

class random_source {
public:
    explicit random_source(std::uint64_t seed) : engine_(seed) {}

    /// In [min, max].
    [[nodiscard]] std::int64_t integer(std::int64_t min, std::int64_t max) {
        if (max <= min) return min;
        auto const count = static_cast<std::uint64_t>(max - min) + 1;
        return min + static_cast<std::int64_t>(engine_() % count);
    }
    /// In [0, 1).
    [[nodiscard]] double fraction() { return static_cast<double>(engine_() >> 11U) * 0x1p-53; }
    /// Any number.
    [[nodiscard]] std::uint64_t alternative() { return engine_() >> 32U; }
    [[nodiscard]] bool chance(double share) { return fraction() < share; }

private:
    std::mt19937_64 engine_;
};

/// An element of a list, all with the same probability.
template <class List>
[[nodiscard]] auto one_of(random_source& random, List const& all) {
    return all[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(all.size()) - 1))];
}

/// The range of elements, and which of them may occur.
struct element_range {
    double min = -4;
    double max = 4;
    bool bounded = false;  ///< the rule gives the range: no special values
    bool moderate = false; ///< without the largest numbers
    bool whole = false;    ///< without fractions
    bool infinite = false; ///< at least one element of a tensor of floats is not finite
    bool uneven = false;   ///< the rule wants numbers that no other number of the call is likely to equal
};

/// A contiguous tensor of random elements.
[[nodiscard]] runtime::tensor random_tensor(random_source& random, dtype t, runtime::sizes const& of,
                                            value_profile values, element_range const& range);
/// An extreme number for an argument beside tensors of this dtype: infinities, NaN, numbers outside the dtype's range (in float64,
/// 1e100, whose products do not overflow), 0 and 1 of both
/// signs. `any`: also integers and bools.
[[nodiscard]] scalar extreme_number(random_source& random, dtype t, bool any);
inline constexpr int extreme_reals = 12;
/// The real extreme number `i`, below `extreme_reals`.
[[nodiscard]] double extreme_real(int i, dtype t);
/// Turns `x` into a mask (bool, or float to be added) of which some rows hide everything.
[[nodiscard]] runtime::tensor with_hiding_rows(random_source& random, runtime::tensor const& x);
/// The same elements with small changes to all of them, to some, or to none.
[[nodiscard]] runtime::tensor perturbed(random_source& random, runtime::tensor const& x);
/// The same elements with each row sorted in ascending order, and 0 in place of NaN.
[[nodiscard]] runtime::tensor sorted_rows(runtime::tensor const& x);
/// Permutes each row of `x` at random; the indices that undo it replace `sorter`, which has the same sizes. Both become contiguous.
void unsort_rows(random_source& random, runtime::tensor& x, runtime::tensor& sorter);
/// Indices below `end` with the sizes of `x`, pairwise different; `x` itself if there are too few.
[[nodiscard]] runtime::tensor distinct_indices(random_source& random, runtime::tensor const& x, std::int64_t end);
/// The same elements, not contiguous in memory.
[[nodiscard]] runtime::tensor scattered(runtime::tensor const& x);

} // namespace ATON_NAMESPACE::verify
