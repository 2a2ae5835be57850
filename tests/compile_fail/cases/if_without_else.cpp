// rule: attribute_missing
// error: onnx::If (opset 11): required attribute else_branch (a graph) is missing
// twin: ; }) ); => ; }), attr::else_branch_g([&](graph<11>) { return x; }));
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<11, 12> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"If">(c, attr::then_branch_g([&](graph<11> b) { return b.op<"Neg">(x); }) );
}
