// rule: no_such_operator
// error: onnx::Nge (opset 13): no such operator; did you mean Neg?
// twin: "Nge" => "Neg"
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"If">(c, attr::then_branch_g([&](graph<13> b) { return b.op<"Nge">(x); }),
               attr::else_branch_g([&](graph<13>) { return x; }));
}
