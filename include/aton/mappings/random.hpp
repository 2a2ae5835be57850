// SPDX-License-Identifier: MIT
// Random operators: aten's rand, randn, randint, randperm, normal, uniform, bernoulli, multinomial, and dropout with
// its gradient. The numbers are computed from uniform fractions or normal numbers that the graph draws; they have
// ATen's distributions, but are other numbers.
// Public header.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <aton/mappings/detail/draws.hpp>
#include <aton/mappings/elementwise_binary.hpp>
#include <aton/mappings/reduction.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

inline constexpr auto uniform_of_size = [](graph<7> g, size_list size, optional_dtype type) {
    return fractions(g, size, type.value_or(aten::default_dtype));
};
inline constexpr auto uniform_like = [](graph<7> g, value self, optional_dtype type) {
    return fractions(g, self, type.value_or(self.dtype()));
};
inline constexpr auto uniform_between =
    symbolic<"aten::uniform(self, from, to)">([](graph<7> g, value self, number low, number high) -> value {
        if (low.is_constant() && high.is_constant() && !(low.constant<double>() <= high.constant<double>()))
            throw unsupported_error("the range is empty");
        value const u = fractions(g, self, self.dtype());
        return g.op<"Add">(g.op<"Mul">(u, high - low), low);
    });

template <class Shape>
value normal_numbers(graph<7> g, Shape const& shape, dtype type) {
    require_random_dtype(type);
    return g.cast(draw<distribution::normal>(g, shape, drawn_type(type)), type);
}
inline constexpr auto normal_of_size = [](graph<7> g, size_list size, optional_dtype type) {
    return normal_numbers(g, size, type.value_or(aten::default_dtype));
};
inline constexpr auto normal_like = [](graph<7> g, value self, optional_dtype type) {
    return normal_numbers(g, self, type.value_or(self.dtype()));
};

inline void require_deviation(number const& std) {
    if (std.is_constant() && std.constant<double>() < 0) throw unsupported_error("std is negative");
}
/// mean + std * z with z of a shape; half-precision dtypes in float32.
template <class Shape>
value scaled_normal(graph<7> g, Shape const& shape, number const& mean, number const& std, dtype type) {
    require_deviation(std);
    require_random_dtype(type);
    value const z = draw<distribution::normal>(g, shape, drawn_type(type));
    return g.cast(g.op<"Add">(g.op<"Mul">(z, std), mean), type);
}
inline constexpr auto normal_with = symbolic<"aten::normal_functional(self, mean, std)">(
    [](graph<7> g, value self, number mean, number std) { return scaled_normal(g, self, mean, std, self.dtype()); });
inline constexpr auto normal_with_of_size = symbolic<"aten::normal.float_float(mean, std, size, dtype)">(
    [](graph<7> g, number mean, number std, size_list size, optional_dtype type) {
        return scaled_normal(g, size, mean, std, type.value_or(aten::default_dtype));
    });
/// mean + std * z, where both have the dtype of the draws; z has the shape to which they broadcast.
inline value normal_around(graph<7> g, value mean, value std, value shaped, dtype type) {
    value const z = draw<distribution::normal>(g, shaped, mean.dtype());
    return g.cast(g.op<"Add">(mean, g.op<"Mul">(std, z)), type);
}
inline constexpr auto normal_tensors =
    symbolic<"aten::normal.Tensor_Tensor(mean, std)">([](graph<7> g, value mean, value std) {
        dtype const type = promote(mean, std);
        require_random_dtype(type);
        value const m = g.cast(mean, drawn_type(type));
        value const s = g.cast(std, drawn_type(type));
        return normal_around(g, m, s, g.op<"Add">(m, s), type);
    });
inline constexpr auto normal_mean =
    symbolic<"aten::normal.Tensor_float(mean, std)">([](graph<7> g, value mean, number std) {
        require_deviation(std);
        dtype const type = mean.dtype();
        require_random_dtype(type);
        value const m = g.cast(mean, drawn_type(type));
        return normal_around(g, m, g.scalar(std, m.dtype()), m, type);
    });
inline constexpr auto normal_deviation =
    symbolic<"aten::normal.float_Tensor(mean, std)">([](graph<7> g, number mean, value std) {
        dtype const type = std.dtype();
        require_random_dtype(type);
        value const s = g.cast(std, drawn_type(type));
        return normal_around(g, g.scalar(mean, s.dtype()), s, s, type);
    });
