// rule: no_such_attribute
// error: onnx::ReduceSum (opset 13): no attribute axes; axes is an input here
// twin: graph<11> => graph<11, 12>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<11> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"ReduceSum">(x, attr::axes_i({1}));
}
