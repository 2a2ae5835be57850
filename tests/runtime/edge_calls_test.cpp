// SPDX-License-Identifier: MIT
// Results of ATen operators at the edges, as torch 2.13 gives them: of empty tensors, and of singular matrices.
#include <doctest/doctest.h>

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <aton/runtime/aten_operator.hpp>

namespace edge_calls_test {

using aton::dtype;
using aton::runtime::aten_argument;
using aton::runtime::sizes;
using aton::runtime::tensor;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

aten_argument argument(std::string name, tensor t) {
    return aten_argument::of_tensor(std::move(t)).named(std::move(name));
}

tensor matrix(std::vector<double> const& elements) {
    aton::tensor out{dtype::float64, {2, 2}, {}};
    for (double each : elements) {
        aton::tensor const one = aton::scalar_tensor(each, dtype::float64);
        out.bytes.insert(out.bytes.end(), one.bytes.begin(), one.bytes.end());
    }
    return tensor::from_constant(out);
}

} // namespace

TEST_CASE("a norm of an empty tensor is 0, whatever its exponent") {
    for (double const p : {0.0, 1.0, 2.5, 1e308, std::numeric_limits<double>::quiet_NaN()}) {
        CAPTURE(p);
        tensor const none = tensor::of_scalar(1, dtype::float32).expanded(sizes{1, 0});
        auto const results = aton::runtime::call_aten(
            "aten::pairwise_distance",
            {argument("x1", none), argument("x2", none), aten_argument::of_number(p).named("p")});
        CHECK(results.results[0].one().to_constant().at(0).to<double>() == 0);
    }
}

TEST_CASE("zeros of the factors of a singular matrix have LAPACK's signs") {
    auto const results = aton::runtime::call_aten(
        "aten::linalg_solve_ex",
        {argument("A", matrix({0.0, -6.0, 0.0, -0.0})), argument("B", matrix({-1.0, 1.0, -4.0, 2.0}))});
    aton::tensor const x = results.results[0].one().to_constant();
    for (std::size_t i = 0; i != 4; ++i) CHECK(x.at(i).to<double>() == (i % 2 == 0 ? -infinity : infinity));
}

} // namespace edge_calls_test
