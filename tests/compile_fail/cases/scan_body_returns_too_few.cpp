// rule: body_results
// error: onnx::Scan (opset 13): the lambda for body returns 1 value, but must return 2
// twin: return s; => return std::pair<value, value>(s, each);
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Scan">(x, x, outputs<2>, attr::num_scan_inputs_i(1), attr::body_g([&](graph<13>, value s, [[maybe_unused]] value each) { return s; }));
}
