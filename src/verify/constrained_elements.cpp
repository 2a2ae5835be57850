// SPDX-License-Identifier: MIT
// The elements first, from the range; then what the flags of the constraints change.
#include "constrained_elements.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::verify {

using runtime::sizes;
using runtime::tensor;

namespace {

/// The elements of a tensor, as float64.
std::vector<double> numbers_of(tensor const& x) {
    aton::tensor const all = x.to_constant();
    std::vector<double> out;
    for (std::int64_t i = 0; i != x.count(); ++i) out.push_back(all.at(static_cast<std::size_t>(i)).to<double>());
    return out;
}

/// Changes square matrices. A dominant diagonal with a random sign per row makes them invertible, with determinants of both signs; with
/// positive signs, both triangles are those of positive definite matrices.
tensor as_matrices(random_source& random, tensor const& x, tensor_constraints const& w) {
    if (!is_floating(x.dtype()) || x.rank() < 2 || x.count() == 0) return x;
    auto const n = static_cast<std::size_t>(x.sizes().back());
    auto const rows = static_cast<std::size_t>(x.size(x.rank() - 2));
    std::vector<double> all = numbers_of(x);
    for (auto first = all.begin(); first != all.end(); first += static_cast<std::ptrdiff_t>(n * rows)) {
        auto const at = [&](std::size_t i, std::size_t k) -> double& {
            return first[static_cast<std::ptrdiff_t>(i * n + k)];
        };
        auto const any = [&](std::size_t count) {
            return static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(count) - 1));
        };
        if (w.regular || w.permuted || w.definite)
            for (std::size_t i = 0; i != std::min(n, rows); ++i)
                at(i, i) += static_cast<double>(2 * n + 1) * (w.definite || random.chance(0.5) ? 1 : -1);
        if (w.permuted)
            for (std::size_t i = rows; i-- > 1;) {
                std::size_t const other = any(i + 1);
                for (std::size_t k = 0; k != n; ++k) std::swap(at(i, k), at(other, k));
            }
        if (!w.deficient || !random.chance(0.4)) continue;
        std::size_t const chosen = any(std::min(n, rows));
        if (w.definite) at(chosen, chosen) *= -1;
        else if (random.chance(0.5) && rows > 1)
            for (std::size_t k = 0; k != n; ++k) at(chosen, k) = at((chosen + 1) % rows, k);
        else
            for (std::size_t i = 0; i != rows; ++i) at(i, chosen) = 0;
    }
    aton::tensor out{x.dtype(), x.sizes(), {}};
    for (double const number : all) out.append(number);
    return tensor::from_constant(out);
}

/// Positive integers in descending order, none larger than `first`. If a sum is given, the first is `first`, and the sum is reached if it
/// can be.
tensor descending(random_source& random, sizes const& of, std::int64_t first, std::int64_t sum) {
    tensor out = tensor::empty(dtype::int64, of);
    if (out.count() == 0) return out;
    auto* const at = out.data<std::int64_t>();
    std::int64_t const n = out.count();
    for (std::int64_t i = 0; i != n; ++i) at[i] = sum < 0 ? random.integer(1, std::max<std::int64_t>(1, first)) : 1;
    if (sum < 0) {
        std::sort(at, at + n, [](std::int64_t a, std::int64_t b) { return a > b; });
        return out;
    }
    *at = first;
    std::int64_t left = std::min(sum - first - (n - 1), (first - 1) * (n - 1));
    while (left > 0) {
        std::int64_t const i = random.integer(1, n - 1);
        if (at[i] == at[i - 1]) continue;
        ++at[i];
        --left;
    }
    return out;
}

/// Rows m, m + 1, ...
tensor counting_rows(sizes const& of, std::int64_t from) {
    tensor const row = runtime::range(of.empty() ? 1 : of.back(), from);
    return contiguous(row.expanded(of.empty() ? sizes{1} : of));
}

/// Rows of ones, at least one of each, and then of zeros.
tensor prefixes(random_source& random, dtype t, sizes const& of) {
    tensor out = tensor::empty(dtype::int64, of);
    std::int64_t const width = of.empty() ? 1 : of.back();
    for (std::int64_t i = 0; i != out.count(); i += width) {
        std::int64_t const ones = random.integer(1, width);
        for (std::int64_t k = 0; k != width; ++k) out.data<std::int64_t>()[i + k] = k < ones ? 1 : 0;
    }
    return cast(out, t);
}

