// SPDX-License-Identifier: MIT
// Calls whose known shapes cannot be: each is refused where the node is made, and its twin with one size changed is not.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aton.hpp>

#include "../faults.hpp"

namespace {

using namespace aton::dsl;
using aton::dtype;
using aton::graph_data;
using aton::shape;
using aton::tests::contains;
using aton::tests::fault_of;

/// A graph and inputs of these shapes.
struct fixture {
    graph_data data;
    graph<18> g{data, 18};
    value operator()(shape s, dtype type = dtype::float32) {
        return {data, data.add_input("x" + std::to_string(data.inputs.size()), {type, std::move(s)})};
    }
};

template <class Call>
std::string said(Call const& call) {
    fixture f;
    return fault_of([&] { call(f); });
}
template <class Call>
void check_fits(Call const& call) {
    CHECK(said(call) == "nothing was thrown");
}

} // namespace

TEST_CASE("sizes that do not broadcast are refused, symbols and unknown ones are not") {
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Add">(f({3, 4}), f({2, 4})); }), "of 3 and of 2"));
    check_fits([](fixture& f) { (void)f.g.op<"Add">(f({3, 4}), f({1, 4})); });
    check_fits([](fixture& f) { (void)f.g.op<"Add">(f({3, 4}), f({"n", 4})); });
    check_fits([](fixture& f) { (void)f.g.op<"Add">(f({3, 4}), f(shape())); });
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Expand">(f({3}), f.g.ints({2, 4})); }), "of 4 and of 3"));
}

TEST_CASE("matrix products and convolutions whose sizes do not meet are refused") {
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"MatMul">(f({2, 3}), f({4, 5})); }), "of 3 and of 4"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"MatMul">(f(shape(std::vector<aton::dim>{})), f({4})); }),
                   "rank 0"));
    check_fits([](fixture& f) { (void)f.g.op<"MatMul">(f({7, 2, 3}), f({3})); });
    CHECK(contains(
        said([](fixture& f) { (void)f.g.op<"Einsum">(safe_vector<value>{f({2})}, attr::equation_s("i,j->ij")); }),
        "an equation of 2 operands, 1 are given"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Gemm">(f({2, 3}), f({4, 3})); }), "of 3 and of 4"));
    check_fits([](fixture& f) { (void)f.g.op<"Gemm">(f({2, 3}), f({4, 3}), attr::transB_i(1)); });
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"MaxPool">(f({1, 1, 4}), attr::kernel_shape_i({7})); }),
                   "a window of 7"));
}

TEST_CASE("views to other numbers of elements and axes that are not there are refused") {
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Reshape">(f({2, 3}), f.g.ints({4})); }), "6 elements as 4"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Reshape">(f({2, 3}), f.g.ints({4, -1})); }), "rows of 4"));
    check_fits([](fixture& f) { (void)f.g.op<"Reshape">(f({2, 3}), f.g.ints({0, -1, 3})); });
    CHECK(
        contains(said([](fixture& f) { (void)f.g.op<"Transpose">(f({2, 3}), attr::perm_i({0, 0})); }), "permutation"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Squeeze">(f({2, 1}), f.g.ints({0})); }), "of 2 and of 1"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Unsqueeze">(f({2}), f.g.ints({3})); }), "not there"));
    CHECK(contains(
        said([](fixture& f) { (void)f.g.op<"Concat">(safe_vector<value>{f({2, 3}), f({2})}, attr::axis_i(0)); }),
        "rank 2 and of rank 1"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Gather">(f({2, 3}), f.g.ints({0}), attr::axis_i(2)); }),
                   "axis 2 of a tensor of rank 2"));
    CHECK(
        contains(said([](fixture& f) { (void)f.g.op<"Split">(f({6}), f.g.ints({2, 3}), attr::axis_i(0), outputs<2>); }),
                 "2 pieces of 5 out of 6"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Tile">(f({2}), f.g.ints({-1})); }), "-1 repeats"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"TopK">(f({3}), f.g.ints({4}), outputs<2>); }), "4 of 3"));
}

TEST_CASE("sizes whose arithmetic leaves int64 are refused") {
    constexpr std::int64_t huge = std::int64_t{1} << 62;
    CHECK(contains(
        said([](fixture& f) { (void)f.g.op<"Concat">(safe_vector<value>{f({huge}), f({huge})}, attr::axis_i(0)); }),
        "64 bits"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Tile">(f({huge}), f.g.ints({4})); }), "64 bits"));
}
