// SPDX-License-Identifier: MIT
// Rows of the family matrix_product: regressions against torch's results.
#include <cmath>
#include <utility>
#include <vector>

#include <aton/mappings/matrix_product.hpp>

#include "row_results.hpp"

#include "runtime/compute/complex.hpp"

namespace aton::tests {

TEST_CASE(
    "factors of float64 products are not rounded to float32, and large factors of float16 do not become infinite") {
    gives("aten::addmm",
          {arg("self", of(dtype::float64, {1, 1}, {1})),
           arg("mat1", of(dtype::float64, {1, 1}, {1})),
           arg("mat2", of(dtype::float64, {1, 1}, {1})),
           number("alpha", 0.1)},
          of(dtype::float64, {1, 1}, {1.1}));
    gives("aten::baddbmm",
          {arg("self", of(dtype::float16, {1, 1, 1}, {2})),
           arg("batch1", of(dtype::float16, {1, 1, 1}, {0})),
           arg("batch2", of(dtype::float16, {1, 1, 1}, {1})),
           number("alpha", 1e5)},
          of(dtype::float16, {1, 1, 1}, {2}));
}

TEST_CASE("addr multiplies the first vector by alpha before it overflows") {
    gives("aten::addr",
          {arg("self", of(dtype::float32, {1, 1}, {-2})),
           arg("vec1", row_of(dtype::float32, {1.25})),
           arg("vec2", row_of(dtype::float32, {3e38})),
           number("alpha", -0.25)},
          of(dtype::float32, {1, 1}, {-9.375e37}));
}

TEST_CASE("addr of bools adds no product with an alpha of 0") {
    for (bool const self : {false, true})
        gives("aten::addr",
              {arg("self", runtime::reshape(bools(self), {1, 1})),
               arg("vec1", bools(true)),
               arg("vec2", bools(true)),
               number("alpha", 0)},
              runtime::reshape(bools(self), {1, 1}));
}

TEST_CASE("a product with factor 0 is omitted, even if it is NaN") {
    tensor const x = of(dtype::float32, {1, 1}, {nan});
    tensor const y = of(dtype::float32, {1, 2}, {1, 1});
    tensor const self = of(dtype::float32, {1, 2}, {1, 2});
    gives("aten::addmm", {arg("self", self), arg("mat1", x), arg("mat2", y), number("alpha", 0)}, self);
    gives("aten::addmv",
          {arg("self", row_of(dtype::float32, {3})),
           arg("mat", x),
           arg("vec", row_of(dtype::float32, {1})),
           number("alpha", 0)},
          row_of(dtype::float32, {3}));
    gives("aten::addbmm",
          {arg("self", self),
           arg("batch1", x.unsqueezed(0)),
           arg("batch2", y.unsqueezed(0)),
           number("beta", 2),
           number("alpha", 0)},
          of(dtype::float32, {1, 2}, {2, 4}));
}

TEST_CASE("addmv does not expand its sum where the matrix has no elements") {
    for (runtime::sizes const& sizes : {runtime::sizes{0, 5}, runtime::sizes{4, 0}})
        gives("aten::addmv",
              {arg("self", row_of(dtype::float32, {3})),
               arg("mat", of(dtype::float32, sizes, {})),
               arg("vec", row_of(dtype::float32, std::vector<double>(static_cast<std::size_t>(sizes[1]), 1))),
               number("beta", 2)},
              row_of(dtype::float32, {6}));
}

TEST_CASE("a product of no terms is 0, whatever alpha is") {
    tensor const self = of(dtype::float32, {1, 1}, {3});
    tensor const row = of(dtype::float32, {1, 0}, {});
    tensor const column = of(dtype::float32, {0, 1}, {});
    auto const alpha = number("alpha", -infinity);
    gives("aten::addmm", {arg("self", self), arg("mat1", row), arg("mat2", column), alpha}, self);
    gives("aten::addmv",
          {arg("self", row_of(dtype::float32, {3})), arg("mat", row), arg("vec", of(dtype::float32, {0}, {})), alpha},
          row_of(dtype::float32, {3}));
    gives(
        "aten::baddbmm",
        {arg("self", self.unsqueezed(0)), arg("batch1", row.unsqueezed(0)), arg("batch2", column.unsqueezed(0)), alpha},
        self.unsqueezed(0));
    gives("aten::addbmm",
          {arg("self", self), arg("batch1", row.unsqueezed(0)), arg("batch2", column.unsqueezed(0)), alpha},
          self);
    tensor const none = of(dtype::float32, {0, 1, 1}, {});
    gives("aten::addbmm", {arg("self", self), arg("batch1", none), arg("batch2", none), alpha}, self);
}

TEST_CASE("baddbmm of half precision adds before it rounds") {
    gives("aten::baddbmm",
          {arg("self", of(dtype::float16, {1, 1, 2}, {-infinity, 5})),
           arg("batch1", of(dtype::float16, {1, 1, 2}, {1, -100})),
           arg("batch2", of(dtype::float16, {1, 2, 2}, {0, 1, -4, -3})),
           number("alpha", 300)},
          of(dtype::float16, {1, 1, 2}, {-infinity, infinity}));
}

TEST_CASE("products of half precision that are too small for it are not 0 before they are multiplied by infinity") {
    gives("aten::baddbmm",
          {arg("self", of(dtype::float16, {1, 1, 1}, {nan})),
           arg("batch1", of(dtype::float16, {1, 1, 1}, {-0x1p-20})),
           arg("batch2", of(dtype::float16, {1, 1, 1}, {-0x1p-20})),
           number("beta", 0),
           number("alpha", infinity)},
          of(dtype::float16, {1, 1, 1}, {infinity}));
}

TEST_CASE("products of half precision are rounded after an alpha beyond its range") {
    tensor const a = of(dtype::float16, {1, 1}, {3.58984375});
    tensor const b = of(dtype::float16, {1, 1}, {-0x1p-20});
    tensor const self = of(dtype::float16, {1, 1}, {infinity}); // ignored: beta is 0
    tensor const expected = of(dtype::float16, {1, 1}, {-0.34228515625});
    auto const [beta, alpha] = std::pair(number("beta", 0), number("alpha", 1e5));
    gives("aten::addmm", {arg("self", self), arg("mat1", a), arg("mat2", b), beta, alpha}, expected);
    gives("aten::addmv",
          {arg("self", self.reshaped({1})), arg("mat", a), arg("vec", b.reshaped({1})), beta, alpha},
          expected.reshaped({1}));
    gives(
        "aten::baddbmm",
        {arg("self", self.unsqueezed(0)), arg("batch1", a.unsqueezed(0)), arg("batch2", b.unsqueezed(0)), beta, alpha},
        expected.unsqueezed(0));
}

TEST_CASE("addbmm of half precision, whose partial sums ATen rounds, refuses factors beyond its range") {
    for (std::string const factor : {"alpha", "beta"})
        CHECK(contains(refusal("aten::addbmm",
                               {arg("self", of(dtype::float16, {1, 1}, {1})),
                                arg("batch1", of(dtype::float16, {2, 1, 1}, {1, -infinity})),
                                arg("batch2", of(dtype::float16, {2, 1, 1}, {-2, 1})),
                                number(factor, 1e5)}),
                       "an alpha or beta beyond the range of the dtype"));
}

TEST_CASE("bilinear of half precision rounds the product of its first two factors") {
    gives("aten::bilinear",
          {arg("input1", of(dtype::bfloat16, {1, 1}, {0x1p-133})),
           arg("input2", of(dtype::bfloat16, {1, 1}, {-infinity})),
           arg("weight", of(dtype::bfloat16, {1, 1, 1}, {0.25}))},
          of(dtype::bfloat16, {1, 1}, {nan}));
}

TEST_CASE("transformers' mixtures of experts, one of which has no rows, and their gradients") {
    tensor const input = of(dtype::float32, {3, 1}, {1, 2, 3});
    tensor const weight = of(dtype::float32, {3, 1, 2}, {5, 50, 7, 70, 11, 110});
    tensor const ends = row_of(dtype::int32, {1, 1, 3});
    tensor const grad = of(dtype::float32, {3, 2}, {1, 0, 2, 1, 0, 3});
    gives("transformers::grouped_mm_fallback",
          {arg("input", input), arg("weight", weight), arg("offs", ends)},
          of(dtype::float32, {3, 2}, {5, 50, 22, 220, 33, 330}));
    std::vector<runtime::aten_argument> const of_gradient = {
        arg("input", input), arg("weight", weight), arg("offs", ends), arg("grad_output", grad)};
    gives("transformers::grouped_mm_fallback_backward", of_gradient, of(dtype::float32, {3, 1}, {5, 132, 330}));
    gives("transformers::grouped_mm_fallback_backward",
          of_gradient,
          of(dtype::float32, {3, 1, 2}, {1, 0, 0, 0, 4, 11}),
          1);
}

TEST_CASE("products in float32 of narrow matrices are rounded once, to float32") {
    auto const half = [](runtime::sizes const& sizes, std::vector<double> const& numbers) {
        return of(dtype::float16, sizes, numbers);
    };
    auto const type = [] { return runtime::aten_argument::of_type(dtype::float32).named("out_dtype"); };
    tensor const a = half({1, 2}, {2048, 60000});
    tensor const b = half({2, 1}, {1.0009765625, 2});
    double const product = 2048 * 1.0009765625 + 120000; // beyond float16
    gives("aten::mm.dtype", {arg("self", a), arg("mat2", b), type()}, of(dtype::float32, {1, 1}, {product}));
    gives("aten::bmm.dtype",
          {arg("self", a.unsqueezed(0)), arg("mat2", b.unsqueezed(0)), type()},
          of(dtype::float32, {1, 1, 1}, {product}));
    std::vector<runtime::aten_argument> const factors = {number("beta", 3), number("alpha", 0.5)};
    gives("aten::addmm.dtype",
          {arg("self", of(dtype::float32, {1}, {0.1})), arg("mat1", a), arg("mat2", b), type(), factors[0], factors[1]},
          of(dtype::float32, {1, 1}, {0.3 + product / 2}));
    gives("aten::baddbmm.dtype",
          {arg("self", half({1, 1, 1}, {0.5})),
           arg("batch1", a.unsqueezed(0)),
           arg("batch2", b.unsqueezed(0)),
           type(),
           factors[0],
           factors[1]},
          of(dtype::float32, {1, 1, 1}, {1.5 + product / 2}));
    CHECK(contains(
        refusal("aten::mm.dtype",
                {arg("self", of(dtype::float64, {1, 1}, {1})), arg("mat2", of(dtype::float64, {1, 1}, {1})), type()}),
        "out_dtype must be that of the matrices, or float32 for float16 and bfloat16"));
}

TEST_CASE("grouped products of rows, columns and sums, with an empty group and a rest") {
    tensor const ends = row_of(dtype::int32, {1, 1, 2});
    tensor const flat = of(dtype::float32, {3, 1}, {1, 2, 3});
    tensor const each = of(dtype::float32, {3, 1, 1}, {5, 7, 11});
    gives("aten::_grouped_mm",
          {arg("self", flat), arg("mat2", each), arg("offs", ends)},
          of(dtype::float32, {3, 1}, {5, 22, 0}));
    gives("aten::_grouped_mm",
          {arg("self", each), arg("mat2", of(dtype::float32, {1, 3}, {1, 2, 3})), arg("offs", ends)},
          of(dtype::float32, {1, 3}, {5, 22, 0}));
    gives("aten::_grouped_mm",
          {arg("self", of(dtype::float32, {1, 3}, {5, 7, 11})), arg("mat2", flat), arg("offs", ends)},
          of(dtype::float32, {3, 1, 1}, {5, 0, 14}));
    gives("aten::_grouped_mm",
          {arg("self", each), arg("mat2", of(dtype::float32, {3, 1, 1}, {1, 2, 3}))},
          of(dtype::float32, {3, 1, 1}, {5, 14, 33}));
}

TEST_CASE("sums over dimensions of complex tensors conjugate neither, and a size of 1 stands for any") {
    auto const pairs =
        [](runtime::sizes const& sizes, std::vector<double> const& real, std::vector<double> const& imag) {
            return runtime::complex_of(of(dtype::float32, sizes, real), of(dtype::float32, sizes, imag));
        };
    auto const a = pairs({2, 2}, {1, 2, 3, -1}, {0, 1, -2, 1});
    auto const b = pairs({2, 2}, {2, 0, 1, 1}, {1, -1, 0, 2});
    gives("aten::tensordot",
          {arg("self", a), arg("other", b), numbers("dims_self", {0}), numbers("dims_other", {1})},
          pairs({2, 2}, {0, 8, 4, -1}, {-2, 4, 5, 0}));
    gives("aten::tensordot",
          {arg("self", pairs({2, 1}, {1, 3}, {0, -2})),
           arg("other", b),
           numbers("dims_self", {1}),
           numbers("dims_other", {0})},
          pairs({2, 2}, {3, 1, 11, 5}, {1, 1, -3, 1}));
    gives("aten::inner", {arg("self", a), arg("other", b)}, pairs({2, 2}, {3, 1, 9, 0}, {-1, 5, 0, -3}));
}

TEST_CASE("einsum of a batch, a size of 1, a letter of one operand and a result in another order") {
    auto const a = of(dtype::float32, {2, 1, 3}, {1, 2, 3, 4, 5, 6});
    auto const b = of(dtype::float32, {3, 2, 2}, {1, 0, 2, 1, 0, 1, 1, 3, 2, 2, 0, 1});
    std::vector<runtime::tensor> const both{a, b};
    // y[k, b] = sum over i, j, l of a[b, i, j] b[j, k, l]; i has size 1
    gives("aten::einsum",
          {word("equation", "bij,jkl->kb"), runtime::aten_argument::of_tensors(both).named("tensors")},
          of(dtype::float32, {2, 2}, {15, 33, 14, 38}));
}

namespace {

runtime::tensor complex_matrices(runtime::sizes const& sizes, std::vector<double> const& real,
                                 std::vector<double> const& imag) {
    return runtime::complex_of(of(dtype::float32, sizes, real), of(dtype::float32, sizes, imag));
}

} // namespace

TEST_CASE("alpha = 0 leaves out the product of complex matrices, even if it is NaN") {
    auto const a = complex_matrices({2, 1}, {infinity, 1}, {2, -1});
    auto const b = complex_matrices({1, 2}, {1, -2}, {2, std::nan("")});
    auto const result = complex_matrices({2, 2}, {2, -6, 2, -6}, {4, 1, 4, 1});
    auto const sum = [](char const* x, runtime::tensor const& left, char const* y, runtime::tensor const& right) {
        return std::vector{arg("self", complex_matrices({1, 2}, {1, -3}, {2, 0.5})),
                           arg(x, left),
                           arg(y, right),
                           number("beta", scalar(2)),
                           number("alpha", scalar(0))};
    };
    gives("aten::addmm", sum("mat1", a, "mat2", b), result);
    gives("aten::addbmm", sum("batch1", a.unsqueezed(0), "batch2", b.unsqueezed(0)), result);
}

TEST_CASE("products and sums of complex matrices") {
    auto const a = complex_matrices({1, 2, 1}, {1, 0}, {2, -1});
    auto const b = complex_matrices({1, 1, 2}, {3, 2}, {-1, 4});
    gives("aten::bmm", {arg("self", a), arg("mat2", b)}, complex_matrices({1, 2, 2}, {5, -6, -1, 4}, {5, 8, -3, -2}));
    gives("aten::baddbmm",
          {arg("self", complex_matrices({1, 1, 1}, {1}, {-2})),
           arg("batch1", a),
           arg("batch2", b),
           number("beta", scalar(2)),
           number("alpha", scalar(-1))},
          complex_matrices({1, 2, 2}, {-3, 8, 3, -2}, {-9, -12, -1, -2}));
}

TEST_CASE("einsum aligns ellipses of different ranks at the right, and broadcasts them") {
    auto const a = of(dtype::float32, {2, 1, 3}, {1, 2, 3, 4, 5, 6});
    auto const b = of(dtype::float32, {2, 3}, {1, 0, 2, -1, 3, 1});
    auto const c = of(dtype::float32, {3}, {2, -1, 1});
    auto const equation = [](char const* text, std::vector<runtime::tensor> const& of) {
        return std::vector{word("equation", text), runtime::aten_argument::of_tensors(of).named("tensors")};
    };
    gives("aten::einsum", equation("...ij,...kj->...ik", {a, b}), of(dtype::float32, {2, 1, 2}, {7, 8, 16, 17}));
    gives("aten::einsum", equation("...j,...j->...", {c, a}), of(dtype::float32, {2, 1}, {3, 9}));
    gives("aten::einsum",
          equation("j...,j...", {b, of(dtype::float32, {2}, {1, 2})}),
          of(dtype::float32, {3}, {-1, 6, 4}));
    gives("aten::einsum",
          equation("...,...,...->...", {a, b, c}),
          of(dtype::float32, {2, 2, 3}, {2, 0, 6, -2, -6, 3, 8, 0, 12, -8, -15, 6}));
    gives("aten::einsum",
          equation("...j,j...->j", {a, of(dtype::float32, {3}, {1, 1, 2})}),
          of(dtype::float32, {3}, {5, 7, 18}));
}

TEST_CASE("a product without terms is not a Gemm, which ignores beta in ONNX Runtime") {
    graph_data data;
    dsl::graph<9> const g{data, 20};
    auto const input = [&](char const* name, shape sizes) {
        return dsl::value(data, data.add_input(name, {dtype::float32, std::move(sizes)}));
    };
    dsl::value const a = input("a", {dim("n"), 0});
    dsl::value const sum =
        mappings::detail::addmm(g, input("self", {dim("n"), dim("m")}), a, input("b", {0, dim("m")}), 0.2, 0.6);
    CHECK(sum.shape() == shape{dim("n"), dim("m")});
    for (graph_node const& n : data.nodes) CHECK(n.op != "Gemm");
}

} // namespace aton::tests