inline constexpr auto log_normal =
    symbolic<"aten::log_normal(self, mean, std)">([](graph<7> g, value self, number mean, number std) -> value {
        value const z = draw<distribution::normal>(g, self, drawn_type(self.dtype()));
        return g.cast(g.op<"Exp">(g.op<"Add">(g.op<"Mul">(z, std), mean)), self.dtype());
    });

/// log(1 - u), exact for fractions: 1 - u has as many bits as u.
inline value log_of_rest(graph<7> g, value u) { return g.op<"Log">(g.op<"Sub">(1, u)); }

inline constexpr auto exponential =
    symbolic<"aten::exponential(self, lambd)">([](graph<7> g, value self, double rate) -> value {
        if (!(rate > 0)) throw unsupported_error("lambd is not positive");
        value const u = draw(g, self, drawn_type(self.dtype()));
        return g.cast(g.op<"Div">(log_of_rest(g, u), -rate), self.dtype());
    });
inline constexpr auto cauchy =
    symbolic<"aten::cauchy(self, median, sigma)">([](graph<7> g, value self, number median, number sigma) -> value {
        value const u = draw(g, self, drawn_type(self.dtype()));
        value const tangent = g.op<"Tan">(g.op<"Mul">(g.op<"Sub">(u, 0.5), std::numbers::pi));
        return g.cast(g.op<"Add">(g.op<"Mul">(tangent, sigma), median), self.dtype());
    });
/// The index of the first success.
inline constexpr auto geometric = symbolic<"aten::geometric(self, p)">([](graph<7> g, value self, double p) -> value {
    if (!(p > 0 && p < 1)) throw unsupported_error("p is not between 0 and 1");
    value const u = draw(g, self, drawn_type(self.dtype()));
    value const failures = g.op<"Floor">(g.op<"Div">(log_of_rest(g, u), std::log1p(-p)));
    return g.cast(g.op<"Add">(failures, 1), self.dtype());
});

/// True with probability p, in a dtype.
inline value coin(graph<7> g, value shaped, value p, dtype type) {
    return g.cast(is_less(g, draw(g, shaped, p.dtype()), p), type);
}
inline constexpr auto bernoulli = symbolic<"aten::bernoulli(self)">(
    [](graph<7> g, value self) { return coin(g, self, g.cast(self, drawn_type(self.dtype())), self.dtype()); });
inline constexpr auto bernoulli_p = symbolic<"aten::bernoulli.p(self, p)">([](graph<7> g, value self, number p) {
    if (p.is_constant() && !(p.constant<double>() >= 0 && p.constant<double>() <= 1))
        throw unsupported_error("p is not between 0 and 1");
    return coin(g, self, g.scalar(p, dtype::float32), self.dtype());
});
inline constexpr auto bernoulli_tensor = symbolic<"aten::bernoulli.Tensor(self, p)">(
    [](graph<7> g, value self, value p) { return coin(g, self, g.cast(p, drawn_type(p.dtype())), self.dtype()); });

/// Integers from low to high - 1 in a dtype.
template <class Shape>
value integers(graph<7> g, Shape const& shape, number const& low, number const& high, dtype type) {
    number const count = high - low;
    if (count.is_constant()) {
        auto const n = count.constant<std::int64_t>();
        if (n <= 0) throw unsupported_error("the range of the random integers is empty");
        if (n > std::int64_t{1} << 53) throw unsupported_error("random integers from a range of more than 2^53");
    }
    value const u = draw(g, shape, dtype::float64);
    value const index = g.cast(g.op<"Mul">(u, g.scalar(count, dtype::float64)), dtype::int64);
    return g.cast(g.op<"Add">(index, g.scalar(low, dtype::int64)), type);
}
/// The dtype is int64 unless the call names another one, or None, which is the default dtype.
inline constexpr auto integers_of_size = [](graph<7> g, number high, size_list size, optional_dtype type) {
    return integers(g, size, 0, high, type.value_or(aten::default_dtype));
};
inline constexpr auto integers_of_size_from = [](graph<7> g, number low, number high, size_list size,
                                                 optional_dtype type) {
    return integers(g, size, low, high, type.value_or(aten::default_dtype));
};
inline constexpr auto integers_like = [](graph<7> g, value self, number high, optional_dtype type) {
    return integers(g, self, 0, high, type.value_or(self.dtype()));
};
inline constexpr auto integers_like_below = [](graph<7> g, value self, value high, optional_dtype type) -> value {
    if (high.rank() != 0) return g.unsupported("a limit with dimensions");
    return integers(g, self, 0, number(g.cast(high, dtype::int64)), type.value_or(self.dtype()));
};
inline constexpr auto integers_like_from = [](graph<7> g, value self, number low, number high, optional_dtype type) {
    return integers(g, self, low, high, type.value_or(self.dtype()));
};

