// rule: body_inputs
// error: onnx::Scan (opset 13): the lambda for body takes 1 value after the graph, but the operator passes 2
// twin: graph<13> b, value s => graph<13> b, value s, value
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Scan">(x, x, outputs<2>, attr::num_scan_inputs_i(1), attr::body_g([&](graph<13> b, value s) { return std::pair<value, value>(s, b.op<"Neg">(s)); }));
}
