// SPDX-License-Identifier: MIT
// A typical user's plugin: mappings for the operators of tests/data/plugin, and one that overrides a built-in one.
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include <aton/aton.hpp>
#include <aton/plugin.hpp>

using namespace aton::dsl;

inline constexpr auto custom_ops =
    table(symbolic<"custom_ops::foo_forward(Tensor x, Tensor y, float a, int b) -> Tensor">(
        [](graph<13> g, value input1, value input2, double attr1, std::int64_t attr2) -> value {
            value const scaled = g.op<"Mul">(input1, attr1);
            return g.op<"Add">(scaled, g.op<"Mul">(input2, g.scalar(attr2, input2.dtype())));
        }));

inline constexpr auto mylib =
    table(symbolic<"mylib::my_relu(Tensor input) -> Tensor">([](graph<13> g, value input) -> value {
              // The recorded type of the result, and the module.
              if (g.context().module != "inner" || g.context().expected.size() != 1) return g.unsupported("no context");
              value const zero = g.scalar(0, input.dtype());
              return value(g.op<"Clip">(input, zero)).set_type(g.context().expected[0]);
          }),
          symbolic<"mylib::my_clip(Tensor input, float min, float? max=None) -> Tensor">(
              [](graph<13> g, value input, double min, std::optional<double> max) -> value {
                  value const low = g.scalar(min, input.dtype());
                  if (!max.has_value()) return g.op<"Max">(input, low);
                  return g.op<"Clip">(input, low, g.scalar(*max, input.dtype()));
              }),
          symbolic<"mylib::extremes(Tensor input, SymInt dim) -> (Tensor, Tensor)">(
              [](graph<13, 17> g, value input, std::int64_t dim) -> std::tuple<value, value> {
                  return {g.op<"ReduceMin">(input, attr::axes_i({dim}), attr::keepdims_i(0)),
                          g.op<"ReduceMax">(input, attr::axes_i({dim}), attr::keepdims_i(0))};
              }),
          symbolic<"mylib::extremes(Tensor input, SymInt dim) -> (Tensor, Tensor)">(
              [](graph<18> g, value input, std::int64_t dim) -> std::tuple<value, value> {
                  return {g.op<"ReduceMin">(input, g.ints({dim}), attr::keepdims_i(0)),
                          g.op<"ReduceMax">(input, g.ints({dim}), attr::keepdims_i(0))};
              }),
          symbolic<"mylib::parts(Tensor input, SymInt[] sizes) -> Tensor[]">(
              [](graph<13> g, value input, std::span<std::int64_t const> sizes) -> std::vector<value> {
                  std::vector<value> out;
                  std::int64_t at = 0;
                  for (std::int64_t size : sizes) {
                      out.push_back(g.op<"Slice">(input, g.ints({at}), g.ints({at + size}), g.ints({1})));
                      at += size;
                  }
                  return out;
              }),
          // Another way to add, which the test recognizes in the graph.
          override_<"aten::add.Tensor(self, other)">([](graph<13> g, value self, value other) -> value {
              return g.op<"Sub">(self, g.op<"Neg">(g.cast(other, self.dtype())));
          }));

ATON_PLUGIN(custom_ops, mylib)