/// The first integer beyond those that a dtype represents without a gap.
inline std::int64_t first_beyond(dtype t) {
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
inline constexpr auto any_integers = symbolic<"aten::random(self)">(
    [](graph<7> g, value self) { return integers(g, self, 0, first_beyond(self.dtype()), self.dtype()); });
inline constexpr auto integers_to = symbolic<"aten::random.to(self, to)">(
    [](graph<7> g, value self, std::int64_t to) { return integers(g, self, 0, to, self.dtype()); });
inline constexpr auto integers_from = symbolic<"aten::random.from(self, from, to)">(
    [](graph<7> g, value self, std::int64_t from, std::optional<std::int64_t> to) {
        return integers(g, self, from, to.value_or(first_beyond(self.dtype())), self.dtype());
    });

/// The order of random fractions.
inline constexpr auto permutation = [](graph<11> g, sym_int n, optional_dtype type) {
    value const u = draw(g, size_list(&n, 1), dtype::float64);
    auto const [sorted, order] = g.op<"TopK">(u, as_list(g, n), attr::largest_i(0), outputs<2>);
    return g.cast(order, type.value_or(dtype::int64));
};

/// With replacement: how many cumulated weights, but for the last one, a random part of their sum reaches.
inline value draw_categories(graph<11> g, value weights, sym_int count) {
    safe_vector<sym_int> sizes = g.sizes(weights);
    sym_int const last = sizes.back() - 1;
    sizes.back() = count;
    value const sums = g.op<"CumSum">(weights, g.scalar(-1, dtype::int64));
    value const total = g.op<"Gather">(sums, as_list(g, last), attr::axis_i(-1));
    value const at = g.op<"Mul">(draw(g, size_list(sizes), weights.dtype()), total);
    value const steps = unsqueeze(g, slice(g, sums, weights.rank() - 1, 0, last), -2);
    value const reached = is_at_most(g, steps, unsqueeze(g, at, -1));
    return reduce_sum(g, g.cast(reached, dtype::int64), safe_vector<std::int64_t>{-1}, false);
}
/// Without replacement: the largest weights divided by exponential numbers, which are negative here.
inline value draw_distinct_categories(graph<11> g, value weights, sym_int count) {
    value const times = log_of_rest(g, draw(g, weights, weights.dtype()));
    value const keys = g.op<"Div">(weights, min_of(g, times, g.scalar(-0x1p-126, times.dtype())));
    return std::get<1>(g.op<"TopK">(keys, as_list(g, count), attr::largest_i(0), outputs<2>));
}
inline constexpr auto multinomial = symbolic<"aten::multinomial(self, num_samples, replacement)">(
    [](graph<11> g, value self, sym_int count, bool replacement) {
        if (self.rank() == 0) throw unsupported_error("the weights are a 0-d tensor");
        value const weights = g.cast(self, drawn_type(self.dtype()));
        return replacement ? draw_categories(g, weights, count) : draw_distinct_categories(g, weights, count);
    });

/// Dropped elements become the value of selu at -infinity; mean and deviation are preserved.
template <bool Channels>
inline constexpr auto alpha_dropout = [](graph<7> g, value x, double p, bool train) -> value {
    if (keeps_all(x, p, train)) return x;
    if (exactly_equal(p, 1)) return g.op<"Mul">(x, 0);
    constexpr double alpha = 1.7580993408473766; // of selu: scale * alpha
    double const a = 1 / std::sqrt((alpha * alpha * p + 1) * (1 - p));
    value const stays = g.cast(kept<Channels>(g, x, p), x.dtype());
    value const shift = g.op<"Add">(g.op<"Mul">(g.op<"Sub">(stays, 1), alpha * a), alpha * a * p);
    return g.op<"Add">(g.op<"Mul">(x, g.op<"Mul">(stays, a)), shift);
};

inline constexpr auto complex_dropout = [](graph<7> g, complex_value z, double p, bool train) -> complex_value {
    if (train && !exactly_equal(p, 0)) return g.unsupported("dropout of complex numbers in training");
    return z;
};

/// train=None means training, as in ATen's CPU kernel.
inline constexpr auto native_dropout = symbolic<"aten::native_dropout(input, p, train)">(
    [](graph<7> g, value x, double p, std::optional<bool> train) -> std::tuple<value, value> {
        if (is_empty(x)) return {x, x}; // for empty input, ATen's mask does not have dtype bool
        bool const training = train.value_or(true);
        if (keeps_all(x, p, training)) return {x, filled_like(g, x, true, dtype::bool_)};
        if (exactly_equal(p, 1)) return {g.op<"Mul">(x, 0), filled_like(g, x, false, dtype::bool_)};
        value const mask = kept<false>(g, x, p);
        return {dropped(g, x, mask, p), mask};
    });

/// grad * mask * scale, of any dtypes.
inline constexpr auto native_dropout_backward = symbolic<"aten::native_dropout_backward(grad_output, mask, scale)">(
    [](graph<7> g, value grad, value mask, double scale) {
        return multiply(g, multiply(g, grad, mask), wrapped_number(g, scale));
    });

} // namespace detail

