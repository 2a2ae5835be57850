// SPDX-License-Identifier: MIT
// Operators of prims: reductions and Fourier transforms.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "prims.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// The dimensions, from the last one on. Prims do not count from the end.
std::vector<std::int64_t> dims_of(call const& c) {
    std::vector<std::int64_t> dims = c.ints("dims");
    std::sort(dims.begin(), dims.end(), std::greater<>());
    auto const rank = static_cast<std::int64_t>(std::max<std::size_t>(c.t("inp").rank(), 1));
    for (std::int64_t const d : dims)
        if (d < 0 || d >= rank) throw error("a dimension is out of range");
    return dims;
}

/// torch's reductions have no output_dtype, although the schema does; nor do they take None for the dimensions.
void require_supported(call const& c) {
    if (c.given("output_dtype")) throw error("output_dtype is not supported");
    if (!c.given("dims")) throw error("dims is None");
    static_cast<void>(dims_of(c));
}

template <fixed_string Aten>
results reduce_prim(call const& c) {
    require_supported(c);
    return run_aten(c, Aten.view(), {{"inp", "self"}, {"dims", "dim"}});
}

results var_prim(call const& c) {
    require_supported(c);
    return run_aten(c, "aten::var.correction", {{"inp", "self"}, {"dims", "dim"}, {"correction", "correction"}});
}

/// One dimension after the other; none if the list is empty.
results prod_prim(call const& c) {
    require_supported(c);
    tensor x = c.t("inp");
    for (std::int64_t const d : dims_of(c))
        x = c.run("aten::prod.dim_int",
                  {aten_argument::of_tensor(x).named("self"), aten_argument::of_number(d).named("dim")})
                .results[0]
                .one();
    return x;
}

aten_argument not_normalized() { return aten_argument::of_number(0).named("normalization"); }

results fft_c2c(call const& c) {
    return c.run("aten::_fft_c2c", {c.argument("self"), c.argument("dim"), not_normalized(), c.argument("forward")})
        .results;
}
results fft_r2c(call const& c) {
    return c.run("aten::_fft_r2c", {c.argument("self"), c.argument("dim"), not_normalized(), c.argument("onesided")})
        .results;
}
results fft_c2r(call const& c) {
    return c
        .run("aten::_fft_c2r", {c.argument("self"), c.argument("dim"), not_normalized(), c.argument("last_dim_size")})
        .results;
}

} // namespace

rows prims_reduction() {
    static constexpr row all[] = {
        {"prims::amax", reduce_prim<"aten::amax">},
        {"prims::amin", reduce_prim<"aten::amin">},
        {"prims::fft_c2c", fft_c2c},
        {"prims::fft_c2r", fft_c2r},
        {"prims::fft_r2c", fft_r2c},
        {"prims::prod", prod_prim},
        {"prims::sum", reduce_prim<"aten::sum.dim_IntList">},
        {"prims::var", var_prim},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
