// SPDX-License-Identifier: MIT
// ATen operators that programs contain taken apart: by `run_decompositions()`, or by a model that writes the formula.
// The calls become a call of the operator again, which its mapping converts to one or a few nodes.
// Public header.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <aton/dsl/call_aten.hpp>
#include <aton/fusions/detail/common.hpp>
#include <aton/mappings/built_in.hpp>

namespace ATON_NAMESPACE::fusions {

namespace detail {

/// Calls the built-in mapping of an overload.
template <fixed_string Overload, class Graph, class... Args>
value call_built_in(Graph g, Args const&... args) {
    return call_aten<Overload>(mappings::built_in_tables(), g, args...);
}

/// Whether decompositions compute in this dtype: half precision they cast to float32.
inline bool is_real(value x) { return x.dtype() == dtype::float32 || x.dtype() == dtype::float64; }

inline bool is_finite(scalar const& n) { return !n.is_complex() && std::isfinite(n.to<double>()); }

/// Whether exp(x) does not overflow where softplus is not x.
inline bool is_softplus(value x, scalar const& beta, scalar const& threshold) {
    return is_real(x) && is_finite(beta) && beta.to<bool>() && is_finite(threshold) && threshold.to<double>() <= 80;
}

/// A constant without dimensions, as decompositions make it.
inline constexpr auto constant = [](auto p, auto number) {
    return p.either(p.template call<"aten::scalar_tensor">(number, arg<"dtype">(p.anything())),
                    p.template call<"aten::full">(p.ints({}), number, arg<"dtype">(p.anything())));
};

/// min(max(x, 0), 6), as relu6, hardtanh, and one or two clamps.
inline constexpr auto clipped_to_six = [](auto p, auto x) {
    return p.either(p.template call<"aten::clamp">(p.template call<"aten::clamp">(x, 0), absent, 6),
                    p.template call<"aten::clamp">(x, 0, 6),
                    p.template call<"aten::hardtanh">(x, 0, 6),
                    p.template call<"aten::relu6">(x));
};

/// Whether these are the bounds of logit: eps and 1 - eps, or -1 and 2 without an eps, between which 0 and 1 lie.
inline bool is_logit(scalar const& low, scalar const& high) {
    double const eps = low.to<double>();
    return (eps >= 0 || exactly_equal(eps, -1)) && exactly_equal(high.to<double>(), 1 - eps);
}

/// x > 0 ? x : otherwise
inline constexpr auto positive_or = [](auto p, auto x, auto otherwise) {
    return p.template call<"aten::where.self">(p.template call<"aten::gt.Scalar">(x, 0), x, otherwise);
};

/// What logsumexp subtracts: the maxima, or 0 where they are infinite.
inline constexpr auto largest_or_zero = [](auto p, auto x, capture<integers> axes) {
    auto const largest = p.template call<"aten::amax">(x, axes, true);
    auto const is_infinite = p.template call<"aten::eq.Scalar">(p.template call<"aten::abs">(largest),
                                                                std::numeric_limits<double>::infinity());
    return p.template call<"aten::where.self">(is_infinite, constant(p, 0), largest);
};
inline constexpr auto sum_of_exponentials = [](auto p, auto x, auto shift, capture<integers> axes, bool keepdim) {
    auto const exponentials = p.template call<"aten::exp">(p.template call<"aten::sub.Tensor">(x, shift));
    return p.template call<"aten::sum.dim_IntList">(exponentials, axes, keepdim);
};

/// (x - mean) / sqrt(variance + epsilon), by the biased variance over the last axis.
inline constexpr auto divided_by_deviation = [](auto p, auto x, auto mean, auto variance, capture<scalar> epsilon) {
    auto const centered = p.template call<"aten::sub.Tensor">(x, mean);
    auto const sum = p.template call<"aten::add.Tensor">(variance, epsilon);
    return p.either(p.template call<"aten::div.Tensor">(centered, p.template call<"aten::sqrt">(sum)),
                    p.template call<"aten::mul.Tensor">(centered, p.template call<"aten::rsqrt">(sum)));
};
inline constexpr auto normalized = [](auto p, auto x, capture<integers> axes, capture<scalar> epsilon) {
    auto const mean = p.template call<"aten::mean.dim">(x, axes, true);
    auto const variance =
        p.either(p.template call<"aten::var.correction">(x, axes, arg<"correction">(0), arg<"keepdim">(true)),
                 p.template call<"aten::var.dim">(x, axes, false, true));
    auto const [variance_too, mean_too] =
        p.template call<"aten::var_mean.correction">(x, axes, arg<"correction">(0), arg<"keepdim">(true));
    return p.either(divided_by_deviation(p, x, mean, variance, epsilon),
                    divided_by_deviation(p, x, mean_too, variance_too, epsilon));
};

/// The statistics of each channel of each sample: those of batch normalization, if samples and channels are one axis.
inline constexpr auto normalized_channels = [](auto p, auto x, auto scale, auto bias, auto to, auto epsilon,
                                               auto back) {
    auto const joined = p.template call<"aten::view">(x, to);
    auto const [y, mean, inverse] =
        p.template call<"aten::_native_batch_norm_legit.no_stats">(joined, scale, bias, true, p.anything(), epsilon);
    return p.template call<"aten::view">(y, back);
};
inline bool joins_channels(value x, integers const& to, integers const& back) {
    if (!is_real(x) || !x.has_rank() || x.rank() < 3 || !x.shape().is_static()) return false;
    auto const& dims = x.shape().dims();
    integers joined{1, dims[0].size() * dims[1].size()};
    integers separate{dims[0].size(), dims[1].size()};
    for (std::size_t i = 2; i != dims.size(); ++i) {
        joined.push_back(dims[i].size());
        separate.push_back(dims[i].size());
    }
    return to == joined && back == separate;
}

inline bool is_normalized_by(value x, integers const& axes, scalar const& epsilon) {
    return is_real(x) && is_last_axis(x, axes) && x.size(-1).is_static() && x.size(-1).size() > 1 &&
           is_finite(epsilon) && epsilon.to<double>() > 0;
}

template <class Graph, class... Affine>
value layer_norm(Graph g, value x, scalar const& epsilon, Affine const&... affine) {
    integers const shape{x.size(-1).size()};
    return call_built_in<"aten::layer_norm">(g, x, shape, affine..., arg<"eps">(epsilon.to<double>()));
}

} // namespace detail

inline constexpr auto recomposition = rewrites(
    rewrite<"recompose.softplus">(
        [](pattern<13> p, capture<value> x, capture<scalar> threshold) {
            return p.call<"aten::where.self">(
                p.call<"aten::gt.Scalar">(x, threshold), x, p.call<"aten::log1p">(p.call<"aten::exp">(x)));
        },
        [](value x, scalar const& threshold) { return detail::is_softplus(x, 1, threshold); },
        [](graph<13> g, value x, scalar const& threshold) {
            return detail::call_built_in<"aten::softplus">(g, x, 1, threshold);
        }),
    rewrite<"recompose.softplus_beta">(
        [](pattern<13> p, capture<value> x, capture<scalar> beta, capture<scalar> threshold) {
            auto const scaled = p.call<"aten::mul.Tensor">(x, beta);
            auto const soft = p.call<"aten::log1p">(p.call<"aten::exp">(scaled));
            return p.call<"aten::where.self">(
                p.call<"aten::gt.Scalar">(scaled, threshold), x, p.call<"aten::div.Tensor">(soft, beta));
        },
        [](value x, scalar const& beta, scalar const& threshold) { return detail::is_softplus(x, beta, threshold); },
        [](graph<13> g, value x, scalar const& beta, scalar const& threshold) {
            return detail::call_built_in<"aten::softplus">(g, x, beta, threshold);
        }),
    rewrite<"recompose.log_sigmoid">(
        [](pattern<13> p, capture<value> x) {
            auto const small = p.call<"aten::exp">(p.call<"aten::neg">(p.call<"aten::abs">(x)));
            return p.call<"aten::sub.Tensor">(p.call<"aten::minimum">(detail::constant(p, 0), x),
                                              p.call<"aten::log1p">(small));
        },
        [](value x) { return detail::is_real(x); },
        [](graph<13> g, value x) { return detail::call_built_in<"aten::log_sigmoid">(g, x); }),
    rewrite<"recompose.hardsigmoid">(
        [](pattern<13> p, capture<value> x) {
            return p.call<"aten::div.Tensor">(detail::clipped_to_six(p, p.call<"aten::add.Tensor">(x, 3)), 6);
        },
        [](graph<13> g, value x) { return detail::call_built_in<"aten::hardsigmoid">(g, x); }),
    rewrite<"recompose.hardswish">(
        [](pattern<13> p, capture<value> x) {
            auto const gate = detail::clipped_to_six(p, p.call<"aten::add.Tensor">(x, 3));
            return p.either(p.call<"aten::div.Tensor">(p.call<"aten::mul.Tensor">(x, gate), 6),
                            p.call<"aten::mul.Tensor">(x, p.call<"aten::div.Tensor">(gate, 6)));
        },
        [](graph<13> g, value x) { return detail::call_built_in<"aten::hardswish">(g, x); }),
    rewrite<"recompose.celu">(
        [](pattern<13> p, capture<value> x, capture<scalar> alpha) {
            auto const grown = p.call<"aten::expm1">(p.call<"aten::div.Tensor">(x, alpha));
            return detail::positive_or(p, x, p.call<"aten::mul.Tensor">(grown, alpha));
        },
        [](value x, scalar const& alpha) {
            return detail::is_real(x) && detail::is_finite(alpha) && alpha.to<double>() > 0;
        },
        [](graph<13> g, value x, scalar const& alpha) { return detail::call_built_in<"aten::celu">(g, x, alpha); }),
    rewrite<"recompose.elu">(
        [](pattern<13> p, capture<value> x) { return detail::positive_or(p, x, p.call<"aten::expm1">(x)); },
        [](graph<13> g, value x) { return detail::call_built_in<"aten::elu">(g, x); }),
    rewrite<"recompose.leaky_relu">(
        [](pattern<13> p, capture<value> x, capture<scalar> slope) {
            return detail::positive_or(p, x, p.call<"aten::mul.Tensor">(x, slope));
        },
        [](graph<13> g, value x, scalar const& slope) {
            return detail::call_built_in<"aten::leaky_relu">(g, x, slope);
        }),
    rewrite<"recompose.softshrink">(
        [](pattern<13> p, capture<value> x, capture<scalar> lambda) {
            auto const moved =
                p.call<"aten::sub.Tensor">(x, p.call<"aten::mul.Tensor">(p.call<"aten::sign">(x), lambda));
            return p.call<"aten::where.self">(
                p.call<"aten::gt.Scalar">(p.call<"aten::abs">(x), lambda), moved, p.call<"aten::mul.Tensor">(x, 0));
        },
        [](value x, scalar const& lambda) {
            return detail::is_real(x) && detail::is_finite(lambda) && lambda.to<double>() >= 0;
        },
        [](graph<13> g, value x, scalar const& lambda) {
            return detail::call_built_in<"aten::softshrink">(g, x, lambda);
        }),
    rewrite<"recompose.logsumexp">(
        [](pattern<13> p, capture<value> x, capture<detail::integers> axes) {
            auto const shift = detail::largest_or_zero(p, x, axes);
            return p.call<"aten::add.Tensor">(p.call<"aten::log">(detail::sum_of_exponentials(p, x, shift, axes, true)),
                                              shift);
        },
        [](value x, detail::integers const&) { return detail::is_real(x); },
        [](graph<13> g, value x, detail::integers const& axes) {
            return detail::call_built_in<"aten::logsumexp">(g, x, axes, true);
        }),
    rewrite<"recompose.logsumexp_squeezed">(
        [](pattern<13> p, capture<value> x, capture<detail::integers> axes) {
            auto const shift = detail::largest_or_zero(p, x, axes);
            return p.call<"aten::add.Tensor">(
                p.call<"aten::log">(detail::sum_of_exponentials(p, x, shift, axes, false)),
                p.call<"aten::squeeze.dims">(shift, axes));
        },
        [](value x, detail::integers const&) { return detail::is_real(x); },
        [](graph<13> g, value x, detail::integers const& axes) {
            return detail::call_built_in<"aten::logsumexp">(g, x, axes, false);
        }),
    rewrite<"recompose.nan_to_num">(
        [](pattern<13> p, capture<value> x, capture<double> nan, capture<double> largest, capture<double> lowest) {
            constexpr double infinity = std::numeric_limits<double>::infinity();
            auto const numbers = p.call<"aten::where.self">(p.call<"aten::isnan">(x), detail::constant(p, nan), x);
            auto const bounded = p.call<"aten::where.self">(
                p.call<"aten::eq.Scalar">(x, -infinity), detail::constant(p, lowest), numbers);
            return p.call<"aten::where.self">(
                p.call<"aten::eq.Scalar">(x, infinity), detail::constant(p, largest), bounded);
        },
        [](value x, double, double, double) { return x.dtype() == dtype::float32; },
        [](graph<13> g, value x, double nan, double largest, double lowest) {
            return detail::call_built_in<"aten::nan_to_num">(g, x, nan, largest, lowest);
        }),
    rewrite<"recompose.logit">(
        [](pattern<13> p, capture<value> x, capture<scalar> low, capture<scalar> high) {
            auto const below =
                p.call<"aten::where.self">(p.call<"aten::gt.Scalar">(x, high), detail::constant(p, high), x);
            auto const inside =
                p.call<"aten::where.self">(p.call<"aten::lt.Scalar">(x, low), detail::constant(p, low), below);
            auto const rest = p.either(p.call<"aten::sub.Tensor">(1, inside), p.call<"aten::rsub.Scalar">(inside, 1));
            return p.call<"aten::log">(p.call<"aten::div.Tensor">(inside, rest));
        },
        [](value x, scalar const& low, scalar const& high) {
            return detail::is_real(x) && detail::is_logit(low, high);
        },
        [](graph<13> g, value x, scalar const& low, scalar const&) {
            if (low.to<double>() < 0) return detail::call_built_in<"aten::logit">(g, x);
            return detail::call_built_in<"aten::logit">(g, x, low.to<double>());
        }),
    rewrite<"recompose.instance_norm">(
        [](pattern<13> p, capture<value> x, capture<detail::integers> to, capture<double> epsilon,
           capture<detail::integers> back) {
            return detail::normalized_channels(p, x, absent, absent, to, epsilon, back);
        },
        [](value x, detail::integers const& to, double, detail::integers const& back) {
            return detail::joins_channels(x, to, back);
        },
        [](graph<13> g, value x, detail::integers const&, double epsilon, detail::integers const&) {
            return detail::call_built_in<"aten::instance_norm">(
                g, x, absent, absent, absent, absent, true, 0, epsilon, false);
        }),
    rewrite<"recompose.instance_norm_affine">(
        [](pattern<13> p, capture<value> x, capture<value> scale, capture<value> bias, capture<detail::integers> copies,
           capture<detail::integers> to, capture<double> epsilon, capture<detail::integers> back) {
            return detail::normalized_channels(
                p, x, p.call<"aten::repeat">(scale, copies), p.call<"aten::repeat">(bias, copies), to, epsilon, back);
        },
        [](value x, value scale, value bias, detail::integers const& copies, detail::integers const& to, double,
           detail::integers const& back) {
            return detail::joins_channels(x, to, back) && copies == detail::integers{back[0]} &&
                   scale.dtype() == x.dtype() && bias.dtype() == x.dtype() && scale.rank() == 1 && bias.rank() == 1 &&
                   scale.size(0) == x.size(1) && bias.size(0) == x.size(1);
        },
        [](graph<13> g, value x, value scale, value bias, detail::integers const&, detail::integers const&,
           double epsilon, detail::integers const&) {
            return detail::call_built_in<"aten::instance_norm">(
                g, x, scale, bias, absent, absent, true, 0, epsilon, false);
        }),
    rewrite<"recompose.stft">(
        [](pattern<13> p, capture<value> x, capture<value> window, capture<std::int64_t> size,
           capture<std::int64_t> step, capture<std::int64_t> norm, capture<bool> half) {
            auto const frames = p.call<"aten::mul.Tensor">(p.call<"aten::unfold">(x, -1, size, step), window);
            auto const spectra = p.call<"aten::_fft_r2c">(frames, p.ints({2}), norm, half);
            return p.either(p.call<"aten::permute">(spectra, p.ints({0, 2, 1})),
                            p.call<"aten::transpose.int">(spectra, 1, 2));
        },
        [](value x, value window, std::int64_t size, std::int64_t, std::int64_t norm, bool) {
            return detail::is_real(x) && x.has_rank() && x.rank() == 2 && window.dtype() == x.dtype() &&
                   window.rank() == 1 && window.size(0) == dim(size) && (norm == 0 || norm == 1);
        },
        [](graph<13> g, value x, value window, std::int64_t size, std::int64_t step, std::int64_t norm, bool half) {
            return detail::call_built_in<"aten::stft">(g, x, size, step, size, window, norm == 1, half, true);
        }),
    rewrite<"recompose.layer_norm_affine">(
        [](pattern<13> p, capture<value> x, capture<value> scale, capture<value> bias, capture<detail::integers> axes,
           capture<scalar> epsilon) {
            auto const scaled = p.call<"aten::mul.Tensor">(detail::normalized(p, x, axes, epsilon), scale);
            return p.call<"aten::add.Tensor">(scaled, bias);
        },
        [](value x, value scale, value bias, detail::integers const& axes, scalar const& epsilon) {
            return detail::is_normalized_by(x, axes, epsilon) && scale.dtype() == x.dtype() &&
                   bias.dtype() == x.dtype() && detail::is_per_last_axis(x, scale) && detail::is_per_last_axis(x, bias);
        },
        [](graph<13> g, value x, value scale, value bias, detail::integers const&, scalar const& epsilon) {
            return detail::layer_norm(g, x, epsilon, scale, bias);
        }),
    rewrite<"recompose.layer_norm">([](pattern<13> p, capture<value> x, capture<detail::integers> axes,
                                       capture<scalar> epsilon) { return detail::normalized(p, x, axes, epsilon); },
                                    [](value x, detail::integers const& axes, scalar const& epsilon) {
                                        return detail::is_normalized_by(x, axes, epsilon);
                                    },
                                    [](graph<13> g, value x, detail::integers const&, scalar const& epsilon) {
                                        return detail::layer_norm(g, x, epsilon);
                                    }));

} // namespace ATON_NAMESPACE::fusions
