// rule: unusable
// error: onnx::Relu (opset 13): argument 1 is not a value, number, list of values, attribute or outputs<n>
// twin: ("x") => (x)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Relu">("x");
}
