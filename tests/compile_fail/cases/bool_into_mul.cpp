// rule: no_common_type
// error: onnx::Mul (opset 13): input B is bool, allowed here: 
// twin: g.op<"Less">(x, c) => g.op<"Max">(x, c)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value c, [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Mul">(x, g.op<"Less">(x, c));
}
