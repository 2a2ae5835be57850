// SPDX-License-Identifier: MIT
// Regressions of rows: each call must give torch's result.
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
#include <aton/mappings/class_loss.hpp>
#include <aton/mappings/convolution.hpp>
#include <aton/mappings/cumulative.hpp>
#include <aton/mappings/elementwise_binary.hpp>
#include <aton/mappings/elementwise_unary.hpp>
#include <aton/mappings/loss.hpp>
#include <aton/mappings/matrix_product.hpp>
#include <aton/mappings/norm.hpp>
#include <aton/mappings/normalization.hpp>
#include <aton/mappings/pooling.hpp>
#include <aton/mappings/ranges.hpp>
#include <aton/mappings/reduction.hpp>
#include <aton/mappings/resize.hpp>
#include <aton/mappings/sampling.hpp>
#include <aton/mappings/scatter.hpp>
#include <aton/mappings/selection.hpp>
#include <aton/mappings/sorting.hpp>
#include <aton/mappings/special_functions.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/verify/comparison.hpp>
#include <aton/verify/translation.hpp>

#include "../faults.hpp"
#include "calls.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using namespace tests;
using runtime::tensor;

translation translated(dsl::table_view rows, sample const& s) {
    for (dsl::entry const& row : rows)
        if (row.overload == s.overload) return translate(row, row.schema, row.since, s);
    FAIL("no row for " << s.overload);
    return {};
}

