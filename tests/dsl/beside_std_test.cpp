// SPDX-License-Identifier: MIT
// The names of the DSL are usable after `using namespace std`.
#include <algorithm>
#include <array>
#include <complex>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <valarray>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aton.hpp>

using namespace aton::dsl;
using namespace std; // NOLINT(google-build-using-namespace): what this test is about

namespace {

inline constexpr auto rows =
    table(symbolic<"aten::elu(self, alpha)">([](graph<7> g, value self, scalar alpha) {
              return g.op<"Elu">(self, attr::alpha_f(alpha.to<double>()));
          }),
          symbolic<"aten::full(size, fill_value, dtype)">(
              [](graph<9> g, span<sym_int const> sizes, scalar fill, optional<dtype> type) {
                  return g.op<"Expand">(g.scalar(fill, type.value_or(dtype::float32)), g.ints(sizes));
              }),
          symbolic<"aten::topk(self, k, dim)">([](graph<11> g, value self, sym_int k, int64_t dim) {
              return g.op<"TopK">(self, g.ints(span<sym_int const>(&k, 1)), attr::axis_i(dim), outputs<2>);
          }),
          symbolic<"aten::linear(input, weight, bias)">(
              [](graph<13> g, value input, value weight, optional_value bias) -> value {
                  value y = g.op<"MatMul">(input, g.op<"Transpose">(weight));
                  return bias ? g.op<"Add">(y, *bias) : y;
              }),
          symbolic<"aten::clone(self, memory_format)">(
              [](graph<1> g, value self, memory_format) { return g.op<"Identity">(self); }));

} // namespace

TEST_CASE("the DSL beside using namespace std") {
    graph_data data;
    value const x(data, data.add_input("x", value_type{dtype::float32, aton::shape{2, dim("n")}}));
    auto const results =
        convert(data, *find(table_view(rows), "aten::elu", 13), 13, {argument::of_tensor(x), argument::of_number(0.5)});
    CHECK(results[0].single->dtype() == dtype::float32);
    CHECK_FALSE(to_string(data).empty());
}
