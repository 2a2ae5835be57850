// SPDX-License-Identifier: MIT
// Calls with contradictory known shapes: each is refused when the node is made, and its twin with one size changed is not.
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aton.hpp>

#include "../faults.hpp"

namespace shape_refusals_test {

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
    [[nodiscard]] value number(std::int64_t n) const { return g.constant(aton::scalar_tensor(n, dtype::int64)); }
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
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Add">(f({3, 4}), f({2, 4})); }), "3 and 2 do not broadcast"));
    check_fits([](fixture& f) { (void)f.g.op<"Add">(f({3, 4}), f({1, 4})); });
    check_fits([](fixture& f) { (void)f.g.op<"Add">(f({3, 4}), f({"n", 4})); });
    check_fits([](fixture& f) { (void)f.g.op<"Add">(f({3, 4}), f(shape())); });
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Expand">(f({3}), f.g.ints({2, 4})); }),
                   "4 and 3 do not broadcast"));
}

TEST_CASE("matrix products and convolutions whose sizes do not match are refused") {
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"MatMul">(f({2, 3}), f({4, 5})); }), "3 and 4 do not match"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"MatMul">(f(shape(std::vector<aton::dim>{})), f({4})); }),
                   "rank 0"));
    check_fits([](fixture& f) { (void)f.g.op<"MatMul">(f({7, 2, 3}), f({3})); });
    CHECK(contains(
        said([](fixture& f) { (void)f.g.op<"Einsum">(safe_vector<value>{f({2})}, attr::equation_s("i,j->ij")); }),
        "the equation has 2 operands, given 1"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Gemm">(f({2, 3}), f({4, 3})); }), "3 and 4 do not match"));
    check_fits([](fixture& f) { (void)f.g.op<"Gemm">(f({2, 3}), f({4, 3}), attr::transB_i(1)); });
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"MaxPool">(f({1, 1, 4}), attr::kernel_shape_i({7})); }),
                   "a window of size 7 does not fit in a padded dimension of size 4"));
}

TEST_CASE("views with another number of elements, and axes out of range, are refused") {
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Reshape">(f({2, 3}), f.g.ints({4})); }),
                   "6 elements cannot be reshaped to 4"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Reshape">(f({2, 3}), f.g.ints({4, -1})); }), "rows of 4"));
    check_fits([](fixture& f) { (void)f.g.op<"Reshape">(f({2, 3}), f.g.ints({0, -1, 3})); });
    CHECK(
        contains(said([](fixture& f) { (void)f.g.op<"Transpose">(f({2, 3}), attr::perm_i({0, 0})); }), "permutation"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Squeeze">(f({2, 1}), f.g.ints({0})); }),
                   "a dimension of size 2 cannot be removed"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Unsqueeze">(f({2}), f.g.ints({3})); }), "out of range"));
    CHECK(contains(
        said([](fixture& f) { (void)f.g.op<"Concat">(safe_vector<value>{f({2, 3}), f({2})}, attr::axis_i(0)); }),
        "rank 2 and rank 1"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Gather">(f({2, 3}), f.g.ints({0}), attr::axis_i(2)); }),
                   "axis 2 is out of range for rank 2"));
    CHECK(
        contains(said([](fixture& f) { (void)f.g.op<"Split">(f({6}), f.g.ints({2, 3}), attr::axis_i(0), outputs<2>); }),
                 "the part sizes add up to 5, the dimension has size 6"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Tile">(f({2}), f.g.ints({-1})); }), "invalid repeat count -1"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"TopK">(f({3}), f.g.ints({4}), outputs<2>); }),
                   "k is 4, the axis has size 3"));
}

TEST_CASE("sizes whose arithmetic overflows int64 are refused") {
    constexpr std::int64_t huge = std::int64_t{1} << 62;
    CHECK(contains(
        said([](fixture& f) { (void)f.g.op<"Concat">(safe_vector<value>{f({huge}), f({huge})}, attr::axis_i(0)); }),
        "64 bits"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Tile">(f({huge}), f.g.ints({4})); }), "64 bits"));
}

TEST_CASE("constants that are sizes or counts are refused where they are negative or too large") {
    constexpr std::int64_t huge = std::int64_t{1} << 62;
    auto const expand = [](std::int64_t n) {
        return [n](fixture& f) { (void)f.g.op<"Expand">(f({1}), f.g.ints({n})); };
    };
    CHECK(contains(said(expand(-2)), "invalid size -2"));
    check_fits(expand(2));
    auto const filled = [](std::int64_t n) {
        return [n](fixture& f) { (void)f.g.op<"ConstantOfShape">(f.g.ints({n, 4})); };
    };
    CHECK(contains(said(filled(-1)), "invalid size -1"));
    CHECK(contains(said(filled(huge)), "the number of elements does not fit in 64 bits"));
    check_fits(filled(7));
    auto const largest = [](std::int64_t k) {
        return [k](fixture& f) { (void)f.g.op<"TopK">(f({3}), f.g.ints({k}), outputs<2>); };
    };
    CHECK(contains(said(largest(INT64_MIN)), "invalid size -"));
    CHECK(contains(said(largest(-1)), "invalid size -1"));
    check_fits(largest(0));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"TopK">(f({3}), f.g.ints({1, 1}), outputs<2>); }),
                   "a 1-d tensor of one element"));
    auto const range = [](std::int64_t first, std::int64_t end, std::int64_t step) {
        return [=](fixture& f) { (void)f.g.op<"Range">(f.number(first), f.number(end), f.number(step)); };
    };
    CHECK(contains(said(range(0, huge, 1)), "2^48"));
    CHECK(contains(said(range(0, 4, 0)), "infinite"));
    CHECK(contains(said(range(INT64_MIN, INT64_MAX, 1)), "64 bits"));
    check_fits(range(0, huge, huge / 4));
    auto const one_hot = [](std::int64_t depth) {
        return [depth](fixture& f) { (void)f.g.op<"OneHot">(f({2}, dtype::int64), f.number(depth), f({2})); };
    };
    CHECK(contains(said(one_hot(-1)), "depth is negative"));
    CHECK(contains(said(one_hot(huge)), "2^48"));
    check_fits(one_hot(5));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Pad">(f({"n"}), f.g.ints({INT64_MAX, 1})); }), "64 bits"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Pad">(f({2}), f.g.ints({1})); }), "1 pads for 1 axes"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"EyeLike">(f({2})); }), "rank 1, expected 2"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"ConstantOfShape">(f({std::int64_t{1} << 40}, dtype::int64)); }),
                   "a result of rank 1099511627776"));
}

