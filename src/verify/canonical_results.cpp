// SPDX-License-Identifier: MIT
#include "canonical_results.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::verify {

using runtime::tensor;
using runtime::value;

namespace {

bool are_matrices(std::vector<value> const& results, std::initializer_list<std::size_t> which) {
    for (std::size_t const i : which)
        if (i >= results.size() || !results[i].is_tensor() || !results[i].one() || results[i].one().rank() < 2 ||
            !(is_floating(results[i].one().dtype()) || is_complex(results[i].one().dtype())))
            return false;
    return true;
}

/// The conjugate transpose.
tensor turned(tensor const& x) { return runtime::cast(runtime::adjoint(x), x.dtype()); }
/// The product of matrices, also of complex ones.
tensor product(tensor const& left, tensor const& right) {
    if (!is_complex(left.dtype())) return runtime::matmul(left, right);
    std::size_t const last = left.rank();
    return runtime::sum(left.unsqueezed(last) * right.unsqueezed(last - 2), {-2});
}

/// left diag(values) right, for as many columns of `left` and rows of `right` as there are values.
tensor joined(tensor const& left, tensor const& values, tensor const& right) {
    if (values.rank() + 1 != left.rank() || left.rank() != right.rank()) throw error("the ranks do not match");
    std::int64_t const n = values.sizes().back();
    if (left.sizes().back() < n || right.size(right.rank() - 2) < n) throw error("a vector is missing");
    tensor const columns = left.sliced(left.rank() - 1, 0, n);
    tensor const scaled = columns * runtime::cast(values, left.dtype()).unsqueezed(values.rank() - 1);
    return product(scaled, right.sliced(right.rank() - 2, 0, n));
}
tensor inner_products(tensor const& columns) { return product(turned(columns), columns); }

/// A diagonal element of a triangular factor is 0 but for rounding.
bool is_deficient(tensor const& r) {
    if (r.count() == 0) return false;
    tensor const size = runtime::abs(r);
    tensor const row = runtime::range(r.size(r.rank() - 2)).unsqueezed(1);
    tensor const on_diagonal = runtime::equal(row, runtime::range(r.sizes().back()));
    tensor const diagonal = runtime::where(on_diagonal, size, scalar(std::numeric_limits<double>::infinity()));
    auto const number = [](tensor const& x) { return x.item().to<double>(); };
    return number(runtime::min(diagonal, runtime::all_axes(r))) <=
           1e-4 * number(runtime::max(size, runtime::all_axes(r)));
}

} // namespace

result_form form_of(std::string_view name) {
    if (name == "eigenvectors") return result_form::eigenvectors;
    if (name == "inverse") return result_form::inverse;
    if (name == "orthogonal factors") return result_form::orthogonal_factors;
    if (name == "reflectors") return result_form::reflectors;
    return name == "singular vectors" ? result_form::singular_vectors : result_form::plain;
}

std::vector<value> canonical(std::vector<value> given, result_form form, std::string_view overload, bool by_rounding) {
    std::vector<value> results = given;
    try {
        if (form == result_form::eigenvectors && are_matrices(given, {1})) {
            tensor const w = given[0].one();
            tensor const v = given[1].one();
            results[1] = joined(v, w, turned(v));
            results.emplace_back(inner_products(v));
        }
        if (form == result_form::orthogonal_factors && are_matrices(given, {1}) &&
            (by_rounding || is_deficient(given[1].one()))) {
            tensor const r = given[1].one();
            tensor const q = given[0].one();
            results[1] = inner_products(r);
            if (q && q.rank() == r.rank() && q.sizes().back() == r.size(r.rank() - 2)) {
                results[0] = inner_products(q);
                results.emplace_back(product(q, r));
            }
        }
        if (form == result_form::reflectors && by_rounding && are_matrices(given, {0})) {
            tensor const a = given[0].one();
            tensor const row = runtime::range(a.size(a.rank() - 2)).unsqueezed(1);
            tensor const is_below = runtime::greater(row, runtime::range(a.sizes().back()));
            results = {value(inner_products(where(is_below, scalar(0), a)))};
        }
        if (form == result_form::inverse && are_matrices(given, {0}) && given.size() == 2) {
            tensor const x = given[0].one();
            runtime::sizes of = given[1].one().sizes();
            of.insert(of.end(), {1, 1});
            tensor const exists = equal(reshape(given[1].one(), of), scalar(0));
            results[0] = where(exists, x, runtime::full(0, x.dtype(), {}, x.where()));
        }
        if (form == result_form::singular_vectors && are_matrices(given, {0, 2})) {
            tensor const u = given[0].one();
            tensor const v = overload == "aten::svd" ? given[2].one() : turned(given[2].one());
            results[0] = joined(u, given[1].one(), turned(v));
            results[2] = inner_products(u);
            results.emplace_back(inner_products(v));
        }
        return results;
    } catch (error const&) {
        return given;
    }
}

} // namespace ATON_NAMESPACE::verify
