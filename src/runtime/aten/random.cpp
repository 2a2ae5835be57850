// SPDX-License-Identifier: MIT
// ATen operators: random numbers. A seed gives the same numbers on every device, but not those of PyTorch.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/aten/promotion.hpp>
#include <aton/core/error.hpp>

#include "bucketing.hpp"
#include "elementwise.hpp"
#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// A distinct seed per draw of a call.
std::uint64_t seed_of(call const& c, std::uint64_t draw = 0) { return seed_of_draw(c.seed(), draw); }

/// Uniform in [0, 1), with as many bits as the dtype has, so that no number rounds to 1.
tensor fractions(call const& c, sizes const& of, dtype type) {
    tensor u = runtime::uniform(of, type, seed_of(c), c.where());
    if (type == dtype::float32 || type == dtype::float64) return u;
    scalar const steps(type == dtype::float16 ? 0x1p11F : 0x1p8F);
    return cast(floor(u * steps) / steps, type);
}

/// float64 for float64, otherwise float32, from which narrower results are rounded.
dtype drawn_type(dtype t) { return t == dtype::float64 ? t : dtype::float32; }

tensor standard_normal(call const& c, sizes const& of, dtype type) {
    if (!is_floating(type)) throw error("this distribution requires a floating-point dtype");
    return cast(runtime::normal(of, seed_of(c), c.where()), type);
}

sizes size_of(call const& c) { return c.has_argument("size") ? c.ints("size") : c.t("self").sizes(); }
dtype type_of(call const& c, dtype otherwise) {
    return c.has_argument("dtype") ? c.type("dtype", otherwise) : otherwise;
}
dtype type_of(call const& c) {
    return type_of(c, c.has_argument("self") ? c.t("self").dtype() : aton::aten::default_dtype);
}

results uniform_fractions(call const& c) {
    if (!is_floating(type_of(c))) throw error("this distribution requires a floating-point dtype");
    return fractions(c, size_of(c), type_of(c));
}
results uniform_between(call const& c) {
    tensor const x = c.t("self");
    double const low = c.f("from");
    double const high = c.f("to");
    if (!(low <= high)) throw error("the range is empty");
    return fractions(c, x.sizes(), x.dtype()) * scalar(high - low) + scalar(low);
}

results normal_of_size(call const& c) { return standard_normal(c, size_of(c), type_of(c)); }

/// mean + std * z, where either may be a tensor.
results normal_with(call const& c) {
    bool const tensors =
        c.argument("mean").kind == aten::argument_kind::tensor || c.argument("std").kind == aten::argument_kind::tensor;
    dtype const type = tensors ? result_type(c, {"mean", "std"}) : type_of(c);
    for (std::string_view const name : {"mean", "std"})
        if (c.argument(name).kind == aten::argument_kind::tensor && !is_floating(c.t(name).dtype()))
            throw error("this distribution requires a floating-point dtype");
    dtype const in = compute_type(type);
    tensor const mean = operand(c, "mean", in);
    tensor const deviation = operand(c, "std", in);
    if (c.argument("std").kind == aten::argument_kind::number && c.f("std") < 0)
        throw error("std must not be negative");
    sizes const of = tensors ? broadcast(mean.sizes(), deviation.sizes()) : size_of(c);
    return cast(mean + deviation * standard_normal(c, of, in), type);
}
results log_normal(call const& c) {
    tensor const x = c.t("self");
    tensor const z = standard_normal(c, x.sizes(), drawn_type(x.dtype()));
    return cast(exp(z * scalar(c.f("std")) + scalar(c.f("mean"))), x.dtype());
}

