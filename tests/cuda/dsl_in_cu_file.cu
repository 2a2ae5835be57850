// SPDX-License-Identifier: MIT
// The DSL in a .cu file: nvcc's front end (EDG) and its host compiler parse the headers, check a table and compile a
// kernel.
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

// Declared operators with a body, a nested graph, a node that calls ATen, and typed results.
inline constexpr auto doubled = [](graph<13> g, value x, double alpha) -> value { return g.op<"Mul">(x, alpha); };
inline constexpr auto my_domain =
    domain<"my_domain", 2, op<"Doubled(T X, float alpha=2) -> (T Y = like(X))", "T: float16, float", body<doubled>>>{};
inline constexpr auto custom = table(symbolic<"my_ops::doubled(Tensor x, float alpha) -> Tensor">(
    [](graph<13, my_domain> g, value x, double alpha) -> value {
        return g.op<"my_domain::Doubled">(x, attr_f<"alpha">(alpha));
    }));
inline value branches(graph<13> g, value c, value x) {
    return g.op<"If">(c,
                      attr::then_branch_g([&](graph<13> b) { return b.op<"Neg">(x); }),
                      attr::else_branch_g([&](graph<13>) { return x; }));
}
inline value aten_node(graph<13> g, value x) { return g.at<"pow">(x, attr_f<"exponent">(2.0)); }
inline auto cast(graph<13> g, value x) { return g.op<"Cast">(x, attr::to_i(dtype_c<dtype::float16>)); }
static_assert(!valid_call<graph<13, my_domain>, "my_domain::Doubled", typed_value<aton::tensors(dtype::bool_)>>);

__global__ void relu(float* x) { x[threadIdx.x] = x[threadIdx.x] < 0 ? 0 : x[threadIdx.x]; }

int main() {
    graph_data data;
    graph<13, my_domain> const g(data, 17);
    value const x(data, data.add_input("x", {dtype::float32, {2, 3}}));
    value const c(data, data.add_input("c", {dtype::bool_, aton::shape(std::vector<dim>())}));
    value const y = branches(g, c, aten_node(g, g.op<"my_domain::Doubled">(x)).set_type(x.type()));
    bool const right =
        y.dtype() == dtype::float32 && cast(g, y).dtype() == dtype::float16 && data.functions.size() == 1;
    return static_cast<void const*>(&activation) != nullptr && static_cast<void const*>(&custom) != nullptr && right
               ? 0
               : 1;
}
