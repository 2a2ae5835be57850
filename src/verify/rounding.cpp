// SPDX-License-Identifier: MIT
// Estimates the conditioning of a call by finite differences in float64.
#include "rounding.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include <aton/aten/function_schema.hpp>
#include <aton/core/error.hpp>
#include <aton/runtime/compute.hpp>

#include "random_source.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using kind = aten::argument_kind;
using runtime::tensor;
using runtime::value;

constexpr int probes = 8; ///< random directions: all of them miss with a probability below 1e-8

/// The relative size of perturbations: it leaves more than enough digits of float64, of which calls in float64 itself, whose problems may be
/// as ill-conditioned as it can solve, need few.
double step_for(dtype narrowest) { return unit_roundoff(narrowest) < 0x1p-50 ? 0x1p-42 : 0x1p-30; }

dtype widened(dtype t) {
    if (is_complex(t)) return dtype::complex128;
    return is_floating(t) && aton::tensor::can_hold(t) ? dtype::float64 : t;
}

bool has_tensor(sample const& s, bool (*is)(dtype)) {
    return std::ranges::any_of(s.arguments, [&](runtime::aten_argument const& a) {
        auto const matches = [&](tensor const& t) { return t && is(t.dtype()); };
        return matches(a.tensor) || std::ranges::any_of(a.tensors, matches);
    });
}

/// The same call in float64; `integers`: integer tensors are widened as well.
sample widened(sample s, std::string_view schema, bool integers) {
    dtype const widest = has_tensor(s, is_complex) ? dtype::complex128 : dtype::float64;
    auto const widen = [integers](tensor& t) {
        if (!t) return;
        dtype const to = integers && is_integral(t.dtype()) ? dtype::float64 : widened(t.dtype());
        if (to != t.dtype()) t = runtime::cast(t, to);
    };
    aten::schema_argument formal;
    for (aten::argument_cursor each{schema}; each.next(formal);) {
        bool const given = std::ranges::any_of(s.arguments, [&](runtime::aten_argument const& a) {
            return a.name == formal.name && a.kind != kind::none;
        });
        if (given || formal.name != "dtype" || formal.type.base != aten::base_type::scalar_type) continue;
        std::erase_if(s.arguments, [](runtime::aten_argument const& a) { return a.name == "dtype"; });
        s.arguments.push_back(runtime::aten_argument::of_type(widest).named("dtype"));
    }
    for (runtime::aten_argument& a : s.arguments) {
        widen(a.tensor);
        for (tensor& t : a.tensors) widen(t);
        if (a.kind == kind::type) a.type = widened(a.type);
    }
    return s;
}

/// The narrowest floating dtype of the arguments and results.
dtype narrowest(sample const& s, std::vector<value> const& results) {
    dtype out = dtype::undefined;
    auto const add = [&](tensor const& t) {
        if (t) out = narrower(out, t.dtype());
    };
    for (runtime::aten_argument const& a : s.arguments) {
        add(a.tensor);
        for (tensor const& t : a.tensors) add(t);
    }
    for (value const& v : results) {
        if (v.is_tensor()) add(v.one());
        if (v.is_sequence())
            for (tensor const& t : v.many()) add(t);
    }
    return out;
}

/// The elements of each floating tensor of a result; complex elements are two each.
std::vector<std::vector<double>> elements_of(value const& v) {
    std::vector<std::vector<double>> out;
    auto const add = [&](tensor const& x) {
        std::vector<double>& all = out.emplace_back();
        if (!x || (!is_complex(x.dtype()) && widened(x.dtype()) != dtype::float64)) return;
        tensor host = runtime::contiguous(runtime::to_host(x));
        if (is_complex(host.dtype())) host = host.as_pairs();
        aton::tensor const numbers = host.to_constant();
        for (std::int64_t i = 0; i != host.count(); ++i)
            all.push_back(numbers.at(static_cast<std::size_t>(i)).to<double>());
    };
    if (v.is_sequence())
        for (tensor const& t : v.many()) add(t);
    else if (v.is_tensor()) add(v.one());
    return out;
}

using elements = std::vector<std::vector<std::vector<double>>>; ///< of each tensor of each result

elements elements_of(std::vector<value> const& results) {
    elements out;
    for (value const& v : results) out.push_back(elements_of(v));
    return out;
}

std::optional<std::vector<value>> results_of(reference const& call, sample const& s) {
    try {
        return call(s).results;
    } catch (error const&) {
        return {};
    }
}

std::optional<elements> run(reference const& call, sample const& s) {
    std::optional<std::vector<value>> const results = results_of(call, s);
    return results ? std::optional(elements_of(*results)) : std::nullopt;
}

/// Perturbs every float of the call by a relative error of up to `by`, in directions that depend on the seed. Numbers without a fraction
/// stay: exponents, orders, factors of 1.
sample perturbed(sample s, std::uint64_t seed, double by) {
    random_source random(seed);
    auto const off = [&](double x) { return x * (1 + by * (2 * random.fraction() - 1)); };
    auto const number = [&](scalar& n) {
        if (!n.is_floating()) return;
        double const x = off(n.to<double>());
        if (std::isfinite(x) && n.to<double>() != std::round(n.to<double>())) n = x;
    };
    auto const move = [&](tensor& t) {
        if (!t || (t.dtype() != dtype::float64 && t.dtype() != dtype::complex128)) return;
        bool const pairs = is_complex(t.dtype());
        aton::tensor const was = runtime::contiguous(runtime::to_host(t)).to_constant();
        aton::tensor out{was.type, was.sizes, {}};
        for (std::int64_t i = 0; i != t.count(); ++i) {
            scalar const x = was.at(static_cast<std::size_t>(i));
            double const real = off(x.to<double>());
            if (pairs) out.append(scalar::complex(real, off(x.imaginary())));
            else out.append(real);
        }
        t = runtime::to_device(tensor::from_constant(out), t.where());
    };
    for (runtime::aten_argument& a : s.arguments) {
        number(a.number);
        for (scalar& n : a.numbers) number(n);
        move(a.tensor);
        for (tensor& t : a.tensors) move(t);
    }
    return s;
}

