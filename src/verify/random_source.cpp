// SPDX-License-Identifier: MIT
// Random elements of tensors: ordinary values, ties, and special values.
#include "random_source.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

using runtime::tensor;

/// Properties that all elements of one tensor share.
struct element_style {
    double special = 0.4; ///< the share of special values in that profile
    bool nan = true;      ///< include NaN, of which one hides what a reduction computes from the other elements
    bool narrow = false;  ///< ties are in [-1, 1]
};

element_style random_style(random_source& random) {
    switch (random.integer(0, 3)) {
    case 0: return {0.1, true, true};
    case 1: return {0.4, false, true};
    case 2: return {0.2, false, false};
    default: return {};
    }
}

double special_real(random_source& random, dtype t, bool moderate, bool nan) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    // In float64, which nothing wider can check, a product with an extreme argument must not overflow in one order of terms only.
    double const largest = t == dtype::float16 ? 65504.0 : t == dtype::float64 ? 1e200 : 3e38;
    double const denormal = t == dtype::float16 ? 0x1p-20 : t == dtype::float64 ? 1e-310 : 1e-40;
    std::array const all = {std::numeric_limits<double>::quiet_NaN(),
                            infinity,
                            -infinity,
                            -0.0,
                            0.0,
                            denormal,
                            -denormal,
                            1.0,
                            -1.0,
                            20.5,
                            -100.0,
                            largest,
                            -largest};
    return all[static_cast<std::size_t>(
        random.integer(nan ? 0 : 1, static_cast<std::int64_t>(all.size()) - (moderate ? 3 : 1)))];
}

/// Every order of magnitude of a wide range is equally likely.
double of_any_magnitude(random_source& random, element_range const& range) {
    double const v = (random.chance(0.5) ? range.min : range.max) * std::exp2(-8 * random.fraction());
    return std::clamp(v, range.min, range.max);
}

double real_element(random_source& random, dtype t, value_profile values, element_range const& range,
                    element_style const& h) {
    if (range.uneven) return range.min + (range.max - range.min) * random.fraction();
    if (values == value_profile::special && !range.bounded && random.chance(h.special))
        return special_real(random, t, range.moderate, h.nan);
    if (values == value_profile::wide && !range.bounded && !range.moderate)
        return (random.chance(0.5) ? 1 : -1) * std::exp2(17 * random.fraction() - 6);
    if ((values == value_profile::wide || values == value_profile::special) && range.bounded && random.chance(0.4)) {
        double const off = (range.max - range.min) * std::exp2(-50 * random.fraction()); // close to a bound
        return random.chance(0.5) ? range.min + off : range.max - off;
    }
    if (values == value_profile::wide && range.bounded && random.chance(0.7)) return of_any_magnitude(random, range);
    double const v = range.min + (range.max - range.min) * random.fraction();
    if (values != value_profile::ties) return v;
    double const step = std::round((h.narrow && !range.bounded ? v / 4 : v) * 2) / 2; // halves
    return std::clamp(step, range.min, range.max);
}

std::int64_t integer_element(random_source& random, dtype t, value_profile values, element_range const& range) {
    bool const is_signed = is_signed_integral(t);
    auto min = static_cast<std::int64_t>(std::ceil(range.min));
    auto max = static_cast<std::int64_t>(std::floor(range.max));
    if (!range.bounded) {
        min = is_signed ? -9 : 0;
        max = 9;
        if (values == value_profile::ties) max = is_signed ? 1 : 2, min = is_signed ? -1 : 0;
        auto const width = static_cast<unsigned>(bits(t)) - (is_signed ? 1U : 0U);
        std::int64_t const top =
            width >= 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << width) - 1;
        if (values == value_profile::wide && !range.moderate) {
            max = std::min<std::int64_t>(top, 3000);
            min = is_signed ? -max : 0;
        }
        if (values == value_profile::special && !range.moderate && random.chance(0.3))
            return random.chance(0.5) ? top : is_signed ? -top - 1 : 0;
    }
    return random.integer(is_signed ? min : std::max<std::int64_t>(0, min), max);
}

