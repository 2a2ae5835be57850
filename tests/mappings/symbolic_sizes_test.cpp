// SPDX-License-Identifier: MIT
// Rows over tensors with symbolic sizes: regressions.
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <aton/mappings/attention.hpp>
#include <aton/mappings/decompositions.hpp>
#include <aton/mappings/indexing.hpp>
#include <aton/mappings/padding.hpp>
#include <aton/mappings/reduction.hpp>
#include <aton/mappings/resize.hpp>
#include <aton/mappings/slicing.hpp>

namespace aton::tests {

namespace {

using dsl::value;

/// A graph of opset 20 with float32 inputs.
struct symbolic {
    graph_data data;
    dsl::graph<11> g{data, 20};

    value input(char const* name, shape sizes, dtype t = dtype::float32) {
        return {data, data.add_input(name, {t, std::move(sizes)})};
    }
    [[nodiscard]] bool has(std::string_view op) const {
        return std::any_of(data.nodes.begin(), data.nodes.end(), [&](graph_node const& n) { return n.op == op; });
    }
};

} // namespace

TEST_CASE("a batch of a symbolic size of empty matrices is empty") {
    symbolic s;
    CHECK(mappings::is_empty(s.input("x", {dim("n"), 0})));
    CHECK_FALSE(mappings::is_empty(s.input("y", {dim("n"), 3})));
    auto const [values, vectors] = mappings::detail::linalg_eigh(s.g, s.input("a", {dim("n"), 0, 0}), "L");
    CHECK(values.shape() == shape{dim("n"), 0});
    CHECK(vectors.shape() == shape{dim("n"), 0, 0});
    CHECK_FALSE(s.has("Loop"));
}

TEST_CASE("an empty index of any rank and a symbolic size gathers nothing") {
    symbolic s;
    value const index = s.input("index", {dim("n"), 0}, dtype::int64);
    value const y = mappings::detail::gather(s.g, s.input("x", {5}), 0, index, false);
    CHECK(y.shape() == shape{dim("n"), 0});
    CHECK_FALSE(s.has("GatherElements"));
}

TEST_CASE("the default scale of attention is computed from a symbolic head size") {
    symbolic s;
    value const q = s.input("q", {2, 3, dim("e")});
    value const k = s.input("k", {2, 5, dim("e")});
    value const v = s.input("v", {2, 5, 7});
    auto const [y, weights] = mappings::detail::attend(s.g, q, k, v, {{}, 0, false, std::nullopt, false, false});
    CHECK(y.shape() == shape{2, 3, 7});
    CHECK(s.has("Pow"));
}

TEST_CASE("replication of a symbolic size that cropping may empty reads by position") {
    symbolic s;
    dsl::sym_int const pad[] = {-4, 5};
    value const y = mappings::detail::pad_with(s.g, s.input("x", {2, dim("n")}), pad, "edge");
    CHECK(y.rank() == 2);
    CHECK(s.has("Gather"));
    CHECK_FALSE(s.has("Pad"));
}

TEST_CASE("ATen ignores a factor that does not enlarge a size, which is computed") {
    using mappings::detail::sizes_before_growth;
    CHECK(sizes_before_growth(1.0625, 1) == 16);
    CHECK(sizes_before_growth(2.42, 2) == 3);
    CHECK(sizes_before_growth(1.5, 1) == 2);
    CHECK(sizes_before_growth(2, 1) == 0);
    CHECK(sizes_before_growth(0.75, 1) == 0);
    for (double const factor : {1.0625, 2.0}) {
        symbolic s;
        std::vector<double> const factors{factor, factor};
        value const x = s.input("x", {2, 3, dim("h"), dim("w")});
        CHECK(mappings::detail::linear_vec(s.g, x, std::nullopt, false, factors).rank() == 4);
        CHECK(s.has("Where") == (factor != 2));
    }
}

TEST_CASE("a contiguous strided view of a symbolic size need not have all elements") {
    symbolic s;
    value const x = s.input("x", {dim("n"), 3});
    dsl::sym_int const size[] = {s.g.size(x, 0)};
    dsl::sym_int const stride[] = {1};
    value const y = mappings::detail::as_strided(s.g, x, size, stride, std::nullopt);
    CHECK(y.rank() == 1);
    CHECK(s.has("Slice"));
}

TEST_CASE("a mean over a size that may be 0 divides by it, because ReduceMean of no elements is undefined") {
    for (bool const may_be_empty : {false, true}) {
        symbolic s;
        s.data.context.may_be_empty = may_be_empty;
        value const x = s.input("x", {dim("u0"), 3});
        std::int64_t const rows = 0;
        std::int64_t const columns = 1;
        CHECK(mappings::mean(s.g, x, {&rows, 1}, false).shape() == shape{3});
        CHECK(s.has("Div") == may_be_empty);
        CHECK(s.has("ReduceMean") != may_be_empty);
        (void)mappings::mean(s.g, x, {&columns, 1}, true); // of three elements
        CHECK(s.has("ReduceMean"));
    }
}

} // namespace aton::tests
