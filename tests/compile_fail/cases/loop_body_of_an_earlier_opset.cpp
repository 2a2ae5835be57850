// rule: body_range
// error: onnx::Loop (opset 28): the lambda for body covers opsets 13 to 20, but the outer graph covers 13 to 28
// twin: graph<13, 20> => graph<13>
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Loop">(absent, c, x, attr::body_g([&](graph<13, 20>, value, value keep, value a) { return std::pair<value, value>(keep, a); }));
}
