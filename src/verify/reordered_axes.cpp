// SPDX-License-Identifier: MIT
// Permutes tensors and lists, and maps the axes that arguments name.
#include "reordered_axes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace ATON_NAMESPACE::verify {

using kind = aten::argument_kind;
using runtime::aten_argument;
using runtime::tensor;

namespace {

/// Axis i of the new order is axis `order[i]` of the old one.
using axis_order = std::vector<std::size_t>;

axis_order random_order(random_source& random, std::size_t rank) {
    axis_order out(rank);
    for (std::size_t i = 0; i != rank; ++i) out[i] = i;
    for (std::size_t i = rank; i-- > 1;)
        std::swap(out[i], out[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(i)))]);
    return out;
}

/// The order of the other axes.
axis_order without(axis_order order, std::size_t axis) {
    std::erase(order, axis);
    for (std::size_t& each : order) each -= each > axis ? 1 : 0;
    return order;
}

tensor reordered(tensor const& x, axis_order const& order, std::size_t axis) {
    if (!x) return x;
    bool const is_dense = x.is_contiguous();
    tensor out = x;
    if (x.rank() == order.size()) out = x.permuted(order);
    else if (x.rank() + 1 == order.size()) out = x.permuted(without(order, axis));
    return is_dense ? out.contiguous() : out;
}

} // namespace

void reorder_axes(random_source& random, sample& s, std::vector<std::string_view> const& names) {
    std::vector<aten_argument*> all;
    for (std::string_view const name : names) {
        auto const found = std::ranges::find(s.arguments, name, &aten_argument::name);
        if (found != s.arguments.end()) all.push_back(&*found);
        else if (all.empty()) return;
    }
    if (all.size() < 2) return;
    tensor const& whole =
        all[1]->kind == kind::tensors && !all[1]->tensors.empty() ? all[1]->tensors.front() : all[1]->tensor;
    if (!whole || whole.rank() == 0) return;
    axis_order const order = random_order(random, whole.rank());
    auto const rank = static_cast<std::int64_t>(whole.rank());
    std::size_t axis = 0; // the last that the first argument names
    auto const follow = [&](scalar& n) {
        auto const was = n.to<std::int64_t>();
        if (was < -rank || was >= rank) return;
        axis = static_cast<std::size_t>(was < 0 ? was + rank : was);
        auto const now = std::ranges::find(order, axis) - order.begin();
        n = static_cast<long long>(random.chance(0.5) ? now : now - rank);
    };
    if (all[0]->kind == kind::number) follow(all[0]->number);
    for (scalar& n : all[0]->numbers) follow(n);
    for (std::size_t i = 1; i != all.size(); ++i) {
        aten_argument& a = *all[i];
        if (a.tensor) a.tensor = reordered(a.tensor, order, axis);
        for (tensor& x : a.tensors) x = reordered(x, order, axis);
        if (a.numbers.size() != order.size()) continue;
        std::vector<scalar> const was = a.numbers;
        for (std::size_t k = 0; k != order.size(); ++k) a.numbers[k] = was[order[k]];
    }
}

} // namespace ATON_NAMESPACE::verify
