// rule: body_results
// error: onnx::Loop (opset 13): the lambda for body returns 1 value, but must return 2
// twin: return a; => return std::pair<value, value>(keep, a);
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Loop">(absent, c, x, attr::body_g([&](graph<13>, value, [[maybe_unused]] value keep, value a) { return a; }));
}
