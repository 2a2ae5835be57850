// rule: no_common_type
// error: onnx::Mul (opset 13): input B is bool
// twin: g.op<"Not">(x) => g.op<"Neg">(x)
#include <aton/aton.hpp>
using namespace aton::dsl;
inline void build(graph<13> g, [[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o,
                  [[maybe_unused]] std::span<value const> list) {
    (void)g.op<"Mul">(g.op<"Neg">(x), g.op<"Not">(x));
}
