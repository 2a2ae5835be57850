// rule: too_many_inputs
// error: onnx::Relu (opset 13): 2 inputs given, at most 1 allowed
// twin: (x, y) => (x)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Relu">(x, y);
}
