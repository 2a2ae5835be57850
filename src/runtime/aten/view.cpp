// SPDX-License-Identifier: MIT
// ATen operators: views. Copies (squeeze_copy) are views too, since neither is written to.
#include "axes.hpp"

#include <algorithm>
#include <numeric>

#include "runtime/compute/complex.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

results with_sizes(call const& c) {
    tensor const x = c.t("self");
    return reshape(x, completed(c.ints(c.has_argument("size") ? "size" : "shape"), x.count()));
}

results with_sizes_in_tensor(call const& c) {
    tensor const x = c.t("self");
    return reshape(x, completed(to_host(c.t("shape")).integers(), x.count()));
}

results with_sizes_of_other(call const& c) { return reshape(c.t("self"), c.t("other").sizes()); }

results with_dtype(call const& c) {
    tensor const x = c.t("self");
    dtype const type = c.type("dtype");
    if (type != dtype::bool_ || x.dtype() == type) return contiguous(x).reinterpreted(type);
    return unequal(contiguous(x).reinterpreted(dtype::uint8), 0); // other bytes are not valid bools
}

results flattened(call const& c) {
    tensor const x = c.t("self");
    std::size_t const first = axis_of(c, x, "start_dim");
    std::size_t const last = axis_of(c, x, "end_dim");
    if (first > last) throw error("start_dim of flatten comes after end_dim");
    if (x.rank() == 0) return x.unsqueezed(0);
    sizes to(x.sizes().begin(), x.sizes().begin() + static_cast<std::ptrdiff_t>(first) + 1);
    for (std::size_t i = first + 1; i <= last; ++i) to.back() *= x.size(i);
    to.insert(to.end(), x.sizes().begin() + static_cast<std::ptrdiff_t>(last) + 1, x.sizes().end());
    return reshape(x, to);
}

results unflattened(call const& c) {
    tensor const x = c.t("self");
    std::size_t const axis = axis_in(c, x);
    sizes const parts = completed(c.ints("sizes"), x.size(axis));
    if (parts.empty()) throw error("unflatten requires at least one size");
    if (count_of(parts) != x.size(axis))
        throw error("a dimension of size " + std::to_string(x.size(axis)) + " cannot be unflattened to " +
                    to_string(parts));
    sizes to = x.sizes();
    auto const at = to.erase(to.begin() + static_cast<std::ptrdiff_t>(axis));
    to.insert(at, parts.begin(), parts.end());
    return reshape(x, to);
}

results raveled(call const& c) { return flatten(c.t("self")); }

/// Removes those of the given dimensions that have size 1; all by default.
results squeezed(call const& c) {
    tensor x = c.t("self");
    std::vector<std::size_t> axes;
    if (c.has_argument("dim")) axes = distinct_axes(c.ints("dim"), x.rank());
    else
        for (std::size_t i = 0; i != x.rank(); ++i) axes.push_back(i);
    std::sort(axes.rbegin(), axes.rend());
    for (std::size_t const axis : axes)
        if (axis < x.rank() && x.size(axis) == 1) x = x.squeezed(axis);
    return x;
}

results unsqueezed(call const& c) {
    tensor const x = c.t("self");
    return x.unsqueezed(axis_at(c.i("dim"), x.rank() + 1));
}

template <tensor (*Widen)(tensor const&)>
results at_least(call const& c) {
    if (c.has_argument("self")) return Widen(c.t("self"));
    std::vector<tensor> out;
    for (tensor const& x : c.tensors("tensors")) out.push_back(Widen(x));
    return value(std::move(out));
}

/// transpose, swapaxes and swapdims, whose arguments have different names.
results transposed(call const& c) {
    bool const axes = c.has_argument("axis0");
    return transpose(c.t("self"), c.i(axes ? "axis0" : "dim0"), c.i(axes ? "axis1" : "dim1"));
}

results of_matrix(call const& c) {
    tensor const x = c.t("self");
    if (x.rank() > 2) throw error("t() requires at most 2 dimensions, not " + to_string(x.sizes()));
    return x.rank() < 2 ? x : transpose(x, 0, 1);
}

template <bool Conjugates>
results of_matrices(call const& c) {
    tensor const x = Conjugates ? conjugate(c.t("self")) : c.t("self");
    if (x.rank() == 1) throw error("mT and mH require at least 2 dimensions");
    if (c.overload() == "aten::matrix_H" && x.rank() > 2) throw error("a single matrix is expected");
    return x.rank() == 0 ? x : transpose(x, -2, -1);
}

results axes_reversed(call const& c) {
    ints order(c.t("self").rank());
    std::iota(order.rbegin(), order.rend(), 0);
    return permuted_by(c.t("self"), order);
}

results permuted(call const& c) { return permuted_by(c.t("self"), c.ints("dims")); }

