// SPDX-License-Identifier: MIT
// The DSL in a .cu file: nvcc's front end (EDG) and its host compiler read the headers, check a table and keep a kernel.
#include <aton/aton.hpp>
#include <aton/onnx/registry.hpp>

using namespace aton::dsl;

static_assert(aton::onnx::find("", "Relu", 20).since() == 14);
static_assert(aton::onnx::nearest_name("", "Eluu") == "Elu");
static_assert(aton::onnx::versions("", "ReduceSum", 11, 28).size() == 2);

inline constexpr auto activation =
    table(symbolic<"aten::relu(self)">([](graph<6> g, value self) { return g.op<"Relu">(self); }),
          symbolic<"aten::elu(self, alpha, scale)">([](graph<7> g, value self, double alpha, double scale) {
              value y = g.op<"Elu">(self, attr::alpha_f(alpha));
              return scale == 1.0 ? y : g.op<"Mul">(y, g.scalar(scale, y.dtype()));
          }));

__global__ void relu(float* x) { x[threadIdx.x] = x[threadIdx.x] < 0 ? 0 : x[threadIdx.x]; }

int main() { return static_cast<void const*>(&activation) == nullptr ? 1 : 0; }
