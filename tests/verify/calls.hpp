// SPDX-License-Identifier: MIT
// Helpers that build arguments of ATen calls for tests.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/runtime/aten_operator.hpp>
#include <aton/runtime/compute.hpp>

namespace aton::tests {

using runtime::tensor;

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

inline tensor of(dtype type, runtime::sizes const& sizes, std::vector<double> const& values) {
    aton::tensor t{type, sizes, {}};
    for (double const v : values) {
        if (is_integral(type)) t.append(static_cast<long long>(v));
        else t.append(v);
    }
    return tensor::from_constant(t);
}
inline tensor row_of(dtype type, std::vector<double> const& values) {
    return of(type, {static_cast<std::int64_t>(values.size())}, values);
}
inline tensor floats(std::vector<double> const& values) { return row_of(dtype::float32, values); }
inline tensor bools(bool value) { return runtime::cast(row_of(dtype::int64, {value ? 1.0 : 0.0}), dtype::bool_); }

inline runtime::aten_argument arg(std::string name, tensor t) {
    return runtime::aten_argument::of_tensor(std::move(t)).named(std::move(name));
}
inline runtime::aten_argument none(std::string name) { return runtime::aten_argument::none().named(std::move(name)); }
inline runtime::aten_argument number(std::string name, scalar n) {
    return runtime::aten_argument::of_number(n).named(std::move(name));
}
inline runtime::aten_argument numbers(std::string name, std::vector<scalar> all) {
    return runtime::aten_argument::of_numbers(std::move(all)).named(std::move(name));
}
inline runtime::aten_argument word(std::string name, std::string_view text) {
    return runtime::aten_argument::of_text(std::string(text)).named(std::move(name));
}
inline runtime::aten_argument type(std::string name, dtype t) {
    return runtime::aten_argument::of_type(t).named(std::move(name));
}

} // namespace aton::tests