results moved(call const& c) {
    tensor const x = c.t("self");
    std::vector<std::size_t> const from = distinct_axes(c.ints("source"), x.rank());
    std::vector<std::size_t> const to = distinct_axes(c.ints("destination"), x.rank());
    if (from.size() != to.size()) throw error("source and destination must have the same length");
    if (x.rank() == 0) return x;
    ints order(x.rank(), -1);
    for (std::size_t i = 0; i != from.size(); ++i) order[to[i]] = static_cast<std::int64_t>(from[i]);
    std::int64_t next = 0; // next of the remaining dimensions
    for (std::int64_t& each : order) {
        if (each >= 0) continue;
        while (std::find(from.begin(), from.end(), static_cast<std::size_t>(next)) != from.end()) ++next;
        each = next++;
    }
    return permuted_by(x, order);
}

results expanded(call const& c) {
    tensor const x = c.t("self");
    sizes to = c.ints("size");
    if (to.size() < x.rank()) throw error("shape " + to_string(x.sizes()) + " does not expand to " + to_string(to));
    std::size_t const fresh = to.size() - x.rank();
    for (std::size_t i = fresh; i != to.size(); ++i)
        if (to[i] == -1) to[i] = x.size(i - fresh);
    return x.expanded(to);
}

results expanded_as(call const& c) { return c.t("self").expanded(c.t("other").sizes()); }

// Queries of sizes.

tensor of_integer(call const& c, std::int64_t n) {
    return constant(c, scalar(static_cast<long long>(n)), dtype::int64);
}
results size(call const& c) {
    tensor const x = c.t("self");
    return of_integer(c, x.size(axis_in(c, x)));
}
results stride(call const& c) {
    tensor const x = c.t("self");
    return of_integer(c, x.strides()[axis_in(c, x)]);
}
results numel(call const& c) { return of_integer(c, c.t("self").count()); }
results dim(call const& c) { return of_integer(c, static_cast<std::int64_t>(c.t("self").rank())); }
results storage_offset(call const& c) { return of_integer(c, c.t("self").storage_offset()); }
results is_contiguous(call const& c) { return constant(c, c.t("self").is_contiguous(), dtype::bool_); }
results shape(call const& c) { return to_device(tensor::of_integers(c.t("self").sizes()), c.where()); }

} // namespace

rows view() {
    static constexpr row all[] = {
        {"view", with_sizes},
        {"view_copy", with_sizes},
        {"_unsafe_view", with_sizes},
        {"reshape", with_sizes},
        {"_reshape_copy", with_sizes},
        {"_reshape_alias", with_sizes},
        {"_reshape_alias_copy", with_sizes},
        {"_reshape_from_tensor", with_sizes_in_tensor},
        {"view_as", with_sizes_of_other},
        {"reshape_as", with_sizes_of_other},
        {"view.dtype", with_dtype},
        {"view_copy.dtype", with_dtype},
        {"flatten.using_ints", flattened},
        {"unflatten.int", unflattened},
        {"ravel", raveled},
        {"squeeze", squeezed},
        {"squeeze.dim", squeezed},
        {"squeeze.dims", squeezed},
        {"squeeze_copy", squeezed},
        {"squeeze_copy.dim", squeezed},
        {"squeeze_copy.dims", squeezed},
        {"unsqueeze", unsqueezed},
        {"unsqueeze_copy", unsqueezed},
        {"atleast_1d", at_least<at_least_1d>},
        {"atleast_1d.Sequence", at_least<at_least_1d>},
        {"atleast_2d", at_least<at_least_2d>},
        {"atleast_2d.Sequence", at_least<at_least_2d>},
        {"atleast_3d", at_least<at_least_3d>},
        {"atleast_3d.Sequence", at_least<at_least_3d>},
        {"transpose.int", transposed},
        {"transpose_copy.int", transposed},
        {"swapaxes", transposed},
        {"swapdims", transposed},
        {"t", of_matrix},
        {"t_copy", of_matrix},
        {"mT", of_matrices<false>},
        {"mH", of_matrices<true>},
        {"matrix_H", of_matrices<true>},
        {"adjoint", of_matrices<true>},
        {"numpy_T", axes_reversed},
        {"permute", permuted},
        {"permute_copy", permuted},
        {"movedim.int", moved},
        {"movedim.intlist", moved},
        {"moveaxis.int", moved},
        {"moveaxis.intlist", moved},
        {"expand", expanded},
        {"expand_copy", expanded},
        {"broadcast_to", expanded},
        {"expand_as", expanded_as},
        {"size.int", size},
        {"sym_size.int", size},
        {"stride.int", stride},
        {"sym_stride.int", stride},
        {"numel", numel},
        {"sym_numel", numel},
        {"dim", dim},
        {"sym_storage_offset", storage_offset},
        {"sym_is_contiguous", is_contiguous},
        {"_shape_as_tensor", shape},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
