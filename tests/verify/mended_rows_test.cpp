// SPDX-License-Identifier: MIT
// Rows that once gave other numbers than ATen: each call has the result that torch gives.
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aton.hpp>
#include <aton/mappings/activation.hpp>
#include <aton/mappings/attention.hpp>
#include <aton/mappings/bucketing.hpp>
#include <aton/mappings/elementwise_binary.hpp>
#include <aton/mappings/elementwise_unary.hpp>
#include <aton/mappings/loss.hpp>
#include <aton/mappings/matrix_product.hpp>
#include <aton/mappings/ranges.hpp>
#include <aton/mappings/reduction.hpp>
#include <aton/mappings/resize.hpp>
#include <aton/mappings/scatter.hpp>
#include <aton/mappings/selection.hpp>
#include <aton/mappings/sorting.hpp>
#include <aton/mappings/special_functions.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/verify/comparison.hpp>
#include <aton/verify/translation.hpp>

#include "../faults.hpp"

namespace aton::verify {

namespace {

using runtime::tensor;
using kind = runtime::aten_argument::kind;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

tensor of(dtype type, runtime::sizes const& sizes, std::vector<double> const& values) {
    aton::tensor t{type, sizes, {}};
    for (double const v : values) {
        if (is_integral(type)) t.append(static_cast<long long>(v));
        else t.append(v);
    }
    return tensor::from_constant(t);
}
tensor row_of(dtype type, std::vector<double> const& values) {
    return of(type, {static_cast<std::int64_t>(values.size())}, values);
}
tensor bools(bool value) { return runtime::cast(row_of(dtype::int64, {value ? 1.0 : 0.0}), dtype::bool_); }

runtime::aten_argument argument(std::string name, kind is) {
    runtime::aten_argument a;
    a.name = std::move(name);
    a.is = is;
    return a;
}
runtime::aten_argument arg(std::string name, tensor t) {
    runtime::aten_argument a = argument(std::move(name), kind::tensor);
    a.tensor = std::move(t);
    return a;
}
runtime::aten_argument number(std::string name, scalar n) {
    runtime::aten_argument a = argument(std::move(name), kind::number);
    a.number = n;
    return a;
}
runtime::aten_argument numbers(std::string name, std::vector<scalar> all) {
    runtime::aten_argument a = argument(std::move(name), kind::numbers);
    a.numbers = std::move(all);
    return a;
}
runtime::aten_argument word(std::string name, std::string_view text) {
    runtime::aten_argument a = argument(std::move(name), kind::text);
    a.text = text;
    return a;
}
runtime::aten_argument type(std::string name, dtype t) {
    runtime::aten_argument a = argument(std::move(name), kind::type);
    a.type = t;
    return a;
}

translation translated(dsl::table_view rows, sample const& s) {
    for (dsl::entry const& row : rows)
        if (row.overload == s.overload) return translate(row, row.schema, row.since, s);
    FAIL("no row " << s.overload);
    return {};
}

/// Both sides give these numbers.
void gives(dsl::table_view rows, std::string overload, std::vector<runtime::aten_argument> arguments,
           tensor const& expected) {
    sample const s{std::move(overload), std::move(arguments)};
    CAPTURE(to_python(s));
    tensor const truth = runtime::call_aten(s.overload, s.arguments).results.at(0).one();
    CHECK(compare(truth, expected).difference.empty());
    comparison const c = compare(run(translated(rows, s)).at(0).one(), expected);
    CHECK_MESSAGE(c.same(), c.difference);
}

std::string refusal(dsl::table_view rows, std::string overload, std::vector<runtime::aten_argument> arguments) {
    sample const s{std::move(overload), std::move(arguments)};
    return tests::fault_of([&] { return translated(rows, s); });
}

} // namespace

TEST_CASE("a number that divides unsigned integers wraps around first") {
    for (std::string_view const mode : {"trunc", "floor"})
        gives(mappings::elementwise_binary,
              "aten::div.Scalar_mode",
              {arg("self", row_of(dtype::uint8, {255, 7})), number("other", -2), word("rounding_mode", mode)},
              row_of(dtype::uint8, {1, 0}));
    gives(mappings::elementwise_binary,
          "aten::floor_divide.Scalar",
          {arg("self", row_of(dtype::uint8, {255})), number("other", -2)},
          row_of(dtype::uint8, {1}));
}

TEST_CASE("a sum with a factor is rounded once in half types") {
    gives(mappings::elementwise_binary,
          "aten::rsub.Scalar",
          {arg("self", row_of(dtype::bfloat16, {0.4375})), number("other", 1), number("alpha", 2.5625)},
          row_of(dtype::bfloat16, {-0.12109375}));
}

TEST_CASE("nothing is counted in int64, whatever the weights are") {
    gives(mappings::bucketing,
          "aten::bincount",
          {arg("self", row_of(dtype::int64, {})), arg("weights", row_of(dtype::float32, {})), number("minlength", 2)},
          row_of(dtype::int64, {0, 0}));
}

TEST_CASE("a number beside the tensor of linspace is not rounded to float32") {
    gives(mappings::ranges,
          "aten::linspace.Tensor_Scalar",
          {arg("start", of(dtype::float64, {}, {0})),
           number("end", 0.1),
           number("steps", 2),
           type("dtype", dtype::float64)},
          row_of(dtype::float64, {0, 0.1}));
}

TEST_CASE("a quantile beside an infinity is ATen's") {
    gives(mappings::sorting,
          "aten::quantile",
          {arg("self", row_of(dtype::float32, {-4, infinity, 1})), arg("q", row_of(dtype::float32, {0.5, 0.7, 1}))},
          row_of(dtype::float32, {1, infinity, nan}));
}

TEST_CASE("a hinge loss of integers takes a whole margin, and labels of bools are not wrapped") {
    gives(mappings::loss,
          "aten::hinge_embedding_loss",
          {arg("self", row_of(dtype::int64, {-1, 1})),
           arg("target", row_of(dtype::int64, {-1, 1})),
           number("margin", 1.5),
           number("reduction", 0)},
          row_of(dtype::int64, {2, 1}));
    gives(mappings::loss,
          "aten::cosine_embedding_loss",
          {arg("input1", of(dtype::float32, {1, 2}, {1, 2})),
           arg("input2", of(dtype::float32, {1, 2}, {1, 2})),
           arg("target", bools(true)),
           number("reduction", 0)},
          row_of(dtype::float32, {0}));
}

TEST_CASE("the soft margin loss keeps the digits of small losses in half types") {
    gives(mappings::loss,
          "aten::soft_margin_loss",
          {arg("self", row_of(dtype::bfloat16, {-1.7109375})), arg("target", row_of(dtype::bfloat16, {-3.78125}))},
          of(dtype::bfloat16, {}, {0.00154876709}));
    gives(mappings::loss,
          "aten::soft_margin_loss",
          {arg("self", row_of(dtype::float16, {-3, 2.9765625})),
           arg("target", row_of(dtype::float16, {4, 1.212890625})),
           number("reduction", 0)},
          row_of(dtype::float16, {infinity, 0.0267028809}));
}

TEST_CASE("what is scattered is added in float32") {
    gives(mappings::scatter,
          "aten::scatter_add",
          {arg("self", row_of(dtype::float16, {0})),
           number("dim", 0),
           arg("index", row_of(dtype::int64, std::vector<double>(4000, 0))),
           arg("src", row_of(dtype::float16, std::vector<double>(4000, 1)))},
          row_of(dtype::float16, {4000}));
}

TEST_CASE("the mean of large integers does not overflow") {
    gives(mappings::scatter,
          "aten::scatter_reduce.two",
          {arg("self", row_of(dtype::int64, {-0x1p63})),
           number("dim", 0),
           arg("index", row_of(dtype::int64, {0, 0})),
           arg("src", row_of(dtype::int64, {1, 0})),
           word("reduce", "mean")},
          tensor::of_integers(std::vector<std::int64_t>{-3074457345618258603}));
}

TEST_CASE("a mask of no elements scatters nothing") {
    tensor const none = of(dtype::float32, {1, 0}, {});
    gives(mappings::selection,
          "aten::masked_scatter",
          {arg("self", none), arg("mask", runtime::cast(none, dtype::bool_)), arg("source", none)},
          none);
}

TEST_CASE("softplus keeps numbers whose multiple overflows") {
    gives(mappings::activation,
          "aten::softplus",
          {arg("self", row_of(dtype::float32, {-3e38})), number("beta", -3)},
          row_of(dtype::float32, {-3e38}));
}

TEST_CASE("softmax of integers masks nothing") {
    tensor const x = of(dtype::int64, {1, 1}, {-0x1p63});
    gives(mappings::activation,
          "aten::_safe_softmax",
          {arg("self", x), number("dim", 1), type("dtype", dtype::float16)},
          of(dtype::float16, {1, 1}, {nan}));
}

TEST_CASE("sum_to_size adds all dimensions at once") {
    gives(mappings::reduction,
          "aten::sum_to_size",
          {arg("self", of(dtype::float16, {3, 1, 2}, {2048, 1, 1, 1, -2048, 1})), numbers("size", {1, 1})},
          of(dtype::float16, {1, 1}, {4}));
}

TEST_CASE("addr multiplies the first vector by alpha before it overflows") {
    gives(mappings::matrix_product,
          "aten::addr",
          {arg("self", of(dtype::float32, {1, 1}, {-2})),
           arg("vec1", row_of(dtype::float32, {1.25})),
           arg("vec2", row_of(dtype::float32, {3e38})),
           number("alpha", -0.25)},
          of(dtype::float32, {1, 1}, {-9.375e37}));
}

TEST_CASE("binary_cross_entropy of half types is rounded once") {
    gives(mappings::loss,
          "aten::binary_cross_entropy",
          {arg("self", of(dtype::float16, {1, 2}, {0, 0.00020623207092285156})),
           arg("target", of(dtype::float16, {1, 2}, {0.8447265625, 0})),
           arg("weight", of(dtype::float16, {1, 2}, {1, -65504})),
           number("reduction", 0)},
          of(dtype::float16, {1, 2}, {84.5, -13.5078125}));
}

TEST_CASE("addr of bools adds no product with an alpha of 0") {
    for (bool const self : {false, true})
        gives(mappings::matrix_product,
              "aten::addr",
              {arg("self", runtime::reshape(bools(self), {1, 1})),
               arg("vec1", bools(true)),
               arg("vec2", bools(true)),
               number("alpha", 0)},
              runtime::reshape(bools(self), {1, 1}));
}

TEST_CASE("a complex number to the power of a fraction is refused") {
    tensor const z = runtime::cast(row_of(dtype::float32, {1}), dtype::complex64);
    CHECK_FALSE(
        refusal(mappings::elementwise_binary, "aten::pow.Tensor_Scalar", {arg("self", z), number("exponent", 1.0625)})
            .empty());
}

TEST_CASE("mvlgamma rounds each of its terms") {
    gives(mappings::special_functions,
          "aten::mvlgamma",
          {arg("self", row_of(dtype::float16, {-1.5693359375, -0.77685546875})), number("p", 4)},
          row_of(dtype::float16, {6.84375, 7.90234375}));
}

TEST_CASE("a query that sees nothing gives NaN for values that are infinite, else 0") {
    for (double const last : {-infinity, 2.0})
        gives(mappings::attention,
              "aten::_scaled_dot_product_flash_attention_for_cpu",
              {arg("query", of(dtype::float32, {1, 1, 1, 1}, {1})),
               arg("key", of(dtype::float32, {1, 1, 2, 1}, {0, -1})),
               arg("value", of(dtype::float32, {1, 1, 2, 1}, {0, last})),
               arg("attn_mask", of(dtype::float32, {1, 2}, {-infinity, -infinity}))},
              of(dtype::float32, {1, 1, 1, 1}, {last == 2 ? 0 : nan}));
}

TEST_CASE("complex numbers are not tested for NaN") {
    tensor const z = runtime::cast(row_of(dtype::float32, {1}), dtype::complex64);
    for (std::string const name : {"isnan", "isinf", "isfinite", "nan_to_num"})
        CHECK(tests::contains(refusal(mappings::elementwise_unary, "aten::" + name, {arg("self", z)}),
                              "complex numbers"));
}

TEST_CASE("bytes at a border have one weight, which is rounded once") {
    gives(mappings::resize,
          "aten::upsample_bicubic2d",
          {arg("self", of(dtype::uint8, {1, 1, 5, 4}, {2, 2, 2, 2, 2, 3, 3, 1, 2, 2, 2, 2, 1, 2, 3, 1, 2, 1, 2, 3})),
           numbers("output_size", {7, 6}),
           number("align_corners", false),
           number("scales_h", 1.53125),
           number("scales_w", 1.65625)},
          of(dtype::uint8, {1, 1, 7, 6}, {2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 1, 2, 2, 3, 3, 3, 1, 2, 2, 2,
                                          2, 2, 2, 1, 1, 2, 2, 2, 2, 1, 1, 2, 3, 3, 1, 2, 2, 1, 2, 2, 3}));
}

} // namespace aton::verify
