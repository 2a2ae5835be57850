// SPDX-License-Identifier: MIT
// Evaluators of reductions, indices of extremes, cumulative sums, softmax and ranges.
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

struct sum {
    static constexpr bool of_nothing = true; ///< whether there is a sum of no elements
    static constexpr bool keeps_one = true;  ///< whether that of one element is the element
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

struct minimum_of_line {
    static constexpr bool of_nothing = false;
    static constexpr bool keeps_one = true;
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

struct maximum_of_line {
    static constexpr bool of_nothing = false;
    static constexpr bool keeps_one = true;
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
    static constexpr bool keeps_one = false;
    template <class T>
    static accumulator<T> next(accumulator<T> total, T e) {
        return total + widened(e) * widened(e);
    }
};

struct magnitudes : sum {
    static constexpr bool keeps_one = false;
    template <class T>
    static accumulator<T> next(accumulator<T> total, T e) {
        return e < 0 ? total - widened(e) : total + widened(e);
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
    if (axes->empty() && int_attribute(c.node, "noop_with_empty_axes", 0) != 0)
        return Fold::keeps_one ? evaluated(x) : evaluated();
    auto const to = layout_of(x.sizes, *axes, int_attribute(c.node, "keepdims", 1) != 0);
    if (!to || (x.element_count() == 0 && !Fold::of_nothing)) return {};
    if (requires { Fold::last(0.0, std::size_t{}); } && !is_floating(x.type)) return {};
    if constexpr (std::is_same_v<decltype(Fold::template first<std::uint8_t>()), std::uint8_t>)
        if (x.type == dtype::bool_) return folded<Fold, std::uint8_t>(x, *to); // an extreme
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

/// Elements of a tensor along an axis, as positions.
struct line {
    std::size_t first;
    std::size_t step;
    std::size_t count;

    [[nodiscard]] std::size_t at(std::size_t i) const { return first + i * step; }
};

/// All lines of a tensor with elements, in row-major order.
std::vector<line> lines_of(tensor const& x, std::size_t axis) {
    auto const count = static_cast<std::size_t>(x.sizes[axis]);
    auto const step = static_cast<std::size_t>(dense_strides(x.sizes)[axis]);
    std::vector<line> out;
    for (std::size_t first = 0; first < static_cast<std::size_t>(x.element_count()); first += count * step)
        for (std::size_t i = 0; i != step; ++i) out.push_back({first + i, step, count});
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
    return with_number_type(x.type, [&]<class T>(T) -> evaluated {
        std::vector<T> elements = load<T>(x);
        for (line const& l : lines_of(x, *axis)) {
            accumulator<T> total = 0;
            for (std::size_t i = 0; i != l.count; ++i) {
                T& e = elements[l.at(reverse ? l.count - 1 - i : i)];
                auto const before = static_cast<T>(total);
                total = widened(static_cast<T>(total + widened(e)));
                e = exclusive ? before : static_cast<T>(total);
            }
        }
        return store(elements, x.type, x.sizes);
    });
}

/// ArgMax and ArgMin. Nothing if a number is NaN.
evaluated extreme_index(constant_call const& c) {
    tensor const& x = *c.inputs[0];
    auto const axis = axis_at(int_attribute(c.node, "axis", 0), x.sizes.size());
    if (!axis || x.element_count() == 0) return {};
    bool const largest = c.node.op == "ArgMax";
    bool const last = int_attribute(c.node, "select_last_index", 0) != 0;
    auto const to = layout_of(x.sizes, {static_cast<std::int64_t>(*axis)}, int_attribute(c.node, "keepdims", 1) != 0);
    return with_number_type(x.type, [&]<class T>(T) -> evaluated {
        std::vector<T> const elements = load<T>(x);
        for (T e : elements)
            if (std::isnan(static_cast<double>(e))) return {};
        tensor out{dtype::int64, to->sizes, {}};
        for (line const& l : lines_of(x, *axis)) {
            std::size_t best = 0;
            for (std::size_t i = 1; i != l.count; ++i) {
                T const e = elements[l.at(i)];
                T const known = elements[l.at(best)];
                if ((largest ? e > known : e < known) || (last && e == known)) best = i;
            }
            out.append(static_cast<std::int64_t>(best));
        }
        return out;
    });
}

/// Softmax and LogSoftmax of one axis: before opset 13, they were of all following axes too. Nothing if a number is not finite.
evaluated softmax(constant_call const& c) {
    tensor const& x = *c.inputs[0];
    node_attribute const* const given = c.node.attribute("axis");
    if (c.opset < 13 || given == nullptr || !is_floating(x.type)) return {};
    auto const axis = axis_at(given->i, x.sizes.size());
    if (!axis || x.element_count() == 0) return {};
    bool const logarithm = c.node.op == "LogSoftmax";
    return with_number_type(x.type, [&]<class T>(T) -> evaluated {
        std::vector<T> elements = load<T>(x);
        for (T e : elements)
            if (!std::isfinite(static_cast<double>(e))) return {};
        for (line const& l : lines_of(x, *axis)) {
            std::size_t const n = l.count;
            auto const at = [&](std::size_t i) -> T& { return elements[l.at(i)]; };
            double largest = static_cast<double>(at(0));
            for (std::size_t i = 1; i != n; ++i) largest = std::max(largest, static_cast<double>(at(i)));
            double total = 0;
            for (std::size_t i = 0; i != n; ++i) total += std::exp(static_cast<double>(at(i)) - largest);
            for (std::size_t i = 0; i != n; ++i) {
                double const off = static_cast<double>(at(i)) - largest;
                at(i) = static_cast<T>(logarithm ? off - std::log(total) : std::exp(off) / total);
            }
        }
        return store(elements, x.type, x.sizes);
    });
}

constexpr named_evaluator reduction_table[] = {
    {"ArgMax", extreme_index},
    {"ArgMin", extreme_index},
    {"CumSum", cumulative_sum},
    {"LogSoftmax", softmax},
    {"Range", range},
    {"ReduceL1", reduction<magnitudes>},
    {"ReduceL2", reduction<norm>},
    {"ReduceMax", reduction<maximum_of_line>},
    {"ReduceMean", reduction<mean>},
    {"ReduceMin", reduction<minimum_of_line>},
    {"ReduceProd", reduction<product>},
    {"ReduceSum", reduction<sum>},
    {"ReduceSumSquare", reduction<squares>},
    {"Softmax", softmax},
};

} // namespace

std::span<named_evaluator const> reduction_evaluators() { return reduction_table; }

} // namespace ATON_NAMESPACE::passes
