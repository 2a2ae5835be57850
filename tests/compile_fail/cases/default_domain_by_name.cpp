// rule: operator_too_new
// error: onnx::Gelu (opset 13): first appears in opset 20; start the range of the graph there
// twin: ai.onnx::Gelu => ai.onnx::Erf
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"ai.onnx::Gelu">(x);
}
