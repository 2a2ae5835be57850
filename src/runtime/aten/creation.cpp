// SPDX-License-Identifier: MIT
// ATen operators: tensors of one number, and identities.
#include <aton/aten/promotion.hpp>
#include <aton/core/error.hpp>

#include "elementwise.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

dtype given_type(call const& c) { return c.type("dtype", aton::aten::default_dtype); }
dtype type_like(call const& c) { return c.type("dtype", c.t("self").dtype()); }

tensor made(call const& c, scalar const& value, dtype type, sizes const& of) {
    static_cast<void>(count_of(of)); // refuses bad sizes
    return full(value, type, of, c.where());
}

template <int Value>
results of_size(call const& c) {
    return made(c, Value, given_type(c), c.ints("size"));
}
/// In memory that goes another way: the strides are none that an operator sees.
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
    dtype const type = value.is_bool()       ? dtype::bool_
                       : value.is_integral() ? dtype::int64
                       : value.is_complex()  ? dtype::complex64
                                             : aton::aten::default_dtype;
    return made(c, value, c.type("dtype", type), c.ints("size"));
}
results full_of_new_size(call const& c) { return made(c, c.number("fill_value"), type_like(c), c.ints("size")); }
results full_as_self(call const& c) { return made(c, c.number("fill_value"), type_like(c), c.t("self").sizes()); }

results identity(call const& c) {
    std::int64_t const rows_count = c.i("n");
    std::int64_t const columns = c.has_argument("m") ? c.i("m") : rows_count;
    if (rows_count < 0 || columns < 0) throw error("a matrix has no negative sizes");
    tensor const row = range(rows_count, 0, 1, c.where()).unsqueezed(1);
    return cast(equal(row, range(columns, 0, 1, c.where())), given_type(c));
}

/// The elements that fit, in memory order; 0 for those that are more.
results resized(call const& c) {
    tensor const x = flatten(c.t("self"));
    sizes const to = c.ints("size");
    std::int64_t const missing = count_of(to) - x.count();
    tensor const y = reshape(pad(x, {0}, {missing}, constant(c, 0, x.dtype())), to);
    return results(y).mutate("self", y);
}

/// The indices [2, n] of a triangle of a matrix: on and below the diagonal number `offset`, or above.
template <bool Lower>
results triangle_indices(call const& c) {
    std::int64_t const rows_count = c.i("row");
    std::int64_t const columns = c.i("col");
    if (rows_count < 0 || columns < 0) throw error("a matrix has no negative sizes");
    scalar const offset(static_cast<long long>(c.i("offset")));
    tensor const diagonal = range(rows_count, 0, 1, c.where()).unsqueezed(1) + offset;
    tensor const column = range(columns, 0, 1, c.where());
    tensor const inside = Lower ? less_equal(column, diagonal) : greater_equal(column, diagonal);
    return cast(nonzero(inside), c.type("dtype", dtype::int64));
}

} // namespace

rows creation() {
    static constexpr row all[] = {
        {"empty.memory_format", of_size<0>},
        {"empty_like", as_self<0>},
        {"empty_permuted", of_size<0>},
        {"empty_strided", of_size<0>},
        {"eye", identity},
        {"eye.m", identity},
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
        {"tril_indices", triangle_indices<true>},
        {"triu_indices", triangle_indices<false>},
        {"zeros", of_size<0>},
        {"zeros_like", as_self<0>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
