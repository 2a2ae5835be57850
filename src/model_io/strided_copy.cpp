// SPDX-License-Identifier: MIT
// Copies strided elements to dense memory. Tiles keep both sides of a transpose in whole cache lines.
#include "strided_copy.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace ATON_NAMESPACE::detail {

namespace {

struct wide {
    std::uint64_t halves[2];
};

/// Unaligned loads and stores.
template <class T>
T load(std::byte const* from) {
    T v{};
    std::memcpy(&v, from, sizeof v);
    return v;
}
template <class T>
void store(std::byte* to, T v) {
    std::memcpy(to, &v, sizeof v);
}

using four = std::uint32_t __attribute__((vector_size(16)));

/// Transposes a 4x4 block in registers. Steps are in bytes.
void transpose_4x4(std::byte* to, std::int64_t to_step, std::byte const* from, std::int64_t from_step) {
    auto const a = load<four>(from);
    auto const b = load<four>(from + from_step);
    auto const c = load<four>(from + 2 * from_step);
    auto const d = load<four>(from + 3 * from_step);
    four const ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    four const ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    four const cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    four const cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    store<four>(to, __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5));
    store<four>(to + to_step, __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7));
    store<four>(to + 2 * to_step, __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
    store<four>(to + 3 * to_step, __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
}

/// to[i * to_row + j] = from[i * from_row + j * from_column], in elements; from_row is the smaller stride. Tiles of one cache line in
/// both directions are read along the lines of `from`, transposed, and written along those of `to`. The tiles follow the lines of
/// `from`, which spans many pages, while `to` is a buffer.
template <class T>
class transposition {
public:
    std::int64_t to_row, from_row, from_column;

    void run(std::byte* to, std::byte const* from, std::int64_t rows, std::int64_t columns) const {
        for (std::int64_t j = 0; j < columns; j += tile) {
            std::int64_t const broad = std::min(tile, columns - j);
            for (std::int64_t i = 0; i < rows; i += tile) {
                std::int64_t const high = std::min(tile, rows - i);
                std::byte* const corner = to + (i * to_row + j) * width;
                std::byte const* const source = from + (i * from_row + j * from_column) * width;
                if (from_row == 1 && high == tile && broad == tile) whole_tile(corner, source);
                else part_of_tile(corner, source, high, broad);
            }
        }
    }

private:
    static constexpr auto width = static_cast<std::int64_t>(sizeof(T));
    static constexpr std::int64_t tile = 64 / width;

    void whole_tile(std::byte* to, std::byte const* from) const {
        if constexpr (width == 4) {
            for (std::int64_t r = 0; r != tile; r += 4)
                for (std::int64_t c = 0; c != tile; c += 4)
                    transpose_4x4(to + (r * to_row + c) * width,
                                  to_row * width,
                                  from + (r + c * from_column) * width,
                                  from_column * width);
            return;
        }
        T transposed[static_cast<std::size_t>(tile * tile)];
        for (std::int64_t c = 0; c != tile; ++c)
            for (std::int64_t r = 0; r != tile; ++r)
                transposed[r * tile + c] = load<T>(from + (r + c * from_column) * width);
        for (std::int64_t r = 0; r != tile; ++r) std::memcpy(to + r * to_row * width, transposed + r * tile, 64);
    }
    void part_of_tile(std::byte* to, std::byte const* from, std::int64_t high, std::int64_t broad) const {
        for (std::int64_t c = 0; c != broad; ++c)
            for (std::int64_t r = 0; r != high; ++r)
                store(to + (r * to_row + c) * width, load<T>(from + (r * from_row + c * from_column) * width));
    }
};

template <class T>
class block_copy {
public:
    block_copy(strided_dim const* dims, std::size_t rank)
        : dims_(dims),
          rank_(rank),
          steps_(rank, 1),
          transposed_(rank) {
        for (std::size_t i = rank; i-- > 1;) steps_[i - 1] = steps_[i] * dims[i].size;
        if (rank < 2 || dims[rank - 1].stride == 1 || dims[rank - 1].stride == 0) return;
        std::size_t best = rank - 1; // the dimension with the smallest stride, if it is not the last
        for (std::size_t i = 0; i != rank - 1; ++i)
            if (dims[i].stride != 0 && std::abs(dims[i].stride) < std::abs(dims[best].stride)) best = i;
        if (best != rank - 1) transposed_ = best;
    }

    void run(std::byte* to, std::byte const* from) const { copy(to, from, 0); }

private:
    static constexpr auto width = static_cast<std::int64_t>(sizeof(T));

    void copy(std::byte* to, std::byte const* from, std::size_t d) const {
        if (d == transposed_) ++d; // the innermost loops iterate over it
        if (d >= rank_) return store(to, load<T>(from));
        if (d == rank_ - 1) return row(to, from);
        for (std::int64_t i = 0; i != dims_[d].size; ++i)
            copy(to + i * steps_[d] * width, from + i * dims_[d].stride * width, d + 1);
    }

    void row(std::byte* to, std::byte const* from) const {
        auto const [n, stride] = dims_[rank_ - 1];
        if (transposed_ != rank_)
            return transposition<T>{steps_[transposed_], dims_[transposed_].stride, stride}.run(
                to, from, dims_[transposed_].size, n);
        if (stride == 1) {
            std::memcpy(to, from, static_cast<std::size_t>(n * width));
            return;
        }
        for (std::int64_t i = 0; i != n; ++i) store(to + i * width, load<T>(from + i * stride * width));
    }

    strided_dim const* dims_;
    std::size_t rank_;
    std::vector<std::int64_t> steps_; ///< strides of the result
    std::size_t transposed_;          ///< the other dimension of a transpose, or rank_
};

} // namespace

std::vector<strided_dim> merge_dims(std::vector<std::int64_t> const& sizes, std::vector<std::int64_t> const& strides) {
    std::vector<strided_dim> dims;
    for (std::size_t i = 0; i != sizes.size(); ++i) {
        if (sizes[i] == 1) continue;
        if (!dims.empty() && dims.back().stride == sizes[i] * strides[i])
            dims.back() = {dims.back().size * sizes[i], strides[i]};
        else dims.push_back({sizes[i], strides[i]});
    }
    return dims;
}

void strided_copy(std::byte* to, std::byte const* from, strided_dim const* dims, std::size_t rank, std::size_t item) {
    switch (item) {
    case 1: return block_copy<std::uint8_t>(dims, rank).run(to, from);
    case 2: return block_copy<std::uint16_t>(dims, rank).run(to, from);
    case 4: return block_copy<std::uint32_t>(dims, rank).run(to, from);
    case 8: return block_copy<std::uint64_t>(dims, rank).run(to, from);
    default: return block_copy<wide>(dims, rank).run(to, from);
    }
}

} // namespace ATON_NAMESPACE::detail
