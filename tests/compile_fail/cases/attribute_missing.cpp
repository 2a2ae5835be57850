// rule: attribute_missing
// error: onnx::Concat (opset 13): required attribute axis (an int) is missing
// twin: (x, y) => (x, y, attr::axis_i(1))
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Concat">(x, y);
}
