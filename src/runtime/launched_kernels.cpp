// SPDX-License-Identifier: MIT
// Checks operands, allocates results and prepares loops for the kernels of a device.
#include "runtime/launched_kernels.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/kernels/binary.hpp"
#include "runtime/kernels/cast.hpp"
#include "runtime/kernels/unary.hpp"
#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime {

namespace {

using kernels::loop;

[[noreturn]] void refuse_dtype(dtype t) { throw error("this function does not support " + std::string(name(t))); }

/// Throws aton::error unless a kernel supported the dtype.
void expect(bool known, dtype t) {
    if (!known) refuse_dtype(t);
}

void expect_same(dtype a, dtype b) {
    if (a != b)
        throw error("operands of " + std::string(name(a)) + " and " + std::string(name(b)) + " cannot be combined");
}

std::size_t width_of(dtype t) {
    std::size_t const bytes = element_bytes(t);
    if (bytes == 0) refuse_dtype(t);
    return bytes;
}

void expect_axis(std::size_t axis, tensor const& x) {
    if (axis >= x.rank()) throw error("axis " + std::to_string(axis) + " is out of range for " + to_string(x.sizes()));
}

/// The loop over operands of the same shape, the result first.
template <class... In>
loop<1 + sizeof...(In)> make_loop(tensor const& out, In const&... in) {
    constexpr int operands = 1 + static_cast<int>(sizeof...(In));
    tensor const* const all[] = {&out, &in...};
    loop<operands> l;
    l.rank = 1;
    l.sizes[0] = 1;
    l.count = out.count();
    if (l.count == 0) return l;
    l.rank = 0;
    for (std::size_t i = 0; i != out.rank(); ++i) {
        if (out.size(i) == 1) continue;
        bool joins = l.rank != 0; // merges with the previous dimension
        for (int j = 0; j != operands && joins; ++j)
            joins = l.strides[j][l.rank - 1] == all[j]->strides()[i] * out.size(i);
        if (!joins && l.rank == kernels::max_dims)
            throw error("a kernel supports at most " + std::to_string(kernels::max_dims) + " dimensions");
        if (!joins) ++l.rank;
        l.sizes[l.rank - 1] = (joins ? l.sizes[l.rank - 1] : 1) * out.size(i);
        for (int j = 0; j != operands; ++j) l.strides[j][l.rank - 1] = all[j]->strides()[i];
    }
    if (l.rank == 0) l.rank = 1; // a single element
    return l;
}

/// `x` with only these dimensions.
tensor only(tensor const& x, std::vector<std::size_t> const& axes) {
    sizes to;
    std::vector<std::int64_t> strides;
    for (std::size_t axis : axes) {
        to.push_back(x.size(axis));
        strides.push_back(x.strides()[axis]);
    }
    return x.viewed(std::move(to), std::move(strides));
}

/// `x` must not be empty if the result is not. Reduced dimensions are sorted by their strides, since their order does
/// not matter.
kernels::reduce_shape make_reduce(tensor const& x, std::vector<std::size_t> const& kept,
                                  std::vector<std::size_t> reduced_dims) {
    std::stable_sort(reduced_dims.begin(), reduced_dims.end(), [&](std::size_t a, std::size_t b) {
        return std::abs(x.strides()[a]) > std::abs(x.strides()[b]);
    });
    return {make_loop(only(x, kept)), make_loop(only(x, reduced_dims))};
}

std::vector<std::size_t> others(std::size_t rank, std::span<std::size_t const> axes) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i != rank; ++i)
        if (std::find(axes.begin(), axes.end(), i) == axes.end()) out.push_back(i);
    return out;
}

/// The loops for two operands of the same shape, whose first `kept` axes are those of the result.
kernels::window_shape make_windows(tensor const& out, tensor const& x, tensor const& y, std::size_t kept) {
    std::vector<std::size_t> starts(kept);
    std::vector<std::size_t> places(x.rank() - kept);
    std::iota(starts.begin(), starts.end(), std::size_t{0});
    std::iota(places.begin(), places.end(), kept);
    return {make_loop(out, only(x, starts), only(y, starts)), make_loop(only(x, places), only(y, places))};
}

/// Merges batches into one product if the matrices of `a` are adjacent and all are multiplied by the same `b`.
void join_batches(kernels::matmul_shape& s) {
    loop<3>& l = s.batches;
    if (l.rank != 1 || l.strides[2][0] != 0 || l.strides[1][0] != s.m * s.a.row || l.count <= 1) return;
    s.m *= l.count;
    l = loop<3>();
    l.rank = 1;
    l.count = l.sizes[0] = 1;
}

