// SPDX-License-Identifier: MIT
// ATen operators: reductions of the segments of an axis.
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include <aton/core/error.hpp>

#include "bucketing.hpp"
#include "reducing.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

struct segment_function {
    put_op op;
    double identity;
};

segment_function function_named(std::string_view name) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (name == "sum" || name == "mean") return {put_op::add, 0};
    if (name == "prod") return {put_op::mul, 1};
    if (name == "max") return {put_op::max, -infinity};
    if (name == "min") return {put_op::min, infinity};
    throw error("reduce is '" + std::string(name) + "'");
}

/// Reduces consecutive segments along `axis`, given by their lengths or by their offsets.
results segment_reduce(call const& c) {
    tensor const x = c.t("data");
    if (!is_floating(x.dtype())) throw error("segments require a floating-point dtype");
    if (x.rank() == 0) throw error("data must have at least one dimension");
    bool const by_length = c.given("lengths");
    if (!by_length && !c.given("offsets")) throw error("lengths or offsets are required");
    tensor const given = cast(c.t(by_length ? "lengths" : "offsets"), dtype::int64);
    std::size_t const axis = axis_at(c.i("axis"), x.rank());
    if (given.rank() != axis + 1) throw error("the leading dimensions must be those of data before the axis");
    sizes const front(x.sizes().begin(), x.sizes().begin() + static_cast<std::ptrdiff_t>(axis));
    for (std::size_t i = 0; i != axis; ++i)
        if (given.size(i) != front[i]) throw error("the leading dimensions must be those of data before the axis");
    std::int64_t const outer = count_of(front);
    std::int64_t const n = x.size(axis);
    sizes const back(x.sizes().begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.sizes().end());
    std::int64_t const inner = count_of(back);
    std::int64_t const count = given.size(axis) - (by_length ? 0 : 1);
    if (count < 0) throw error("offsets must be non-negative and increasing");
    tensor const all = reshape(given, {outer, given.size(axis)});
    tensor const ends = by_length ? scan(scan_op::sum, all, 1) : all.sliced(1, 1, count);
    tensor const lengths = by_length ? all : all.sliced(1, 1, count) - all.sliced(1, 0, count);
    if (count != 0 && outer != 0 && !c.b("unsafe") &&
        to_host(reduce(reduce_op::any, unequal(ends.sliced(1, count - 1, 1), scalar(n)), {0, 1})).item().to<bool>())
        throw error("the segments do not cover the axis");

    auto const [op, identity] = function_named(c.text("reduce"));
    sizes to = front;
    to.push_back(count);
    to.insert(to.end(), back.begin(), back.end());
    dtype const in = compute_type(x.dtype());
    bool const starts = c.given("initial");
    tensor y = full(starts ? c.number("initial") : scalar(identity), in, {outer, count, inner}, x.where());
    if (x.count() != 0 && count != 0) {
        tensor const place = contiguous(range(n, 0, 1, x.where()).expanded({outer, n}));
        tensor const segment = search_sorted(contiguous(ends), place, true);
        tensor const inside = less(segment, static_cast<double>(count)).unsqueezed(2);
        tensor const row = minimum(segment, scalar(count - 1)) + range(outer, 0, count, x.where()).unsqueezed(1);
        tensor const positions = row.unsqueezed(2) * scalar(inner) + range(inner, 0, 1, x.where());
        tensor const values = where(inside,
                                    reshape(cast(x, in), {outer, n, inner}),
                                    scalar(op == put_op::mul   ? 1.0
                                           : op == put_op::add ? 0.0
                                                               : identity));
        y = put(y, positions, values, op);
    }
    if (c.text("reduce") == "mean") {
        tensor const divisor = cast(lengths, in).unsqueezed(2);
        tensor const none = equal(divisor, 0);
        y = where(none, starts ? y : full(std::nan(""), in, {}, x.where()), y / divisor);
    }
    return cast(reshape(y, to), x.dtype());
}

} // namespace

rows segments() {
    static constexpr row all[] = {{"segment_reduce", segment_reduce}};
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
