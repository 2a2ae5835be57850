// rule: body_results
// error: onnx::If (opset 13): the lambda for else_branch returns 2 values, but must return 1
// twin: std::pair<value, value>(x, x) => x
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"If">(c, attr::then_branch_g([&](graph<13> b) { return b.op<"Neg">(x); }),
               attr::else_branch_g([&](graph<13>) { return std::pair<value, value>(x, x); }));
}
