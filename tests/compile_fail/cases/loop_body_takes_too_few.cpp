// rule: body_inputs
// error: onnx::Loop (opset 13): the lambda for body takes 2 values after the graph, but the operator passes 3
// twin: value keep) => value keep, value)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Loop">(absent, c, x, attr::body_g([&](graph<13>, value, value keep) { return std::pair<value, value>(keep, x); }));
}
