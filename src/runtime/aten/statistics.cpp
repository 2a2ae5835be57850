// SPDX-License-Identifier: MIT
// ATen operators: variances, medians, modes and quantiles.
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <aton/aten/promotion.hpp>
#include <aton/core/error.hpp>

#include "reducing.hpp"
#include "runtime/compute/complex.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// The correction that is subtracted from the number of elements: 1, or 0 if `unbiased` is false.
double correction_of(call const& c) {
    if (c.has_argument("correction")) return c.given("correction") ? c.f("correction") : 1;
    return c.b("unbiased") ? 1 : 0;
}

struct moments {
    tensor deviation; ///< standard deviation or variance
    tensor average;
};

/// The variance of complex numbers is the sum of both parts' variances. Computed in float64, in which squares do not
/// overflow.
moments moments_of(call const& c, bool root) {
    tensor const x = c.t("self");
    if (!is_floating(x.dtype()) && !is_complex(x.dtype())) throw error("a variance requires a floating-point dtype");
    axis_list const axes = axes_of(c, x);
    bool const keep = keeps(c);
    tensor const v = cast(x, is_complex(x.dtype()) ? dtype::complex128 : dtype::float64);
    auto const spread = [&](tensor const& part) { return variance(part, axes, correction_of(c), keep); };
    tensor const square_sum = is_complex(x.dtype()) ? spread(real_part(v)) + spread(imaginary_part(v)) : spread(v);
    tensor const deviation = root ? sqrt(square_sum) : square_sum;
    if (!is_complex(x.dtype())) return {cast(deviation, x.dtype()), cast(mean(v, axes, keep), x.dtype())};
    tensor const average = complex_of(mean(real_part(v), axes, keep), mean(imaginary_part(v), axes, keep));
    return {cast(deviation, x.dtype() == dtype::complex64 ? dtype::float32 : dtype::float64), cast(average, x.dtype())};
}

template <bool Root>
results spread(call const& c) {
    return moments_of(c, Root).deviation;
}
template <bool Root>
results spread_and_mean(call const& c) {
    moments const m = moments_of(c, Root);
    return {m.deviation, m.average};
}

/// The median, the lower of two; of the numbers only, or NaN if there is one.
results middle(call const& c, bool skip_nan) {
    one_axis const a = axis_of(c);
    bool const indexed = c.has_argument("dim");
    if (a.x.count() == 0 && !indexed) return full(std::nan(""), a.x.dtype(), {}, a.x.where());
    tensor const x = a.x.rank() == 0 ? a.x.unsqueezed(0) : a.x;
    std::size_t const axis = axis_at(a.axis, x.rank());
    std::int64_t const n = x.size(axis);
    if (n == 0) throw error("an axis of size 0 has no median");
    sorted const s = sort(x, a.axis);
    tensor rank = full(static_cast<long long>((n - 1) / 2), dtype::int64, {}, x.where());
    if (is_floating(x.dtype())) {
        tensor const numbers = sum(cast(logical_not(isnan(x)), dtype::int64), {a.axis}, true);
        tensor const middle_number = maximum(numbers - scalar(1), scalar(0)) / scalar(2);
        rank = skip_nan ? middle_number
                        : where(equal(numbers, static_cast<double>(n)), middle_number, numbers); // the first NaN
    }
    sizes to = x.sizes();
    to[axis] = 1;
    rank = contiguous(rank.expanded(to));
    auto const finished = [&](tensor const& from) {
        return reshape(take_along(from, rank, a.axis), reduced_sizes(a.x, {a.axis}, a.keep));
    };
    if (!indexed) return finished(s.values);
    return {finished(s.values), finished(s.indices)};
}
results median(call const& c) { return middle(c, false); }
results nanmedian(call const& c) { return middle(c, true); }

