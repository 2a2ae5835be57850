// SPDX-License-Identifier: MIT
// Operators of prims: new tensors, and the limits of dtypes.
#include <cstdint>
#include <limits>

#include "prims.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

results empty_prim(call const& c) {
    return run_aten(c, "aten::empty.memory_format", {{"shape", "size"}, {"dtype", "dtype"}});
}
results empty_strided(call const& c) {
    return run_aten(c, "aten::empty_strided", {{"shape", "size"}, {"strides", "stride"}, {"dtype", "dtype"}});
}
results empty_permuted(call const& c) {
    return run_aten(
        c, "aten::empty_permuted", {{"shape", "size"}, {"physical_layout", "physical_layout"}, {"dtype", "dtype"}});
}
results full_prim(call const& c) {
    return run_aten(c, "aten::full", {{"shape", "size"}, {"fill_value", "fill_value"}, {"dtype", "dtype"}});
}
results full_like_prim(call const& c) {
    return run_aten(c, "aten::full_like", {{"a", "self"}, {"fill_value", "fill_value"}, {"dtype", "dtype"}});
}
results scalar_tensor_prim(call const& c) {
    if (!c.given("dtype")) throw error("dtype is None");
    return run_aten(c, "aten::scalar_tensor", {{"s", "s"}, {"dtype", "dtype"}});
}

/// start + i * step, which wraps around in narrow dtypes.
results iota_prim(call const& c) {
    dtype const type = c.type("dtype");
    std::int64_t const n = c.i("length");
    std::int64_t const step = c.i("step");
    if (!is_integral(type)) throw error("iota has an integer dtype");
    if (n < 0 || step == 0) throw error("the length is negative, or the step is 0");
    return cast(range(n, c.i("start"), step, c.where()), type);
}

results normal(call const& c) {
    return run_aten(
        c, "aten::normal.float_float", {{"mean", "mean"}, {"std", "std"}, {"shape", "size"}, {"dtype", "dtype"}});
}
results uniform(call const& c) {
    tensor const shaped = empty_prim(c).all().results[0].one();
    return c
        .run("aten::uniform",
             {aten_argument::of_tensor(shaped).named("self"),
              aten_argument::of_number(c.number("low")).named("from"),
              aten_argument::of_number(c.number("high")).named("to")})
        .results;
}

template <bool Largest>
results limit(call const& c) {
    dtype const type = c.type("dtype");
    if (type == dtype::bool_) return constant(c, Largest, dtype::bool_);
    if (!is_integral(type)) return constant(c, Largest ? largest_number(type) : -largest_number(type), dtype::float64);
    std::int64_t number = 0;
    switch (type) {
    case dtype::int8: number = Largest ? 127 : -128; break;
    case dtype::uint8: number = Largest ? 255 : 0; break;
    case dtype::int16: number = Largest ? 32767 : -32768; break;
    case dtype::uint16: number = Largest ? 65535 : 0; break;
    case dtype::int32: number = Largest ? 2147483647LL : -2147483648LL; break;
    case dtype::uint32: number = Largest ? 4294967295LL : 0; break;
    case dtype::int64:
        number = Largest ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
        break;
    default: throw error("the limit is not an int64");
    }
    return constant(c, number, dtype::int64);
}

} // namespace

rows prims_creation() {
    static constexpr row all[] = {
        {"prims::empty", empty_prim},
        {"prims::empty_permuted", empty_permuted},
        {"prims::empty_strided", empty_strided},
        {"prims::full", full_prim},
        {"prims::full_like", full_like_prim},
        {"prims::iota", iota_prim},
        {"prims::maximum_value", limit<true>},
        {"prims::minimum_value", limit<false>},
        {"prims::normal", normal},
        {"prims::scalar_tensor", scalar_tensor_prim},
        {"prims::uniform", uniform},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
