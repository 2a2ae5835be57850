// SPDX-License-Identifier: MIT
// ATen operators: searchsorted and bucketize.
#include "bucketing.hpp"

#include <string>

#include <aton/core/error.hpp>

#include "elementwise.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

tensor search_sorted(tensor const& boundaries, tensor const& values, bool right, tensor const& sorter) {
    if (boundaries.rank() == 0) throw error("boundaries must have at least one dimension");
    if (boundaries.dtype() != values.dtype()) throw error("boundaries and values must have the same dtype");
    if (sorter && sorter.sizes() != boundaries.sizes()) throw error("the sorter must have the shape of the boundaries");
    std::size_t const last = boundaries.rank() - 1;
    std::int64_t const n = boundaries.size(last);
    device const here = values.where();
    tensor base = full(0, dtype::int64, {}, here); // position of the first boundary of each value
    if (last != 0) {
        sizes lines(boundaries.sizes().begin(), boundaries.sizes().end() - 1);
        sizes front = values.sizes();
        if (front.empty() || (front.pop_back(), front != lines))
            throw error("shapes " + to_string(boundaries.sizes()) + " and " + to_string(values.sizes()) +
                        " differ before the last axis");
        lines.push_back(1);
        base = reshape(range(count_of(lines), 0, n, here), lines);
    }
    auto const whole = [&](std::int64_t number) {
        return contiguous(full(static_cast<long long>(number), dtype::int64, values.sizes(), here));
    };
    tensor low = whole(0);
    if (n == 0 || values.count() == 0) return low;
    tensor high = whole(n);
    for (std::int64_t left = n; left != 0; left /= 2) {
        tensor const middle = binary(binary_op::shift_right, low + high, scalar(1));
        tensor at = minimum(middle, scalar(n - 1)) + base;
        if (sorter) at = take(sorter, at) + base;
        tensor const boundary = take(boundaries, at);
        tensor const reached = right ? greater(boundary, values) : greater_equal(boundary, values);
        tensor const searching = less(low, high);
        tensor const next_low = where(reached, low, middle + scalar(1));
        tensor const next_high = where(reached, middle, high);
        low = where(searching, next_low, low);
        high = where(searching, next_high, high);
    }
    return low;
}

tensor counted(tensor const& numbers, std::int64_t count, tensor const& weights) {
    dtype const type = weights ? weights.dtype() : dtype::int64;
    tensor const zeros = full(0, type, {count}, numbers.where());
    tensor const each = weights ? weights : full(1, type, numbers.sizes(), numbers.where());
    return put(zeros, numbers, each, put_op::add);
}

namespace {

tensor index_type(call const& c, tensor const& at) { return c.b("out_int32") ? cast(at, dtype::int32) : at; }

/// The value (`self`), which may be a number, is promoted with the boundaries.
results searched(call const& c, std::string_view boundaries_name, bool right, tensor const& sorter) {
    dtype const type = result_type(c, {boundaries_name, "self"});
    tensor const values = operand(c, "self", type);
    if (std::size_t const rank = c.t(boundaries_name).rank(); rank != 1 && rank != values.rank())
        throw error("boundaries of several dimensions have those of the values");
    return index_type(c, search_sorted(cast(c.t(boundaries_name), type), values, right, sorter));
}

results search(call const& c) {
    bool right = c.b("right");
    if (c.given("side")) {
        std::string_view const side = c.text("side");
        if (side != "left" && side != "right") throw error("side is '" + std::string(side) + "'");
        if (right && side == "left") throw error("right and side differ");
        right = side == "right";
    }
    return searched(c, "sorted_sequence", right, c.maybe("sorter"));
}

results find_buckets(call const& c) {
    if (c.t("boundaries").rank() != 1) throw error("boundaries must have one dimension");
    return searched(c, "boundaries", c.b("right"), {});
}

} // namespace

rows bucketing() {
    static constexpr row all[] = {
        {"bucketize.Scalar", find_buckets},
        {"bucketize.Tensor", find_buckets},
        {"searchsorted.Scalar", search},
        {"searchsorted.Tensor", search},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