tensor turned(tensor const& x, std::size_t axis, std::size_t to) {
    std::vector<std::size_t> order(x.rank());
    for (std::size_t i = 0; i != order.size(); ++i) order[i] = i;
    order.erase(order.begin() + static_cast<std::ptrdiff_t>(axis));
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), axis);
    return x.permuted(order);
}

} // namespace

void launched_kernels::expect_one_on_device(tensor const& x) const {
    if (x.where() != memory().where())
        throw error("a tensor on " + runtime::name(x.where()) + " was passed to the kernels of " +
                    runtime::name(memory().where()));
}

bool launched_kernels::widens(dtype t) const {
    return !by_.takes_halves && (t == dtype::float16 || t == dtype::bfloat16);
}

tensor launched_kernels::unary(unary_op op, tensor const& x, unary_parameters const& p) const {
    expect_on_device(x);
    bool const gives_bool = kernels::gives_bool(op);
    if (widens(x.dtype())) {
        tensor const y = unary(op, wide(x), p);
        return gives_bool ? y : cast(y, x.dtype(), true);
    }
    tensor out = made(gives_bool ? dtype::bool_ : x.dtype(), x.sizes());
    auto* const launch = kernels::is_special(op) ? by_.special_unary : by_.unary;
    expect(launch(op, x.dtype(), make_loop(out, x), out.bytes(), x.bytes(), p), x.dtype());
    return out;
}

tensor launched_kernels::binary(binary_op op, tensor const& x, tensor const& y) const {
    expect_on_device(x, y);
    expect_same(x.dtype(), y.dtype());
    bool const gives_bool = kernels::compares(op);
    if (widens(x.dtype())) {
        tensor const z = binary(op, wide(x), wide(y));
        return gives_bool ? z : cast(z, x.dtype(), true);
    }
    sizes const to = broadcast(x.sizes(), y.sizes());
    tensor out = made(gives_bool ? dtype::bool_ : x.dtype(), to);
    auto* const launch = kernels::is_special(op) ? by_.special_binary : by_.binary;
    expect(launch(op, x.dtype(), make_loop(out, x.expanded(to), y.expanded(to)), out.bytes(), x.bytes(), y.bytes()),
           x.dtype());
    return out;
}

tensor launched_kernels::select(tensor const& condition, tensor const& yes, tensor const& no) const {
    expect_on_device(condition, yes, no);
    if (yes.dtype() != no.dtype() || condition.dtype() != dtype::bool_)
        throw error("select requires a bool tensor and two tensors of the same dtype");
    std::size_t const width = width_of(yes.dtype());
    sizes const to = broadcast(broadcast(condition.sizes(), yes.sizes()), no.sizes());
    tensor out = made(yes.dtype(), to);
    by_.select(width,
               make_loop(out, condition.expanded(to), yes.expanded(to), no.expanded(to)),
               out.bytes(),
               condition.data<bool const>(),
               yes.bytes(),
               no.bytes());
    return out;
}

tensor launched_kernels::converted(tensor const& x, dtype to, bool saturate) const {
    tensor out = made(to, x.sizes());
    if (!by_.cast(x.dtype(), to, make_loop(out, x), out.bytes(), x.bytes(), saturate))
        throw error(std::string(name(x.dtype())) + " cannot be cast to " + std::string(name(to)));
    return out;
}

tensor launched_kernels::cast(tensor const& x, dtype to, bool saturate) const {
    expect_on_device(x);
    using kernels::passage_of;
    if (x.dtype() == to) return contiguous(x);
    if (is_complex(x.dtype()) && is_complex(to)) return converted(x, to, saturate);
    if (dtype const via = passage_of(x.dtype()); via != x.dtype())
        return cast(converted(x, via, saturate), to, saturate);
    if (dtype const via = passage_of(to); via != to) return converted(cast(x, via, saturate), to, saturate);
    return converted(x, to, saturate);
}

tensor launched_kernels::contiguous(tensor const& x) const {
    if (x.is_contiguous()) return x;
    tensor out = made(x.dtype(), x.sizes());
    copy(x, out);
    return out;
}

void launched_kernels::copy(tensor const& from, tensor const& to) const {
    expect_on_device(from, to);
    if (from.dtype() != to.dtype()) throw error("a copy cannot change the dtype");
    by_.copy(width_of(to.dtype()), make_loop(to, from.expanded(to.sizes())), to.bytes(), from.bytes());
}

