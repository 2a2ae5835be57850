// SPDX-License-Identifier: MIT
// Evaluators of reductions, cumulative sums, ranges and small matrix products.
#include "evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "attributes.hpp"
#include "elements.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

/// Sums and products of floats are computed in double; those of integers wrap.
template <class T>
using accumulator = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;

template <class T>
accumulator<T> widened(T x) {
    if constexpr (std::is_floating_point_v<T>) return x;
    else return static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
}

/// The next index in row-major order.
void advance(std::vector<std::int64_t>& index, std::vector<std::int64_t> const& sizes) {
    for (std::size_t d = index.size(); d-- > 0;) {
        ++index[d];
        if (index[d] != sizes[d]) return;
        index[d] = 0;
    }
}

struct sum {
    static constexpr bool of_nothing = true; ///< whether there is a sum of no elements
    template <class T>
    static accumulator<T> first() {
        return 0;
    }
    template <class T>
    static accumulator<T> next(accumulator<T> total, T e) {
        return total + widened(e);
    }
};

struct product : sum {
    template <class T>
    static accumulator<T> first() {
        return 1;
    }
    template <class T>
    static accumulator<T> next(accumulator<T> total, T e) {
        return total * widened(e);
    }
};

struct minimum {
    static constexpr bool of_nothing = false;
    template <class T>
    static T first() {
        using limits = std::numeric_limits<T>;
        return limits::has_infinity ? limits::infinity() : limits::max();
    }
    template <class T>
    static T next(T least, T e) {
        return std::min(least, e);
    }
};

struct maximum {
    static constexpr bool of_nothing = false;
    template <class T>
    static T first() {
        using limits = std::numeric_limits<T>;
        return limits::has_infinity ? -limits::infinity() : limits::lowest();
    }
    template <class T>
    static T next(T most, T e) {
        return std::max(most, e);
    }
};

struct squares : sum {
    template <class T>
    static accumulator<T> next(accumulator<T> total, T e) {
        return total + widened(e) * widened(e);
    }
};

/// The square root of the sum of squares.
struct norm : squares {
    static double last(double total, std::size_t) { return std::sqrt(total); }
};

struct mean : sum {
    static constexpr bool of_nothing = false;
    static double last(double total, std::size_t count) { return total / static_cast<double>(count); }
};

/// The axes of a reduction, from the attribute or the input; nothing if the input is not a list of integers.
std::optional<std::vector<std::int64_t>> axes_of(constant_call const& c) {
    if (tensor const* const t = c.input(1); t != nullptr) {
        if (!is_index_tensor(*t)) return {};
        return integers(*t);
    }
    node_attribute const* const a = c.node.attribute("axes");
    return a != nullptr ? a->ints : std::vector<std::int64_t>{};
}

/// Where a reduction puts each element.
struct reduced_layout {
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides; ///< by dimension of the operand: 0 for a reduced one
    std::size_t count = 1;             ///< of the results
};

/// Nothing if an axis is out of range. Without axes, all dimensions are reduced.
std::optional<reduced_layout> layout_of(std::vector<std::int64_t> const& from, std::vector<std::int64_t> const& axes,
                                        bool keep_dimensions) {
    std::vector<char> reduced(from.size(), axes.empty() ? 1 : 0);
    for (std::int64_t a : axes) {
        auto const at = axis_at(a, from.size());
        if (!at) return {};
        reduced[*at] = 1;
    }
    reduced_layout out;
    std::vector<std::int64_t> kept = from;
    for (std::size_t i = 0; i != from.size(); ++i) {
        if (reduced[i] != 0) kept[i] = 1;
        if (reduced[i] == 0 || keep_dimensions) out.sizes.push_back(kept[i]);
        out.count *= static_cast<std::size_t>(kept[i]);
    }
    out.strides = dense_strides(kept);
    for (std::size_t i = 0; i != from.size(); ++i)
        if (reduced[i] != 0) out.strides[i] = 0;
    return out;
}