/// Where a tensor with special elements has one that is not finite whatever the other draws; -1 if nowhere.
std::int64_t place_of_infinite(random_source& random, dtype t, value_profile values, element_range const& range,
                               element_style const& h, std::int64_t count) {
    bool const wanted = is_floating(t) && values == value_profile::special && !range.bounded && !range.uneven &&
                        (h.nan || range.infinite);
    return wanted && count != 0 ? random.integer(0, count - 1) : -1;
}

double infinite_real(random_source& random) {
    if (random.chance(0.6)) return std::numeric_limits<double>::quiet_NaN();
    return random.chance(0.5) ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

scalar element(random_source& random, dtype t, value_profile values, element_range const& range,
               element_style const& h) {
    if (t == dtype::bool_) return random.chance(0.5);
    if (is_complex(t)) {
        double const real = real_element(random, t, values, range, h);
        return scalar::complex(real, real_element(random, t, values, range, h));
    }
    if (is_floating(t)) {
        double const v = real_element(random, t, values, range, h);
        return range.whole ? std::clamp(std::round(v), std::ceil(range.min), std::floor(range.max)) : v;
    }
    return static_cast<long long>(integer_element(random, t, values, range));
}

} // namespace

double extreme_real(int i, dtype t) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr std::array<double, extreme_reals> all = {std::numeric_limits<double>::quiet_NaN(),
                                                       infinity,
                                                       -infinity,
                                                       1e308, // beyond float32, and 1e5 beyond float16
                                                       -1e308,
                                                       1e5,
                                                       -1e5,
                                                       1e-310,
                                                       0.0,
                                                       -0.0,
                                                       1.0,
                                                       -1.0};
    double const x = all.at(static_cast<std::size_t>(i));
    return t == dtype::float64 && std::isfinite(x) ? std::clamp(x, -1e100, 1e100) : x;
}

scalar extreme_number(random_source& random, dtype t, bool any) {
    constexpr std::array integers = {0LL, 1LL, -1LL, 300LL, -300LL, 70000LL, -70000LL, (1LL << 40) + 1, -(1LL << 40)};
    if (!any || !random.chance(is_floating(t) ? 0.2 : 0.6))
        return extreme_real(static_cast<int>(random.integer(0, extreme_reals - 1)), t);
    if (random.chance(0.15)) return random.chance(0.5);
    return one_of(random, integers);
}

tensor random_tensor(random_source& random, dtype t, runtime::sizes const& of, value_profile values,
                     element_range const& range) {
    std::int64_t const count = runtime::count_of(of);
    aton::tensor out{t, of, {}};
    if (t == dtype::bool_ && values == value_profile::special && random.chance(0.4)) { // masks that hide everything
        for (std::int64_t i = 0; i != count; ++i) out.append(scalar(false));
        return tensor::from_constant(out);
    }
    element_style const h = random_style(random);
    if (aton::tensor::can_hold(t)) {
        std::int64_t const infinite = place_of_infinite(random, t, values, range, h, count);
        for (std::int64_t i = 0; i != count; ++i)
            out.append(i == infinite ? infinite_real(random) : element(random, t, values, range, h));
        return tensor::from_constant(out);
    }
    out.type = is_floating(t) ? dtype::float32 : dtype::int32; // float8 and 4-bit integers are cast
    for (std::int64_t i = 0; i != count; ++i) out.append(element(random, out.type, values, range, h));
    return runtime::cast(tensor::from_constant(out), t);
}

tensor with_hiding_rows(random_source& random, tensor const& x) {
    if (x.rank() == 0 || x.count() == 0 || !aton::tensor::can_hold(x.dtype())) return x;
    bool const is_mask = x.dtype() == dtype::bool_;
    if (!is_mask && !is_floating(x.dtype())) return x;
    aton::tensor const was = x.to_constant();
    aton::tensor out{was.type, was.sizes, {}};
    bool hidden = false;
    for (std::int64_t i = 0; i != x.count(); ++i) {
        if (i % x.sizes().back() == 0) hidden = random.chance(0.3);
        if (!hidden && !random.chance(is_mask ? 0 : 0.3)) out.append(was.at(static_cast<std::size_t>(i)));
        else if (is_mask) out.append(scalar(false));
        else out.append(-std::numeric_limits<double>::infinity());
    }
    return tensor::from_constant(out);
}

