// SPDX-License-Identifier: MIT
// Rows that build nodes, then leave the call to the row below: of the next plugin, or built in.
#include <aton/aton.hpp>
#include <aton/plugin.hpp>

using namespace aton::dsl;

inline constexpr auto rows =
    table(override_<"custom_ops::foo_forward(Tensor x, Tensor y, float a, int b) -> Tensor">(
              [](graph<13> g, value x, value y, double a, std::int64_t) -> value {
                  value const sum = g.op<"Add">(g.op<"Mul">(x, a), y);
                  if (sum.dtype() == dtype::float16) return sum;
                  return g.next();
              }),
          override_<"aten::add.Tensor(self, other, alpha)">([](graph<13> g, value self, value, scalar) -> value {
              (void)g.op<"ai.onnx.ml::Normalizer">(self);
              return g.next();
          }));

ATON_PLUGIN(rows)
