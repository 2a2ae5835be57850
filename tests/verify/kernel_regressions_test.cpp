// SPDX-License-Identifier: MIT
// Regressions of kernels that no check of a row detects: each call must give torch's result.
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <aton/core/error.hpp>
#include <aton/verify/comparison.hpp>
#include <aton/verify/sample.hpp>

#include "calls.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using namespace tests;
using runtime::tensor;

void gives(std::string overload, std::vector<runtime::aten_argument> arguments, std::vector<tensor> const& expected) {
    sample const s{std::move(overload), std::move(arguments)};
    CAPTURE(to_python(s));
    runtime::aten_results const got = runtime::call_aten(s.overload, s.arguments);
    REQUIRE(got.results.size() == expected.size());
    for (std::size_t i = 0; i != expected.size(); ++i) {
        comparison const c = compare(got.results[i].one(), expected[i]);
        CHECK_MESSAGE(c.same(), to_string(c));
    }
}

/// A 0-d complex tensor.
tensor complex_number(double re, double im) { return of(dtype::float32, {2}, {re, im}).from_pairs(); }

} // namespace

TEST_CASE("the largest element of a window is the last NaN") {
    for (dtype const t : {dtype::float32, dtype::float16}) // float16 is computed by the float32 kernel
        gives("aten::max_pool2d_with_indices",
              {arg("self", of(t, {1, 2, 2}, {1, nan, nan, 2})), numbers("kernel_size", {2, 2})},
              {of(t, {1, 1, 1}, {nan}), of(dtype::int64, {1, 1, 1}, {2})});
    gives("aten::adaptive_max_pool2d",
          {arg("self", of(dtype::float32, {1, 3, 3}, {1, nan, 2, -infinity, nan, -infinity, nan, 1, 2})),
           numbers("output_size", {1, 1})},
          {of(dtype::float32, {1, 1, 1}, {nan}), of(dtype::int64, {1, 1, 1}, {6})});
}

TEST_CASE("among elements equal to the padding value, the first of the window is the maximum") {
    gives("aten::max_pool1d_with_indices",
          {arg("self", of(dtype::uint8, {1, 1, 4}, {0, 0, 0, 0})),
           numbers("kernel_size", {2}),
           numbers("stride", {2}),
           numbers("padding", {1}),
           numbers("dilation", {2})},
          {of(dtype::uint8, {1, 1, 2}, {0, 0}), of(dtype::int64, {1, 1, 2}, {1, 1})});
}

TEST_CASE("the squares of a standard deviation do not overflow") {
    gives("aten::std", {arg("self", row_of(dtype::float32, {3e38, 1, 1}))}, {of(dtype::float32, {}, {1.7320508e38})});
}

TEST_CASE("addmm's gelu is not the approximation") {
    tensor const one = of(dtype::float64, {1, 1}, {1});
    gives("aten::_addmm_activation",
          {arg("self", row_of(dtype::float64, {0})), arg("mat1", one), arg("mat2", one), number("use_gelu", true)},
          {of(dtype::float64, {1, 1}, {0.8413447460685429})});
}

TEST_CASE("fmod rounds a number to bfloat16 first") {
    gives("aten::fmod.Scalar",
          {arg("self", row_of(dtype::bfloat16, {3.0040552704739099e38, 1e5, -100})), number("other", 70000)},
          {row_of(dtype::bfloat16, {27136, 29696, -100})});
}

TEST_CASE("a complex linspace computes its parts separately") {
    gives("aten::linspace.Tensor_Tensor",
          {arg("start", complex_number(0, -2)), arg("end", complex_number(nan, 2)), number("steps", 5)},
          {of(dtype::float32, {5, 2}, {nan, -2, nan, -1, nan, 0, nan, 1, nan, 2}).from_pairs()});
}

TEST_CASE("the label -1 is 255 in uint8") {
    gives("aten::hinge_embedding_loss",
          {arg("self", row_of(dtype::uint8, {2, 3, 4})),
           arg("target", row_of(dtype::uint8, {255, 1, 7})),
           number("margin", 0.5),
           number("reduction", 0)},
          {row_of(dtype::uint8, {254, 3, 0})});
}

