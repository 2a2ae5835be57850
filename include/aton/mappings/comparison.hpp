// SPDX-License-Identifier: MIT
// Comparisons and logic: aten's eq, lt, isclose, equal, isin, logical_and ... in the dtype that ATen compares in.
// Public header.
#pragma once

#include <limits>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/complex.hpp>
#include <aton/mappings/detail/long_axes.hpp>
#include <aton/mappings/sorting.hpp>

namespace ATON_NAMESPACE::mappings {

inline value equal_to(graph<7> g, value a, value b) {
    auto const [x, y, type] = detail::promoted(g, a, b);
    return is_equal(g, x, y);
}
inline value not_equal(graph<7> g, value a, value b) { return g.op<"Not">(equal_to(g, a, b)); }

namespace detail {

inline constexpr auto less_in_order = [](graph<7> g, value x, value y) { return is_less(g, x, y); };
inline constexpr auto at_most_in_order = [](graph<7> g, value x, value y) { return is_at_most(g, x, y); };

/// A comparison. ONNX does not order bools; for them it is `Bools(not a, b)`: a < b is (not a) and b.
template <auto Compare, fixed_string Bools>
value ordered(graph<7> g, value a, value b) {
    dtype const type = promote(a, b);
    if (type == dtype::bool_) return g.op<Bools>(g.op<"Not">(a), b);
    // LessOrEqual supports bfloat16 since opset 16. ATen rounds 0-d operands to a half-precision dtype, too.
    auto const [x, y, wide] = cast_through(g, a, b, type, g.opset() < 16 ? opmath_type(type) : type);
    return Compare(g, x, y);
}

} // namespace detail

inline value less(graph<7> g, value a, value b) { return detail::ordered<detail::less_in_order, "And">(g, a, b); }
inline value less_equal(graph<7> g, value a, value b) {
    return detail::ordered<detail::at_most_in_order, "Or">(g, a, b);
}
inline value greater(graph<7> g, value a, value b) { return less(g, b, a); }
inline value greater_equal(graph<7> g, value a, value b) { return less_equal(g, b, a); }

/// Whether all elements of a bool tensor are true, as a 0-d bool; true for an empty tensor.
inline value all_true(graph<7> g, value x) {
    std::int64_t const axes[] = {0};
    return g.cast(reduce<"ReduceProd">(g, detail::in_one_dimension(g, g.cast(x, dtype::int32)), axes, false),
                  dtype::bool_);
}

namespace detail {

template <fixed_string Op>
value logical(graph<7> g, value a, value b) {
    return g.op<Op>(g.cast(a, dtype::bool_), g.cast(b, dtype::bool_));
}

template <fixed_string Op>
inline constexpr auto complex_logical =
    [](graph<7> g, complex_value a, complex_value b) -> value { return g.op<Op>(is_nonzero(g, a), is_nonzero(g, b)); };

/// Equal, or |a - b| <= atol + |rtol * b| with a finite left side. As in ATen, integers are compared as floats.
inline constexpr auto isclose = symbolic<"aten::isclose(self, other, rtol, atol, equal_nan)">(
    [](graph<7> g, value self, value other, double rtol, double atol, bool equal_nan) -> value {
        value close = equal_to(g, self, other);
        auto const [x, y, type] = cast_both(g, self, other, to_floating(self.dtype()));
        if (equal_nan && is_floating(self.dtype())) close = g.op<"Or">(close, g.op<"And">(is_nan(g, x), is_nan(g, y)));
        if (exactly_equal(rtol, 0) && exactly_equal(atol, 0)) return close;
        value const allowed =
            g.op<"Add">(g.op<"Abs">(g.op<"Mul">(y, rounded_constant(g, rtol, type))), rounded_constant(g, atol, type));
        value const error = g.op<"Abs">(g.op<"Sub">(x, y));
        value const finite = is_less(g, error, std::numeric_limits<double>::infinity());
        return g.op<"Or">(close, g.op<"And">(finite, less_equal(g, error, allowed)));
    });

/// Whether shapes and all elements are equal. For unknown sizes, compares the shapes, and the elements that both
/// tensors have: ONNX's Equal would broadcast, or fail.
inline value equal(graph<7> g, value self, value other) {
    if (self.rank() != other.rank()) return g.scalar(false, dtype::bool_);
    bool same = true;
    for (std::int64_t i = 0; i != self.rank(); ++i) {
        if (self.size(i).same_as(other.size(i))) continue;
        if (self.size(i).is_static() && other.size(i).is_static()) return g.scalar(false, dtype::bool_);
        same = false;
    }
    if (same) return all_true(g, equal_to(g, self, other));
    auto const first = [&](value x, value like) -> value {
        return mappings::slice(g, in_one_dimension(g, x), 0, 0, value(g.op<"Size">(like)));
    };
    value const elements = all_true(g, equal_to(g, first(self, other), first(other, self)));
    return g.op<"And">(all_true(g, is_equal(g, g.op<"Shape">(self), g.op<"Shape">(other))), elements);
}

/// Whether the elements are among many test elements, which are sorted for that; NaN, the last in order, is never found.
inline value is_among(graph<13> g, value elements, value tests) {
    value const sorted = std::get<0>(sort_of(g, tests, 0, false));
    auto const before = [](graph<13> b, value test, value x) -> value { return b.op<"Less">(test, x); };
    value const place = search_sorted(g, sorted, elements, before);
    value const padded =
        g.op<"Concat">(safe_vector<value>{sorted, unsqueeze(g, g.scalar(0, sorted.dtype()), 0)}, attr::axis_i(0));
    value const within = g.op<"Less">(place, g.to_value(g.size(sorted, 0)));
    return g.op<"And">(within, g.op<"Equal">(gather_of(g, padded, place, 0), elements));
}

/// Compares every element with every test element along a new last axis, unless there are many. Matches are counted,
/// which is correct for zero test elements, too.
inline value isin(graph<7> g, value elements, value tests, bool invert) {
    auto const [x, y, type] = promoted(g, elements, tests);
    value const tested = in_one_dimension(g, y);
    if (g.opset() >= 13 && are_many(tested.size(0), few_boundaries) && !is_complex(type)) {
        value const among = is_among(g.within<13>(), selectable(g, x), selectable(g, tested));
        return invert ? value(g.op<"Not">(among)) : among;
    }
    value const matches = is_equal(g, unsqueeze(g, x, -1), tested);
    std::int64_t const axes[] = {x.rank()};
    value const found = g.cast(reduce_sum(g, g.cast(matches, dtype::int64), axes, false), dtype::bool_);
    return invert ? g.op<"Not">(found) : found;
}

inline constexpr auto allclose = symbolic<"aten::allclose(self, other, rtol, atol, equal_nan)">(
    [](graph<7> g, value self, value other, double rtol, double atol, bool equal_nan) -> value {
        return all_true(g, isclose(g, self, other, rtol, atol, equal_nan));
    });

/// assume_unique is a hint that does not change the result.
inline constexpr auto isin_tensor_tensor =
    symbolic<"aten::isin.Tensor_Tensor(elements, test_elements, assume_unique, invert)">(
        [](graph<7> g, value elements, value tests, bool, bool invert) -> value {
            return isin(g, elements, tests, invert);
        });

inline constexpr auto isin_tensor_scalar =
    symbolic<"aten::isin.Tensor_Scalar(elements, test_element, assume_unique, invert)">(
        [](graph<7> g, value elements, number test, bool, bool invert) -> value {
            return invert ? not_equal(g, elements, wrapped_number(g, test))
                          : equal_to(g, elements, wrapped_number(g, test));
        });

inline constexpr auto isin_scalar_tensor =
    symbolic<"aten::isin.Scalar_Tensor(element, test_elements, assume_unique, invert)">(
        [](graph<7> g, number element, value tests, bool, bool invert) -> value {
            return isin(g, wrapped_number(g, element), tests, invert);
        });

} // namespace detail

inline constexpr auto comparison =
    table(symbolic<"aten::eq.Tensor(self, other)">(detail::of_tensors<equal_to>)
              .for_complex(detail::of_complex<detail::equal_numbers>),
          symbolic<"aten::eq.Scalar(self, other)">(detail::with_number<equal_to>)
              .for_complex(detail::of_complex_and_number<detail::equal_numbers>),
          symbolic<"aten::ne.Tensor(self, other)">(detail::of_tensors<not_equal>)
              .for_complex(detail::of_complex<detail::different_numbers>),
          symbolic<"aten::ne.Scalar(self, other)">(detail::with_number<not_equal>)
              .for_complex(detail::of_complex_and_number<detail::different_numbers>),
          symbolic<"aten::not_equal.Tensor(self, other)">(detail::of_tensors<not_equal>)
              .for_complex(detail::of_complex<detail::different_numbers>),
          symbolic<"aten::not_equal.Scalar(self, other)">(detail::with_number<not_equal>)
              .for_complex(detail::of_complex_and_number<detail::different_numbers>),
          symbolic<"aten::lt.Tensor(self, other)">(detail::of_tensors<less>),
          symbolic<"aten::lt.Scalar(self, other)">(detail::with_number<less>),
          symbolic<"aten::less.Tensor(self, other)">(detail::of_tensors<less>),
          symbolic<"aten::less.Scalar(self, other)">(detail::with_number<less>),
          symbolic<"aten::le.Tensor(self, other)">(detail::of_tensors<less_equal>),
          symbolic<"aten::le.Scalar(self, other)">(detail::with_number<less_equal>),
          symbolic<"aten::less_equal.Tensor(self, other)">(detail::of_tensors<less_equal>),
          symbolic<"aten::less_equal.Scalar(self, other)">(detail::with_number<less_equal>),
          symbolic<"aten::gt.Tensor(self, other)">(detail::of_tensors<greater>),
          symbolic<"aten::gt.Scalar(self, other)">(detail::with_number<greater>),
          symbolic<"aten::greater.Tensor(self, other)">(detail::of_tensors<greater>),
          symbolic<"aten::greater.Scalar(self, other)">(detail::with_number<greater>),
          symbolic<"aten::ge.Tensor(self, other)">(detail::of_tensors<greater_equal>),
          symbolic<"aten::ge.Scalar(self, other)">(detail::with_number<greater_equal>),
          symbolic<"aten::greater_equal.Tensor(self, other)">(detail::of_tensors<greater_equal>),
          symbolic<"aten::greater_equal.Scalar(self, other)">(detail::with_number<greater_equal>), detail::isclose,
          detail::allclose, symbolic<"aten::equal(self, other)">(detail::of_tensors<detail::equal>),
          detail::isin_tensor_tensor, detail::isin_tensor_scalar, detail::isin_scalar_tensor,
          symbolic<"aten::logical_and(self, other)">(detail::of_tensors<detail::logical<"And">>)
              .for_complex(detail::complex_logical<"And">),
          symbolic<"aten::logical_or(self, other)">(detail::of_tensors<detail::logical<"Or">>)
              .for_complex(detail::complex_logical<"Or">),
          symbolic<"aten::logical_xor(self, other)">(detail::of_tensors<detail::logical<"Xor">>)
              .for_complex(detail::complex_logical<"Xor">));

} // namespace ATON_NAMESPACE::mappings
