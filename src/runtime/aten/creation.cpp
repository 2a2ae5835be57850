// SPDX-License-Identifier: MIT
// ATen operators: constant tensors and identity matrices.
#include <aton/aten/promotion.hpp>
#include <aton/core/error.hpp>

#include "elementwise.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

dtype given_type(call const& c) { return c.type("dtype", aton::aten::default_dtype); }
dtype type_like(call const& c) { return c.type("dtype", c.t("self").dtype()); }

tensor made(call const& c, scalar const& value, dtype type, sizes const& of) {
    static_cast<void>(count_of(of)); // throws for invalid sizes
    return full(value, type, of, c.where());
}

template <int Value>
results of_size(call const& c) {
    return made(c, Value, given_type(c), c.ints("size"));
}
/// For empty_strided and similar operators; the strides are ignored, since no operator observes them.
template <int Value>
results of_new_size(call const& c) {
    return made(c, Value, type_like(c), c.ints("size"));
}
template <int Value>
results as_self(call const& c) {
    return made(c, Value, type_like(c), c.t("self").sizes());
}

results full_of_size(call const& c) {
    scalar const value = c.number("fill_value");
    return made(c, value, c.type("dtype", aton::aten::number_dtype(value)), c.ints("size"));
}
results full_of_new_size(call const& c) { return made(c, c.number("fill_value"), type_like(c), c.ints("size")); }
results full_as_self(call const& c) { return made(c, c.number("fill_value"), type_like(c), c.t("self").sizes()); }

results eye(call const& c) {
    std::int64_t const rows_count = c.i("n");
    std::int64_t const columns = c.has_argument("m") ? c.i("m") : rows_count;
    if (rows_count < 0 || columns < 0) throw error("a matrix cannot have negative sizes");
    tensor const row = range(rows_count, 0, 1, c.where()).unsqueezed(1);
    return cast(equal(row, range(columns, 0, 1, c.where())), given_type(c));
}

/// The elements that fit, in memory order, then zeros.
results resized(call const& c) {
    tensor const x = flatten(c.t("self"));
    sizes const to = c.ints("size");
    std::int64_t const missing = count_of(to) - x.count();
    tensor const y = reshape(pad(x, {0}, {missing}, constant(c, 0, x.dtype())), to);
    return results(y).mutate("self", y);
}

} // namespace

rows creation() {
    static constexpr row all[] = {
        {"empty.memory_format", of_size<0>},
        {"empty_like", as_self<0>},
        {"empty_permuted", of_size<0>},
        {"empty_strided", of_size<0>},
        {"eye", eye},
        {"eye.m", eye},
        {"full", full_of_size},
        {"full_like", full_as_self},
        {"new_empty", of_new_size<0>},
        {"new_empty_strided", of_new_size<0>},
        {"new_full", full_of_new_size},
        {"new_ones", of_new_size<1>},
        {"new_zeros", of_new_size<0>},
        {"ones", of_size<1>},
        {"ones_like", as_self<1>},
        {"resize_", resized},
        {"zeros", of_size<0>},
        {"zeros_like", as_self<0>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