TEST_CASE("intermediate results of complex functions do not overflow") {
    gives("aten::sqrt", {arg("self", complex_number(3e38, 3e38))}, {complex_number(1.9029766e19, 7.8823872e18)});
    gives("aten::tanh", {arg("self", complex_number(100, 1))}, {complex_number(1, 0)});
}

TEST_CASE("division of a complex number by 0 divides each part") {
    gives("aten::div.Scalar",
          {arg("self", complex_number(1, 2)), number("other", 0)},
          {complex_number(infinity, infinity)});
    gives("aten::div.Tensor",
          {arg("self", complex_number(1, -2)), arg("other", complex_number(-0.0, 0))},
          {complex_number(infinity, -infinity)});
}

TEST_CASE("a complex exponential treats infinite parts as C does") {
    gives("aten::exp", {arg("self", complex_number(infinity, infinity))}, {complex_number(infinity, nan)});
    gives("aten::exp", {arg("self", complex_number(infinity, 0))}, {complex_number(infinity, 0)});
    gives("aten::exp", {arg("self", complex_number(-infinity, nan))}, {complex_number(0, 0)});
    gives("aten::sigmoid", {arg("self", complex_number(infinity, nan))}, {complex_number(1, 0)});
    gives("aten::log", {arg("self", complex_number(3e38, 3e38))}, {complex_number(88.943420, 0.78539816)});
}

TEST_CASE("0 to an imaginary power is NaN, but to the power 0 it is 1") {
    gives("aten::pow.Tensor_Tensor",
          {arg("self", complex_number(0, 0)), arg("exponent", complex_number(0, 1))},
          {complex_number(nan, nan)});
    gives(
        "aten::pow.Tensor_Scalar", {arg("self", complex_number(0, 0)), number("exponent", 0)}, {complex_number(1, 0)});
}

TEST_CASE("logsumexp of a fully masked row is 0 in fused attention") {
    tensor const q = of(dtype::float32, {1, 1, 2, 1}, {0.5, 1});
    tensor const k = of(dtype::float32, {1, 1, 3, 1}, {1, 2, 3});
    gives("aten::_scaled_dot_product_flash_attention_for_cpu",
          {arg("query", q),
           arg("key", k),
           arg("value", k),
           arg("attn_mask", of(dtype::float32, {2, 3}, {-infinity, -infinity, -infinity, 0, -infinity, 1}))},
          {of(dtype::float32, {1, 1, 2, 1}, {0, 2.9051483}), of(dtype::float32, {1, 1, 2}, {0, 4.0485873})});
}

TEST_CASE("the largest singular value of a matrix without columns is 0") {
    gives("aten::linalg_norm",
          {arg("self", of(dtype::float32, {3, 0}, {})), number("ord", 2), number("keepdim", true)},
          {of(dtype::float32, {1, 1}, {0})});
}

TEST_CASE("nanmean rounds the sum to float16 before it divides") {
    gives("aten::nanmean",
          {arg("self", row_of(dtype::float16, {65504, 65504, nan}))},
          {of(dtype::float16, {}, {infinity})});
}

TEST_CASE("fake quantization rounds before it adds the zero point") {
    gives("aten::fake_quantize_per_tensor_affine",
          {arg("self", row_of(dtype::float32, {0.5, 1.5, 2.5, -1.5})),
           number("scale", 1),
           number("zero_point", 1),
           number("quant_min", -8),
           number("quant_max", 8)},
          {row_of(dtype::float32, {0, 2, 2, -2})});
}

TEST_CASE("the gradient of dropout multiplies by the mask first") {
    gives("aten::native_dropout_backward",
          {arg("grad_output", row_of(dtype::float16, {0, 1000})),
           arg("mask", row_of(dtype::bool_, {1, 1})),
           number("scale", 100000)},
          {row_of(dtype::float16, {0, infinity})});
}

