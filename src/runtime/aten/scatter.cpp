// SPDX-License-Identifier: MIT
// ATen operators: scatter, and writes to slices and views.
#include "positions.hpp"

#include <string>

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

using kind = aten::argument_kind;

/// A tensor or number to write to `self`, which must have its dtype.
tensor source_of(call const& c, std::string_view name, dtype type) {
    if (c.argument(name).kind == kind::tensor && c.t(name).dtype() != type)
        throw error("'" + std::string(name) + "' has the dtype " + std::string(aton::name(c.t(name).dtype())) +
                    ", self has " + std::string(aton::name(type)));
    return operand(c, name, type);
}

results index_put(call const& c) {
    tensor const x = c.t("self");
    std::vector<tensor> const indices = integer_indices(x, c.tensors("indices"));
    tensor const values = source_of(c, "values", x.dtype());
    tensor const at = indexed_positions(x.sizes(), indices);
    return put(x, at, values.expanded(at.sizes()), c.b("accumulate") ? put_op::add : put_op::assign);
}

results put_flat(call const& c) {
    tensor const x = c.t("self");
    tensor const index = flatten(c.t("index"));
    tensor const source = flatten(source_of(c, "source", x.dtype()));
    if (index.count() != source.count()) throw error("source and index must have the same number of elements");
    if (index.count() == 0) return x;
    tensor const at = positions({x.count()}, std::vector<tensor>{index});
    return put(x, at, source, c.b("accumulate") ? put_op::add : put_op::assign);
}

// Reductions of values at the same position.

/// A reduction of values at the same position, by the names that arguments have for it.
struct reduction {
    put_op op = put_op::assign;
    bool mean = false;
};

reduction reduction_named(std::string_view name) {
    if (name == "sum" || name == "add") return {put_op::add};
    if (name == "prod" || name == "multiply") return {put_op::mul};
    if (name == "amax") return {put_op::max};
    if (name == "amin") return {put_op::min};
    if (name == "mean") return {put_op::add, true};
    throw error("unknown reduction '" + std::string(name) + "'");
}

/// The initial value of a reduction.
tensor neutral(put_op op, tensor const& like) {
    if (op == put_op::add || op == put_op::mul) return full(op == put_op::mul ? 1 : 0, like.dtype(), {}, like.where());
    tensor const none = tensor::empty(like.dtype(), {0}, kernels_of(like.where()).memory());
    return reduce(op == put_op::max ? reduce_op::max : reduce_op::min, none, {0});
}

/// `x` with values reduced at positions; narrow floats are computed in float32.
tensor reduced(tensor const& x, tensor const& at, tensor const& values, reduction r, bool include_self) {
    tensor const start = cast(x, compute_type(x.dtype()));
    tensor out = include_self ? start : put(start, at, neutral(r.op, start).expanded(at.sizes()));
    out = put(out, at, cast(values, start.dtype()).expanded(at.sizes()), r.op);
    if (r.mean) {
        tensor const one = full(1, start.dtype(), {}, x.where());
        tensor const base = clone(full(include_self ? 1 : 0, start.dtype(), x.sizes(), x.where()));
        tensor const counted = put(base, at, one.expanded(at.sizes()), put_op::add);
        tensor const count = where(equal(counted, 0), one, counted);
        out = is_integral(x.dtype()) ? binary(binary_op::floor_div, out, count) : out / count;
    }
    return cast(out, x.dtype());
}

/// scatter, scatter_add and scatter_reduce. `index` has the rank of `self`; 0-d tensors count as 1-d.
results scatter_along(call const& c, std::string_view source, reduction r, bool include_self) {
    tensor const x = c.t("self");
    tensor const wide = at_least_1d(x);
    tensor const index = at_least_1d(c.t("index"));
    std::size_t const axis = axis_of(c, wide);
    if (index.count() == 0) return x;
    if (index.rank() != wide.rank())
        throw error("an index of shape " + to_string(index.sizes()) + " does not fit shape " + to_string(x.sizes()));
    tensor values = source_of(c, source, x.dtype());
    if (c.argument(source).kind == kind::tensor) {
        values = at_least_1d(values);
        for (std::size_t i = 0; i != index.rank(); ++i) {
            if (values.rank() != index.rank() || index.size(i) > values.size(i))
                throw error("an index of shape " + to_string(index.sizes()) + " does not fit a source of " +
                            to_string(values.sizes()));
            values = values.sliced(i, 0, index.size(i));
        }
    }
    tensor const at = positions_along(wide.sizes(), index, static_cast<std::int64_t>(axis));
    if (r.op == put_op::assign) return reshape(put(wide, at, values.expanded(at.sizes())), x.sizes());
    return reshape(reduced(wide, at, values, r, include_self), x.sizes());
}