TEST_CASE("a tensor whose element count exceeds int64 is refused as an input and as an output") {
    constexpr std::int64_t large = std::int64_t{1} << 32;
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Relu">(f({large, large})); }), "does not fit in 64 bits"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Relu">(f({large, "n", large})); }), "does not fit in 64 bits"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Mul">(f({large, 1}), f({1, large})); }),
                   "does not fit in 64 bits"));
    check_fits([](fixture& f) { (void)f.g.op<"Mul">(f({large, 1}), f({1, large / 4})); });
}

TEST_CASE("the dots of Einsum are as many dimensions in each operand, and labels are those of operands") {
    auto const product = [](char const* equation, shape const& a, shape const& b) {
        return said(
            [&](fixture& f) { (void)f.g.op<"Einsum">(safe_vector<value>{f(a), f(b)}, attr_s<"equation">(equation)); });
    };
    CHECK(contains(product("...i,...i->...", {2, 3}, {3}), "does not match operand 2"));
    CHECK(product("...i,...i->...", {2, 3}, {1, 3}) == "nothing was thrown");
    CHECK(contains(product("i,j->k", {2}, {3}), "a label that no operand has"));
    CHECK(contains(product("i,i->i", {1}, {3}), "sizes of a label 1 and 3 do not match"));
    CHECK(product("i,i->", {1}, {3}) == "nothing was thrown");
}

TEST_CASE("a view has at most one size of -1, and none beside a size of 0") {
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Reshape">(f({2, 3}), f.g.ints({-1, -1})); }),
                   "more than one size is -1"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Reshape">(f({0, 3}), f.g.ints({0, -1})); }),
                   "beside a size of 0"));
    check_fits([](fixture& f) { (void)f.g.op<"Reshape">(f({0, 3}), f.g.ints({0, 3})); });
}

TEST_CASE("windows over the wrong number of dimensions, and transposed ones with a negative result, are refused") {
    auto const pooled = [](std::vector<std::int64_t> const& strides) {
        return [strides](fixture& f) {
            (void)f.g.op<"MaxPool">(
                f({1, 1, 8}), attr::kernel_shape_i({2}), attr_i<"strides">(std::span<std::int64_t const>(strides)));
        };
    };
    CHECK(contains(said(pooled({1, 1})), "attribute 'strides' has 2 numbers, expected 1"));
    CHECK(contains(said(pooled({0})), "attribute 'strides' contains 0, the minimum is 1"));
    check_fits(pooled({2}));
    CHECK(contains(
        said([](fixture& f) { (void)f.g.op<"ConvTranspose">(f({1, 1, 2}), f({1, 1, 1}), attr::pads_i({4, 4})); }),
        "a dimension of the result has size -6"));
}