tensor launched_kernels::reduce(reduce_op op, tensor const& x, std::span<std::size_t const> axes) const {
    expect_on_device(x);
    for (std::size_t axis : axes) expect_axis(axis, x);
    if (widens(x.dtype())) return cast(reduce(op, wide(x), axes), x.dtype(), true);
    std::vector<std::size_t> const kept = others(x.rank(), axes);
    sizes to;
    for (std::size_t axis : kept) to.push_back(x.size(axis));
    tensor out = made(x.dtype(), std::move(to));
    expect(by_.reduce(op, x.dtype(), make_reduce(x, kept, {axes.begin(), axes.end()}), out.bytes(), x.bytes()),
           x.dtype());
    return out;
}

tensor launched_kernels::arg_reduce(reduce_op op, tensor const& x, std::size_t axis, bool last) const {
    expect_on_device(x);
    expect_axis(axis, x);
    if (widens(x.dtype())) return arg_reduce(op, wide(x), axis, last);
    std::size_t const axes[] = {axis};
    std::vector<std::size_t> const kept = others(x.rank(), axes);
    sizes to;
    for (std::size_t k : kept) to.push_back(x.size(k));
    tensor out = made(dtype::int64, std::move(to));
    if (x.size(axis) == 0 && out.count() != 0)
        throw error("shape " + to_string(x.sizes()) + " has no maximum or minimum along axis " + std::to_string(axis));
    expect(by_.arg_reduce(op, last, x.dtype(), make_reduce(x, kept, {axis}), out.data<std::int64_t>(), x.bytes()),
           x.dtype());
    return out;
}

tensor launched_kernels::scan(scan_op op, tensor const& x, std::size_t axis) const {
    expect_on_device(x);
    expect_axis(axis, x);
    if (widens(x.dtype())) return cast(scan(op, wide(x), axis), x.dtype(), true);
    tensor out = made(x.dtype(), x.sizes());
    std::size_t const axes[] = {axis};
    std::vector<std::size_t> const kept = others(x.rank(), axes);
    kernels::line_shape const lines{
        make_loop(only(out, kept), only(x, kept)), x.size(axis), {out.strides()[axis], x.strides()[axis]}};
    expect(by_.scan(op, x.dtype(), lines, out.bytes(), x.bytes()), x.dtype());
    return out;
}

sorted launched_kernels::sort(tensor const& x, std::size_t axis, bool descending) const {
    expect_on_device(x);
    expect_axis(axis, x);
    if (widens(x.dtype())) {
        sorted out = sort(wide(x), axis, descending);
        return {cast(out.values, x.dtype(), true), std::move(out.indices)};
    }
    tensor const rows = contiguous(turned(x, axis, x.rank() - 1));
    sorted out{made(x.dtype(), rows.sizes()), made(dtype::int64, rows.sizes())};
    std::int64_t const length = x.size(axis);
    kernels::sort_shape const shape{length == 0 ? 0 : x.count() / length, length, descending};
    expect(by_.sort(x.dtype(), shape, out.values.bytes(), out.indices.data<std::int64_t>(), rows.bytes()), x.dtype());
    return {contiguous(turned(out.values, x.rank() - 1, axis)), contiguous(turned(out.indices, x.rank() - 1, axis))};
}

tensor launched_kernels::softmax(tensor const& x, std::size_t axis, bool logarithm) const {
    expect_on_device(x);
    expect_axis(axis, x);
    if (widens(x.dtype())) return cast(softmax(wide(x), axis, logarithm), x.dtype(), true);
    tensor const from = contiguous(x);
    tensor out = made(x.dtype(), x.sizes());
    kernels::axis_shape shape{1, x.size(axis), 1};
    for (std::size_t i = 0; i != x.rank(); ++i)
        if (i != axis) (i < axis ? shape.outer : shape.inner) *= x.size(i);
    if (x.count() == 0) shape = {};
    expect(by_.softmax(logarithm, x.dtype(), shape, out.bytes(), from.bytes()), x.dtype());
    return out;
}