template <put_op Op>
results scatter_with(call const& c) {
    return scatter_along(c, c.has_argument("src") ? "src" : "value", {Op}, true);
}
results scatter_reduce(call const& c) {
    bool const include_self = !c.has_argument("include_self") || c.b("include_self");
    return scatter_along(c, c.has_argument("src") ? "src" : "value", reduction_named(c.text("reduce")), include_self);
}

// Slices at a vector of indices.

/// The positions of the slices, in the shape of the values that go there.
tensor slices_of(call const& c, tensor const& x) { return slice_positions(x.sizes(), axis_of(c, x), c.t("index")); }

/// The source, which has the shape of the slices; a 0-d one may represent a slice of one element.
tensor source_for(call const& c, tensor const& at, tensor const& x) {
    tensor source = source_of(c, "source", x.dtype());
    if (source.sizes() == at.sizes()) return source;
    if (source.count() == at.count() && (source.rank() == 0 || x.rank() == 0)) return reshape(source, at.sizes());
    throw error("a source of shape " + to_string(source.sizes()) + " does not fit slices of " + to_string(at.sizes()));
}

results index_copy(call const& c) {
    tensor const x = c.t("self");
    tensor const at = slices_of(c, x);
    return put(x, at, source_for(c, at, x));
}

results index_add(call const& c) {
    tensor const x = c.t("self");
    tensor const at = slices_of(c, x);
    tensor const source = source_for(c, at, x);
    if (c.number("alpha") != scalar(1)) return put(x, at, source * operand(c, "alpha", x.dtype()), put_op::add);
    // ATen has a separate path for the outermost dimension, which rounds once.
    std::size_t const axis = axis_of(c, x);
    bool const once = x.rank() > 1 && (axis == 0 || axis + 1 == x.rank());
    dtype const in = once ? compute_type(x.dtype()) : x.dtype();
    return cast(put(cast(x, in), at, cast(source, in), put_op::add), x.dtype());
}

results index_fill(call const& c) {
    tensor const x = c.t("self");
    if (c.argument("value").kind == kind::tensor && c.t("value").rank() != 0)
        throw error("the value of index_fill must be a 0-d tensor");
    return put(x, slices_of(c, x), operand(c, "value", x.dtype()));
}

results index_reduce(call const& c) {
    tensor const x = c.t("self");
    tensor const at = slices_of(c, x);
    if (at.count() == 0) return x;
    return reduced(x, at, source_for(c, at, x), reduction_named(c.text("reduce")), c.b("include_self"));
}

// Writes to views.

/// `x` with `source` written to a view of it.
template <class View>
tensor overwritten(tensor const& x, tensor const& source, View const& view) {
    tensor const out = clone(x);
    tensor const part = view(out);
    if (part.sizes() != source.sizes())
        throw error("a source of shape " + to_string(source.sizes()) + " does not fit a view of " +
                    to_string(part.sizes()));
    if (part.count() != 0) kernels_of(x.where()).copy(cast(source, x.dtype()), part);
    return out;
}

tensor diagonal_of(call const& c, tensor const& x) {
    return aten_kernels::diagonal_of(x, c.i("offset"), c.i("dim1"), c.i("dim2"));
}
tensor strided_view_of(call const& c, tensor const& x) {
    return strided(x, c.ints("size"), c.ints("stride"), c.maybe_i("storage_offset"));
}

template <tensor (*View)(call const&, tensor const&)>
results scatter_into(call const& c) {
    return overwritten(c.t("self"), c.t("src"), [&](tensor const& x) { return View(c, x); });
}

/// The gradient, written to a view of zeros.
template <tensor (*View)(call const&, tensor const&)>
results backward_of(call const& c) {
    tensor const gradient = c.t("grad_output");
    tensor const zeros = full(0, gradient.dtype(), c.ints("input_sizes"), gradient.where());
    return overwritten(zeros, gradient, [&](tensor const& x) { return View(c, x); });
}

} // namespace

rows scatter() {
    static constexpr row all[] = {
        {"index_put", index_put},
        {"_unsafe_index_put", index_put},
        {"_index_put_impl", index_put},
        {"put", put_flat},
        {"scatter.src", scatter_with<put_op::assign>},
        {"scatter.value", scatter_with<put_op::assign>},
        {"scatter_add", scatter_with<put_op::add>},
        {"scatter.reduce", scatter_reduce},
        {"scatter.value_reduce", scatter_reduce},
        {"scatter_reduce.two", scatter_reduce},
        {"index_copy", index_copy},
        {"index_add", index_add},
        {"index_fill.int_Scalar", index_fill},
        {"index_fill.int_Tensor", index_fill},
        {"index_reduce", index_reduce},
        {"slice_scatter", scatter_into<slice_of>},
        {"select_scatter", scatter_into<selection_of>},
        {"diagonal_scatter", scatter_into<diagonal_of>},
        {"as_strided_scatter", scatter_into<strided_view_of>},
        {"slice_backward", backward_of<slice_of>},
        {"select_backward", backward_of<selection_of>},
        {"diagonal_backward", backward_of<diagonal_of>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