/// Applies f to uniform fractions.
template <class Function>
results inverted(call const& c, Function const& f) {
    tensor const x = c.t("self");
    return cast(f(fractions(c, x.sizes(), drawn_type(x.dtype()))), x.dtype());
}
results exponential(call const& c) {
    double const rate = c.f("lambd");
    if (!(rate > 0)) throw error("lambd must be positive");
    return inverted(c, [&](tensor const& u) { return unary(unary_op::log1p, -u) / scalar(-rate); });
}
results cauchy(call const& c) {
    return inverted(c, [&](tensor const& u) {
        return unary(unary_op::tan, (u - scalar(0.5)) * scalar(3.14159265358979323846)) * scalar(c.f("sigma")) +
               scalar(c.f("median"));
    });
}
/// The index of the first success.
results geometric(call const& c) {
    double const p = c.f("p");
    if (!(p > 0 && p < 1)) throw error("p is not between 0 and 1");
    return inverted(
        c, [&](tensor const& u) { return floor(unary(unary_op::log1p, -u) / scalar(std::log1p(-p))) + scalar(1); });
}

results bernoulli(call const& c) {
    tensor const x = c.t("self");
    bool const apart = c.has_argument("p"); // otherwise `self` has the probabilities
    dtype const in = !apart                                                ? drawn_type(x.dtype())
                     : c.argument("p").kind == aten::argument_kind::tensor ? drawn_type(c.t("p").dtype())
                                                                           : dtype::float32;
    tensor const p = operand(c, apart ? "p" : "self", in);
    return cast(less(fractions(c, x.sizes(), in), p.expanded(x.sizes())), x.dtype());
}

/// In-place operators without a functional variant.
template <kernel Run>
results written(call const& c) {
    results r = Run(c);
    tensor const now = r.all().results.at(0).one();
    r.mutate("self", now);
    return r;
}

/// Integers from low to high - 1.
tensor integers_between(call const& c, sizes const& of, std::int64_t low, std::int64_t high, dtype type) {
    if (low >= high)
        throw error("the range from " + std::to_string(low) + " to below " + std::to_string(high) + " is empty");
    auto const count = static_cast<std::int64_t>(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low));
    if (0 < count && count <= std::int64_t{1} << 53)
        return cast(cast(floor(fractions(c, of, dtype::float64) * scalar(count)), dtype::int64) + scalar(low), type);
    tensor const bits = random_integers(of, seed_of(c), c.where());
    tensor const within = count > 0 ? binary(binary_op::remainder, bits, scalar(count)) : bits;
    return cast(within + scalar(low), type);
}

results random_integers(call const& c) {
    dtype const otherwise = c.has_argument("self") ? c.t("self").dtype() : aton::aten::default_dtype;
    std::int64_t const low = c.has_argument("low") ? c.i("low") : 0;
    bool const computed = c.argument("high").kind == aten::argument_kind::tensor;
    std::int64_t const high = computed ? to_host(c.t("high")).item().to<std::int64_t>() : c.i("high");
    return integers_between(c, size_of(c), low, high, type_of(c, otherwise));
}

/// The first integer beyond the range of consecutive integers of the dtype.
std::int64_t beyond(dtype t) {
    if (is_complex(t)) throw error(std::string(name(t)) + " has no random integers");
    switch (t) {
    case dtype::bool_: return 2;
    case dtype::float16: return (1 << 11) + 1;
    case dtype::bfloat16: return (1 << 8) + 1;
    case dtype::float32: return (1 << 24) + 1;
    case dtype::float64: return (std::int64_t{1} << 53) + 1;
    default:
        return bits(t) == 64 ? std::numeric_limits<std::int64_t>::max()
                             : std::int64_t{1} << (bits(t) - (is_signed_integral(t) ? 1 : 0));
    }
}
results any_integers(call const& c) {
    tensor const x = c.t("self");
    std::int64_t const low = c.has_argument("from") ? c.i("from") : 0;
    std::int64_t const high = c.has_argument("to") && c.given("to") ? c.i("to") : beyond(x.dtype());
    return integers_between(c, x.sizes(), low, high, x.dtype());
}

results permutation(call const& c) {
    std::int64_t const n = c.i("n");
    if (n < 0) throw error("n must not be negative");
    return cast(sort(fractions(c, {n}, dtype::float64), 0).indices, type_of(c, dtype::int64));
}

