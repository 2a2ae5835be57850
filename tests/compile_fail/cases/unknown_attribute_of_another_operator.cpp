// rule: no_such_attribute
// error: onnx::Softmax (opset 13): no attribute axes; did you mean axis?
// twin: axes_i => axis_i
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Softmax">(x, attr::axes_i(1));
}
