// rule: operator_deprecated
// error: onnx::GroupNormalization (opset 18): deprecated; start the range of the graph at opset 21
// twin: graph<18> => graph<21>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<18> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"GroupNormalization">(x, y, y, attr::num_groups_i(2));
}