/// The most frequent element, the smallest of those, and the index of its last occurrence.
results most_frequent(call const& c) {
    tensor const self = c.t("self");
    tensor const x = self.rank() == 0 ? self.unsqueezed(0) : self;
    std::int64_t const axis = c.i("dim");
    std::size_t const at = axis_at(axis, x.rank());
    std::int64_t const n = x.size(at);
    if (n == 0) throw error("an axis of size 0 has no mode");
    sorted const s = sort(x, axis);
    sizes along(x.rank(), 1);
    along[at] = n;
    tensor const place = contiguous(reshape(range(n, 0, 1, x.where()), along).expanded(x.sizes()));
    tensor const first =
        concat(std::vector<tensor>{full(true, dtype::bool_, s.values.sliced(at, 0, 1).sizes(), x.where()),
                                   unequal(s.values.sliced(at, 1, n - 1), s.values.sliced(at, 0, n - 1))},
               axis);
    tensor const start = scan(scan_op::max, where(first, place, scalar(0)), axis);
    tensor const best = arg_max(place - start, axis, true);
    auto const finished = [&](tensor const& from) {
        return reshape(take_along(from, best, axis), reduced_sizes(self, {axis}, keeps(c)));
    };
    return {finished(s.values), finished(s.indices)};
}

enum class quantile_mode { linear, lower, higher, midpoint, nearest };

quantile_mode between_of(std::string_view how) {
    if (how == "linear") return quantile_mode::linear;
    if (how == "lower") return quantile_mode::lower;
    if (how == "higher") return quantile_mode::higher;
    if (how == "midpoint") return quantile_mode::midpoint;
    if (how == "nearest") return quantile_mode::nearest;
    throw error("interpolation is '" + std::string(how) + "'");
}

/// Quantiles at the fractions `q`.
results by_fraction(call const& c, bool skip_nan) {
    tensor const self = c.t("self");
    if (self.dtype() != dtype::float32 && self.dtype() != dtype::float64)
        throw error("quantile requires float32 or float64");
    if (self.count() == 0) throw error("quantile requires a non-empty input");
    tensor const q = operand(c, "q", self.dtype());
    if (q.rank() > 1) throw error("q must have at most one dimension");
    tensor const outside = logical_or(less(q, 0), greater(q, 1));
    if (to_host(reduce(reduce_op::any, outside, all_axes(outside))).item().to<bool>())
        throw error("q must be between 0 and 1");
    quantile_mode const how = between_of(c.text("interpolation"));
    axis_list const axes = c.given("dim") ? axis_list{c.i("dim")} : all_axes(self);
    tensor const v = sort(gathered(self, axes), -1).values;
    std::size_t const last = v.rank() - 1;
    std::int64_t const n = v.size(last);
    tensor const numbers = cast(sum(cast(logical_not(isnan(v)), dtype::int64), {-1}, true), self.dtype());
    tensor rank = skip_nan ? maximum(flatten(q) * (numbers - scalar(1)), scalar(0))
                           : flatten(q) * (numbers * scalar(0) + scalar(static_cast<double>(n - 1)));
    if (!skip_nan) rank = where(less(numbers, static_cast<double>(n)), scalar(static_cast<double>(n - 1)), rank);
    if (how == quantile_mode::lower) rank = floor(rank);
    if (how == quantile_mode::higher) rank = ceil(rank);
    if (how == quantile_mode::nearest) rank = round(rank);
    auto const at = [&](tensor const& place) { return take_along(v, cast(place, dtype::int64), -1); };
    tensor y = at(floor(rank));
    if (how == quantile_mode::linear || how == quantile_mode::midpoint) {
        tensor const above = at(ceil(rank));
        tensor const weight = how == quantile_mode::midpoint ? full_like(rank, 0.5) : rank - floor(rank);
        tensor const across = above - y;
        y = where(less(weight, 0.5), y + weight * across, above - across * (scalar(1) - weight));
    }
    sizes const reduced = reduced_sizes(self, axes, keeps(c));
    if (q.rank() == 0) return reshape(y, reduced);
    std::vector<std::size_t> order = {last};
    for (std::size_t i = 0; i != last; ++i) order.push_back(i);
    sizes to = {q.count()};
    to.insert(to.end(), reduced.begin(), reduced.end());
    return reshape(y.permuted(order), to);
}
results quantile(call const& c) { return by_fraction(c, false); }
results nanquantile(call const& c) { return by_fraction(c, true); }

