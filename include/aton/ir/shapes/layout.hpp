// SPDX-License-Identifier: MIT
// Shape rules of operators that move, select or reduce elements: Transpose, Concat, Slice, Gather, Reduce* and similar.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <aton/ir/shapes/context.hpp>

namespace ATON_NAMESPACE::shapes {

/// Sets a flag for each of `rank` axes that is listed; false if an axis is out of range or duplicated.
template <class = void>
bool mark(ints const& axes, std::int64_t rank, ints& flags) {
    flags.assign(index(rank), 0);
    for (std::int64_t axis : axes) {
        std::int64_t const a = axis_of(axis, rank);
        if (a < 0 || flags[index(a)] != 0) return false;
        flags[index(a)] = 1;
    }
    return true;
}

template <class = void>
dims to_dims(list const& numbers) {
    dims out;
    for (std::size_t i = 0; i != numbers.size(); ++i) out.push_back(numbers.as_dim(i));
    return out;
}

/// The output has the shape given by an input: ConstantOfShape, MaxUnpool.
template <class Context>
void shape_from(Context& c, std::size_t i) {
    if (list const sizes = c.sizes(i)) c.set(0, to_dims(sizes));
    else c.set_rank(0, c.length(i));
}

template <class Context>
void transpose(Context& c) {
    if (!c.ranked(0)) return;
    std::int64_t const n = c.rank(0);
    list const perm = c.numbers("perm");
    ints seen;
    if (perm && (static_cast<std::int64_t>(perm.size()) != n || !mark(perm.values, n, seen)))
        c.refuse("perm is not a permutation of the " + std::to_string(n) + " axes");
    dims out;
    for (std::int64_t i = 0; i != n; ++i) {
        std::int64_t const from = perm ? perm[index(i)] : n - 1 - i;
        if (from < 0) c.refuse("perm contains a negative axis");
        out.push_back(c.in(0)[index(from)]);
    }
    c.set(0, out);
}

template <class Context>
void squeeze(Context& c) {
    if (!c.ranked(0)) return;
    c.expect_at_most(1, c.rank(0));
    list const axes = c.numbers("axes", 1);
    if (!axes && c.given("axes", 1)) return c.set_rank(0, c.length(1) < 0 ? -1 : c.rank(0) - c.length(1));
    ints dropped;
    if (!mark(axes.values, c.rank(0), dropped)) c.refuse("an axis is out of range or duplicated");
    dims out;
    for (std::size_t i = 0; i != dropped.size(); ++i) {
        dim const& d = c.in(0)[i];
        if (!axes && !d.is_static()) return; // all dimensions of size 1 are removed, and this one may be 1
        if (axes && dropped[i] != 0 && d.is_static() && d.size() != 1)
            c.refuse("a dimension of size " + std::to_string(d.size()) + " cannot be removed");
        if (axes ? dropped[i] == 0 : !d.is(1)) out.push_back(d);
    }
    c.set(0, out);
}

template <class Context>
void unsqueeze(Context& c) {
    if (!c.ranked(0)) return;
    list const axes = c.numbers("axes", 1);
    if (!axes) return c.set_rank(0, c.length(1) < 0 ? -1 : c.rank(0) + c.length(1));
    ints added;
    if (!mark(axes.values, c.rank(0) + static_cast<std::int64_t>(axes.size()), added))
        c.refuse("an axis is out of range or duplicated");
    dims out;
    std::size_t next = 0;
    for (std::int64_t flag : added) out.push_back(flag != 0 ? dim(1) : c.in(0)[next++]);
    c.set(0, out);
}

template <class Context>
void concat(Context& c) {
    dims out;
    bool found = false;
    std::int64_t axis = -1;
    dim joined = 0;
    for (std::size_t i = 0; i != c.inputs(); ++i) {
        if (!c.ranked(i)) {
            joined = dim();
            continue;
        }
        dims const& in = c.in(i);
        axis = c.axis(1, count(in));
        if (found && out.size() != in.size())
            c.refuse("inputs of rank " + std::to_string(out.size()) + " and rank " + std::to_string(in.size()));
        dim const& more = in[index(axis)];
        if (c.inputs() == 1) joined = more;
        else joined = joined.is_static() && more.is_static() ? dim(checked_int(joined.size()) + more.size()) : dim();
        if (!found) out = in;
        found = true;
        for (std::size_t k = 0; k != in.size(); ++k) {
            if (k != index(axis)) expect_same(out[k], in[k], "onnx::Concat: dimensions");
            out[k] = merge(out[k], in[k]);
        }
    }
    if (!found) return;
    out[index(axis)] = joined;
    c.set(0, out);
}

/// Refuses part sizes that do not add up to `all` (negative: unknown), or are not as many as the outputs.
template <class Context>
void expect_pieces(Context const& c, list const& sizes, std::int64_t all) {
    checked_int sum = 0;
    for (std::int64_t size : sizes.values) {
        if (size < 0) c.refuse("invalid part size " + std::to_string(size));
        sum = sum + size;
    }
    if (sizes.size() != c.outputs())
        c.refuse(std::to_string(sizes.size()) + " part sizes for " + std::to_string(c.outputs()) + " outputs");
    if (all >= 0 && sum != all)
        c.refuse("the part sizes add up to " + std::to_string(std::int64_t{sum}) + ", the dimension has size " +
                 std::to_string(all));
}

template <class Context>
void split(Context& c) {
    std::int64_t const axis = c.ranked(0) ? c.axis(0, c.rank(0)) : -1;
    if (axis < 0 || c.outputs() == 0) return;
    auto const parts = static_cast<std::int64_t>(c.outputs());
    std::int64_t const all = c.in(0)[index(axis)].size_or(-1);
    list const sizes = c.numbers("split", 1);
    if (sizes) expect_pieces(c, sizes, all);
    std::int64_t const part = ceil_div(all, parts);
    std::int64_t const last = all - (parts - 1) * part; // since opset 18 the last part may be smaller
    bool const is_counted = c.opset() >= 18;
    if (is_counted && c.given("split", 1) == (c.attribute("num_outputs") != nullptr))
        c.refuse("either split or num_outputs must be given");
    if (is_counted && c.number("num_outputs", parts) != parts)
        c.refuse("num_outputs is " + std::to_string(c.number("num_outputs", 0)) + ", the node has " +
                 std::to_string(parts) + " outputs");
    bool const equal = !c.given("split", 1) && all >= 0;
    if (equal && (last < 0 || (last != part && !is_counted) || part > INT32_MAX)) // ONNX's inference uses 32 bits
        c.refuse("a dimension of size " + std::to_string(all) + " cannot be split into " + std::to_string(parts) +
                 " equal parts");
    for (std::int64_t i = 0; i != parts; ++i) {
        dims out = c.in(0);
        dim& d = out[index(axis)];
        d = dim();
        if (sizes && sizes.size() == index(parts)) d = sizes[index(i)];
        else if (equal) d = i + 1 == parts ? last : part;
        c.set(index(i), out);
    }
}

/// One dimension of Slice. A full slice, up to INT64_MAX, keeps a dimension that is not static.
template <class = void>
dim sliced(dim const& in, std::int64_t from, std::int64_t to, std::int64_t step) {
    if (from == 0 && step == 1 && to == INT64_MAX) return in;
    if (!in.is_static() || step == 0) return {};
    std::int64_t const n = in.size();
    auto const clamp = [n, step](std::int64_t v) {
        std::int64_t const counted = v < 0 ? larger(v, -n - 1) + n : v;
        return step < 0 ? smaller(larger(counted, -1), n - 1) : smaller(larger(counted, 0), n);
    };
    std::int64_t const first = step < 0 ? larger(clamp(from), n == 0 ? -1 : 0) : clamp(from);
    std::int64_t const distance = step < 0 ? first - clamp(to) : clamp(to) - first;
    return distance <= 0 ? 0 : ceil_div(distance, step < 0 ? -step : step);
}

template <class Context>
void slice(Context& c) {
    if (!c.ranked(0)) return;
    for (std::size_t i = 1; i != 5; ++i) c.expect_at_most(i, c.rank(0));
    dims out = c.in(0);
    list const starts = c.numbers("starts", 1);
    list const ends = c.numbers("ends", 2);
    list axes = c.numbers("axes", 3);
    list const steps = c.numbers(4);
    if (!c.given("axes", 3) && starts) {
        axes.known = true;
        for (std::size_t i = 0; i != starts.size(); ++i) axes.values.push_back(static_cast<std::int64_t>(i));
    }
    if (starts && ends && starts.size() != ends.size())
        c.refuse(std::to_string(starts.size()) + " starts, but " + std::to_string(ends.size()) + " ends");
    if (starts && axes && starts.size() != axes.size())
        c.refuse(std::to_string(starts.size()) + " starts for " + std::to_string(axes.size()) + " axes");
    if (steps && axes && steps.size() != axes.size())
        c.refuse(std::to_string(steps.size()) + " steps for " + std::to_string(axes.size()) + " axes");
    for (std::size_t i = 0; steps && i != steps.size(); ++i) {
        if (steps[i] == 0) c.refuse("a step of 0");
        // A negative step to the maximum end: empty by the specification, everything in ONNX Runtime.
        if (i < ends.size() && steps[i] < 0 && (ends[i] == INT64_MAX || ends[i] == INT32_MAX))
            c.refuse("a negative step with an end beyond the dimension");
    }
    if (!axes) return c.set_rank(0, c.rank(0));
    ints done(out.size(), 0);
    for (std::size_t i = 0; i != axes.size(); ++i) {
        std::int64_t const axis = c.axis_in(axes[i], count(out));
        if (done[index(axis)]++ != 0) c.refuse("axis " + std::to_string(axis) + " is duplicated");
        bool const known =
            i < starts.size() && i < ends.size() && starts && ends && (c.has(4) ? steps && i < steps.size() : true);
        dim const d = out[index(axis)];
        out[index(axis)] = known ? sliced(d, starts[i], ends[i], c.has(4) ? steps[i] : 1) : dim();
    }
    c.set(0, out);
}

template <class Context>
void gather(Context& c) {
    std::int64_t const axis = c.ranked(0) ? c.axis(0, c.rank(0)) : -1;
    if (axis < 0 || !c.ranked(1)) return;
    dims out;
    append(out, c.in(0), 0, axis);
    append(out, c.in(1), 0, c.rank(1));
    append(out, c.in(0), axis + 1, c.rank(0));
    c.set(0, out);
}

template <class Context>
void gather_nd(Context& c) {
    if (!c.ranked(0) || !c.ranked(1)) return;
    if (c.rank(1) == 0 || c.rank(0) == 0) c.refuse_axis(-1, 0);
    if (!c.in(1).back().is_static()) return;
    std::int64_t const batches = c.number("batch_dims", 0);
    std::int64_t const used = checked_int(batches) + c.in(1).back().size();
    if (batches < 0 || batches >= c.rank(1) || used > c.rank(0)) c.refuse_axis(batches < 0 ? batches : used, c.rank(0));
    dims out;
    append(out, c.in(1), 0, c.rank(1) - 1);
    append(out, c.in(0), used, c.rank(0));
    c.set(0, out);
}

template <class Context>
void expand(Context& c) {
    if (!c.ranked(0)) return;
    if (list const to = c.sizes(1)) c.set(0, broadcast(c.in(0), to_dims(to)));
    else if (c.length(1) >= 0) c.set_rank(0, larger(c.rank(0), c.length(1)));
}

template <class Context>
void tile(Context& c) {
    if (!c.ranked(0)) return;
    dims out(c.in(0).size());
    if (!c.has(2)) c.expect_at_most(1, c.rank(0));
    if (!c.has(2)) c.expect_rank(1, 1, 1); // opset 1 has the inputs tiles and axis instead
    list const repeats = c.numbers(1);
    if (repeats && repeats.size() != out.size() && !c.has(2))
        c.refuse(std::to_string(repeats.size()) + " repeats for rank " + std::to_string(out.size()));
    if (repeats && !c.has(2))
        for (std::size_t i = 0; i != out.size(); ++i) {
            dim const& d = c.in(0)[i];
            if (repeats[i] < 0) c.refuse("invalid repeat count " + std::to_string(repeats[i]));
            out[i] = repeats[i] == 1 ? d : d.is_static() ? dim(checked_int(d.size()) * repeats[i]) : dim();
        }
    c.set(0, out);
}

template <class Context>
void pad(Context& c) {
    if (!c.ranked(0)) return;
    std::int64_t const n = c.rank(0);
    c.expect_at_most(1, 2 * n);
    c.expect_at_most(3, n);
    list const pads = c.attribute("paddings") != nullptr ? c.numbers("paddings") : c.numbers("pads", 1);
    list axes = c.numbers(3);
    for (std::int64_t i = 0; !c.has(3) && i != n; ++i) axes.values.push_back(i);
    if (c.attribute("pads") == nullptr && c.attribute("paddings") == nullptr) c.expect_rank(1, 1, 1);
    if (c.constant(3) != nullptr && c.element_type(3) != dtype::int64) c.refuse("the axes must be int64");
    if (c.has(3) && !axes) return c.set_rank(0, n);
    ints padded;
    if (!mark(axes.values, n, padded)) c.refuse("an axis is out of range or duplicated");
    if (pads && pads.size() != 2 * axes.size())
        c.refuse(std::to_string(pads.size()) + " pads for " + std::to_string(axes.size()) + " axes");
    if (!pads) return c.set_rank(0, n);
    dims out = c.in(0);
    for (std::size_t i = 0; i != axes.size(); ++i) {
        std::int64_t const axis = axis_of(axes[i], n);
        std::int64_t const before = pads[i];
        std::int64_t const after = pads[i + axes.size()];
        dim& d = out[index(axis)];
        if (before <= unknown + 1 || after <= unknown + 1) c.refuse("a pad does not fit in 64 bits");
        std::int64_t const added = checked_add(before, after);
        std::int64_t const size = d.is_static() ? checked_add(d.size(), added) : 0;
        if (size < 0) c.refuse("the pads give a dimension of size " + std::to_string(size));
        if (before != 0 || after != 0) d = d.is_static() ? dim(size) : dim();
    }
    c.set(0, out);
}

template <class Context>
void shape_of(Context& c) {
    if (!c.ranked(0)) return c.set_rank(0, 1);
    std::int64_t const n = c.rank(0);
    auto const bound = [n](std::int64_t b) { return b < 0 ? larger(b + n, 0) : smaller(b, n); };
    c.set(0, {larger(bound(c.number("end", n)) - bound(c.number("start", 0)), 0)});
}

/// Removes the dimensions whose flag is set, or keeps them with size 1.
template <class Context>
void reduce_marked(Context& c, ints const& flags) {
    bool const keep = c.number("keepdims", 1) != 0;
    dims out;
    for (std::size_t i = 0; i != flags.size(); ++i)
        if (flags[i] == 0 || keep) out.push_back(flags[i] != 0 ? dim(1) : c.in(0)[i]);
    c.set(0, out);
}

template <class Context>
void reduce(Context& c) {
    bool const keep = c.number("keepdims", 1) != 0;
    bool const empty_means_all = c.number("noop_with_empty_axes", 0) == 0;
    bool const given = c.given("axes", 1);
    list const axes = c.numbers("axes", 1);
    bool const no_axes = !given || (axes && axes.size() == 0);
    if (!c.ranked(0)) return c.set_rank(0, no_axes && empty_means_all && !keep ? 0 : -1);
    c.expect_at_most(1, c.rank(0));
    if (no_axes) return reduce_marked(c, ints(c.in(0).size(), empty_means_all ? 1 : 0));
    if (!axes) return c.set_rank(0, keep ? c.rank(0) : c.length(1) > 0 ? c.rank(0) - c.length(1) : -1);
    ints flags;
    if (!mark(axes.values, c.rank(0), flags)) c.refuse("an axis is out of range or duplicated");
    reduce_marked(c, flags);
}

template <class Context>
void arg_reduce(Context& c) {
    ints flags;
    if (!c.ranked(0)) return;
    (void)c.axis(0, c.rank(0));
    if (mark({c.number("axis", 0)}, c.rank(0), flags)) reduce_marked(c, flags);
}

/// Compress and Unique: an unknown number of slices along an axis, or a 1-d result without axis.
template <class Context>
void select_some(Context& c) {
    for (std::size_t i = 1; i < c.outputs(); ++i) c.set_rank(i, 1);
    if (c.node().op == "Compress") c.expect_rank(0, 1);
    if (c.attribute("axis") == nullptr) return c.set_rank(0, 1);
    std::int64_t const axis = c.ranked(0) ? c.axis(0, c.rank(0)) : -1;
    if (axis < 0) return;
    dims out = c.in(0);
    out[index(axis)] = dim();
    c.set(0, out);
}

template <class Context>
void center_crop_pad(Context& c) {
    if (!c.ranked(0)) return;
    list const size = c.elements(1);
    list axes = c.numbers("axes");
    for (std::int64_t i = 0; !axes && i != c.rank(0); ++i) axes.values.push_back(i);
    dims out = c.in(0);
    for (std::size_t i = 0; i != axes.size(); ++i) {
        std::int64_t const axis = axis_of(axes[i], count(out));
        if (axis < 0) return;
        out[index(axis)] = i < size.size() ? size.as_dim(i) : dim();
    }
    c.set(0, out);
}

} // namespace ATON_NAMESPACE::shapes