/// The result of a reduction; nothing if an element is NaN.
template <class Fold, class T>
evaluated folded(tensor const& x, reduced_layout const& to) {
    std::vector<decltype(Fold::template first<T>())> totals(to.count, Fold::template first<T>());
    std::vector<std::int64_t> index(x.sizes.size(), 0);
    for (T e : load<T>(x)) {
        std::size_t at = 0;
        for (std::size_t d = 0; d != index.size(); ++d) at += static_cast<std::size_t>(index[d] * to.strides[d]);
        advance(index, x.sizes);
        if constexpr (std::is_floating_point_v<T>) {
            if (std::isnan(e)) return {};
        }
        totals[at] = Fold::next(totals[at], e);
    }
    std::vector<T> out(to.count);
    std::transform(totals.begin(), totals.end(), out.begin(), [&](auto t) {
        if constexpr (requires { Fold::last(0.0, std::size_t{}); })
            return static_cast<T>(
                Fold::last(static_cast<double>(t), static_cast<std::size_t>(x.element_count()) / to.count));
        else return static_cast<T>(t);
    });
    return store(out, x.type, to.sizes);
}

template <class Fold>
evaluated reduction(constant_call const& c) {
    tensor const& x = *c.inputs[0];
    auto const axes = axes_of(c);
    if (!axes) return {};
    if (axes->empty() && int_attribute(c.node, "noop_with_empty_axes", 0) != 0) return x;
    auto const to = layout_of(x.sizes, *axes, int_attribute(c.node, "keepdims", 1) != 0);
    if (!to || (x.element_count() == 0 && !Fold::of_nothing)) return {};
    if (requires { Fold::last(0.0, std::size_t{}); } && !is_floating(x.type)) return {};
    return with_number_type(x.type, [&]<class T>(T) { return folded<Fold, T>(x, *to); });
}

evaluated range(constant_call const& c) {
    if (c.inputs.size() != 3) return {};
    for (tensor const* t : c.inputs)
        if (t == nullptr || t->element_count() != 1 || t->type != c.inputs[0]->type || !tensor::can_hold(t->type))
            return {};
    dtype const type = c.inputs[0]->type;
    double numbers[3];
    for (std::size_t i = 0; i != 3; ++i) {
        numbers[i] = c.inputs[i]->at(0).to<double>();
        // A runtime may add the step repeatedly: for whole numbers of this size, the result is the same.
        if (std::fabs(numbers[i]) > 4194304.0 || std::trunc(numbers[i]) != numbers[i]) return {};
    }
    auto const [start, limit, delta] = numbers;
    if (delta == 0 || !(is_integral(type) || type == dtype::float32 || type == dtype::float64)) return {};
    double const n = std::max(0.0, std::ceil((limit - start) / delta));
    if (n * static_cast<double>(bits(type)) > 8.0 * static_cast<double>(max_constant_bytes)) return {};
    tensor out{type, {static_cast<std::int64_t>(n)}, {}};
    for (std::int64_t i = 0; i != out.sizes[0]; ++i) {
        double const e = start + static_cast<double>(i) * delta;
        if (is_integral(type)) out.append(static_cast<std::int64_t>(e));
        else out.append(e);
    }
    return out;
}

evaluated cumulative_sum(constant_call const& c) {
    tensor const& x = *c.inputs[0];
    tensor const* const axis_tensor = c.input(1);
    if (axis_tensor == nullptr || !is_index_tensor(*axis_tensor) || axis_tensor->element_count() != 1) return {};
    auto const axis = axis_at(integers(*axis_tensor)[0], x.sizes.size());
    if (!axis || x.element_count() == 0) return {};
    bool const exclusive = int_attribute(c.node, "exclusive", 0) != 0;
    bool const reverse = int_attribute(c.node, "reverse", 0) != 0;
    auto const n = static_cast<std::size_t>(x.sizes[*axis]);
    auto const inner = static_cast<std::size_t>(dense_strides(x.sizes)[*axis]);
    return with_number_type(x.type, [&]<class T>(T) -> evaluated {
        std::vector<T> elements = load<T>(x);
        for (std::size_t first = 0; first != elements.size(); ++first) {
            if (first / inner % n != 0) continue; // not the first element of a line
            accumulator<T> total = 0;
            for (std::size_t i = 0; i != n; ++i) {
                T& e = elements[first + (reverse ? n - 1 - i : i) * inner];
                auto const before = static_cast<T>(total);
                total = widened(static_cast<T>(total + widened(e)));
                e = exclusive ? before : static_cast<T>(total);
            }
        }
        return store(elements, x.type, x.sizes);
    });
}

