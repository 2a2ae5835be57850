// SPDX-License-Identifier: MIT
// ATen operators along an axis: cumulative functions, differences and integrals.
#include <string>
#include <utility>
#include <vector>

#include <aton/aten/promotion.hpp>
#include <aton/core/error.hpp>

#include "elementwise.hpp"
#include "runtime/compute/complex.hpp"
#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

std::int64_t size_along(tensor const& x, std::int64_t axis) {
    std::size_t const at = axis_at(axis, x.rank());
    return x.rank() == 0 ? 1 : x.size(at);
}

/// `count` elements of an axis from `start` on.
tensor part(tensor const& x, std::int64_t axis, std::int64_t start, std::int64_t count) {
    return x.sliced(axis_at(axis, x.rank()), start, count);
}

/// A scan of complex numbers with a binary function: in steps of 1, 2, 4, ..., each element is combined with the one
/// that many places before it.
template <class Function>
tensor scanned(tensor const& x, std::int64_t axis, Function const& f) {
    tensor y = x.rank() == 0 ? x.unsqueezed(0) : x;
    std::int64_t const n = size_along(y, axis);
    for (std::int64_t step = 1; step < n; step *= 2)
        y = concat(std::vector{part(y, axis, 0, step), f(part(y, axis, 0, n - step), part(y, axis, step, n - step))},
                   axis);
    return reshape(y, x.sizes());
}

/// Cumulative sums or products, also of complex numbers.
tensor running(scan_op op, tensor const& x, std::int64_t axis) {
    if (!is_complex(x.dtype())) return scan(op, x, axis);
    if (op == scan_op::prod) return scanned(x, axis, [](tensor const& a, tensor const& b) { return a * b; });
    if (x.rank() == 0) return x;
    return scan(op, x.as_pairs(), static_cast<std::int64_t>(axis_at(axis, x.rank()))).from_pairs();
}

results cumulated(call const& c, scan_op op) {
    tensor const x = c.t("self");
    return running(op, cast(x, c.type("dtype", aton::aten::to_accumulating(x.dtype()))), c.i("dim"));
}
results cumulative_sum(call const& c) { return cumulated(c, scan_op::sum); }
results cumulative_product(call const& c) { return cumulated(c, scan_op::prod); }

results cumulative_log_of_sum(call const& c) {
    tensor const x = c.t("self");
    std::int64_t const axis = c.i("dim");
    if (!is_complex(x.dtype())) return scan(scan_op::log_add_exp, floats(c), axis);
    return scanned(x, axis, [](tensor const& a, tensor const& b) {
        tensor const first = greater_equal(real_part(a), real_part(b));
        tensor const highest = where(first, a, b);
        return highest + log(exp(where(first, b, a) - highest) + scalar(1));
    });
}

/// Cumulative maximum or minimum, with the index of its last occurrence; NaN is kept.
template <scan_op Op>
results running_extreme(call const& c) {
    tensor const x = c.t("self");
    std::int64_t const axis = c.i("dim");
    std::int64_t const n = size_along(x, axis);
    tensor const values = scan(Op, x, axis);
    tensor reached = equal(x, values);
    if (is_floating(x.dtype())) reached = logical_or(reached, isnan(x));
    sizes along(x.rank(), 1);
    if (!along.empty()) along[axis_at(axis, x.rank())] = n;
    tensor const place = reshape(range(n, 0, 1, x.where()), along);
    return {values, scan(scan_op::max, where(reached, place, scalar(0)), axis)};
}

/// Each element minus the one before it; for bools, whether they are different.
tensor difference(tensor const& x, std::int64_t axis) {
    std::int64_t const n = size_along(x, axis);
    if (n == 0) return x;
    tensor const after = part(x, axis, 1, n - 1);
    tensor const before = part(x, axis, 0, n - 1);
    return x.dtype() == dtype::bool_ ? binary(binary_op::logical_xor, after, before) : after - before;
}

results differences(call const& c) {
    std::int64_t const axis = c.i("dim");
    std::int64_t const n = c.i("n");
    dtype const type = result_type(c, {"self", "prepend", "append"});
    if (c.t("self").rank() == 0) throw error("diff requires at least 1 dimension");
    if (n < 0) throw error("the order " + std::to_string(n) + " is negative");
    if (n == 0) return c.t("self");
    std::vector<tensor> parts;
    for (std::string_view const name : {"prepend", "self", "append"})
        if (c.given(name)) parts.push_back(cast(c.t(name), type));
    tensor x = concat(parts, axis);
    for (std::int64_t i = 0; i != n && size_along(x, axis) != 0; ++i) x = difference(x, axis);
    return x;
}

