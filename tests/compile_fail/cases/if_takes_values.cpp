// rule: body_inputs
// error: onnx::If (opset 13): the lambda for then_branch takes 1 value after the graph, but the operator passes 0
// twin: graph<13> b, value => graph<13> b
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"If">(c, attr::then_branch_g([&](graph<13> b, value) { return b.op<"Neg">(x); }),
               attr::else_branch_g([&](graph<13>) { return x; }));
}
