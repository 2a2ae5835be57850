// SPDX-License-Identifier: MIT
// ATen operators: embedding, and bags of embeddings.
#include "positions.hpp"

#include <cmath>
#include <limits>

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

void check_table(tensor const& weight) {
    if (weight.rank() != 2) throw error("weight must be a matrix, not of shape " + to_string(weight.sizes()));
}

results looked_up(call const& c) {
    check_table(c.t("weight"));
    return index_select(c.t("weight"), 0, c.t("indices"));
}

/// Adds gradients to the rows that were looked up, except the padding row.
results embedding_dense_backward(call const& c) {
    tensor const gradient = c.t("grad_output");
    tensor const indices = flatten(c.t("indices"));
    std::int64_t const rows = c.i("num_weights");
    std::int64_t const width = gradient.rank() == 0 ? 1 : gradient.size(gradient.rank() - 1);
    tensor each = reshape(gradient, {indices.count(), width});
    tensor const zero = full(0, each.dtype(), {}, each.where());
    if (c.b("scale_grad_by_freq")) {
        tensor const none = full(0, dtype::float64, {rows}, each.where());
        tensor const one = full(1, dtype::float64, {}, each.where());
        tensor const counts = put(none, positions({rows}, std::vector<tensor>{indices}), one, put_op::add);
        each = each * cast(scalar(1) / index_select(counts, 0, indices), each.dtype()).unsqueezed(1);
    }
    each = where(equal(indices, whole_number(c.i("padding_idx"))).unsqueezed(1), zero, each);
    sizes const to = {rows, width};
    return put(zero.expanded(to), slice_positions(to, 0, indices), each, put_op::add);
}

tensor norms_of_rows(tensor const& x, double p) {
    tensor const a = abs(x);
    if (std::isinf(p)) return p > 0 ? max(a, {1}) : min(a, {1});
    if (p == 0) return sum(cast(unequal(a, 0), x.dtype()), {1});
    if (p == 1) return sum(a, {1});
    if (p == 2) return sqrt(sum(square(a), {1}));
    return pow(sum(pow(a, scalar(p)), {1}), scalar(1 / p));
}

/// Scales looked-up rows down whose norm exceeds the maximum.
results embedding_renorm(call const& c) {
    tensor const x = c.t("self");
    check_table(x);
    tensor const wide = cast(x, compute_type(x.dtype()));
    tensor const norms = cast(cast(norms_of_rows(wide, c.f("norm_type")), x.dtype()), dtype::float64);
    tensor const scale = scalar(c.f("max_norm")) / (norms + scalar(1e-7));
    tensor const rows = positions({x.size(0)}, std::vector<tensor>{flatten(c.t("indices"))});
    tensor const named =
        put(full(false, dtype::bool_, {x.size(0)}, x.where()), rows, full(true, dtype::bool_, {}, x.where()));
    tensor const changes = logical_and(named, greater(norms, scalar(c.f("max_norm")))).unsqueezed(1);
    return cast(where(changes, wide * cast(scale, wide.dtype()).unsqueezed(1), wide), x.dtype());
}

// Bags.

enum class bag_mode : std::uint8_t { sum, mean, max };

struct bags {
    tensor weight;
    tensor indices; ///< has the dtype of the offsets, which is also that of the results
    tensor offsets; ///< int64, starts of the bags
    std::int64_t count = 0;
    std::int64_t padding = -1;
    bag_mode mode = bag_mode::sum;
    bool last_offset = false;
    /// ATen has a separate path for sums and means, which ends at the last offset.
    bool fast = false;
    tensor bag;  ///< bag of each index
    tensor kept; ///< whether an index is not the padding
};

bags bags_of(call const& c) {
    bags b;
    b.weight = c.t("weight");
    check_table(b.weight);
    if (!is_floating(b.weight.dtype())) throw error("bags require a floating-point dtype");
    tensor const indices = c.t("indices");
    tensor const offsets = c.t("offsets");
    if (indices.rank() != 1 || offsets.rank() != 1) throw error("indices and offsets must be vectors");
    dtype const type = indices.dtype() == dtype::int64 ? dtype::int64 : offsets.dtype();
    b.indices = cast(indices, type);
    b.offsets = cast(offsets, dtype::int64);
    std::int64_t const mode = c.i("mode");
    if (mode < 0 || mode > 2) throw error("mode is " + std::to_string(mode) + ", not 0, 1 or 2");
    b.mode = static_cast<bag_mode>(mode);
    b.last_offset = c.b("include_last_offset");
    b.count = offsets.count() - (b.last_offset ? 1 : 0);
    if (b.count < 0) throw error("include_last_offset requires at least one offset");
    if (c.has_argument("padding_idx") && c.given("padding_idx")) b.padding = c.i("padding_idx");
    if (c.overload() == "aten::embedding_bag.padding_idx" &&
        c.given("padding_idx")) // this overload counts from the end
        b.padding = static_cast<std::int64_t>(axis_at(b.padding, static_cast<std::size_t>(b.weight.size(0))));
    b.fast = b.padding < 0 && b.weight.dtype() != dtype::float64;

    std::int64_t const n = indices.count();
    if (b.count == 0 && n != 0) throw error("the offsets leave indices outside every bag");
    tensor const starts = b.offsets.sliced(0, 0, b.count);
    tensor const none = full(0, dtype::int64, {n + 1}, indices.where());
    tensor const one = full(1, dtype::int64, {}, indices.where());
    tensor const begins = put(none, positions({n + 1}, std::vector<tensor>{starts}), one, put_op::add);
    b.bag = maximum(scan(scan_op::sum, begins, 0).sliced(0, 0, n) - whole_number(1), whole_number(0));
    b.kept = unequal(b.indices, whole_number(b.padding));
    return b;
}

