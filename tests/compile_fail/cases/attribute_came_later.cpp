// rule: no_such_attribute
// error: onnx::Reshape (opset 13): no attribute allowzero
// twin: graph<13> => graph<14>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Reshape">(x, y, attr::allowzero_i(1));
}
