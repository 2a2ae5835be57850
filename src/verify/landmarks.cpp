// SPDX-License-Identifier: MIT
// Collects the real numbers of a call, and writes numbers close to them into its tensors.
#include "landmarks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <aton/aten/function_schema.hpp>

#include "argument_values.hpp"
#include "sampling_profiles.hpp"

namespace ATON_NAMESPACE::verify {

using runtime::aten_argument;
using runtime::tensor;

namespace {

bool is_moderate(double v) {
    constexpr double least = 1e-3;
    constexpr double most = 1e3;
    return std::abs(v) >= least && std::abs(v) <= most; // not NaN
}

double near_landmark(random_source& random, double landmark) {
    constexpr double one_percent = 0.01;
    double const v = random.chance(0.75) ? landmark : -landmark;
    return random.chance(0.2) ? v : v * (1 + one_percent * (2 * random.fraction() - 1));
}

bool holds(dtype t, double v) {
    if (!is_integral(t)) return true;
    int const width = static_cast<int>(bits(t)) - (is_signed_integral(t) ? 1 : 0);
    return v < std::exp2(width) && v >= (is_signed_integral(t) ? -std::exp2(width) : 0);
}

} // namespace

std::vector<double> landmarks_of(std::string_view schema, std::vector<aten_argument> const& arguments) {
    std::vector<double> out;
    aten::schema_argument formal;
    for (aten::argument_cursor each{schema}; each.next(formal);) {
        if (!is_real(formal) || formal.type.list) continue;
        auto const given = std::ranges::find(arguments, formal.name, &aten_argument::name);
        aten_argument const a = given == arguments.end() ? default_of(formal) : *given;
        if (a.kind != aten::argument_kind::number || a.number.is_bool() || a.number.is_complex()) continue;
        if (auto const v = a.number.to<double>(); is_moderate(v)) out.push_back(v);
    }
    std::size_t const count = out.size();
    for (std::size_t i = 0; i != count; ++i)
        for (std::size_t k = 0; k != count; ++k) {
            if (i < k && is_moderate(out[i] * out[k])) out.push_back(out[i] * out[k]);
            if (i != k && is_moderate(out[i] / out[k])) out.push_back(out[i] / out[k]);
        }
    return out;
}

tensor with_landmarks(random_source& random, tensor const& x, std::vector<double> const& landmarks,
                      element_range const& range) {
    bool const is_number = is_floating(x.dtype()) || is_integral(x.dtype());
    if (landmarks.empty() || !is_number || !aton::tensor::can_hold(x.dtype())) return x;
    aton::tensor const was = x.contiguous().to_constant();
    aton::tensor out{was.type, was.sizes, {}};
    constexpr double share = 0.3;
    for (std::int64_t i = 0; i != x.count(); ++i) {
        scalar const before = was.at(static_cast<std::size_t>(i));
        double v = random.chance(share) ? near_landmark(random, one_of(random, landmarks)) : std::nan("");
        if (is_integral(x.dtype()) || range.whole) v = std::round(v);
        bool const is_allowed = !std::isnan(v) && (!range.bounded || (v >= range.min && v <= range.max));
        if (!is_allowed || !holds(x.dtype(), v)) out.append(before);
        else if (is_integral(x.dtype())) out.append(static_cast<long long>(v));
        else out.append(v);
    }
    return tensor::from_constant(out);
}

} // namespace ATON_NAMESPACE::verify
