// SPDX-License-Identifier: MIT
// Comparison beyond the tolerance, where the conditioning of the call bounds the error.
#include "expectation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <aton/aten/mutation.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/verify/check.hpp>
#include <aton/verify/translation.hpp>

#include "rounding.hpp"

namespace ATON_NAMESPACE::verify {

using runtime::value;

namespace {

std::int64_t count_of(sample const& s) {
    std::int64_t n = 0;
    for (runtime::aten_argument const& a : s.arguments) {
        if (a.tensor) n += a.tensor.count();
        for (runtime::tensor const& t : a.tensors)
            if (t) n += t.count();
    }
    return n;
}

std::int64_t count_of(value const& v) {
    if (v.is_tensor()) return v.one().count();
    std::int64_t n = 0;
    if (v.is_sequence())
        for (runtime::tensor const& t : v.many()) n += t.count();
    return n;
}

bool has_numbers(runtime::tensor const& x) {
    if (!x || x.count() == 0) return false;
    if (!is_floating(x.dtype()) || !aton::tensor::can_hold(x.dtype())) return true;
    aton::tensor const all = runtime::to_host(x).to_constant();
    for (std::int64_t i = 0; i != x.count(); ++i)
        if (!std::isnan(all.at(static_cast<std::size_t>(i)).to<double>())) return true;
    return false;
}

/// The elements of a floating or complex tensor, in which complex elements are two each; undefined for others.
aton::tensor floats_of(runtime::tensor const& given) {
    if (!given || !aton::tensor::can_hold(given.dtype())) return {};
    if (!is_floating(given.dtype()) && !is_complex(given.dtype())) return {};
    return in_reals(runtime::to_host(given).contiguous()).to_constant();
}

/// Whether any element is such a number.
template <class Predicate>
bool has_any(runtime::tensor const& given, Predicate const& is) {
    aton::tensor const all = floats_of(given);
    if (all.type == dtype::undefined) return false;
    for (std::size_t i = 0; i != static_cast<std::size_t>(all.element_count()); ++i)
        if (is(all.at(i).to<double>())) return true;
    return false;
}

template <class Visit>
void for_each_tensor(sample const& s, std::vector<value> const& results, Visit const& visit) {
    for (runtime::aten_argument const& a : s.arguments) {
        visit(a.tensor);
        for (runtime::tensor const& t : a.tensors) visit(t);
    }
    for (value const& v : results) {
        visit(v.one());
        for (runtime::tensor const& t : v.many()) visit(t);
    }
}

bool has_infinity_or_nan(value const& v) {
    auto const in = [](runtime::tensor const& t) { return has_any(t, [](double n) { return !std::isfinite(n); }); };
    return v.is_sequence() ? std::ranges::any_of(v.many(), in) : in(v.one());
}

/// Whether rounding decides if a result of this dtype that is `exact` without it is infinite.
bool may_be_infinite(double exact, dtype t) {
    double const largest = largest_number(t);
    return std::abs(std::abs(exact) / largest - 1) <= roundings_per_element * unit_roundoff(t);
}

/// What an element of a result should be, if `expected` is what the reference computed: see `expectation::exact_of`.
double right_number(double got, double expected, double exact, dtype t) {
    if (may_be_infinite(exact, t)) {
        double const infinity = std::numeric_limits<double>::infinity();
        return std::copysign(std::isinf(got) ? infinity : largest_number(t), exact);
    }
    return std::isfinite(expected) ? expected : exact;
}

/// `expected`, with the number that is right according to `exact` wherever `got` or `expected` is NaN or infinite and they differ; undefined
/// if that is nowhere.
runtime::tensor without_overflow(runtime::tensor const& got, runtime::tensor const& expected,
                                 runtime::tensor const& exact) {
    if (!got || !expected || !exact || got.dtype() != expected.dtype() || got.sizes() != expected.sizes()) return {};
    aton::tensor const x = floats_of(got);
    aton::tensor const y = floats_of(expected);
    aton::tensor const z = floats_of(exact);
    bool replaced = false;
    aton::tensor out{y.type, y.sizes, {}};
    for (std::size_t i = 0, n = static_cast<std::size_t>(y.element_count()); i != n; ++i) {
        auto const number = y.at(i).to<double>();
        auto const other = x.at(i).to<double>();
        bool const same = number == other || (std::isnan(number) && std::isnan(other));
        if (same || (std::isfinite(number) && std::isfinite(other))) {
            out.append(y.at(i));
            continue;
        }
        out.append(right_number(other, number, z.at(i).to<double>(), y.type));
        replaced = true;
    }
    if (!replaced) return {};
    runtime::tensor const all = runtime::tensor::from_constant(out);
    return is_complex(expected.dtype()) ? all.from_pairs() : all;
}

/// The same for values. No value if nothing is replaced.
std::optional<value> without_overflow(value const& got, value const& expected, value const& exact) {
    if (got.is_sequence() != expected.is_sequence() || exact.is_sequence() != expected.is_sequence()) return {};
    if (!got.is_sequence()) {
        runtime::tensor out = without_overflow(got.one(), expected.one(), exact.one());
        return out ? std::optional(value(std::move(out))) : std::nullopt;
    }
    std::vector<runtime::tensor> all = expected.many();
    if (got.many().size() != all.size() || exact.many().size() != all.size()) return {};
    bool replaced = false;
    for (std::size_t i = 0; i != all.size(); ++i)
        if (runtime::tensor t = without_overflow(got.many()[i], all[i], exact.many()[i])) {
            all[i] = std::move(t);
            replaced = true;
        }
    return replaced ? std::optional(value(std::move(all))) : std::nullopt;
}

} // namespace

element_bounds const& expectation::bounds_of_result(std::size_t i) {
    static element_bounds const none;
    if (!bounds) bounds = bounds_of();
    return i < bounds->size() ? (*bounds)[i] : none;
}

value const* expectation::exact_result(std::size_t i) {
    if (!exact) exact = exact_of ? exact_of() : std::vector<value>();
    return i < exact->size() ? &(*exact)[i] : nullptr;
}

void expectation::allow_omission(omitted_result const& o, bool holds) {
    auto const i = static_cast<std::size_t>(o.result);
    if (i >= results.size()) return;
    optional.resize(results.size());
    if (o.when == "no elements" ? count_of(results[i]) == 0 : holds) optional[i] = true;
}

std::string describe_difference(std::vector<value> const& got, expectation& expected,
                                std::function<void(double)> const& note_error) {
    if (got.size() != expected.results.size())
        return "the mapping has " + std::to_string(got.size()) + " results, the operator " +
               std::to_string(expected.results.size());
    for (std::size_t i = 0; i != got.size(); ++i) {
        std::string const name = i < expected.names.size() ? expected.names[i] : "result " + std::to_string(i);
        if (!got[i]) {
            if (!expected.results[i] || (i < expected.optional.size() && expected.optional[i])) continue;
            return name + " is absent or was never set, but the operator gives it";
        }
        value other = expected.results[i];
        comparison c = compare(got[i], other, expected.terms[i], expected.rounded);
        if (expected.values && c.what == difference::values && std::isinf(c.error) &&
            (has_infinity_or_nan(other) || has_infinity_or_nan(got[i])))
            if (value const* const exact = expected.exact_result(i); exact != nullptr)
                if (std::optional<value> finite = without_overflow(got[i], other, *exact); finite) {
                    other = std::move(*finite);
                    c = compare(got[i], other, expected.terms[i], expected.rounded);
                }
        if (expected.values && std::isfinite(c.error) && c.error > 1)
            c = compare(got[i], other, expected.terms[i], expected.rounded, expected.bounds_of_result(i));
        if (!expected.values && c.what == difference::values) continue;
        if (note_error) note_error(c.error);
        if (!c.same()) return name + ": " + to_string(c);
    }
    return {};
}

std::vector<std::string> names_of_results(std::string_view schema) {
    std::vector<std::string> out;
    aten::functional_cursor formals{schema};
    for (aten::functional_result each; formals.next(each);)
        out.push_back(each.written.empty() ? "result " + std::to_string(out.size())
                                           : "the new value of '" + std::string(each.written) + "'");
    return out;
}

bool has_numbers(std::vector<value> const& results) {
    auto const one = [](runtime::tensor const& x) { return has_numbers(x); };
    return std::any_of(results.begin(), results.end(), [&](value const& v) {
        return v.is_sequence() ? std::any_of(v.many().begin(), v.many().end(), one) : has_numbers(v.one());
    });
}

std::int64_t terms_of(sample const& s, value const& result) {
    std::set<std::int64_t> left;
    if (result.is_tensor()) left.insert(result.one().sizes().begin(), result.one().sizes().end());
    std::int64_t max = count_of(s) / std::max<std::int64_t>(1, count_of(result));
    for (runtime::aten_argument const& a : s.arguments) {
        std::int64_t terms = 1;
        for (std::size_t i = 0; a.tensor && i != a.tensor.rank(); ++i)
            if (!left.contains(a.tensor.size(i))) terms *= a.tensor.size(i);
        max = std::max(max, terms);
    }
    return std::max<std::int64_t>(1, max);
}

sampling_profile profile_of(sample const& s, std::vector<value> const& results) {
    sampling_profile out;
    out.type = dtype::undefined;
    auto const add = [&](runtime::tensor const& x) {
        if (!x) return;
        if (out.type == dtype::undefined) out.type = x.dtype();
        if (x.count() == 0) out.sizes = size_profile::empty;
        if (has_any(x, [](double n) { return !std::isfinite(n); })) out.values = value_profile::special;
    };
    for_each_tensor(s, results, add);
    return out;
}

bool has_nan(sample const& s, std::vector<value> const& results) {
    bool found = false;
    for_each_tensor(s, results, [&](runtime::tensor const& x) {
        found = found || has_any(x, [](double n) { return std::isnan(n); });
    });
    auto const is_nan = [](scalar const& n) { return n.is_floating() && std::isnan(n.to<double>()); };
    for (runtime::aten_argument const& a : s.arguments) {
        found = found || (a.kind == aten::argument_kind::number && is_nan(a.number));
        for (scalar const& n : a.numbers) found = found || is_nan(n);
    }
    return found;
}

} // namespace ATON_NAMESPACE::verify