/// Checks that both sides give the expected result.
void gives(dsl::table_view rows, std::string overload, std::vector<runtime::aten_argument> arguments,
           tensor const& expected, std::size_t result = 0) {
    sample const s{std::move(overload), std::move(arguments)};
    CAPTURE(to_python(s));
    tensor const truth = runtime::call_aten(s.overload, s.arguments).results.at(result).one();
    CHECK(compare(truth, expected).difference.empty());
    comparison const c = compare(run(translated(rows, s)).at(result).one(), expected);
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

TEST_CASE("a norm with infinite weights is not NaN where one part of a complex number is 0") {
    sample const s{"aten::rms_norm",
                   {arg("input", row_of(dtype::float16, {0x1p-24, 60000})),
                    numbers("normalized_shape", {2}),
                    arg("weight", row_of(dtype::float16, {-infinity, 1})),
                    number("eps", 0.0625)}};
    dsl::entry const* const row = dsl::find(mappings::normalization, s.overload, 23);
    REQUIRE(row != nullptr);
    tensor const expected = row_of(dtype::float16, {-infinity, 1.4140625});
    CHECK(compare(runtime::call_aten(s.overload, s.arguments).results[0].one(), expected).difference.empty());
    CHECK(compare(run(translate(*row, row->schema, 23, s))[0].one(), expected).difference.empty());
}

TEST_CASE("powers in distances of float16 do not overflow") {
    gives(mappings::matrix_product,
          "aten::pdist",
          {arg("self", of(dtype::float16, {2, 1}, {0, -100})), number("p", 2.5)},
          row_of(dtype::float16, {100}));
}

TEST_CASE(
    "factors of float64 products are not rounded to float32, and large factors of float16 do not become infinite") {
    gives(mappings::matrix_product,
          "aten::addmm",
          {arg("self", of(dtype::float64, {1, 1}, {1})),
           arg("mat1", of(dtype::float64, {1, 1}, {1})),
           arg("mat2", of(dtype::float64, {1, 1}, {1})),
           number("alpha", 0.1)},
          of(dtype::float64, {1, 1}, {1.1}));
    gives(mappings::matrix_product,
          "aten::baddbmm",
          {arg("self", of(dtype::float16, {1, 1, 1}, {2})),
           arg("batch1", of(dtype::float16, {1, 1, 1}, {0})),
           arg("batch2", of(dtype::float16, {1, 1, 1}, {1})),
           number("alpha", 1e5)},
          of(dtype::float16, {1, 1, 1}, {2}));
}

TEST_CASE("infinities and NaN as arguments of activations") {
    auto const x = [](std::vector<double> const& values) { return arg("self", row_of(dtype::float32, values)); };
    gives(mappings::activation,
          "aten::elu",
          {x({0, -1, 2}), number("alpha", infinity)},
          row_of(dtype::float32, {0, -infinity, 2}));
    gives(mappings::activation,
          "aten::leaky_relu",
          {x({0, -1, 2}), number("negative_slope", infinity)},
          row_of(dtype::float32, {nan, -infinity, 2}));
    gives(mappings::activation,
          "aten::threshold",
          {x({0.5, nan}), number("threshold", nan), number("value", -1)},
          row_of(dtype::float32, {0.5, nan}));
    gives(mappings::activation,
          "aten::hardtanh",
          {x({1, 9}), number("min_val", 5), number("max_val", 2)},
          row_of(dtype::float32, {2, 2}));
    gives(mappings::activation,
          "aten::softplus",
          {arg("self", row_of(dtype::float16, {0})), number("beta", -(1LL << 40))},
          row_of(dtype::float16, {0}));
    gives(mappings::elementwise_unary,
          "aten::logit",
          {x({0.5, 0.25}), number("eps", 1)},
          row_of(dtype::float32, {infinity, infinity}));
    gives(mappings::cumulative,
          "aten::cumulative_trapezoid.dx",
          {arg("y", row_of(dtype::float64, {1, 1, 1})), number("dx", 6e307)},
          row_of(dtype::float64, {6e307, 1.2e308}));
}

TEST_CASE("indices of windows without elements are refused") {
    CHECK(tests::contains(refusal(mappings::pooling,
                                  "aten::max_pool1d_with_indices",
                                  {arg("self", of(dtype::float32, {1, 1, 1}, {9})),
                                   numbers("kernel_size", {2}),
                                   numbers("stride", {1}),
                                   numbers("padding", {1}),
                                   numbers("dilation", {2})}),
                          "a window without elements"));
}

TEST_CASE("an element is preferred over equal padding as the maximum") {
    for (bool const lowest : {true, false})
        gives(mappings::pooling,
              "aten::max_pool1d_with_indices",
              {arg("self", lowest ? of(dtype::uint8, {1, 1, 2}, {1, 0}) : of(dtype::int8, {1, 1, 2}, {5, -128})),
               numbers("kernel_size", {2}),
               numbers("padding", {1}),
               numbers("dilation", {2}),
               number("ceil_mode", true)},
              of(dtype::int64, {1, 1, 2}, {1, 1}),
              1);
}

TEST_CASE("binary_cross_entropy_with_logits takes the logarithm in the dtype of its input") {
    gives(
        mappings::loss,
        "aten::binary_cross_entropy_with_logits",
        {arg("self", row_of(dtype::float32, {0})), arg("target", row_of(dtype::float64, {0})), number("reduction", 0)},
        row_of(dtype::float64, {static_cast<double>(0.693147181F)}));
    gives(mappings::loss,
          "aten::binary_cross_entropy_with_logits",
          {arg("self", row_of(dtype::float32, {0, 0})),
           arg("target", row_of(dtype::float32, {0, 1})),
           arg("pos_weight", row_of(dtype::uint8, {2, 0})), // 0 - 1 is 255
           number("reduction", 0)},
          row_of(dtype::float32, {0.693147181, 256 * 0.693147181}));
}

TEST_CASE("two exponents are computed as roots, except in float16") {
    for (dtype const t : {dtype::float32, dtype::float16}) {
        double const of_zero = t == dtype::float16 ? infinity : -infinity;
        double const of_infinity = t == dtype::float16 ? 0 : nan;
        gives(mappings::elementwise_binary,
              "aten::pow.Tensor_Scalar",
              {arg("self", row_of(t, {-infinity, -0.0, 4})), number("exponent", -0.5)},
              row_of(t, {of_infinity, of_zero, 0.5}));
    }
    gives(mappings::elementwise_binary,
          "aten::float_power.Tensor_Scalar",
          {arg("self", row_of(dtype::float16, {-infinity, 4})), number("exponent", 0.5)},
          row_of(dtype::float64, {nan, 2}));
}

TEST_CASE("bincount of an empty tensor is int64, whatever the weights are") {
    gives(mappings::bucketing,
          "aten::bincount",
          {arg("self", row_of(dtype::int64, {})), arg("weights", row_of(dtype::float32, {})), number("minlength", 2)},
          row_of(dtype::int64, {0, 0}));
}

TEST_CASE("a number argument of linspace is not rounded to float32") {
    gives(mappings::ranges,
          "aten::linspace.Tensor_Scalar",
          {arg("start", of(dtype::float64, {}, {0})),
           number("end", 0.1),
           number("steps", 2),
           type("dtype", dtype::float64)},
          row_of(dtype::float64, {0, 0.1}));
}

TEST_CASE("a quantile next to an infinity equals ATen's") {
    gives(mappings::sorting,
          "aten::quantile",
          {arg("self", row_of(dtype::float32, {-4, infinity, 1})), arg("q", row_of(dtype::float32, {0.5, 0.7, 1}))},
          row_of(dtype::float32, {1, infinity, nan}));
}

TEST_CASE("a hinge loss of integers truncates the margin, and bool labels do not wrap around") {
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

TEST_CASE("small soft margin losses are accurate in half types") {
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

TEST_CASE("scattered elements are added in float32") {
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

TEST_CASE("softplus keeps numbers whose product with beta overflows") {
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

TEST_CASE("a fully masked query gives NaN if a value is infinite, otherwise 0") {
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

TEST_CASE("uint8 pixels at the border have one weight, which is rounded once") {
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

TEST_CASE("the trapezoid rule with equal steps weights the ends by one half") {
    gives(mappings::cumulative,
          "aten::trapezoid.dx",
          {arg("y", row_of(dtype::float32, {infinity, 1, 2})), number("dx", 1)},
          of(dtype::float32, {}, {nan}));
    gives(mappings::cumulative,
          "aten::trapezoid.dx",
          {arg("y", row_of(dtype::int64, {1, 3, 7})), number("dx", 0.5)},
          of(dtype::float32, {}, {3.5}));
}

TEST_CASE("ldexp by integers keeps the dtype, and its power does not overflow") {
    gives(mappings::elementwise_binary,
          "aten::ldexp.Tensor",
          {arg("self", row_of(dtype::float16, {0x1p-20, 1, 0})), arg("other", row_of(dtype::int32, {30, 20, 2000000}))},
          row_of(dtype::float16, {1024, infinity, 0}));
    gives(mappings::elementwise_binary,
          "aten::ldexp.Tensor",
          {arg("self", row_of(dtype::float32, {0x1p-140, 1})), arg("other", row_of(dtype::int32, {200, -200}))},
          row_of(dtype::float32, {0x1p60, 0}));
}

TEST_CASE("the norm of matrices without elements is 0") {
    gives(mappings::norm,
          "aten::linalg_matrix_norm",
          {arg("self", of(dtype::float32, {6, 2, 0}, {})), number("ord", 1), numbers("dim", {0, -1})},
          row_of(dtype::float32, {0, 0}));
}

TEST_CASE("the mean result of normalizing an empty tensor is 0") {
    gives(mappings::normalization,
          "aten::native_layer_norm",
          {arg("input", of(dtype::float32, {2, 0}, {})),
           numbers("normalized_shape", {0}),
           none("weight"),
           none("bias"),
           number("eps", 0.5)},
          of(dtype::float32, {2, 1}, {0, 0}),
          1);
    gives(mappings::normalization,
          "aten::native_group_norm",
          {arg("input", of(dtype::float32, {1, 2, 0}, {})),
           none("weight"),
           none("bias"),
           number("N", 1),
           number("C", 2),
           number("HxW", 0),
           number("group", 2),
           number("eps", 0.5)},
          of(dtype::float32, {1, 2}, {0, 0}),
          1);
}

TEST_CASE("a mean of integers in float16 is rounded once") {
    gives(mappings::reduction,
          "aten::mean",
          {arg("self", row_of(dtype::int64, {70000, -70000, 6})), type("dtype", dtype::float16)},
          of(dtype::float16, {}, {2}));
}

TEST_CASE("nearest resizing along one axis follows the scale even if the size is equal or doubled") {
    auto const call = [](std::vector<double> const& x, double scale) {
        return std::vector{arg("input", of(dtype::float32, {1, 1, static_cast<std::int64_t>(x.size())}, x)),
                           none("output_size"),
                           numbers("scale_factors", {scale})};
    };
    gives(mappings::resize,
          "aten::upsample_nearest1d.vec",
          call({0, 1, 2, 3}, 1.09375),
          of(dtype::float32, {1, 1, 4}, {0, 0, 1, 2}));
    gives(mappings::resize,
          "aten::upsample_nearest1d.vec",
          call({0, 1, 2, 3, 4}, 2.015625),
          of(dtype::float32, {1, 1, 10}, {0, 0, 0, 1, 1, 2, 2, 3, 3, 4}));
}

TEST_CASE("an axis that keeps its size is not smoothed, whatever its scale") {
    tensor const x = of(dtype::float32, {1, 1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
    gives(mappings::resize,
          "aten::_upsample_bilinear2d_aa",
          {arg("self", x),
           numbers("output_size", {2, 4}),
           number("align_corners", false),
           number("scales_h", 0.7),
           number("scales_w", 0.7)},
          x);
}

TEST_CASE("pixel_unshuffle of an empty tensor keeps its sizes") {
    tensor const nothing = of(dtype::float32, {2, 5, 6, 0}, {});
    gives(mappings::sampling, "aten::pixel_unshuffle", {arg("self", nothing), number("downscale_factor", 2)}, nothing);
}

TEST_CASE("the dropout mask of an empty tensor has the dtype of the input") {
    tensor const nothing = of(dtype::float32, {0, 2}, {});
    gives(mappings::activation,
          "aten::native_dropout",
          {arg("input", nothing), number("p", 0.5), number("train", true)},
          nothing,
          1);
}

TEST_CASE("margin losses ignore NaN") {
    gives(mappings::class_loss,
          "aten::multi_margin_loss",
          {arg("self", of(dtype::float32, {1, 3}, {0.5, nan, 2})),
           arg("target", row_of(dtype::int64, {0})),
           number("reduction", 0)},
          row_of(dtype::float32, {2.5 / 3}));
    gives(mappings::class_loss,
          "aten::multilabel_margin_loss",
          {arg("self", of(dtype::float32, {1, 3}, {0.5, nan, 2})),
           arg("target", of(dtype::int64, {1, 3}, {0, -1, 0})),
           number("reduction", 0)},
          row_of(dtype::float32, {2.5 / 3}));
}

TEST_CASE("a product with factor 0 is omitted, even if it is NaN") {
    tensor const x = of(dtype::float32, {1, 1}, {nan});
    tensor const y = of(dtype::float32, {1, 2}, {1, 1});
    tensor const self = of(dtype::float32, {1, 2}, {1, 2});
    gives(mappings::matrix_product,
          "aten::addmm",
          {arg("self", self), arg("mat1", x), arg("mat2", y), number("alpha", 0)},
          self);
    gives(mappings::matrix_product,
          "aten::addmv",
          {arg("self", row_of(dtype::float32, {3})),
           arg("mat", x),
           arg("vec", row_of(dtype::float32, {1})),
           number("alpha", 0)},
          row_of(dtype::float32, {3}));
    gives(mappings::matrix_product,
          "aten::addbmm",
          {arg("self", self),
           arg("batch1", x.unsqueezed(0)),
           arg("batch2", y.unsqueezed(0)),
           number("beta", 2),
           number("alpha", 0)},
          of(dtype::float32, {1, 2}, {2, 4}));
}

TEST_CASE("addmv does not expand its sum where the matrix has no elements") {
    for (runtime::sizes const& sizes : {runtime::sizes{0, 5}, runtime::sizes{4, 0}})
        gives(mappings::matrix_product,
              "aten::addmv",
              {arg("self", row_of(dtype::float32, {3})),
               arg("mat", of(dtype::float32, sizes, {})),
               arg("vec", row_of(dtype::float32, std::vector<double>(static_cast<std::size_t>(sizes[1]), 1))),
               number("beta", 2)},
              row_of(dtype::float32, {6}));
}

TEST_CASE("histc rounds bfloat16 after each step") {
    std::vector<double> counts(100, 0);
    counts[91] = 1;
    gives(mappings::bucketing,
          "aten::histc",
          {arg("self", row_of(dtype::bfloat16, {2.5})), number("bins", 100), number("min", -2.5), number("max", 3)},
          row_of(dtype::bfloat16, counts));
}

TEST_CASE("an integer convolution whose windows would exhaust memory is refused") {
    std::vector<runtime::aten_argument> call = {arg("input", of(dtype::int64, {1, 1, 5}, {1, 2, 3, 4, 5})),
                                                arg("weight", of(dtype::int64, {1, 1, 3}, {1, 2, 3})),
                                                none("bias"),
                                                numbers("stride", {3}),
                                                numbers("padding", {1LL << 40}),
                                                numbers("dilation", {1}),
                                                number("groups", 1)};
    CHECK(tests::contains(refusal(mappings::convolution, "aten::conv1d", call),
                          "a table of windows of 2199023255556 elements"));
    call[3] = numbers("stride", {1LL << 40});
    call[4] = numbers("padding", {0});
    call.push_back(numbers("output_padding", {0}));
    CHECK(tests::contains(refusal(mappings::convolution, "aten::conv_transpose1d", call),
                          "a table of windows of 13194139533321 elements"));
}

} // namespace ATON_NAMESPACE::verify