/// Bits that are a number of a floating-point format: often one at the end of a range, such as the smallest normal number or an infinity.
std::uint64_t bits_of_number(random_source& random, unsigned significand, unsigned exponent) {
    auto const field = [&](unsigned width) -> std::uint64_t {
        std::uint64_t const all = (std::uint64_t{1} << width) - 1;
        std::array<std::uint64_t, 4> const ends = {0, 1, all - 1, all};
        std::uint64_t const any = (random.alternative() << 32U | random.alternative()) & all;
        return random.chance(0.4) ? any : one_of(random, ends);
    };
    std::uint64_t word = field(1);
    for (unsigned const width : {exponent, significand}) word = word << width | field(width);
    return word;
}

/// Elements of any bits. Neighbors together are numbers of a wider format as often as each is one of a narrow format.
tensor any_bits(random_source& random, dtype t, sizes const& of) {
    struct format {
        unsigned significand;
        unsigned exponent;
    };
    constexpr std::array formats = {format{52, 11}, format{23, 8}, format{10, 5}, format{7, 8}};
    tensor out = tensor::empty(t, of);
    std::size_t const size = static_cast<std::size_t>(out.count()) * runtime::element_bytes(t);
    std::byte* const to = out.bytes();
    format const f = one_of(random, formats);
    for (std::size_t i = 0; i < size;) {
        std::uint64_t const word = random.chance(0.1) ? 0 : bits_of_number(random, f.significand, f.exponent);
        std::size_t const count = std::min<std::size_t>(size - i, (f.significand + f.exponent + 1) / 8);
        std::memcpy(to + i, &word, count);
        i += count;
    }
    return out;
}

/// Whether all elements are within a range; true for dtypes without constants.
bool is_within(tensor const& x, element_range const& range) {
    if (!range.bounded || !aton::tensor::can_hold(x.dtype()) || is_complex(x.dtype())) return true;
    aton::tensor const all = x.to_constant();
    for (std::int64_t i = 0; i != x.count(); ++i) {
        double const v = all.at(static_cast<std::size_t>(i)).to<double>();
        if (!(v >= range.min && v <= range.max)) return false;
    }
    return true;
}

} // namespace

tensor constrained_elements(element_source& from, dtype t, sizes const& of, tensor_constraints const& w) {
    if (w.falls_from >= 0) return descending(from.random, of, w.falls_from, w.sum);
    if (w.counts_from >= 0) return counting_rows(of, w.counts_from);
    if (w.prefix) return prefixes(from.random, t, of);
    if (w.bits && t != dtype::bool_ && bits(t) >= 8) return any_bits(from.random, t, of);
    element_range range = w.range;
    if (w.index >= 0)
        range = {
            w.is_signed ? static_cast<double>(-w.index) : 0.0, static_cast<double>(w.index - 1), true, false, false};
    range.infinite = from.infinite && from.random.chance(0.6);
    if (w.bytes && t == dtype::uint8) range = {0, 255, true, false, false};
    value_profile const values = w.index >= 0 ? value_profile::ordinary : from.values;
    // In some calls two operands are equal.
    bool const has_last = from.last && from.last.dtype() == t && from.last.sizes() == of;
    bool const again = values == value_profile::ties && w.index < 0 && has_last && is_within(from.last, range) &&
                       from.random.chance(0.3);
    bool const close = w.near && has_last;
    tensor x = close   ? perturbed(from.random, from.last)
               : again ? from.last
                       : random_tensor(from.random, t, of, values, range);
    if (w.one_sign && is_floating(t) && from.random.chance(0.5)) x = x * scalar(-1);
    if (w.small && is_floating(t) && from.random.chance(0.5))
        x = x * scalar(std::exp2(-static_cast<double>(from.random.integer(4, 30))));
    if (w.sorted) x = sorted_rows(x);
    if (w.distinct) x = distinct_indices(from.random, x, w.index);
    if (w.index < 0) from.last = x;
    if (w.ascends && x.count() != 0) {
        auto* const first = x.data<std::int64_t>();
        std::sort(first, first + x.count());
        first[x.count() - 1] = w.index;
        if (w.from_zero) *first = 0;
    }
    if (w.regular || w.permuted || w.definite || w.deficient) x = as_matrices(from.random, x, w);
    return w.hides ? with_hiding_rows(from.random, x) : x;
}

tensor with_first_element_only(tensor const& x) {
    if (x.count() == 0 || !aton::tensor::can_hold(x.dtype())) return x;
    scalar const first = x.to_constant().at(0);
    aton::tensor out{x.dtype(), x.sizes(), {}};
    for (std::int64_t i = 0; i != x.count(); ++i) out.append(first);
    return tensor::from_constant(out);
}

} // namespace ATON_NAMESPACE::verify