TEST_CASE("the gradient of hardsigmoid has a float factor also in float64") {
    gives("aten::hardsigmoid_backward",
          {arg("grad_output", row_of(dtype::float64, {1})), arg("self", row_of(dtype::float64, {0}))},
          {row_of(dtype::float64, {0.1666666716337204})});
}

TEST_CASE("elements are found in tests that hold NaN") {
    gives("aten::isin.Tensor_Tensor",
          {arg("elements", row_of(dtype::float32, {1, -0.0, 0, nan})),
           arg("test_elements", row_of(dtype::float32, {-0.0, nan}))},
          {row_of(dtype::bool_, {0, 1, 1, 0})});
    gives("aten::isin.Tensor_Tensor",
          {arg("elements", row_of(dtype::float32, {1, nan})), arg("test_elements", row_of(dtype::float32, {nan, nan}))},
          {row_of(dtype::bool_, {0, 0})});
}

TEST_CASE("the gradient of logit is NaN for NaN, also with eps") {
    gives("aten::logit_backward",
          {arg("grad_output", row_of(dtype::float32, {1, 1, 1})),
           arg("self", row_of(dtype::float32, {nan, 0.1, 0.5})),
           number("eps", 0.2)},
          {row_of(dtype::float32, {nan, 0, 4})});
}

/// The message with which the runtime refuses a call; empty if it accepts it.
std::string refusal_of(std::string overload, std::vector<runtime::aten_argument> arguments) {
    try {
        (void)runtime::call_aten(overload, std::move(arguments));
        return {};
    } catch (aton::error const& e) {
        return e.what();
    }
}

TEST_CASE("combinations of dtypes that ATen rejects are refused") {
    tensor const half = of(dtype::float16, {1, 2, 3}, {1, 2, 3, 4, 5, 6});
    CHECK(refusal_of("aten::lerp.Tensor",
                     {arg("self", row_of(dtype::float32, {1, 2})),
                      arg("end", row_of(dtype::int64, {3, 4})),
                      arg("weight", row_of(dtype::float32, {0.25, 0.5}))}) ==
          "aten::lerp.Tensor: 'end' is int64, but 'self' is float32");
    CHECK(refusal_of("aten::native_layer_norm",
                     {arg("input", half),
                      numbers("normalized_shape", {3}),
                      arg("weight", row_of(dtype::float32, {1, 2, 3})),
                      arg("bias", row_of(dtype::float32, {1, 2, 3})),
                      number("eps", 0.5)})
              .empty());
    CHECK(refusal_of("aten::native_layer_norm",
                     {arg("input", half),
                      numbers("normalized_shape", {3}),
                      arg("weight", row_of(dtype::float32, {1, 2, 3})),
                      arg("bias", row_of(dtype::float16, {1, 2, 3})),
                      number("eps", 0.5)}) == "aten::native_layer_norm: 'bias' is float16, but 'weight' is float32");
    CHECK(refusal_of("aten::take", {arg("self", half), arg("index", row_of(dtype::int32, {1}))}) ==
          "aten::take: 'index' is int32, not int64");
}

TEST_CASE("the condition number of a matrix without elements is 0") {
    tensor const empty = of(dtype::float32, {2, 0, 0}, {});
    gives("aten::linalg_cond", {arg("self", empty)}, {of(dtype::float32, {2}, {0, 0})});
    gives("aten::linalg_cond.p_str", {arg("self", empty), word("p", "nuc")}, {of(dtype::float32, {2}, {0, 0})});
}

TEST_CASE("decompositions refuse dtypes that LAPACK does not have, and gelsy with rcond") {
    tensor const half = of(dtype::float16, {1, 1}, {2});
    for (char const* const name : {"aten::linalg_eigvalsh", "aten::linalg_cond"})
        CHECK_THROWS_AS((void)runtime::call_aten(name, {arg("self", half)}), error);
    tensor const x = of(dtype::float32, {1, 1}, {2});
    CHECK_THROWS_AS((void)runtime::call_aten("aten::linalg_lstsq", {arg("self", x), arg("b", x), number("rcond", 0.1)}),
                    error);
}

