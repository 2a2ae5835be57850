// rule: no_common_type
// error: onnx::If (opset 13): input cond is float32, allowed here: bool
// twin: float32 => bool_
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"If">(g.cast<dtype::float32>(c), attr::then_branch_g([&](graph<13>) { return c; }),
               attr::else_branch_g([&](graph<13>) { return x; }));
}
