// SPDX-License-Identifier: MIT
// The iteration order of elementwise kernels over strided tensors; dimensions that are contiguous in all operands are
// merged.
#pragma once

#include <cstddef>
#include <cstdint>

#include <aton/runtime/platform.hpp>

namespace ATON_NAMESPACE::runtime::kernels {

inline constexpr int max_dims = 16;

/// Sizes, and the strides of each operand, innermost last. A trivial type, since kernels take it by value.
template <int Operands>
struct loop {
    int rank = 0; ///< at least 1
    std::int64_t count = 0;
    std::int64_t sizes[max_dims] = {};
    std::int64_t strides[Operands][max_dims] = {};
};

inline namespace ATON_KERNEL_VARIANT {

/// The offsets of the element with this index in row-major order.
template <int Operands>
ATON_HD std::int64_t offset_of(loop<Operands> const& l, int operand, std::int64_t element) {
    std::int64_t at = 0;
    for (int k = l.rank; k-- != 0;) {
        at += element % l.sizes[k] * l.strides[operand][k];
        element /= l.sizes[k];
    }
    return at;
}

/// Iterates over the elements from index `first` on, one row of the innermost dimension at a time.
template <int Operands>
class row_cursor {
public:
    row_cursor(loop<Operands> const& of, std::int64_t first) : loop_(of) {
        for (int k = of.rank; k-- != 0;) {
            at_[k] = first % of.sizes[k];
            first /= of.sizes[k];
            for (int j = 0; j != Operands; ++j) offsets_[j] += at_[k] * of.strides[j][k];
        }
    }

    /// The number of elements left in the row.
    [[nodiscard]] std::int64_t left() const { return loop_.sizes[loop_.rank - 1] - at_[loop_.rank - 1]; }
    [[nodiscard]] std::int64_t offset(int operand) const { return offsets_[operand]; }
    /// `n` must not exceed `left()`.
    void advance(std::int64_t n) {
        int k = loop_.rank - 1;
        move(k, n);
        while (k != 0 && at_[k] == loop_.sizes[k]) {
            move(k, -loop_.sizes[k]);
            move(--k, 1);
        }
    }

private:
    void move(int k, std::int64_t n) {
        at_[k] += n;
        for (int j = 0; j != Operands; ++j) offsets_[j] += n * loop_.strides[j][k];
    }

    loop<Operands> const& loop_;
    std::int64_t at_[max_dims] = {};
    std::int64_t offsets_[Operands] = {};
};

} // namespace ATON_KERNEL_VARIANT

} // namespace ATON_NAMESPACE::runtime::kernels
