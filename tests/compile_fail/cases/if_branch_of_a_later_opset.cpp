// rule: body_range
// error: onnx::If (opset 13): the lambda for then_branch covers opsets 18 to 28, but the outer graph covers 13 to 28
// twin: graph<18> b => graph<13> b
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"If">(c, attr::then_branch_g([&](graph<18> b) { return b.op<"Neg">(x); }),
               attr::else_branch_g([&](graph<13>) { return x; }));
}
