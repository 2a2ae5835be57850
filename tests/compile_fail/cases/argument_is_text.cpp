// rule: unusable
// error: onnx::Relu (opset 13): argument 1 is text; an attribute is written attr::mode_s(text), attr::axis_i(1)
// twin: ("x") => (x)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Relu">("x");
}
