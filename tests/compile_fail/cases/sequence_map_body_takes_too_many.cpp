// rule: body_inputs
// error: onnx::SequenceMap (opset 17): the lambda for body takes 2 values after the graph, but the operator passes 1
// twin: value each, value => value each
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<17> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"SequenceMap">(x, attr::body_g([&](graph<17> b, value each, value) { return b.op<"Neg">(each); }));
}