tensor launched_kernels::matmul(tensor const& a, tensor const& b) const {
    expect_on_device(a, b);
    expect_same(a.dtype(), b.dtype());
    if (a.rank() < 2 || b.rank() < 2 || a.size(a.rank() - 1) != b.size(b.rank() - 2))
        throw error("matrices of shapes " + to_string(a.sizes()) + " and " + to_string(b.sizes()) +
                    " cannot be multiplied");
    if (widens(a.dtype())) return cast(matmul(wide(a), wide(b)), a.dtype(), true);
    std::size_t const row = a.rank() - 2;
    std::size_t const column = b.rank() - 1;
    kernels::matmul_shape s;
    s.m = a.size(row);
    s.k = a.size(row + 1);
    s.n = b.size(column);
    s.a = {a.strides()[row], a.strides()[row + 1]};
    s.b = {b.strides()[column - 1], b.strides()[column]};
    auto const batches = [](tensor const& x) {
        return x.viewed({x.sizes().begin(), x.sizes().end() - 2}, {x.strides().begin(), x.strides().end() - 2});
    };
    tensor const x = batches(a);
    tensor const y = batches(b);
    sizes to = broadcast(x.sizes(), y.sizes());
    sizes whole = to;
    whole.insert(whole.end(), {s.m, s.n});
    tensor out = made(a.dtype(), std::move(whole));
    s.batches = make_loop(batches(out), x.expanded(to), y.expanded(to));
    if (out.count() == 0) s.batches.count = 0;
    else join_batches(s);
    expect(by_.matmul(a.dtype(), s, out.bytes(), a.bytes(), b.bytes()), a.dtype());
    return out;
}

tensor launched_kernels::sum_of_products(tensor const& x, tensor const& y, std::size_t kept) const {
    expect_on_device(x, y);
    expect_same(x.dtype(), y.dtype());
    if (by_.sum_of_products == nullptr || x.count() == 0) return {};
    tensor out = made(x.dtype(), {x.sizes().begin(), x.sizes().begin() + static_cast<std::ptrdiff_t>(kept)});
    kernels::window_shape const s = make_windows(out, x, y.expanded(x.sizes()), kept);
    return by_.sum_of_products(x.dtype(), s, out.bytes(), x.bytes(), y.bytes()) ? out : tensor();
}

largest launched_kernels::first_largest(tensor const& x, tensor const& numbers, std::size_t kept) const {
    expect_on_device(x, numbers);
    expect_same(numbers.dtype(), dtype::int64);
    if (by_.first_largest == nullptr || x.count() == 0) return {};
    sizes const to(x.sizes().begin(), x.sizes().begin() + static_cast<std::ptrdiff_t>(kept));
    largest out{made(x.dtype(), to), made(dtype::int64, to)};
    kernels::window_shape const s = make_windows(out.values, x, numbers.expanded(x.sizes()), kept);
    bool const known = by_.first_largest(x.dtype(),
                                         s,
                                         out.values.bytes(),
                                         out.numbers.data<std::int64_t>(),
                                         x.bytes(),
                                         numbers.data<std::int64_t const>());
    return known ? out : largest();
}

void launched_kernels::check_positions(tensor const& positions, std::int64_t count) const {
    if (positions.dtype() != dtype::int64)
        throw error("positions must be int64, not " + std::string(name(positions.dtype())));
    if (positions.count() == 0) return;
    std::vector<std::size_t> axes(positions.rank());
    for (std::size_t i = 0; i != axes.size(); ++i) axes[i] = i;
    for (reduce_op op : {reduce_op::min, reduce_op::max}) {
        std::int64_t const extreme = *to_host(reduce(op, positions, axes)).data<std::int64_t>();
        if (extreme < 0 || extreme >= count)
            throw error("position " + std::to_string(extreme) + " is out of range for " + std::to_string(count) +
                        " elements");
    }
}

tensor launched_kernels::take(tensor const& x, tensor const& positions) const {
    expect_on_device(x, positions);
    std::size_t const width = width_of(x.dtype());
    check_positions(positions, x.count());
    tensor out = made(x.dtype(), positions.sizes());
    by_.take(
        width, make_loop(out, positions), out.bytes(), positions.data<std::int64_t const>(), make_loop(x), x.bytes());
    return out;
}

void launched_kernels::check_put(tensor const& into, tensor const& positions, tensor const& values) const {
    expect_on_device(into, positions, values);
    expect_same(into.dtype(), values.dtype());
    if (!into.is_contiguous()) throw error("the destination of put must be contiguous");
    check_positions(positions, into.count());
}

void launched_kernels::put(tensor const& into, tensor const& positions, tensor const& values, put_op op) const {
    check_put(into, positions, values);
    width_of(into.dtype());
    loop<2> const l = make_loop(positions, values.expanded(positions.sizes()));
    expect(by_.put(op, into.dtype(), l, into.bytes(), positions.data<std::int64_t const>(), values.bytes()),
           into.dtype());
}

tensor launched_kernels::range(std::int64_t count) const {
    tensor out = made(dtype::int64, {count});
    by_.range(count, out.data<std::int64_t>());
    return out;
}

tensor launched_kernels::random_bits(std::int64_t count, std::uint64_t seed) const {
    tensor out = made(dtype::uint32, {count});
    by_.random_bits(count, seed, out.data<std::uint32_t>());
    return out;
}

} // namespace ATON_NAMESPACE::runtime
