// rule: attribute_type
// error: onnx::If (opset 13): attribute then_branch is a graph, given a float
// twin: attr_f<"then_branch">(1.0) => attr_g<"then_branch">([&](graph<13>) { return x; })
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"If">(c, attr_f<"then_branch">(1.0), attr::else_branch_g([&](graph<13>) { return x; }));
}