TEST_CASE("norms of empty axes are 0, also where 0 to the power of 1 / p is not") {
    tensor const empty = of(dtype::float32, {2, 0}, {});
    gives("aten::norm.Scalar", {arg("self", empty), number("p", 1e308)}, {of(dtype::float32, {}, {0})});
    gives("aten::dist", {arg("self", empty), arg("other", empty), number("p", 1e308)}, {of(dtype::float32, {}, {0})});
    CHECK_THROWS_AS((void)runtime::call_aten("aten::norm.Scalar", {arg("self", empty), number("p", -1)}), error);
}

TEST_CASE("the variance of no elements is NaN, also with a negative correction") {
    gives("aten::var.correction",
          {arg("self", of(dtype::float32, {2, 0}, {})), number("correction", -5)},
          {of(dtype::float32, {}, {nan})});
}

TEST_CASE("residuals of least squares are real, and 0 for a matrix without columns") {
    tensor const a = runtime::cast(of(dtype::float32, {2, 1}, {3, 4}), dtype::complex64);
    auto const solved = runtime::call_aten("aten::linalg_lstsq", {arg("self", a), arg("b", a)});
    CHECK(solved.results.at(1).one().dtype() == dtype::float32);
    CHECK(solved.results.at(3).one().dtype() == dtype::float32);
    auto const without_columns = runtime::call_aten("aten::linalg_lstsq",
                                                    {arg("self", of(dtype::float32, {2, 0}, {})),
                                                     arg("b", of(dtype::float32, {2, 1}, {3, 4})),
                                                     word("driver", "gels")});
    CHECK(compare(without_columns.results.at(1).one(), row_of(dtype::float32, {0})).same());
}

TEST_CASE("parts of complex products are rounded once") {
    // float32 cannot hold the square of 1 + 2^-12, of which 1 is subtracted.
    tensor const near = of(dtype::float32, {1, 1, 2}, {1 + 0x1p-12F, 1}).from_pairs();
    gives("aten::mm",
          {arg("self", near), arg("mat2", near)},
          {of(dtype::float32, {1, 1, 2}, {0x1p-11F + 0x1p-24F, 2 + 0x1p-11F}).from_pairs()});
}

TEST_CASE("a search promotes values and boundaries of different dtypes") {
    gives("aten::bucketize.Tensor",
          {arg("self", row_of(dtype::float64, {0.3})),
           arg("boundaries", row_of(dtype::float32, {-1, 0.3, 1})), // 0.3 is larger in float32
           number("right", true)},
          {row_of(dtype::int64, {1})});
    gives("aten::searchsorted.Tensor",
          {arg("sorted_sequence", row_of(dtype::float32, {16777216})), arg("self", row_of(dtype::int64, {16777217}))},
          {row_of(dtype::int64, {0})});
}

TEST_CASE("a gradient at its ends is computed in the dtype of the function, not in that of wider coordinates") {
    tensor const coordinates = row_of(dtype::float64, {0.1, 0.35, 1.0, 1.7});
    sample const s{"aten::gradient.tensorarray",
                   {arg("self", row_of(dtype::float32, {0.1, 0.3, 0.7, 0.2})),
                    runtime::aten_argument::of_tensors({coordinates}).named("spacing"),
                    numbers("dim", {0}),
                    number("edge_order", 2)}};
    runtime::aten_results const got = runtime::call_aten(s.overload, s.arguments);
    REQUIRE(got.results.size() == 1);
    REQUIRE(got.results[0].many().size() == 1);
    tensor const expected =
        row_of(dtype::float64, {0.8512821197509766, 0.74871796866258, -0.02482703359669483, -1.4037442207336426});
    comparison const c = compare(got.results[0].many()[0], expected);
    CHECK_MESSAGE(c.same(), to_string(c));
}

} // namespace ATON_NAMESPACE::verify
