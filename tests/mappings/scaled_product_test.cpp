// SPDX-License-Identifier: MIT
// Rows of the family scaled_product: regressions against torch's results.
#include <utility>
#include <vector>

#include "row_results.hpp"

namespace aton::tests {

namespace {

constexpr dtype narrow = dtype::float8_e4m3fn;

tensor float8(tensor const& x, dtype type = narrow) { return runtime::cast(x, type); }

tensor left() { return of(dtype::float32, {2, 3}, {1, 2, 3, 4, 5, -6}); }

std::vector<runtime::aten_argument> product(tensor self, tensor scale_a, tensor scale_b, runtime::aten_argument bias,
                                            dtype to) {
    return {arg("self", std::move(self)),
            arg("mat2", float8(of(dtype::float32, {3, 2}, {1, 2, 0.5, -1, 2, 3}))),
            arg("scale_a", std::move(scale_a)),
            arg("scale_b", std::move(scale_b)),
            std::move(bias),
            type("out_dtype", to)};
}

tensor scalar_of(double x) { return of(dtype::float32, {}, {x}); }

} // namespace

TEST_CASE("a product of float8 matrices with one scale each, and with scales of rows and columns") {
    gives("aten::_scaled_mm",
          product(float8(left()), scalar_of(0.5), row_of(dtype::float32, {3}), none("bias"), dtype::bfloat16),
          of(dtype::bfloat16, {2, 2}, {12, 13.5, -8.25, -22.5}));
    tensor const rows = of(dtype::float32, {2, 1}, {0.5, 2});
    tensor const columns = of(dtype::float32, {1, 2}, {3, 1});
    gives("aten::_scaled_mm",
          product(float8(left()), rows, columns, arg("bias", row_of(dtype::float32, {1, 2})), dtype::float32),
          of(dtype::float32, {2, 2}, {13, 6.5, -32, -28}));
    CHECK(contains(refusal("aten::_scaled_mm", product(float8(left()), rows, scalar_of(3), none("bias"), narrow)),
                   "scales that are neither two numbers nor one per row"));
}

TEST_CASE("float8_e4m3fn saturates, float8_e5m2 does not, and the dtype of self is the default") {
    auto const result = [](double scale, dtype to) {
        return product(float8(left()), scalar_of(scale), scalar_of(1), none("bias"), to);
    };
    gives("aten::_scaled_mm", result(1e4, narrow), float8(of(dtype::float32, {2, 2}, {448, 448, -448, -448})));
    std::vector<double> const beyond{infinity, infinity, -infinity, -infinity};
    tensor const infinite = runtime::cast(of(dtype::float32, {2, 2}, beyond), dtype::float8_e5m2, false);
    gives("aten::_scaled_mm", result(1e6, dtype::float8_e5m2), infinite);
    auto call = result(1e6, narrow);
    call[0] = arg("self", float8(left(), dtype::float8_e5m2));
    call[5] = none("out_dtype");
    gives("aten::_scaled_mm", call, infinite);
    call[5] = arg("scale_result", scalar_of(2));
    CHECK(contains(refusal("aten::_scaled_mm", call), "divides on the CPU and multiplies on CUDA"));
}

TEST_CASE("the second version takes its scales by recipes") {
    auto const call = [](tensor scale_a, tensor scale_b, long long recipe, std::vector<scalar> const& swizzle) {
        return std::vector<runtime::aten_argument>{
            arg("self", float8(left())),
            arg("mat2", float8(of(dtype::float32, {3, 2}, {1, 2, 0.5, -1, 2, 3}))),
            runtime::aten_argument::of_tensors({std::move(scale_a)}).named("scale_a"),
            numbers("recipe_a", {recipe}),
            numbers("swizzle_a", swizzle),
            runtime::aten_argument::of_tensors({std::move(scale_b)}).named("scale_b"),
            numbers("recipe_b", {recipe}),
            numbers("swizzle_b", swizzle),
            none("bias"),
            type("out_dtype", dtype::float32)};
    };
    tensor const rows = of(dtype::float32, {2, 1}, {0.5, 2});
    tensor const columns = of(dtype::float32, {1, 2}, {3, 1});
    gives("aten::_scaled_mm_v2", call(rows, columns, 1, {0}), of(dtype::float32, {2, 2}, {12, 4.5, -33, -30}));
    auto whole = call(scalar_of(1), scalar_of(2), 0, {});
    whole[8] = arg("bias", row_of(dtype::float32, {1, 2}));
    whole[9] = none("out_dtype");
    gives("aten::_scaled_mm_v2", whole, float8(of(dtype::float32, {2, 2}, {16, 20, -10, -28})));
    auto without_terms = call(scalar_of(1), scalar_of(1), 0, {0}); // to which ATen does not add the bias
    without_terms[0] = arg("self", float8(of(dtype::float32, {2, 0}, {})));
    without_terms[1] = arg("mat2", float8(of(dtype::float32, {0, 2}, {})));
    without_terms[8] = arg("bias", row_of(dtype::float32, {1, 2}));
    gives("aten::_scaled_mm_v2", without_terms, of(dtype::float32, {2, 2}, {0, 0, 0, 0}));
    CHECK(contains(refusal("aten::_scaled_mm_v2", call(rows, columns, 2, {0})), "scales of blocks"));
    CHECK(contains(refusal("aten::_scaled_mm_v2", call(rows, columns, 0, {0})), "a scale of a tensor"));
    CHECK(contains(refusal("aten::_scaled_mm_v2", call(rows, columns, 1, {1})), "swizzled scales"));
    auto transposed = call(rows, columns, 1, {0});
    transposed.push_back(numbers("contraction_dim", {0, 0}));
    CHECK(contains(refusal("aten::_scaled_mm_v2", transposed), "contraction_dim"));
}

TEST_CASE("a product with int8 weights is scaled by row of the weight, and rounded once") {
    std::vector<double> x(16, 1);
    std::vector<double> weight;
    for (int i = 0; i != 16; ++i) x.push_back(i);
    for (int i = -16; i != 16; ++i) weight.push_back(i);
    gives("aten::_weight_int8pack_mm",
          {arg("self", of(dtype::float32, {2, 16}, x)),
           arg("mat2", of(dtype::int8, {2, 16}, weight)),
           arg("scales", row_of(dtype::float32, {0.5, 0.25}))},
          of(dtype::float32, {2, 2}, {-68, 30, -340, 310}));
    gives("aten::_weight_int8pack_mm",
          {arg("self", of(dtype::float16, {1, 16}, std::vector<double>(16, 300))),
           arg("mat2", of(dtype::int8, {1, 16}, std::vector<double>(16, 100))),
           arg("scales", row_of(dtype::float16, {0.125}))},
          of(dtype::float16, {1, 1}, {60000}));
}

} // namespace aton::tests