TEST_CASE("slices of lists of different lengths, and uneven splits into equal parts, are refused") {
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Slice">(f({4, 4}), f.g.ints({0}), f.g.ints({1, 2})); }),
                   "1 starts, but 2 ends"));
    CHECK(contains(said([](fixture& f) {
                       (void)f.g.op<"Slice">(f({4}), f.g.ints({0}), f.g.ints({1}), f.g.ints({0}), f.g.ints({0}));
                   }),
                   "a step of 0"));
    CHECK(contains(said([](fixture& f) { (void)f.g.op<"Split">(f({5}), attr::num_outputs_i(4), outputs<4>); }),
                   "a dimension of size 5 cannot be split into 4 equal parts"));
    check_fits([](fixture& f) { (void)f.g.op<"Split">(f({5}), attr::num_outputs_i(3), outputs<3>); });
}

TEST_CASE("Resize whose size depends on rounding is refused") {
    auto const scaled = [](float by) {
        return [by](fixture& f) {
            aton::tensor t{dtype::float32, {1}, {}};
            t.append(static_cast<double>(by));
            value const scales = f.g.constant(t);
            (void)f.g.op<"Resize">(f({10}), absent, scales);
        };
    };
    CHECK(contains(said(scaled(0.7F)), "depends on rounding"));
    check_fits(scaled(0.75F));
    CHECK(contains(said(scaled(-1)), "not positive"));
}

TEST_CASE("lists of axes longer than the rank are refused") {
    std::vector<std::int64_t> const many(300, 0);
    auto const list = [&](fixture& f) { return f.g.ints(many); };
    CHECK(contains(said([&](fixture& f) { (void)f.g.op<"Slice">(f({4}), list(f), list(f), list(f)); }),
                   "input 2 has 300 elements, expected at most 1"));
    CHECK(contains(said([&](fixture& f) { (void)f.g.op<"Squeeze">(f({1}), list(f)); }), "expected at most 1"));
    CHECK(contains(said([&](fixture& f) { (void)f.g.op<"ReduceMax">(f({1}), list(f)); }), "expected at most 1"));
    CHECK(contains(said([&](fixture& f) { (void)f.g.op<"Tile">(f({1, 1}), list(f)); }), "expected at most 2"));
    CHECK(contains(said([&](fixture& f) { (void)f.g.op<"Pad">(f({1}), list(f)); }), "expected at most 2"));
    CHECK(contains(said([&](fixture& f) { (void)f.g.op<"Expand">(f({1}), list(f)); }), "a result of rank 300"));
    CHECK(contains(said([&](fixture& f) { (void)f.g.op<"Reshape">(f({1}), list(f)); }), "a result of rank 300"));
}

TEST_CASE("S4: the number of a size or of elements that are not static is refused, never -1") {
    fixture f;
    value const x = f({3, "n", aton::dim()});
    value const y = f(shape());
    CHECK(x.size(0).size() == 3);
    CHECK(x.size(0).is(3));
    CHECK_FALSE(x.size(0).is(1));
    std::string const named =
        "the size 'n' is dynamic, but the mapping needs its number; export with a static size, or "
        "compute with g.size(x, i) in the mapping";
    CHECK(fault_of([&] { (void)x.size(1).size(); }) == named);
    CHECK(fault_of([&] { (void)x.shape()[1].size(); }) == named);
    CHECK(fault_of([&] { (void)x.type().shape.dims()[1].size(); }) == named);
    CHECK(
        contains(fault_of([&] { (void)x.size(-1).size(); }), "a size is not known, but the mapping needs its number"));
    CHECK(contains(fault_of([&] { (void)y.shape()[0].size(); }), "a size is not known"));
    CHECK(contains(fault_of([&] { (void)x.shape().element_count(); }), "the number of elements is not known"));
    CHECK(contains(fault_of([&] { (void)y.shape().element_count(); }), "the number of elements is not known"));
    CHECK_THROWS_AS((void)x.size(1).size(), aton::unsupported_error);
    CHECK(f({3, 4}).shape().element_count() == 12);
    CHECK(x.size(1).size_or(7) == 7);
    CHECK(x.size(0).size_or(7) == 3);
    CHECK(x.shape().element_count_or(0) == 0);
    CHECK_FALSE(x.size(1).is(-1));
    CHECK_FALSE(x.size(-1).is(0));
}

} // namespace shape_refusals_test