/// Draws from each row by its weights; without replacement, the largest of weights divided by exponential numbers.
results multinomial(call const& c) {
    tensor const w = c.t("self");
    std::int64_t const n = c.i("num_samples");
    if (w.rank() != 1 && w.rank() != 2) throw error("weights must have 1 or 2 dimensions");
    if (!is_floating(w.dtype())) throw error("weights must be floating-point");
    std::int64_t const kinds = w.size(w.rank() - 1);
    if (n <= 0) throw error("num_samples is " + std::to_string(n));
    tensor const weights = cast(w, drawn_type(w.dtype()));
    tensor const bad = logical_or(logical_not(greater_equal(weights, 0)), unary(unary_op::isinf, weights, {1, 1, 0}));
    if (to_host(reduce(reduce_op::any, bad, all_axes(bad))).item().to<bool>())
        throw error("a weight is negative, infinite or NaN");
    if (!c.b("replacement")) {
        if (n > kinds) throw error("more samples than weights without replacement");
        tensor const times = maximum(-log(scalar(1) - fractions(c, w.sizes(), weights.dtype())), scalar(0x1p-126));
        return contiguous(sort(weights / times, -1, true).indices.sliced(w.rank() - 1, 0, n));
    }
    sizes of = w.sizes();
    of.back() = n;
    tensor const sums = scan(scan_op::sum, weights, -1);
    tensor const total = sums.sliced(w.rank() - 1, kinds - 1, 1);
    tensor const at = search_sorted(sums, contiguous(fractions(c, of, weights.dtype()) * total), true);
    return minimum(at, scalar(kinds - 1));
}

/// Poisson numbers: for small rates, sums of exponential numbers; for others, Hoermann's PTRS, transformed rejection
/// with a hat function.
results poisson(call const& c) {
    tensor const x = c.t("self");
    tensor const rate = cast(x, dtype::float64);
    if (!is_floating(x.dtype())) throw error("rates must be floating-point");
    tensor const small = less(rate, 10);
    auto const draw = [&](std::uint64_t number) {
        return cast(runtime::uniform(x.sizes(), seed_of(c, number), c.where()), dtype::float64);
    };
    auto const any_of = [](tensor const& t) {
        return t.count() != 0 && to_host(reduce(reduce_op::any, t, all_axes(t))).item().to<bool>();
    };
    constexpr double limit = 0x1p1000; // beyond, terms overflow, and no number is ever accepted
    if (any_of(logical_not(less(rate, scalar(limit))))) throw error("a rate is too large or NaN");
    tensor count = full_like(rate, 0);
    tensor time = full_like(rate, 0);
    std::uint64_t number = 0;
    for (tensor open = small; any_of(open);) {
        time = time - log(scalar(1) - draw(number++));
        open = logical_and(open, less(time, rate));
        count = where(open, count + scalar(1), count);
    }
    tensor const root = sqrt(rate);
    tensor const b = root * scalar(2.53) + scalar(0.931);
    tensor const a = b * scalar(0.02483) - scalar(0.059);
    tensor const inverse_alpha = scalar(1.1239) + scalar(1.1328) / (b - scalar(3.4));
    for (tensor open = logical_not(small); any_of(open);) {
        tensor const u = draw(number++) - scalar(0.5);
        tensor const v = draw(number++);
        tensor const us = scalar(0.5) - abs(u);
        tensor const k = floor((a * scalar(2) / us + b) * u + rate + scalar(0.43));
        tensor const left = log(v * inverse_alpha / (a / square(us) + b));
        tensor const right = k * log(rate) - rate - unary(unary_op::lgamma, k + scalar(1));
        tensor const accepted = logical_and(open, logical_and(greater_equal(k, 0), less_equal(left, right)));
        count = where(accepted, k, count);
        open = logical_and(open, logical_not(accepted));
    }
    return cast(count, x.dtype());
}

// Dropout.

