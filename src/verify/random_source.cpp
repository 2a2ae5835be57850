// SPDX-License-Identifier: MIT
// Random elements of tensors: ordinary ones, ties, and those where functions go wrong.
#include "random_source.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <aton/runtime/compute.hpp>

namespace aton::verify {

namespace {

using runtime::tensor;

double special_real(random_source& random, dtype t, bool moderate) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double const largest = t == dtype::float16 ? 65504.0 : t == dtype::float64 ? 1e300 : 3e38;
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
    return all[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(all.size()) - (moderate ? 3 : 1)))];
}

double real_element(random_source& random, dtype t, value_theme values, element_range const& range) {
    if (values == value_theme::special && !range.bounded && random.chance(0.4))
        return special_real(random, t, range.moderate);
    if (values == value_theme::wide && !range.bounded && !range.moderate)
        return (random.chance(0.5) ? 1 : -1) * std::exp2(17 * random.fraction() - 6);
    if ((values == value_theme::wide || values == value_theme::special) && range.bounded && random.chance(0.4)) {
        double const off = (range.most - range.least) * std::exp2(-50 * random.fraction()); // close to a bound
        return random.chance(0.5) ? range.least + off : range.most - off;
    }
    double const v = range.least + (range.most - range.least) * random.fraction();
    if (values != value_theme::ties) return v;
    double const step = std::round(v * 2) / 2; // halves
    return std::clamp(step, range.least, range.most);
}

std::int64_t integer_element(random_source& random, dtype t, value_theme values, element_range const& range) {
    bool const is_signed = is_signed_integral(t);
    auto least = static_cast<std::int64_t>(std::ceil(range.least));
    auto most = static_cast<std::int64_t>(std::floor(range.most));
    if (!range.bounded) {
        least = is_signed ? -9 : 0;
        most = 9;
        if (values == value_theme::ties) most = is_signed ? 1 : 2, least = is_signed ? -1 : 0;
        auto const width = static_cast<unsigned>(bits(t)) - (is_signed ? 1U : 0U);
        std::int64_t const top =
            width >= 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << width) - 1;
        if (values == value_theme::wide && !range.moderate) {
            most = std::min<std::int64_t>(top, 3000);
            least = is_signed ? -most : 0;
        }
        if (values == value_theme::special && !range.moderate && random.chance(0.3))
            return random.chance(0.5) ? top : is_signed ? -top - 1 : 0;
    }
    return random.integer(is_signed ? least : std::max<std::int64_t>(0, least), most);
}

scalar element(random_source& random, dtype t, value_theme values, element_range const& range) {
    if (t == dtype::bool_) return random.chance(0.5);
    if (is_complex(t)) {
        double const real = real_element(random, t, values, range);
        return scalar::complex(real, real_element(random, t, values, range));
    }
    if (is_floating(t)) return real_element(random, t, values, range);
    return static_cast<long long>(integer_element(random, t, values, range));
}

} // namespace

tensor random_tensor(random_source& random, dtype t, runtime::sizes const& of, value_theme values,
                     element_range const& range) {
    std::int64_t const count = runtime::count_of(of);
    aton::tensor out{t, of, {}};
    if (t == dtype::bool_ && values == value_theme::special && random.chance(0.4)) { // masks that hide all
        for (std::int64_t i = 0; i != count; ++i) out.append(scalar(false));
        return tensor::from_constant(out);
    }
    if (aton::tensor::can_hold(t)) {
        for (std::int64_t i = 0; i != count; ++i) out.append(element(random, t, values, range));
        return tensor::from_constant(out);
    }
    out.type = is_floating(t) ? dtype::float32 : dtype::int32; // float8, 4-bit integers: by a cast
    for (std::int64_t i = 0; i != count; ++i) out.append(element(random, out.type, values, range));
    return runtime::cast(tensor::from_constant(out), t);
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

} // namespace aton::verify
