// SPDX-License-Identifier: MIT
// Matrices in files that are rounded to integers of a few bits while they are written: each block of a row has a scale and a zero point.
// Public header.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <aton/core/dtype.hpp>
#include <aton/core/stored_tensor.hpp>

namespace ATON_NAMESPACE {

/// How the elements of a matrix are rounded: to the nearest of 2^bits equidistant numbers, in blocks along its rows.
struct quantization {
    int bits = 4;            ///< 2, 4 or 8
    std::int64_t block = 32; ///< elements; the last block of a row may have fewer
    bool symmetric = false;  ///< no zero points: the integer in the middle is 0
};

/// The differences between a matrix and its rounded elements.
struct rounding_error {
    double largest = 0;  ///< of an element
    double relative = 0; ///< Frobenius norm, divided by that of the matrix
};

/// A rounded matrix as tensors that are computed whenever they are read, with memory for one block. An element is
/// `(integer - zero_point) * scale`. Copies share the matrix, and so do the tensors.
class quantized_matrix {
public:
    /// `rows`: [N, K], float32, float16 or bfloat16; blocks are along K. `name` is that of the weight, for messages of the tensors: they
    /// throw aton::error when they are read if an element is infinite or NaN, or so large that it would be rounded to infinity. Throws
    /// aton::error for other tensors, other numbers of bits, and blocks that are not whole bytes.
    quantized_matrix(stored_tensor rows, quantization how, std::string name);

    /// uint8 [N, blocks, bytes of a block]: elements packed from the lowest bits, the last block of a row filled with zeros.
    [[nodiscard]] stored_tensor packed_blocks() const;
    /// uint8 [N, bytes of a row]: elements packed from the lowest bits. The bytes of `packed_blocks()` if K is a multiple of the block; then
    /// a data file has them once.
    [[nodiscard]] stored_tensor packed_rows() const;
    /// [N, K], of a signed type if the rounding is symmetric, and else of an unsigned one.
    [[nodiscard]] stored_tensor integers() const;
    /// [N, blocks], of the dtype of the matrix.
    [[nodiscard]] stored_tensor scales() const;
    /// uint8 [N, bytes for the blocks of a row]: packed from the lowest bits.
    [[nodiscard]] stored_tensor packed_zero_points() const;
    /// [N, blocks], of the type of `integers()`.
    [[nodiscard]] stored_tensor zero_points() const;

    /// [N, K], from which all of them are computed.
    [[nodiscard]] stored_tensor const& rows() const;
    /// How they are rounded.
    [[nodiscard]] quantization const& how() const;
    /// The bytes of the packed blocks, the scales and, unless the rounding is symmetric, the packed zero points.
    [[nodiscard]] std::uint64_t byte_count() const;
    /// Of the elements when they were last read; 0 before that.
    [[nodiscard]] rounding_error rounding() const;

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace ATON_NAMESPACE