tensor perturbed(random_source& random, tensor const& x) {
    if (!is_floating(x.dtype()) || !aton::tensor::can_hold(x.dtype()) || random.chance(0.2)) return x;
    double const share = random.chance(0.5) ? 1 : 0.2;
    double const off = std::exp2(-10 * random.fraction());
    aton::tensor const was = x.to_constant();
    aton::tensor out{was.type, was.sizes, {}};
    for (std::int64_t i = 0; i != x.count(); ++i) {
        double const v = was.at(static_cast<std::size_t>(i)).to<double>();
        out.append(random.chance(share) ? v * (1 + off * (2 * random.fraction() - 1)) : v);
    }
    return tensor::from_constant(out);
}

tensor sorted_rows(tensor const& x) {
    if (x.rank() == 0 || x.count() == 0 || !aton::tensor::can_hold(x.dtype()) || is_complex(x.dtype())) return x;
    aton::tensor const was = x.to_constant();
    aton::tensor out{was.type, was.sizes, {}};
    std::vector<scalar> row;
    for (std::int64_t i = 0; i != x.count(); ++i) {
        scalar const v = was.at(static_cast<std::size_t>(i));
        row.push_back(std::isnan(v.to<double>()) ? scalar(0.0) : v);
        if ((i + 1) % x.sizes().back() != 0) continue;
        std::sort(row.begin(), row.end(), [](scalar const& a, scalar const& b) {
            return a.is_integral() && b.is_integral() ? a.to<std::int64_t>() < b.to<std::int64_t>()
                                                      : a.to<double>() < b.to<double>();
        });
        for (scalar const& each : row) out.append(each);
        row.clear();
    }
    return tensor::from_constant(out);
}

void unsort_rows(random_source& random, tensor& x, tensor& sorter) {
    if (x.rank() == 0 || x.count() == 0 || !aton::tensor::can_hold(x.dtype()) || sorter.sizes() != x.sizes()) return;
    aton::tensor const was = x.contiguous().to_constant();
    aton::tensor out{was.type, was.sizes, {}};
    aton::tensor undo{dtype::int64, was.sizes, {}};
    auto const length = static_cast<std::size_t>(x.sizes().back());
    for (std::size_t row = 0; row != static_cast<std::size_t>(x.count()); row += length) {
        std::vector<std::size_t> from(length); // where each element of the permuted row was
        for (std::size_t i = 0; i != length; ++i) from[i] = i;
        for (std::size_t i = length; i-- > 1;)
            std::swap(from[i], from[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(i)))]);
        std::vector<std::size_t> to(length);
        for (std::size_t i = 0; i != length; ++i) to[from[i]] = i;
        for (std::size_t const i : from) out.append(was.at(row + i));
        for (std::size_t const i : to) undo.append(static_cast<long long>(i));
    }
    x = tensor::from_constant(out);
    sorter = tensor::from_constant(undo);
}

tensor distinct_indices(random_source& random, tensor const& x, std::int64_t end) {
    if (x.count() > end) return x;
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i != end; ++i) all.push_back(i);
    aton::tensor out{dtype::int64, x.sizes(), {}};
    for (std::int64_t i = 0; i != x.count(); ++i) {
        auto const at = static_cast<std::size_t>(i);
        std::swap(all[at], all[static_cast<std::size_t>(random.integer(i, end - 1))]);
        out.append(static_cast<long long>(all[at]));
    }
    return tensor::from_constant(out);
}

tensor scattered(tensor const& x) {
    if (x.rank() == 0) return x;
    runtime::sizes larger;
    std::vector<std::size_t> reverse;
    for (std::size_t i = x.rank(); i-- != 0;) {
        larger.push_back(2 * x.size(i) + 1);
        reverse.push_back(i);
    }
    tensor view = tensor::empty(x.dtype(), larger).permuted(reverse);
    for (std::size_t i = 0; i != x.rank(); ++i)
        view = view.sliced(i, 2 * x.size(i) - (x.size(i) == 0 ? 0 : 1), x.size(i), -2);
    if (x.count() != 0) runtime::kernels_of({}).copy(x, view);
    return view;
}

} // namespace ATON_NAMESPACE::verify
