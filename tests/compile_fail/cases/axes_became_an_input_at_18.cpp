// rule: no_such_attribute
// error: onnx::ReduceMax (opset 18): no attribute axes; axes is an input here
// twin: graph<13> => graph<13, 17>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"ReduceMax">(x, attr::axes_i({1}));
}
