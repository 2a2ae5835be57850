// SPDX-License-Identifier: MIT
// Quantization: integers and narrow floats with a scale and a zero point.
#include "runtime/compute/quantization.hpp"

#include <cmath>
#include <cstddef>
#include <string>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime {

namespace {

[[noreturn]] void refuse(tensor const& given, tensor const& x) {
    throw error("a scale or zero point of shape " + to_string(given.sizes()) + " does not fit " + to_string(x.sizes()));
}

/// The block of each index: 0, 0, 0, 1, 1, 1, ...
tensor blocks(std::int64_t size, std::int64_t block, device where) {
    return range(size, 0, 1, where) / scalar(static_cast<long long>(block));
}

} // namespace

tensor quantization_parameter(tensor const& given, tensor const& x, std::int64_t axis, std::int64_t block) {
    if (block <= 0 && given.count() == 1) return reshape(given, {});
    std::size_t const at = axis_at(axis, x.rank());
    if (x.rank() == 0) refuse(given, x);
    if (block <= 0) {
        if (given.rank() != 1 || given.count() != x.size(at)) refuse(given, x);
        sizes to(x.rank(), 1);
        to[at] = given.count();
        return reshape(given, to);
    }
    sizes expected = x.sizes();
    expected[at] = expected[at] / block + (expected[at] % block != 0 ? 1 : 0);
    if (given.sizes() != expected) refuse(given, x);
    return index_select(given, static_cast<std::int64_t>(at), blocks(x.size(at), block, given.where()));
}

tensor quantized(tensor const& scaled, tensor const& zero_point, dtype to, bool saturate) {
    if (!is_integral(to) && !(is_floating(to) && bits(to) <= 8))
        throw error("quantization does not support " + std::string(name(to)));
    dtype const wide = scaled.dtype() == dtype::float64 ? dtype::float64 : dtype::float32;
    tensor out = cast(scaled, wide);
    if (is_integral(to)) out = round(out);
    if (zero_point) out = out + cast(zero_point, wide);
    if (!is_integral(to)) return cast(out, to, saturate);
    auto const width = static_cast<int>(bits(to));
    bool const is_signed = is_signed_integral(to);
    double const low = is_signed ? -std::ldexp(1.0, width - 1) : 0;
    double const high = std::ldexp(1.0, is_signed ? width - 1 : width) - 1;
    return cast(clamp(out, low, high), to);
}

tensor centered(tensor const& x, tensor const& zero_point, dtype type) {
    tensor const wide = cast(x, type);
    return zero_point ? wide - cast(zero_point, type) : wide;
}

} // namespace ATON_NAMESPACE::runtime