bool same_sizes(elements const& a, elements const& b) {
    return std::ranges::equal(a, b, [](auto const& x, auto const& y) {
        return std::ranges::equal(x, y, [](auto const& p, auto const& q) { return p.size() == q.size(); });
    });
}

elements zeros_like(elements all) {
    for (auto& result : all)
        for (auto& tensor : result) std::ranges::fill(tensor, 0.0);
    return all;
}

/// Calls `f` for each element with a function that accesses this element in anything with the sizes of `all`.
template <class F>
void for_each_element(elements const& all, F f) {
    for (std::size_t r = 0; r != all.size(); ++r)
        for (std::size_t t = 0; t != all[r].size(); ++t)
            for (std::size_t i = 0; i != all[r][t].size(); ++i)
                f([=](auto& of) -> decltype(auto) { return (of[r][t][i]); });
}

/// A call in float64 and its results, which have the sizes of the given ones.
struct exact_call {
    sample call;
    std::vector<value> results;
};
std::optional<exact_call> exact_call_of(reference const& call, sample const& s, std::string_view schema,
                                        elements const& given) {
    bool const has_floats = has_tensor(s, [](dtype t) { return !is_integral(t) && t != dtype::bool_; });
    for (bool const integers : {true, false}) {
        if (integers && has_floats) continue; // they are indices, or combined with floats
        exact_call out{widened(s, schema, integers), {}};
        std::optional<std::vector<value>> results = results_of(call, out.call);
        if (!results || !same_sizes(given, elements_of(*results))) continue;
        out.results = std::move(*results);
        return out;
    }
    return {};
}

/// The elements of the results of a call in float64 whose floats are perturbed; nothing if they have other sizes than before.
std::optional<elements> probe(reference const& call, exact_call const& exact, std::uint64_t seed, double by,
                              elements const& given) {
    std::optional<elements> out = run(call, perturbed(exact.call, seed, by));
    return out && same_sizes(*out, given) ? std::move(out) : std::nullopt;
}

} // namespace

std::vector<element_bounds> rounding_bounds(reference const& call, sample const& s, std::string_view schema,
                                            std::vector<value> const& results, bounded_call const& of) {
    elements const given = elements_of(results);
    std::optional<exact_call> const exact = exact_call_of(call, s, schema, given);
    if (!exact) return {};
    elements const exactly = elements_of(exact->results);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    dtype const type = narrowest(s, results);
    double const step = step_for(type);
    double const scale = roundings_per_element * unit_roundoff(type) / step;
    elements out = zeros_like(given);
    elements jumps = out; // the changes of probes in which the result is not smooth, by the same scale
    for (std::uint64_t seed = 1; seed <= probes; ++seed) {
        std::optional<elements> const far = probe(call, *exact, seed, step, given);
        std::optional<elements> const near = probe(call, *exact, seed, step / 2, given);
        if (!far || !near) continue;
        for_each_element(given, [&](auto at) {
            double const change = std::abs(at(*far) - at(exactly));
            double const half = std::abs(at(*near) - at(exactly));
            bool const is_linear = half >= 0.3 * change && half <= 0.7 * change; // not for NaN
            if (is_linear) at(out) = std::max(at(out), scale * change);
            else at(jumps) = std::max(at(jumps), std::isfinite(change + half) ? scale * (change + half) : infinity);
        });
    }
    for (std::uint64_t seed = 1; of.is_steep && seed <= probes; ++seed) {
        double const rounding = roundings_per_element * unit_roundoff(type);
        std::optional<elements> const rounded = probe(call, *exact, seed, rounding, given);
        if (!rounded) continue;
        for_each_element(given, [&](auto at) {
            double const change = std::abs(at(*rounded) - at(exactly));
            if (std::isfinite(change)) at(out) = std::max(at(out), change);
        });
    }
    if (!of.is_reference) return out;
    // If the result is smooth, add the rounding error of the reference itself: x * scale + shift of a normalized x may cancel. A direction
    // in which hardly anything changes shows the rounding of float64, not a jump.
    for_each_element(given, [&](auto at) {
        double const own = std::abs(at(given) - at(exactly));
        if (at(out) > 0 && at(jumps) <= at(out) / 16 && std::isfinite(own)) at(out) += own;
    });
    return out;
}

bool is_discontinuous(reference const& call, sample const& s, std::string_view schema,
                      std::vector<value> const& results) {
    elements const given = elements_of(results);
    std::optional<exact_call> const exact = exact_call_of(call, s, schema, given);
    if (!exact) return false;
    elements const exactly = elements_of(exact->results);
    constexpr double largest_change = 0x1p-10;
    bool out = false;
    for (std::uint64_t seed = 1; seed <= probes && !out; ++seed) {
        std::optional<elements> const near = probe(call, *exact, seed, step_for(dtype::float32), given);
        if (!near) continue;
        for_each_element(given, [&](auto at) {
            double const change = std::abs(at(*near) - at(exactly));
            out = out || change > largest_change * (1 + std::abs(at(exactly)));
        });
    }
    return out;
}

std::vector<value> in_float64(reference const& call, sample const& s, std::string_view schema,
                              std::vector<value> const& results) {
    std::optional<exact_call> exact = exact_call_of(call, s, schema, elements_of(results));
    return exact ? std::move(exact->results) : std::vector<value>();
}

} // namespace ATON_NAMESPACE::verify