/// The number of indices of each bag without the padding.
tensor sizes_of(bags const& b) {
    tensor const zeros = full(0, dtype::int64, {b.count}, b.bag.where());
    return put(zeros, b.bag, cast(b.kept, dtype::int64), put_op::add);
}

/// Sums or means per bag.
tensor added(bags const& b, tensor rows, tensor const& counts) {
    tensor kept = b.kept;
    tensor const zero = full(0, rows.dtype(), {}, rows.where());
    if (b.last_offset && b.fast) {
        tensor const end = b.offsets.sliced(0, b.count, 1);
        kept = logical_and(kept, less(range(b.indices.count(), 0, 1, rows.where()), end));
    }
    rows = where(kept.unsqueezed(1), rows, zero);
    sizes const to = {b.count, rows.size(1)};
    tensor sums = put(zero.expanded(to), slice_positions(to, 0, b.bag), rows, put_op::add);
    if (b.mode == bag_mode::sum) return sums;
    return sums / cast(maximum(counts, whole_number(1)), sums.dtype()).unsqueezed(1);
}

struct largest {
    tensor values;
    tensor indices;
};

/// The maximum of each column of a bag, and the index of its row. NaN is taken only from the first row.
largest largest_of(bags const& b, tensor const& rows) {
    device const here = rows.where();
    std::int64_t const n = b.indices.count();
    sizes const to = {b.count, rows.size(1)};
    tensor const order = range(n, 0, 1, here);
    tensor const beyond = full(static_cast<long long>(n), dtype::int64, {}, here);
    tensor const first = put(beyond.expanded({b.count}), b.bag, where(b.kept, order, beyond), put_op::min);
    tensor const is_first = equal(index_select(first, 0, b.bag), order).unsqueezed(1);
    tensor const lowest = full(-std::numeric_limits<double>::infinity(), rows.dtype(), {}, here);
    tensor const ignored =
        logical_or(logical_not(b.kept).unsqueezed(1), logical_and(isnan(rows), logical_not(is_first)));
    tensor const counted = where(ignored, lowest, rows);
    tensor const places = slice_positions(to, 0, b.bag);
    tensor const highest = put(lowest.expanded(to), places, counted, put_op::max);
    tensor const of_row = index_select(highest, 0, b.bag);
    tensor const reached = logical_and(b.kept.unsqueezed(1),
                                       logical_or(equal(counted, of_row), logical_and(isnan(counted), isnan(of_row))));
    tensor const row = put(beyond.expanded(to), places, where(reached, order.unsqueezed(1), beyond), put_op::min);
    tensor const empty = equal(row, whole_number(n));
    std::vector<tensor> const padded = {b.indices, full(0, b.indices.dtype(), {1}, here)};
    return {where(empty, full(0, rows.dtype(), {}, here), highest), take(concat(padded, 0), row)};
}

results embedding_bag(call const& c) {
    bags const b = bags_of(c);
    dtype const type = b.weight.dtype();
    tensor rows = cast(index_select(b.weight, 0, b.indices), compute_type(type));
    if (c.given("per_sample_weights")) {
        if (b.mode != bag_mode::sum) throw error("per_sample_weights require the mode 'sum'");
        tensor const scale = cast(c.t("per_sample_weights"), rows.dtype());
        if (scale.sizes() != b.indices.sizes()) throw error("per_sample_weights must have one element per index");
        rows = rows * scale.unsqueezed(1);
    }
    auto const as_index = [&](tensor const& t) { return contiguous(cast(t, b.indices.dtype())); };
    bool const adds = b.mode == bag_mode::sum;
    std::int64_t const width = adds && c.overload() != "aten::_embedding_bag" ? b.offsets.count() : b.count;
    tensor const counts = adds ? full(0, dtype::int64, {width}, rows.where()) : sizes_of(b);
    tensor const bag = as_index(adds && b.fast ? b.bag.sliced(0, 0, 0) : b.bag);
    if (b.mode == bag_mode::max) {
        largest const l = largest_of(b, rows);
        return {cast(l.values, type), bag, as_index(counts), as_index(l.indices)};
    }
    return {cast(added(b, rows, counts), type), bag, as_index(counts), as_index(counts)};
}

results one_hot(call const& c) {
    tensor const x = c.t("self");
    if (x.dtype() != dtype::int64) throw error("one_hot requires int64, not " + std::string(name(x.dtype())));
    std::int64_t const given = c.i("num_classes");
    if (given < -1 || (given <= 0 && x.count() == 0) || given == 0)
        throw error("num_classes is " + std::to_string(given));
    std::int64_t classes = given;
    if (x.count() != 0) {
        auto const extreme = [&](reduce_op op) {
            return to_host(reduce(op, x, all_axes(x))).item().to<std::int64_t>();
        };
        std::int64_t const highest = extreme(reduce_op::max);
        if (highest >= (given == -1 ? max_elements : given) || extreme(reduce_op::min) < 0)
            throw error("a class is negative or not less than num_classes, " + std::to_string(given));
        if (given == -1) classes = highest + 1;
    }
    return cast(equal(x.unsqueezed(x.rank()), range(classes, 0, 1, x.where())), dtype::int64);
}

} // namespace

rows embedding() {
    static constexpr row all[] = {
        {"embedding", looked_up},
        {"embedding_dense_backward", embedding_dense_backward},
        {"embedding_renorm", embedding_renorm},
        {"embedding_bag", embedding_bag},
        {"embedding_bag.padding_idx", embedding_bag},
        {"_embedding_bag", embedding_bag},
        {"_embedding_bag_forward_only", embedding_bag},
        {"one_hot", one_hot},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