/// [variables, observations] times its conjugate transpose.
tensor products(tensor const& x, tensor const& weighted) {
    tensor const y = transpose(weighted, 0, 1);
    if (!is_complex(x.dtype())) return matmul(x, y);
    auto const part = [](tensor const& z, bool real) { return contiguous(real ? real_part(z) : imaginary_part(z)); };
    auto const product = [&](bool a, bool b) { return matmul(part(x, a), part(y, b)); };
    return complex_of(product(true, true) + product(false, false), product(false, true) - product(true, false));
}

tensor covariance_of(call const& c, double correction) {
    tensor const self = c.t("self");
    if (self.rank() > 2) throw error("the input must have at most two dimensions");
    if (self.dtype() == dtype::bool_) throw error("covariance does not support bool");
    auto const given = [&](std::string_view name) { return c.has_argument(name) ? c.maybe(name) : tensor(); };
    dtype type = to_real(self.dtype());
    for (std::string_view const name : {"fweights", "aweights"})
        if (tensor const w = given(name)) type = aton::aten::promote_types(type, w.dtype());
    tensor const v = cast(self, compute_type(type));
    tensor const x = self.rank() == 2 ? v : reshape(v, {1, v.count()});
    auto const weights_of = [&](std::string_view name) {
        tensor const w = given(name);
        if (w && (w.rank() > 1 || w.count() != x.size(1))) throw error("weights must have one element per observation");
        return w ? cast(reshape(w, {w.count()}), compute_type(type)) : w;
    };
    tensor const frequency = weights_of("fweights");
    tensor const reliability = weights_of("aweights");
    tensor weight = frequency ? frequency : full(1, x.dtype(), {x.size(1)}, x.where());
    if (reliability) weight = weight * reliability;
    tensor const total = sum(weight, {0});
    bool const exact = is_integral(self.dtype()) && !frequency && !reliability;
    tensor const sums = exact ? cast(sum(reshape(cast(self, dtype::int64), x.sizes()), {1}, true), x.dtype())
                              : sum(x * weight, {1}, true);
    tensor const centered = x - sums / total;
    tensor norm = total - scalar(correction);
    if (reliability && correction != 0) norm = total - sum(weight * reliability, {0}) * scalar(correction) / total;
    if (!is_complex(type)) norm = where(less_equal(norm, 0), scalar(0), norm);
    tensor const y = cast(products(centered, centered * weight) / norm, type);
    sizes to;
    for (std::int64_t const size : y.sizes())
        if (size != 1) to.push_back(size);
    return reshape(y, to);
}

results covariance(call const& c) { return covariance_of(c, c.f("correction")); }

results correlation(call const& c) {
    tensor const y = covariance_of(c, 1);
    if (y.rank() == 0) return y / y; // NOLINT(misc-redundant-expression): 1 or NaN
    tensor const diagonal = y.viewed({y.size(0)}, {y.size(0) + 1});
    tensor deviation = sqrt(is_complex(y.dtype()) ? real_part(diagonal) : diagonal);
    if (is_complex(y.dtype())) deviation = cast(deviation, y.dtype());
    tensor const r = y / deviation.unsqueezed(1) / deviation;
    if (is_complex(r.dtype())) return complex_of(clamp(real_part(r), -1, 1), clamp(imaginary_part(r), -1, 1));
    return clamp(r, -1, 1);
}

} // namespace

rows statistics() {
    static constexpr row all[] = {
        {"corrcoef", correlation},
        {"cov", covariance},
        {"median", median},
        {"median.dim", median},
        {"mode", most_frequent},
        {"nanmedian", nanmedian},
        {"nanmedian.dim", nanmedian},
        {"nanquantile", nanquantile},
        {"nanquantile.scalar", nanquantile},
        {"quantile", quantile},
        {"quantile.scalar", quantile},
        {"std", spread<true>},
        {"std.correction", spread<true>},
        {"std.dim", spread<true>},
        {"std_mean", spread_and_mean<true>},
        {"std_mean.correction", spread_and_mean<true>},
        {"std_mean.dim", spread_and_mean<true>},
        {"var", spread<false>},
        {"var.correction", spread<false>},
        {"var.dim", spread<false>},
        {"var_mean", spread_and_mean<false>},
        {"var_mean.correction", spread_and_mean<false>},
        {"var_mean.dim", spread_and_mean<false>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
