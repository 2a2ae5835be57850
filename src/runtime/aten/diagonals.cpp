// SPDX-License-Identifier: MIT
// ATen operators: triangles and diagonals of matrices.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "matrices.hpp"
#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// The distance of each element of a matrix above the main diagonal.
tensor above_diagonal(tensor const& x) {
    if (x.rank() < 2) throw error("a matrix must have at least 2 dimensions");
    return range(x.sizes().back(), 0, 1, x.where()) - range(x.size(x.rank() - 2), 0, 1, x.where()).unsqueezed(1);
}

} // namespace

tensor upper_part(tensor const& x, std::int64_t diagonal) {
    return where(greater_equal(above_diagonal(x), scalar(diagonal)), x, scalar(0));
}
tensor lower_part(tensor const& x, std::int64_t diagonal) {
    return where(less_equal(above_diagonal(x), scalar(diagonal)), x, scalar(0));
}

namespace {

template <tensor (*Part)(tensor const&, std::int64_t)>
results triangle(call const& c) {
    return Part(c.t("self"), c.i("diagonal"));
}

results trace(call const& c) {
    tensor const x = c.t("self");
    require_rank(x, 2, "self");
    return *total(diagonal_of(x), {0});
}

results linalg_diagonal(call const& c) {
    return contiguous(diagonal_of(c.t("A"), c.i("offset"), c.i("dim1"), c.i("dim2")));
}

/// The last axis as a diagonal of two axes.
tensor embedded(tensor const& x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
    constexpr std::int64_t limit = std::int64_t{1} << 28;
    if (x.rank() == 0 || offset > limit || offset < -limit) throw error("the diagonal is out of range");
    std::size_t const rank = x.rank() + 1;
    std::size_t const a = axis_at(dim1, rank);
    std::size_t const b = axis_at(dim2, rank);
    if (a == b) throw error("a diagonal needs two distinct dimensions");
    std::int64_t const size = x.sizes().back() + std::abs(offset);
    sizes to(x.sizes().begin(), x.sizes().end() - 1);
    to.insert(to.begin() + static_cast<std::ptrdiff_t>(std::min(a, b)), size);
    to.insert(to.begin() + static_cast<std::ptrdiff_t>(std::max(a, b)), size);
    tensor out = clone(full(0, x.dtype(), to, x.where()));
    if (x.count() != 0)
        kernels_of(x.where()).copy(
            x, diagonal_of(out, offset, static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
    return out;
}

results diag_embed(call const& c) { return embedded(c.t("self"), c.i("offset"), c.i("dim1"), c.i("dim2")); }
results diagflat(call const& c) { return embedded(flatten(c.t("self")), c.i("offset"), 0, 1); }
results diag(call const& c) {
    tensor const x = c.t("self");
    if (x.rank() == 1) return embedded(x, c.i("diagonal"), 0, 1);
    require_rank(x, 2, "self");
    return contiguous(diagonal_of(x, c.i("diagonal")));
}

results diagonal(call const& c) {
    return diagonal_of(c.t(c.has_argument("A") ? "A" : "self"), c.i("offset"), c.i("dim1"), c.i("dim2"));
}

/// The indices [2, n] of a triangle of a matrix: on and below the diagonal `offset`, or on and above it.
template <bool Lower>
results triangle_indices(call const& c) {
    std::int64_t const rows_count = c.i("row");
    std::int64_t const columns = c.i("col");
    if (rows_count < 0 || columns < 0) throw error("a matrix cannot have negative sizes");
    scalar const offset(static_cast<long long>(c.i("offset")));
    tensor const diagonal = range(rows_count, 0, 1, c.where()).unsqueezed(1) + offset;
    tensor const column = range(columns, 0, 1, c.where());
    tensor const inside = Lower ? less_equal(column, diagonal) : greater_equal(column, diagonal);
    return cast(nonzero(inside), c.type("dtype", dtype::int64));
}

} // namespace

rows diagonals() {
    static constexpr row all[] = {
        {"triu", triangle<upper_part>},
        {"tril", triangle<lower_part>},
        {"trace", trace},
        {"linalg_diagonal", linalg_diagonal},
        {"diag", diag},
        {"diag_embed", diag_embed},
        {"diagflat", diagflat},
        {"diagonal", diagonal},
        {"diagonal_copy", diagonal},
        {"tril_indices", triangle_indices<true>},
        {"triu_indices", triangle_indices<false>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