double probability(call const& c) {
    double const p = c.f("p");
    if (!(p >= 0 && p <= 1)) throw error("p is not between 0 and 1");
    return p;
}

/// True where an element is kept; one per channel if `channels`.
tensor kept(call const& c, tensor const& x, double p, bool channels) {
    sizes of = x.sizes();
    if (channels && of.size() < 2) throw error("the input does not have a channel dimension");
    if (channels) std::fill(of.begin() + 2, of.end(), 1);
    return greater_equal(runtime::uniform(of, seed_of(c), x.where()), p);
}

template <bool Channels>
results drop(call const& c) {
    tensor const x = c.t("input");
    double const p = probability(c);
    if (p == 0 || !c.b("train") || x.count() == 0) return x;
    return dropped(x, kept(c, x, p, Channels), p);
}

/// Dropped elements become the value of selu at -infinity; mean and deviation are preserved.
template <bool Channels>
results drop_alpha(call const& c) {
    constexpr double alpha = 1.7580993408473766; // scale * alpha of selu
    tensor const x = c.t("input");
    double const p = probability(c);
    if (p == 0 || !c.b("train") || x.count() == 0) return x;
    if (p == 1) return x * scalar(0);
    double const a = 1 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
    tensor const stays = cast(kept(c, x, p, Channels), x.dtype());
    return x * (stays * scalar(a)) + ((stays - scalar(1)) * scalar(alpha * a) + scalar(alpha * a * p));
}

results drop_with_mask(call const& c) {
    tensor const x = c.t("input");
    double const p = probability(c);
    if (x.count() == 0) return {x, x}; // ATen's mask of an empty tensor is not bool
    if (c.given("train") && !c.b("train")) return {x, full(true, dtype::bool_, x.sizes(), x.where())};
    tensor const mask = kept(c, x, p, false);
    return {dropped(x, mask, p), mask};
}
results drop_gradient(call const& c) { return *(term(c.t("grad_output")) * term(c.t("mask")) * c.f("scale")); }

} // namespace

rows random() {
    static constexpr row all[] = {
        {"alpha_dropout", drop_alpha<false>},
        {"bernoulli", bernoulli},
        {"bernoulli.Tensor", bernoulli},
        {"bernoulli.p", bernoulli},
        {"bernoulli_.float", written<bernoulli>},
        {"cauchy", cauchy},
        {"dropout", drop<false>},
        {"exponential", exponential},
        {"feature_alpha_dropout", drop_alpha<true>},
        {"feature_dropout", drop<true>},
        {"geometric", geometric},
        {"log_normal", log_normal},
        {"multinomial", multinomial},
        {"native_dropout", drop_with_mask},
        {"native_dropout_backward", drop_gradient},
        {"normal.Tensor_Tensor", normal_with},
        {"normal.Tensor_float", normal_with},
        {"normal.float_Tensor", normal_with},
        {"normal.float_float", normal_with},
        {"normal_", written<normal_with>},
        {"normal_functional", normal_with},
        {"poisson", poisson},
        {"rand", uniform_fractions},
        {"rand.generator", uniform_fractions},
        {"rand_like", uniform_fractions},
        {"rand_like.generator", uniform_fractions},
        {"randint", random_integers},
        {"randint.generator", random_integers},
        {"randint.low", random_integers},
        {"randint.low_generator", random_integers},
        {"randint_like", random_integers},
        {"randint_like.Tensor", random_integers},
        {"randint_like.Tensor_generator", random_integers},
        {"randint_like.generator", random_integers},
        {"randint_like.low_dtype", random_integers},
        {"randint_like.low_generator_dtype", random_integers},
        {"randn", normal_of_size},
        {"randn.generator", normal_of_size},
        {"randn_like", normal_of_size},
        {"randn_like.generator", normal_of_size},
        {"random", any_integers},
        {"random.from", any_integers},
        {"random.to", any_integers},
        {"randperm", permutation},
        {"randperm.generator", permutation},
        {"uniform", uniform_between},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
