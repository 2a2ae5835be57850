// SPDX-License-Identifier: MIT
// Operators of prims: views, copies and conversions.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "prims.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// An axis of a tensor, where a 0-d tensor counts as 1-d. Prims do not count from the end.
std::int64_t axis_in(std::int64_t axis, std::size_t rank) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank == 0 ? 1 : rank)) throw error("an axis is out of range");
    return axis;
}

std::vector<std::int64_t> axes_in(call const& c, std::string_view name, tensor const& x) {
    std::vector<std::int64_t> const axes = c.ints(name);
    for (std::int64_t const axis : axes) axis_in(axis, x.rank());
    return axes;
}

aten_argument list_of(std::vector<std::int64_t> const& numbers, std::string name) {
    std::vector<scalar> all;
    for (std::int64_t const n : numbers) all.emplace_back(n);
    return aten_argument::of_numbers(std::move(all)).named(std::move(name));
}

results reshaped(call const& c, tensor const& x, std::vector<std::int64_t> const& to) {
    return c.run("aten::reshape", {aten_argument::of_tensor(x).named("self"), list_of(to, "shape")}).results;
}

results broadcast_in_dim(call const& c) {
    tensor const a = c.t("a");
    std::vector<std::int64_t> const shape = c.ints("shape");
    std::vector<std::int64_t> const places = c.ints("broadcast_dimensions");
    if (places.size() != a.rank()) throw error("there must be one of broadcast_dimensions for each dimension");
    std::vector<std::int64_t> with_ones(shape.size(), 1);
    std::int64_t last = -1;
    for (std::size_t i = 0; i != places.size(); ++i) {
        bool const fits = places[i] > last && places[i] < static_cast<std::int64_t>(shape.size());
        if (!fits) throw error("broadcast_dimensions must ascend within the shape");
        last = places[i];
        with_ones[static_cast<std::size_t>(last)] = a.sizes()[i];
    }
    return c
        .run("aten::expand", {aten_argument::of_tensor(reshape(a, with_ones)).named("self"), list_of(shape, "size")})
        .results;
}

results collapse(call const& c) {
    tensor const a = c.t("a");
    std::int64_t const start = axis_in(c.i("start"), a.rank());
    std::int64_t const end = axis_in(c.i("end"), a.rank());
    if (end < start) throw error("end is before start");
    std::vector<std::int64_t> to;
    std::int64_t whole = 1;
    for (std::int64_t i = 0; i != static_cast<std::int64_t>(a.rank()); ++i) {
        std::int64_t const n = a.sizes()[static_cast<std::size_t>(i)];
        bool const inside = i >= start && i <= end;
        if (inside) whole *= n;
        if (i == end) to.push_back(whole);
        if (!inside) to.push_back(n);
    }
    if (to.empty()) to.push_back(1);
    return reshaped(c, a, to);
}

results split_dim(call const& c) {
    tensor const a = c.t("a");
    std::int64_t const outer = c.i("outer_length");
    auto const axis = static_cast<std::size_t>(axis_in(c.i("dim"), a.rank()));
    if (a.rank() == 0 || outer <= 0 || a.sizes()[axis] % outer != 0) throw error("outer_length must divide the size");
    std::vector<std::int64_t> to(a.sizes().begin(), a.sizes().end());
    std::int64_t const inner = to[axis] / outer;
    to[axis] = outer;
    to.insert(to.begin() + static_cast<std::ptrdiff_t>(axis) + 1, inner);
    return reshaped(c, a, to);
}

results squeeze(call const& c) {
    tensor const a = c.t("a");
    for (std::int64_t const axis : axes_in(c, "dimensions", a))
        if (a.rank() == 0 || a.sizes()[static_cast<std::size_t>(axis)] != 1) throw error("a dimension is not 1");
    return run_aten(c, "aten::squeeze.dims", {{"a", "self"}, {"dimensions", "dim"}});
}

results transpose(call const& c) {
    axes_in(c, "permutation", c.t("a"));
    return run_aten(c, "aten::permute", {{"a", "self"}, {"permutation", "dims"}});
}

results rev_prim(call const& c) {
    axes_in(c, "dims", c.t("a"));
    return run_aten(c, "aten::flip", {{"a", "self"}, {"dims", "dims"}});
}

results cat_prim(call const& c) {
    for (tensor const& each : c.tensors("tensors"))
        if (c.i("dim") < 0 || each.rank() != c.tensors("tensors")[0].rank()) throw error("the ranks differ");
    return run_aten(c, "aten::cat", {{"tensors", "tensors"}, {"dim", "dim"}});
}

results reshape_prim(call const& c) {
    for (std::int64_t const n : c.ints("shape"))
        if (n < 0) throw error("a size is negative");
    return run_aten(c, "aten::reshape", {{"a", "self"}, {"shape", "shape"}});
}

results clone_prim(call const& c) { return run_aten(c, "aten::clone", {{c.has_argument("a") ? "a" : "self", "self"}}); }

results copied_with_strides(call const& c) {
    if (c.ints("stride").size() != c.t("a").rank()) throw error("there must be one stride for each dimension");
    return clone_prim(c);
}

results view_prim(call const& c) { return run_aten(c, "aten::view.dtype", {{"a", "self"}, {"dtype", "dtype"}}); }
results convert_prim(call const& c) { return run_aten(c, "aten::_to_copy", {{"a", "self"}, {"dtype", "dtype"}}); }
results item_prim(call const& c) { return run_aten(c, "aten::item", {{"a", "self"}}); }
results fill_prim(call const& c) { return run_aten(c, "aten::fill.Scalar", {{"self", "self"}, {"value", "value"}}); }

/// A function of complex numbers, for which ATen also takes real ones.
template <fixed_string Aten>
results of_complex(call const& c) {
    std::string_view const name = c.has_argument("a") ? "a" : "self";
    if (!is_complex(c.t(name).dtype())) throw error("the operand must be complex");
    return run_aten(c, Aten.view(), {{name, "self"}});
}

results scattered(call const& c) {
    return run_aten(c,
                    "aten::as_strided_scatter",
                    {{"self", "self"},
                     {"src", "src"},
                     {"size", "size"},
                     {"stride", "stride"},
                     {"storage_offset", "storage_offset"}});
}

} // namespace

rows prims_shape() {
    static constexpr row all[] = {
        {"prims::as_strided_scatter", scattered},
        {"prims::broadcast_in_dim", broadcast_in_dim},
        {"prims::cat", cat_prim},
        {"prims::clone", clone_prim},
        {"prims::collapse", collapse},
        {"prims::collapse_view", collapse},
        {"prims::conj", of_complex<"aten::_conj">},
        {"prims::conj_physical", of_complex<"aten::_conj_physical">},
        {"prims::convert_element_type", convert_prim},
        {"prims::copy_strided", copied_with_strides},
        {"prims::device_put", clone_prim},
        {"prims::fill", fill_prim},
        {"prims::imag", of_complex<"aten::imag">},
        {"prims::item", item_prim},
        {"prims::real", of_complex<"aten::real">},
        {"prims::reshape", reshape_prim},
        {"prims::rev", rev_prim},
        {"prims::split_dim", split_dim},
        {"prims::squeeze", squeeze},
        {"prims::transpose", transpose},
        {"prims::view_of", clone_prim},
        {"prims::view_of_dtype", view_prim},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
