// SPDX-License-Identifier: MIT
// Random tensors that satisfy the constraints of a sampling rule.
#pragma once

#include <cstdint>
#include <string_view>

#include <aton/runtime/tensor.hpp>
#include <aton/verify/sample.hpp>

#include "random_source.hpp"

namespace ATON_NAMESPACE::verify {

/// The constraints on a tensor.
struct tensor_constraints {
    dtype type = dtype::undefined;
    element_range range;
    std::int64_t index = -1;
    bool is_signed = false;
    bool ascends = false;          ///< up to `index`
    bool from_zero = false;        ///< the same, starting at 0
    std::int64_t falls_from = -1;  ///< positive integers in descending order, the first at most this
    std::int64_t sum = -1;         ///< of them; the first is then `falls_from`
    std::int64_t counts_from = -1; ///< each row is this number, the next, ...
    bool prefix = false;           ///< in each row, one at first, then zeros, if any
    bool dense = false;            ///< in every profile
    bool regular = false;          ///< a matrix with a large diagonal
    bool permuted = false;         ///< a regular matrix with its rows in a random order
    bool definite = false;         ///< both triangles are those of positive definite matrices
    bool deficient = false;        ///< some matrices are singular or, of definite ones, not definite
    bool hides = false;            ///< a mask of which some rows hide everything
    bool near = false;             ///< close to the previous tensor
    bool sorted = false;
    std::string_view unsorts = {}; ///< the tensor whose rows these indices sort
    bool distinct = false;
    bool one_sign = false;
    bool small = false; ///< close to 0 in some calls
    bool bytes = false; ///< uint8 tensors ignore the range
    bool bits = false;  ///< any bits, those of every kind of floating-point number among them
    bool optional = false;
    std::int64_t min_count = 1;
    std::int64_t max_count = 0; ///< 0: not a list
};

/// A source of elements.
struct element_source {
    random_source& random;
    value_profile values;
    runtime::tensor last; ///< the last tensor drawn
    bool infinite;        ///< most tensors have an element that is not finite, whatever their style
};

/// A contiguous tensor that satisfies the constraints.
[[nodiscard]] runtime::tensor constrained_elements(element_source& from, dtype t, runtime::sizes const& of,
                                                   tensor_constraints const& w);

/// Every element equals the first: extremes are equal, and the variance is 0.
[[nodiscard]] runtime::tensor with_first_element_only(runtime::tensor const& x);

} // namespace ATON_NAMESPACE::verify