inline constexpr auto random = table(
    symbolic<"aten::rand(size, dtype)">(detail::uniform_of_size),
    symbolic<"aten::rand.generator(size, dtype)">(detail::uniform_of_size),
    symbolic<"aten::rand_like(self, dtype)">(detail::uniform_like),
    symbolic<"aten::rand_like.generator(self, dtype)">(detail::uniform_like), detail::uniform_between,
    symbolic<"aten::randn(size, dtype)">(detail::normal_of_size),
    symbolic<"aten::randn.generator(size, dtype)">(detail::normal_of_size),
    symbolic<"aten::randn_like(self, dtype)">(detail::normal_like),
    symbolic<"aten::randn_like.generator(self, dtype)">(detail::normal_like), detail::normal_with,
    detail::normal_with_of_size, detail::normal_tensors, detail::normal_mean, detail::normal_deviation,
    detail::log_normal, detail::exponential, detail::cauchy, detail::geometric, detail::bernoulli, detail::bernoulli_p,
    detail::bernoulli_tensor, symbolic<"aten::randint(high, size, dtype)">(detail::integers_of_size),
    symbolic<"aten::randint.generator(high, size, dtype)">(detail::integers_of_size),
    symbolic<"aten::randint.low(low, high, size, dtype)">(detail::integers_of_size_from),
    symbolic<"aten::randint.low_generator(low, high, size, dtype)">(detail::integers_of_size_from),
    symbolic<"aten::randint_like(self, high, dtype)">(detail::integers_like),
    symbolic<"aten::randint_like.generator(self, high, dtype)">(detail::integers_like),
    symbolic<"aten::randint_like.low_dtype(self, low, high, dtype)">(detail::integers_like_from),
    symbolic<"aten::randint_like.low_generator_dtype(self, low, high, dtype)">(detail::integers_like_from),
    symbolic<"aten::randint_like.Tensor(self, high, dtype)">(detail::integers_like_below),
    symbolic<"aten::randint_like.Tensor_generator(self, high, dtype)">(detail::integers_like_below),
    detail::any_integers, detail::integers_to, detail::integers_from,
    symbolic<"aten::randperm(n, dtype)">(detail::permutation),
    symbolic<"aten::randperm.generator(n, dtype)">(detail::permutation), detail::multinomial,
    symbolic<"aten::dropout(input, p, train)">(detail::dropout<false>).for_complex(detail::complex_dropout),
    symbolic<"aten::feature_dropout(input, p, train)">(detail::dropout<true>).for_complex(detail::complex_dropout),
    symbolic<"aten::alpha_dropout(input, p, train)">(detail::alpha_dropout<false>).for_complex(detail::complex_dropout),
    symbolic<"aten::feature_alpha_dropout(input, p, train)">(detail::alpha_dropout<true>)
        .for_complex(detail::complex_dropout),
    detail::native_dropout, detail::native_dropout_backward);

} // namespace ATON_NAMESPACE::mappings