/// Differences of coordinates along an axis; 1-d coordinates apply to all lines.
term sample_distances(call const& c, tensor const& y, std::int64_t axis) {
    tensor x = c.t("x");
    if (x.rank() == 0) throw error("coordinates must have at least one dimension");
    if (x.dtype() == dtype::bool_) throw error("coordinates cannot be bool");
    if (x.rank() == 1) {
        if (x.count() != size_along(y, axis))
            throw error("the coordinates must have one element per element of the axis");
        sizes to(y.rank(), 1);
        to[axis_at(axis, y.rank())] = x.count();
        return difference(reshape(x, to), axis);
    }
    while (x.rank() < y.rank()) x = x.unsqueezed(0);
    return difference(x, axis);
}

/// Twice the areas between neighbors, or their heights if the distance is a number.
term trapezia(call const& c) {
    tensor const y = c.t("y");
    std::int64_t const axis = c.i("dim");
    if (y.dtype() == dtype::bool_) throw error("an integral does not support bool");
    if (y.rank() == 0) throw error("an integral requires at least 1 dimension");
    std::int64_t const n = size_along(y, axis);
    term const both = term(part(y, axis, 0, n - 1)) + term(part(y, axis, 1, n - 1));
    return c.has_argument("x") ? both * sample_distances(c, y, axis) : both;
}

/// Halves sums, and multiplies by the distance if it is a number.
tensor halved(call const& c, term const& sums) {
    if (c.has_argument("x")) return *(sums / 2.0);
    scalar const step = c.number("dx");
    if (step.is_complex()) return *(sums * term(constant(c, step, dtype::complex128)) / 2.0);
    return *(sums * (step.to<double>() / 2));
}

/// With equal distances, the elements at the ends count half.
tensor integral_at_steps(call const& c, tensor const& y, std::int64_t axis) {
    if (y.dtype() == dtype::bool_) throw error("an integral does not support bool");
    if (y.rank() == 0) throw error("an integral requires at least 1 dimension");
    axis_list const along = {axis};
    term const ends = total(part(y, axis, 0, 1), along) + total(part(y, axis, size_along(y, axis) - 1, 1), along);
    if (is_complex(y.dtype()) &&
        !c.number("dx").is_complex()) // one product of complex numbers, which spreads infinities
        return *((total(y, along) - ends / 2.0) * c.number("dx").to<double>());
    return halved(c, total(y, along) * 2.0 - ends);
}

results integral(call const& c) {
    tensor const y = c.t("y");
    std::int64_t const axis = c.i("dim");
    if (size_along(y, axis) != 0)
        return c.has_argument("x") ? halved(c, total(trapezia(c), {axis})) : integral_at_steps(c, y, axis);
    sizes to = y.sizes();
    to.erase(to.begin() + static_cast<std::ptrdiff_t>(axis_at(axis, y.rank())));
    return full(0, y.dtype(), to, y.where());
}

results cumulative_integral(call const& c) {
    tensor const y = c.t("y");
    std::int64_t const axis = c.i("dim");
    if (size_along(y, axis) == 0) return cast(y, aton::aten::to_floating(y.dtype()));
    bool const by_number = !c.has_argument("x") && !c.number("dx").is_complex();
    tensor const areas = by_number ? halved(c, trapezia(c)) : *trapezia(c); // before they are added, as in ATen
    if (by_number)
        return cast(running(scan_op::sum, cast(areas, aton::aten::to_accumulating(areas.dtype())), axis),
                    areas.dtype());
    return halved(c, running(scan_op::sum, cast(areas, aton::aten::to_accumulating(areas.dtype())), axis));
}

} // namespace

rows cumulative() {
    static constexpr row all[] = {
        {"cummax", running_extreme<scan_op::max>},
        {"cummin", running_extreme<scan_op::min>},
        {"cumprod", cumulative_product},
        {"cumsum", cumulative_sum},
        {"cumulative_trapezoid.dx", cumulative_integral},
        {"cumulative_trapezoid.x", cumulative_integral},
        {"diff", differences},
        {"logcumsumexp", cumulative_log_of_sum},
        {"_logcumsumexp", cumulative_log_of_sum},
        {"trapezoid.dx", integral},
        {"trapezoid.x", integral},
        {"trapz.dx", integral},
        {"trapz.x", integral},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
