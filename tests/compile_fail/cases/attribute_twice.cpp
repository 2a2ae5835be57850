// rule: attribute_twice
// error: onnx::Gemm (opset 13): attribute alpha is given twice
// twin: alpha_f(1.5) => beta_f(1.5)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Gemm">(x, y, attr::alpha_f(0.5), attr::alpha_f(1.5));
}
