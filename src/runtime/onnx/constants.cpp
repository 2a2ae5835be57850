// SPDX-License-Identifier: MIT
// ONNX operators that create tensors from attributes, sizes and indices.
#include "call.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

/// The dense form of values and their indices: linear in row-major order, or one row of coordinates each.
tensor dense_of(node_attribute const& a) {
    if (a.tensors.size() != 2) throw error("a sparse tensor must have values and indices");
    tensor const values = tensor::from_constant(a.tensors[0]);
    tensor const where = tensor::from_constant(a.tensors[1]);
    auto const rank = static_cast<std::int64_t>(a.ints.size());
    bool const by_coordinates = where.rank() == 2 && where.sizes() == sizes{values.count(), rank};
    if (where.dtype() != dtype::int64 || (!by_coordinates && where.sizes() != sizes{values.count()}))
        throw error("the indices of a sparse tensor do not match its values and shape");
    tensor const zeros = full(0, values.dtype(), a.ints);
    if (!by_coordinates) return reshape(put(flatten(zeros), where, flatten(values)), a.ints);
    std::vector<tensor> coordinates;
    for (std::size_t i = 0; i != a.ints.size(); ++i)
        coordinates.push_back(where.sliced(1, static_cast<std::int64_t>(i), 1).squeezed(1));
    if (coordinates.empty()) return values.count() == 0 ? zeros : reshape(values, {});
    return put(zeros, positions(a.ints, coordinates), flatten(values));
}

tensor of_floats(std::vector<float> const& values) {
    tensor const out = tensor::empty(dtype::float32, {static_cast<std::int64_t>(values.size())});
    std::copy(values.begin(), values.end(), out.data<float>());
    return out;
}

tensor of_strings(std::vector<std::string> const& values) {
    return tensor::of_strings(values, {static_cast<std::int64_t>(values.size())});
}

results constant(call const& c) {
    auto const here = [&](tensor const& t) { return to_device(t, c.where()); };
    if (c.has_attribute("value")) return c.t("value");
    if (c.has_attribute("value_float")) return full(c.f("value_float"), dtype::float32, {}, c.where());
    if (c.has_attribute("value_floats")) return here(of_floats(c.floats("value_floats")));
    if (c.has_attribute("value_int")) return full(c.i("value_int"), dtype::int64, {}, c.where());
    if (c.has_attribute("value_ints")) return here(tensor::of_integers(c.ints("value_ints")));
    if (c.has_attribute("value_string")) return tensor::of_strings({c.s("value_string")}, {});
    if (c.has_attribute("value_strings")) return of_strings(c.strings("value_strings"));
    if (node_attribute const* const sparse = c.attribute("sparse_value")) return here(dense_of(*sparse));
    throw error("the value is missing");
}

results constant_of_shape(call const& c) {
    if (c.in(0).rank() != 1) throw error("the shape must be 1-d");
    sizes const to = c.integers(0);
    if (!c.has_attribute("value")) return full(0, dtype::float32, to, c.where());
    tensor const value = c.t("value");
    if (value.count() != 1) throw error("the value has " + std::to_string(value.count()) + " elements");
    return reshape(value, {}).expanded(to);
}

/// For each element of a matrix, its column minus its row.
tensor diagonals(std::int64_t height, std::int64_t width, device where) {
    return range(width, 0, 1, where) - range(height, 0, 1, where).unsqueezed(1);
}

results eye_like(call const& c) {
    tensor const& like = c.in(0);
    if (like.rank() != 2) throw error("rank 2 is expected, not " + std::to_string(like.rank()));
    tensor const is_one = equal(diagonals(like.size(0), like.size(1), c.where()), scalar(c.i("k", 0)));
    return cast(is_one, c.type("dtype", like.dtype()));
}

results trilu(call const& c) {
    tensor const& x = c.in(0);
    if (x.rank() < 2) throw error("a matrix is expected");
    scalar const k = c.has(1) ? c.number(1) : scalar(0);
    tensor const d = diagonals(x.size(x.rank() - 2), x.size(x.rank() - 1), x.where());
    return where(c.i("upper", 1) != 0 ? greater_equal(d, k) : less_equal(d, k), x, scalar(0));
}

std::int64_t count_of_integers(std::int64_t start, std::int64_t limit, std::int64_t delta) {
    if (delta > 0 ? start >= limit : start <= limit) return 0;
    auto const distance =
        static_cast<std::uint64_t>(delta > 0 ? limit : start) - static_cast<std::uint64_t>(delta > 0 ? start : limit);
    auto const step = static_cast<std::uint64_t>(delta);
    std::uint64_t const count = (distance - 1) / (delta > 0 ? step : 0 - step) + 1;
    return static_cast<std::int64_t>(std::min<std::uint64_t>(count, INT64_MAX));
}

std::int64_t count_of_reals(double start, double limit, double delta) {
    double const n = std::ceil((limit - start) / delta);
    if (!(n < 0x1p62))
        throw error("a range from " + std::to_string(start) + " to " + std::to_string(limit) + " by " +
                    std::to_string(delta) + " does not end");
    return n <= 0 ? 0 : static_cast<std::int64_t>(n);
}

results arithmetic_range(call const& c) {
    dtype const type = c.in(0).dtype();
    if (c.in(1).dtype() != type || c.in(2).dtype() != type)
        throw error("start, limit and delta must have the same type");
    bool const narrow = type == dtype::float16 || type == dtype::bfloat16;
    dtype const stash = narrow && c.opset() >= 27 ? c.type("stash_type", dtype::float32) : type;
    scalar const start = c.number(0);
    scalar const delta = c.number(2);
    if (delta == scalar(0)) throw error("the delta of a range is 0");
    if (!is_floating(type)) {
        auto const first = start.to<std::int64_t>();
        auto const step = delta.to<std::int64_t>();
        std::int64_t const n = count_of_integers(first, c.number(1).to<std::int64_t>(), step);
        return cast(range(n, first, step, c.where()), type);
    }
    std::int64_t const n = count_of_reals(start.to<double>(), c.number(1).to<double>(), delta.to<double>());
    return cast(cast(range(n, 0, 1, c.where()), stash) * delta + start, type);
}

results one_hot(call const& c) {
    tensor const& indices = c.in(0);
    tensor const& values = c.in(2);
    if (values.sizes() != sizes{2}) throw error("values must be [off_value, on_value]");
    std::int64_t const depth = cast(to_host(c.in(1)), dtype::int64).item().to<std::int64_t>();
    if (depth < 0) throw error("the depth is " + std::to_string(depth));
    std::size_t const axis = axis_at(c.i("axis", -1), indices.rank() + 1);
    sizes along(indices.rank() + 1, 1);
    along[axis] = depth;
    tensor at = cast(indices, dtype::int64).unsqueezed(axis);
    if (c.opset() >= 11) at = where(less(at, 0), at + scalar(depth), at);
    tensor const is_hot = equal(at, reshape(range(depth, 0, 1, indices.where()), along));
    auto const value = [&](std::int64_t i) { return values.sliced(0, i, 1).squeezed(0); };
    return where(is_hot, value(1), value(0));
}

} // namespace

rows constants() {
    static constexpr row all[] = {
        {"Constant", constant},
        {"ConstantOfShape", constant_of_shape},
        {"EyeLike", eye_like},
        {"OneHot", one_hot},
        {"Range", arithmetic_range},
        {"Trilu", trilu},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