/// Products of stacks of matrices or of vectors, accumulated in double.
evaluated matrix_product(constant_call const& c) {
    tensor a = *c.inputs[0];
    if (c.inputs.size() != 2 || c.inputs[1] == nullptr || c.inputs[1]->type != a.type || !is_floating(a.type))
        return {};
    tensor b = *c.inputs[1];
    if (a.sizes.empty() || b.sizes.empty()) return {};
    bool const is_row = a.sizes.size() == 1;
    bool const is_column = b.sizes.size() == 1;
    if (is_row) a.sizes.insert(a.sizes.begin(), 1);
    if (is_column) b.sizes.push_back(1);
    std::size_t const ra = a.sizes.size();
    std::size_t const rb = b.sizes.size();
    if (a.sizes[ra - 1] != b.sizes[rb - 2]) return {};
    std::int64_t const rows = a.sizes[ra - 2];
    std::int64_t const depth = a.sizes[ra - 1];
    std::int64_t const columns = b.sizes[rb - 1];
    auto const batch = broadcast(std::span(a.sizes).first(ra - 2), std::span(b.sizes).first(rb - 2));
    if (!batch) return {};
    auto const stacked = [&](std::int64_t m, std::int64_t n) {
        std::vector<std::int64_t> sizes = *batch;
        sizes.insert(sizes.end(), {m, n});
        return sizes;
    };
    auto const count = c.count(stacked(rows, columns), a.type);
    if (!count || !c.count(stacked(rows, depth), a.type) || !c.count(stacked(depth, columns), a.type) ||
        (depth != 0 && *count > c.max_bytes / depth))
        return {};
    return with_number_type(a.type, [&]<class T>(T) -> evaluated {
        if constexpr (!std::is_floating_point_v<T>) return {};
        std::vector<T> const x = load<T>(broadcast_to(a, stacked(rows, depth)));
        std::vector<T> const y = load<T>(broadcast_to(b, stacked(depth, columns)));
        std::vector<double> totals(static_cast<std::size_t>(*count), 0.0);
        for (std::int64_t row = 0; columns != 0 && row != *count / columns; ++row) { // of all matrices
            double* const to = totals.data() + row * columns;
            T const* const left = x.data() + row * depth;
            T const* const right = y.data() + row / rows * depth * columns;
            for (std::int64_t k = 0; k != depth; ++k)
                for (std::int64_t i = 0; i != columns; ++i)
                    to[i] += static_cast<double>(left[k]) * static_cast<double>(right[k * columns + i]);
        }
        std::vector<T> out(totals.begin(), totals.end());
        std::vector<std::int64_t> sizes = *batch;
        if (!is_row) sizes.push_back(rows);
        if (!is_column) sizes.push_back(columns);
        return store(out, a.type, std::move(sizes));
    });
}

struct named_evaluator {
    std::string_view op;
    evaluator function;
};

constexpr named_evaluator reduction_evaluators[] = {
    {"CumSum", cumulative_sum},
    {"MatMul", matrix_product},
    {"Range", range},
    {"ReduceL2", reduction<norm>},
    {"ReduceMax", reduction<maximum>},
    {"ReduceMean", reduction<mean>},
    {"ReduceMin", reduction<minimum>},
    {"ReduceProd", reduction<product>},
    {"ReduceSum", reduction<sum>},
    {"ReduceSumSquare", reduction<squares>},
};

} // namespace

evaluator find_reduction_evaluator(std::string_view op) {
    for (named_evaluator const& e : reduction_evaluators)
        if (e.op == op) return e.function;
    return nullptr;
}

} // namespace ATON_NAMESPACE::passes
