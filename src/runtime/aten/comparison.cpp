// SPDX-License-Identifier: MIT
// ATen operators: comparisons, and logic.
#include <aton/core/error.hpp>

#include "bucketing.hpp"
#include "elementwise.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// |self - other| <= atol + |rtol * other|; equal infinities are close, and NaN is close to NaN with equal_nan.
tensor close(call const& c) {
    tensor x = c.t("self");
    tensor y = c.t("other");
    double const rtol = c.f("rtol");
    double const atol = c.f("atol");
    if (rtol < 0 || atol < 0) throw error("rtol and atol must not be negative");
    tensor same = equal(x, y);
    bool const has_nan = is_floating(x.dtype()) || is_complex(x.dtype());
    if (c.b("equal_nan") && has_nan) same = logical_or(same, logical_and(isnan(x), isnan(y)));
    if (rtol == 0 && atol == 0) return same;
    if (!has_nan) {
        x = cast(x, dtype::float32);
        y = cast(y, dtype::float32);
    }
    tensor const allowed = abs(y * scalar(rtol)) + scalar(atol);
    tensor const apart = abs(x - y);
    return logical_or(same, logical_and(unary(unary_op::isfinite, apart), less_equal(apart, allowed)));
}

tensor all_of(tensor const& x) { return reduce(reduce_op::all, x, all_axes(x)); }

results is_close(call const& c) { return close(c); }
results all_close(call const& c) { return all_of(close(c)); }

results is_same(call const& c) {
    tensor const x = c.t("self");
    tensor const y = c.t("other");
    if (x.sizes() != y.sizes()) return constant(c, false, dtype::bool_);
    if (x.dtype() != y.dtype()) throw error("both tensors must have the same dtype");
    return all_of(equal(x, y));
}

/// Whether each element occurs in another tensor: compared with the element at its position in the sorted tensor. NaN, which equals
/// nothing and is in no order, gives way to the smallest element.
results is_in(call const& c) {
    bool const number_first = c.has_argument("element");
    std::string_view const elements = number_first ? "element" : "elements";
    std::string_view const tests = c.has_argument("test_element") ? "test_element" : "test_elements";
    dtype const type = result_type(c, {elements, tests});
    tensor const x = operand(c, elements, type);
    tensor const all = flatten(operand(c, tests, type));
    bool const inverted = c.b("invert");
    if (all.count() == 0) return full(inverted, dtype::bool_, x.sizes(), x.where());
    tensor const smallest = take(sort(all, 0).values, full(0, dtype::int64, {}, x.where()));
    tensor const sorted_tests = sort(where(equal(all, all), all, smallest), 0).values;
    tensor const at = search_sorted(sorted_tests, x, false);
    tensor const found = equal(take(sorted_tests, minimum(at, scalar(all.count() - 1))), x);
    return inverted ? logical_not(found) : found;
}

} // namespace

rows comparison() {
    using enum binary_op;
    static constexpr row all[] = {
        {"allclose", all_close},
        {"eq.Scalar", comparison_of<eq>},
        {"eq.Tensor", comparison_of<eq>},
        {"equal", is_same},
        {"ge.Scalar", comparison_of<ge>},
        {"ge.Tensor", comparison_of<ge>},
        {"greater.Scalar", comparison_of<gt>},
        {"greater.Tensor", comparison_of<gt>},
        {"greater_equal.Scalar", comparison_of<ge>},
        {"greater_equal.Tensor", comparison_of<ge>},
        {"gt.Scalar", comparison_of<gt>},
        {"gt.Tensor", comparison_of<gt>},
        {"isclose", is_close},
        {"isin.Scalar_Tensor", is_in},
        {"isin.Tensor_Scalar", is_in},
        {"isin.Tensor_Tensor", is_in},
        {"le.Scalar", comparison_of<le>},
        {"le.Tensor", comparison_of<le>},
        {"less.Scalar", comparison_of<lt>},
        {"less.Tensor", comparison_of<lt>},
        {"less_equal.Scalar", comparison_of<le>},
        {"less_equal.Tensor", comparison_of<le>},
        {"logical_and", comparison_of<logical_and>},
        {"logical_or", comparison_of<logical_or>},
        {"logical_xor", comparison_of<logical_xor>},
        {"lt.Scalar", comparison_of<lt>},
        {"lt.Tensor", comparison_of<lt>},
        {"ne.Scalar", comparison_of<ne>},
        {"ne.Tensor", comparison_of<ne>},
        {"not_equal.Scalar", comparison_of<ne>},
        {"not_equal.Tensor", comparison_of<ne>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
